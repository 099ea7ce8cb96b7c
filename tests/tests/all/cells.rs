//! Every learner with every criterion and every search: what the fast ways find is what the definitions find.

use crate::common::Folder;
use std::sync::Arc;
use vaglio::core::{
    Columns, Criterion, Design, Learner, Model, Outline, Path, Problem, Role, SearchContext, Silent, Subset,
    descriptions,
};
use vaglio::pipeline::{load, prepare};
use vaglio_cli as _;
use vaglio_testkit::Random;

/// Settings that make five columns or fewer of the four that the data have.
const LEARNERS: [(&str, &str); 6] = [
    ("rls", "lambda: {values: [0.01, 1.0, 30.0]}"),
    ("crrr", "lambda: {values: [0.001, 0.1]}"),
    ("fs_ls_svm", "landmarks: 5, lambda: {values: [0.001, 1.0]}"),
    ("elm", "units: 5, direct: false, lambda: 0.1"),
    ("reservoir", "units: 5, connectivity: 0.6, lambda: {values: [0.0001, 0.1]}"),
    ("knn", "neighbours: 3"),
];
const CRITERIA: [&str; 4] = ["loo", "{kind: kfold, by: groups}", "nhsic", "mrmr"];
const SEARCHES: [&str; 6] = ["greedy", "backward", "floating", "exhaustive", "lars", "rank"];

/// Two classes in six series of five steps, in long format.
fn series(folder: &Folder) {
    let mut random = Random::new(11);
    let mut noise = || random.uniform() - 0.5;
    let mut text = String::from("id,t,a,b,c,d,class\n");
    for id in 0..6 {
        for t in 0..5 {
            let y = f64::from(id % 2) - 0.5;
            let row = [0.9 * y + noise(), noise(), 0.4 * y + noise() + 0.1 * f64::from(t), noise() - 0.5 * y];
            let cells: Vec<String> = row.iter().map(f64::to_string).collect();
            text += &format!("s{id},{t},{},{}\n", cells.join(","), if y > 0.0 { "yes" } else { "no" });
        }
    }
    folder.write("series.csv", text);
}

struct Cell {
    criterion: Arc<dyn Criterion>,
    learner: Arc<dyn Learner>,
    problem: Problem,
    design: Design,
    path: Path,
    model: Model,
}

impl Cell {
    fn new(folder: &Folder, learner: &str, criterion: &str, search: &str) -> (Self, Path) {
        let text = format!(
            "version: 1\nseed: 5\ndata: {{train: series.csv, target: class, task: binary, series: id, time: t}}\n\
             preprocess: [standardize]\nlearner: {learner}\ncriterion: {criterion}\nsearch: {search}\n"
        );
        let (pipeline, _) = load(&text, "cell.yaml", &[]).unwrap_or_else(|e| panic!("{text}{e}"));
        let problem = prepare(&pipeline, &folder.0).unwrap().train.seeded(5);
        let selector = pipeline.selector();
        let selection = selector.select(&problem, &mut Silent).unwrap_or_else(|e| panic!("{text}{e}"));
        let design = selector.design(&problem).unwrap();
        let (criterion, learner) = (Arc::clone(&pipeline.criterion), Arc::clone(&pipeline.learner));
        let defined = {
            let subset = Subset::by_definition(&*criterion, &design);
            let mut silent = Silent;
            let mut context = SearchContext::new(&*criterion, &design, subset, &mut silent, 5);
            pipeline.search.search(&mut context).unwrap()
        };
        (Cell { criterion, learner, problem, design, path: selection.path, model: selection.model }, defined)
    }

    /// Every score of the path is the definition's, and the path is the one that the definition leads along.
    fn is_as_defined(&self, defined: &Path, on: &str) {
        let evaluate = |subset: &[usize]| self.criterion.evaluate(&self.design, subset).unwrap();
        near(self.path.empty.loss, evaluate(&[]).loss, on);
        assert!(!self.path.entries.is_empty(), "{on}");
        for entry in &self.path.entries {
            let expected = evaluate(&entry.subset);
            near(entry.score.loss, expected.loss, on);
            assert_eq!(entry.score.lambda, expected.lambda, "{on}: lambda of {:?}", entry.subset);
        }
        let steps = |path: &Path| path.steps.iter().map(|s| (s.action, s.feature)).collect::<Vec<_>>();
        assert_eq!(steps(&self.path), steps(defined), "{on}");
        let subsets = |path: &Path| path.entries.iter().map(|e| e.subset.clone()).collect::<Vec<_>>();
        assert_eq!(subsets(&self.path), subsets(defined), "{on}");
        assert_eq!(self.path.chosen, defined.chosen, "{on}");
    }

    /// The model predicts what plain training on the chosen columns predicts, before and after it is saved.
    fn predicts_as_defined(&self, on: &str) {
        let (subset, lambda) =
            self.path.result().map_or((Vec::new(), self.path.empty.lambda), |e| (e.subset.clone(), e.score.lambda));
        let plain = self.learner.fit(&self.problem, &subset, lambda).unwrap();
        let (ours, expected) = (self.predictions(&self.model), self.predictions(&plain));
        ours.iter().zip(&expected).for_each(|(a, b)| near(*a, *b, on));
        let text = serde_json::to_string(&self.model).unwrap();
        let loaded: Model = serde_json::from_str(&text).unwrap();
        let again = self.predictions(&loaded);
        assert!(ours.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits()), "{on}");
        assert_eq!(serde_json::to_string(&loaded).unwrap(), text, "{on}");
    }

    fn predictions(&self, model: &Model) -> Vec<f64> {
        let inputs: Columns = self.problem.columns().select(model.inputs());
        model.predict(&inputs, self.problem.series().map(|s| &s[..])).unwrap().iter().copied().collect()
    }
}

fn near(found: f64, expected: f64, on: &str) {
    assert!((found - expected).abs() <= 1e-8 * expected.abs().max(1.0), "{on}: {found} is not {expected}");
}

#[test]
fn every_cell_is_what_it_is_defined_to_be() {
    let folder = Folder::new("cells");
    series(&folder);
    let mut cells = 0;
    for (kind, settings) in LEARNERS {
        for criterion in CRITERIA {
            for search in SEARCHES {
                let on = format!("{kind} x {criterion} x {search}");
                let (cell, defined) = Cell::new(&folder, &format!("{{kind: {kind}, {settings}}}"), criterion, search);
                cell.is_as_defined(&defined, &on);
                cell.predicts_as_defined(&on);
                cells += 1;
            }
        }
    }
    assert_eq!(cells, 6 * 4 * 6);
}

/// A series is decided as one: held-out predictions are averaged over its steps before the loss.
#[test]
fn decisions_by_series_are_what_they_are_defined_to_be() {
    let folder = Folder::new("cells-decisions");
    series(&folder);
    let learner =
        "{kind: reservoir, units: 5, connectivity: 0.6, decision: series, warmup: 1, lambda: {values: [0.001, 0.1]}}";
    for criterion in
        ["{kind: kfold, by: groups, loss: zero_one}", "{kind: kfold, by: groups}", "loo", "{kind: loo, loss: auc}"]
    {
        for search in ["greedy", "backward", "exhaustive"] {
            let on = format!("{criterion} x {search}");
            let (cell, _) = Cell::new(&folder, learner, criterion, search);
            assert_eq!(cell.design.rows(), 24, "{on}");
            for entry in &cell.path.entries {
                near(entry.score.loss, cell.criterion.evaluate(&cell.design, &entry.subset).unwrap().loss, &on);
            }
            cell.predicts_as_defined(&on);
        }
    }
}

/// Nothing that is linked in is left out above.
#[test]
fn the_cells_are_all_that_there_are() {
    let linked = |role: Role| descriptions().iter().filter(|d| d.role == role).map(|d| d.kind).collect::<Vec<_>>();
    let mut learners = LEARNERS.map(|(kind, _)| kind);
    learners.sort_unstable();
    assert_eq!(linked(Role::Learner), learners);
    let mut searches = SEARCHES;
    searches.sort_unstable();
    assert_eq!(linked(Role::Search), searches);
    assert_eq!(linked(Role::Criterion), ["kfold", "loo", "mrmr", "nhsic"]);
}

/// One thread or two, the same bits.
#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = Folder::new("cells-threads");
    series(&folder);
    for (kind, settings) in LEARNERS {
        for criterion in ["loo", "{kind: kfold, by: groups}", "nhsic"] {
            let on = format!("{kind} x {criterion}");
            let bits = |threads: usize| {
                vaglio::pipeline::pool(threads).unwrap().install(|| {
                    let (cell, _) = Cell::new(&folder, &format!("{{kind: {kind}, {settings}}}"), criterion, "floating");
                    let scores: Vec<u64> = cell.path.entries.iter().map(|e| e.score.loss.to_bits()).collect();
                    let open =
                        Subset::open(&*cell.criterion, &cell.design, &Outline::forward(5, 5)).unwrap().score().unwrap();
                    (scores, open.loss.to_bits(), serde_json::to_string(&cell.model).unwrap())
                })
            };
            assert_eq!(bits(1), bits(2), "{on}");
        }
    }
}
