//! The memory that a run takes, as far as that is known before its search.

use super::Prepared;
use super::plan::forecast::Walks;
use crate::pipeline::Evaluate;
use crate::selector::ValidSelector;
use std::fmt;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Design, Estimate, Outline, Result};
use vaglio_kernels::ridge::Ridge;
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
    /// Rows and engine of a fold of the cross-validated search.
    pub folds: f64,
    /// The chosen columns and the targets, while the final fit reduces them to a triangle, or to one of the rows where these are
    /// few.
    pub fit: f64,
}

impl Memory {
    /// That of a run whose search is outlined, and whose engine says what it takes.
    pub fn of(prepared: &Prepared, design: &Design, outline: &Outline, estimate: &Estimate) -> Self {
        let (train, outputs) = (&prepared.train, prepared.train.targets().nrows());
        let mapped = if design.is_of(train) { 0 } else { design.columns().bytes() };
        let test = prepared.test.as_ref().map_or(0, |test| test.columns().bytes());
        let [of_train, of_test] = prepared.times.unwrap_or([1.0, 1.0]);
        let rows = design.planned_rows() as f64;
        let largest = outline.largest as f64;
        Memory {
            program: 0.0,
            exchanges: 0.0,
            folds: 8.0 * rows * (design.features() + outputs) as f64 + estimate.bytes.max(0.0),
            data: of_train * (train.columns().bytes() + mapped) as f64 + of_test * test as f64,
            search: estimate.is_known().then_some(estimate.bytes),
            fit: 8.0 * rows * (largest + 2.0 * outputs as f64) + Ridge::bytes(design.planned_rows(), outline.largest),
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
        let one_lambda = design.lambdas()[0].filter(|_| walks.lambdas > 1);
        let design = design.at_lambda(one_lambda).shared_by(walks.lambdas);
        let outline = selector.search().outline(&design).map_err(|error| error.under("search"))?;
        let effort =
            selector.search().effort(&**selector.criterion(), &design).map_err(|error| error.under("search"))?;
        let estimate = effort.beside(selector.criterion().estimate(&design, &outline));
        Ok(Memory::of(prepared, &design, &outline, &estimate))
    }

    /// The same beside a program of so many bytes, where exchanging the columns of a result takes `exchanges`.
    pub fn with(self, program: f64, exchanges: f64) -> Self {
        let beyond = |search: f64| (exchanges - search).max(0.0);
        Memory { program, exchanges: self.search.map_or(0.0, beyond), ..self }
    }

    /// Bytes that are known to be asked for.
    fn asked(&self) -> f64 {
        self.data + self.search.unwrap_or(0.0) + self.fit
    }

    fn parts(&self) -> String {
        let (data, fit) = (shown(self.data), shown(self.fit));
        match self.search.map(shown) {
            Some(search) => format!("{data} for the data, {search} for the search and {fit} for the final fit"),
            None => format!("{data} for the data and {fit} for the final fit; what the search takes is unknown"),
        }
    }

    /// Refuses a run that would take more than it may.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] of `limits.memory`.
    pub fn check(&self, budget: Budget) -> Result<()> {
        let what = format!("this run ({})", self.parts());
        let remedy = "take fewer columns or rows, set search.max_features, or raise the limit";
        budget.in_all(self.asked(), what, remedy)
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.search.is_some() { "at its peak" } else { "at least" };
        let peak = self.program + self.asked() + self.exchanges;
        write!(f, "{} {at}: {}", shown(peak), self.parts())?;
        if self.exchanges > 0.0 {
            write!(f, "; {} more for exchanges of the result", shown(self.exchanges))?;
        }
        if self.program > 0.0 {
            write!(f, "; {} for the program", shown(self.program))?;
        }
        Ok(())
    }
}
