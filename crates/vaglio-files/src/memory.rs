//! Memory of a run: its estimate before the search, and scratch space for runs that do not fit.

use super::evaluations::RunPlan;
use std::path::Path;
use vaglio_core::{Cause, Error, Result};
use vaglio_pipeline::pipeline::ValidPipeline;
use vaglio_pipeline::selector::{data_bytes, fit_bytes};
use vaglio_tables::budget::{Budget, release, shown};
use vaglio_tables::scratch::{Scratch, default_folder};

/// Peak memory of a run, in bytes.
pub struct PeakMemory {
    /// Columns, including those of a learner's map, and test rows.
    pub data: f64,
    /// Memory of the criterion's engine, if known. The system may not reclaim it after the search.
    pub search: Option<f64>,
    /// Rows and engine of one repetition of the search, such as a fold.
    pub repetition: f64,
    /// Number of repetitions in parallel if memory allows.
    pub repetitions: usize,
    /// Chosen columns and targets during the final fit. The fit reduces them to a triangle of columns or of rows,
    /// whichever are fewer.
    pub fit: f64,
}

impl PeakMemory {
    /// Estimates the memory of a planned run: each part is the largest over the search and those that `tune` compares
    /// with it, which are checked.
    ///
    /// # Errors
    /// Returns the errors of the compared searches, under `tune.search`.
    pub fn new(plan: &RunPlan<'_>) -> Result<Self> {
        let RunPlan { pipeline, prepared, design, .. } = *plan;
        let mut largest = PeakMemory::with_one_search(plan);
        for (place, compared) in pipeline.compared_searches() {
            let under = |error: Error| error.under(&format!("tune.search[{place}]"));
            compared.search.check(&*compared.criterion, design).map_err(under)?;
            let other = RunPlan::new(pipeline, &compared, prepared, design).map_err(under)?;
            let other = PeakMemory::with_one_search(&other);
            largest.search = largest.search.zip(other.search).map(|(own, other)| own.max(other));
            largest.repetition = largest.repetition.max(other.repetition);
            largest.repetitions = largest.repetitions.max(other.repetitions);
            largest.fit = largest.fit.max(other.fit);
        }
        Ok(largest)
    }

    fn with_one_search(plan: &RunPlan<'_>) -> Self {
        let RunPlan { prepared, design, searches, extent, estimate, .. } = plan;
        let test = prepared.test.as_ref().map_or(0, |test| test.columns().bytes());
        let [row_factor, test_row_factor] = prepared.row_factors;
        let rows = design.planned_rows() as f64;
        // Folds run in parallel, as do repetitions of all folds.
        let around: usize = searches.repetitions.iter().map(|(_, count)| count).sum();
        let around = around.min(rayon::current_num_threads());
        PeakMemory {
            repetition: design.problem().columns().bytes_of_rows(design.planned_rows())
                + 8.0 * rows * design.targets().nrows() as f64
                + estimate.bytes.max(0.0),
            repetitions: searches.folds.max(around * (1 + searches.folds)),
            data: row_factor * data_bytes(&prepared.train, design) + test_row_factor * test as f64,
            search: estimate.is_known().then_some(estimate.bytes),
            fit: fit_bytes(design, extent.largest),
        }
    }

    /// Bytes that the search on all rows and `program` bytes of the program leave for repetitions.
    pub fn bytes_left(&self, budget: Budget, program: f64) -> f64 {
        budget.limit() as f64 - program - self.known_bytes()
    }

    /// Known bytes of data, search and final fit on all rows.
    fn known_bytes(&self) -> f64 {
        self.data + self.search.unwrap_or(0.0) + self.fit
    }

    fn parts(&self, held: f64) -> String {
        let data = shown(self.data);
        let fit = shown(self.fit);
        let repeated = if held > 0.0 { format!(", {} for repetitions of it", shown(held)) } else { String::new() };
        match self.search.map(shown) {
            Some(search) => {
                format!("{data} for the data, {search} for the search{repeated} and {fit} for the final fit")
            }
            None => {
                format!("{data} for the data{repeated} and {fit} for the final fit; what the search takes is unknown")
            }
        }
    }

    /// Describes the estimate, with `program` bytes of the program and leftovers of reading, and the `exchanges` bytes
    /// that the engine needs besides to replace each selected column by every other.
    pub fn sentence(&self, budget: Budget, program: f64, exchanges: f64) -> String {
        let at = if self.search.is_some() { "at its peak" } else { "at least" };
        let held = match self.repetitions {
            0 => 0.0,
            count => {
                let fitting = (self.bytes_left(budget, program) / self.repetition) as usize;
                fitting.clamp(1, count) as f64 * self.repetition
            }
        };
        let mut out = format!("{} {at}: {}", shown(program + self.known_bytes() + held + exchanges), self.parts(held));
        if exchanges > 0.0 {
            out += &format!("; {} more for exchanges of the result", shown(exchanges));
        }
        if program > 0.0 {
            out += &format!("; {} for the program", shown(program));
        }
        out
    }

    /// Rejects a run that would exceed the limit.
    pub fn check(&self, budget: Budget) -> Result<()> {
        // One repetition always runs.
        let held = if self.repetitions > 0 { self.repetition } else { 0.0 };
        let what = format!("this run ({})", self.parts(held));
        let remedy = "take fewer columns or rows, set search.max_features, or raise the limit";
        budget.need_in_total(self.known_bytes() + held, what, remedy)
    }
}

/// Does some work, and does it again with scratch space where the memory does not suffice and `data.scratch` allows it.
/// A folder in `data.scratch` is used from the start. The space is open for as long as the second part of the result lives.
///
/// # Errors
/// Errors of the work; [`Error::Setting`] for a folder in which no scratch file can be made.
pub fn with_scratch<T>(
    pipeline: &ValidPipeline,
    folder: &Path,
    work: impl Fn() -> Result<T>,
) -> Result<(T, Option<Scratch>)> {
    let setting = pipeline.scratch();
    if let Some(path) = setting.folder() {
        let path = folder.join(path);
        let scratch = Scratch::open(&path);
        let scratch =
            scratch.map_err(|e| Error::setting("data.scratch", Cause::after(&path.display().to_string(), e)))?;
        return Ok((work()?, Some(scratch)));
    }
    let is_full = |error: &Error| error.field() == Some("limits.memory") && can_be_read_again(pipeline, folder);
    let refused = match work() {
        Err(error) if setting.is_auto() && is_full(&error) => error,
        done => return Ok((done?, None)),
    };
    release();
    match Scratch::open(&default_folder()) {
        Ok(scratch) => {
            tracing::info!("what does not fit the memory goes to scratch space: {refused}");
            Ok((work()?, Some(scratch)))
        }
        Err(why) => {
            tracing::info!("there is no scratch space in {}: {why}", default_folder().display());
            Err(refused)
        }
    }
}

/// Whether the training files can be read again; a pipe gives its bytes once.
fn can_be_read_again(pipeline: &ValidPipeline, folder: &Path) -> bool {
    let names = pipeline.data.iter().flat_map(|data| data.train.iter());
    let is_once = |name: &String| folder.join(name).metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
    !names.into_iter().any(is_once)
}
