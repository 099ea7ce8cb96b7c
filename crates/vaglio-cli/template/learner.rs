//! A learner for vaglio.

use vaglio_core::{Result, prelude::*};

/// Ridge regression whose penalty grows with the rows.
#[part(Learner, "template")]
pub struct Template {
    /// λ is this times the number of rows, by weight.
    #[default(0.01)]
    pub share: f64,
}

impl Learner for Template {
    /// A ridge readout of the columns, for which criteria have shortcuts; any other learner has `None` and `refit`.
    fn readout(&self) -> Result<Option<Readout>> {
        Readout::new(vec![self.share], true).map(Some)
    }

    fn design(&self, problem: &Problem, readout: Readout) -> Result<Design> {
        let rows = problem.weights().map_or(problem.rows() as f64, |weights| weights.iter().sum());
        Ok(Design::identity(problem, Readout::new(vec![self.share * rows], readout.intercept)?))
    }
}
