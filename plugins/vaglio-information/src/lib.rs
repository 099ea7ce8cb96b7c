//! Training error and information criteria of ridge models, as a criterion for [vaglio](vaglio_core).
//!
//! `use vaglio_information as _;` in a program registers `criterion: information` for pipeline files; [`Information`]
//! is the criterion.

mod bound;
mod data;
mod definition;
mod evaluator;
mod measure;
mod spectrum;
mod state;

pub use measure::InformationMeasure;

use definition::Definition;
use evaluator::InformationEvaluator;
use vaglio_core::{EngineEvaluator, Error, Result, prediction_units, prelude::*};

/// Training error of a model, plain or with a penalty for its effective degrees of freedom.
///
/// N is the number of rows, and E their mean squared error over all outputs. d are the effective degrees of freedom of the
/// ridge fit: Σ σᵢ²/(σᵢ² + λ) over the singular values of the centered columns, plus 1 for an intercept.
///
/// | `measure` | score |
/// |---|---|
/// | `training` | E |
/// | `gcv` | E / (1 − d/N)² |
/// | `cp` | E + 2 σ̂² d/N |
/// | `aic` | N ln E + 2k |
/// | `aicc` | N ln E + 2kN/(N − k − 1) |
/// | `bic` | N ln E + k ln N |
///
/// k = d + 1 counts the variance. With several λ the score is the lowest over λ. In logarithms E is at
/// least 10⁻¹² of the empty subset's error, below which it is rounding. A quotient by a number that is not positive is
/// +∞. σ̂² is `variance`, or by default N·E/(N − d) of all candidate columns at the smallest λ. Learners without a
/// ridge readout support `training` only.
///
/// With weights r_j only their ratios matter, together with λ: E is the weighted mean, and N counts every row of
/// positive weight once. This is the likelihood of errors of variance σ²/r_j: −2 ln L equals N ln E up to terms equal
/// for all subsets.
///
/// The scores do not account for selection: the lowest of many candidates is far too low. `evaluate: {nested: …}`
/// estimates the error of the selected model.
///
/// # Example
/// ```
/// use vaglio_core::{Criterion, Design, Readout};
/// use vaglio_information::{Information, InformationMeasure};
/// let problem = vaglio_testkit::data::regression(30, 5, 1).problem();
/// let design = Design::identity(&problem, Readout::new(vec![1.0], true)?);
/// let training = Information { measure: InformationMeasure::Training, ..Information::default() };
/// assert!(training.evaluate(&design, &[0, 1])?.loss < training.evaluate(&design, &[])?.loss);
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// G. H. Golub, M. Heath and G. Wahba, *Generalized cross-validation as a method for choosing a good ridge parameter*,
/// Technometrics 21(2), 1979; C. L. Mallows, *Some comments on Cp*, Technometrics 15(4), 1973; H. Akaike, *A new look
/// at the statistical model identification*, IEEE Transactions on Automatic Control 19(6), 1974; C. M. Hurvich, J. S.
/// Simonoff and C.-L. Tsai, *Smoothing parameter selection in nonparametric regression using an improved Akaike
/// information criterion*, Journal of the Royal Statistical Society B 60(2), 1998; G. Schwarz, *Estimating the
/// dimension of a model*, Annals of Statistics 6(2), 1978.
#[part(
    Criterion,
    "information",
    summary = "error on the training rows, by itself or with a price for degrees of freedom: training, gcv, cp, aic, aicc, bic",
    example = "criterion: {kind: information, measure: bic}",
    title = "information criterion"
)]
#[derive(Copy, PartialEq)]
pub struct Information {
    /// Information criterion, or the plain training error.
    pub measure: InformationMeasure,
    /// Variance of the errors, for `cp`; by default estimated from the model of all columns.
    pub variance: Option<f64>,
}

impl Criterion for Information {
    /// Scores a subset by definition. Cost O((m + |S|) |S|²) for each λ.
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        Definition::new(self, design)?.score(subset)
    }

    fn check(&self, design: &Design) -> Result<()> {
        design.problem().check_targets(2)?;
        if let Some(variance) = self.variance {
            if self.measure != InformationMeasure::Cp {
                return Err(Error::setting("variance", format!("`{}` needs no variance", self.measure.word())));
            }
            if !(variance.is_finite() && variance > 0.0) {
                return Err(Error::setting("variance", format!("{variance} is not a positive finite number")));
            }
        }
        if self.measure != InformationMeasure::Training
            && (design.readout().is_none() || prediction_units(design).is_some())
        {
            let message = format!(
                "`{}` needs the degrees of freedom of a ridge readout that answers for every row, which this learner has \
                 not; use `training`, `loo` or `kfold`",
                self.measure.word()
            );
            return Err(Error::setting("measure", message));
        }
        if self.measure == InformationMeasure::Cp && self.variance.is_none() {
            Definition::new(self, design)?;
        }
        Ok(())
    }

    fn traits(&self) -> CriterionTraits {
        CriterionTraits {
            compares_with_empty: true,
            is_of_sums: true,
            counts_rows: self.measure != InformationMeasure::Training,
            ..CriterionTraits::default()
        }
    }

    /// Plans a pass over the rows for each selected column, then O(1) per trial and λ.
    fn plan<'d>(&'d self, design: &'d Design, extent: &SearchExtent) -> Plan<'d> {
        let (rows, columns) = (design.planned_rows() as f64, design.candidates().len() as f64);
        let (lambdas, outputs) = (design.lambdas().len() as f64, design.targets().nrows() as f64);
        let once = 2.0 * rows * columns * outputs;
        let (size, steps) = (extent.largest as f64, extent.steps.max(extent.largest - extent.start) as f64);
        if !has_moments(design) {
            return Plan::by_definition(Estimate {
                engine: "refit",
                reason: "every subset is refitted on all rows".into(),
                flops: extent.trials * lambdas * rows * 2.0 * size * size,
                bytes: 8.0 * rows * size,
            });
        }
        let pass = 2.0 * rows * columns * if extent.start > 0 { columns } else { size };
        let step = 6.0 * columns * size + 4.0 * size * size;
        let stored = (columns - design.problem().columns().count_products() as f64).max(0.0);
        // A search of all subsets scores about a quarter of them, each with its own state and an eigenvalue bound.
        let tree_flops =
            if extent.steps == 0 && extent.start < extent.largest { 0.5 * size * size * size } else { 0.0 };
        let estimate = Estimate {
            engine: "moments",
            reason: "moments of the rows, O(1) a trial".into(),
            flops: once
                + pass
                + lambdas * (steps * step + extent.trials * (10.0 + 6.0 * outputs + 2.0 * size + tree_flops)),
            bytes: 8.0 * (rows * stored + columns * size * (1.0 + lambdas)),
        };
        Plan::by_engine(estimate, move || {
            let evaluator = InformationEvaluator::new(Definition::new(self, design)?);
            let squares = evaluator.squares();
            Ok(EngineEvaluator::from(evaluator).with_squares(Some(squares)))
        })
    }
}

/// Whether errors over all rows at each λ of a grid determine the score. Rows must have equal weights in training and
/// in the score.
fn has_moments(design: &Design) -> bool {
    design.readout().is_some_and(|readout| !readout.balanced && !readout.refine) && prediction_units(design).is_none()
}
