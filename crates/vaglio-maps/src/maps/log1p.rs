//! Logarithms of columns.

use super::columns;
use vaglio_core::{Function, Map, Result, prelude::*};

/// Replaces numeric columns by ln(1 + x), for counts, prices and other values that span orders of magnitude.
///
/// Missing cells stay missing. Cost O(rows · columns).
///
/// # Errors
/// A value at or below −1, with row and column.
#[part(
    Map,
    "log1p",
    summary = "the logarithm of one plus each value",
    example = "preprocess: [{kind: log1p, columns: [price]}]"
)]
#[derive(PartialEq, Eq)]
pub struct Log1p {
    /// Columns to transform; by default all numeric columns.
    pub columns: Option<Vec<String>>,
}

impl Map for Log1p {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        let columns = columns::numbers(rows.table, self.columns.as_deref())?;
        Ok(formulas(columns.map(|(name, _)| name)))
    }

    fn check_settings(&self) -> Result<()> {
        columns::check(self.columns.as_deref())
    }
}

pub fn formulas<'c>(columns: impl Iterator<Item = &'c str>) -> MapFormulas {
    let formula = |name: &str| Expression::column(name).apply(Function::Ln1p).named(name);
    columns.map(formula).collect::<MapFormulas>().with_domain(
        "log1p takes numbers above -1, and this is {}; name the other columns in its `columns`, or take {kind: power}",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maps::tests::{self, fit_map, single_column};

    #[test]
    fn values_become_logarithms_and_missing_ones_stay() {
        let training = single_column(&[0.0, 1.0, f64::NAN, 1e-20, -0.5]);
        let fitted = fit_map(&Log1p::default(), &training, None).unwrap();
        let out = fitted.transform(training).unwrap();
        let values = tests::values(&out, "x");
        assert_eq!(values[..2], [0.0, 2f64.ln()]);
        assert!(values[2].is_nan());
        assert_eq!(values[3..], [1e-20, -std::f64::consts::LN_2]);
        assert_eq!(fitted.get("x").map(|formula| formula.unit), Some(vaglio_core::OutputUnit::Other));
    }

    #[test]
    fn what_has_no_logarithm_is_refused_with_its_row() {
        for (value, words) in [(-3.0, "this is -3"), (-1.0, "this is -1")] {
            let fitted = fit_map(&Log1p::default(), &single_column(&[1.0]), None).unwrap();
            let error = fitted.transform(single_column(&[1.0, value])).unwrap_err().to_string();
            assert!(error.contains("row 2, column `x`: log1p takes numbers above -1"), "{error}");
            assert!(error.contains(words), "{error}");
        }
    }
}
