//! Coefficients on the original scale of the data.

use super::fitted_pipeline::FittedPipeline;
use crate::maps::{original_weights, source_columns};
use ndarray::Array2;
use serde::Serialize;
use std::fmt;
use vaglio_core::{Cells, Error, MapFormulas, OutputUnit, Result, Table, short};

/// A fitted pipeline as a formula of the data. Σ coefficient · column + intercept is the prediction, or the decision
/// value for classes. `Display` prints one formula for each output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OriginalScale {
    /// Names of the data columns, in the order of [`FittedPipeline::selected`], without a bias added by a map.
    pub columns: Vec<String>,
    /// Coefficients, columns × outputs.
    pub coefficients: Array2<f64>,
    /// Intercept of each output.
    pub intercept: Vec<f64>,
}

impl fmt::Display for OriginalScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (output, intercept) in self.intercept.iter().enumerate() {
            let separator = if output == 0 { "" } else { "\n" };
            write!(f, "{separator}{}", short(*intercept))?;
            for (name, weights) in self.columns.iter().zip(self.coefficients.rows()) {
                let sign = if weights[output] < 0.0 { '-' } else { '+' };
                write!(f, " {sign} {}·{name}", short(weights[output].abs()))?;
            }
        }
        Ok(())
    }
}

impl<E, I> FittedPipeline<E, I> {
    /// Coefficients on the scale of the data, if the maps only shift and divide the selected columns. The formula does
    /// not cover rows with missing cells that a map fills.
    ///
    /// # Errors
    /// [`Error::Setting`] naming the map that does more (`log1p`, `one_hot`, `window`, …), or the learner if it has no
    /// coefficients or makes features of its own.
    pub fn original_scale(&self) -> Result<OriginalScale> {
        let saved = &self.saved;
        let refused = |field: String, what: String| {
            Err(Error::setting(field, format!("{what}, so there are no coefficients on the scale of the data")))
        };
        if let Some(map) = saved.target_scales.iter().flatten().find_map(|units| units.map.as_ref()) {
            return refused("target_map".into(), format!("`{}` maps the target", map.kind()));
        }
        let Some(coefficients) = saved.model.coefficients().filter(|_| saved.model.takes_rows_alone()) else {
            let message = "it has no coefficients, or makes columns of its own".into();
            return refused("learner".into(), message);
        };
        let (mut columns, mut rows) = (Vec::new(), Vec::new());
        let units = saved.target_scales.as_deref();
        for (name, weights) in saved.inputs.iter().zip(coefficients.weights.rows()) {
            // A bias is in the intercept.
            if source_columns(&saved.maps, std::slice::from_ref(name)).is_empty() {
                continue;
            }
            // A different name means a derived column, such as a lag or a level of text.
            let does_more = |map: &MapFormulas| {
                map.get(name).is_some_and(|formula| {
                    formula.sources != [&**name] || !matches!(formula.unit, OutputUnit::Divided(_))
                })
            };
            if let Some(place) = saved.maps.iter().rposition(does_more) {
                let message = format!("`{}` does more for `{name}` than shift and divide", saved.maps[place].kind);
                return refused(format!("preprocess[{place}]"), message);
            }
            rows.extend(original_weights(&saved.maps, name, &weights.to_vec(), units));
            columns.push(name.clone());
        }
        let shape = (rows.len(), coefficients.weights.ncols());
        let coefficients = Array2::from_shape_fn(shape, |(k, output)| rows[k][output]);
        // The intercept is the prediction at zero columns.
        let unused = saved.sources.is_empty().then(String::new);
        let zero = |name: String| (name, Cells::Numbers(vec![0.0].into()));
        let zeros = saved.sources.iter().cloned().chain(unused).map(zero).collect();
        let intercept = saved.chain().predict(Table::new(zeros)?)?.values.column(0).to_vec();
        Ok(OriginalScale { coefficients, columns, intercept })
    }
}
