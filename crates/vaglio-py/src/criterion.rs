//! Criterion `python`: calls a Python function.

use crate::functions::{as_row, ask, check};
use vaglio_core::{Criterion, CriterionTraits, Design, Estimate, Feature, Plan, Result, Score, SearchExtent, part};

/// A Python function that scores a subset of columns.
///
/// Called for every trial of a search, one at a time, because the interpreter has one lock; there is no shortcut. Lower
/// is better, +∞ rejects a subset, and NaN is an error. The arguments are the columns of the subset, the targets and
/// the weights.
#[part(
    Criterion,
    "python",
    summary = "a function of Python that was registered under a name",
    example = "criterion: {kind: python, name: my_score}"
)]
#[derive(PartialEq, Eq)]
pub struct PythonCriterion {
    /// The name under which the function was registered.
    #[default("function".into())]
    pub name: String,
    /// Whether the empty subset's score compares with those of others, so that a search may end without columns.
    #[default(false)]
    pub compares_with_empty: bool,
}

impl Criterion for PythonCriterion {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let columns = design.columns().matrix(subset).reversed_axes();
        let arrays = [Some(columns), Some(design.targets().to_owned()), design.weights().map(as_row)];
        let names = subset.iter().map(|&feature| design.names()[feature].clone()).collect();
        Score::new(ask(&self.name, arrays, names)?).checked()
    }

    fn check_settings(&self) -> Result<()> {
        check(&self.name)
    }

    fn traits(&self) -> CriterionTraits {
        CriterionTraits { compares_with_empty: self.compares_with_empty, ..CriterionTraits::default() }
    }

    fn plan<'d>(&'d self, _: &'d Design, _: &SearchExtent) -> Plan<'d> {
        let reason = "every subset is scored by a function of Python, one at a time";
        Plan::by_definition(Estimate::unknown("python", reason))
    }
}
