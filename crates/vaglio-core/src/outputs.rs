//! A λ for each output: one subset, scored for each output by itself.

use crate::{AnyLoss, Design, Error, Result};
use std::sync::OnceLock;

/// The designs of single outputs, made when they are first asked for; a copy of a design makes its own.
#[derive(Debug, Default)]
pub(crate) struct OfOutputs(OnceLock<Vec<Design>>);

impl Clone for OfOutputs {
    fn clone(&self) -> Self {
        OfOutputs::default()
    }
}

impl Design {
    /// The designs of single outputs, where there are several and each has its own λ.
    pub fn of_outputs(&self) -> Option<&[Design]> {
        let outputs = self.targets().nrows();
        if outputs < 2 || !self.readout().is_some_and(|readout| readout.each_output) {
            return None;
        }
        Some(self.of_outputs.0.get_or_init(|| (0..outputs).map(|output| self.of_output(output)).collect()))
    }

    /// Refuses a λ for each output with a loss that is not a mean over outputs.
    ///
    /// # Errors
    /// [`Error::Setting`] on `loss`.
    pub fn check_outputs(&self, loss: &AnyLoss) -> Result<()> {
        let refused = |why: &str| {
            Err(Error::setting(
                "loss",
                format!("`lambda: {{outputs: each}}` takes a lambda by the loss of its output, and {why}"),
            ))
        };
        let Some(readout) = self.readout().filter(|_| self.of_outputs().is_some()) else { return Ok(()) };
        if !loss.is_over_outputs() {
            return refused(&format!("`{}` is of all outputs together; use `squared` or `absolute`", loss.name()));
        }
        if readout.balanced {
            return refused("a readout that balances classes weighs rows by all of them; use the learner `rls`");
        }
        match self.decisions() {
            Some(_) => refused("predictions are averaged over rows here; share lambda"),
            None => Ok(()),
        }
    }
}
