//! Refitted maps agree with plain loops that fit every map and a ridge regression in each fold.

use linfa::ParamGuard;
use ndarray::{Array2, Axis, concatenate};
use std::sync::Arc;
use vaglio_core::{
    Action, BalancedError, Cells, Columns, Design, Feature, HeldOut, Loss, Map, Numbers, Part, Problem, Readout, Round,
    RowLabels, SearchExtent, Table, Task, ZeroOne,
};
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::maps::{Clip, Impute, OneHot, Polynomial, Scope, Standardize, TargetEncode};
use vaglio_pipeline::preprocess::{LabeledTable, Preprocessing};
use vaglio_pipeline::resampling::Sample;
use vaglio_pipeline::{Selector, ValidSelector};
use vaglio_search::{Greedy, Silent, SubsetScorer};
use vaglio_testkit::SplitMix64;
use vaglio_validate::splits::{Forward, Repeated};
use vaglio_validate::{KFold, Loo};

const ROWS: usize = 60;

/// Two numeric columns, one with missing cells and one with outliers, and text with rare levels.
fn sample(maps: Vec<Arc<dyn Map>>, task: Task, weighted: bool, seed: u64) -> Sample {
    let mut random = SplitMix64::new(seed);
    let mut normal = |_| random.normal();
    let (a, b, c): (Vec<f64>, Vec<f64>, Vec<f64>) = (
        (0..ROWS).map(&mut normal).collect(),
        (0..ROWS).map(&mut normal).collect(),
        (0..ROWS).map(&mut normal).collect(),
    );
    let noise: Vec<f64> = (0..ROWS).map(&mut normal).collect();
    let level = |row: usize| match row * 7 % 19 {
        0 => "rare",
        k if k < 8 => "low",
        k if k < 14 => "mid",
        _ => "high",
    };
    let gone = |row: usize| row % 6 == 2 || row % 11 == 5;
    let far = |row: usize, value: f64| if row.is_multiple_of(13) { value * 1e3 } else { value };
    let targets = Array2::from_shape_fn((1, ROWS), |(_, row)| {
        let y = a[row] - 0.5 * b[row] + if level(row) == "high" { 1.0 } else { 0.0 } + 0.3 * noise[row];
        if task == Task::Regression { y } else { y.signum() }
    });
    let numbers = |values: Vec<f64>| Cells::Numbers(Numbers::from(values));
    let torn = (0..ROWS).map(|row| if gone(row) { f64::NAN } else { b[row] }).collect();
    let table = Table::new(vec![
        ("a".into(), numbers(a.clone())),
        ("b".into(), numbers(torn)),
        ("c".into(), numbers((0..ROWS).map(|row| far(row, c[row])).collect())),
        ("t".into(), Cells::Text((0..ROWS).map(|row| level(row).to_owned()).collect())),
    ]);
    let weights = weighted.then(|| (0..ROWS).map(|row| [1.0, 0.5, 2.0, 0.25][row % 4]).collect());
    let labels = RowLabels { weights, ..RowLabels::default() };
    let rows = LabeledTable { table: table.unwrap(), targets: targets.into(), labels };
    let recipe = Preprocessing::new(maps, task, vec!["y".into()]).unwrap();
    Sample::new(rows, Arc::new(recipe), false).unwrap()
}

fn maps() -> Vec<Vec<Arc<dyn Map>>> {
    let median = || Arc::new(Impute::median().scope(Scope::Fold)) as Arc<dyn Map>;
    let mean = |scope: Scope| Arc::new(Impute::default().scope(scope)) as Arc<dyn Map>;
    let one_hot = |scope: Scope| Arc::new(OneHot::default().rare(4).scope(scope)) as Arc<dyn Map>;
    let clip = |scope| Arc::new(Clip { quantiles: Some([0.1, 0.9]), scope, ..Clip::default() }) as Arc<dyn Map>;
    let encode = Arc::new(TargetEncode { scope: Scope::Fold, ..TargetEncode::default() });
    let standardize = |scope| Arc::new(Standardize { scope, ..Standardize::default() }) as Arc<dyn Map>;
    let squares = Arc::new(Polynomial { columns: vec!["a".into(), "b".into()], degree: 2 });
    vec![
        vec![median(), one_hot(Scope::Train)],
        vec![mean(Scope::Auto), one_hot(Scope::Fold), standardize(Scope::Auto)],
        vec![one_hot(Scope::Fold), clip(Scope::Fold), median(), standardize(Scope::Train)],
        vec![mean(Scope::Fold), squares, one_hot(Scope::Train), standardize(Scope::Fold)],
        vec![encode, mean(Scope::Auto), standardize(Scope::Fold), clip(Scope::Train)],
    ]
}

/// Loss of a subset by loops over folds that fit all maps in each.
fn loops(
    sample: &Sample,
    whole: &Problem,
    rounds: &[Round],
    readout: &Readout,
    loss: Part<dyn Loss>,
) -> impl Fn(&[Feature], f64) -> f64 {
    let weights = whole.weights().map(|weights| weights.to_vec());
    let (whole, readout, sample, rounds) = (whole.clone(), readout.clone(), sample.clone(), rounds.to_vec());
    move |subset, lambda| {
        let (mut all, mut predictions) = (Vec::new(), Vec::new());
        for round in &rounds {
            for fold in 0..round.count() {
                let (held_out, training): (Vec<usize>, Vec<usize>) =
                    (round.held_out(fold).collect(), round.training(fold));
                let fitted = sample.select(&training).unwrap().fit().unwrap();
                let held = sample.held_out(&held_out, &fitted).unwrap();
                let place = |name: &String| fitted.problem.names().iter().position(|other| other == name);
                let mut columns = Columns::new(training.len() + held_out.len());
                for name in whole.names().iter() {
                    let values = |problem: &Problem| match place(name) {
                        Some(place) => problem.columns().column(place).values().into_owned(),
                        None => vec![0.0; problem.rows()],
                    };
                    columns.push([values(&fitted.problem), values(&held)].concat());
                }
                let targets = [fitted.problem.targets().view(), held.targets().view()];
                let targets = concatenate(Axis(1), &targets).unwrap();
                let names = whole.names().to_vec();
                let both =
                    Problem::new(columns, names, targets, whole.target_names().to_vec(), whole.task().clone()).unwrap();
                let order: Vec<usize> = training.iter().chain(&held_out).copied().collect();
                let both = match &weights {
                    Some(w) => both.with_weights(order.iter().map(|&row| w[row]).collect()).unwrap(),
                    None => both,
                };
                let places: Vec<usize> = (0..order.len()).collect();
                let (first, last) = places.split_at(training.len());
                let design = Design::identity(&both, readout.clone());
                predictions.push(design.retrain(first, last, subset, Some(lambda)).unwrap());
                all.extend(held_out);
            }
        }
        let views: Vec<_> = predictions.iter().map(|of_fold| of_fold.view()).collect();
        let weights: Option<Vec<f64>> = weights.as_ref().map(|w| all.iter().map(|&row| w[row]).collect());
        let targets = whole.targets().select(Axis(1), &all);
        loss.mean(targets.view(), concatenate(Axis(1), &views).unwrap().view(), weights.as_deref())
    }
}

fn selector(criterion: KFold) -> ValidSelector {
    Selector::params(criterion, Greedy::new(3), Rls::default()).check().unwrap()
}

fn near(expected: f64, found: f64, on: &str) {
    assert!((found - expected).abs() <= 1e-10 * expected.abs().max(1e-3), "{on}: {found:?}, not {expected:?}");
}

#[test]
fn engines_and_definition_are_plain_loops_over_folds() {
    let binary = Task::Binary { negative: None, positive: "yes".into() };
    let twice = Some(Repeated { folds: 3, repeats: 2 }.into());
    let later = Some(Forward { folds: 3, gap: 1, window: None }.into());
    for (case, chain) in maps().into_iter().enumerate() {
        for (criterion, task, weighted) in [
            (KFold { folds: Some(5), ..KFold::default() }, Task::Regression, false),
            (KFold { folds: Some(4), ..KFold::default() }, Task::Regression, true),
            (KFold { folds: Some(4), loss: ZeroOne.into(), ..KFold::default() }, binary.clone(), false),
            (KFold { folds: Some(4), loss: BalancedError.into(), ..KFold::default() }, binary.clone(), true),
            (KFold { splits: twice.clone(), ..KFold::default() }, Task::Regression, false),
            (KFold { splits: later.clone(), ..KFold::default() }, Task::Regression, true),
        ] {
            let on = format!("maps {case}, {:?}, weighted {weighted}", criterion.loss);
            let sample = sample(chain.clone(), task, weighted, case as u64);
            let problem = sample.fit().unwrap().problem;
            assert!(problem.in_folds().is_by_maps(), "{on}");
            let design = selector(criterion.clone()).design(&problem).unwrap();
            assert!(design.problem().in_folds().is_by_maps(), "{on}");
            let criterion: Arc<dyn vaglio_core::Criterion> = Arc::new(criterion);
            let HeldOut::Folds(rounds) = criterion.folds(&design).unwrap() else { panic!("{on}") };
            let (readout, loss) = (design.readout().unwrap().clone(), criterion.traits().loss.unwrap());
            let expected = loops(&sample, &problem, &rounds, &readout, loss);
            let extent = SearchExtent::forward(design.features(), 3);
            let mut subset = SubsetScorer::open(&*criterion, &design, &extent).unwrap();
            for chosen in [&[][..], &[1], &[1, 0]] {
                chosen.last().into_iter().for_each(|&last| subset.add(last).unwrap());
                let candidates: Vec<Feature> =
                    design.candidates().into_iter().filter(|f| !chosen.contains(f)).collect();
                let scores = subset.scores(Action::Add, &candidates).unwrap();
                for (&feature, score) in candidates.iter().zip(scores) {
                    let with: Vec<Feature> = chosen.iter().copied().chain([feature]).collect();
                    let expected = expected(&with, readout.lambdas[0]);
                    near(expected, score.loss, &on);
                    near(expected, criterion.evaluate(&design, &with).unwrap().loss, &on);
                }
            }
        }
    }
}

#[test]
fn maps_that_learn_the_same_in_every_fold_change_nothing() {
    let chain = |scope| -> Vec<Arc<dyn Map>> {
        let clip = Clip { lower: Some(-2.0), upper: Some(2.0), scope, ..Clip::default() };
        vec![Arc::new(OneHot::default()), Arc::new(clip), Arc::new(Impute::constant(0.5))]
    };
    for weighted in [false, true] {
        let lambda = serde_json::from_str(r#"{"lambda": {"grid": {"from": 0.01, "to": 10.0, "points": 3}}}"#);
        let learner: Rls = lambda.unwrap();
        let criterion = KFold { folds: Some(5), ..KFold::default() };
        let selector = Selector::params(criterion, Greedy::new(4), learner).check().unwrap();
        let found = |scope| {
            let problem = sample(chain(scope), Task::Regression, weighted, 3).fit().unwrap().problem;
            assert_eq!(problem.in_folds().is_by_maps(), scope == Scope::Fold);
            selector.select(&problem, &mut Silent).unwrap()
        };
        let (train, fold) = (found(Scope::Train), found(Scope::Fold));
        assert_eq!(train.path.entries.len(), fold.path.entries.len());
        for (one, other) in train.path.entries.iter().zip(&fold.path.entries) {
            assert_eq!((&one.subset, one.score.lambda), (&other.subset, other.score.lambda));
            near(one.score.loss, other.score.loss, "score");
            near(one.standard_error.unwrap(), other.standard_error.unwrap(), "standard error");
        }
    }
}

#[test]
fn what_cannot_be_fitted_in_folds_is_refused() {
    let problem = sample(maps().remove(0), Task::Regression, false, 0).fit().unwrap().problem;
    let refused = |selector: Selector| selector.check().unwrap().design(&problem).unwrap_err().to_string();
    let error = refused(Selector::params(Loo::default(), Greedy::new(2), Rls::default()));
    assert!(error.contains("`preprocess`: `scope: fold` cannot be had, since the criterion has no folds"), "{error}");
    let window: Arc<dyn Map> = Arc::new(vaglio_pipeline::maps::Window {
        lags: vec![0, 1].into(),
        columns: Some(vec!["a".into()]),
        horizons: Vec::new(),
    });
    let chain = [maps().remove(0), vec![window]].concat();
    let error = sample(chain, Task::Regression, false, 0).fit().unwrap_err().to_string();
    assert!(error.contains("`preprocess[2]`: a map of rows in an order of time cannot be fitted in folds"), "{error}");
}
