//! What the nodes on one way down the tree share, so that going down copies little and allocates nothing.

use super::fit::SubsetFit;
use super::held_out::PartSystem;
use super::node::SubtreeNode;

/// A fixed column with its rows of factors. The next child of its parent overwrites them.
#[derive(Debug, Default)]
pub(super) struct LevelRows {
    pub column: usize,
    /// Of the factor of H in the fixed columns, over all columns.
    pub row: Vec<f64>,
    /// A column of Z with H = ZZᵀ where rows are held out, and the row of the lower factor that made it.
    pub z: Vec<f64>,
    pub factor: Vec<f64>,
}

impl LevelRows {
    /// The levels above one, and itself.
    pub fn next(levels: &mut [LevelRows], at: usize) -> (&[LevelRows], &mut LevelRows) {
        let (known, next) = levels.split_at_mut(at);
        (known, &mut next[0])
    }
}

/// The levels, with room for what nodes compute and for nodes that are left.
#[derive(Default)]
pub(super) struct Descent<'s> {
    pub levels: Vec<LevelRows>,
    /// Of each output.
    pub residuals: Vec<Vec<f64>>,
    pub lifted: Vec<Vec<f64>>,
    pub systems: Vec<PartSystem>,
    /// The fit of a node with one column more.
    pub last: SubsetFit,
    pub spare: Vec<SubtreeNode<'s>>,
}

impl<'s> Descent<'s> {
    /// A copy of a node, in place of one that was left.
    pub fn copied(&mut self, node: &SubtreeNode<'s>) -> SubtreeNode<'s> {
        let mut copy = self.spare.pop().unwrap_or_else(|| SubtreeNode::empty(node.of));
        copy.copy_from(node);
        copy
    }
}
