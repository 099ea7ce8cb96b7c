//! Choice between lazy moments by column and moments of all columns.

use super::{CostFactors, WRITTEN};
use vaglio_core::Design;
use vaglio_kernels::kfold::ROWS_AT_ONCE;

/// Largest share of stored entries at which moments are always computed from these.
const MOST_STORED: f64 = 0.5;
/// Largest ratio of selected columns to training rows for lazy moments of dense columns. Beyond, cancellation makes
/// moments unreliable.
const MOST_COLUMNS: f64 = 0.5;
/// Cost, in flops, of adding an entry times eight numbers to its fold's sums: for sparse columns, and for full ones.
/// Products of all columns, in contrast, are computed in blocks.
const FLOPS_OF_STORED: f64 = 16.0;
const FLOPS_OF_ANY: f64 = 40.0;
/// Assumed share of entering columns that need a pass. It is an eighth if all were prefetched, and 1 if none was.
const UNFORESEEN: f64 = 0.5;

/// Largest memory, in bytes, of held-out states with virtual columns cached. Beyond, these columns are read one by one.
const MOST_HELD: f64 = (1u64 << 30) as f64;

impl CostFactors {
    /// Whether virtual columns should stay virtual, because caching them would take too much memory.
    pub fn stay_virtual(&self) -> bool {
        self.is_virtual && self.by_columns.is_some() && self.bytes_if_cached() > MOST_HELD
    }

    /// Cost of the passes for lazy moments, in flops: passes that every search needs, and passes for entering columns.
    pub fn passes(&self, one: f64) -> f64 {
        let at_once = ROWS_AT_ONCE as f64;
        let begin = self.pass * (2.0 + ((self.outputs + 1.0) / at_once).ceil());
        let read = self.rows_read();
        let part = if self.extent.steps == 0 { 1.0 / at_once } else { UNFORESEEN };
        (begin + part * read) * one + (begin + read) * WRITTEN * self.pairs * self.columns
    }

    /// Switches to lazy moments by column if: few entries are stored; columns are virtual; or they cost less than
    /// products of all columns. `pass` is then the share of a pass that this search pays.
    pub fn with_columns(self, design: &Design, pass: f64) -> Self {
        // Lazy moments do not fill missing cells.
        if design.problem().in_folds().missing().is_some() {
            return self;
        }
        let all = (design.problem().columns().len() * design.planned_rows()) as f64;
        let entries = design.problem().columns().share_stored() * all;
        if entries <= MOST_STORED * all {
            return CostFactors { by_columns: Some(FLOPS_OF_STORED * entries), pass, ..self };
        }
        let by_columns = CostFactors { by_columns: Some(FLOPS_OF_ANY * entries), pass, ..self.clone() };
        let is_forward = self.extent.start == 0 && self.extent.steps > 0;
        let is_small = self.extent.largest as f64 <= MOST_COLUMNS * self.training as f64;
        let saves = || by_columns.stay_virtual() || by_columns.moments().flops < self.moments().flops;
        if is_forward && is_small && saves() { by_columns } else { self }
    }
}
