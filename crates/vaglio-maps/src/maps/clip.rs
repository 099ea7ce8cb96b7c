//! Clipping of values to bounds.

use super::{Scope, columns, weights};
use rayon::prelude::*;
use vaglio_core::{ColumnFormula, Error, Map, Result, prelude::*};

/// Clips values of numeric columns to a lower and an upper bound.
///
/// Bounds are given, or are quantiles of the training rows; by default the 1 % and 99 % quantiles. The quantile of a
/// share is the smallest value with at least this share of the weight at or below it, or the midpoint to the next value
/// if the share is reached exactly. Missing cells stay missing. Cost O(rows · columns), times log rows for quantiles.
///
/// # Errors
/// Bounds in the wrong order; a column without values for quantiles.
#[part(
    Map,
    "clip",
    summary = "values beyond a bound or a quantile, replaced by it",
    example = "preprocess: [{kind: clip, quantiles: [0.01, 0.99]}]"
)]
#[derive(PartialEq)]
pub struct Clip {
    /// Lower bound.
    pub lower: Option<f64>,
    /// Upper bound.
    pub upper: Option<f64>,
    /// Quantiles of the training rows to use instead of `lower` and `upper`; 0.01 and 0.99 if none of the three is
    /// given.
    pub quantiles: Option<[f64; 2]>,
    /// Columns to transform; by default all numeric columns.
    pub columns: Option<Vec<String>>,
    /// Rows on which the bounds are learned during cross-validation.
    #[default(Scope::Train)]
    pub scope: Scope,
}

/// Default quantiles.
const SHARES: [f64; 2] = [0.01, 0.99];

/// Bounds of one column.
#[setting]
#[derive(Copy)]
pub struct ClipBounds {
    lower: Option<f64>,
    upper: Option<f64>,
}

impl Map for Clip {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        let TrainingRows { table, weights, .. } = *rows;
        let given = ClipBounds { lower: self.lower, upper: self.upper };
        let shares = self.quantiles.or((self.lower.is_none() && self.upper.is_none()).then_some(SHARES));
        // A column without values has no quantiles, and so no bounds.
        let bounds = |values: &[f64]| {
            let Some([lower, upper]) = shares else { return given };
            let rows = weights::in_order(values, weights);
            ClipBounds { lower: weights::quantile(&rows, lower), upper: weights::quantile(&rows, upper) }
        };
        let columns = columns::numbers(table, self.columns.as_deref())?;
        let columns = columns.collect::<Vec<_>>().into_par_iter();
        let formulas: Vec<ColumnFormula> = columns.map(|(name, values)| bounds(&values).formula(name)).collect();
        Ok(formulas.into_iter().collect())
    }

    fn traits(&self) -> MapTraits {
        self.scope.traits(None)
    }

    fn check_settings(&self) -> Result<()> {
        for (field, bound) in [("lower", self.lower), ("upper", self.upper)] {
            if let Some(bound) = bound.filter(|bound| !bound.is_finite()) {
                return Err(Error::setting(field, format!("{bound} is not a finite number")));
            }
            if bound.is_some() && self.quantiles.is_some() {
                return Err(Error::setting(field, "bounds are given or are `quantiles`, not both"));
            }
        }
        if let (Some(lower), Some(upper)) = (self.lower, self.upper)
            && lower > upper
        {
            return Err(Error::setting("lower", format!("{lower} is above `upper`, {upper}")));
        }
        if let Some([lower, upper]) = self.quantiles {
            Error::unless_between("quantiles[0]", lower, 0.0..=1.0)?;
            Error::unless_between("quantiles[1]", upper, 0.0..=1.0)?;
            if lower > upper {
                return Err(Error::setting("quantiles", format!("{lower} is above {upper}")));
            }
        }
        columns::check(self.columns.as_deref())
    }
}

impl ClipBounds {
    pub fn formula(self, name: &str) -> ColumnFormula {
        let value = Expression::column(name);
        let lowered = self.upper.map_or(value.clone(), |upper| value.clone().if_above(upper, upper, value.clone()));
        let bounded = self.lower.map_or(lowered.clone(), |lower| value.if_below(lower, lower, lowered));
        bounded.named(name)
    }
}
