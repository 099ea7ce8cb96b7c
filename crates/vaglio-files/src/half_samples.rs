//! Complementary half-samples of the rows.

use vaglio_core::{Result, number_labels};
use vaglio_pipeline::folds::FoldAssignment;
use vaglio_pipeline::pipeline::Pairs;
use vaglio_pipeline::resampling::Sample;
use vaglio_pipeline::resampling::split_rule::{PIECES, SplitRule, TrainTestSplit};
use vaglio_pipeline::selector::ValidSelector;
use vaglio_search::shuffle::shuffled;

/// Elements that half-samples are drawn from.
pub(super) enum HalfSamples {
    /// Rows, groups or blocks, divided as evenly as possible.
    Units(FoldAssignment),
    /// Piece of each row; halves are unions of pieces.
    Pieces(Vec<u32>),
}

/// Given splits, and splits that hold around a search, divide the rows into pieces; time-ordered rows form blocks of a
/// tenth; other rows are units.
///
/// # Errors
/// [`vaglio_core::Error::Setting`] for impossible splits.
pub(super) fn halves(how: &Pairs, selector: &ValidSelector, sample: &Sample) -> Result<HalfSamples> {
    let under = |error: vaglio_core::Error| error.under("evaluate.stability");
    match sample.split_rule(selector, how.splits.as_ref(), PIECES - 1, 0)? {
        rule @ SplitRule::Splits(..) => {
            Ok(HalfSamples::Pieces(pieces(&rule.parts(sample, selector.seed).map_err(under)?, sample.rows())))
        }
        SplitRule::Folds(assignment, _) if assignment.is_in_time => {
            assignment.folds(assignment.most().min(PIECES), 0).map(HalfSamples::Pieces)
        }
        SplitRule::Folds(assignment, _) => Ok(HalfSamples::Units(assignment)),
    }
}

impl HalfSamples {
    /// Draws the first half by the seed: whether each row is in it.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] for fewer than two units.
    pub fn first(&self, seed: u64) -> Result<Vec<bool>> {
        match self {
            HalfSamples::Pieces(of_row) => {
                let order = shuffled(of_row.iter().max().map_or(0, |most| *most as usize + 1), seed);
                Ok(of_row.iter().map(|&piece| order[piece as usize].is_multiple_of(2)).collect())
            }
            HalfSamples::Units(assignment) => Ok(assignment.folds(2, seed)?.iter().map(|&fold| fold == 0).collect()),
        }
    }

    /// Describes the half-samples for people.
    pub fn sentence(&self) -> String {
        match self {
            HalfSamples::Pieces(of_row) => {
                let pieces = of_row.iter().max().map_or(0, |most| most + 1);
                format!("halves of {pieces} pieces that stay whole")
            }
            HalfSamples::Units(assignment) => assignment.sentence(2),
        }
    }
}

/// Piece of each row: rows held out by the same splits share one.
fn pieces(parts: &[TrainTestSplit], rows: usize) -> Vec<u32> {
    let mut held: Vec<Vec<usize>> = vec![Vec::new(); rows];
    for (number, part) in parts.iter().enumerate() {
        part.held.iter().for_each(|&row| held[row].push(number));
    }
    number_labels(held).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_rows_that_the_same_splits_hold_out() {
        let part = |held: &[usize]| TrainTestSplit { training: Vec::new(), held: held.to_vec() };
        assert_eq!(pieces(&[part(&[2, 3]), part(&[3, 4])], 6), [0, 0, 1, 2, 3, 0]);
        assert_eq!(Pairs::default().splits, None);
    }

    #[test]
    fn halves_are_halves() {
        let half = HalfSamples::Units(FoldAssignment::from_labels(&[], 11, None)).first(3).unwrap();
        assert_eq!(half.iter().filter(|inside| **inside).count(), 6);
    }
}
