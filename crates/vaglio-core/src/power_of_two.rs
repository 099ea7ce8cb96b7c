//! Rescaling of numbers by powers of two.
//!
//! A double holds squares up to 1e308, and states of leave-one-out hold fourth powers. Columns, targets and weights far
//! from 1 are therefore divided by one power of two each, and λ with them. Weights are always divided by an even power.
//! So X·2^a with λ·4^a, y·2^b, or weights and λ times 2^c change no bit of a search on doubles. A λ that is no normal
//! double next to the columns is refused, like targets with squares out of range. A loss without a degree sees targets
//! in the data's units.

use crate::{Coefficients, Column, Score};

/// The exponents of the powers of two by which the numbers of a design are divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PowerOfTwoScaling {
    /// The exponent of columns.
    pub columns: i32,
    /// The exponent of targets.
    pub targets: i32,
    /// The exponent of row weights.
    pub weights: i32,
    /// The exponent of λ.
    pub penalty: i32,
}

impl PowerOfTwoScaling {
    /// Rescales a penalty.
    pub fn lambda(self, lambda: f64) -> f64 {
        times_power(lambda, -self.penalty)
    }

    /// Converts a score back into the design's units, for a loss that grows with the power `degree` of the targets.
    #[must_use]
    pub fn unscale_score(self, score: Score, degree: i32) -> Score {
        let lambda = score.lambda.map(|lambda| times_power(lambda, self.penalty));
        Score { loss: self.unscale_loss(score.loss, degree), lambda }
    }

    /// Converts coefficients back into the design's units.
    #[must_use]
    pub fn coefficients(self, coefficients: Coefficients) -> Coefficients {
        let weights = coefficients.weights.mapv(|weight| times_power(weight, self.targets - self.columns));
        let intercept = coefficients.intercept.iter().map(|b| times_power(*b, self.targets)).collect();
        Coefficients { weights, intercept }
    }

    /// Converts a loss back into the design's units.
    pub fn unscale_loss(self, loss: f64, degree: i32) -> f64 {
        times_power(loss, degree * self.targets)
    }
}

/// Computes x·2^exponent, rounded once on underflow.
pub fn times_power(mut x: f64, mut exponent: i32) -> f64 {
    // A step of 2^±900 leaves the range of doubles only if the final result does.
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

/// Upper bound of the magnitude of a column's entries; NaN or infinite if an entry is.
pub(crate) fn largest(column: Column<'_>) -> f64 {
    match column {
        Column::Double(values) => largest_of(values),
        Column::Single(values) => largest_of(values),
        Column::Byte(_) => f64::from(u8::MAX),
        Column::Sparse(values) => largest_of(&values.range()),
        Column::Product(values) => values.largest(),
    }
}

fn largest_of<E: Copy + Into<f64>>(values: &[E]) -> f64 {
    let (eights, rest) = values.as_chunks::<8>();
    let (mut most, mut lost) = ([0.0f64; 8], [0.0; 8]);
    for eight in eights {
        for lane in 0..8 {
            let (size, most) = (eight[lane].into().abs(), &mut most[lane]);
            *most = if size > *most { size } else { *most };
            lost[lane] += size * 0.0;
        }
    }
    let rest = || rest.iter().map(|&x| x.into());
    let most = most.into_iter().chain(rest().map(f64::abs)).fold(0.0, f64::max);
    // 0 unless some number is not finite.
    most + lost.into_iter().chain(rest().map(|x| x * 0.0)).sum::<f64>()
}
