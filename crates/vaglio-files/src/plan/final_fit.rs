//! How long a learner takes that is trained on the chosen columns.

use super::clock::Clock;
use super::pace::{alone, least};
use vaglio_core::{Feature, Monitor, Problem, Silent};
use vaglio_pipeline::selector::ValidSelector;

/// Seconds of a fit by rows, as a power of them that two tries tell.
#[derive(Debug, Clone, Copy)]
pub(super) struct FinalFit {
    rows: f64,
    seconds: f64,
    power: f64,
}

/// Rows of the larger try, of which the other has half.
const ROWS: usize = 512;
/// The powers of rows that fits take.
const POWERS: (f64, f64) = (1.0, 3.0);

impl FinalFit {
    /// Of the model of a pipeline on so many of its columns; `None` where there is none, or it cannot be tried.
    pub fn tried(selector: &ValidSelector, problem: &Problem, size: usize) -> Option<Self> {
        let model = selector.model()?;
        let columns: Vec<Feature> = (0..problem.names().len().min(size.max(1))).collect();
        let seconds = |rows: usize| {
            let rows: Vec<usize> = (0..rows).map(|row| row * problem.rows() / rows).collect();
            let some = problem.view_rows(&rows);
            alone(|| {
                least(|| {
                    let clock = Clock::start();
                    model.train(selector, &some, &columns, &mut Monitor::from(&mut Silent)).ok()?;
                    Some(clock.seconds())
                })
            })?
        };
        let rows = ROWS.min(problem.rows());
        let (half, seconds) = (seconds(rows / 2)?, seconds(rows)?);
        let power = (seconds / half.max(1e-9)).log2().clamp(POWERS.0, POWERS.1);
        Some(FinalFit { rows: rows as f64, seconds, power })
    }

    /// Seconds of one on so many rows.
    pub fn of(&self, rows: f64) -> f64 {
        self.seconds * (rows / self.rows).powf(self.power)
    }
}
