//! Criteria: how good a subset of columns is.

use crate::part_setting::{named_part, registered_traits};
use crate::{Design, Estimate, Feature, Loss, Part, PartOutputs, Plan, Resampling, Result, Round, Score, SearchExtent};
use std::fmt::Debug;

/// A measure of how good a subset is; its fields are its settings.
///
/// Only [`Criterion::evaluate`] is required. It is the definition that every shortcut is tested against.
///
/// A score of +∞ refuses the subset: no search moves to it, and a search without another move ends. NaN is an error.
/// Only ratios of row weights matter: multiplying all weights and λ by one factor changes no score. A row of
/// weight 2 is the row given twice, except that:
/// - [`Criterion::folds`] holds both out together.
/// - A criterion that [counts rows](CriterionTraits::counts_rows) counts them as one.
/// - A [unit](crate::RowLabels::units) of rows has the mean of their weights.
pub trait Criterion: registered::Criterion + Debug + Send + Sync {
    /// The definition, by plain retraining: slow and obviously right.
    ///
    /// # Errors
    /// [`crate::Error::Numerical`] if retraining fails.
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score>;

    /// Properties of the criterion that do not depend on the design.
    fn traits(&self) -> CriterionTraits {
        CriterionTraits::default()
    }

    /// Plans how a search on a design is computed, and estimates its cost.
    ///
    /// By default every trial calls [`Criterion::evaluate`], at unknown cost. `extent` describes the search, for criteria
    /// that choose among several engines; it changes no result. `vaglio plan` calls this too, so expensive work belongs
    /// into the plan's closures.
    fn plan<'d>(&'d self, design: &'d Design, _extent: &SearchExtent) -> Plan<'d> {
        Plan::by_definition(Estimate::unknown(
            definition_engine(self.folds(design)),
            "every subset is evaluated by the criterion's definition",
        ))
    }

    /// Rows that are held out together; maps with `scope: fold` are refitted on each fold's training rows.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] if the folds cannot be made.
    fn folds(&self, _design: &Design) -> Result<HeldOut> {
        Ok(HeldOut::Nothing)
    }

    /// Checks the settings before any data are read.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] with the field's path inside this criterion.
    fn check_settings(&self) -> Result<()> {
        Ok(())
    }

    /// Refuses a design on which the criterion has no meaning, before the search starts.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] with the field's path inside this criterion.
    fn check(&self, _design: &Design) -> Result<()> {
        Ok(())
    }

    /// Findings on a chosen subset in addition to its score, for people.
    ///
    /// # Errors
    /// [`crate::Error::Numerical`].
    fn found(&self, _design: &Design, _subset: &[Feature]) -> Result<PartOutputs> {
        Ok(PartOutputs::default())
    }
}

registered_traits! { Criterion "criterion" }
named_part! { Criterion }

/// Properties of a criterion that do not depend on the design. By default the score is no loss and has none of these
/// properties.
#[derive(Debug, Clone, Default)]
pub struct CriterionTraits {
    /// The loss that the score is a mean of.
    pub loss: Option<Part<dyn Loss>>,
    /// Resampling that holds rows out; `None` if the criterion holds out each row once, or no row.
    pub splits: Option<Part<dyn Resampling>>,
    /// The column of the data that gives every row its fold; it is no feature.
    pub assignment: Option<String>,
    /// Words allowed in this column; [`RowLabels::assignment`](crate::RowLabels) gives a row the index of its word. If
    /// empty, values are numbered in order of appearance.
    pub assignment_words: &'static [&'static str],
    /// Whether it scores with one λ per output if the readout has several, by [`crate::single_outputs`].
    pub scores_each_output: bool,
    /// Whether the score depends on the number of rows, as information criteria and tests do. Each row of positive
    /// weight counts once, whatever the weights add up to.
    pub counts_rows: bool,
    /// Whether scores compare with the empty subset's, so that a search may select no column if none improves on it.
    pub compares_with_empty: bool,
    /// Whether sums of products of columns and targets, over rows that are held out together, determine the score. A
    /// condensed table, which keeps these sums alone, is refused otherwise.
    pub is_of_sums: bool,
    /// Whether the score of a subset does not depend on the other columns of the design.
    pub is_of_subset_alone: bool,
}

impl CriterionTraits {
    /// Properties of a mean loss: it compares with the empty subset and depends on no other column.
    pub fn from_loss(loss: Part<dyn Loss>) -> Self {
        CriterionTraits { loss: Some(loss), compares_with_empty: true, is_of_subset_alone: true, ..Self::default() }
    }
}

/// Engine of a criterion that is evaluated by its definition: `refit` if rows are held out.
pub fn definition_engine(folds: Result<HeldOut>) -> &'static str {
    if matches!(folds, Ok(HeldOut::Nothing)) { "definition" } else { "refit" }
}

/// Which rows a criterion holds out together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldOut {
    /// No rows: the score uses all of them for training.
    Nothing,
    /// Every row alone.
    EachRow,
    /// The rows of each fold, in every round.
    Folds(Vec<Round>),
}
