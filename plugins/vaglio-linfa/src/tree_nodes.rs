//! Saved nodes of trees: a list, each node before its children.

use linfa_trees::TreeNode;
use ndarray::{Array1, Array2, ArrayView1};
use vaglio_core::setting;

/// A node; a leaf is its own child on both sides.
#[setting]
#[derive(Copy, PartialEq)]
pub(crate) struct SavedNode {
    /// Column of the split.
    column: usize,
    /// Rows up to this value go to `low`, others to `high`.
    split: f64,
    low: usize,
    high: usize,
    /// Value 2P − 1 of a leaf.
    value: f64,
}

/// Whether all nodes lead to leaves, and their columns exist.
pub(crate) fn check(nodes: &[SavedNode], columns: usize) -> bool {
    let is_leaf = |at: usize, node: &SavedNode| node.low == at && node.high == at;
    let leads = |at: usize, node: &SavedNode| {
        let below = at + 1..nodes.len();
        below.contains(&node.low) && below.contains(&node.high)
    };
    let is_sound = |(at, node): (usize, &SavedNode)| {
        node.column < columns
            && node.split.is_finite()
            && node.value.abs() <= 1.0
            && (is_leaf(at, node) || leads(at, node))
    };
    !nodes.is_empty() && nodes.iter().enumerate().all(is_sound)
}

/// Value of a row's leaf.
pub(crate) fn leaf_of(nodes: &[SavedNode], row: ArrayView1<'_, f64>) -> f64 {
    let mut at = 0;
    loop {
        let node = &nodes[at];
        let next = if row[node.column] <= node.split { node.low } else { node.high };
        if next == at {
            return node.value;
        }
        at = next;
    }
}

/// A branch under construction.
enum BranchBuilder {
    /// Number of rows of the class, and of others.
    Leaf(usize, usize),
    Split(usize, f64, Box<BranchBuilder>, Box<BranchBuilder>),
}

/// Converts a linfa tree on ranks to nodes, with the values of the ranks and the class shares of its training rows.
///
/// Neighbouring leaves are joined unless most rows of one are of the class and most of the other are not. Linfa joins
/// leaves of one class, and the class of a tied leaf is random.
pub(crate) fn grown(
    root: &TreeNode<f64, bool>,
    values: &[Vec<f64>],
    ranks: &Array2<f64>,
    is_class: &Array1<bool>,
) -> Vec<SavedNode> {
    let tree = branch(root, values, ranks, is_class, (0..ranks.nrows()).collect());
    let mut nodes = Vec::new();
    listed(&tree, &mut nodes);
    nodes
}

fn branch(
    node: &TreeNode<f64, bool>,
    values: &[Vec<f64>],
    ranks: &Array2<f64>,
    is_class: &Array1<bool>,
    rows: Vec<usize>,
) -> BranchBuilder {
    let below = node.children();
    let (false, Some(Some(low)), Some(Some(high))) = (node.is_leaf(), below.first(), below.get(1)) else {
        let own = rows.iter().filter(|&&row| is_class[row]).count();
        return BranchBuilder::Leaf(own, rows.len() - own);
    };
    let (column, split, _) = node.split();
    let (left, right) = rows.into_iter().partition(|&row| ranks[[row, column]] <= split);
    let low = branch(low, values, ranks, is_class, left);
    let high = branch(high, values, ranks, is_class, right);
    match (&low, &high) {
        (BranchBuilder::Leaf(a, b), BranchBuilder::Leaf(c, d)) if a.cmp(b) == c.cmp(d) || a == b || c == d => {
            BranchBuilder::Leaf(a + c, b + d)
        }
        _ => BranchBuilder::Split(column, between(&values[column], split), Box::new(low), Box::new(high)),
    }
}

/// Midpoint of the two values about a rank, or the lower one if rounding leaves no room.
fn between(values: &[f64], rank: f64) -> f64 {
    let last = values.len() - 1;
    let (low, high) = (values[(rank as usize).min(last)], values[(rank as usize + 1).min(last)]);
    let middle = (low + high) / 2.0;
    if middle >= low && middle < high { middle } else { low }
}

fn listed(tree: &BranchBuilder, nodes: &mut Vec<SavedNode>) {
    let at = nodes.len();
    match tree {
        BranchBuilder::Leaf(own, others) => {
            let value = (*own as f64 - *others as f64) / (own + others).max(1) as f64;
            nodes.push(SavedNode { column: 0, split: 0.0, low: at, high: at, value });
        }
        BranchBuilder::Split(column, split, low, high) => {
            nodes.push(SavedNode { column: *column, split: *split, low: at, high: at, value: 0.0 });
            nodes[at].low = nodes.len();
            listed(low, nodes);
            nodes[at].high = nodes.len();
            listed(high, nodes);
        }
    }
}
