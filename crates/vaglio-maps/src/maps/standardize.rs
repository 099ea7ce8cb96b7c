//! Standardization of columns and targets.
//!
//! Sparse columns stay sparse: entries and the background value are mapped.

use super::scope::Scope;
use super::weights::{center, counting, extremes, mean_of, unit};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use vaglio_core::{ColumnFormula, Error, Map, RefitScope, Result, prelude::*};

/// Subtracts the weighted mean of numeric columns and divides by the population standard deviation. Constant columns
/// become zeros; text is left unchanged.
#[part(
    Map,
    "standardize",
    summary = "columns minus their mean, over their population standard deviation",
    example = "preprocess: [{kind: standardize, scope: auto, target: false, center: true}]"
)]
#[derive(PartialEq, Eq)]
pub struct Standardize {
    /// Rows on which means and standard deviations are computed during cross-validation.
    pub scope: Scope,
    /// Whether numeric targets are standardized as well.
    pub target: bool,
    /// Whether the mean is subtracted from columns. Without centering, zeros stay zeros, `scope: fold` refits in each
    /// fold, and `auto` equals `train`.
    #[default(true)]
    pub center: bool,
}

impl Map for Standardize {
    fn traits(&self) -> MapTraits {
        // The closed form includes centering.
        let traits = self.scope.traits(self.center.then_some(RefitScope::Standardize));
        MapTraits { standardizes_targets: self.target, ..traits }
    }

    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        let TrainingRows { table, weights, .. } = *rows;
        let column_formula = |(name, cells): &(String, Cells)| {
            let scale = moments(&cells.numbers()?.values(), weights, &format!("column `{name}`"));
            let shift = |scale: TargetScale| if self.center { scale } else { TargetScale { shift: 0.0, ..scale } };
            Some(scale.map(|scale| formula(name, shift(scale))))
        };
        // Column order is kept, so that the first failing column is reported.
        let formulas: Vec<Result<ColumnFormula>> = table.columns().par_iter().filter_map(column_formula).collect();
        formulas.into_iter().collect()
    }
}

/// Scaling of a column or target to (y − `shift`) / `scale`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TargetScale {
    /// The number subtracted.
    pub shift: f64,
    /// The divisor.
    pub scale: f64,
}

pub fn formula(name: &str, by: TargetScale) -> ColumnFormula {
    Expression::column(name).plus(-by.shift).over(by.scale).named(name)
}

/// Weighted mean and population standard deviation of `values`. If they are constant up to rounding
/// ([`Column::rounding`]), the deviation is 1.
///
/// Values, and then deviations, are divided by a power of two near the largest. The division is exact and prevents
/// over- and underflow. Rows of weight 0 are ignored. Cost O(rows).
///
/// # Errors
/// * [`Error::Shape`] without rows of positive weight.
/// * [`Error::Numerical`] if the deviation is too small for doubles to hold with enough digits.
pub fn moments(values: &[f64], weights: Option<&[f64]>, what: &str) -> Result<TargetScale> {
    let rows = counting(values, weights);
    let Some(extremes) = extremes(&rows) else {
        return Err(Error::Shape(format!("{what} has no rows of positive weight")));
    };
    if extremes[1] - extremes[0] <= Column::Double(&extremes).rounding() {
        return Ok(TargetScale { shift: rows[0].1, scale: 1.0 });
    }
    let (value_unit, center) = center(&rows, extremes);
    // Rounding preserves order, so the extreme values have the largest deviation.
    let deviation_unit = unit(extremes.map(|x| x / value_unit - center).into_iter());
    let variance = mean_of(&rows, |x| ((x / value_unit - center) / deviation_unit).powi(2));
    let scale = variance.sqrt() * deviation_unit * value_unit;
    if scale < SMALLEST {
        return Err(Error::Numerical(format!(
            "the standard deviation of {what}, {scale:e}, is too small for doubles; multiply it by a constant"
        )));
    }
    Ok(TargetScale { shift: center * value_unit, scale })
}

/// Smallest standard deviation; smaller doubles have fewer than 32 significant bits.
const SMALLEST: f64 = f64::MIN_POSITIVE / (1u64 << 21) as f64;
