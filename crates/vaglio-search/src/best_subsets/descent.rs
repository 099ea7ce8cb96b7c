//! Buffers shared by the nodes on one path down the tree, so that a step down copies little and allocates nothing.

use super::held_out_bound::PartSystem;
use super::node::SubtreeNode;
use super::node_fit::NodeFit;

/// A fixed column with its rows of factors. The parent's next child overwrites them.
#[derive(Debug, Default)]
pub(super) struct LevelRows {
    pub column: usize,
    /// Row of the Cholesky factor of H in the fixed columns, over all columns.
    pub row: Vec<f64>,
    /// For rows held out together: a column of Z with H = ZZᵀ, and the row of the lower factor that produced it.
    pub z: Vec<f64>,
    pub factor: Vec<f64>,
}

impl LevelRows {
    /// Splits the levels into those above one and that one.
    pub fn next(levels: &mut [LevelRows], at: usize) -> (&[LevelRows], &mut LevelRows) {
        let (known, next) = levels.split_at_mut(at);
        (known, &mut next[0])
    }
}

/// Levels, with buffers for computations and discarded nodes.
#[derive(Default)]
pub(super) struct Descent<'s> {
    pub levels: Vec<LevelRows>,
    /// Residuals of each output.
    pub residuals: Vec<Vec<f64>>,
    pub lifted: Vec<Vec<f64>>,
    pub systems: Vec<PartSystem>,
    /// Fit of a node with one more column.
    pub last: NodeFit,
    pub spare: Vec<SubtreeNode<'s>>,
}

impl<'s> Descent<'s> {
    /// Copies a node, reusing the memory of a discarded one.
    pub fn copied(&mut self, node: &SubtreeNode<'s>) -> SubtreeNode<'s> {
        let mut copy = self.spare.pop().unwrap_or_else(|| SubtreeNode::empty(node.of));
        copy.copy_from(node);
        copy
    }
}
