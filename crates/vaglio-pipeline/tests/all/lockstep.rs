//! Early stopping of searches, and its effects.

use crate::{Chosen, choose};
use linfa::ParamGuard;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use vaglio_core::{Criterion, Lambda, Part, Problem, StopReason};
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::resampling::{Sample, select};
use vaglio_pipeline::{Selector, ValidSelector};
use vaglio_report::record::{Cell, LossTable};
use vaglio_search::{
    Backward, Choose, CrossValidation, Event, Floating, Greedy, Journal, JournalStore, Monitor, Observer, Search, Step,
};
use vaglio_testkit::{SplitMix64, tries_all_cases};
use vaglio_validate::{KFold, Loo};

/// The first is 20; then they are five or a tenth apart.
const CHECKPOINTS: [usize; 11] = [20, 25, 30, 35, 40, 45, 50, 55, 60, 66, 72];

/// 60 rows of 90 columns; three determine the target, with noise.
fn problem() -> Problem {
    let mut random = SplitMix64::new(17);
    let columns: Vec<Vec<f64>> = (0..90).map(|_| (0..60).map(|_| random.normal()).collect()).collect();
    let y: Vec<f64> =
        (0..60).map(|row| columns[3][row] - columns[40][row] + 0.7 * columns[77][row] + random.normal()).collect();
    crate::problem(&columns, &y)
}

fn choose_search(search: Search, lambdas: &[f64]) -> Chosen {
    choose_search_on(&problem(), search, lambdas)
}

fn choose_search_on(problem: &Problem, search: Search, lambdas: &[f64]) -> Chosen {
    choose(&selector(Loo::default(), search, lambdas), &Sample::from_problem(problem.clone(), false))
}

fn selector(criterion: impl Into<Part<dyn Criterion>>, search: Search, lambdas: &[f64]) -> ValidSelector {
    let lambda: Lambda = serde_json::from_value(serde_json::json!({ "values": lambdas })).unwrap();
    Selector::params(criterion, search, Rls { lambda, ..Rls::default() }).seed(4).check().unwrap()
}

fn by(patience: Option<usize>) -> Choose {
    CrossValidation { patience, ..CrossValidation::default() }.into()
}

fn same(cell: &Cell, whole: &Cell) -> bool {
    cell.size == whole.size && (cell.loss - whole.loss).abs() <= 1e-10 * whole.loss
}

/// Size at which searches with these losses end, by a plain loop.
fn plain_end(cells: &[Cell], patience: usize) -> usize {
    let most = cells.last().unwrap().size;
    let lowest = |until: usize| {
        let first = |best: Cell, cell: &Cell| if cell.loss < best.loss { *cell } else { best };
        cells.iter().take_while(|cell| cell.size <= until).fold(cells[0], first).size
    };
    let mut checkpoints = CHECKPOINTS.into_iter().take_while(|&size| size < most);
    checkpoints.find(|&size| lowest(size) + patience <= size).unwrap_or(most)
}

#[test]
fn losses_are_those_of_whole_walks_cut_where_the_plain_loop_ends() {
    let lambdas = [0.1, 1.0, 10.0, 100.0, 1e5];
    let greedy = |choose| Search::new(Greedy {}).choose(choose);
    let run = |patience, lambdas: &[f64]| choose_search(greedy(by(patience)), lambdas);
    let (cut, whole) = (run(Some(10), &lambdas), run(None, &lambdas));
    let tables: [&LossTable; 2] = [cut.chosen.table.as_ref().unwrap(), whole.chosen.table.as_ref().unwrap()];
    let (mut shorter, mut given_up) = (0, 0);
    for (cells, whole) in tables[0].cells.iter().zip(&tables[1].cells) {
        assert!(cells.iter().zip(whole).all(|(cell, whole)| same(cell, whole)), "{cells:?} of {whole:?}");
        let (end, expected) = (cells.last().unwrap().size, plain_end(whole, 10));
        given_up += usize::from(end < expected);
        shorter += usize::from(end < whole.last().unwrap().size);
        assert!(end <= expected && (end == expected || CHECKPOINTS.contains(&end)), "{end} is not {expected}");
    }
    assert!(shorter >= 1 && given_up <= 2, "{shorter} shorter, {given_up} given up");
    assert_eq!((cut.chosen.size, cut.chosen.lambda), (whole.chosen.size, whole.chosen.lambda));
    // The search on all rows ends with those of the folds, and so does a single λ.
    let end = tables[0].losses_at(cut.chosen.place).last().unwrap().size;
    assert_eq!(cut.path.entries.last().unwrap().subset.len(), end);
    assert_eq!(cut.path.entries, whole.path.entries[..end]);
    for patience in [1, 10, 50] {
        let alone = run(Some(patience), &lambdas[1..2]);
        let own = alone.chosen.table.as_ref().unwrap().losses_at(0);
        assert!(own.iter().zip(&tables[1].cells[1]).all(|(cell, whole)| same(cell, whole)));
        let end = own.last().unwrap().size;
        assert_eq!(end, plain_end(&tables[1].cells[1], patience), "{patience}");
        let is_cut = end < tables[1].cells[1].last().unwrap().size;
        assert!(!is_cut || alone.path.entries.len() == own.len() - 1, "{patience}");
    }
}

/// 30 columns that determine the target, so that the search goes on while a large λ is given up at the first checkpoint.
#[test]
fn a_lambda_far_above_the_lowest_is_given_up() {
    let mut random = SplitMix64::new(3);
    let columns: Vec<Vec<f64>> = (0..30).map(|_| (0..300).map(|_| random.normal()).collect()).collect();
    let y: Vec<f64> =
        (0..300).map(|row| 0.3 * columns.iter().map(|x| x[row]).sum::<f64>() + 0.5 * random.normal()).collect();
    let search = Search::new(Greedy {}).choose(by(Some(50)));
    let problem = crate::problem(&columns, &y);
    let found = choose_search_on(&problem, search, &[1.0, 2.0, 1e5]);
    let ends: Vec<usize> = found.chosen.table.unwrap().cells.iter().map(|cells| cells.last().unwrap().size).collect();
    assert_eq!(ends, [30, 30, 20]);
}

#[test]
fn a_search_that_begins_with_all_columns_walks_whole() {
    let run = |patience| choose_search(Search::new(Backward::default()).choose(by(patience)), &[1.0, 10.0]);
    let (cut, whole) = (run(Some(1)), run(None));
    let sizes = |picked: &Chosen| {
        let table = picked.chosen.table.clone().unwrap();
        table.cells.iter().map(|cells| cells.iter().map(|cell| cell.size).collect()).collect::<Vec<Vec<usize>>>()
    };
    assert_eq!(sizes(&cut), sizes(&whole));
    assert_eq!(cut.path.steps, whole.path.steps);
}

#[test]
fn threads_change_no_bit() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let search = Search::new(Greedy {}).choose(by(Some(10)));
        let picked = pool.install(|| choose_search(search, &[0.1, 1.0, 10.0, 1e5]));
        format!("{:?} {:?}", picked.chosen, picked.path)
    };
    assert_eq!(on(1), on(3));
}

/// Searches meet one of the criteria in turn; with `VAGLIO_CASES=all`, both.
#[test]
fn folds_that_memory_does_not_hold_at_once_lose_the_same() {
    let step = if tries_all_cases() { 1 } else { 2 };
    let searches: [(Search, &[f64]); 5] = [
        (Search::new(Greedy {}).choose(by(Some(30))), &[1.0, 10.0]),
        (Search::new(Greedy {}).choose(by(Some(10))), &[1.0]),
        (Search::new(Greedy {}).choose(by(Some(10))), &[0.1, 1.0, 10.0, 1e5]),
        (Search::new(Floating {}).choose(by(Some(1))).max_features(30), &[0.5, 5.0]),
        (Search::new(Backward::default()).choose(by(Some(1))), &[1.0, 10.0]),
    ];
    for (turn, (search, lambdas)) in searches.into_iter().enumerate() {
        let criteria = [Part::<dyn Criterion>::from(Loo::default()), KFold::new(3).into()];
        for criterion in criteria.into_iter().skip(turn % step).step_by(step) {
            let selector = selector(criterion.clone(), search.clone(), lambdas);
            let found = |selector: ValidSelector| choose(&selector, &Sample::from_problem(problem(), false));
            let held = found(selector.clone());
            // Memory for no fold, and for fewer than all folds.
            for bytes in [0.0, 3.0] {
                let anew = found(selector.clone().limit_repetitions(bytes, 1.0));
                assert_eq!(anew.chosen, held.chosen, "{search:?}");
                assert_eq!(anew.path, held.path, "{search:?}");
            }
        }
    }
}

/// Steps that are shown.
struct Steps(Vec<Step>);

impl Observer for Steps {
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
        if let Event::Step(step) = event {
            self.0.push(Step::clone(step));
        }
        None
    }
}

/// Keys of the pieces that are kept.
#[derive(Default)]
struct Keys(Mutex<Vec<String>>);

impl JournalStore for Keys {
    fn recall(&self, _: &str) -> Option<String> {
        None
    }

    fn keep(&self, key: &str, _: &str) {
        self.0.lock().unwrap().push(key.into());
    }

    fn keeps_all(&self) -> bool {
        true
    }
}

#[test]
fn searches_that_begin_again_show_and_journal_everything_once() {
    let search = Search::new(Greedy {}).choose(by(Some(30)));
    let (selector, sample) = (selector(Loo::default(), search.clone(), &[1.0]), Sample::from_problem(problem(), false));
    let (design, keys) = (selector.design(&problem()).unwrap(), Arc::new(Keys::default()));
    let mut steps = Steps(Vec::new());
    let mut monitor = Monitor { journal: Journal::new(Arc::<Keys>::clone(&keys)), ..Monitor::from(&mut steps) };
    let path = select(&selector, &sample, &design, &mut monitor).unwrap().searched.path;
    assert!(path.steps.len() > CHECKPOINTS[0]);
    assert_eq!(steps.0, path.steps);
    assert_eq!(path, choose_search(search, &[1.0]).path);
    let keys = keys.0.lock().unwrap();
    assert_eq!(keys.len(), keys.iter().collect::<HashSet<_>>().len(), "{keys:?}");
}
