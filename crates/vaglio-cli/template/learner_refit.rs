//! A learner for vaglio that is refitted for every subset.

use vaglio_core::ndarray::{Array2, Axis};
use vaglio_core::ridge::ridge;
use vaglio_core::{Error, Result, prelude::*};

/// Robust ridge regression: rows with large errors get less weight (P. J. Huber, *Robust statistics*, 1981, 7.8).
#[part(Learner, "template")]
pub struct Template {
    /// The penalty λ.
    #[default(1.0)]
    pub lambda: f64,
    /// Error, in units of the target, at which a row counts half.
    #[default(10.0)]
    pub scale: f64,
}

/// Number of reweighting iterations.
const ROUNDS: usize = 10;

impl Learner for Template {
    fn readout(&self) -> Result<Option<Readout>> {
        Ok(None)
    }

    fn check_settings(&self) -> Result<()> {
        let is_positive = |number: f64| number > 0.0 && number.is_finite();
        match (is_positive(self.lambda), is_positive(self.scale)) {
            (true, true) => Ok(()),
            (false, _) => Err(Error::setting("lambda", format!("{} is not positive", self.lambda))),
            (_, false) => Err(Error::setting("scale", format!("{} is not positive", self.scale))),
        }
    }

    fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
        // Columns × rows, and outputs × rows.
        let (x, targets) = (problem.columns().matrix(subset).reversed_axes(), problem.targets());
        let of_rows = problem.weights().map_or_else(|| vec![1.0; problem.rows()], |weights| weights.to_vec());
        let (mut weights, mut intercept) = (Array2::zeros((subset.len(), 0)), Vec::new());
        for y in targets.axis_chunks_iter(Axis(0), 1) {
            let mut fitted = ridge(x.view(), y, Some(&of_rows), self.lambda, true)?;
            for _ in 0..ROUNDS {
                // Long training checks whether the run is to stop.
                problem.sign().check()?;
                let errors = &y - &fitted.predict(x.view());
                let weight = |(error, weight): (&f64, &f64)| weight / (1.0 + (error / self.scale).powi(2));
                let rows: Vec<f64> = errors.iter().zip(&of_rows).map(weight).collect();
                fitted = ridge(x.view(), y, Some(&rows), self.lambda, true)?;
            }
            weights.append(Axis(1), fitted.weights.view()).map_err(|e| Error::Shape(e.to_string()))?;
            intercept.extend(fitted.intercept);
        }
        let coefficients = Coefficients { weights, intercept };
        Model::new(TemplateModel { inputs: subset.to_vec(), lambda: self.lambda, coefficients })
    }
}

/// Saved model. One that is no readout of its columns has `predict` in place of `readout`.
#[saved(ModelData, "template_model")]
struct TemplateModel {
    inputs: Vec<Feature>,
    lambda: f64,
    coefficients: Coefficients,
}

impl ModelData for TemplateModel {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    /// A readout of the unchanged columns, which the report, `coefficients()` and `vaglio export` support.
    fn readout(&self) -> Option<TrainedReadout<'_>> {
        Some(TrainedReadout { lambda: self.lambda, coefficients: &self.coefficients, map: None })
    }
}
