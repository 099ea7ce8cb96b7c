//! Leave-one-out as k-fold cross-validation with folds of one row.

use super::settings::{Engine, KFold};
use crate::loo::Loo;
use crate::round::RepeatFolds;
use vaglio_core::Design;

impl KFold {
    /// Returns leave-one-out if it is equivalent: every row is a fold, no fold preprocesses columns, and the user chose
    /// no engine.
    pub(super) fn left_out(&self, design: &Design, rounds: &[RepeatFolds]) -> Option<Loo> {
        let (in_folds, [round]) = (design.problem().in_folds(), rounds) else { return None };
        let is_made_in_folds = in_folds.is_by_maps() || in_folds.is_by_formula();
        let are_rows = round.is_partition() && round.folds.is_single() && round.folds.is_of_others();
        let is_served = self.engine == Engine::Auto && are_rows && !is_made_in_folds;
        is_served.then(|| Loo { loss: self.loss.clone(), ..Loo::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vaglio_core::{Action, AnyLoss, Criterion, Readout, SearchExtent, Squared, ZeroOne};
    use vaglio_search::SubsetScorer;
    use vaglio_testkit::data::{binary, regression};

    #[test]
    fn folds_of_one_row_are_leave_one_out_and_keep_their_standard_errors() {
        let readout = Readout::new(vec![1e-2, 1.0], true).unwrap();
        let weighted = regression(30, 7, 3).weighted().outputs(2).problem();
        let classes = binary(30, 7, 5).problem();
        let cases: [(_, AnyLoss, bool); 4] = [
            (&weighted, Squared.into(), false),
            (&classes, Squared.into(), true),
            (&classes, ZeroOne.into(), false),
            (&classes, ZeroOne.into(), true),
        ];
        for (problem, loss, is_balanced) in cases {
            let readout = if is_balanced { readout.clone().balanced() } else { readout.clone() };
            let design = Design::identity(problem, readout);
            let folds = KFold::new(30).shuffle(true).loss(loss.clone());
            let others = folds.clone().engine(Engine::RowsHeldOut);
            let extent = SearchExtent::forward(7, 3);
            let engine = folds.plan(&design, &extent).estimate;
            assert_eq!((engine.engine, engine.reason.split(';').next()), ("states", Some("every fold is one row")));
            let [mut found, mut expected] =
                [&folds, &others].map(|criterion| SubsetScorer::open(criterion, &design, &extent).unwrap());
            assert_eq!((found.engine().name, expected.engine().name), ("states", "rows_held_out"));
            for feature in [4, 2] {
                found.add(feature).unwrap();
                expected.add(feature).unwrap();
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
                let score = folds.evaluate(&design, found.selected()).unwrap();
                assert!(near(found.score().unwrap().loss, score.loss) && found.score().unwrap().lambda == score.lambda);
                let [a, b] = [found.standard_error().unwrap().unwrap(), expected.standard_error().unwrap().unwrap()];
                assert!(near(a, b), "{a}, not {b}");
            }
            let scores = found.scores(Action::Add, &[0, 6]).unwrap();
            for (feature, score) in [0, 6].into_iter().zip(scores) {
                let expected = folds.evaluate(&design, &[4, 2, feature]).unwrap();
                assert!((score.loss - expected.loss).abs() <= 1e-9 * expected.loss);
            }
        }
    }
}
