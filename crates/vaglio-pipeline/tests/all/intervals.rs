//! Prediction intervals.

use linfa::ParamGuard;
use vaglio_core::{Cells, Numbers, Table};
use vaglio_pipeline::Selector;
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::pipeline::SavedIntervals;
use vaglio_pipeline::resampling::{Sample, StageMonitor, outer};
use vaglio_report::record::OuterFolds;
use vaglio_search::{Choose, Greedy, Search, Silent};
use vaglio_testkit::data;
use vaglio_validate::Loo;

/// The ends are the ⌈α(n + 1)⌉-th of all predictions of fold models plus or minus residuals of their held-out rows.
#[test]
fn ends_are_those_of_sorting_all_values() {
    let problem = data::regression(19, 3, 4).problem();
    let column = |k: usize| Cells::Numbers(Numbers::from(problem.columns().column(k).values().into_owned()));
    let table = Table::new((0..3).map(|k| (format!("x{k}"), column(k))).collect()).unwrap();
    let search = Search::new(Greedy {}).max_features(2).choose(Choose::Last);
    let selector = Selector::params(Loo::default(), search, Rls::default()).seed(4).check().unwrap();
    let sample = Sample::from_problem(problem.clone(), false);
    for (level, folds) in [(0.5, 3), (0.8, 4), (0.9, 5), (0.95, 2)] {
        let how = OuterFolds { folds, ..OuterFolds::default() };
        let fits = outer(&selector, &sample, &how, &StageMonitor::new(&mut Silent)).unwrap().unwrap();
        let intervals = SavedIntervals::new(level, fits).unwrap();
        let [lower, upper] = intervals.bounds(&table).unwrap();
        // α(n + 1) = 0.1 · 20 is 2, though 1 − 0.9 is slightly less than 0.1.
        let place = (level * 20.0 - 1e-9).ceil() as usize;
        for row in 0..19 {
            let mut ends = [Vec::new(), Vec::new()];
            for fold in &intervals.folds {
                let inputs: Vec<usize> = fold.inputs.iter().map(|name| name[1..].parse().unwrap()).collect();
                let center = fold.model.predict(&problem.columns().select(&inputs), None).unwrap()[[0, row]];
                ends[0].extend(fold.residuals[0].iter().map(|residual| center - residual));
                ends[1].extend(fold.residuals[0].iter().map(|residual| center + residual));
            }
            ends.iter_mut().for_each(|ends| ends.sort_by(f64::total_cmp));
            let expected = [ends[0][19 - place], ends[1][place - 1]];
            assert_eq!([lower[[0, row]], upper[[0, row]]], expected);
        }
    }
}

/// A row of weight 2 is two rows: the ends are those of each residual listed as often as its row weighs.
#[test]
fn whole_weights_are_repeated_residuals() {
    let weights = (0..19).map(|row| f64::from(1 + row % 3)).collect();
    let problem = data::regression(19, 3, 4).problem().with_weights(weights).unwrap();
    let column = |k: usize| Cells::Numbers(Numbers::from(problem.columns().column(k).values().into_owned()));
    let table = Table::new((0..3).map(|k| (format!("x{k}"), column(k))).collect()).unwrap();
    let search = Search::new(Greedy {}).max_features(2).choose(Choose::Last);
    let selector = Selector::params(Loo::default(), search, Rls::default()).seed(4).check().unwrap();
    let sample = Sample::from_problem(problem.clone(), false);
    let how = OuterFolds { folds: 4, ..OuterFolds::default() };
    // 0.9 · (37 + 1) is not whole, 0.5 · (37 + 1) is.
    for level in [0.5, 0.9] {
        let fits = outer(&selector, &sample, &how, &StageMonitor::new(&mut Silent)).unwrap().unwrap();
        let mut intervals = SavedIntervals::new(level, fits).unwrap();
        let weighted = intervals.bounds(&table).unwrap();
        let mut rows = 0;
        for fold in &mut intervals.folds {
            let sums = std::mem::take(&mut fold.cumulative_weights).remove(0);
            let before = std::iter::once(0.0).chain(sums.iter().copied());
            let counts = sums.iter().zip(before).map(|(sum, before)| (sum - before) as usize);
            let repeated = fold.residuals[0].iter().zip(counts).flat_map(|(residual, count)| vec![*residual; count]);
            fold.residuals[0] = repeated.collect();
            rows += fold.residuals[0].len();
        }
        assert_eq!(rows, 37);
        assert_eq!(intervals.bounds(&table).unwrap(), weighted);
    }
}

#[test]
fn few_rows_have_no_interval() {
    for (level, least) in [(0.5, 1), (0.8, 4), (0.9, 9), (0.95, 19), (0.99, 99)] {
        assert!(SavedIntervals::unit_weight(level, &vec![1.0; least]).is_ok());
        let error = SavedIntervals::unit_weight(level, &vec![1.0; least - 1]).unwrap_err().to_string();
        assert!(error.contains(&format!("at least {least} rows")), "{error}");
    }
    // Weights count rows; of weights below 1 only ratios matter.
    for weights in [[2.0; 5], [0.01; 5]] {
        let is_enough = SavedIntervals::unit_weight(0.9, &weights).is_ok();
        assert_eq!(is_enough, weights[0] > 1.0);
        assert!(SavedIntervals::unit_weight(0.8, &weights).is_ok());
    }
    // Rows of weight 0 are none.
    assert!(SavedIntervals::unit_weight(0.9, &[[1.0; 8], [0.0; 8]].concat()).is_err());
    let error = SavedIntervals::unit_weight(0.9, &[2.0; 4]).unwrap_err().to_string();
    assert!(error.contains("there are 8"), "{error}");
}
