//! k nearest neighbours: a learner for [vaglio](vaglio_core) that is refitted for every subset, and an example to copy.
//!
//! `use vaglio_knn as _;` in a program registers `learner: knn` for pipeline files; [`Knn`] is the learner.

mod model;
mod neighbours;

pub use model::Weights;
use model::{MOST, NeighboursModel};
use vaglio_core::{Error, Result, prelude::*};

/// k nearest neighbours, by Euclidean distance in the selected columns.
///
/// The prediction for x is Σ_j s_j v_j y_j / Σ_j s_j v_j over the nearest training rows. A row of weight r counts as r
/// equal rows. Rows are taken in order of distance, ties by row number, until their weights add up to k. The weight
/// taken of row j is s_j, so only the last row may count partially. With unit weights these are the k nearest rows.
/// `uniform` has v_j = 1, `distance` v_j = 1/‖x − x_j‖; if neighbours are at distance 0, these alone count. Classes are
/// coded ±1, so a prediction is a vote between −1 and 1. If all weights add up to less than k, all rows are neighbours.
/// The empty subset predicts the weighted mean of all rows.
///
/// There is no readout and no λ: criteria refit it for every subset and every row or fold left out. Columns count
/// by their scale, so standardize them first.
///
/// Cost: fitting copies the columns, O(rows · columns). Predicting one row is O(rows · columns), or about O(log rows)
/// each for many rows of few columns, which search a k-d tree.
///
/// # Example
/// ```
/// use vaglio_core::Learner;
/// use vaglio_knn::Knn;
/// let problem = vaglio_testkit::data::regression(30, 5, 1).problem();
/// let model = Knn { neighbours: 3, ..Knn::default() }.fit(&problem, &[0, 3], None)?;
/// let predictions = model.predict(&problem.columns().select(model.inputs()), None)?;
/// assert_eq!(predictions.dim(), (1, 30));
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// T. M. Cover, P. E. Hart, *Nearest neighbor pattern classification*, IEEE Transactions on Information Theory 13(1),
/// 1967; weights by distance: S. A. Dudani, *The distance-weighted k-nearest-neighbor rule*, IEEE Transactions on
/// Systems, Man, and Cybernetics 6(4), 1976.
#[part(
    Learner,
    "knn",
    summary = "k nearest neighbours in the chosen columns, refitted for every subset",
    example = "learner: {kind: knn, neighbours: 5, weights: uniform}"
)]
#[derive(Copy, PartialEq, Eq)]
pub struct Knn {
    /// Number of neighbours, k.
    #[default(5)]
    pub neighbours: usize,
    /// Weights of neighbours.
    #[default(Weights::Uniform)]
    pub weights: Weights,
}

impl Learner for Knn {
    fn readout(&self) -> Result<Option<Readout>> {
        Ok(None)
    }

    fn check_settings(&self) -> Result<()> {
        Error::unless_between("neighbours", self.neighbours, 1..=MOST)
    }

    fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
        Model::new(NeighboursModel {
            inputs: subset.to_vec(),
            neighbours: self.neighbours,
            weights: self.weights,
            rows: problem.columns().matrix(subset),
            targets: problem.targets().as_ref().clone(),
            row_weights: problem.weights().map(|weights| weights.to_vec()),
        })
    }
}
