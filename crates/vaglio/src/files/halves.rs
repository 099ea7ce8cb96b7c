//! Complementary halves of the rows.

use crate::pipeline::Pairs;
use crate::resample::parting::{Parting, pieces};
use crate::resample::{FoldAssignment, Sample};
use crate::selector::ValidSelector;
use vaglio_core::Result;
use vaglio_search::shuffle::shuffled;

/// The pieces into which time is parted.
pub(super) const PIECES: usize = 10;

/// What halves are made of.
pub(super) enum Halves {
    /// Units, as evenly as they can be.
    Units(FoldAssignment),
    /// The piece of each row: halves are unions of pieces.
    Pieces(Vec<usize>),
}

impl Pairs {
    /// Splits that are given or that hold around a search part the rows into pieces; rows in an order of time are in blocks of
    /// a tenth, others in units.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] for splits that cannot be made.
    pub(super) fn halves(&self, selector: &ValidSelector, sample: &Sample) -> Result<Halves> {
        let under = |error: vaglio_core::Error| error.under("evaluate.stability");
        match sample.parting(selector, self.splits.as_ref(), PIECES - 1, 0)? {
            parting @ Parting::Splits(..) => {
                Ok(Halves::Pieces(pieces(&parting.parts(sample, selector.seed).map_err(under)?, sample.rows())))
            }
            Parting::Folds(assignment @ FoldAssignment::Blocks(rows), _) => {
                assignment.folds(rows.min(PIECES), 0).map(Halves::Pieces)
            }
            Parting::Folds(assignment, _) => Ok(Halves::Units(assignment)),
        }
    }
}

impl Halves {
    /// The first half, by the seed: whether each row is in it.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] where there are fewer than two units.
    pub fn first(&self, seed: u64) -> Result<Vec<bool>> {
        match self {
            Halves::Pieces(of_row) => {
                let order = shuffled(of_row.iter().max().map_or(0, |most| most + 1), seed);
                Ok(of_row.iter().map(|&piece| order[piece].is_multiple_of(2)).collect())
            }
            Halves::Units(assignment) => Ok(assignment.folds(2, seed)?.iter().map(|&fold| fold == 0).collect()),
        }
    }

    /// How they are made, for people.
    pub fn sentence(&self) -> String {
        match self {
            Halves::Pieces(of_row) => {
                let pieces = of_row.iter().max().map_or(0, |most| most + 1);
                format!("halves of {pieces} pieces that stay whole")
            }
            Halves::Units(assignment) => assignment.sentence(2),
        }
    }
}
