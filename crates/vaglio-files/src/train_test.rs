//! The data of a run: training and test rows.

use vaglio_core::{Error, Loss, MapFormulas, Model, Problem, Result, Table, Task};
use vaglio_pipeline::pipeline::SavedReadOptions;
use vaglio_pipeline::resampling::{FoldTestRows, PooledPredictions, Sample};
use vaglio_pipeline::target_maps::TargetUnits;
use vaglio_report::record::{ColumnRun, Figures, LeftOutRows, Warning};
use vaglio_tables::read::Digest;
use vaglio_tables::scratch::Scratch;

/// The data of a run.
#[derive(Debug)]
pub struct TrainTest {
    /// Training rows.
    pub train: Problem,
    /// Test rows with the same candidate columns, if any; targets in the user's units.
    pub test: Option<Problem>,
    /// The maps, fitted on the training rows.
    pub maps: Vec<MapFormulas>,
    /// Map and scale of each target, if any.
    pub target_units: Option<Vec<TargetUnits>>,
    /// Training rows of positive weight.
    pub rows: usize,
    /// Hash of the training files, possibly still being computed while the search runs.
    pub digest: Digest,
    /// Names of the target columns.
    pub targets: Vec<String>,
    /// Prediction horizons of the targets, in steps; empty if they are of the row itself.
    pub horizons: Vec<usize>,
    /// Rows of the training file that were split off as test rows, from 1 and increasing.
    pub test_rows: Option<Vec<usize>>,
    /// Rows left out, by reason.
    pub left_out: Vec<LeftOutRows>,
    /// Inferred use of the training file's columns.
    pub columns: Vec<ColumnRun>,
    /// Warnings from checks of the table.
    pub data_warnings: Vec<Warning>,
    /// Settings for reading other files with these columns.
    pub(crate) reading: SavedReadOptions,
    /// Estimated training and test rows per row that was read: above 1 in a sample.
    pub(crate) row_factors: [f64; 2],
    /// Each series up to its last training or test row, if maps use lags of a target.
    pub(crate) history: Option<Table>,
    /// The training rows before the maps.
    pub(crate) sample: Sample,
    /// Original positions of the training rows, from 0, if rows were left out or reordered and no map changed them.
    pub(crate) origins: Option<Vec<usize>>,
    /// Original positions of the test rows, from 0, unless maps leave rows out.
    pub(crate) test_numbers: Option<Vec<usize>>,
    /// The scratch space that its columns may lie in.
    pub(crate) scratch: Option<Scratch>,
}

impl TrainTest {
    /// Figures of a model on the test rows, in the target's units; `None` without test rows.
    ///
    /// # Errors
    /// Returns the errors of [`Model::predict`]; [`Error::Shape`] if no test row has positive weight.
    pub fn figures(&self, model: &Model, loss: &dyn Loss) -> Result<Option<Figures>> {
        let found = self.test_predictions(model)?;
        found.map(|pooled| self.test_figures(&pooled, loss)).transpose()
    }

    /// Figures of predictions of the test rows.
    pub(super) fn test_figures(&self, pooled: &PooledPredictions, loss: &dyn Loss) -> Result<Figures> {
        if pooled.weights.iter().all(|weight| *weight == 0.0) {
            return Err(Error::Shape("no test row counts: no series is longer than the learner's warm-up".into()));
        }
        Ok(self.pooled_figures(pooled, loss))
    }

    /// Figures of predictions of rows held out once.
    pub(super) fn pooled_figures(&self, pooled: &PooledPredictions, loss: &dyn Loss) -> Figures {
        let figures = pooled.figures(self.train.class_order().as_ref(), loss, 1);
        figures.with_output_names(self.train.target_names())
    }

    /// A model's predictions of the test rows, with their targets; `None` without test rows.
    pub(super) fn test_predictions(&self, model: &Model) -> Result<Option<PooledPredictions>> {
        let Some(problem) = &self.test else { return Ok(None) };
        let rows = FoldTestRows::new(problem, self.target_units.as_deref(), &self.train);
        Ok(Some(rows.with_predictions(model, PooledPredictions::from_rows)?))
    }

    /// Whether targets are numeric.
    pub(super) fn is_regression(&self) -> bool {
        *self.train.task() == Task::Regression
    }

    /// Row number in the training data, from 1, of a position in the sample.
    pub(crate) fn row_number(&self, place: usize) -> usize {
        1 + match self.sample.table() {
            Some(table) => table.origin(place),
            None => self.origins.as_ref().map_or(place, |origins| origins[place]),
        }
    }

    /// The training rows with targets in the user's units.
    pub(super) fn train_in_units(&self) -> Result<Problem> {
        let mut targets = self.train.targets().as_ref().clone();
        for (mut target, units) in targets.rows_mut().into_iter().zip(self.target_units.iter().flatten()) {
            target.mapv_inplace(|y| units.value(y));
        }
        self.train.with_targets(targets)
    }
}
