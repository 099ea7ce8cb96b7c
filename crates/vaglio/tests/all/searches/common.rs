//! Shared helpers of the tests of searches.

use serde_json::json;
use std::collections::BTreeMap;
use vaglio::core::{Criterion, Design, Feature, StopReason};
use vaglio::criteria::Loo;
use vaglio::search::{Blocks, Event, FeatureRef, Observer, Path, Search, SearchContext, Silent, SubsetScorer};
use vaglio_testkit::{Tolerance, data};

pub fn by_definition(search: &Search, design: &Design) -> Path {
    let criterion = Loo::default();
    let subset = SubsetScorer::by_definition(&criterion, design);
    search.run(&mut SearchContext::new(subset, &mut Silent, 0)).unwrap()
}

pub fn fast(search: &Search, design: &Design, observer: &mut dyn Observer) -> Path {
    let criterion: &dyn Criterion = &Loo::default();
    search.check(criterion, design).unwrap();
    let subset = SubsetScorer::open(criterion, design, &search.extent(design).unwrap()).unwrap();
    search.run(&mut SearchContext::new(subset, &mut *observer, 0)).unwrap()
}

pub fn loss(design: &Design, subset: &[Feature]) -> f64 {
    Loo::default().evaluate(design, subset).unwrap().loss
}

pub const NEAR: Tolerance = Tolerance::relative(1e-9);

pub fn named(blocks: &[(&str, &[usize])]) -> Option<Blocks> {
    let list = |columns: &[usize]| columns.iter().map(|&c| FeatureRef::Index(c)).collect::<Vec<_>>();
    Some(Blocks::Named(blocks.iter().map(|(n, c)| (n.to_string(), list(c))).collect::<BTreeMap<_, _>>()))
}

pub fn refs(columns: &[usize]) -> Vec<FeatureRef> {
    columns.iter().map(|&c| FeatureRef::Index(c)).collect()
}

pub fn designs() -> Vec<Design> {
    vec![
        data::regression(14, 6, 31).weighted().design(&[0.5], true),
        data::regression(16, 5, 32).duplicates(2).constants(1).design(&[0.1, 2.0], true),
        data::regression(12, 8, 33).collinear(0.3).design(&[0.2], false),
    ]
}

pub fn searches() -> Vec<Search> {
    let kinds = ["greedy", "backward", "floating", "exhaustive"];
    kinds.iter().map(|kind| serde_json::from_value(json!({"kind": kind})).unwrap()).collect()
}

/// Column 0 is the best alone and superfluous beside 1 and 2, whose sum it nearly is.
pub fn deceptive() -> Design {
    let mut columns = vec![vec![0.0; 24]; 4];
    let mut target = vec![0.0; 24];
    for row in 0..24 {
        let (a, b) = ((row as f64 * 0.7).sin(), (row as f64 * 1.9).cos());
        let noise = (row as f64 * 2.3).sin();
        columns[1][row] = a;
        columns[2][row] = b;
        columns[0][row] = a + b + 0.3 * noise;
        columns[3][row] = (row as f64 * 3.1).cos();
        target[row] = a + b + 0.02 * (row as f64 * 5.3).cos();
    }
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let problem = data::given(&columns, &[&target], vaglio::core::Task::Regression).unwrap();
    Design::identity(&problem, vaglio::core::Readout::new(vec![1e-3], true).unwrap())
}

/// Stops a search of all subsets at a question.
pub struct StopAt(pub usize);

impl Observer for StopAt {
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
        let Event::Visited { done, of } = event else { return None };
        assert!(done <= of);
        self.0 -= 1;
        if self.0 == 0 { Some(StopReason::Interrupted) } else { None }
    }
}
