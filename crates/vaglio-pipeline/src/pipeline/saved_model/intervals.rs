//! Prediction intervals from the models of outer folds (CV+).

use super::chain::{PredictionChain, needed_maps};
use crate::resampling::OuterFoldFit;
use ndarray::Array2;
use vaglio_core::{Error, MapFormulas, Model, Result, Table, saved};
use vaglio_kernels::parallel;
use vaglio_kernels::tolerance::WHOLE_ROUNDING;
use vaglio_maps::target_maps::TargetUnits;

/// CV+ prediction intervals: the models of outer folds, each selected without the rows of its fold, with their absolute
/// residuals on these rows.
///
/// With residuals R_i = |y_i − μ_k(i)(x_i)| of n held-out rows, the interval of a row x goes from the (n + 1 − r)-th
/// smallest μ_k(i)(x) − R_i to the r-th smallest μ_k(i)(x) + R_i, r = ⌈level · (n + 1)⌉. For an exchangeable new row,
/// coverage is at least 2·level − 1, and usually close to `level`, whatever the selection did.
///
/// # Reference
/// R. F. Barber, E. J. Candès, A. Ramdas, R. J. Tibshirani, *Predictive inference with the jackknife+*, Annals of
/// Statistics 49(1), 2021, section 3.
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
}

/// Rank, from 1, of the upper end among n values; `None` if n is too small.
fn place(level: f64, n: usize) -> Option<usize> {
    // Undoes rounding just above a whole number.
    let place = (level * (n as f64 + 1.0) - WHOLE_ROUNDING).ceil().max(1.0) as usize;
    (place <= n).then_some(place)
}

impl SavedIntervals {
    /// Intervals from the outer folds of the first repeat.
    ///
    /// # Errors
    /// [`SavedIntervals::check_rows`] fails for the rows of positive weight.
    pub fn new(level: f64, outer: Vec<OuterFoldFit>) -> Result<Self> {
        let folds: Vec<FoldModel> =
            outer.into_iter().filter(|fold| fold.repeat == 0).map(FoldModel::from_outer_fold).collect();
        SavedIntervals::check_rows(level, folds.iter().map(FoldModel::rows).sum())?;
        Ok(SavedIntervals { level, folds })
    }

    /// Refuses a coverage that needs more held-out rows than there are.
    ///
    /// # Errors
    /// [`Error::Setting`] on `evaluate.intervals`, with the number of rows needed.
    pub fn check_rows(level: f64, rows: usize) -> Result<()> {
        if place(level, rows).is_some() {
            return Ok(());
        }
        let least = (level / (1.0 - level) - WHOLE_ROUNDING).ceil();
        Err(Error::setting(
            "evaluate.intervals",
            format!("{level} needs at least {least} rows that are held out and count, and there are {rows}"),
        ))
    }

    /// Whether the parts fit each other.
    pub(super) fn fits(&self, outputs: usize) -> bool {
        let are_residuals = |list: &[f64]| list.iter().all(|residual| *residual >= 0.0) && list.is_sorted();
        let is_fold = |fold: &FoldModel| {
            fold.residuals.len() == outputs
                && fold.residuals.iter().all(|list| list.len() == fold.rows() && are_residuals(list))
                && fold.chain(outputs).fits()
        };
        self.level > 0.0
            && self.level < 1.0
            && self.folds.iter().all(is_fold)
            && place(self.level, self.folds.iter().map(FoldModel::rows).sum()).is_some()
    }

    /// Columns of a data file that the models of the folds read.
    pub fn sources(&self) -> Vec<String> {
        self.folds.iter().flat_map(|fold| fold.chain(fold.residuals.len()).sources()).collect()
    }

    /// Lower and upper ends of the intervals for the rows of a table, outputs × rows. Cost O(rows · folds · log n) besides
    /// the predictions of every fold.
    ///
    /// # Errors
    /// [`Error::Numerical`] if a prediction overflows; errors of the maps and models of the folds.
    pub fn bounds(&self, table: &Table, outputs: usize) -> Result<[Array2<f64>; 2]> {
        let predict = |fold: &FoldModel| Ok(fold.chain(outputs).predict(table.clone())?.values);
        let centers: Vec<Array2<f64>> = parallel::map_slice(&self.folds, predict).into_iter().collect::<Result<_>>()?;
        let Some(first) = centers.first() else { return Err(Error::Shape("there is no outer fold".into())) };
        let (outputs, rows) = first.dim();
        if centers.iter().any(|fold_centers| fold_centers.dim() != (outputs, rows)) {
            return Err(Error::Shape("the models of the folds predict unlike rows".into()));
        }
        let (mut lower, mut upper) = (Array2::zeros((outputs, rows)), Array2::zeros((outputs, rows)));
        for output in 0..outputs {
            let lists: Vec<&[f64]> = self.folds.iter().map(|fold| &fold.residuals[output][..]).collect();
            let found: Vec<(f64, f64)> = parallel::map(rows, |row| {
                let centers: Vec<f64> = centers.iter().map(|fold_centers| fold_centers[[output, row]]).collect();
                ends(self.level, &centers, &lists)
            });
            for (row, (from, to)) in found.into_iter().enumerate() {
                (lower[[output, row]], upper[[output, row]]) = (from, to);
            }
        }
        Ok([lower, upper])
    }
}

impl FoldModel {
    fn from_outer_fold(fold: OuterFoldFit) -> Self {
        let OuterFoldFit { target_units: target_scales, maps, columns, model, held, .. } = fold;
        let inputs: Vec<String> = model.inputs().iter().filter_map(|&feature| columns.get(feature)).cloned().collect();
        let output_residuals = |output: usize| {
            let residual = |row: usize| (held.targets[[output, row]] - held.predictions[[output, row]]).abs();
            let counting = (0..held.targets.ncols()).filter(|&row| held.weights[row] > 0.0);
            let mut all: Vec<f64> = counting.map(residual).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let residuals = (0..held.targets.nrows()).map(output_residuals).collect();
        FoldModel { target_scales, maps: needed_maps(maps, &inputs), inputs, model, residuals }
    }

    /// Number of held-out rows of positive weight.
    fn rows(&self) -> usize {
        self.residuals.first().map_or(0, Vec::len)
    }

    fn chain(&self, outputs: usize) -> PredictionChain<'_> {
        let FoldModel { target_scales, maps, inputs, model, .. } = self;
        PredictionChain { maps, inputs, model, units: target_scales.as_deref(), outputs }
    }
}

/// Interval of one row. Cost O(folds · log n) for each bit of a number.
fn ends(level: f64, centers: &[f64], residuals: &[&[f64]]) -> (f64, f64) {
    let n: usize = residuals.iter().map(|list| list.len()).sum();
    let Some(place) = place(level, n) else { return (f64::NEG_INFINITY, f64::INFINITY) };
    let folds = || centers.iter().zip(residuals);
    let largest = residuals.iter().filter_map(|list| list.last()).fold(0.0, |a: f64, b| a.max(*b));
    let (low, high) = centers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), c| (a.min(*c), b.max(*c)));
    let below = |v: f64| folds().map(|(c, list)| list.len() - list.partition_point(|r| c - r > v)).sum::<usize>();
    let up_to = |v: f64| folds().map(|(c, list)| list.partition_point(|r| c + r <= v)).sum::<usize>();
    (smallest(low - largest, high, n + 1 - place, below), smallest(low, high + largest, place, up_to))
}

/// Smallest number in a range at which `count` reaches `wanted`, by bisection of the doubles.
fn smallest(low: f64, high: f64, wanted: usize, count: impl Fn(f64) -> usize) -> f64 {
    let key = |x: f64| if x.is_sign_negative() { !x.to_bits() } else { x.to_bits() | 1 << 63 };
    let number = |key: u64| f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key });
    let (mut low, mut high) = (key(low), key(high));
    while low < high {
        let middle = low + (high - low) / 2;
        if count(number(middle)) >= wanted {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    number(low) + 0.0
}
