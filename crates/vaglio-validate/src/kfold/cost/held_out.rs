//! What it costs to hold rows out.

use super::{Extent, TRIAL};
use crate::plan::EngineId;
use vaglio_core::{Estimate, Outline};

/// Bytes of states that stay near the processor, and the flops of moments that one on states takes as long as where they are
/// far from it: these are passes over memory, moments are arithmetic.
const NEAR: f64 = (1u64 << 22) as f64;
const FAR: f64 = 4.0;
/// Flops that making a double of these states takes as long as, for each time that they are slower.
const MADE: f64 = 60.0;
/// Flops that putting the rows of a double of a sparse column in the order of folds takes as long as, and candidates that are tried at
/// once where none is kept.
const COPIED: f64 = 24.0;
const AT_ONCE: f64 = 16.0;
/// Copies of the targets of each part: scaled, centered, fold after fold, and those of the loss.
const COPIES: f64 = 6.0;

impl Extent {
    /// Columns of which copies and residuals are in memory: those that enter, and as many as are tried at once, where they are not kept.
    pub(super) fn columns_kept(&self, outline: &Outline) -> f64 {
        if self.keeps_columns { self.columns } else { 2.0 * outline.largest as f64 + AT_ONCE }
    }

    /// Bytes of rows held out that keep all columns.
    pub(super) fn bytes_if_kept(&self, outline: &Outline) -> f64 {
        Extent { keeps_columns: true, ..*self }.rows_held_out(outline).bytes
    }

    pub(super) fn rows_held_out(&self, outline: &Outline) -> Estimate {
        let Extent { rows, columns, outputs, parts, .. } = *self;
        // A state for each λ and part of the folds.
        let lambdas = self.lambdas * parts;
        let (start, steps, size) = (outline.start as f64, outline.steps as f64, outline.largest as f64);
        // Products over the training rows of each fold, of which four share the reading of a column.
        let apart = if self.is_standardized { self.folds } else { 0.0 };
        let step = rows * (4.0 + 3.0 * apart) * size;
        let trial = rows * (6.0 + apart + 2.0 * outputs) + TRIAL * self.folds;
        let losses = rows * self.loss * outputs * outline.trials;
        let set_up = self.folds * (4.0 * rows + 20.0 * start) * start * start;
        // After a removal a candidate follows the columns behind it again.
        let forward = Outline::forward(columns as usize, outline.largest).trials;
        let again = if outline.start == 0 && steps > size { (outline.trials - forward).max(0.0) } else { 0.0 };
        let follow = again * rows * 2.0 * size;
        let far = if self.keeps_columns { (8.0 * rows * columns * lambdas / NEAR).clamp(1.0, FAR) } else { 1.0 };
        // Candidates that are not kept are copied for every trial, and take in what has entered: half of it on average.
        let anew = if self.keeps_columns { 0.0 } else { (COPIED + (2.0 + 1.5 * apart) * size) * rows * outline.trials };
        let kept = self.columns_kept(outline);
        let made = (far - 1.0) * MADE * rows * columns;
        Estimate {
            engine: EngineId::RowsHeldOut.name(),
            reason: match self.is_standardized {
                true => "rows held out, columns standardized in each fold".into(),
                false => "rows held out".into(),
            },
            flops: lambdas * (made + losses + anew + far * (trial * outline.trials + follow + step * steps + set_up)),
            // The columns once, with their held-out residuals for each λ; of a backward search those selected alone.
            bytes: 8.0
                * (rows * kept * (parts + lambdas * if outline.start > 0 { 3.0 } else { 1.0 })
                    + rows * (outputs - 1.0) * (COPIES * parts + lambdas)
                    + self.apart(outline)),
        }
    }
}
