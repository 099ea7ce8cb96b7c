//! Cost of the engine of held-out rows.

use super::{CostFactors, TRIAL};
use crate::engine_names::{ROWS_HELD_OUT, estimate};
use vaglio_core::{Estimate, SearchExtent};

/// Cache size in bytes, and the cost of an out-of-cache flop on states relative to a flop on moments. States are passes
/// over memory, moments are arithmetic.
const NEAR: f64 = (1u64 << 22) as f64;
const FAR: f64 = 4.0;
/// Cost of creating a double of out-of-cache states, in flops, for each multiple of the slowdown.
const MADE: f64 = 60.0;
/// Cost of reordering one sparse entry by fold, in flops, and the batch size of candidates that are not cached.
const COPIED: f64 = 24.0;
const AT_ONCE: f64 = 16.0;
/// Copies of the targets of each group: scaled, centered, ordered by fold, and for the loss.
const COPIES: f64 = 6.0;

impl CostFactors {
    /// Number of columns with copies and residuals in memory. Without a cache of all: the entering columns and one
    /// batch.
    pub fn cached_columns(&self) -> f64 {
        if self.caches_columns { self.columns } else { 2.0 * self.extent.largest as f64 + AT_ONCE }
    }

    /// Memory of held-out states that cache all columns, in bytes.
    pub fn bytes_if_cached(&self) -> f64 {
        CostFactors { caches_columns: true, ..self.clone() }.rows_held_out().bytes
    }

    pub fn rows_held_out(&self) -> Estimate {
        let &CostFactors { extent, rows, columns, outputs, group_count, .. } = self;
        // A state for each λ and group of folds.
        let lambdas = self.lambdas * group_count;
        let (start, steps, size) = (extent.start as f64, extent.steps as f64, extent.largest as f64);
        // Products over each fold's training rows; four of them share one read of a column.
        let products = if self.is_standardized { self.folds } else { 0.0 };
        let step = rows * (4.0 + 3.0 * products) * size;
        let trial = rows * (6.0 + products + 2.0 * outputs) + TRIAL * self.folds;
        let losses = rows * self.loss * outputs * extent.trials;
        let set_up = self.folds * (4.0 * rows + 20.0 * start) * start * start;
        // After a removal, a candidate must catch up with the later columns again.
        let forward = SearchExtent::forward(columns as usize, extent.largest).trials;
        let again = if extent.start == 0 && steps > size { (extent.trials - forward).max(0.0) } else { 0.0 };
        let follow = again * rows * 2.0 * size;
        let far = if self.caches_columns { (8.0 * rows * columns * lambdas / NEAR).clamp(1.0, FAR) } else { 1.0 };
        // Candidates that are not cached are copied for every trial. They are updated for the selected columns, half of
        // the final size on average.
        let anew =
            if self.caches_columns { 0.0 } else { (COPIED + (2.0 + 1.5 * products) * size) * rows * extent.trials };
        let kept = self.cached_columns();
        let made = (far - 1.0) * MADE * rows * columns;
        let reason = match self.is_standardized {
            true => "rows held out, columns standardized in each fold",
            false => "rows held out",
        };
        let flops = lambdas * (made + losses + anew + far * (trial * extent.trials + follow + step * steps + set_up));
        // The columns once, with their held-out residuals for each λ; in a backward search only for selected columns.
        let bytes = 8.0
            * (rows * kept * (group_count + lambdas * if extent.start > 0 { 3.0 } else { 1.0 })
                + rows * (outputs - 1.0) * (COPIES * group_count + lambdas)
                + self.fold_residuals());
        estimate(ROWS_HELD_OUT, reason, flops, bytes)
    }
}
