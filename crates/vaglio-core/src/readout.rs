//! The ridge readout of a design.

use crate::formatting::number;
use crate::penalty::LambdaScope;
use crate::{Error, Result};

/// A ridge readout on the columns of a [`crate::Design`].
#[derive(Debug, Clone, PartialEq)]
pub struct Readout {
    /// The λ to choose from, in increasing order; a single value if λ is fixed.
    pub lambdas: Vec<f64>,
    /// Whether the λ are a grid that is fitted to the design.
    pub auto: bool,
    /// Number of values of a fitted grid; `None` for one or two per power of ten.
    pub points: Option<usize>,
    /// Whether to extend a fitted grid beyond an end with the lowest loss until the loss stops falling.
    pub extend: bool,
    /// The scope of the choice of λ, if set: each subset, a whole walk, or all columns. [`crate::Lambda::per_path`] and
    /// others set it; [`Readout::is_per_path`] reads it.
    pub per: Option<LambdaScope>,
    /// Whether λ between the best value and its neighbours are searched too.
    pub refine: bool,
    /// Whether there is an intercept, which is never penalized.
    pub intercept: bool,
    /// Whether each output has its own λ, by its own part of the criterion's loss.
    pub each_output: bool,
    /// Whether each class's rows are weighted by one over the class's weight among the training rows.
    pub balanced: bool,
}

impl Readout {
    /// Creates a readout over the given λ, sorted.
    ///
    /// # Errors
    /// [`Error::Setting`] on `lambda` if there is none, or one is not positive and finite.
    pub fn new(mut lambdas: Vec<f64>, intercept: bool) -> Result<Self> {
        if lambdas.is_empty() {
            return Err(Error::setting("lambda", "at least one value is needed"));
        }
        if let Some(bad) = lambdas.iter().find(|l| !(l.is_finite() && **l > 0.0)) {
            return Err(Error::setting("lambda", format!("{} is not a positive finite number", number(*bad))));
        }
        lambdas.sort_by(f64::total_cmp);
        lambdas.dedup();
        Ok(Readout {
            lambdas,
            auto: false,
            points: None,
            extend: false,
            per: None,
            refine: false,
            intercept,
            each_output: false,
            balanced: false,
        })
    }

    /// Whether one λ is taken for a whole walk; `None` if that is not set.
    pub fn is_per_path(&self) -> Option<bool> {
        self.per.map(|per| per == LambdaScope::Path)
    }

    /// Whether λ is chosen among several by the score of all columns.
    pub fn is_of_all_columns(&self) -> bool {
        self.per == Some(LambdaScope::All) && self.lambdas.len() > 1
    }

    /// Balances classes: row j of class c has weight r_j / Σ r over the training rows of class c. The sum is recomputed
    /// whenever rows are held out.
    #[must_use]
    pub fn balanced(self) -> Self {
        Readout { balanced: true, ..self }
    }
}
