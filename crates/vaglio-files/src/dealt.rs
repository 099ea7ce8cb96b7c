//! Splits of rows that stand for many: those of the rows for which they stand.
//!
//! Rows of a table that is not in memory are parted before they are read, around the search and inside, and make cells: rows
//! that are on the same side in every part. What stands for a cell keeps its number as the fold that was assigned to it, by which the
//! splits are found again.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashMap;
use std::sync::Arc;
use vaglio_core::registered::Resampling as Registered;
use vaglio_core::{AnyResampling, Classes, Design, Error, Resampling, Result, Split, typetag};

/// What rows are parted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Purpose {
    /// The folds of the criterion.
    Criterion,
    /// The parts around a search, by their seed.
    Around(u64),
}

/// Cells that are held out together, and those that are trained on meanwhile where these are not all others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CellSplit {
    pub held_out: Vec<u32>,
    pub training: Option<Vec<u32>>,
}

/// The splits of every set of cells that is parted.
pub(crate) type Deals = HashMap<(Purpose, Vec<u32>), Vec<CellSplit>>;

/// Splits that were dealt before.
#[derive(Debug, Clone)]
pub(crate) struct Dealt {
    deals: Arc<Deals>,
    /// Whether they are of the criterion.
    is_of_criterion: bool,
}

impl Dealt {
    /// The folds of the criterion, and the parts around a search.
    pub fn both(deals: Deals) -> [AnyResampling; 2] {
        let deals = Arc::new(deals);
        [true, false].map(|is_of_criterion| Dealt { deals: Arc::clone(&deals), is_of_criterion }.into())
    }
}

impl Resampling for Dealt {
    fn splits(&self, design: &Design, _: Option<&Classes>) -> Result<Vec<Split>> {
        let cells = design.assignment().ok_or_else(|| Error::Shape("rows that stand for many have no cell".into()))?;
        let mut there = cells.to_vec();
        there.sort_unstable();
        there.dedup();
        let purpose = if self.is_of_criterion { Purpose::Criterion } else { Purpose::Around(design.seed()) };
        let splits = self.deals.get(&(purpose, there)).ok_or_else(|| {
            Error::setting("", "rows that are read in batches are parted before; these parts were not foreseen")
        })?;
        let rows = |of: &[u32]| (0..cells.len()).filter(|&row| of.contains(&cells[row])).collect::<Vec<usize>>();
        let split = |split: &CellSplit| {
            let held_out = Split::holding_out(rows(&split.held_out));
            match &split.training {
                Some(training) => held_out.training_on(rows(training)),
                None => held_out,
            }
        };
        Ok(splits.iter().map(split).collect())
    }

    fn sentence(&self) -> String {
        "folds that were dealt before the table was read".into()
    }
}

#[typetag::serde(name = "dealt")]
impl Registered for Dealt {
    fn part(self: Box<Self>) -> Box<dyn Resampling> {
        self
    }
}

impl Serialize for Dealt {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map([("is_of_criterion", self.is_of_criterion)])
    }
}

impl<'de> Deserialize<'de> for Dealt {
    fn deserialize<D: Deserializer<'de>>(_: D) -> std::result::Result<Self, D::Error> {
        Err(D::Error::custom("splits that a run dealt are in no file"))
    }
}
