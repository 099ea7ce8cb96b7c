//! Missing cells filled by means of rows that stand for many.
//!
//! Rows come with the value m that stands in the cells of a column that were missing, and with a column that is 1 there and 0
//! elsewhere. The sums of both tell the mean of the others, Σw(x − m) / Σw(1 − mask) beyond m, of any rows, and the column
//! filled by it is the column plus so much times the mask: rows that stand for many tell what these would.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use vaglio_core::registered::{FittedMap as RegisteredFitted, Map as Registered};
use vaglio_core::{Cells, Error, FittedMap, Map, Numbers, RefitScope, Result, Table, typetag};
use vaglio_kernels::tolerance::WEIGHT_GONE;

/// A column with missing cells.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filled {
    pub column: String,
    /// What stands in these cells.
    pub value: f64,
}

impl Filled {
    /// The name of the column that says where cells were missing, which no file can have.
    pub fn mask(column: &str) -> String {
        format!("{column}\u{0}missing")
    }
}

/// Fills missing cells by the means of the rows that it is fitted on.
#[derive(Debug, Clone)]
pub(super) struct CellMeans {
    pub columns: Vec<Filled>,
    pub is_in_folds: bool,
}

/// The same, with what is added to the columns where cells were missing.
#[derive(Debug)]
pub(super) struct FittedMeans(Vec<(String, f64)>);

impl Map for CellMeans {
    fn in_folds(&self) -> RefitScope {
        if self.is_in_folds { RefitScope::Maps } else { RefitScope::No }
    }

    fn fit(&self, table: &Table, weights: Option<&[f64]>) -> Result<Box<dyn FittedMap>> {
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let values = |name: &str| {
            let column = table.get(name).and_then(Cells::numbers);
            column.ok_or_else(|| Error::Shape(format!("the column `{name}` is not there")))
        };
        let of_column = |filled: &Filled| {
            let (x, mask) = (values(&filled.column)?, values(&Filled::mask(&filled.column))?);
            let (mut above, mut there, mut all) = (0.0, 0.0, 0.0);
            for row in 0..table.rows() {
                above += weight(row) * (x.get(row) - filled.value);
                there += weight(row) * (1.0 - mask.get(row));
                all += weight(row);
            }
            // Without any value the column is constant.
            let shift = if there > WEIGHT_GONE * all { above / there } else { 0.0 };
            Ok((filled.column.clone(), shift))
        };
        Ok(Box::new(FittedMeans(self.columns.iter().map(of_column).collect::<Result<_>>()?)))
    }
}

impl FittedMap for FittedMeans {
    fn transform(&self, mut table: Table) -> Result<Table> {
        let mut columns = table.take_columns();
        for (name, shift) in &self.0 {
            let mask = Filled::mask(name);
            let Some(at) = columns.iter().position(|(other, _)| *other == mask) else { continue };
            let (_, mask) = columns.remove(at);
            let Some((_, cells)) = columns.iter_mut().find(|(other, _)| other == name) else { continue };
            if let (Some(x), Some(mask)) = (cells.numbers(), mask.numbers()) {
                let filled: Vec<f64> = (0..x.len()).map(|row| x.get(row) + shift * mask.get(row)).collect();
                *cells = Cells::Numbers(Numbers::from(filled));
            }
        }
        table.with_columns(columns)
    }

    fn divisor(&self, _: &str) -> Option<f64> {
        Some(1.0)
    }

    fn makes_blocks(&self) -> bool {
        false
    }
}

#[typetag::serde(name = "means of cells")]
impl Registered for CellMeans {
    fn part(self: Box<Self>) -> Box<dyn Map> {
        self
    }
}

#[typetag::serde(name = "means of cells")]
impl RegisteredFitted for FittedMeans {
    fn part(self: Box<Self>) -> Box<dyn FittedMap> {
        self
    }
}

/// Neither is in a file.
macro_rules! unwritten {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.collect_map([("of", "cells")])
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(_: D) -> std::result::Result<Self, D::Error> {
                Err(D::Error::custom("means of cells are in no file"))
            }
        }
    )*};
}

unwritten!(CellMeans, FittedMeans);
