//! Parts as trait objects, problems in place of datasets, and limits of a fit.

use linfa::Dataset;
use linfa::prelude::*;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant};
use vaglio::core::{Cells, Columns, Design, Feature, Model, Numbers, Problem, Readout, Result, Score, Table, Task};
use vaglio::core::{part, serde_json};
use vaglio::criteria::Mrmr;
use vaglio::prelude::*;
use vaglio::problem;
use vaglio::search::Search;
use vaglio::tune::Tune;
use vaglio::{Rows, TargetedTable};
use vaglio_testkit::SplitMix64;

fn dataset(rows: usize, columns: usize) -> Dataset<f64, f64, Ix1> {
    let mut random = SplitMix64::new(7);
    let x = Array2::from_shape_simple_fn((rows, columns), || (8.0 * random.uniform()).floor());
    let y = Array1::from_shape_fn(rows, |row| x[[row, 1]] - 2.0 * x[[row, 3]] + 0.1 * ((row * 7 % 5) as f64));
    Dataset::new(x, y).with_feature_names((0..columns).map(|at| format!("x{at}")).collect::<Vec<_>>())
}

/// Problem with the columns of a dataset, at a byte a cell.
fn byte_problem(dataset: &Dataset<f64, f64, Ix1>) -> Problem {
    let mut columns = Columns::new(dataset.nsamples());
    for column in dataset.records().columns() {
        columns.push(Numbers::from(column.iter().map(|value| *value as u8).collect::<Vec<u8>>()));
    }
    let targets = dataset.targets().clone().insert_axis(ndarray::Axis(0));
    Problem::new(columns, dataset.feature_names().to_vec(), targets, vec!["target-0".into()], Task::Regression).unwrap()
}

#[test]
fn boxed_and_shared_parts_are_parts() {
    let plain = Pipeline::new(KFold::new(5), Greedy::new(3), Rls::new(0.5))
        .preprocess(Standardize::default())
        .target_map(vaglio::target_maps::Log1pTarget::default())
        .then(Crrr::new(2.0));
    let criterion: Box<dyn Criterion> = Box::new(KFold::new(5));
    let search: Search = Greedy::new(3);
    let learner = Arc::new(Rls::new(0.5));
    let (map, model): (Arc<dyn vaglio::core::Map>, Box<dyn Learner>) =
        (Arc::new(Standardize::default()), Box::new(Crrr::new(2.0)));
    let target_map: Box<dyn vaglio::core::TargetMap> = Box::new(vaglio::target_maps::Log1pTarget::default());
    assert_eq!((criterion.kind(), search.kind(), map.kind(), model.kind()), ("kfold", "greedy", "standardize", "crrr"));
    let boxed = Pipeline::new(criterion, search.clone(), learner).preprocess(map).target_map(target_map).then(model);
    assert_eq!(boxed.to_yaml().unwrap(), plain.to_yaml().unwrap());
    let shared = Pipeline::new(Arc::new(KFold::new(5)), search, Arc::new(Rls::new(0.5)));
    let selector = Selector::params(KFold::new(5), Greedy::new(3), Rls::new(0.5));
    assert_eq!(shared.to_yaml().unwrap(), Pipeline::from(selector).to_yaml().unwrap());
    let searches: Vec<Search> = vec![Greedy::new(2), All::default().into()];
    let kinds: Vec<&str> = Tune::searches(searches).search.iter().map(Search::kind).collect();
    assert_eq!(kinds, ["greedy", "all"]);
    let last =
        shared.then(Arc::new(Rls::new(1.0)) as Arc<dyn Learner>).then_criterion(Box::new(Loo::default()) as Box<_>);
    assert_eq!(serde_json::to_value(last).unwrap()["model"]["criterion"]["kind"], "loo");
}

/// How far a criterion is from a sum of parts.
#[part(Criterion, "of_two_test")]
pub struct OfTwo {
    /// What is added.
    #[default(Mrmr::default().into())]
    pub first: vaglio::core::Part<dyn vaglio::core::Criterion>,
    /// A search that it knows.
    #[default(Greedy::new(2))]
    pub search: Search,
}

impl Criterion for OfTwo {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        self.first.evaluate(design, subset)
    }

    fn check(&self, design: &Design) -> Result<()> {
        self.first.check(design)
    }
}

#[test]
fn parts_are_settings_of_parts() {
    let own = OfTwo { first: KFold::new(3).into(), search: Lars::new(4) };
    let written = serde_json::to_value(&own).unwrap();
    assert_eq!(written["first"]["kind"], "kfold");
    let read: OfTwo = serde_json::from_value(written).unwrap();
    assert_eq!((read.first == own.first, read.search.kind()), (true, "lars"));
    assert_eq!(serde_json::from_str::<OfTwo>(r#"{"first": "loo"}"#).unwrap().first, Loo::default().into());
    let dataset = dataset(30, 5);
    let scores = |criterion: Pipeline| criterion.fit(&dataset).unwrap().entries()[0].score.loss;
    let [one, other] = [
        scores(Pipeline::new(
            OfTwo { first: Loo::default().into(), ..OfTwo::default() },
            Greedy::new(1).choose(Choose::Last),
            Rls::new(1.0),
        )),
        scores(Pipeline::new(Loo::default(), Greedy::new(1).choose(Choose::Last), Rls::new(1.0))),
    ];
    assert!((one - other).abs() <= 1e-12 * other, "{one} {other}");
}

#[test]
fn a_problem_is_fitted_as_its_dataset() {
    let dataset = dataset(80, 6);
    let bytes = byte_problem(&dataset);
    assert!(bytes.columns().bytes() < 2 * 80 * 6, "a byte a cell: {}", bytes.columns().bytes());
    let plain = Pipeline::new(Loo::default(), Greedy::new(3), Rls::new(0.5)).seed(5);
    for pipeline in [plain.clone(), plain.preprocess(Standardize::default())] {
        let of_dataset = pipeline.fit(&dataset).unwrap();
        let of_problem: FittedPipeline<f64, Ix1> = pipeline.fit_problem(&bytes).unwrap();
        assert_eq!(
            serde_json::to_value(of_problem.saved()).unwrap(),
            serde_json::to_value(of_dataset.saved()).unwrap()
        );
        assert_eq!(of_problem.predict(&dataset), of_dataset.predict(&dataset));
    }
}

/// Table with the columns of a dataset.
fn targeted_table(dataset: &Dataset<f64, f64, Ix1>, weights: Option<Vec<f64>>) -> TargetedTable {
    let columns = dataset.records().columns().into_iter().zip(dataset.feature_names());
    let cells = columns.map(|(column, name)| (name.clone(), Cells::Numbers(column.to_vec().into()))).collect();
    let targets = dataset.targets().clone().insert_axis(ndarray::Axis(0));
    let (table, names) = (Table::new(cells).unwrap(), vec!["target-0".to_owned()]);
    TargetedTable { table, targets, task: Task::Regression, names, weights, rows: Rows::new() }
}

#[test]
fn a_table_is_fitted_as_its_dataset_and_weights_are_doubles() {
    let dataset = dataset(80, 6);
    for pipeline in [
        Pipeline::new(Loo::default(), Greedy::new(3), Rls::new(0.5)).seed(5),
        Pipeline::new(KFold::default(), Greedy::new(3), Rls::new(0.5)).preprocess(Standardize::default()),
    ] {
        let weighed = dataset.clone().with_weights((0..80).map(|row| [1.0, 0.0, 0.5, 4.0][row % 4]).collect());
        let exact = (0..80).map(|row| [1.0, 0.0, 0.5, 4.0][row % 4]).collect();
        for (dataset, weights) in [(dataset.clone(), None), (weighed, Some(exact))] {
            let fitted: FittedPipeline<f64, Ix1> = pipeline.fit_table(targeted_table(&dataset, weights)).unwrap();
            let expected = pipeline.fit(&dataset).unwrap();
            assert_eq!(fitted.saved().to_text().unwrap(), expected.saved().to_text().unwrap());
            assert_eq!(fitted.entries(), expected.entries());
            assert_eq!(fitted.predict(&dataset), expected.predict(&dataset));
        }
        // A third is no `f32`.
        let thirds: Vec<f64> = (0..80).map(|row| (row % 3 + 1) as f64 / 3.0).collect();
        let rounded = thirds.iter().map(|weight| *weight as f32).collect();
        let fitted: FittedPipeline<f64, Ix1> = pipeline.fit_table(targeted_table(&dataset, Some(thirds))).unwrap();
        let of_dataset = pipeline.fit(&dataset.clone().with_weights(rounded)).unwrap();
        assert_ne!(fitted.saved().to_text().unwrap(), of_dataset.saved().to_text().unwrap());
    }
}

#[test]
fn targets_that_are_not_those_of_the_task_of_a_table_are_refused() {
    let pipeline = Pipeline::new(Loo::default(), Greedy::new(1), Rls::new(0.5));
    let refused = |change: &dyn Fn(TargetedTable) -> TargetedTable| {
        let fitted = pipeline.fit_table::<f64, Ix1>(change(targeted_table(&dataset(20, 4), None)));
        fitted.unwrap_err().to_string()
    };
    let labels = ["a", "b", "c"].map(String::from).to_vec();
    let classes = Task::Multiclass { labels };
    assert_eq!(
        refused(&|table| TargetedTable { task: classes.clone(), ..table }),
        "1 rows of targets, and the task has 3"
    );
    let two = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(
        refused(&|table| TargetedTable { task: classes.clone(), names: two.clone(), ..table }),
        "classes are one target column, and 2 are named"
    );
    assert_eq!(
        refused(&|table| TargetedTable { targets: Array2::zeros((1, 7)), ..table }),
        "the columns have 20 rows and the targets 7"
    );
    assert_eq!(refused(&|table| TargetedTable { weights: Some(vec![1.0; 3]), ..table }), "3 weights for 20 rows");
}

#[test]
fn classes_weights_and_groups_of_a_problem_count() {
    let dataset = dataset(90, 5).map_targets(|y| ["low", "mid", "high"][(y.abs() as usize) % 3].to_owned());
    let dataset = dataset.with_weights((0..90).map(|row| (row % 3 + 1) as f32).collect());
    let rows = Rows::new().groups((0..90).map(|row| row / 5));
    let pipeline = Pipeline::new(KFold::by_groups(), Greedy::new(2), Rls::new(0.5)).preprocess(Standardize::default());
    let of_dataset = pipeline.fit_with(&dataset, &rows).unwrap();
    let of_problem: FittedPipeline<String, Ix1> = pipeline.fit_problem(&problem(&dataset, &rows).unwrap()).unwrap();
    assert_eq!(of_problem.selected(), of_dataset.selected());
    assert_eq!(of_problem.predict(&dataset), of_dataset.predict(&dataset));
    assert_eq!(of_problem.classes(), ["high", "low", "mid"]);
}

#[test]
fn targets_and_maps_that_do_not_fit_a_problem_are_refused() {
    let bytes = byte_problem(&dataset(20, 4));
    let pipeline = Pipeline::new(Loo::default(), Greedy::new(1), Rls::new(0.5));
    let refused = pipeline.fit_problem::<String, Ix1>(&bytes).unwrap_err().to_string();
    assert_eq!(refused, "`targets`: the targets are numbers; use the type `f64`");
    let blocks = vec![vaglio::core::Block { name: "pair".into(), columns: vec![0, 1] }];
    let in_blocks = bytes.with_blocks(blocks);
    assert!(pipeline.fit_problem::<f64, Ix1>(&in_blocks).is_ok());
    let mapped =
        pipeline.preprocess(Standardize::default()).fit_problem::<f64, Ix1>(&in_blocks).unwrap_err().to_string();
    assert!(mapped.starts_with("`preprocess`: the columns of the problem have blocks or a bias"), "{mapped}");
}

#[test]
fn columns_of_a_problem_are_those_of_the_smaller_table() {
    let dataset = dataset(40, 6);
    let smaller = byte_problem(&dataset)
        .with_weights((1..=40).map(f64::from).collect())
        .unwrap()
        .select_columns(&[3, 1])
        .unwrap();
    assert_eq!(smaller.names()[..], ["x3", "x1"]);
    let fitted: FittedPipeline<f64, Ix1> =
        Pipeline::new(Loo::default(), All::default(), Rls::new(0.5)).fit_problem(&smaller).unwrap();
    let two = Dataset::new(dataset.records().select(ndarray::Axis(1), &[3, 1]), dataset.targets().clone())
        .with_weights((1..=40).map(|w| w as f32).collect());
    let expected = Pipeline::new(Loo::default(), All::default(), Rls::new(0.5)).fit(&two).unwrap();
    assert_eq!(fitted.coefficients(), expected.coefficients());
}

/// A learner that takes its time.
fn slow() -> Pipeline {
    let search = Floating::new(30).choose(CrossValidation::new(10).repeats(50));
    Pipeline::new(Loo::default(), search, Rls::default()).preprocess(Standardize::default())
}

#[test]
fn limits_hold_in_a_fit() {
    let dataset = dataset(600, 60);
    let limited = slow().time_limit(Duration::from_millis(300));
    let start = Instant::now();
    let fitted = limited.fit(&dataset).unwrap();
    let path = fitted.path().unwrap();
    assert_eq!(path.stop_reason, StopReason::Limit);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(limited.nested(5, &dataset).unwrap_err().to_string().contains("limit"));
    let small = slow().memory_limit(100_000);
    let refused = small.fit(&dataset).unwrap_err().to_string();
    assert!(
        refused.starts_with("`limits.memory`: this fit (") && refused.contains("the limit is 100.0 kB"),
        "{refused}"
    );
    assert_eq!(small.nested(5, &dataset).unwrap_err().to_string(), refused);
    let enough = Pipeline::new(Loo::default(), Greedy::new(2), Rls::new(1.0));
    assert_eq!(
        enough.clone().memory_limit(1_000_000_000).fit(&dataset).unwrap().predict(&dataset),
        enough.fit(&dataset).unwrap().predict(&dataset)
    );
}

#[test]
fn fitted_pipelines_are_of_every_thread_and_safe_to_unwind() {
    fn is_safe<T: UnwindSafe + RefUnwindSafe + Send + Sync + Clone + 'static>() {}
    is_safe::<FittedPipeline<f64, Ix1>>();
    is_safe::<FittedPipeline<String, Ix2>>();
}

/// A learner whose training on more than one column may end only when the sign says so.
#[part(Learner, "endless_test")]
#[derive(PartialEq)]
pub struct Endless {
    /// Whether it does not end by itself.
    pub never_ends: bool,
}

impl Learner for Endless {
    fn readout(&self) -> Result<Option<Readout>> {
        Ok(None)
    }

    fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
        while self.never_ends && subset.len() > 1 {
            std::thread::sleep(Duration::from_millis(5));
            problem.sign().check()?;
        }
        Rls::new(1.0).fit(problem, subset, None)
    }
}

#[test]
fn trials_that_never_end_are_ended_by_the_limit() {
    let dataset = dataset(40, 4);
    let search = Greedy::new(3).choose(Choose::Last);
    let pipeline = Pipeline::new(KFold::new(4), search, Endless { never_ends: true });
    let start = Instant::now();
    let fitted = pipeline.time_limit(Duration::from_secs(1)).fit(&dataset).unwrap();
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    let path = fitted.path().unwrap();
    assert_eq!((path.stop_reason, path.steps.len(), fitted.selected().len()), (StopReason::Limit, 1, 1));
    assert_eq!(fitted.selected(), ["x3"]);
}
