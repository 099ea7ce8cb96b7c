//! Cells that are filled by the means of the training rows of each fold, against plain loops over the folds.

use ndarray::Array2;
use vaglio::core::{
    Absolute, Action, BalancedSquared, Cells, Criterion, Design, Feature, HeldOut, Loss, Map, Numbers, Part,
    PerFoldPreprocessing, Problem, Readout, SearchExtent, Squared, Table, Task, TrainingRows, ZeroOne,
};
use vaglio::criteria::{Engine, FoldBy, KFold};
use vaglio::maps::{Impute, Scope, Standardize};
use vaglio::search::SubsetScorer;
use vaglio_testkit::{SplitMix64, data};

/// A problem before its missing cells were filled.
struct Torn {
    table: Table,
    problem: Problem,
    missing: Vec<(Feature, Vec<usize>)>,
}

fn torn(problem: &Problem, share: f64, seed: u64) -> Torn {
    let mut random = SplitMix64::new(seed);
    let (mut columns, mut missing) = (Vec::new(), Vec::new());
    for (feature, name) in problem.names().iter().enumerate() {
        let mut values = problem.columns().column(feature).values().into_owned();
        // The last column is whole.
        let rows: Vec<usize> = match feature + 1 < problem.columns().len() {
            true => (0..values.len()).filter(|_| (random.below(1000) as f64) < 1000.0 * share).collect(),
            false => Vec::new(),
        };
        rows.iter().for_each(|&row| values[row] = f64::NAN);
        missing.push((feature, rows));
        columns.push((name.clone(), Cells::Numbers(Numbers::from(values))));
    }
    Torn { table: Table::new(columns).unwrap(), problem: problem.clone(), missing }
}

/// The problem of a table, with the targets of rows of another.
fn problem(table: &Table, of: &Problem, rows: &[usize]) -> Problem {
    let part = of.select_rows(rows);
    let mut columns = vaglio::core::Columns::new(rows.len());
    table.columns().iter().for_each(|(_, cells)| columns.push(Numbers::from(cells.numbers().unwrap())));
    let (names, targets) = (part.names().to_vec(), part.targets().as_ref().clone());
    let made = Problem::new(columns, names, targets, part.target_names().to_vec(), part.task().clone()).unwrap();
    let made = match part.groups() {
        Some(groups) => made.with_groups(groups.to_vec()).unwrap(),
        None => made,
    };
    part.weights().map_or(Ok(made.clone()), |weights| made.clone().with_weights(weights.to_vec())).unwrap()
}

fn transformed(map: &dyn Map, training: &Table, weights: Option<&[f64]>, table: Table) -> Table {
    let targets = ndarray::aview2::<f64, 0>(&[]);
    let rows = TrainingRows { table: training, targets, outputs: &[], lagged: &[], weights, groups: None, seed: 0 };
    map.fit(&rows).unwrap().transform(table).unwrap()
}

fn imputed(table: &Table, training: &Table, weights: Option<&[f64]>) -> Table {
    transformed(&Impute::default().scope(Scope::Fold), training, weights, table.clone())
}

impl Torn {
    /// Filled by the means of all rows, and anew in each fold.
    fn design(&self, readout: &Readout, standardize: bool) -> Design {
        let every: Vec<usize> = (0..self.problem.rows()).collect();
        let whole = imputed(&self.table, &self.table, self.problem.weights());
        let design = Design::identity(&problem(&whole, &self.problem, &every), readout.clone());
        let (rows, missing) = (self.problem.rows(), self.missing.clone());
        let in_folds = PerFoldPreprocessing::impute(rows, missing, true, standardize.then_some(true));
        design.with_problem(|problem| problem.with_preprocessing(in_folds))
    }

    /// The mean squared error by plain loops: maps fitted on the training rows of each fold, and ridge regression on them.
    fn loops(&self, folds: &[usize], readout: &Readout, subset: &[Feature], standardize: bool) -> f64 {
        let targets = self.problem.targets();
        let mut predictions = Array2::zeros(targets.dim());
        for fold in 0..=*folds.iter().max().unwrap() {
            let (held_out, training): (Vec<usize>, Vec<usize>) = (0..folds.len()).partition(|&row| folds[row] == fold);
            let part = self.table.select_rows(&training);
            let weights = self.problem.weights().map(|w| training.iter().map(|&row| w[row]).collect::<Vec<f64>>());
            let order: Vec<usize> = training.iter().chain(&held_out).copied().collect();
            let filled = imputed(&self.table.select_rows(&order), &part, weights.as_deref());
            let filled = match standardize {
                true => {
                    let own = imputed(&part, &part, weights.as_deref());
                    transformed(&Standardize::default(), &own, weights.as_deref(), filled)
                }
                false => filled,
            };
            let design = Design::identity(&problem(&filled, &self.problem, &order), readout.clone());
            let (count, all) = (training.len(), (0..order.len()).collect::<Vec<usize>>());
            let predicted = design.retrain(&all[..count], &all[count..], subset, Some(readout.lambdas[0])).unwrap();
            held_out.iter().enumerate().for_each(|(j, &row)| predictions.column_mut(row).assign(&predicted.column(j)));
        }
        Squared.mean(targets.view(), predictions.view(), self.problem.weights())
    }
}

fn folds_of(criterion: &KFold, design: &Design) -> Vec<usize> {
    match criterion.folds(design).unwrap() {
        HeldOut::Folds(rounds) => rounds[0].fold_of_rows().iter().map(|fold| fold.unwrap() as usize).collect(),
        other => panic!("{other:?}"),
    }
}

fn near(expected: f64, found: f64, tolerance: f64, on: &str) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{on}: {found:?}, not {expected:?}");
}

/// Tries every fifth case; with `VAGLIO_CASES=all`, all.
#[test]
fn moments_are_plain_loops() {
    crate::on_one_thread(|| {
        for case in (0..48).step_by(crate::stride(5)) {
            let (weighted, intercept, standardize) = (case & 1 > 0, case & 2 > 0, case & 4 > 0);
            let share = [0.0, 0.02, 0.1, 0.25, 0.4, 0.6][case / 8];
            let recipe = data::regression(90, 7, case as u64).outputs(1 + case % 3).groups(5).bytes();
            let recipe = if weighted { recipe.weighted() } else { recipe };
            let torn = torn(&recipe.problem(), share, case as u64 + 7);
            let readout = Readout::new(vec![0.7], intercept).unwrap();
            let design = torn.design(&readout, standardize);
            for criterion in [
                KFold { folds: Some(6), engine: Engine::Moments, ..KFold::default() },
                KFold { by: Some(FoldBy::Groups), engine: Engine::Moments, ..KFold::default() },
            ] {
                let folds = folds_of(&criterion, &design);
                let on =
                    format!("{share} missing, weighted {weighted}, intercept {intercept}, standardized {standardize}");
                let mut subset = SubsetScorer::open(&criterion, &design, &SearchExtent::forward(7, 4)).unwrap();
                assert_eq!(subset.engine(), "moments");
                for chosen in [&[][..], &[3], &[3, 0], &[3, 0, 6]] {
                    if let Some(&last) = chosen.last() {
                        subset.add(last).unwrap();
                    }
                    let candidates: Vec<Feature> = (0..7).filter(|feature| !chosen.contains(feature)).collect();
                    let scores = subset.scores(Action::Add, &candidates).unwrap();
                    for (&feature, score) in candidates.iter().zip(scores) {
                        let with: Vec<Feature> = chosen.iter().copied().chain([feature]).collect();
                        let expected = torn.loops(&folds, &readout, &with, standardize);
                        near(expected, score.loss, 1e-12, &on);
                        near(expected, criterion.evaluate(&design, &with).unwrap().loss, 1e-12, &on);
                    }
                }
            }
        }
    });
}

#[test]
fn other_losses_and_engines_are_the_definition() {
    let recipe = data::binary(60, 5, 3).weighted();
    let torn = torn(&recipe.problem(), 0.2, 11);
    let readout = Readout::new(vec![0.1, 1.0], true).unwrap();
    for (loss, engine) in [
        (Part::<dyn Loss>::from(ZeroOne), Engine::Auto),
        (Absolute.into(), Engine::Auto),
        (Squared.into(), Engine::RowsHeldOut),
        (BalancedSquared.into(), Engine::Moments),
        (BalancedSquared.into(), Engine::RowsHeldOut),
    ] {
        for standardize in [false, true] {
            let design = torn.design(&readout, standardize);
            let criterion = KFold { folds: Some(4), loss: loss.clone(), engine, ..KFold::default() };
            let mut subset = SubsetScorer::open(&criterion, &design, &SearchExtent::forward(5, 3)).unwrap();
            subset.add(1).unwrap();
            let scores = subset.scores(Action::Add, &[0, 4]).unwrap();
            for (feature, score) in [0, 4].into_iter().zip(scores) {
                let expected = criterion.evaluate(&design, &[1, feature]).unwrap();
                near(expected.loss, score.loss, 1e-10, &format!("{loss:?} {engine:?}"));
            }
        }
    }
}

/// Equal but for where cells were missing: they hold what fills them.
#[test]
fn columns_that_are_equal_after_filling_alone_have_scores_of_their_own() {
    let values = |last: f64| Cells::Numbers(Numbers::from(vec![1.0, 2.0, 3.0, 6.0, 1.0, 5.0, 3.0, last]));
    let table = Table::new(vec![("a".into(), values(3.0)), ("b".into(), values(f64::NAN))]).unwrap();
    let y = ndarray::array![[1.0, 0.0, 2.0, 5.0, 2.0, 3.0, 3.0, 4.0]];
    let mut columns = vaglio::core::Columns::new(8);
    for name in ["a", "a"] {
        columns.push(Numbers::from(table.get(name).unwrap().numbers().unwrap()));
    }
    let whole = Problem::new(columns, vec!["a".into(), "b".into()], y, vec!["y".into()], Task::Regression).unwrap();
    let torn = Torn { table, problem: whole, missing: vec![(0, vec![]), (1, vec![7])] };
    let readout = Readout::new(vec![0.5], true).unwrap();
    let design = torn.design(&readout, false);
    let criterion = KFold { folds: Some(4), engine: Engine::Moments, ..KFold::default() };
    let folds = folds_of(&criterion, &design);
    let mut subset = SubsetScorer::open(&criterion, &design, &SearchExtent::forward(2, 2)).unwrap();
    let scores = subset.scores(Action::Add, &[0, 1]).unwrap();
    assert_ne!(scores[0], scores[1]);
    for (feature, score) in scores.into_iter().enumerate() {
        near(torn.loops(&folds, &readout, &[feature], false), score.loss, 1e-12, "one of two");
    }
}
