//! The memory that a run takes, as far as that is known before its search.

use super::Prepared;
use super::plan::walks::Walks;
use vaglio_core::{Design, Estimate, Outline, Result};
use vaglio_pipeline::pipeline::Evaluate;
use vaglio_pipeline::resample::room::Room;
use vaglio_pipeline::selector::ValidSelector;
use vaglio_pipeline::selector::needs::{data_bytes, fit_bytes};
use vaglio_tables::budget::{Budget, shown};

/// Bytes at the peak of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Memory {
    /// The program, and what reading leaves behind, as far as this is known; it is no part of what a limit is compared with.
    pub program: f64,
    /// Columns, those that a learner's map makes included, and test rows.
    pub data: f64,
    /// What the criterion's engine keeps, if that is known. What the search gives back, the system may not.
    pub search: Option<f64>,
    /// What the engine keeps beyond that, when it tries every column in the place of each selected one.
    pub exchanges: f64,
    /// Rows and engine of one repetition of the search, such as that of a fold.
    pub repetition: f64,
    /// How many of these are held at once where there is room.
    pub repetitions: usize,
    /// The chosen columns and the targets, while the final fit reduces them to a triangle, or to one of the rows where these are
    /// few.
    pub fit: f64,
}

impl Memory {
    /// That of a run whose search is outlined, and whose engine says what it takes.
    pub fn of(prepared: &Prepared, design: &Design, outline: &Outline, estimate: &Estimate) -> Self {
        let (train, outputs) = (&prepared.train, prepared.train.targets().nrows());
        let test = prepared.test.as_ref().map_or(0, |test| test.columns().bytes());
        let [of_train, of_test] = prepared.times.unwrap_or([1.0, 1.0]);
        let rows = design.planned_rows() as f64;
        Memory {
            program: 0.0,
            exchanges: 0.0,
            repetition: design.columns().bytes_of_rows(design.planned_rows())
                + 8.0 * rows * outputs as f64
                + estimate.bytes.max(0.0),
            repetitions: 0,
            data: of_train * data_bytes(train, design) + of_test * test as f64,
            search: estimate.is_known().then_some(estimate.bytes),
            fit: fit_bytes(design, outline.largest, outputs),
        }
    }

    /// That of a run on this design.
    ///
    /// # Errors
    /// Those of the search's outline.
    pub fn before(
        selector: &ValidSelector,
        prepared: &Prepared,
        design: &Design,
        evaluate: Option<&Evaluate>,
    ) -> Result<Self> {
        let walks = Walks::of(selector, design, &prepared.sample, evaluate);
        let (outline, estimate) = selector.outlined(design, walks.lambdas)?;
        Ok(Memory::of(prepared, design, &outline, &estimate).repeated(&walks))
    }

    /// The same of a process that holds the data, and so many bytes with them.
    pub fn in_process(self, held: f64) -> Self {
        Memory { program: (held - self.data).max(0.0), ..self }
    }

    /// The same with so many walks.
    pub fn repeated(self, walks: &Walks) -> Self {
        // Folds go on together, each repetition around them by itself.
        let around = walks.around().min(rayon::current_num_threads());
        Memory { repetitions: walks.folds.max(around * (1 + walks.folds)), ..self }
    }

    /// What there is beside the walk on all rows.
    pub fn room(&self, budget: Budget) -> Room {
        Room::of(budget.limit() as f64 - self.program - self.whole(), self.repetition)
    }

    /// Bytes of the repetitions that are held at once.
    pub fn held(&self, budget: Budget) -> f64 {
        match self.repetitions {
            0 => 0.0,
            count => self.room(budget).some(count).0 as f64 * self.repetition,
        }
    }

    /// The same beside a program of so many bytes, where exchanging the columns of a result takes `exchanges`.
    pub fn with(self, program: f64, exchanges: f64) -> Self {
        let beyond = |search: f64| (exchanges - search).max(0.0);
        Memory { program, exchanges: self.search.map_or(0.0, beyond), ..self }
    }

    /// Bytes that data, search and final fit on all rows are known to ask for.
    fn whole(&self) -> f64 {
        self.data + self.search.unwrap_or(0.0) + self.fit
    }

    fn parts(&self, held: f64) -> String {
        let (data, fit) = (shown(self.data), shown(self.fit));
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

    /// In words, beside what may be taken.
    pub fn sentence(&self, budget: Budget) -> String {
        let (at, held) = (if self.search.is_some() { "at its peak" } else { "at least" }, self.held(budget));
        let peak = self.program + self.whole() + held + self.exchanges;
        let mut out = format!("{} {at}: {}", shown(peak), self.parts(held));
        if self.exchanges > 0.0 {
            out += &format!("; {} more for exchanges of the result", shown(self.exchanges));
        }
        if self.program > 0.0 {
            out += &format!("; {} for the program", shown(self.program));
        }
        out
    }

    /// Refuses a run that would take more than it may.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] of `limits.memory`.
    pub fn check(&self, budget: Budget) -> Result<()> {
        // One repetition goes on in any case.
        let held = if self.repetitions > 0 { self.repetition } else { 0.0 };
        let what = format!("this run ({})", self.parts(held));
        let remedy = "take fewer columns or rows, set search.max_features, or raise the limit";
        budget.in_all(self.whole() + held, what, remedy)
    }
}
