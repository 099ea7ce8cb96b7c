//! Effect of rounding columns to single precision.

use super::evaluations::Run;
use super::evaluations::verification::relative_error;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use vaglio_core::shuffle::stream;
use vaglio_core::{Columns, Diagnostics, Feature, Problem, Result, Score, SearchExtent, SingleNumbers};
use vaglio_pipeline::selector::ValidSelector;
use vaglio_search::{All, SubsetScorer};

/// Number of scores computed with perturbed entries.
const TIMES: u64 = 3;
const PURPOSE: u64 = 14;

/// Adds the rounding error of the result's columns and its effect on the score; nothing in double precision.
///
/// The original entries are gone. The score is therefore recomputed with entries perturbed at random within their
/// rounding intervals (J. Vignes, *A stochastic arithmetic for reliable scientific computation*, 1993). Cost: four
/// times that of scoring the selected columns, in their order.
pub fn with_rounding(run: Run<'_>, numerics: Option<Diagnostics>) -> Result<Option<Diagnostics>> {
    let Run { pipeline, prepared, selector, design, selection, .. } = run;
    if !pipeline.engine.is_single() {
        return Ok(numerics);
    }
    let train = &prepared.train;
    let subset = selection.path.subset();
    let is_own = design.problem().has_columns_of(train);
    let columns: Vec<Feature> = if is_own { subset.to_vec() } else { (0..train.names().len()).collect() };
    let rounding = columns.iter().map(|&feature| relative_rounding(train.columns(), feature)).fold(0.0, f64::max);
    let numerics = numerics.unwrap_or_default();
    // Columns recomputed by a learner or maps would not follow the perturbation.
    if !is_own || train.in_folds().is_by_maps() {
        return Ok(Some(numerics.with_rounding(rounding, None)));
    }
    let chosen = train.select_columns(subset)?;
    let lambda = selection.chosen.path_lambda();
    let score = |problem: &Problem| score_of_all(selector, problem, lambda);
    let loss = score(&chosen)?.loss;
    let empty = selection.path.empty.loss;
    let mut change: f64 = 0.0;
    for number in 0..TIMES {
        let moved = perturb_rounded(chosen.columns(), stream(selector.seed, PURPOSE, number));
        change = change.max(relative_error(score(&chosen.with_values(moved)?)?.loss, loss, empty));
    }
    Ok(Some(numerics.with_rounding(rounding, change.is_finite().then_some(change))))
}

/// Largest rounding of a column's entries, relative to its standard deviation; 0 if not rounded or constant.
fn relative_rounding(columns: &Columns, feature: Feature) -> f64 {
    let Some(single) = columns.single(feature).filter(|single| single.rounding() > 0.0) else { return 0.0 };
    let values = columns.column(feature).values();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let deviation = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
    if deviation > 0.0 { single.rounding() / deviation } else { 0.0 }
}

/// Score of all columns of a problem, added in order.
fn score_of_all(selector: &ValidSelector, problem: &Problem, lambda: Option<f64>) -> Result<Score> {
    // The search's settings refer to all columns.
    let selector = selector.with_search(All {}.into());
    let design = selector.design(problem)?.at_lambda(lambda).with_run(|run| run.skips_errors = true);
    let count = design.features();
    let mut subset = SubsetScorer::open(&*selector.criterion, &design, &SearchExtent::forward(count, count))?;
    (0..count).try_for_each(|feature| subset.add(feature))?;
    subset.score()
}

/// Perturbs every rounded entry at random within the interval of doubles that round to it.
fn perturb_rounded(columns: &Columns, seed: u64) -> Columns {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut out = Columns::new(columns.rows());
    for feature in 0..columns.len() {
        match columns.single(feature).map(SingleNumbers::rounding) {
            Some(rounding) => {
                let within = |x: &f64| {
                    let half = half_a_step(*x as f32).min(rounding);
                    // From −1 to 1, in steps of 2^-31.
                    let share = f64::from(random.next_u32() as i32) / f64::from(1u32 << 31);
                    x + half * share
                };
                let values: Vec<f64> = columns.column(feature).values().iter().map(within).collect();
                out.push(vaglio_core::Numbers::Double(values));
            }
            None => out.push(columns.column(feature)),
        }
    }
    out
}

/// Half the distance from a single-precision number to the next towards 0.
fn half_a_step(x: f32) -> f64 {
    if x == 0.0 { 0.0 } else { 0.5 * (f64::from(x) - f64::from(f32::from_bits(x.to_bits() - 1))).abs() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vaglio_core::Numbers;

    #[test]
    fn entries_are_moved_to_numbers_that_are_rounded_to_them() {
        let values: Vec<f64> = (1..500).map(|k| (f64::from(k) * 0.37).sin() * 10f64.powi(k % 9 - 4)).collect();
        let mut columns = Columns::new(values.len());
        columns.push(Numbers::Double(values.clone()).in_single());
        columns.push(values.iter().map(|x| f64::from(*x as f32)).collect::<Vec<f64>>());
        columns.push(Numbers::Double(columns.column(1).values().into_owned()).in_single());
        let moved = perturb_rounded(&columns, 7);
        let (before, after) = (columns.column(0).values(), moved.column(0).values());
        assert!(before.iter().zip(after.iter()).all(|(x, y)| *y as f32 == *x as f32));
        assert!(before.iter().zip(after.iter()).filter(|(x, y)| x != y).count() > 450);
        // Exact entries stay.
        assert_eq!((moved.column(1), moved.column(2)), (columns.column(1), columns.column(1)));
        let largest = values.iter().map(|x| (x - f64::from(*x as f32)).abs()).fold(0.0, f64::max);
        assert_eq!(columns.single(0).unwrap().rounding(), largest);
        assert!(relative_rounding(&columns, 0) > 0.0 && relative_rounding(&columns, 2) == 0.0);
    }
}
