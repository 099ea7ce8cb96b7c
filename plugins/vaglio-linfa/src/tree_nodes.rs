//! Saved nodes of trees: a list, each node before its children.

use linfa_trees::TreeNode;
use ndarray::{Array1, Array2, ArrayView1};
use vaglio_core::saved;

/// A node; a leaf is its own child on both sides.
#[saved]
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

/// Appends the nodes of a branch of a linfa tree on ranks. Nodes have the values of the ranks, and class shares of the
/// branch's training rows. Returns the number of rows of the class, and of others, if the branch is a leaf.
///
/// Neighboring leaves are joined unless most rows of one are of the class and most of the other are not. Linfa joins
/// leaves of one class, and the class of a tied leaf is random.
pub(crate) fn grow(
    node: &TreeNode<f64, bool>,
    values: &[Vec<f64>],
    ranks: &Array2<f64>,
    is_class: &Array1<bool>,
    rows: Vec<usize>,
    nodes: &mut Vec<SavedNode>,
) -> Option<(usize, usize)> {
    let at = nodes.len();
    let leaf = |own: usize, others: usize| {
        let value = (own as f64 - others as f64) / (own + others).max(1) as f64;
        SavedNode { column: 0, split: 0.0, low: at, high: at, value }
    };
    let below = node.children();
    let (false, Some(Some(low)), Some(Some(high))) = (node.is_leaf(), below.first(), below.get(1)) else {
        let own = rows.iter().filter(|&&row| is_class[row]).count();
        nodes.push(leaf(own, rows.len() - own));
        return Some((own, rows.len() - own));
    };
    let (column, split, _) = node.split();
    let (left, right) = rows.into_iter().partition(|&row| ranks[[row, column]] <= split);
    nodes.push(SavedNode { column, split: between(&values[column], split), low: at + 1, high: at, value: 0.0 });
    let low = grow(low, values, ranks, is_class, left, nodes);
    nodes[at].high = nodes.len();
    let high = grow(high, values, ranks, is_class, right, nodes);
    let ((a, b), (c, d)) = (low?, high?);
    if a.cmp(&b) != c.cmp(&d) && a != b && c != d {
        return None;
    }
    nodes.truncate(at);
    nodes.push(leaf(a + c, b + d));
    Some((a + c, b + d))
}

/// Midpoint of the two values about a rank, or the lower one if rounding leaves no room.
fn between(values: &[f64], rank: f64) -> f64 {
    let last = values.len() - 1;
    let (low, high) = (values[(rank as usize).min(last)], values[(rank as usize + 1).min(last)]);
    let middle = (low + high) / 2.0;
    if middle >= low && middle < high { middle } else { low }
}
