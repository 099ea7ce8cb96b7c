//! Fits pipelines and selectors on linfa datasets.

use super::fitted_pipeline::FittedPipeline;
use super::rows::{Rows, TableRecords};
use super::table_fit::TargetedTable;
use super::targets::TargetValue;
use super::{FitError, in_rust};
use crate::pipeline::{Pipeline, SavedModel, ValidPipeline, pool};
use crate::preprocess::LabeledTable;
use crate::resampling::{FittedProblem, Sample, StageMonitor, TunedSearch};
use crate::selector::{Selector, ValidSelector, check_parts, data_bytes, fit_bytes};
use linfa::ParamGuard;
use linfa::dataset::{AsTargets, DatasetBase};
use linfa::traits::Fit;
use std::sync::Arc;
use std::time::Instant;
use vaglio_core::{Design, Error, Problem, Result, Task};
use vaglio_search::{Journal, Monitor};
use vaglio_tables::budget::{Budget, shown};

impl ParamGuard for Selector {
    type Checked = ValidSelector;
    type Error = Error;

    fn check_ref(&self) -> Result<&ValidSelector> {
        check_parts(&*self.0.criterion, &self.0.search, &*self.0.learner)?;
        Ok(&self.0)
    }

    fn check(self) -> Result<ValidSelector> {
        self.check_ref()?;
        Ok(self.0)
    }
}

impl Pipeline {
    /// Fits maps, tunes, searches and trains on a dataset with groups, folds or series of rows.
    ///
    /// Uses the threads, limits and observer of the pipeline; the result does not depend on threads or observers.
    /// Missing cells are NaN and must be filled by a map. For classes, held-out predictions calibrate the
    /// probabilities.
    ///
    /// # Errors
    /// [`FitError::Vaglio`] for: settings that are invalid or that the data do not allow; numbers that are not finite;
    /// lists of another length than the rows; classes that cannot be distinguished; maps that drop rows; numerical
    /// failures.
    ///
    /// # Example
    /// ```
    /// use linfa::prelude::*;
    /// use ndarray::Array2;
    /// use vaglio::{Rows, prelude::*};
    ///
    /// // Three rows for each of eight patients.
    /// let x = Array2::from_shape_fn((24, 2), |(row, column)| (row * (7 + 4 * column) % 24) as f64);
    /// let dataset = Dataset::new(x.clone(), x.column(0).mapv(|value| 2.0 * value - 1.0));
    /// let patients: Vec<String> = (0..24).map(|row| format!("patient {}", row / 3)).collect();
    /// let pipeline = Pipeline::new(KFold::by_groups(), Greedy::new(1), Rls::default());
    /// let fitted = pipeline.fit_with(&dataset, &Rows::new().groups(patients))?;
    /// assert_eq!(fitted.selected(), ["feature-0"]);
    /// # Ok::<(), vaglio::FitError>(())
    /// ```
    pub fn fit_with<R: TableRecords, T: AsTargets<Elem = E>, E: TargetValue>(
        &self,
        dataset: &DatasetBase<R, T>,
        rows: &Rows,
    ) -> Result<FittedPipeline<E, T::Ix>, FitError> {
        let pipeline = self.check_ref()?;
        let (given, classes) = TargetedTable::from_dataset(dataset, rows)?;
        pipeline.fit_targeted(given, classes)
    }
}

impl ValidPipeline {
    /// Fits on a table; `classes` are the classes of its targets.
    pub(super) fn fit_targeted<E, I>(
        &self,
        given: TargetedTable,
        classes: Vec<E>,
    ) -> Result<FittedPipeline<E, I>, FitError> {
        self.fit_sample(given.names.clone(), classes, || {
            let (rows, task, outputs) = given.into_rows()?;
            self.sample(rows, task, outputs)
        })
    }

    /// Calls `work` on the threads of the pipeline, with its observer and within its time limit.
    pub(super) fn run_within_limits<T: Send>(
        &self,
        work: impl FnOnce(&mut Monitor<'_>) -> Result<T> + Send,
    ) -> Result<T> {
        self.engine.check_is_here()?;
        let stop = self.monitor.stop.clone().or_after(Instant::now(), self.most_time());
        let mut observer = self.monitor.clone();
        let mut monitor = Monitor { observer: &mut observer, journal: Journal::default(), stop };
        let done = match self.engine.threads {
            0 => work(&mut monitor),
            threads => pool(threads)?.install(|| work(&mut monitor)),
        };
        done.map_err(in_rust)
    }

    /// The sample of rows, and the problem made by maps fitted on all of them.
    pub(super) fn sample(
        &self,
        rows: LabeledTable,
        task: Task,
        outputs: Vec<String>,
    ) -> Result<(Sample, FittedProblem)> {
        let counting = rows.counted_rows().map_or(rows.table.rows(), |counting| counting.len());
        let recipe = Arc::new(self.recipe(task, outputs)?);
        let is_ordered = rows.labels.time.is_some() || self.selector().needs_order();
        let sample = Sample::new(rows, recipe, is_ordered)?;
        let fitted = sample.fit()?;
        if fitted.problem.rows() != counting {
            let message = "rows are dropped, which predictions cannot follow; use `vaglio::files::run`";
            return Err(Error::setting("preprocess", message));
        }
        Ok((sample, fitted))
    }

    /// Refuses a fit whose estimated memory exceeds the limit, if there is one. The estimate covers the columns, the
    /// search with its criterion's engine, and the final fit.
    pub(super) fn check_memory(&self, problem: &Problem, design: &Design) -> Result<()> {
        let Some(memory) = self.limits.memory else { return Ok(()) };
        let budget = Budget::new(memory.0);
        let compared = self.compared_searches().into_iter().map(|(_, compared)| compared);
        for selector in std::iter::once(self.selector()).chain(compared) {
            let (extent, estimate) = selector.extent_and_estimate(design)?;
            let (data, fit) = (data_bytes(problem, design), fit_bytes(design, extent.largest));
            let search = if estimate.is_known() { estimate.bytes.max(0.0) } else { 0.0 };
            let [for_data, for_search, for_fit] = [data, search, fit].map(shown);
            let what = format!(
                "this fit ({for_data} for the data, {for_search} for the search and {for_fit} for the final fit)"
            );
            let remedy = "take fewer columns or rows, set search.max_features, or raise the limit";
            budget.need_in_total(data + search + fit, what, remedy)?;
        }
        Ok(())
    }

    /// Tunes, searches and trains on the sample that `sample` makes. `targets` are the names of the target columns, and
    /// `classes` are their classes.
    pub(super) fn fit_sample<E, I>(
        &self,
        targets: Vec<String>,
        classes: Vec<E>,
        sample: impl FnOnce() -> Result<(Sample, FittedProblem)> + Send,
    ) -> Result<FittedPipeline<E, I>, FitError> {
        let (saved, selection) = self.run_within_limits(|monitor| {
            let (sample, FittedProblem { problem, maps, units }) = sample()?;
            let selector = self.selector();
            let design = selector.design(&problem)?;
            self.check_memory(&problem, &design)?;
            let found = selector.tuned_search(&sample, &problem, Some(design), monitor)?;
            let TunedSearch { selector, design, chosen_search, .. } = found;
            let selection = selector.fit_on(&problem, &design, chosen_search, monitor)?;
            let design = design.at_lambda(selection.chosen.path_lambda());
            let watcher = StageMonitor::new(monitor);
            let calibration = selector.calibration(&sample, &problem, &design, &selection, &watcher)?;
            let columns = match sample.table() {
                Some(table) => table.names().map(str::to_owned).collect(),
                None => problem.names().to_vec(),
            };
            let mut saved = SavedModel {
                calibration,
                columns: Some(columns),
                path: Some(selection.path.clone()),
                ..SavedModel::new(&selector, &selection, &problem, maps, units.as_deref())?
            };
            if let Some(observed) = &mut saved.observed {
                observed.targets = targets;
            }
            Ok((saved, selection))
        })?;
        Ok(FittedPipeline::new(saved, classes, selection))
    }
}

impl<R: TableRecords, T: AsTargets<Elem = E>, E: TargetValue> Fit<R, T, FitError> for ValidPipeline {
    type Object = FittedPipeline<E, T::Ix>;

    fn fit(&self, dataset: &DatasetBase<R, T>) -> Result<Self::Object, FitError> {
        let (given, classes) = TargetedTable::from_dataset(dataset, &Rows::new())?;
        self.fit_targeted(given, classes)
    }
}

impl<R: TableRecords, T: AsTargets<Elem = E>, E: TargetValue> Fit<R, T, FitError> for ValidSelector {
    type Object = FittedPipeline<E, T::Ix>;

    fn fit(&self, dataset: &DatasetBase<R, T>) -> Result<Self::Object, FitError> {
        ValidPipeline::from(self.clone()).fit(dataset)
    }
}
