use super::*;
use linfa::ParamGuard;
use std::collections::HashSet;
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::resampling::outer;
use vaglio_pipeline::selector::{Selector, ValidSelector};
use vaglio_report::record::{Evaluate, OuterFolds};
use vaglio_search::{Greedy, Search, Silent};
use vaglio_testkit::data;
use vaglio_validate::KFold;

fn selector(folds: usize) -> ValidSelector {
    let search = Search::new(Greedy {}).max_features(4);
    let kfold = KFold { folds: Some(folds), ..KFold::default() };
    Selector::params(kfold, search, Rls::default()).seed(8).check().unwrap()
}

fn split(sample: &Sample) -> (Splitter, Vec<TrainTestSplit>) {
    let splitter = sample.outer_splitter(&selector(3), &OuterFolds::default());
    let parts = splitter.split(sample, 4).unwrap();
    (splitter, parts)
}

/// The rows of each share, checked to be within the training rows and within the next.
fn taken(sample: &Sample, splitter: &Splitter, part: &TrainTestSplit) -> Vec<Vec<usize>> {
    let rows_at = |share: f64| first_units(sample, order(sample, splitter, part, 7), share);
    let all: Vec<Vec<usize>> = SHARES.into_iter().map(rows_at).collect();
    assert_eq!(all[3], part.training);
    for pair in all.windows(2) {
        let next: HashSet<&usize> = pair[1].iter().collect();
        assert!(pair[0].iter().all(|row| next.contains(row)) && pair[0].len() < pair[1].len());
        assert!(pair[0].is_sorted());
    }
    all
}

#[test]
fn parts_hold_as_many_of_each_class() {
    let sample = Sample::from_problem(data::binary(60, 4, 1).problem(), false);
    let classes = sample.classes().unwrap();
    let (splitter, parts) = split(&sample);
    for part in &parts {
        let share = |rows: &[usize]| rows.iter().filter(|row| classes[**row] == 1).count() as f64 / rows.len() as f64;
        for rows in taken(&sample, &splitter, part) {
            assert!((share(&rows) - share(&part.training)).abs() <= 1.0 / rows.len() as f64 + 1e-12);
        }
    }
}

#[test]
fn groups_stay_whole() {
    let sample = Sample::from_problem(data::regression(60, 4, 1).groups(12).problem(), false);
    let labels = sample.labels().unwrap();
    let (splitter, parts) = split(&sample);
    for part in &parts {
        for rows in taken(&sample, &splitter, part) {
            let own: HashSet<u32> = rows.iter().map(|row| labels[*row]).collect();
            let all = part.training.iter().filter(|row| own.contains(&labels[**row])).count();
            assert_eq!(all, rows.len());
        }
    }
}

#[test]
fn of_rows_in_time_the_nearest_are_taken() {
    let sample = Sample::from_problem(data::regression(60, 4, 1).problem(), true);
    let (splitter, parts) = split(&sample);
    for part in &parts {
        let (first, last) = (part.held[0], part.held[part.held.len() - 1]);
        let distance = |row: usize| first.saturating_sub(row).max(row.saturating_sub(last));
        for rows in taken(&sample, &splitter, part) {
            let farthest = rows.iter().map(|row| distance(*row)).max().unwrap();
            let others = part.training.iter().filter(|row| !rows.contains(row));
            assert!(others.map(|row| distance(*row)).all(|other| other >= farthest));
        }
    }
}

/// The curve of a selector over the default folds, which may be nested ones.
fn curve(selector: &ValidSelector, sample: &Sample, outer: &[OuterFoldFit]) -> LearningCurve {
    let nested = (!outer.is_empty()).then(OuterFolds::default);
    let evaluate = &Evaluate { learning_curve: true, nested, ..Evaluate::default() };
    let input = RepetitionInput { evaluate, selector, sample };
    learning_curve(&input, outer, &StageMonitor::new(&mut Silent)).unwrap().unwrap()
}

#[test]
fn points_are_the_losses_of_the_procedure_repeated() {
    let selector = &selector(4);
    let problem = data::regression(60, 8, 3).problem();
    let sample = Sample::from_problem(problem.clone(), false);
    let how = OuterFolds::default();
    let found = curve(selector, &sample, &[]);
    let splitter = sample.outer_splitter(selector, &how);
    let parts: Vec<TrainTestSplit> = sample.outer_splits(selector, &how).unwrap().all().collect();
    let mut before: Option<Vec<f64>> = None;
    for (point, share) in found.points.iter().zip(SHARES) {
        let (mut losses, mut size, mut rows) = (vec![0.0; 60], 0.0, 0.0);
        for (fold, part) in parts.iter().enumerate() {
            let order = order(&sample, &splitter, part, stream(8, PARTS, fold as u64));
            let training = first_units(&sample, order, share);
            let chosen = selector.select(&problem.select_rows(&training), &mut Silent).unwrap();
            let held = problem.select_rows(&part.held);
            let model = chosen.predictor();
            let predicted = model.predict(&held.columns().select(model.inputs()), None).unwrap();
            for (k, &row) in part.held.iter().enumerate() {
                losses[row] = (problem.targets()[[0, row]] - predicted[[0, k]]).powi(2);
            }
            (size, rows) = (size + chosen.chosen.size as f64, rows + training.len() as f64);
        }
        let mean = losses.iter().sum::<f64>() / 60.0;
        assert!((point.loss.unwrap() - mean).abs() < 1e-10 * mean, "{} is not {mean}", point.loss.unwrap());
        assert_eq!((point.size, point.rows), (Some(size / 5.0), rows / 5.0));
        if let Some(earlier) = before {
            let apart: Vec<f64> = earlier.iter().zip(&losses).map(|(a, b)| a - b).collect();
            let gain = apart.iter().sum::<f64>() / 60.0;
            let squares: f64 = apart.iter().map(|d| (d - gain).powi(2)).sum();
            assert!((point.gain.unwrap() - gain).abs() < 1e-9 * mean);
            assert!((point.gain_error.unwrap() - (squares / (59.0 * 60.0)).sqrt()).abs() < 1e-9 * mean);
        }
        before = Some(losses);
    }
    // Given outer folds are its last point.
    let outer = outer(selector, &sample, &how, &StageMonitor::new(&mut Silent)).unwrap().unwrap();
    assert_eq!(curve(selector, &sample, &outer), found);
}

#[test]
fn too_few_rows_are_a_point_without_a_loss() {
    let selector = &selector(10);
    let sample = Sample::from_problem(data::regression(40, 5, 3).problem(), false);
    let curve = curve(selector, &sample, &[]);
    let [first, .., last] = &curve.points[..] else { panic!("{curve:?}") };
    assert_eq!((first.loss, first.rows), (None, 8.0));
    assert!(first.refused.as_ref().unwrap().contains("folds"), "{first:?}");
    assert!(last.loss.is_some() && last.gain.is_some());
    assert!(curve.sentence().contains("from 75 to 100 %"), "{}", curve.sentence());
}
