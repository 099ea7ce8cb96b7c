//! Every learner with every criterion and every search, on classes of series and on weighted numbers: what the engines
//! find is what the definitions find, and the model predicts what plain training predicts, before and after it is saved.
//!
//! This is the one matrix of cells. Beside it, `conformance.rs` and `hard_cells.rs` of vaglio put every search on every
//! criterion through the laws of searches, and through data that cost digits.

use crate::common::Folder;
use vaglio::ValidSelector;
use vaglio::core::{Columns, Design, Error, Model, Problem, Role, Score, SearchExtent, descriptions};
use vaglio::files::prepare;
use vaglio::pipeline::load;
use vaglio::search::{Path, SearchContext, Silent, SubsetScorer};
use vaglio_cli as _;
use vaglio_testkit::{SplitMix64, Tolerance, on_one_thread};

const NEAR: Tolerance = Tolerance { tolerance: 1e-8, least: 1.0 };

/// The data of cells: their settings in a pipeline.
const CLASSES: &str = "{train: classes.csv, target: class, task: binary, series: id, time: t}";
const NUMBERS: &str = "{train: numbers.csv, target: y, weights: w, groups: id, exclude: [t]}";
const KINDS: &str = "{train: several.csv, target: kind, task: multiclass, groups: id, exclude: [y, z]}";
const TARGETS: &str = "{train: several.csv, target: [y, z], groups: id, exclude: [kind]}";
const UNWEIGHTED: &str = "{train: numbers.csv, target: y, groups: id, exclude: [t, w]}";

/// Learners with the data that they are for, and settings that make five columns or fewer of the four that the data have.
pub(crate) const LEARNERS: [(&str, &str, &str); 13] = [
    ("rls", CLASSES, "lambda: {values: [0.01, 1.0, 30.0]}"),
    ("crrr", CLASSES, "lambda: {values: [0.001, 0.1]}"),
    ("fs_ls_svm", CLASSES, "landmarks: 5, lambda: {values: [0.001, 1.0]}"),
    ("elm", CLASSES, "units: 5, direct: false, lambda: 0.1"),
    ("reservoir", CLASSES, "units: 5, connectivity: 0.6, lambda: {values: [0.0001, 0.1]}"),
    ("knn", CLASSES, "neighbours: 3"),
    ("kernel_logistic", CLASSES, "lambda: 0.1"),
    ("logistic", CLASSES, "lambda: 0.5"),
    ("logistic_ridge", CLASSES, "lambda: 0.5"),
    ("naive_bayes", CLASSES, "smoothing: 0.01"),
    ("tree", CLASSES, "depth: 2, min_leaf: 3"),
    ("svm", CLASSES, "kernel: gaussian, width: 4.0"),
    ("elastic_net", UNWEIGHTED, "lambda: 0.01"),
];
/// The kinds of a role that are linked in, but those that are programs: what they compute is the program's, and has its tests there.
pub(crate) fn linked(role: Role) -> Vec<&'static str> {
    descriptions().iter().filter(|d| d.role == role && d.package != "vaglio-external").map(|d| d.kind).collect()
}

/// Every criterion that is linked in, with settings where these data need some.
pub(crate) fn criteria() -> Vec<&'static str> {
    let with_settings = |kind| match kind {
        "kfold" => "{kind: kfold, by: groups}",
        "information" => "{kind: information, measure: training}",
        kind => kind,
    };
    linked(Role::Criterion).into_iter().map(with_settings).collect()
}

/// Every search that is linked in.
pub(crate) fn searches() -> Vec<&'static str> {
    linked(Role::Search)
}

/// Six series of five steps, in long format: their two classes, and weighted rows with numbers. With this seed no search
/// comes to one set of columns in two orders, of which rounding would choose one.
fn tables(folder: &Folder) {
    let mut random = SplitMix64::new(13);
    let mut noise = || random.uniform() - 0.5;
    let mut classes = String::from("id,t,a,b,c,d,class\n");
    let mut numbers = String::from("id,t,a,b,c,d,y,w\n");
    for id in 0..6 {
        for t in 0..5 {
            let y = f64::from(id % 2) - 0.5;
            let row = [0.9 * y + noise(), noise(), 0.4 * y + noise() + 0.1 * f64::from(t), noise() - 0.5 * y];
            let cells: Vec<String> = row.iter().map(f64::to_string).collect();
            classes += &format!("s{id},{t},{},{}\n", cells.join(","), if y > 0.0 { "yes" } else { "no" });
            let (y, w) = (row[0] - 0.7 * row[2] + 0.2 * noise(), 1.0 + noise());
            numbers += &format!("s{id},{t},{},{y},{w}\n", cells.join(","));
        }
    }
    folder.write("classes.csv", classes);
    folder.write("numbers.csv", numbers);
    let mut several = String::from("id,a,b,c,d,kind,y,z\n");
    for row in 0..36 {
        let x: Vec<f64> = (0..4).map(|_| noise()).collect();
        let (y, z) = (x[0] - 0.7 * x[2] + 0.2 * noise(), 0.8 * x[1] + 0.5 * x[2] + 0.2 * noise());
        let kind = if row % 3 == 0 { "low" } else { if y > 0.0 { "high" } else { "middle" } };
        let cells: Vec<String> = x.iter().map(f64::to_string).collect();
        several += &format!("s{},{},{kind},{y},{z}\n", row % 6, cells.join(","));
    }
    folder.write("several.csv", several);
}

/// A pipeline with its design, path and model.
pub(crate) struct Cell {
    pub selector: ValidSelector,
    pub problem: Problem,
    pub design: Design,
    pub path: Path,
    pub model: Model,
}

impl Cell {
    fn new(folder: &Folder, data: &str, learner: &str, criterion: &str, search: &str) -> Self {
        let search = match search {
            "chain" => "[{kind: rank, max_features: 3}, {kind: greedy, choose: best}]".to_owned(),
            kind => format!("{{kind: {kind}, choose: best}}"),
        };
        let text = format!(
            "version: 1\nseed: 5\ndata: {data}\npreprocess: [standardize]\nlearner: {learner}\n\
             criterion: {criterion}\nsearch: {search}\n"
        );
        Cell::run(folder, &text).unwrap_or_else(|e| panic!("{text}{e}"))
    }

    /// Runs a pipeline with seed 5 on the files of a folder.
    pub fn run(folder: &Folder, text: &str) -> Result<Self, Error> {
        let (pipeline, _) = load(text, "cell.yaml", &[])?;
        let problem = prepare(&pipeline, &folder.0)?.train.with_seed(5);
        let selector = pipeline.selector();
        let selection = selector.select(&problem, &mut Silent)?;
        let design = selector.design(&problem)?;
        Ok(Cell { selector, problem, design, path: selection.path, model: selection.model })
    }

    fn evaluate(&self, subset: &[usize]) -> Score {
        self.selector.criterion.evaluate(&self.design, subset).unwrap()
    }

    /// The search once more, with every score from the definition.
    fn by_definition(&self) -> Path {
        let criterion = &*self.selector.criterion;
        let (subset, mut silent) = (SubsetScorer::by_definition(criterion, &self.design), Silent);
        let mut context = SearchContext::new(subset, &mut silent, 5);
        self.selector.search.run(&mut context).unwrap()
    }

    /// Every score of the path is the definition's, and the path is the one that the definition leads along.
    fn is_as_defined(&self, on: &str) {
        NEAR.assert(self.evaluate(&[]).loss, self.path.empty.loss, on);
        assert!(!self.path.entries.is_empty(), "{on}");
        for entry in &self.path.entries {
            let expected = self.evaluate(&entry.subset);
            NEAR.assert(expected.loss, entry.score.loss, on);
            assert_eq!(entry.score.lambda, expected.lambda, "{on}: lambda of {:?}", entry.subset);
        }
        let defined = self.by_definition();
        let steps = |path: &Path| path.steps.iter().map(|s| (s.action, s.feature)).collect::<Vec<_>>();
        assert_eq!(steps(&self.path), steps(&defined), "{on}");
        let subsets = |path: &Path| path.entries.iter().map(|e| e.subset.clone()).collect::<Vec<_>>();
        assert_eq!(subsets(&self.path), subsets(&defined), "{on}");
        assert_eq!(self.path.chosen, defined.chosen, "{on}");
    }

    /// The model predicts what plain training on the chosen columns predicts, before and after it is saved.
    fn predicts_as_defined(&self, on: &str) {
        let (subset, lambda) =
            self.path.result().map_or((Vec::new(), self.path.empty.lambda), |e| (e.subset.clone(), e.score.lambda));
        let plain = self.selector.learner.fit(&self.problem, &subset, lambda).unwrap();
        let (ours, expected) = (self.predictions(&self.model), self.predictions(&plain));
        assert_eq!(self.model.inputs(), plain.inputs(), "{on}");
        ours.iter().zip(&expected).for_each(|(ours, plain)| NEAR.assert(*plain, *ours, on));
        let text = serde_json::to_string(&self.model).unwrap();
        let loaded: Model = serde_json::from_str(&text).unwrap();
        let again = self.predictions(&loaded);
        assert!(ours.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits()), "{on}");
        assert_eq!(serde_json::to_string(&loaded).unwrap(), text, "{on}");
    }

    pub fn predictions(&self, model: &Model) -> Vec<f64> {
        let inputs: Columns = self.problem.columns().select(model.inputs());
        model.predict(&inputs, self.problem.series()).unwrap().iter().copied().collect()
    }
}

/// Every criterion and every search, on one learner.
fn every_cell(data: &str, learner: &str) {
    let folder = Folder::new("cells");
    tables(&folder);
    on_one_thread(|| {
        for criterion in criteria() {
            for search in searches().into_iter().chain(["chain"]) {
                let on = format!("{learner} x {criterion} x {search}");
                let cell = Cell::new(&folder, data, learner, criterion, search);
                cell.is_as_defined(&on);
                cell.predicts_as_defined(&on);
            }
        }
    });
}

/// The data and the settings of a learner.
fn settings(kind: &str) -> (&'static str, String) {
    let (_, data, settings) = LEARNERS.iter().find(|(name, ..)| *name == kind).unwrap();
    (data, format!("{{kind: {kind}, {settings}}}"))
}

/// One test a learner, so that they share the processors.
macro_rules! every_cell {
    ($($kind:ident)*) => {
        /// The learners that have a test of their own.
        const TESTED: &[&str] = &[$(stringify!($kind)),*];
        mod every_cell_is_what_it_is_defined_to_be {
            $(#[test]
            fn $kind() {
                let (data, settings) = super::settings(stringify!($kind));
                super::every_cell(data, &settings);
            })*
        }
    };
}

every_cell!(rls crrr fs_ls_svm elm reservoir knn kernel_logistic logistic logistic_ridge naive_bayes tree svm elastic_net);

mod every_cell_of_numbers_is_what_it_is_defined_to_be {
    use super::{NUMBERS, UNWEIGHTED, every_cell};

    #[test]
    fn weighted_rls() {
        every_cell(NUMBERS, "{kind: rls, lambda: {values: [0.01, 1.0]}}");
    }

    #[test]
    fn weighted_knn() {
        every_cell(NUMBERS, "{kind: knn, neighbours: 3, weights: distance}");
    }

    #[test]
    fn svm() {
        every_cell(UNWEIGHTED, "{kind: svm, c: 0.1}");
    }
}

/// Three classes and two targets, on the paths of several outputs.
#[test]
fn cells_of_several_outputs_are_what_they_are_defined_to_be() {
    let folder = Folder::new("cells-outputs");
    tables(&folder);
    let learner = "{kind: rls, lambda: {values: [0.01, 1.0]}}";
    for (data, criterion) in
        [KINDS, TARGETS].into_iter().flat_map(|data| criteria().into_iter().map(move |c| (data, c)))
    {
        let on = format!("{data} x {criterion} x lars");
        let cell = Cell::new(&folder, data, learner, criterion, "lars");
        cell.is_as_defined(&on);
        cell.predicts_as_defined(&on);
    }
}

/// A series is decided as one: held-out predictions are averaged over its steps before the loss.
#[test]
fn decisions_by_series_are_what_they_are_defined_to_be() {
    let folder = Folder::new("cells-decisions");
    tables(&folder);
    let balanced = "balanced: true, lambda: {values: [0.0001, 0.1]}";
    for settings in ["lambda: {values: [0.001, 0.1]}", balanced] {
        let learner =
            format!("{{kind: reservoir, units: 5, connectivity: 0.6, decision: series, warmup: 1, {settings}}}");
        for criterion in [
            "{kind: kfold, by: groups, loss: zero_one}",
            "{kind: kfold, by: groups}",
            "{kind: kfold, by: groups, loss: balanced_error}",
            "loo",
            "{kind: loo, loss: auc}",
        ] {
            for search in ["greedy", "backward", "exhaustive"] {
                let on = format!("{learner} x {criterion} x {search}");
                let cell = Cell::new(&folder, CLASSES, &learner, criterion, search);
                assert_eq!(cell.design.rows(), 24, "{on}");
                for entry in &cell.path.entries {
                    NEAR.assert(cell.evaluate(&entry.subset).loss, entry.score.loss, &on);
                }
                cell.predicts_as_defined(&on);
            }
        }
    }
}

/// With classes that count alike, step by step.
#[test]
fn every_cell_of_a_balanced_reservoir_is_what_it_is_defined_to_be() {
    every_cell(
        CLASSES,
        "{kind: reservoir, units: 5, connectivity: 0.6, balanced: true, lambda: {values: [0.0001, 0.1]}}",
    );
}

/// No learner that is linked in is left out above.
#[test]
fn every_learner_has_its_cells() {
    let mut learners = LEARNERS.map(|(kind, ..)| kind);
    assert_eq!(TESTED, learners);
    learners.sort_unstable();
    assert_eq!(linked(Role::Learner), learners);
    assert!(criteria().len() >= 8 && searches().len() >= 9, "{:?} {:?}", criteria(), searches());
}

/// One thread or two, the same bits for every learner.
#[test]
fn the_number_of_threads_changes_no_learner() {
    let folder = Folder::new("cells-threads");
    tables(&folder);
    for (kind, ..) in LEARNERS {
        let (data, learner) = settings(kind);
        for criterion in ["loo", "{kind: kfold, by: groups}", "nhsic", "hsic"] {
            let on = format!("{kind} x {criterion}");
            let bits = |threads: usize| {
                vaglio_pipeline::pipeline::pool(threads).unwrap().install(|| {
                    let cell = Cell::new(&folder, data, &learner, criterion, "floating");
                    let scores: Vec<u64> = cell.path.entries.iter().map(|e| e.score.loss.to_bits()).collect();
                    let open =
                        SubsetScorer::open(&*cell.selector.criterion, &cell.design, &SearchExtent::forward(5, 5));
                    let open = open.unwrap().score().unwrap();
                    (scores, open.loss.to_bits(), serde_json::to_string(&cell.model).unwrap())
                })
            };
            assert_eq!(bits(1), bits(2), "{on}");
        }
    }
}
