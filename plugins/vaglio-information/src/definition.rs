//! Definition of the criterion: a fit on all rows, and its degrees of freedom from an orthogonal factor.

use crate::Information;
use crate::measure::{InformationMeasure, ScoreFormula};
use ndarray::Array2;
use vaglio_core::{
    Design, Error, Feature, PowerOfTwoScaling, Result, Score, Squared, rescale, row_weights, training_weights,
};
use vaglio_kernels::freedom;
use vaglio_kernels::sums::center;
use vaglio_kernels::tolerance::HIDDEN_ERROR;

/// A criterion on a design, by its definition.
#[derive(Clone)]
pub(crate) struct Definition<'d> {
    /// Design in units in which no square over- or underflows.
    pub design: &'d Design,
    pub units: PowerOfTwoScaling,
    pub formula: ScoreFormula,
}

impl<'d> Definition<'d> {
    /// Prepares the definition. Cost O(m); for `cp` without a variance one fit of all columns.
    ///
    /// # Errors
    /// [`Error::Setting`] on `variance` if all columns leave no degrees of freedom to estimate it; errors of the fits.
    pub fn new(criterion: &Information, design: &'d Design) -> Result<Self> {
        let (Information { measure, variance }, rows) = (*criterion, design.problem().labels().count(design.rows()));
        let (units, scaled) = rescale(design);
        units.check(design, 2)?;
        let design = scaled;
        let formula = ScoreFormula { measure, rows, least: f64::MIN_POSITIVE, variance: variance.unwrap_or(0.0) };
        let mut definition = Definition { design, units, formula };
        let first = design.lambdas()[0];
        match measure {
            InformationMeasure::Training | InformationMeasure::Gcv => {}
            InformationMeasure::Aic | InformationMeasure::Aicc | InformationMeasure::Bic => {
                definition.formula.least = (HIDDEN_ERROR * definition.error(&[], first)?).max(f64::MIN_POSITIVE);
            }
            InformationMeasure::Cp if variance.is_some() => {}
            InformationMeasure::Cp => {
                let all = design.candidates();
                let free = rows - definition.freedom(&all, first)?;
                if free < 1.0 {
                    let message = format!(
                        "the model of all {} columns leaves nothing of {} rows to tell the variance of the errors; give it, \
                         or use `bic` or `gcv`",
                        all.len(),
                        rows.round()
                    );
                    return Err(Error::setting("variance", message));
                }
                definition.formula.variance = rows * definition.error(&all, first)? / free;
            }
        }
        Ok(definition)
    }

    /// Score of a subset: the lowest over λ.
    pub fn score(&self, subset: &[Feature]) -> Result<Score> {
        let score = self.design.best_lambda(|lambda| self.at(subset, lambda))?;
        Ok(self.units.unscale_score(score, 0))
    }

    /// Score at one λ, in the rescaled units of the design.
    pub fn at(&self, subset: &[Feature], lambda: Option<f64>) -> Result<f64> {
        Ok(self.formula.score(self.error(subset, lambda)?, self.freedom(subset, lambda)?))
    }

    /// Degree of freedom of the intercept, if there is one.
    pub fn intercept(&self) -> f64 {
        f64::from(u8::from(self.design.has_intercept()))
    }

    /// The mean squared error on the training rows.
    fn error(&self, subset: &[Feature], lambda: Option<f64>) -> Result<f64> {
        let predictions = self.predictions(subset, lambda)?;
        Ok(self.units.unscale_loss(self.design.loss(&Squared, predictions.view()), 2))
    }

    /// Predictions of the training rows by a fit on all of them.
    pub fn predictions(&self, subset: &[Feature], lambda: Option<f64>) -> Result<Array2<f64>> {
        let rows: Vec<usize> = (0..self.design.rows()).collect();
        self.design.retrain(&rows, &rows, subset, lambda)
    }

    /// d = Σ σᵢ²/(σᵢ² + λ), plus 1 for an intercept; 0 if the measure does not need it.
    ///
    /// Cost O((m + s) s²).
    fn freedom(&self, subset: &[Feature], lambda: Option<f64>) -> Result<f64> {
        let readout = self.design.readout().filter(|_| self.formula.measure != InformationMeasure::Training);
        let (Some(readout), Some(lambda)) = (readout, lambda) else { return Ok(0.0) };
        let rows = self.design.rows();
        let weights = training_weights(self.design, 0..rows);
        let column =
            |&feature: &Feature| prepare(&self.design.column(feature).values(), weights.as_deref(), readout.intercept);
        let columns: Vec<Vec<f64>> = subset.iter().map(column).collect();
        let matrix = Array2::from_shape_fn((rows, subset.len()), |(row, k)| columns[k][row]);
        let failed =
            |failure| Error::Numerical(format!("the degrees of freedom of {} columns: {failure}", subset.len()));
        Ok(self.intercept() + freedom::ridge(matrix.view(), lambda).map_err(failed)?)
    }
}

/// √r_j (x_j − mean), with the weighted mean if `centered`. Cost O(m).
pub(crate) fn prepare(values: &[f64], weights: Option<&[f64]>, centered: bool) -> Vec<f64> {
    let weight = row_weights(weights);
    let mut out = values.to_vec();
    if centered {
        let total: f64 = (0..values.len()).map(weight).sum();
        center((&mut out[..]).into(), weight, total);
    }
    if let Some(weights) = weights {
        out.iter_mut().zip(weights).for_each(|(v, w)| *v *= w.sqrt());
    }
    out
}
