//! Rows held out that are predicted from rows of their own, and rows held out several times or never: every engine and
//! search against plain loops.

use linfa::ParamGuard;
use ndarray::{Axis, concatenate};
use vaglio::Selector;
use vaglio::core::{
    Absolute, Columns, Criterion, Design, Error, Feature, HeldOut, Huber, Loss, Part, PerFoldPreprocessing, Problem,
    Readout, RowLabels, Score, Squared, Task, saved,
};
use vaglio::criteria::{Engine, KFold};
use vaglio::learners::Rls;
use vaglio::search::{
    All, Backward, Exhaustive, Floating, Greedy, Random, Rank, Search, SearchContext, Silent, SubsetScorer,
};
use vaglio::splits::{Forward, MonteCarlo, Repeated};
use vaglio_testkit::data::{self, Recipe};
use vaglio_testkit::{CriterionLaws, LawViolation, check_criterion};

/// Rows held out, each with the rows that they are predicted from.
type Loops = Vec<(Vec<usize>, Vec<usize>)>;

fn forward(folds: usize, gap: usize, window: Option<usize>) -> KFold {
    KFold::with_splits(Forward { folds, gap, window })
}

fn rounds(criterion: &KFold, design: &Design) -> Vec<vaglio::core::Round> {
    match criterion.folds(design).unwrap() {
        HeldOut::Folds(rounds) => rounds,
        other => panic!("{other:?}"),
    }
}

/// Training and held-out rows of every fold of a criterion.
fn lists(criterion: &KFold, design: &Design) -> Loops {
    let of_round = |round: &vaglio::core::Round| -> Loops {
        (0..round.count()).map(|fold| (round.training(fold), round.held_out(fold).collect())).collect()
    };
    rounds(criterion, design).iter().flat_map(of_round).collect()
}

/// Forward chaining by its definition on rows in the order of time.
fn by_hand(rows: usize, folds: usize, gap: usize, window: Option<usize>) -> Loops {
    let size = rows / (folds + 1);
    let one = |fold: usize| {
        let start = rows - folds * size + fold * size;
        let end = start - gap;
        ((end - window.unwrap_or(end).min(end)..end).collect(), (start..start + size).collect())
    };
    (0..folds).map(one).collect()
}

/// The lowest loss over the λ of all rows held out, each predicted by plain training.
fn pooled(design: &Design, loops: &Loops, loss: &Part<dyn Loss>, subset: &[Feature]) -> f64 {
    let all: Vec<usize> = loops.iter().flat_map(|(_, held_out)| held_out).copied().collect();
    let weights: Option<Vec<f64>> = design.weights().map(|w| all.iter().map(|&row| w[row]).collect());
    let targets = design.targets().select(Axis(1), &all);
    let of_lambda = |lambda: Option<f64>| {
        let of_split = |(training, held_out): &(Vec<usize>, Vec<usize>)| {
            design.retrain(training, held_out, subset, lambda).unwrap()
        };
        let predictions: Vec<_> = loops.iter().map(of_split).collect();
        let views: Vec<_> = predictions.iter().map(|of_split| of_split.view()).collect();
        loss.mean(targets.view(), concatenate(Axis(1), &views).unwrap().view(), weights.as_deref())
    };
    design.lambdas().into_iter().map(of_lambda).fold(f64::INFINITY, f64::min)
}

fn designs() -> Vec<(&'static str, Design)> {
    let of = |recipe: Recipe, lambdas: &[f64], intercept: bool| {
        recipe.design(lambdas, intercept).with_problem(|problem| problem.with_seed(3))
    };
    vec![
        ("plain", of(data::regression(26, 6, 1), &[0.3], true)),
        ("weights and a grid", of(data::regression(26, 6, 2).weighted(), &[1e-3, 0.1, 10.0], true)),
        ("no intercept, bytes", of(data::regression(25, 6, 3).bytes(), &[0.1, 1.0], false)),
        ("two outputs", of(data::regression(27, 5, 4).outputs(2).weighted(), &[0.2], true)),
        (
            "standardized in folds",
            of(data::regression(26, 6, 5).condition(1e3), &[0.1, 2.0], true)
                .with_problem(|problem| problem.with_preprocessing(PerFoldPreprocessing::standardize())),
        ),
        (
            "weighted, standardized",
            of(data::regression(26, 5, 6).weighted(), &[0.4], true)
                .with_problem(|problem| problem.with_preprocessing(PerFoldPreprocessing::standardize())),
        ),
        ("more columns than rows", of(data::regression(18, 24, 7), &[0.5], true)),
        ("a copy and a constant", of(data::regression(24, 5, 8).duplicates(1).constants(1), &[0.3, 3.0], true)),
    ]
}

fn searches(design: &Design) -> Vec<Search> {
    let wide = design.features() > design.rows();
    let mut all: Vec<Search> =
        vec![Greedy::new(4), Floating::new(3), Rank::new(3), Search::new(Random::default()).max_features(3)];
    if !wide {
        all.extend([Backward::new(1), Exhaustive::new(3), All::default().into()]);
    }
    all
}

#[test]
fn every_search_scores_as_plain_loops() {
    for (name, design) in designs() {
        let rows = design.rows();
        for (criterion, loops) in [
            (forward(4, 0, None), Some(by_hand(rows, 4, 0, None))),
            (forward(3, 2, Some(7)), Some(by_hand(rows, 3, 2, Some(7)))),
            (KFold::with_splits(Repeated { folds: 3, repeats: 2 }), None),
            (KFold::with_splits(MonteCarlo { repeats: 4, fraction: 0.3 }), None),
        ] {
            let listed = lists(&criterion, &design);
            assert!(loops.is_none_or(|loops| loops == listed), "{name}: {listed:?}");
            for search in searches(&design) {
                let on = format!("{name}, {criterion:?}, {search:?}");
                let extent = search.extent(&design).unwrap();
                let subset = SubsetScorer::open(&criterion, &design, &extent).unwrap();
                let mut observer = Silent;
                let mut context = SearchContext::new(subset, &mut observer, 1);
                let path = search.run(&mut context).unwrap();
                assert!(!path.entries.is_empty(), "{on}");
                for entry in &path.entries {
                    let expected = pooled(&design, &listed, &Squared.into(), &entry.subset);
                    let error = (entry.score.loss / expected - 1.0).abs();
                    assert!(error < 1e-10, "{on}: {} of {:?}, not {expected}", entry.score.loss, entry.subset);
                }
            }
        }
    }
}

#[test]
fn every_loss_and_engine_keeps_the_laws() -> Result<(), LawViolation> {
    crate::on_one_thread(|| {
        let schemes =
            [forward(3, 1, None), forward(3, 0, Some(9)), KFold::with_splits(MonteCarlo { repeats: 3, fraction: 0.3 })];
        for (criterion, loss) in schemes.iter().flat_map(|scheme| {
            [Part::<dyn Loss>::from(Squared), Absolute.into(), Huber::default().into()].map(|loss| (scheme, loss))
        }) {
            for engine in [Engine::Auto, Engine::RowsHeldOut] {
                let criterion = KFold { loss: loss.clone(), engine, ..criterion.clone() };
                let design = data::regression(24, 6, 11).weighted().outputs(2).design(&[0.3, 3.0], true);
                check_criterion(&criterion, &design, 1e-9)
                    .map_err(|broken| broken.within(&format!("{criterion:?}")))?;
            }
        }
        for loss in crate::losses::all() {
            // The first rows have both classes.
            let recipe = data::binary(30, 5, 12).weighted();
            for (criterion, balanced) in schemes.iter().flat_map(|scheme| [(scheme, false), (scheme, true)]) {
                let criterion = KFold { loss: loss.clone(), ..criterion.clone() };
                let design = recipe.design(&[0.5], true);
                let readout = design.readout().unwrap().clone();
                let readout = if balanced { readout.balanced() } else { readout };
                let design = Design::identity(&recipe.problem(), readout);
                let within = |broken: LawViolation| broken.within(&format!("{criterion:?}, balanced {balanced}"));
                CriterionLaws::new(&criterion, &design, 1e-9).additions().map_err(within)?;
                CriterionLaws::new(&criterion, &design, 1e-9).removals().map_err(within)?;
                CriterionLaws::new(&criterion, &design, 1e-9).walk(30, 3).map_err(within)?;
            }
        }
        Ok(())
    })
}

#[test]
fn moments_serve_folds_that_are_trained_on_rows_of_their_own() {
    let design = data::regression(60, 8, 13).weighted().design(&[0.1, 1.0], true);
    let search = Greedy::new(3);
    let extent = search.extent(&design).unwrap();
    let engine = |criterion: &KFold| SubsetScorer::open(criterion, &design, &extent).unwrap().engine();
    assert_eq!(engine(&forward(5, 0, None)), "moments");
    assert_eq!(engine(&KFold { loss: Absolute.into(), ..forward(5, 0, None) }), "decomposition");
}

/// SE² = K/(K − 1)·Σ (c_k − p_k·c)² over the K folds that are held out.
#[test]
fn the_standard_error_is_that_of_the_folds_held_out() {
    let design = data::regression(26, 4, 14).weighted().design(&[0.3], true);
    let weights = design.weights().unwrap();
    for loss in [Part::<dyn Loss>::from(Squared), Absolute.into()] {
        let criterion = KFold { loss: loss.clone(), ..forward(4, 0, None) };
        let loops = lists(&criterion, &design);
        let weight = |rows: &[usize]| rows.iter().map(|&row| weights[row]).sum::<f64>();
        let all: f64 = loops.iter().map(|(_, held_out)| weight(held_out)).sum();
        let parts: Vec<(f64, f64)> = loops
            .iter()
            .map(|split| {
                let share = weight(&split.1) / all;
                (share * pooled(&design, &vec![split.clone()], &loss, &[0, 2]), share)
            })
            .collect();
        let mean: f64 = parts.iter().map(|(c, _)| c).sum();
        let expected = (4.0 / 3.0 * parts.iter().map(|(c, p)| (c - p * mean).powi(2)).sum::<f64>()).sqrt();
        let extent = Greedy::new(3).extent(&design).unwrap();
        let mut subset = SubsetScorer::open(&criterion, &design, &extent).unwrap();
        subset.reset(&[0, 2]).unwrap();
        let found = subset.standard_error().unwrap().unwrap();
        assert!((found / expected - 1.0).abs() < 1e-9, "{loss:?}: {found}, not {expected}");
    }
}

#[test]
fn rows_of_one_time_stay_together_and_time_is_that_of_the_data() {
    let problem = data::regression(24, 3, 15).problem();
    let on = |problem: Problem| Design::identity(&problem, Readout::new(vec![1.0], true).unwrap());
    // Three series of eight steps, which stand one after the other.
    let labels = RowLabels { series: Some((0..24).map(|row| row / 8).collect()), ..RowLabels::default() };
    let series = problem.clone().with_labels(labels).unwrap();
    let (step, of_series) = (|row: usize| row % 8, lists(&forward(3, 0, None), &on(series.clone())));
    let time = Some((0..24).map(|row| 10 * (row % 8)).collect());
    let times = problem.clone().with_labels(RowLabels { time, ..RowLabels::default() }).unwrap();
    assert_eq!(of_series, lists(&forward(3, 0, None), &on(times)));
    for (fold, (training, held_out)) in of_series.iter().enumerate() {
        assert!(held_out.iter().all(|&row| step(row) / 2 == fold + 1) && held_out.len() == 6);
        assert!(training.iter().all(|&row| step(row) < 2 * (fold + 1)) && training.len() == 6 * (fold + 1));
    }
    // Series are groups of their own by default, and others are refused.
    let groups: Vec<u32> = (0..24).map(|row| 7 - row / 8).collect();
    assert_eq!(lists(&forward(3, 0, None), &on(series.clone().with_groups(groups).unwrap())), of_series);
    let others = series.with_groups((0..24).map(|row| row % 2).collect()).unwrap();
    let refused = forward(3, 0, None).check(&on(others)).unwrap_err().to_string();
    assert!(refused.contains("splits.kind") && refused.contains("goes by time"), "{refused}");
}

/// As other programs part time series; see the book, *Time series*.
#[test]
fn blocks_are_those_of_the_field() {
    let of = |rows: usize, folds: usize, gap: usize, window: Option<usize>| -> Vec<[usize; 4]> {
        let design = data::regression(rows, 2, 16).design(&[1.0], true);
        let ends = |rows: &[usize]| [rows[0], rows[rows.len() - 1]];
        let lists = lists(&forward(folds, gap, window), &design);
        lists.iter().map(|(t, h)| [ends(t)[0], ends(t)[1], ends(h)[0], ends(h)[1]]).collect()
    };
    assert_eq!(of(13, 3, 0, None), [[0, 3, 4, 6], [0, 6, 7, 9], [0, 9, 10, 12]]);
    assert_eq!(of(13, 3, 2, None), [[0, 1, 4, 6], [0, 4, 7, 9], [0, 7, 10, 12]]);
    assert_eq!(of(20, 4, 1, Some(5)), [[0, 2, 4, 7], [2, 6, 8, 11], [6, 10, 12, 15], [10, 14, 16, 19]]);
}

#[test]
fn schemes_that_cannot_be_are_refused() {
    let design = data::regression(12, 3, 17).design(&[1.0], true);
    let refused = |criterion: &KFold| match criterion.check_settings().and_then(|()| criterion.check(&design)) {
        Err(Error::Setting { field, message, .. }) => format!("{field}: {message}"),
        other => panic!("{criterion:?} gives {other:?}"),
    };
    assert!(refused(&forward(12, 0, None)).starts_with("splits.folds: 12 folds need 13 points in time"));
    assert!(refused(&forward(3, 3, None)).starts_with("splits.gap: with it fold 1 has nothing before it"));
    assert!(refused(&forward(0, 0, None)).starts_with("splits.folds: 0 folds"));
    assert!(refused(&forward(3, 0, Some(0))).starts_with("splits.window: 0 points"));
    assert!(
        refused(&KFold::with_splits(MonteCarlo { repeats: 0, fraction: 0.2 }))
            .starts_with("splits.repeats: 0 is not between")
    );
    assert!(
        refused(&KFold::with_splits(MonteCarlo { repeats: 2, fraction: 1.0 }))
            .starts_with("splits.fraction: 1 is not above 0 and below 1")
    );
    assert!(
        refused(&KFold::with_splits(MonteCarlo { repeats: 2, fraction: 0.01 }))
            .starts_with("splits.fraction: 0.01 of 12 rows is none")
    );
    assert!(
        refused(&KFold { stratified: true, ..forward(3, 0, None) }).contains("it cannot be combined with `splits`")
    );
    // The first rows are of one class.
    let problem = data::binary(12, 3, 18).problem();
    let sorted =
        problem.with_targets(ndarray::Array2::from_shape_fn((1, 12), |(_, row)| if row < 8 { -1.0 } else { 1.0 }));
    let sorted = Design::identity(&sorted.unwrap(), Readout::new(vec![1.0], true).unwrap());
    let message = forward(2, 0, None).check(&sorted).unwrap_err().to_string();
    assert!(message.contains("split 2 is trained on no row of class"), "{message}");
}

#[test]
fn random_parts_follow_the_seed_and_keep_groups_and_classes() {
    let design = data::binary(40, 3, 19).skewed().groups(9).design(&[1.0], true);
    let criterion = KFold::with_splits(MonteCarlo { repeats: 5, fraction: 0.25 });
    let splits = lists(&criterion, &design);
    assert_eq!(splits, lists(&criterion, &design));
    assert_ne!(splits, lists(&criterion, &design.with_problem(|problem| problem.with_seed(8))));
    let groups = design.problem().groups().unwrap();
    for (training, held_out) in &splits {
        assert!(training.iter().all(|&a| held_out.iter().all(|&b| groups[a] != groups[b])));
    }
    let design = data::binary(40, 3, 19).skewed().design(&[1.0], true);
    let positive = |rows: &[usize]| rows.iter().filter(|&&row| design.targets()[[0, row]] > 0.0).count();
    let all: Vec<usize> = (0..40).collect();
    let expected = [positive(&all), 40 - positive(&all)].map(|count| (0.25 * count as f64).round() as usize);
    for (_, held_out) in lists(&KFold { stratified: true, ..criterion }, &design) {
        assert_eq!([positive(&held_out), held_out.len() - positive(&held_out)], expected);
    }
}

/// The mean squared error of the later half, predicted from the earlier one by plain training.
#[saved(Criterion, "later_half")]
struct LaterHalf {}

impl Criterion for LaterHalf {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score, Error> {
        let (earlier, later) = halves(design.rows());
        design.best_lambda(|lambda| {
            let predicted = design.retrain(&earlier, &later, subset, lambda)?;
            Ok(Squared.mean(design.targets().select(Axis(1), &later).view(), predicted.view(), None))
        })
    }
}

fn halves(rows: usize) -> (Vec<usize>, Vec<usize>) {
    (0..rows).partition(|&row| row < rows / 2)
}

/// Columns standardized by all rows would have learned from the later half.
#[test]
fn a_criterion_that_retrains_learns_nothing_from_the_rows_that_it_predicts() {
    let problem = data::regression(20, 4, 20).condition(1e2).problem();
    let selector = Selector::params(LaterHalf {}, Greedy::new(2), Rls::default()).check().unwrap();
    let design = selector
        .design(
            &problem
                .clone()
                .with_preprocessing(PerFoldPreprocessing::Formulas { missing: None, standardize: Some(false) }),
        )
        .unwrap();
    let (earlier, _) = halves(20);
    let mut columns = Columns::new(20);
    for column in problem.columns().iter() {
        let mean = earlier.iter().map(|&row| column.get(row)).sum::<f64>() / 10.0;
        let variance = earlier.iter().map(|&row| (column.get(row) - mean).powi(2)).sum::<f64>() / 10.0;
        columns.push((0..20).map(|row| (column.get(row) - mean) / variance.sqrt()).collect::<Vec<_>>());
    }
    let names = problem.names().to_vec();
    let by_hand = Problem::new(columns, names, problem.targets().as_ref().clone(), vec!["y".into()], Task::Regression);
    let by_hand = Design::identity(&by_hand.unwrap(), design.readout().unwrap().clone());
    for subset in [&[0][..], &[1, 3], &[0, 2, 3]] {
        let (found, expected) = (LaterHalf {}.evaluate(&design, subset), LaterHalf {}.evaluate(&by_hand, subset));
        let (found, expected) = (found.unwrap().loss, expected.unwrap().loss);
        assert!((found / expected - 1.0).abs() < 1e-12, "{subset:?}: {found}, not {expected}");
    }
}
