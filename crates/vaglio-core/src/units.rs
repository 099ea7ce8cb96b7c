//! Designs in other units: numbers over powers of two, so that no product of them over- or underflows.

use crate::design::Training;
use crate::kept::{ByKey, Kept};
use crate::{Coefficients, Column, Columns, Design, Error, Readout, Result, Score};
use ndarray::Array2;
use std::sync::{Arc, OnceLock};

/// The powers of two by which the numbers of a design are divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Units {
    /// The exponent of columns.
    pub columns: i32,
    /// The exponent of targets.
    pub targets: i32,
    /// The exponent of row weights.
    pub weights: i32,
    /// The exponent of λ.
    pub penalty: i32,
}

/// Exponents up to which numbers stay as they are: their products of four are doubles.
const NEAR: i32 = 100;
/// The exponent up to which λ stays beside columns about 1.
const NEAR_LAMBDA: i32 = 300;

/// The design in other units, once it was asked for; a copy of a design makes its own.
#[derive(Debug, Default)]
pub(crate) struct InUnits(OnceLock<Option<Box<(Units, Design)>>>);

impl Clone for InUnits {
    fn clone(&self) -> Self {
        InUnits::default()
    }
}

/// Columns and targets in other units, with what is kept of them.
type Scaled = (Arc<Columns>, Arc<Array2<f64>>, Arc<Kept>);

/// Those that were made, for the designs of all λ.
type Made = ByKey<Units, Scaled>;

impl Units {
    /// A penalty in these units.
    pub fn lambda(self, lambda: f64) -> f64 {
        times_power(lambda, -self.penalty)
    }

    /// A score in the units of the design, of a loss that grows with the power `degree` of the targets.
    #[must_use]
    pub fn back(self, score: Score, degree: i32) -> Score {
        let lambda = score.lambda.map(|lambda| times_power(lambda, self.penalty));
        Score { loss: self.loss_back(score.loss, degree), lambda }
    }

    /// Coefficients of the design in its own units.
    #[must_use]
    pub fn coefficients(self, coefficients: Coefficients) -> Coefficients {
        let weights = coefficients.weights.mapv(|weight| times_power(weight, self.targets - self.columns));
        let intercept = coefficients.intercept.iter().map(|b| times_power(*b, self.targets)).collect();
        Coefficients { weights, intercept }
    }

    /// A loss in the units of the design.
    pub fn loss_back(self, loss: f64, degree: i32) -> f64 {
        times_power(loss, degree * self.targets)
    }

    /// Refuses targets of which a loss is no double, which grows with the power `degree` of them, and a λ of the design that
    /// is none in these units.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    pub fn check(self, design: &Design, degree: i32) -> Result<()> {
        let lambdas = design.readout().map_or(&[][..], |readout| &readout.lambdas);
        if let Some(lambda) = lambdas.iter().find(|lambda| self.lambda(**lambda) < f64::MIN_POSITIVE) {
            let all = design.largest.as_deref().unwrap_or_default();
            let largest = (0..all.len()).filter(|&f| !design.is_constant(f)).max_by(|&f, &g| all[f].total_cmp(&all[g]));
            let beside = largest.map_or_else(String::new, |f| {
                format!(
                    ": beside the squares of column `{}`, of values up to {:.1e}, it underflows",
                    design.names()[f],
                    all[f]
                )
            });
            return Err(Error::Numerical(format!(
                "lambda {lambda:e} is too small for these columns{beside}; rescale or standardize the columns, or take a larger lambda"
            )));
        }
        self.check_targets(degree)
    }

    fn check_targets(self, degree: i32) -> Result<()> {
        let exponent = degree * self.targets;
        let why = match exponent {
            1010.. => "overflow",
            ..-960 => "underflow",
            _ => return Ok(()),
        };
        Err(Error::Numerical(format!("the target's squares {why}; rescale it")))
    }
}

/// x·2^exponent, rounded once where it underflows.
pub fn times_power(x: f64, exponent: i32) -> f64 {
    let (mut x, mut exponent) = (x, exponent);
    // A step of 2^±900 never leaves the doubles before the last does.
    while exponent > 900 {
        x *= 2f64.powi(900);
        exponent -= 900;
    }
    while exponent < -900 && x.abs() >= 1.0 {
        x *= 2f64.powi(-900);
        exponent += 900;
    }
    if exponent < -1022 {
        x * 2f64.powi(-1000) * 2f64.powi((exponent + 1000).max(-1074))
    } else {
        x * 2f64.powi(exponent)
    }
}

/// The exponent of a positive double, of one below the normal ones theirs less one; 0 for 0 and what is not finite.
fn exponent_of(x: f64) -> i32 {
    // From its bits: a logarithm is rounded, and may be that of the next power of two.
    if x > 0.0 && x.is_finite() { (x.to_bits() >> 52) as i32 - 1023 } else { 0 }
}

/// The exponent, unless it is near 0.
fn far(exponent: i32) -> i32 {
    if exponent.abs() > NEAR { exponent } else { 0 }
}

impl Design {
    /// The design in units in which its numbers are near 1, with these units, where they are not so as they are: all
    /// columns, all targets and all weights are divided by one power of two each, and λ with them, so that every score is
    /// the same but for a power of two. `None` where nothing is to be divided.
    ///
    /// Weights are divided by an even power in any case, whose root is exact. Cost O(rows + columns), and a copy of the
    /// columns where these are far from 1.
    pub fn in_units(&self) -> Option<(Units, &Design)> {
        let made = self.in_units.0.get_or_init(|| {
            let units = self.units();
            (units != Units::default()).then(|| Box::new((units, self.scaled(units))))
        });
        made.as_deref().map(|(units, design)| (*units, design))
    }

    /// Refuses targets of which a loss is no double, which grows with the power `degree` of them.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    pub fn check_targets(&self, degree: i32) -> Result<()> {
        Units { targets: far(self.exponent_of_targets()), ..Units::default() }.check_targets(degree)
    }

    fn exponent_of_targets(&self) -> i32 {
        exponent_of(self.targets().iter().fold(0.0, |most: f64, y| most.max(y.abs())))
    }

    /// An upper bound of the binary logarithm of the largest sum of squares of a column, with row weights; −∞ where it was
    /// asked for in other units.
    pub fn log_squares(&self) -> f64 {
        let Some(of_columns) = &self.largest else { return f64::NEG_INFINITY };
        let largest =
            if self.in_folds.is_standardized() { 1.0 } else { of_columns.iter().copied().fold(0.0, f64::max) };
        // Those of balanced classes add up to the number of classes.
        let weights = self.weights().filter(|_| !self.readout().is_some_and(|readout| readout.balanced));
        let weight = weights.map_or(1.0, |weights| weights.iter().copied().fold(0.0, f64::max));
        2.0 * largest.log2() + weight.log2() + (self.rows() as f64).log2()
    }

    fn units(&self) -> Units {
        // Columns of maps that are refitted are as these make them.
        let readout = self.readout().filter(|_| !self.in_folds.is_by_maps());
        let (Some(readout), Some(of_columns)) = (readout, &self.largest) else { return Units::default() };
        let weights = self.weights().map_or(0, |weights| exponent_of(weights.iter().copied().fold(0.0, f64::max)));
        let weights = if weights.abs() > NEAR { weights } else { weights.rem_euclid(2) };
        let targets = far(self.exponent_of_targets());
        let all = of_columns.iter().copied().fold(0.0, f64::max);
        let columns = match exponent_of(all) {
            near if near.abs() <= NEAR => 0,
            // Columns that take no part do not count.
            _ => {
                let counts = |feature: &usize| !self.is_constant(*feature);
                let largest = (0..self.features()).filter(counts).map(|feature| of_columns[feature]);
                far(exponent_of(largest.fold(0.0, f64::max)))
            }
        };
        // Beside a penalty that is far above them columns tell nothing, in whatever units.
        let lambda = readout.lambdas.iter().copied().fold(0.0, f64::max);
        let degree = if self.in_folds.is_standardized() { 0 } else { 2 };
        // Balanced classes weigh alike in any unit of weights.
        let of_weights = if readout.balanced { 0 } else { weights };
        let lambda = exponent_of(lambda) - degree * columns - of_weights;
        let columns = if lambda > NEAR_LAMBDA { columns + lambda / 2 } else { columns };
        Units { columns, targets, weights, penalty: degree * columns + of_weights }
    }

    fn scaled(&self, units: Units) -> Design {
        let made = self.kept.get_or_default::<Made>();
        let (columns, targets, kept) = made.known(&units).unwrap_or_else(|| {
            let columns = if units.columns == 0 { Arc::clone(&self.columns) } else { Arc::new(self.divided(units)) };
            let targets = match units.targets {
                0 => Arc::clone(&self.targets),
                exponent => Arc::new(self.targets().mapv(|y| times_power(y, -exponent))),
            };
            made.keep(units, (columns, targets, Arc::default()))
        });
        let part = self.whole().map(|(whole, rows)| (whole.clone(), rows.to_vec()));
        let (parted, mut design) = (self.parted.clone(), self.clone().alone());
        (design.parted, design.columns, design.targets, design.kept) = (parted, columns, targets, kept);
        (design.largest, design.target_unit) = (None, units.targets);
        design.weights = self.weights().map(|all| all.iter().map(|w| times_power(*w, -units.weights)).collect());
        if let Training::Ridge(readout, _) = &mut design.training {
            let lambdas = readout.lambdas.iter().map(|&lambda| units.lambda(lambda)).collect();
            *readout = Readout { lambdas, ..readout.clone() };
        }
        match part {
            Some((whole, rows)) if whole.units() == units => design.part_of(&whole.scaled(units), &rows),
            _ => design,
        }
    }

    fn divided(&self, units: Units) -> Columns {
        let mut divided = Columns::new(self.rows());
        for feature in 0..self.features() {
            let values = self.column(feature).values();
            divided.push(values.iter().map(|x| times_power(*x, -units.columns)).collect::<Vec<f64>>());
        }
        divided
    }
}

/// The largest magnitude of a column, or what it is at most; NaN or infinite where an entry is.
pub(crate) fn largest(column: Column<'_>) -> f64 {
    match column {
        Column::Double(values) => {
            let (eights, rest) = values.as_chunks::<8>();
            let (mut most, mut lost) = ([0.0f64; 8], [0.0; 8]);
            for eight in eights {
                for lane in 0..8 {
                    let (size, most) = (eight[lane].abs(), &mut most[lane]);
                    *most = if size > *most { size } else { *most };
                    lost[lane] += size * 0.0;
                }
            }
            let most = most.into_iter().chain(rest.iter().map(|x| x.abs())).fold(0.0, f64::max);
            // 0 unless some number is not finite.
            most + lost.into_iter().chain(rest.iter().map(|x| x * 0.0)).sum::<f64>()
        }
        Column::Byte(_) => f64::from(u8::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_exact_as_far_as_doubles_go() {
        for (x, exponent) in [(1.5, 0), (3.0, 1000), (0.7, -1000), (-2.5, 1022), (1e-300, 1900), (1e300, -1900)] {
            let (direct, there) = (times_power(x, exponent), times_power(times_power(x, exponent), -exponent));
            assert!(direct.is_finite() && direct != 0.0, "{x} {exponent}: {direct}");
            assert_eq!(there, x, "{exponent}");
        }
        assert_eq!(times_power(1.0, 2000), f64::INFINITY);
        assert_eq!(times_power(1.0, -2000), 0.0);
        assert_eq!(times_power(f64::INFINITY, -1000), f64::INFINITY);
    }
}
