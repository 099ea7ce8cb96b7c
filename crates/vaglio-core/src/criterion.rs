//! Criteria: how good a subset of columns is.

use crate::{
    AnyLoss, AnyResampling, Correlation, Design, Estimate, Feature, Found, Geometry, Outline, Plan, Result, Round,
    Score, registered,
};
use std::fmt::Debug;

/// A measure of how good a subset is; its fields are its settings.
///
/// Only [`Criterion::evaluate`] is required. It is the definition, and what every shortcut is tested against.
///
/// A score of +∞ is worse than any other and refuses the subset: a column whose addition or removal gives it is never the
/// best, and where all give it there is none, so that the search ends. NaN is an error. Of row weights only ratios matter: all
/// weights and λ times one factor change no score. A row of weight 2 is the row given twice, unless rows are held out
/// ([`Criterion::folds`]), where both are held out together, or counted ([`CriterionTraits::counts_rows`]), where both are one row.
pub trait Criterion: registered::Criterion + Debug + Send + Sync {
    /// The definition, by plain retraining: slow and obviously right.
    ///
    /// # Errors
    /// [`crate::Error::Numerical`] where retraining fails.
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score>;

    /// What it is, whatever the design.
    fn traits(&self) -> CriterionTraits {
        CriterionTraits::default()
    }

    /// How a search on a design is computed, and what it costs; by default every trial by [`Criterion::evaluate`], at unknown cost.
    ///
    /// `outline` says how far the search will go, for criteria that choose among several engines; it changes no result. Made for
    /// `vaglio plan` too, so that the work belongs to the plan's start.
    fn plan<'d>(&'d self, design: &'d Design, _outline: &Outline) -> Plan<'d> {
        Plan::by_definition(Estimate::unknown(
            definition_engine(self.folds(design)),
            "every subset is evaluated by the criterion's definition",
        ))
    }

    /// Relevance and Gram columns that least-angle searches walk on; linear correlation unless overridden.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] where there is no such path, [`crate::Error::Numerical`].
    fn geometry<'d>(&'d self, design: &'d Design) -> Result<Box<dyn Geometry + 'd>> {
        Ok(Box::new(Correlation::new(design)?))
    }

    /// Which rows are held out together; a map with `scope: fold` is refitted on the others.
    ///
    /// A row of weight 2 is the row given twice, both held out together.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] for folds that cannot be made.
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

    /// Whether processes that make one search of the design together gain by it: trials that bounds do not spare take most of its work and leave
    /// no lasting [`Trace`](crate::Trace), or the work goes through [`EngineDesign::process_group`](crate::engine::EngineDesign::process_group).
    fn is_in_parts(&self, _design: &Design) -> bool {
        false
    }

    /// What it finds of a chosen subset beside its score, for people.
    ///
    /// # Errors
    /// [`crate::Error::Numerical`].
    fn found(&self, _design: &Design, _subset: &[Feature]) -> Result<Found> {
        Ok(Found::default())
    }
}

/// What a criterion is, whatever the design. The default is a score of no loss, without any of these properties.
#[derive(Debug, Clone, Default)]
pub struct CriterionTraits {
    /// The loss that the score is a mean of.
    pub loss: Option<AnyLoss>,
    /// The splits by which rows are held out, where they are not held out once each.
    pub splits: Option<AnyResampling>,
    /// The column of the data that gives every row its fold; it is no feature.
    pub assignment: Option<String>,
    /// The words that this column may have, in the order of the numbers of [`Design::assignment`]. Without any, its values are
    /// numbered as they come.
    pub assignment_words: &'static [&'static str],
    /// Whether it scores with a λ for each output, where the readout has that: see
    /// [`EngineDesign::of_outputs`](crate::engine::EngineDesign::of_outputs).
    pub scores_each_output: bool,
    /// Whether the score depends on the number of rows, as information criteria and tests do:
    /// [`EngineDesign::counted_rows`](crate::engine::EngineDesign::counted_rows), whatever the weights add up to.
    pub counts_rows: bool,
    /// Whether the score of the empty subset compares with others, so that a search whose best subset is no better takes none.
    pub compares_with_empty: bool,
    /// Whether the score of a subset is the same on a design of its columns alone.
    pub is_of_subset_alone: bool,
}

impl CriterionTraits {
    /// A mean loss, which compares with that of the empty subset and depends on no other column.
    pub fn from_loss(loss: AnyLoss) -> Self {
        CriterionTraits { loss: Some(loss), compares_with_empty: true, is_of_subset_alone: true, ..Self::default() }
    }
}

/// The engine of a criterion that is evaluated by its definition: where rows are held out that trains anew.
pub(crate) fn definition_engine(folds: Result<HeldOut>) -> &'static str {
    if matches!(folds, Ok(HeldOut::Nothing)) { "definition" } else { "refit" }
}

/// Which rows a criterion holds out together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldOut {
    /// None: its score is not one of rows held out.
    Nothing,
    /// Every row alone.
    EachRow,
    /// The rows of each fold, in every round.
    Folds(Vec<Round>),
}
