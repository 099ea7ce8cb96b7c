//! Choice of the cheapest engine.

mod columns;
mod hold_out_engine;

use super::known_moments::KnownMoments;
use super::settings::{Engine, KFold};
use crate::engine_names::{DECOMPOSITION, MOMENTS, ROWS_HELD_OUT, estimate};
use crate::fold_groups::{can_decompose, fold_groups, is_light};
use crate::kernel::{caches_columns, classes_of};
use vaglio_core::{Column, Design, Estimate, Loss, Measure, SearchExtent, prediction_units};
use vaglio_kernels::Folds;
use vaglio_kernels::kfold::{BackwardMoments, Moments, READ_AHEAD, ROWS_AT_ONCE};

/// Sizes of a search on a design with the folds of one round, for estimates of cost.
#[derive(Clone)]
pub(super) struct CostFactors {
    extent: SearchExtent,
    rows: f64,
    columns: f64,
    folds: f64,
    lambdas: f64,
    outputs: f64,
    /// The folds grouped by training weights, if there are few groups, and the number of groups.
    groups: Option<Vec<Vec<usize>>>,
    group_count: f64,
    /// Number of pairs of a fold and a class with weights of its own.
    pairs: f64,
    /// Number of rows of the smallest training set.
    training: usize,
    /// Cost of one pass over all columns, in flops, if moments are computed lazily by column.
    pub by_columns: Option<f64>,
    /// Whether columns are virtual, that is, computed from others at every read.
    is_virtual: bool,
    /// Whether the engine of held-out rows caches the columns and their candidates.
    caches_columns: bool,
    /// Number of columns that each fold imputes.
    imputed: f64,
    /// Whether each fold standardizes columns.
    is_standardized: bool,
    /// Whether one decomposition of a subset's rows serves several folds; otherwise each fold is refitted.
    is_decomposed: bool,
    /// Cost of the loss of one row and output, in flops.
    loss: f64,
    /// Number of walks that share their computations.
    walks: f64,
    /// Share of a pass over the rows that this search pays, since others use the moments too.
    pass: f64,
}

/// Cost of a forward step and of a backward step, in flops for each candidate, selected column, fold and λ.
const FORWARD: f64 = 6.0;
const BACKWARD: f64 = 12.0;
/// Cost of a trial, in flops for each fold and λ. In a tree of all subsets it includes the cost of the node.
const TRIAL: f64 = 20.0;
/// Cost of decomposing all rows, relative to the triangle of one fold.
const DECOMPOSED: f64 = 4.0;
/// Cost of gathering a row, or of computing its residual, in flops.
const GATHERED: f64 = 16.0;
/// Cost of writing a double of the moments, in flops.
const WRITTEN: f64 = 16.0;
/// Largest memory of moments, in bytes, if there are more columns than rows or each class has its own moments. Beyond,
/// rows are held out.
const WIDE: f64 = (1u64 << 28) as f64;
/// Largest number of doubles in the states of several groups.
const MOST: f64 = (1u64 << 28) as f64;

/// Cost of the loss of one row, in flops. Comparisons are not vectorized, AUC uses a radix sort, and third-party losses
/// may compare.
fn loss_cost(loss: &dyn Loss, rows: f64) -> f64 {
    match loss.traits().measure {
        Measure::Squared => 0.0,
        Measure::BalancedSquared => 1.0,
        Measure::Absolute => 3.0,
        Measure::ZeroOne | Measure::BalancedError => 8.0,
        Measure::Rows => 16.0,
        Measure::Auc => 24.0,
        Measure::Whole => 16.0 * rows.max(2.0).log2(),
    }
}

impl CostFactors {
    pub fn new(criterion: &KFold, design: &Design, folds: &Folds, extent: &SearchExtent) -> Self {
        let held_out = folds.count_held_out();
        let groups = fold_groups(design, folds, held_out);
        let group_count = groups.as_ref().map(Vec::len);
        let balances_losses = criterion.loss.traits().measure == Measure::BalancedSquared;
        let classes = classes_of(design).or_else(|| design.problem().classes().filter(|_| balances_losses));
        let known = |by_columns| KnownMoments::find(design, folds, balances_losses, by_columns).is_some();
        let pass = |by_columns| if known(by_columns) { 0.0 } else { 1.0 / design.run().walks() as f64 };
        let pairs = held_out * classes.map_or(1, |classes| classes.names.len());
        let factors = CostFactors {
            extent: *extent,
            rows: design.planned_rows() as f64,
            columns: design.candidates().len() as f64,
            folds: held_out as f64,
            lambdas: design.lambdas().len() as f64,
            outputs: design.targets().nrows() as f64,
            // For a sample, scaled to the planned number of rows.
            training: folds.least_training() * design.planned_rows() / design.rows().max(1),
            group_count: group_count.unwrap_or(held_out) as f64,
            pairs: pairs as f64,
            groups,
            by_columns: None,
            caches_columns: caches_columns(design),
            is_virtual: design.problem().columns().iter().any(|column| matches!(column, Column::Product(_))),
            imputed: design.problem().in_folds().missing().map_or(0, |mask| mask.features().len()) as f64,
            is_standardized: design.problem().in_folds().is_standardized(),
            is_decomposed: can_decompose(design, folds, group_count),
            loss: loss_cost(&*criterion.loss, design.planned_rows() as f64),
            walks: design.run().walks() as f64,
            pass: pass(false),
        };
        factors.with_columns(design, pass(true))
    }

    /// The folds grouped by training weights; empty if every fold of every subset is refitted.
    pub fn groups_for(self, engine: &str) -> Vec<Vec<usize>> {
        match engine == ROWS_HELD_OUT || self.is_decomposed {
            true => self.groups.unwrap_or_default(),
            false => Vec::new(),
        }
    }
}

/// Chooses the engine for one round, with its cost.
pub(super) fn choose(criterion: &KFold, design: &Design, folds: &Folds, factors: &CostFactors) -> Estimate {
    let is_of_others = folds.train_on_all_others();
    let is_balanced = classes_of(design).is_some();
    if design.readout().is_some_and(|readout| readout.refine) {
        return factors.decomposition(
            "the folds of every subset are decomposed once and lambda is searched on that; a grid would be faster",
        );
    }
    if is_light(design, folds) {
        return factors.decomposition(
            "next to all weight is held out with one of the folds, so every fold of every subset is refitted",
        );
    }
    let (moments, held_out) = (factors.moments(), factors.rows_held_out());
    let because = |estimate: &Estimate, reason: &str| Estimate {
        reason: format!("{}, {reason}", estimate.reason),
        ..estimate.clone()
    };
    let by_moments = |reason: &str| because(&moments, reason);
    // Moments apply only to squared errors of rows.
    let squared = criterion.loss.traits().measure.is_of_squares() && prediction_units(design).is_none();
    if is_balanced && factors.is_standardized {
        return factors.decomposition(
            "columns are standardized in each fold by other weights than a balanced readout has, so the folds of every subset are decomposed; `scope: train` would be faster",
        );
    }
    if factors.imputed > 0.0 {
        // The engine of held-out rows would need states of each fold.
        let has_moments = squared
            && !is_balanced
            && criterion.engine != Engine::RowsHeldOut
            && factors.extent.start < factors.training;
        let decomposed = factors.decomposition(
            "columns are imputed in each fold, so the folds of every subset are decomposed; `scope: train` would be faster",
        );
        return match has_moments && (criterion.engine == Engine::Moments || moments.flops <= decomposed.flops) {
            true => by_moments("columns imputed in each fold"),
            false => decomposed,
        };
    }
    let by_rows = |reason: &str| {
        match (is_of_others, factors.has_states()) {
        (true, true) => because(&held_out, reason),
        (true, false) => factors.decomposition(
            "the folds of every subset are decomposed, since there are too many folds or class totals to keep a state of each",
        ),
        (false, _) => {
            factors.decomposition("the folds of every subset are refitted, since each is trained on rows of its own")
        }
    }
    };
    let flops = by_rows("").flops;
    match criterion.engine {
        Engine::Moments => by_moments("as `engine: moments` says"),
        Engine::RowsHeldOut => by_rows("as `engine: rows_held_out` says"),
        Engine::Auto if !squared => by_rows("which any loss can be taken of"),
        // With more columns than training rows, cancellation would make moments unreliable from the start.
        Engine::Auto if factors.extent.start >= factors.training => {
            by_rows("since there are no more rows to train on than columns to start from")
        }
        Engine::Auto if factors.stay_virtual() => by_moments("since so many columns that are not stored stay so"),
        Engine::Auto if factors.is_wide() && is_of_others && factors.has_states() => {
            by_rows("since moments of so many columns, or classes, would be larger than the rows")
        }
        Engine::Auto if moments.flops <= flops => {
            by_moments(&format!("at {} of the work of holding rows out", share(moments.flops, flops)))
        }
        Engine::Auto => by_rows(&format!("at {} of the work of moments", share(flops, moments.flops))),
    }
}

fn share(part: f64, whole: f64) -> String {
    let percent = 100.0 * part / whole;
    if percent < 1.0 { format!("{percent:.1e} %") } else { format!("{percent:.0} %") }
}

impl CostFactors {
    /// Cost by moments. Each of `steps` steps compares subsets that differ by one column; sizes run from the start to
    /// the largest.
    fn moments(&self) -> Estimate {
        let &CostFactors { extent, rows, columns, folds, lambdas, outputs, .. } = self;
        let pairs = folds * lambdas;
        let moments = self.bytes_of_moments();
        // With more columns than rows, writing the matrices costs more than the products.
        let written = if columns > rows { WRITTEN * moments / 8.0 } else { 0.0 };
        let pass = match self.by_columns {
            None => self.pass * ((rows + self.pairs) * (columns + self.imputed + outputs).powi(2) + written),
            Some(one) => self.passes(one),
        };
        let start = extent.start as f64;
        let (steps, size) = (extent.steps as f64, extent.largest as f64);
        let method = if self.by_columns.is_some() {
            "moments of the folds, of columns as they enter"
        } else {
            "moments of the folds"
        };
        if extent.start > 0 {
            let decompositions = folds * 4.0 * start.powi(3) / self.walks;
            let removals = if extent.steps == 0 { 0.0 } else { pairs * (6.0 + BACKWARD / 3.0) * start.powi(3) };
            let state = BackwardMoments::bytes(folds as usize, lambdas as usize, extent.start) as f64;
            let spectrum = folds * 5.0 * 8.0 * start * start;
            let (reason, held) = match extent.steps {
                0 => (format!("{method}, one tridiagonal form of each for every lambda"), spectrum),
                _ => (format!("{method}, backward in O(1) a trial"), state),
            };
            return estimate(MOMENTS, reason, pass + decompositions + removals, moments + held);
        }
        // The average over a walk that grows to `size` columns and may go back and forth.
        let state = pairs * 8.0 * (columns * (size + 3.0 + 2.0 * outputs) + size * size);
        let flops = pass + pairs * (steps * (columns * 0.5 * FORWARD * size + size * size) + TRIAL * extent.trials);
        estimate(MOMENTS, format!("{method}, forward in O(1) a trial"), flops, moments + state)
    }

    /// Number of rows of the moment matrices that a lazy search reads; all of them if it has no steps.
    fn rows_read(&self) -> f64 {
        if self.extent.steps == 0 { self.columns } else { self.extent.largest as f64 }
    }

    fn bytes_of_moments(&self) -> f64 {
        if self.by_columns.is_some() {
            let row_bytes = 16.0 * self.pairs * self.columns;
            let ahead = (row_bytes * self.rows_read()).min(READ_AHEAD as f64);
            let pass = 8.0 * ROWS_AT_ONCE as f64 * (self.rows + self.pairs * self.columns);
            return row_bytes * (self.rows_read() + 4.0 + self.outputs) + ahead + pass;
        }
        let side = (self.columns + self.imputed + self.outputs + 1.0) as usize;
        Moments::bytes(self.folds as usize, self.pairs as usize, self.columns as usize, side) as f64
    }

    /// Whether moments take more memory than the rows, and more than is allowed by default.
    fn is_wide(&self) -> bool {
        let bytes = self.bytes_of_moments();
        match self.by_columns {
            None => (self.columns > self.rows || self.pairs > self.folds) && bytes > WIDE,
            Some(_) => bytes > WIDE.max(self.bytes_if_cached()),
        }
    }

    /// Whether states of held-out rows fit: one group has few, unless each fold standardizes.
    fn has_states(&self) -> bool {
        let group_doubles = self.group_count * (1.0 + self.lambdas) * self.rows * self.cached_columns();
        let doubles = if self.group_count == 1.0 { 0.0 } else { group_doubles } + self.fold_residuals();
        self.groups.is_some() && doubles <= MOST
    }

    /// Number of doubles of the column residuals in the training rows of each fold, if each fold standardizes.
    fn fold_residuals(&self) -> f64 {
        if !self.is_standardized {
            return 0.0;
        }
        self.group_count * self.lambdas * self.folds * self.rows * self.extent.largest as f64
    }

    /// Cost of decomposing each subset, or of refitting each of its folds.
    pub fn decomposition(&self, reason: &str) -> Estimate {
        let &CostFactors { extent, rows, folds, lambdas, outputs, .. } = self;
        let size = extent.largest as f64;
        // Sizes grow to the largest, or stay near it.
        let (square, cube) = if extent.start > 0 { (1.0, 1.0) } else { (1.0 / 3.0, 0.25) };
        let (square, cube) = (square * size * size, cube * size * size * size);
        let lambda_flops = rows * (2.0 * size + GATHERED) * outputs;
        let subset = if self.is_decomposed {
            let wide = (rows / folds).min(size);
            // Walks do not share trials, but the subset of all columns is common to them.
            let shared = if extent.steps == 0 { self.walks } else { 1.0 };
            self.group_count
                * (DECOMPOSED * 2.0 * rows * square / shared + lambdas * (2.0 * rows * wide * size + lambda_flops))
        } else {
            let gathered = rows * (4.0 * size + GATHERED);
            folds * (2.0 * rows * square + gathered) + lambdas * (folds * 4.0 * cube + lambda_flops)
        };
        let (flops, bytes) = (extent.trials * subset, 8.0 * rows * size * folds);
        estimate(DECOMPOSITION, reason, flops, bytes)
    }
}
