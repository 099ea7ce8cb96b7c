//! Losses of held-out residuals.

mod auc;
mod custom_loss;
mod parts;
mod units;

use crate::f64x8::{F64x8, fold_eights};
use crate::sums::times;
use crate::tolerance::{SMALL_RESIDUAL, TIED_PREDICTION};
use crate::{Measure, Trial, vectorize};
pub use custom_loss::CustomLoss;
use std::sync::Arc;
use units::Units;
use vaglio_columns::{error_of_guess, gather, sum_of_squares, tied_classes};

/// Targets with rows scaled by √r_j.
#[derive(Debug)]
pub struct Targets {
    /// √r_j, absent when all weights are 1.
    pub(crate) root: Option<Vec<f64>>,
    /// √r_j·y_j of each output.
    pub(crate) scaled: Vec<Vec<f64>>,
    /// Σ_j r_j.
    pub total_weight: f64,
}

impl Targets {
    /// Scales targets, one vector per output; weights are 1 if absent.
    pub(crate) fn new(targets: &[impl AsRef<[f64]>], weights: Option<&[f64]>) -> Self {
        let root: Option<Vec<f64>> = weights.map(|w| w.iter().map(|w| w.sqrt()).collect());
        let scale = |y: &[f64]| root.as_ref().map_or_else(|| y.to_vec(), |root| times(root, y));
        let scaled: Vec<Vec<f64>> = targets.iter().map(|y| scale(y.as_ref())).collect();
        let rows = scaled.first().map_or(0, Vec::len);
        Targets { total_weight: weights.map_or(rows as f64, |w| w.iter().sum()), scaled, root }
    }

    /// Number of rows, m.
    pub fn rows(&self) -> usize {
        self.scaled.first().map_or(0, Vec::len)
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.scaled.len()
    }

    /// √r_j.
    pub(crate) fn root(&self, row: usize) -> f64 {
        self.root.as_ref().map_or(1.0, |r| r[row])
    }

    /// r_j.
    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.root(row) * self.root(row)
    }

    /// r_j of every row.
    pub(crate) fn weights(&self) -> Vec<f64> {
        (0..self.rows()).map(|row| self.weight(row)).collect()
    }

    /// Gives weight 0 to the rows that `is_in` rejects. A scorer of such rows is a scorer of a part; see
    /// [`Scorer::restrict`].
    #[must_use]
    pub fn restrict(&self, is_in: impl Fn(usize) -> bool) -> Self {
        let root: Vec<f64> = (0..self.rows()).map(|row| if is_in(row) { self.root(row) } else { 0.0 }).collect();
        let total_weight = sum_of_squares(&root);
        Targets { root: Some(root), scaled: self.scaled.clone(), total_weight }
    }

    /// Permutes the rows: row j is the former row `order[j]`.
    #[must_use]
    pub fn permute(&self, order: &[usize]) -> Self {
        let permuted = |values: &Vec<f64>| gather(values, order);
        Targets {
            root: self.root.as_ref().map(permuted),
            scaled: self.scaled.iter().map(permuted).collect(),
            total_weight: self.total_weight,
        }
    }
}

/// Accumulates a measure tile by tile, in an order that depends on the rows alone.
///
/// It may cover a part of the rows (see [`Scorer::restrict`]) and average rows before the loss (see
/// [`Scorer::by_units`]).
#[derive(Debug, Clone)]
pub struct Scorer {
    /// The targets that the scorer was created with.
    pub targets: Arc<Targets>,
    measure: Measure,
    /// The loss of [`Measure::Rows`] and [`Measure::Whole`].
    pub custom: Option<Arc<dyn CustomLoss>>,
    /// Class of each row and weight of each class, if the measure counts classes.
    classes: Vec<u32>,
    class_weights: Vec<f64>,
    divisor: f64,
    /// Loss of predicting 0, to judge whether residuals are small; NaN if the loss does not grow with residuals.
    loss_of_zero: f64,
    /// Factors of the residuals, 0 for rows outside the part.
    factors: Option<Vec<f64>>,
    /// Whether some rows with weight are outside the part.
    lacks_rows: bool,
    units: Option<Arc<Units>>,
}

/// Running sums of one trial.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    lanes: F64x8,
    /// Weights of misclassified rows of one output, ties counted half: of class −1, then of class 1.
    sides: [F64x8; 2],
    /// Misclassified weight by class, for several outputs.
    wrong: Vec<f64>,
    /// Gathered inputs of the loss: predictions, row-major, or the residuals of units.
    whole: Vec<f64>,
}

impl Scorer {
    /// Creates a scorer for these rows. [`Measure::Rows`] and [`Measure::Whole`] need [`Scorer::custom`];
    /// without it their losses are NaN.
    pub fn new(targets: Arc<Targets>, measure: Measure) -> Self {
        let outputs = targets.outputs();
        let counts = measure == Measure::ZeroOne || measure.is_of_classes();
        let class = |j: usize| {
            if outputs == 1 {
                u32::from(targets.scaled[0][j] > 0.0)
            } else {
                (0..outputs).position(|o| targets.scaled[o][j] > 0.0).unwrap_or(0) as u32
            }
        };
        let classes: Vec<u32> = if counts { (0..targets.rows()).map(class).collect() } else { Vec::new() };
        let mut class_weights = vec![0.0; if counts { outputs.max(2) } else { 0 }];
        for (j, &class) in classes.iter().enumerate() {
            class_weights[class as usize] += targets.weight(j);
        }
        let counts_outputs = measure.is_of_squares() || measure == Measure::Absolute;
        let divisor = if counts_outputs { targets.total_weight * outputs as f64 } else { targets.total_weight };
        let loss_of_zero = loss_of_zero(&targets, measure);
        let (custom, factors, lacks_rows, units) = (None, None, false, None);
        Scorer { targets, measure, custom, classes, class_weights, divisor, loss_of_zero, factors, lacks_rows, units }
    }

    /// Permutes the rows: row j is the former row `order[j]`.
    #[must_use]
    pub fn permute(&self, order: &[usize]) -> Self {
        let factors = self.factors.as_ref().map(|factors| gather(factors, order));
        let units = self.units.as_ref().map(|units| Arc::new(units.permute(order)));
        let permuted = Scorer::new(Arc::new(self.targets.permute(order)), self.measure);
        Scorer { custom: self.custom.clone(), factors, lacks_rows: self.lacks_rows, units, ..permuted }
    }

    /// Whether the loss is the plain mean of squared residuals over all rows.
    pub fn is_of_squares(&self) -> bool {
        matches!(self.measure, Measure::Squared) && self.factors.is_none() && self.units.is_none()
    }

    pub(crate) fn start(&self) -> Tally {
        let wrong = vec![0.0; if self.targets.outputs() > 1 { self.class_weights.len() } else { 0 }];
        let whole = match &self.units {
            Some(units) => vec![0.0; units.count() * self.targets.outputs()],
            None if self.is_gathered() => Vec::with_capacity(self.targets.rows() * self.targets.outputs()),
            None => Vec::new(),
        };
        Tally { lanes: F64x8::ZERO, sides: [F64x8::ZERO; 2], wrong, whole }
    }

    /// Adds the rows from `start`; `residuals` are scaled, with one slice of equal length per output.
    pub(crate) fn add(&self, tally: &mut Tally, start: usize, residuals: &[Vec<f64>], rows: usize) {
        let own = self.rescale(start, residuals, rows);
        let residuals = own.as_deref().unwrap_or(residuals);
        if let Some(units) = &self.units {
            return units.add(&mut tally.whole, start, residuals, rows);
        }
        match self.measure {
            Measure::Squared => {
                for residual in residuals {
                    add_squares(&residual[..rows], &mut tally.lanes);
                }
            }
            Measure::BalancedSquared => {
                let roots: Vec<f64> = class_factors(self.targets.total_weight, &self.class_weights)
                    .iter()
                    .map(|factor| factor.sqrt())
                    .collect();
                let classes = &self.classes[start..start + rows];
                for residual in residuals {
                    let own = residual[..rows].iter().zip(classes).map(|(e, class)| roots[*class as usize] * e);
                    add_squares(&own.collect::<Vec<f64>>(), &mut tally.lanes);
                }
            }
            Measure::Absolute => {
                let root = self.targets.root.as_ref().map(|root| &root[start..start + rows]);
                for residual in residuals {
                    add_sizes(root, &residual[..rows], &mut tally.lanes);
                }
            }
            Measure::Auc | Measure::Whole => {
                self.extend_predictions(&mut tally.whole, start, residuals, rows);
            }
            Measure::Rows => {
                self.add_rows(&mut tally.lanes, start, residuals, rows);
            }
            Measure::ZeroOne | Measure::BalancedError if residuals.len() == 1 => {
                let y = &self.targets.scaled[0][start..start + rows];
                let root = self.targets.root.as_ref().map(|root| &root[start..start + rows]);
                add_wrong(y, root, &residuals[0][..rows], &mut tally.sides);
            }
            Measure::ZeroOne | Measure::BalancedError => {
                for (j, row) in (start..start + rows).enumerate() {
                    let error = self.error(row, |o| residuals[o][j]);
                    tally.wrong[self.classes[row] as usize] += error * self.targets.weight(row);
                }
            }
        }
    }

    pub(crate) fn finish(&self, tally: Tally, conditioning: f64) -> Trial {
        if self.lacks_rows && self.is_gathered() {
            // The rows of the part alone do not determine its contribution.
            return Trial { whole: tally.whole, ..Trial::new(f64::NAN, conditioning) };
        }
        Trial::new(self.total(&tally), conditioning)
    }

    /// Classification error of a row from its scaled residuals: 0, 1, or for ties the expected error of guessing.
    fn error(&self, row: usize, residual: impl Fn(usize) -> f64) -> f64 {
        let targets = &self.targets.scaled;
        let prediction = |o: usize| targets[o][row] - residual(o);
        error_of_guess(self.classes[row] as usize, tied_classes(targets.len(), prediction, self.targets.root(row)))
    }

    fn total(&self, tally: &Tally) -> f64 {
        if let Some(units) = &self.units {
            return units.loss(&tally.whole);
        }
        let sides = tally.sides.map(F64x8::sum);
        let wrong = if self.targets.outputs() == 1 { &sides[..] } else { &tally.wrong[..] };
        match self.measure {
            Measure::Squared | Measure::BalancedSquared | Measure::Absolute | Measure::Rows => {
                tally.lanes.sum() / self.divisor
            }
            Measure::ZeroOne => wrong.iter().sum::<f64>() / self.divisor,
            Measure::BalancedError => self.balanced_loss(wrong),
            Measure::Auc => self.wrong_pairs(&tally.whole),
            Measure::Whole => self.total_loss(&tally.whole),
        }
    }

    /// Mean error over the classes present, from the misclassified weight by class.
    fn balanced_loss(&self, wrong: &[f64]) -> f64 {
        let present = self.class_weights.iter().filter(|w| **w > 0.0).count() as f64;
        let shares = wrong.iter().zip(&self.class_weights).filter(|(_, w)| **w > 0.0);
        shares.map(|(wrong, weight)| wrong / weight).sum::<f64>() / present
    }

    /// Mean loss of scaled residuals, with one slice per output. Cost O(m · outputs).
    ///
    /// For a part of the rows, the part's contribution to the mean; NaN if a part alone does not determine it.
    pub fn loss(&self, residuals: &[Vec<f64>]) -> f64 {
        self.trial(residuals, 1.0).loss
    }

    /// Like [`Scorer::loss`], with the conditioning of the residuals.
    pub(crate) fn trial(&self, residuals: &[Vec<f64>], conditioning: f64) -> Trial {
        let mut tally = self.start();
        self.add(&mut tally, 0, residuals, self.targets.rows());
        self.finish(tally, conditioning)
    }

    /// Marks a trial unreliable if residuals are so small relative to the targets that rounding matters. Keeps trials of
    /// losses that do not grow with residuals.
    #[must_use]
    pub fn judge(&self, trial: Trial) -> Trial {
        let share = trial.loss / self.loss_of_zero;
        let residual = if self.measure == Measure::Absolute { share } else { share.sqrt() };
        match trial.loss > 0.0 && residual * trial.conditioning < SMALL_RESIDUAL {
            true => Trial { is_unreliable: true, lower_bound: f64::NEG_INFINITY, ..trial },
            false => trial,
        }
    }

    /// Mean loss from the sum of squared losses.
    pub fn mean_of(&self, sum: f64) -> f64 {
        sum / self.divisor
    }
}

/// Mean loss of predicting 0 for every row; NaN for losses that do not grow with residuals.
fn loss_of_zero(targets: &Targets, measure: Measure) -> f64 {
    let sum = match measure {
        Measure::Squared | Measure::BalancedSquared => targets.scaled.iter().flatten().map(|y| y * y).sum(),
        Measure::Absolute => {
            let output_sum =
                |y: &Vec<f64>| y.iter().enumerate().map(|(row, y)| targets.root(row) * y.abs()).sum::<f64>();
            targets.scaled.iter().map(output_sum).sum()
        }
        _ => f64::NAN,
    };
    sum / (targets.total_weight * targets.outputs() as f64)
}

/// W/(C·W_c) of each class c, with C the number of classes that have weight; 0 for others.
pub(crate) fn class_factors(all: f64, weights: &[f64]) -> Vec<f64> {
    let present = weights.iter().filter(|weight| **weight > 0.0).count() as f64;
    weights.iter().map(|weight| if *weight > 0.0 { all / (present * weight) } else { 0.0 }).collect()
}

fn add_squares(residual: &[f64], lanes: &mut F64x8) {
    vectorize!(|| *lanes = fold_eights!([residual], [0.0], *lanes, |sum, [e]| sum + e * e));
}

/// Adds the sizes of residuals, times the roots of weights.
fn add_sizes(root: Option<&[f64]>, residual: &[f64], lanes: &mut F64x8) {
    vectorize!(|| {
        *lanes = match root {
            Some(root) => fold_eights!([residual, root], [0.0; 2], *lanes, |sum, [e, root]| sum + root * e.abs()),
            None => fold_eights!([residual], [0.0], *lanes, |sum, [e]| sum + e.abs()),
        };
    });
}

/// Adds the weights of rows with y·(y − residual) below 0, by the sign of y. If it is 0 up to rounding, half counts.
fn add_wrong(y: &[f64], root: Option<&[f64]>, residual: &[f64], sides: &mut [F64x8; 2]) {
    #[inline(always)]
    fn add(sides: [F64x8; 2], y: F64x8, e: F64x8, root: F64x8) -> [F64x8; 2] {
        let (margin, weight) = (y * (y - e), root * root);
        let (half, tie) = (F64x8::splat(0.5) * weight, F64x8::splat(TIED_PREDICTION) * weight);
        let wrong = half.where_at_most(margin, tie) + half.where_at_most(margin, F64x8::ZERO - tie);
        let negative = wrong.where_at_most(y, F64x8::ZERO);
        [sides[0] + negative, sides[1] + (wrong - negative)]
    }
    vectorize!(|| {
        *sides = match root {
            Some(root) => fold_eights!([y, residual, root], [0.0; 3], *sides, |sides, [y, e, r]| add(sides, y, e, r)),
            // Lanes without a row are right.
            None => {
                let one = F64x8::splat(1.0);
                fold_eights!([y, residual], [1.0, 0.0], *sides, |sides, [y, e]| add(sides, y, e, one))
            }
        };
    });
}
