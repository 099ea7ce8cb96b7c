//! Criteria: how good a subset of columns is.

use crate::{
    AnyLoss, AnyResampling, Correlation, Design, Feature, Found, Geometry, Outline, Result, Round, Score, Shortcut,
    registered,
};
use std::fmt::Debug;

/// A measure of how good a subset is; its fields are its settings.
///
/// Only [`Criterion::evaluate`] is required. It is the definition, and what every shortcut is tested against.
///
/// A score of +∞ is worse than any other and refuses the subset: a column whose addition or removal gives it is never the
/// best, and where all give it there is none, so that the search ends. NaN is an error. Of row weights only ratios matter: all
/// weights and λ times one factor change no score. A row of weight 2 is the row given twice, unless rows are held out
/// ([`Criterion::folds`]), where both are held out together, or counted ([`Criterion::counts_rows`]), where both are one row.
pub trait Criterion: registered::Criterion + Debug + Send + Sync {
    /// The definition, by plain retraining: slow and obviously right.
    ///
    /// # Errors
    /// [`crate::Error::Numerical`] where retraining fails.
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score>;

    /// The shortcut, where there is one for this design. `None`: every trial calls [`Criterion::evaluate`].
    ///
    /// `outline` says how far the search will go, for criteria that choose among several engines; it changes no result.
    ///
    /// # Errors
    /// [`crate::Error::Numerical`] when the columns over- or underflow.
    fn accelerate<'d>(&'d self, _design: &'d Design, _outline: &Outline) -> Result<Option<Shortcut<'d>>> {
        Ok(None)
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

    /// Whether the score depends on the number of rows, as information criteria and tests do. That is
    /// [`EngineDesign::counted_rows`](crate::engine::EngineDesign::counted_rows), whatever the weights add up to.
    fn counts_rows(&self) -> bool {
        false
    }

    /// The splits by which rows are held out, where they are not held out once each.
    fn splits(&self) -> Option<&AnyResampling> {
        None
    }

    /// The column of the data that gives every row its fold, if a setting names one; it is no feature.
    fn assignment(&self) -> Option<&str> {
        None
    }

    /// The words that this column may have, in the order of the numbers that [`Design::assignment`] has for them. Without
    /// any, its values are numbered as they come.
    fn assignment_words(&self) -> &'static [&'static str] {
        &[]
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

    /// Whether it scores with a λ for each output, where the readout has that: see [`EngineDesign::of_outputs`](crate::engine::EngineDesign::of_outputs).
    fn scores_each_output(&self) -> bool {
        false
    }

    /// The loss that the score is a mean of, if it is one.
    fn loss(&self) -> Option<AnyLoss> {
        None
    }

    /// Whether the score of the empty subset compares with those of others, so that a search whose best subset is no
    /// better than none takes none. By default where the score is a mean loss.
    fn compares_with_empty(&self) -> bool {
        self.loss().is_some()
    }

    /// Whether the score of a subset is the same on a design of its columns alone. By default where the score is a mean loss.
    fn is_of_subset_alone(&self) -> bool {
        self.loss().is_some()
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

    /// What a search would use and cost, for `plan`. By default the cost is not known.
    fn estimate(&self, design: &Design, _outline: &Outline) -> Estimate {
        Estimate::unknown(
            definition_engine(self.folds(design)),
            "every subset is evaluated by the criterion's definition",
        )
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

impl Estimate {
    /// Of work of which nothing is known.
    pub fn unknown(engine: &'static str, reason: impl Into<String>) -> Self {
        Estimate { engine, reason: reason.into(), flops: f64::NAN, bytes: f64::NAN }
    }

    /// Whether anything is known of the work.
    pub fn is_known(&self) -> bool {
        !(self.flops.is_nan() && self.bytes.is_nan())
    }

    /// The same work so many times.
    #[must_use]
    pub fn times(self, times: usize) -> Self {
        Estimate { flops: times as f64 * self.flops, bytes: times as f64 * self.bytes, ..self }
    }
}

/// The engine that a criterion would choose, and its cost.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// Its identifier in `selection.json`.
    pub engine: &'static str,
    /// Why it was chosen.
    pub reason: String,
    /// Floating-point operations of the search; NaN, as bytes are, where nothing is known.
    pub flops: f64,
    /// Bytes beside the data.
    pub bytes: f64,
}
