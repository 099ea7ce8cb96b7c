//! Leave-one-out rows for a readout with balanced classes.

use super::balance::{self, FoldGroupWeights};
use vaglio_core::{Design, row_weights};
use vaglio_kernels::Data;
use vaglio_kernels::loo::{ClassPart, ClassSums};

/// The rows grouped by class and weight, with the inputs of states and decompositions of each group.
pub(super) struct ClassRows {
    of_row: Vec<usize>,
    pub parts: Vec<ClassPart>,
    pub weightings: Vec<FoldGroupWeights>,
}

impl ClassRows {
    /// Groups the rows of leave-one-out; `None` without balanced classes.
    pub fn new(design: &Design, weightings: Vec<FoldGroupWeights>) -> Option<Self> {
        let of_row = balance::classes_of(design)?.of_row;
        let weight = row_weights(design.weights());
        let part = |FoldGroupWeights { folds, .. }: &FoldGroupWeights| {
            let first = *folds.first()?;
            Some(ClassPart { class: of_row[first], weight: weight(first), rows: folds.clone() })
        };
        let parts = weightings.iter().map(part).collect::<Option<Vec<_>>>().filter(|parts| !parts.is_empty())?;
        Some(ClassRows { of_row, parts, weightings })
    }

    /// Class sums of a subset; `None` if targets differ within a class. Cost O(m·s²).
    pub fn sums<'r, 'd>(&self, data: &'r Data<'d>, subset: &[usize]) -> Option<ClassSums<'r, 'd>> {
        ClassSums::new(data, &self.of_row, subset)
    }
}

#[cfg(test)]
mod tests {
    use crate::Loo;
    use crate::fits::SubsetFits;
    use crate::loo::parts_of;
    use vaglio_core::{Action, BalancedError, Criterion, SearchExtent, Squared};
    use vaglio_search::SubsetScorer;
    use vaglio_testkit::data::multiclass;

    #[test]
    fn many_classes_are_left_out_of_their_sums_without_copies_for_each() {
        let extent = SearchExtent::forward(6, 3);
        for (weighted, intercept) in [(false, true), (true, true), (false, false)] {
            let recipe = multiclass(72, 6, 12, 5).skewed().duplicates(1).balanced();
            let recipe = if weighted { recipe.weighted() } else { recipe };
            let design = recipe.design(&[1e-2, 1.0], intercept);
            let loo = Loo { loss: BalancedError.into(), ..Loo::default() };
            let squared = Loo { loss: Squared.into(), ..Loo::default() };
            let parts = parts_of(&design).unwrap_or_default();
            let fits = SubsetFits::from_rows(&design, &squared.loss, parts, true, false).unwrap();
            for subset in [&[][..], &[3], &[4, 0, 2], &[1, 6]] {
                let expected = squared.evaluate(&design, subset).unwrap();
                let losses = [1e-2, 1.0].map(|lambda| fits.fit(subset).settled(lambda, f64::INFINITY).unwrap().0);
                let found = losses[0].min(losses[1]);
                assert!((found / expected.loss - 1.0).abs() < 1e-10, "{found}, not {expected:?}");
            }
            assert!(fits.parts().is_empty());
            let mut found = SubsetScorer::open(&loo, &design, &extent).unwrap();
            assert_eq!(found.engine().name, "decomposition");
            found.add(2).unwrap();
            let scores = found.scores(Action::Add, &[0, 4, 5]).unwrap();
            for (feature, score) in [0, 4, 5].into_iter().zip(scores) {
                let expected = loo.evaluate(&design, &[2, feature]).unwrap();
                assert!((score.loss - expected.loss).abs() < 1e-10 && score.lambda == expected.lambda);
            }
        }
    }
}
