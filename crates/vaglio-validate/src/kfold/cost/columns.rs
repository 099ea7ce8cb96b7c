//! Whether moments are made column by column, as these are selected.

use super::{Extent, WRITTEN, moments};
use vaglio_core::{Design, Outline};
use vaglio_kernels::kfold::Moments;

/// Of all entries, the part up to which moments are always made of those that are stored.
const MOST_STORED: f64 = 0.5;
/// The part of the rows to train on that columns may be at most, where others than sparse ones are taken one by one: beyond,
/// cancellation makes moments unreliable.
const MOST_COLUMNS: f64 = 0.5;
/// Flops that adding an entry, times eight numbers, to the sums of its fold takes as long as: of a few, and of all of a column, beside
/// which products of all columns are made in blocks.
const FLOPS_OF_STORED: f64 = 16.0;
const FLOPS_OF_ANY: f64 = 40.0;
/// Of the columns that enter, the part that passes are taken to be made for: between an eighth, where all were likely, and all.
const UNFORESEEN: f64 = 0.5;

/// Bytes of states of rows held out beyond which columns that are not stored are taken one by one.
const MOST_HELD: f64 = (1u64 << 30) as f64;

impl Extent {
    /// Whether columns that are not stored would be stored otherwise, at a cost that counts.
    pub(super) fn stay_made(&self, outline: &Outline) -> bool {
        self.is_made && self.by_columns.is_some() && self.bytes_if_kept(outline) > MOST_HELD
    }

    /// Flops of the passes over the columns by which moments are made of them: for what all need, and for the columns that enter.
    pub(super) fn passes(&self, outline: &Outline, one: f64) -> f64 {
        let at_once = Moments::AT_ONCE as f64;
        let begin = self.pass * (2.0 + ((self.outputs + 1.0) / at_once).ceil());
        let read = self.rows_read(outline);
        let part = if outline.steps == 0 { 1.0 / at_once } else { UNFORESEEN };
        (begin + part * read) * one + (begin + read) * WRITTEN * self.pairs * self.columns
    }

    /// The same with moments made column by column, where few entries are stored, columns are not stored at all, or that costs
    /// less than products of all columns.
    pub(super) fn with_columns(self, design: &Design, outline: &Outline) -> Self {
        let Some(entries) = moments::entries_of(design) else { return self };
        if entries <= MOST_STORED * (design.columns().len() * design.planned_rows()) as f64 {
            return Extent { by_columns: Some(FLOPS_OF_STORED * entries), pass: self.pass_by_columns, ..self };
        }
        let by_columns = Extent { by_columns: Some(FLOPS_OF_ANY * entries), pass: self.pass_by_columns, ..self };
        let is_forward = outline.start == 0 && outline.steps > 0;
        let is_small = outline.largest as f64 <= MOST_COLUMNS * self.training as f64;
        let saves = || by_columns.stay_made(outline) || by_columns.moments(outline).flops < self.moments(outline).flops;
        if is_forward && is_small && saves() { by_columns } else { self }
    }
}
