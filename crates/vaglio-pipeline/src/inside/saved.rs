//! Saved models, and what they hold.

use super::Chain;
use crate::pipeline::{Calibration, HeldOutBy, History, SavedModel};
use crate::resample::{Pooled, Sample, Watcher};
use crate::selector::{Selection, ValidSelector};
use ndarray::ArrayView2;
use vaglio_core::{Cells, Design, Problem, Result, Table};

/// How a saved model is made, and what it predicts by.
pub trait SavedParts: Sized {
    /// The same as selected by these settings.
    fn made_by(self, selector: &ValidSelector) -> Self;

    /// The same with the features that a selection took.
    fn selecting(self, selection: &Selection) -> Self;

    /// What predicts rows of a table.
    fn chain(&self) -> Chain<'_>;
}

impl SavedParts for SavedModel {
    fn made_by(self, selector: &ValidSelector) -> Self {
        SavedModel::made_by(self, selector)
    }

    fn selecting(self, selection: &Selection) -> Self {
        SavedModel::selecting(self, selection)
    }

    fn chain(&self) -> Chain<'_> {
        SavedModel::chain(self)
    }
}

/// How probabilities are made.
pub trait CalibrationParts: Sized {
    /// By targets (±1, classes in outputs) and predictions of rows held out, outputs × rows; `None` without rows that
    /// count, and for predictions that are not finite.
    fn of_rows_held_out(
        from: HeldOutBy,
        targets: ArrayView2<'_, f64>,
        predictions: ArrayView2<'_, f64>,
        weights: &[f64],
    ) -> Option<Self>;

    /// The same by predictions of rows held out, of all folds.
    fn of_held_out(from: HeldOutBy, pooled: &Pooled) -> Option<Self>;

    /// The same by what the criterion holds out, from which the final subset is trained; `None` where single rows that do not
    /// stand for themselves are left out, and where the work was stopped. Cost: a fit of each fold.
    fn of_subset(
        selector: &ValidSelector,
        sample: &Sample,
        of: (&Problem, &Design),
        selection: &Selection,
        watcher: &Watcher<'_>,
    ) -> Option<Self>;
}

impl CalibrationParts for Calibration {
    fn of_rows_held_out(
        from: HeldOutBy,
        targets: ArrayView2<'_, f64>,
        predictions: ArrayView2<'_, f64>,
        weights: &[f64],
    ) -> Option<Self> {
        Calibration::new(from, targets, predictions, weights)
    }

    fn of_held_out(from: HeldOutBy, pooled: &Pooled) -> Option<Self> {
        Calibration::of_held_out(from, pooled)
    }

    fn of_subset(
        selector: &ValidSelector,
        sample: &Sample,
        of: (&Problem, &Design),
        selection: &Selection,
        watcher: &Watcher<'_>,
    ) -> Option<Self> {
        Calibration::of_subset(selector, sample, of, selection, watcher)
    }
}

/// The last training rows of a model.
pub trait HistoryParts: Sized {
    /// Of the cells of columns.
    fn of(columns: impl Iterator<Item = (String, Cells)>) -> Self;

    /// The rows as a table.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Shape`] for columns of unlike lengths.
    fn table(&self) -> Result<Table>;
}

impl HistoryParts for History {
    fn of(columns: impl Iterator<Item = (String, Cells)>) -> Self {
        History::of(columns)
    }

    fn table(&self) -> Result<Table> {
        History::table(self)
    }
}
