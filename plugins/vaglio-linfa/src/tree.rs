//! Decision trees of linfa.

use crate::tree_nodes::{SavedNode, check, grow, leaf_of};
use crate::{OutputTargets, TargetKinds, check_problem, fit_each, matrix};
use linfa::prelude::*;
use linfa_trees::DecisionTree;
use ndarray::{Array1, Array2, ArrayView1, Axis};
use vaglio_core::{Columns, Error, Feature, Learner, Model, ModelData, Problem, Readout, Result, part, saved};

/// Classification tree of linfa, split by Gini impurity; for several classes, each against the others.
///
/// Predictions are 2P − 1 with P the share of the class among the training rows of a leaf. Linfa gets the ranks of the
/// values, so that values closer than its 10⁻⁵ are split. It gets the rows in order of these, since it misses splits
/// where rows of other nodes with the same value are in between. It picks the class of a tied leaf at random; such
/// leaves are joined with their neighbours. So a tree depends on the values alone. Cost O(rows · columns · depth).
#[part(
    Learner,
    "tree",
    summary = "classification tree of linfa in the chosen columns, refitted for every subset",
    example = "learner: {kind: tree, depth: 5, min_leaf: 5}"
)]
#[derive(Copy, PartialEq, Eq)]
pub struct Tree {
    /// Maximum number of splits between the root and a leaf.
    #[default(5)]
    pub depth: usize,
    /// Minimum number of rows of a node that is split.
    #[default(2)]
    pub min_split: usize,
    /// Minimum number of rows of a leaf.
    #[default(1)]
    pub min_leaf: usize,
}

/// One tree per output.
#[saved(ModelData, "linfa_tree")]
struct TreeModel {
    inputs: Vec<Feature>,
    /// Number of inputs, which the nodes alone do not tell.
    columns: usize,
    trees: Vec<Vec<SavedNode>>,
}

impl ModelData for TreeModel {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn check(&self) -> Result<()> {
        let is_whole = self.columns == self.inputs.len() && !self.trees.is_empty();
        if !is_whole || self.trees.iter().any(|tree| !check(tree, self.inputs.len().max(1))) {
            return Err(Error::Shape("the nodes of a tree do not fit together".into()));
        }
        Ok(())
    }

    fn predict(&self, inputs: &Columns, _series: Option<&[u32]>) -> Result<Array2<f64>> {
        let x = matrix(inputs);
        Ok(Array2::from_shape_fn((self.trees.len(), x.nrows()), |(tree, row)| leaf_of(&self.trees[tree], x.row(row))))
    }
}

impl Learner for Tree {
    fn readout(&self) -> Result<Option<Readout>> {
        Ok(None)
    }

    fn check_settings(&self) -> Result<()> {
        Error::unless_between("depth", self.depth, 1..=64)?;
        Error::unless_between("min_split", self.min_split, 2..=1_000_000)?;
        Error::unless_between("min_leaf", self.min_leaf, 1..=1_000_000)
    }

    fn check(&self, problem: &Problem) -> Result<()> {
        check_problem("tree", TargetKinds::Classes, problem)
    }

    fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
        self.check_settings()?;
        let fit = |x: &Array2<f64>, y: OutputTargets<'_>| self.train(x, &y.classes());
        let (inputs, trees) = fit_each("tree", problem, subset, fit)?;
        Model::new(TreeModel { columns: inputs.len(), inputs, trees })
    }
}

impl Tree {
    fn train(&self, x: &Array2<f64>, is_class: &Array1<bool>) -> Result<Vec<SavedNode>, linfa::Error> {
        let (ranks, values) = rank(x);
        let mut order: Vec<usize> = (0..ranks.nrows()).collect();
        let key = |row: usize| ranks.row(row).iter().map(|r| *r as u64).chain([u64::from(is_class[row])]).collect();
        order.sort_by_cached_key(|&row| -> Vec<u64> { key(row) });
        let data = Dataset::new(ranks.select(Axis(0), &order), is_class.select(Axis(0), &order));
        let params = DecisionTree::<f64, bool>::params()
            .max_depth(Some(self.depth))
            .min_weight_split(self.min_split as f32)
            .min_weight_leaf(self.min_leaf as f32);
        let fitted = params.fit(&data)?;
        let (ranks, is_class, mut nodes) = (data.records(), data.targets(), Vec::new());
        grow(fitted.root_node(), &values, ranks, is_class, (0..ranks.nrows()).collect(), &mut nodes);
        Ok(nodes)
    }
}

/// Ranks of each column's values among its distinct values, and these in order.
fn rank(x: &Array2<f64>) -> (Array2<f64>, Vec<Vec<f64>>) {
    let mut ranks = Array2::zeros(x.dim());
    let distinct = |(from, mut to): (ArrayView1<'_, f64>, ndarray::ArrayViewMut1<'_, f64>)| {
        // −0 and 0 are one value.
        let mut values: Vec<f64> = from.iter().map(|v| v + 0.0).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        let rank = |v: &f64| values.partition_point(|other| other < v) as f64;
        to.iter_mut().zip(from).for_each(|(to, v)| *to = rank(v));
        values
    };
    let values = x.columns().into_iter().zip(ranks.columns_mut()).map(distinct).collect();
    (ranks, values)
}
