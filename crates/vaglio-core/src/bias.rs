//! Checks of a bias, a constant column that is a candidate.

use crate::engine::EngineDesign;
use crate::{Design, Error, Problem, Result};

impl Design {
    /// Refuses the bias of a problem beside an intercept, and where no readout of the columns themselves takes it.
    pub(crate) fn refuse_bias(&self, problem: &Problem) -> Result<()> {
        let Some(name) = problem.bias().map(|bias| &problem.names()[bias]) else { return Ok(()) };
        match self.readout().filter(|_| self.is_of(problem)) {
            Some(readout) if readout.intercept => Err(Error::setting(
                "intercept",
                format!("`{name}` is a bias that is selected and penalized like other columns; set it to false"),
            )),
            Some(_) => Ok(()),
            None => Err(Error::setting(
                "kind",
                format!(
                    "`{name}` is a bias for ridge regression on the columns themselves; use `rls`, or leave it out"
                ),
            )),
        }
    }
}

impl Error {
    /// The error for methods that divide by the spread of columns, which the bias `name` lacks.
    pub fn without_spread(name: &str) -> Self {
        let why = format!("the bias `{name}` has no spread, so nothing depends on or correlates with it; leave it out");
        Error::setting("kind", why)
    }
}
