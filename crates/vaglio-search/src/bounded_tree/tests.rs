//! Bounds of subtrees that are left open.

use super::{BoundedTree, SubsetBounds};
use crate::best_subsets::OpenSubtree;
use crate::order::TreeOrder;
use crate::{Monitor, SearchSettings, Silent, Space, SubsetScorer};
use vaglio_core::{Criterion, Design, EngineEvaluator, Evaluator, Feature, Result, Score, SquaresBound, saved};
use vaglio_testkit::data;

/// Criterion of the evaluator.
#[saved(Criterion, "vaglio_search_thousandfold")]
struct Zero {}

impl Criterion for Zero {
    fn evaluate(&self, _: &Design, _: &[Feature]) -> Result<Score> {
        Ok(Score::new(0.0))
    }
}

/// Evaluator with bounds of a thousand times the squares.
struct Thousandfold<'d>(&'d Design);

impl Evaluator for Thousandfold<'_> {
    fn score(&mut self, _: &[Feature]) -> Result<Score> {
        Ok(Score::new(0.0))
    }

    fn squares(&mut self, columns: &[Feature]) -> Result<Option<SquaresBound>> {
        let columns = columns.iter().map(|&feature| self.0.column(feature).values().into_owned()).collect();
        let targets = self.0.targets().rows().into_iter().map(|y| y.to_vec()).collect();
        let score = Box::new(|squares: f64, _: usize, _: f64| 1000.0 * squares);
        Ok(Some(SquaresBound { columns, targets, held_out: None, score }))
    }
}

#[test]
fn a_subtree_that_is_left_open_again_keeps_its_bounds() {
    let design = data::regression(20, 5, 1).design(&[1.0], true);
    let space = Space::new(SearchSettings::default(), &design).unwrap();
    let mut subset = SubsetScorer::new(EngineEvaluator::new("thousandfold", Thousandfold(&design)), &Zero {}, &design);
    let order = TreeOrder::new(&space, &mut subset).unwrap();
    let bounds = SubsetBounds::new(&order, &mut subset).unwrap().unwrap();
    let bound = 0.5 * bounds.squares.total;
    let mut silent = Silent;
    let mut monitor = Monitor::from(&mut silent);
    let mut tree = BoundedTree::new(&order, &space, bounds, &mut monitor);
    tree.progress.known.open.clear();
    tree.leave_open(vec![OpenSubtree { bound, fixed: vec![0], excluded: vec![1], begun: false }]);
    let first = tree.progress.known.open.pop().unwrap();
    assert!(first.subtree.bound == bound && first.bound() > 900.0 * bound, "{first:?}");
    tree.leave_open(vec![first.subtree.clone()]);
    assert_eq!(tree.progress.known.open.pop(), Some(first));
}
