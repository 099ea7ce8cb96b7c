//! Checks of a bias, a constant column that is a candidate.

use crate::{Design, Error, Problem, Result};

impl Design {
    /// Refuses a bias if the readout has an intercept or uses other columns than the problem's.
    pub(crate) fn refuse_bias(&self, problem: &Problem) -> Result<()> {
        let Some(name) = problem.bias().map(|bias| &problem.names()[bias]) else { return Ok(()) };
        match self.readout().filter(|_| self.has_columns_of(problem)) {
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
    /// Error for methods that need columns to vary, which the bias `name` does not.
    pub fn without_spread(name: &str) -> Self {
        let why = format!("the bias `{name}` has no spread, so nothing depends on or correlates with it; leave it out");
        Error::setting("kind", why)
    }
}
