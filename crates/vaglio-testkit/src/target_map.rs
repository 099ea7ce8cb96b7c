//! Laws of a target map: it increases, has a consistent inverse, weights repeat rows, and it survives saving.

use crate::law_violation::{Tolerance, almost_equal, attempt, equals, law, must, reload};
use crate::{LawResult, LawViolation, SplitMix64, design_copies};
use vaglio_core::{FittedTargetMap, TargetMap, gather};

/// Number of target rows in the tests.
const ROWS: usize = 60;

/// Checks all laws of a target map on positive targets with ties, over orders of magnitude.
///
/// # Errors
/// Fails with every violated law.
pub fn check_target_map_on_standard_data(map: &dyn TargetMap, tolerance: f64) -> LawResult {
    law("check", || attempt("the settings", || map.check_settings()))?;
    let mut random = SplitMix64::new(3);
    let target: Vec<f64> =
        (0..ROWS).map(|row| (0.5 + random.normal().exp()) * if row % 4 == 0 { 1.0 } else { 20.0 }).collect();
    let target: Vec<f64> = target.into_iter().map(|y| (8.0 * y).round() / 8.0 + 0.125).collect();
    LawViolation::among([
        inverse(map, &target, tolerance),
        increasing(map, &target),
        whole_weights(map, &target, tolerance),
        saved(map, &target),
    ])
}

/// Training targets map to finite numbers, and the inverse recovers them.
fn inverse(map: &dyn TargetMap, target: &[f64], tolerance: f64) -> LawResult {
    law("inverse", || {
        let fitted = fit(map, target, None)?;
        let near = Tolerance::relative(tolerance);
        target
            .iter()
            .try_for_each(|&y| almost_equal(near, format_args!("the target {y}"), y, fitted.inverse(fitted.map(y))))
    })
}

/// Larger targets map to larger numbers, and the inverse never decreases, also outside the training range.
fn increasing(map: &dyn TargetMap, target: &[f64]) -> LawResult {
    law("increasing", || {
        let fitted = fit(map, target, None)?;
        let mut sorted = target.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        for pair in sorted.windows(2) {
            let (a, b) = (fitted.map(pair[0]), fitted.map(pair[1]));
            must(a < b, format_args!("the targets {} and {}", pair[0], pair[1]), "a larger number", (a, b))?;
        }
        let ends = [sorted.first(), sorted.last()].map(|end| end.map_or(0.0, |&y| fitted.map(y)));
        let width = (ends[1] - ends[0]).abs().max(1e-9);
        let inverses: Vec<f64> =
            (0..=60).map(|k| fitted.inverse(ends[0] - width + f64::from(k) / 20.0 * width)).collect();
        let rises = inverses.is_sorted();
        must(rises, "the inverse from a width below to a width above", "numbers that never fall", &inverses)
    })
}

/// A row of weight 2 equals that row given twice.
fn whole_weights(map: &dyn TargetMap, target: &[f64], tolerance: f64) -> LawResult {
    law("whole_weights", || {
        let (weights, rows) = design_copies::weights_and_rows(target.len());
        let repeated = gather(target, &rows);
        let (by_weight, by_rows) = (fit(map, target, Some(&weights))?, fit(map, &repeated, None)?);
        let near = Tolerance { tolerance, least: 1e-6 };
        let on = |y: f64| format!("the target {y} under weights from 1 to 3");
        target.iter().try_for_each(|&y| almost_equal(near, on(y), by_rows.map(y), by_weight.map(y)))
    })
}

/// A map saved as JSON and loaded again gives equal bits.
fn saved(map: &dyn TargetMap, target: &[f64]) -> LawResult {
    law("saved", || {
        let fitted = fit(map, target, None)?;
        let on = "the fitted map";
        let loaded = reload(on, &fitted)?;
        for &y in target {
            let bits = |map: &dyn FittedTargetMap| [map.map(y), map.inverse(0.9 * map.map(y))].map(f64::to_bits);
            equals(format_args!("the target {y}"), &bits(&*fitted), &bits(&*loaded))?;
        }
        Ok(())
    })
}

fn fit(map: &dyn TargetMap, target: &[f64], weights: Option<&[f64]>) -> LawResult<Box<dyn FittedTargetMap>> {
    attempt(format_args!("a target of {} rows", target.len()), || map.fit(target, weights))
}
