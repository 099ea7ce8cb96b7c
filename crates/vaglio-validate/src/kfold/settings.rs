//! Settings of k-fold cross-validation.

use vaglio_core::{Loss, Part, Resampling, part, setting};

/// The mean loss of every row predicted by the readout trained on the rows of all other folds.
///
/// (1/Σ r_j) Σ_j r_j · loss(y_j, prediction of row j without its fold); with several λ the lowest such mean over λ. All
/// rows are pooled: it is a mean over rows, not of means over folds. With a ridge readout no fold is ever refitted.
///
/// Folds are contiguous by default, the first rows mod `folds` of them with one row more.
///
/// # Reference
/// P. Buteneers, K. Caluwaerts, J. Dambre, D. Verstraeten, B. Schrauwen, *Optimized parameter search for large datasets
/// of the regularization parameter and feature selection for ridge regression*, Neural Processing Letters 2013.
#[part(
    Criterion,
    "kfold",
    summary = "mean loss of every row predicted without its fold, exact and without refitting",
    example = "criterion: {kind: kfold, folds: 10, loss: squared}",
    title = "cross-validated"
)]
#[derive(PartialEq)]
pub struct KFold {
    /// How many folds; 10 by default, with `by: groups` one for each group.
    #[schemars(extend("minimum" = 2))]
    #[no_setter]
    pub folds: Option<usize>,
    /// Whether rows (or groups) are shuffled first, by the pipeline's seed.
    pub shuffle: bool,
    /// Whether every class is spread evenly over the folds.
    pub stratified: bool,
    /// Rows of one group stay in one fold.
    pub by: Option<FoldBy>,
    /// The column of the data that gives every row its fold.
    pub assignment: Option<String>,
    /// Rows that are held out otherwise than once each, in place of all the above but `stratified`.
    #[no_setter]
    pub splits: Option<Part<dyn Resampling>>,
    /// Loss, averaged over the held-out rows.
    pub loss: Part<dyn Loss>,
    /// How the scores are computed; it changes none of them.
    pub engine: Engine,
}

/// Unit that folds are made of.
#[setting]
#[derive(Copy, PartialEq, Eq)]
pub enum FoldBy {
    /// The groups of `data.groups`.
    Groups,
}

/// How the scores are computed.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Engine {
    /// The cheapest by predicted cost.
    #[default]
    Auto,
    /// Moments of the columns in each fold: O(1) a trial after one pass of O(rows · columns²). `squared` and `balanced_squared` alone.
    #[serde(alias = "primal")]
    Moments,
    /// Rows held out: O(rows) a trial, for any loss.
    #[serde(alias = "dual")]
    RowsHeldOut,
}

impl KFold {
    /// Creates k-fold cross-validation with `folds` folds.
    pub fn new(folds: usize) -> Self {
        KFold { folds: Some(folds), ..KFold::default() }
    }

    /// Creates cross-validation with a resampling: `KFold::with_splits(Forward::new(5))`.
    pub fn with_splits(splits: impl Into<Part<dyn Resampling>>) -> Self {
        KFold::default().splits(splits)
    }

    /// Sets a resampling that replaces the folds. It alone determines their number. The count of [`KFold::new`] would
    /// be refused next to it, so begin with [`KFold::with_splits`].
    #[must_use]
    pub fn splits(self, splits: impl Into<Part<dyn Resampling>>) -> Self {
        KFold { splits: Some(splits.into()), ..self }
    }

    /// Makes the groups of the rows the folds: [`FoldBy::Groups`].
    pub fn by_groups() -> Self {
        KFold { by: Some(FoldBy::Groups), ..KFold::default() }
    }
}
