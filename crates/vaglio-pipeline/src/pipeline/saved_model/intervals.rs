//! Prediction intervals from the models of outer folds (CV+).

use super::chain::{PredictionChain, needed_maps};
use crate::resampling::OuterFoldFit;
use ndarray::Array2;
use vaglio_core::{Error, MapFormulas, Model, Result, Table, argsort_by, saved};
use vaglio_kernels::parallel;
use vaglio_kernels::tolerance::WHOLE_ROUNDING;
use vaglio_maps::target_maps::TargetUnits;

/// CV+ prediction intervals: the models of outer folds, each selected without the rows of its fold, with their absolute
/// residuals on these rows.
///
/// Held-out rows have residuals R_i = |y_i − μ_k(i)(x_i)| and weights w_i. The upper end for a row x is the smallest of
/// all μ_k(i)(x) + R_i up to which the weights add up to level · (Σ w_i + 1). The lower end mirrors it. Weights of mean
/// below 1 are divided by their mean. For an exchangeable new row, coverage is at least 2·level − 1, and usually close to
/// `level`, whatever the selection did.
///
/// # Reference
/// R. F. Barber, E. J. Candès, A. Ramdas, R. J. Tibshirani, *Predictive inference with the jackknife+*, Annals of
/// Statistics 49(1), 2021, section 3. With weights: R. J. Tibshirani, R. F. Barber, E. J. Candès, A. Ramdas, *Conformal
/// prediction under covariate shift*, NeurIPS 2019.
#[saved]
pub struct SavedIntervals {
    /// Coverage: the share of new rows within their intervals.
    pub level: f64,
    /// Models of the outer folds.
    pub folds: Vec<FoldModel>,
}

/// The model of one outer fold.
#[saved]
pub struct FoldModel {
    /// Maps and scales of the targets, if any.
    pub target_scales: Option<Vec<TargetUnits>>,
    /// Maps fitted on the fold's training rows, those that make the inputs.
    pub maps: Vec<MapFormulas>,
    /// Candidate columns that the model takes, in its order.
    pub inputs: Vec<String>,
    /// Model selected on the training rows.
    pub model: Model,
    /// Absolute residuals of the held-out rows for each output, increasing.
    pub residuals: Vec<Vec<f64>>,
    /// Total weight of the rows up to each residual; absent if every row weighs 1.
    #[optional]
    pub cumulative_weights: Vec<Vec<f64>>,
}

/// Weight of the values up to the upper end, given the `total` weight; `None` if the total is too small.
fn needed_weight(level: f64, total: f64) -> Option<f64> {
    // Undoes rounding just above a whole number.
    let needed = (level * (total + 1.0) - WHOLE_ROUNDING).max(f64::MIN_POSITIVE);
    (needed <= total).then_some(needed)
}

impl SavedIntervals {
    /// Intervals from the outer folds of the first repeat.
    ///
    /// # Errors
    /// Fails like [`SavedIntervals::unit_weight`].
    pub fn new(level: f64, outer: Vec<OuterFoldFit>) -> Result<Self> {
        let outer: Vec<OuterFoldFit> = outer.into_iter().filter(|fold| fold.repeat == 0).collect();
        let weights: Vec<f64> = outer.iter().flat_map(|fold| &fold.held.weights).copied().collect();
        let unit = SavedIntervals::unit_weight(level, &weights)?;
        let folds = outer.into_iter().map(|fold| FoldModel::from_outer_fold(fold, unit)).collect();
        Ok(SavedIntervals { level, folds })
    }

    /// Weight of a new row for held-out rows with `weights`: 1, or the mean of the positive ones if that is less. A row
    /// of weight 2 counts as two, a row of weight 0 (before a model has warmed up) as none.
    ///
    /// # Errors
    /// [`Error::Setting`] on `evaluate.intervals` if there are too few rows, with the number needed.
    pub fn unit_weight(level: f64, weights: &[f64]) -> Result<f64> {
        let sum: f64 = weights.iter().sum();
        let count = weights.iter().filter(|weight| **weight > 0.0).count();
        let unit = (sum / count as f64).min(1.0);
        let rows = sum / unit;
        if needed_weight(level, rows).is_some() {
            return Ok(unit);
        }
        let least = (level / (1.0 - level) - WHOLE_ROUNDING).ceil();
        Err(Error::setting(
            "evaluate.intervals",
            format!(
                "{level} needs at least {least} rows that are held out and count, and there are {}",
                (rows + WHOLE_ROUNDING).floor()
            ),
        ))
    }

    /// Whether the parts fit each other.
    pub(super) fn fits(&self, outputs: usize) -> bool {
        let is_fold = |fold: &FoldModel| {
            let is_list = |list: &Vec<f64>| {
                list.len() == fold.rows() && list.iter().all(|number| *number >= 0.0) && list.is_sorted()
            };
            fold.residuals.len() == outputs
                && [0, outputs].contains(&fold.cumulative_weights.len())
                && fold.residuals.iter().chain(&fold.cumulative_weights).all(is_list)
                && fold.chain().fits()
        };
        self.level > 0.0
            && self.level < 1.0
            && self.folds.iter().all(is_fold)
            && (0..outputs).all(|output| needed_weight(self.level, self.total_weight(output)).is_some())
    }

    fn total_weight(&self, output: usize) -> f64 {
        self.folds.iter().map(|fold| fold.weight(output, fold.rows())).sum()
    }

    /// Columns of a data file that the models of the folds read.
    pub fn sources(&self) -> Vec<String> {
        self.folds.iter().flat_map(|fold| fold.chain().sources()).collect()
    }

    /// Lower and upper ends of the intervals for the rows of a table, outputs × rows. Cost O(rows · folds · log n) besides
    /// the predictions of every fold.
    ///
    /// # Errors
    /// [`Error::Numerical`] if a prediction overflows; errors of the maps and models of the folds.
    pub fn bounds(&self, table: &Table) -> Result<[Array2<f64>; 2]> {
        let predict = |fold: &FoldModel| Ok(fold.chain().predict(table.clone())?.values);
        let centers: Vec<Array2<f64>> = parallel::map_slice(&self.folds, predict).into_iter().collect::<Result<_>>()?;
        let Some(first) = centers.first() else { return Err(Error::Shape("there is no outer fold".into())) };
        let (outputs, rows) = first.dim();
        if centers.iter().any(|fold_centers| fold_centers.dim() != (outputs, rows)) {
            return Err(Error::Shape("the models of the folds predict unlike rows".into()));
        }
        let (mut lower, mut upper) = (Array2::zeros((outputs, rows)), Array2::zeros((outputs, rows)));
        for output in 0..outputs {
            let found: Vec<(f64, f64)> = parallel::map(rows, |row| {
                let centers: Vec<f64> = centers.iter().map(|fold_centers| fold_centers[[output, row]]).collect();
                self.ends(output, &centers)
            });
            for (row, (from, to)) in found.into_iter().enumerate() {
                (lower[[output, row]], upper[[output, row]]) = (from, to);
            }
        }
        Ok([lower, upper])
    }

    /// Interval of one row. Cost O(folds · log n) for each bit of a number.
    fn ends(&self, output: usize, centers: &[f64]) -> (f64, f64) {
        let Some(needed) = needed_weight(self.level, self.total_weight(output)) else {
            return (f64::NEG_INFINITY, f64::INFINITY);
        };
        let largest =
            self.folds.iter().filter_map(|fold| fold.residuals[output].last()).fold(0.0, |a: f64, b| a.max(*b));
        // The lower end mirrors the upper end of the mirrored centers.
        let upper = |sign: f64| {
            let centers = || centers.iter().map(move |center| sign * center);
            let (low, high) = centers().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), c| (a.min(c), b.max(c)));
            let weight_up_to = |end: f64| -> f64 {
                let rows = |fold: &FoldModel, c: f64| fold.residuals[output].partition_point(|r| c + r <= end);
                self.folds.iter().zip(centers()).map(|(fold, c)| fold.weight(output, rows(fold, c))).sum()
            };
            smallest(low, high + largest, |end| weight_up_to(end) >= needed)
        };
        (0.0 - upper(-1.0), upper(1.0))
    }
}

impl FoldModel {
    /// Takes the model of a fold and its residuals; a row of weight `unit` counts as one.
    fn from_outer_fold(fold: OuterFoldFit, unit: f64) -> Self {
        let OuterFoldFit { target_units: target_scales, maps, columns, model, held, .. } = fold;
        let inputs: Vec<String> = model.inputs().iter().filter_map(|&feature| columns.get(feature)).cloned().collect();
        let by_residual = |output: usize| -> (Vec<f64>, Vec<f64>) {
            let residual = |&row: &usize| (held.targets[[output, row]] - held.predictions[[output, row]]).abs();
            let mut order = argsort_by(held.weights.len(), |a, b| residual(&a).total_cmp(&residual(&b)));
            order.retain(|&row| held.weights[row] > 0.0);
            let sums = order.iter().scan(0.0, |sum: &mut f64, &row| {
                *sum += held.weights[row] / unit;
                Some(sum.min(f64::MAX))
            });
            (order.iter().map(residual).collect(), sums.collect())
        };
        let (residuals, mut cumulative_weights): (Vec<_>, Vec<_>) = (0..held.targets.nrows()).map(by_residual).unzip();
        if held.weights.iter().all(|weight| [0.0, unit].contains(weight)) {
            cumulative_weights.clear();
        }
        let maps = needed_maps(maps, &inputs);
        FoldModel { target_scales, maps, inputs, model, residuals, cumulative_weights }
    }

    /// Number of held-out rows of positive weight.
    fn rows(&self) -> usize {
        self.residuals.first().map_or(0, Vec::len)
    }

    /// Weight of a number of rows with the smallest residuals.
    fn weight(&self, output: usize, rows: usize) -> f64 {
        match self.cumulative_weights.get(output) {
            Some(sums) if rows > 0 => sums[rows - 1],
            _ => rows as f64,
        }
    }

    fn chain(&self) -> PredictionChain<'_> {
        let FoldModel { target_scales, maps, inputs, model, residuals, .. } = self;
        PredictionChain { maps, inputs, model, units: target_scales.as_deref(), outputs: residuals.len() }
    }
}

/// Smallest number in a range from which on a condition holds, by bisection of the doubles.
fn smallest(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let key = |x: f64| if x.is_sign_negative() { !x.to_bits() } else { x.to_bits() | 1 << 63 };
    let number = |key: u64| f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key });
    let (mut low, mut high) = (key(low), key(high));
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(number(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    number(low) + 0.0
}
