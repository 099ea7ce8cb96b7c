//! A way to hold rows out for vaglio.

use vaglio_core::{Error, Result, prelude::*};

/// Holds out every n-th row, for each first row in turn.
#[part(Resampling, "template")]
pub struct Template {
    /// n, 2 or more.
    #[default(4)]
    pub every: usize,
}

impl Resampling for Template {
    fn splits(&self, problem: &Problem, _: Option<&Classes>) -> Result<Vec<Split>> {
        let held_out = |start: usize| (start..problem.rows()).step_by(self.every).collect();
        Ok((0..self.every.min(problem.rows())).map(|start| Split::holding_out(held_out(start))).collect())
    }

    fn check_settings(&self) -> Result<()> {
        Error::unless_between("every", self.every, 2..=1_000_000)
    }
}
