//! Standardization of columns and targets.
//!
//! Sparse columns stay sparse: entries and the background value are mapped.

use super::scope::Scope;
use super::weights::{center, counting, extremes, mean_of, unit};
use rayon::prelude::*;
use vaglio_core::{ColumnFormula, Error, Map, RefitScope, Result, TargetScale, prelude::*};

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
        let in_folds = match (self.center, self.scope) {
            (true, scope) => scope.in_folds(RefitScope::Standardize),
            // The closed form includes centering.
            (false, Scope::Fold) => RefitScope::Maps,
            (false, _) => RefitScope::No,
        };
        MapTraits { in_folds, standardizes_targets: self.target, ..MapTraits::default() }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maps::tests::{fit_map, single_column};
    use vaglio_core::{Numbers, Table};

    fn standardized(values: &[f64], weights: Option<&[f64]>) -> Result<Vec<f64>> {
        let table = single_column(values);
        let out = fit_map(&Standardize::default(), &table, weights)?.transform(table)?;
        Ok(out.get("x").unwrap().numbers().unwrap().values().into_owned())
    }

    fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
    }

    #[test]
    fn means_are_zero_and_population_deviations_one() {
        assert_eq!(standardized(&[1.0, 3.0], None).unwrap(), [-1.0, 1.0]);
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(standardized(&values, None).unwrap(), values.map(|x| (x - 5.0) / 2.0));
        assert_eq!(standardized(&[7.1, 7.1, 7.1], None).unwrap(), [0.0; 3]);
    }

    #[test]
    fn a_weight_of_two_is_the_row_twice_and_of_zero_its_absence() {
        let twice = moments(&[1.0, 2.5, 2.5, -4.0], None, "x").unwrap();
        let weighted = moments(&[1.0, 2.5, 9.0, -4.0], Some(&[1.0, 2.0, 0.0, 1.0]), "x").unwrap();
        assert!((twice.shift - weighted.shift).abs() < 1e-15 && (twice.scale - weighted.scale).abs() < 1e-15);
        assert_eq!(moments(&[3.0, 8.0], Some(&[1.0, 0.0]), "x").unwrap(), TargetScale { shift: 3.0, scale: 1.0 });
        assert!(moments(&[3.0], Some(&[0.0]), "x").is_err());
    }

    #[test]
    fn tiny_and_huge_values_come_out_right_or_as_errors() {
        let values = [0.3, -1.7, 2.2, 0.9, -0.4];
        let plain = standardized(&values, None).unwrap();
        for factor in [1e-310, 1e-300, 1e-160, 1e200, 1e307] {
            let scaled = standardized(&values.map(|x| x * factor), Some(&[1e-300; 5])).unwrap();
            assert!(close(&scaled, &plain, if factor < 1e-307 { 1e-12 } else { 1e-15 }), "{factor}: {scaled:?}");
            let scaled = standardized(&values.map(|x| x * factor), Some(&[1e300; 5])).unwrap();
            assert!(close(&scaled, &plain, 1e-12), "{factor}: {scaled:?}");
        }
        assert!(matches!(standardized(&[0.0, 1e-320], None), Err(Error::Numerical(_))));
        let far = [f64::MAX, -f64::MAX, -f64::MAX, -f64::MAX];
        assert!(matches!(standardized(&far, None), Err(Error::Numerical(_))));
    }

    #[test]
    fn a_far_mean_keeps_the_digits_of_small_deviations() {
        let values: Vec<f64> = (0..1000).map(|i| 1e9 + f64::from(i % 7) / 1024.0).collect();
        let small: Vec<f64> = (0..1000).map(|i| f64::from(i % 7) / 1024.0).collect();
        let (a, b) = (moments(&values, None, "x").unwrap(), moments(&small, None, "x").unwrap());
        assert!((a.scale / b.scale - 1.0).abs() < 1e-6);
        assert!((a.shift - 1e9 - b.shift).abs() < 2e-7);
    }

    #[test]
    fn text_and_unknown_columns_are_left_and_targets_on_demand() {
        let text = || ("t".to_owned(), Cells::Text(vec!["a".into(), "b".into()]));
        let numbers = |name: &str| (name.to_owned(), Cells::Numbers(Numbers::from(vec![1.0, 3.0])));
        let map: Box<dyn Map> =
            serde_json::from_str(r#"{"kind": "standardize", "scope": "train", "target": true}"#).unwrap();
        let fitted = fit_map(&*map, &Table::new(vec![text(), numbers("x")]).unwrap(), None).unwrap();
        let out = fitted.transform(Table::new(vec![numbers("z"), text(), numbers("x")]).unwrap()).unwrap();
        assert_eq!(out.names().collect::<Vec<_>>(), ["z", "t", "x"]);
        assert_eq!(out.get("z").unwrap().label(1), "3");
        assert_eq!(out.get("x").unwrap().label(1), "1");
        assert_eq!(fitted.sources("x"), ["x"]);
        let as_text = Table::new(vec![("x".to_owned(), Cells::Text(vec!["a".into()]))]).unwrap();
        assert!(matches!(fitted.transform(as_text), Err(Error::Shape(_))));
        assert!(map.traits().standardizes_targets && !Standardize::default().traits().standardizes_targets);
        assert_eq!(moments(&[1.0, 3.0], None, "y").unwrap(), TargetScale { shift: 2.0, scale: 1.0 });
        assert!(serde_json::from_str::<Standardize>(r#"{"scop": "train"}"#).is_err());
    }

    #[test]
    fn sparse_columns_stay_so_and_have_the_bits_of_dense_ones() {
        let dense: Vec<f64> = (0..60).map(|row| if row % 9 == 2 { 1.0 + (row % 4) as f64 } else { 0.0 }).collect();
        let rows: Vec<u32> = (0..60u32).filter(|row| row % 9 == 2).collect();
        let sparse =
            vaglio_core::SparseNumbers::new(60, rows.clone(), rows.iter().map(|&r| dense[r as usize]).collect());
        for center in [true, false] {
            let map = Standardize { center, ..Standardize::default() };
            let of = |numbers: Numbers| {
                let table = Table::new(vec![("x".into(), Cells::Numbers(numbers))]).unwrap();
                fit_map(&map, &table, None).unwrap().transform(table).unwrap()
            };
            let (plain, kept) = (of(Numbers::from(dense.clone())), of(Numbers::Sparse(sparse.clone())));
            assert!(matches!(kept.get("x"), Some(Cells::Numbers(Numbers::Sparse(_)))));
            let values = |table: &Table| table.get("x").unwrap().numbers().unwrap().values().into_owned();
            assert_eq!(values(&plain), values(&kept));
            let zeros = values(&kept).into_iter().zip(&dense).filter(|(_, x)| **x == 0.0);
            assert!(zeros.map(|(z, _)| z).all(|z| (z == 0.0) != center));
        }
        let in_folds = |scope| Standardize { center: false, scope, ..Standardize::default() }.traits().in_folds;
        assert_eq!((in_folds(Scope::Fold), in_folds(Scope::Auto)), (RefitScope::Maps, RefitScope::No));
    }
}
