//! Designs divided by powers of two, so that no product over- or underflows.

use super::{FoldLineage, TrainingMethod};
use crate::power_of_two::{PowerOfTwoScaling, times_power};
use crate::{Columns, Design, Error, Feature, Problem, Result, max_abs};
use std::convert::Infallible;
use std::sync::Arc;

/// Largest exponent at which numbers stay unscaled: products of four such numbers are in range.
const NEAR: i32 = 100;
/// Largest exponent of λ relative to columns near 1 before it counts as far.
const NEAR_LAMBDA: i32 = 300;

/// The binary exponent of a positive double; one less than the smallest normal exponent for subnormal numbers. 0 for 0
/// and numbers that are not finite.
fn exponent_of(x: f64) -> i32 {
    // Read from the bits: a logarithm is rounded and may belong to the next power of two.
    if x > 0.0 && x.is_finite() { (x.to_bits() >> 52) as i32 - 1023 } else { 0 }
}

/// The exponent by which numbers up to `x` are divided before products; 0 if they are near 1.
pub fn far_exponent(x: f64) -> i32 {
    let exponent = exponent_of(x);
    if exponent.abs() > NEAR { exponent } else { 0 }
}

impl PowerOfTwoScaling {
    /// Refuses targets whose loss would be out of range, for a loss that grows with their power `degree`. Also refuses
    /// a λ of the design that is out of range after rescaling.
    ///
    /// # Errors
    /// Returns [`Error::Numerical`] for such targets or λ.
    pub fn check(self, design: &Design, degree: i32) -> Result<()> {
        if self == PowerOfTwoScaling::default() {
            return Ok(());
        }
        let lambdas = design.readout().map_or(&[][..], |readout| &readout.lambdas);
        if let Some(lambda) = lambdas.iter().find(|lambda| self.lambda(**lambda) < f64::MIN_POSITIVE) {
            let Problem { names, largest, .. } = design.problem();
            let compared = largest_column(design.problem()).map_or_else(String::new, |f| {
                let (name, most) = (&names[f], largest[f]);
                format!(": next to the squares of column `{name}`, with values up to {most:.1e}, it underflows")
            });
            return Err(Error::Numerical(format!(
                "lambda {lambda:e} is too small for these columns{compared}; rescale or standardize the columns, or take a larger lambda"
            )));
        }
        check_loss(degree * self.targets)
    }
}

/// Refuses losses near 2^exponent that are out of range.
fn check_loss(exponent: i32) -> Result<()> {
    let why = match exponent {
        1010.. => "overflow",
        ..-960 => "underflow",
        _ => return Ok(()),
    };
    Err(Error::Numerical(format!("the target's squares {why}; rescale it")))
}

/// The rescaled design with its exponents; the design itself, with exponents of 0, if its numbers are near 1. All
/// columns, all targets and all weights are divided by one power of two each, and λ with them. Every score then changes
/// by a power of two only.
///
/// Weights are always divided by an even power, whose root is exact. Cost O(rows + columns), and a copy of the columns
/// if these are far from 1.
pub fn rescale(design: &Design) -> (PowerOfTwoScaling, &Design) {
    let made = vaglio_columns::get_or_make(&design.own.scaled, || {
        let units = units_of(design);
        (units != PowerOfTwoScaling::default()).then(|| Box::new((units, scale(design, units))))
    });
    made.as_deref().map_or((PowerOfTwoScaling::default(), design), |(units, scaled)| (*units, scaled))
}

impl Problem {
    /// Refuses targets whose loss would over- or underflow, for a loss that grows with their power `degree`.
    ///
    /// # Errors
    /// Returns [`Error::Numerical`] for such targets.
    pub fn check_targets(&self, degree: i32) -> Result<()> {
        check_loss(degree * self.target_exponent())
    }

    fn target_exponent(&self) -> i32 {
        far_exponent(max_abs(self.targets.iter()))
    }
}

/// The column with the largest entry; constant columns do not count.
fn largest_column(problem: &Problem) -> Option<Feature> {
    let (all, features) = (&problem.largest, 0..problem.largest.len());
    features.filter(|&f| !problem.is_constant(f)).max_by(|&f, &g| all[f].total_cmp(&all[g]))
}

fn units_of(design: &Design) -> PowerOfTwoScaling {
    // Refitted maps make columns of their own, so the units of the columns here do not count.
    let may_rescale = design.rescaled.is_none() && !design.problem().in_folds.is_by_maps();
    let Some(readout) = design.readout().filter(|_| may_rescale) else { return PowerOfTwoScaling::default() };
    let largest_values = &design.problem().largest;
    let weights = design.weights().map_or(0, |weights| exponent_of(max_abs(weights)));
    let weights = if weights.abs() > NEAR { weights } else { weights.rem_euclid(2) };
    let targets = design.problem().target_exponent();
    let columns = match exponent_of(max_abs(largest_values.iter())) {
        near if near.abs() <= NEAR => 0,
        _ => far_exponent(largest_column(design.problem()).map_or(0.0, |feature| largest_values[feature])),
    };
    // Next to a penalty far above them columns have no effect, whatever their units.
    let lambda = max_abs(&readout.lambdas);
    let degree = if design.problem().in_folds.is_standardized() { 0 } else { 2 };
    // Balanced classes have equal weight whatever the unit of weights.
    let weight_exponent = if readout.balanced { 0 } else { weights };
    let lambda = exponent_of(lambda) - degree * columns - weight_exponent;
    let columns = if lambda > NEAR_LAMBDA { columns + lambda / 2 } else { columns };
    PowerOfTwoScaling { columns, targets, weights, penalty: degree * columns + weight_exponent }
}

fn scale(design: &Design, units: PowerOfTwoScaling) -> Design {
    let Ok((columns, targets, shared)) = design.shared.units.get_or_try_make(units, || {
        let columns = match units.columns {
            0 => Arc::clone(&design.problem().columns),
            _ => Arc::new(divide_columns(design, units)),
        };
        let targets = match units.targets {
            0 => Arc::clone(&design.problem().targets),
            exponent => Arc::new(design.targets().mapv(|y| times_power(y, -exponent))),
        };
        Ok::<_, Infallible>((columns, targets, Arc::default()))
    });
    let lineage = match &design.run.lineage {
        FoldLineage::Root(labels) => FoldLineage::Root(Arc::clone(labels)),
        FoldLineage::Subset { whole, rows } if units_of(whole) == units => {
            FoldLineage::Subset { whole: Arc::new(scale(whole, units)), rows: Arc::clone(rows) }
        }
        _ => FoldLineage::Alone,
    };
    design.derived_with(shared, |scaled| {
        (scaled.problem.columns, scaled.problem.targets, scaled.run.lineage) = (columns, targets, lineage);
        scaled.rescaled = Some(units.targets);
        let divided = |all: &Arc<[f64]>| all.iter().map(|w| times_power(*w, -units.weights)).collect();
        let weights = &mut scaled.problem.labels.weights;
        *weights = weights.as_ref().map(divided);
        if let TrainingMethod::Ridge(readout, _) = &mut scaled.training {
            readout.lambdas.iter_mut().for_each(|lambda| *lambda = units.lambda(*lambda));
        }
        scaled.run.shared_lambdas = scaled.run.shared_lambdas.iter().map(|&lambda| units.lambda(lambda)).collect();
    })
}

fn divide_columns(design: &Design, units: PowerOfTwoScaling) -> Columns {
    let mut divided = Columns::new(design.rows());
    for feature in 0..design.features() {
        let values = design.column(feature).values();
        divided.push(values.iter().map(|x| times_power(*x, -units.columns)).collect::<Vec<f64>>());
    }
    divided
}
