//! Searches and their strategies, with the properties that the driver asks for.

use crate::settings::SearchSettings;
use crate::space::Space;
use crate::{Path, SearchContext, Walk, run};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use vaglio_core::{Result, SearchExtent, StopReason, setting};

/// A strategy of walking subsets; the fields are its own settings.
///
/// [`Search`] checks the shared settings, creates the [`Space`] from them and chooses the result.
///
/// # Example
/// The whole of a greedy search:
/// ```
/// use vaglio_core::{Result, SearchExtent, StopReason, part};
/// use vaglio_search::{SearchStrategy, Space, Walk};
///
/// /// Adds the best column at each step.
/// #[part(SearchStrategy, "plain_greedy")]
/// struct PlainGreedy {}
///
/// impl SearchStrategy for PlainGreedy {
///     fn walk(&self, walk: &mut Walk<'_, '_>) -> Result<StopReason> {
///         walk.enter_forced()?;
///         loop {
///             let best = walk.best_addition()?;
///             walk.allow(walk.lowest() - best.score.loss, walk.has_least())?;
///             walk.add(best)?;
///         }
///     }
///
///     fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
///         Ok(space.forward())
///     }
/// }
/// ```
pub trait SearchStrategy: registered::SearchStrategy + Any + Debug + Send + Sync {
    /// Walks from the empty subset by steps until it ends; returns why. [`Search`] records the path, chooses the result
    /// and polishes it.
    ///
    /// # Errors
    /// Errors of the criterion and of steps.
    fn walk(&self, _walk: &mut Walk<'_, '_>) -> Result<StopReason> {
        Ok(StopReason::NoCandidates)
    }

    /// The extent of the search in a space. Criteria choose their engine by it; `plan` and progress use it too.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] for settings that the space or the shared settings do not allow.
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent>;

    /// Refuses settings that are invalid for every data set: the strategy's own, or shared ones that do not apply to it
    /// ([`SearchSettings::refuse`]).
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] with the field.
    fn check_settings(&self, _shared: &SearchSettings) -> Result<()> {
        Ok(())
    }

    /// The properties of the strategy.
    fn traits(&self) -> StrategyTraits {
        StrategyTraits::default()
    }

    /// Searches the space from the context's subset, which is empty. By default, [`walk`](SearchStrategy::walk) makes the
    /// steps; only a search that has no steps needs more.
    ///
    /// # Errors
    /// Errors of the criterion.
    fn run(&self, space: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        run(space, context, |walk| self.walk(walk))
    }
}

/// Properties of a strategy for the driver of searches.
#[derive(Debug, Default)]
pub struct StrategyTraits {
    /// Whether no shared setting can be given, as to a chain, whose searches have their own.
    pub is_without_settings: bool,
    /// The default of `tolerance`.
    pub tolerance: Option<f64>,
    /// The default of `patience` when none of `max_features`, `tolerance` and `patience` is given.
    pub patience: Option<usize>,
    /// Whether a search without `max_features` ends at as many features as there are rows.
    pub is_within_rows: bool,
}

/// Source of the coefficients of a least-angle path's model.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum PathCoefficients {
    /// The readout, trained on the columns that the path chose.
    #[default]
    Refit,
    /// The path where its next event begins: with `lasso` the model is that of the lasso. The score of a subset
    /// stays that of the readout; what the whole search loses on rows held out is the path's.
    Path,
}

/// A search: the settings that all searches share, and the strategy that walks.
///
/// In pipeline files both are in one map: `{kind: backward, min_features: 5, step: 0.1}`.
///
/// ```
/// use vaglio_search::{Backward, Greedy, Search};
///
/// let greedy = Greedy::new(10).tolerance(1e-6);
/// assert_eq!((greedy.kind(), greedy.settings.max_features), ("greedy", Some(10)));
/// let backward = Search::new(Backward { step: 0.1.into() }).min_features(5);
/// assert_eq!(backward.settings.min_features, Some(5));
/// ```
#[derive(Debug, Clone)]
pub struct Search {
    /// The settings that all searches share.
    pub settings: SearchSettings,
    /// The strategy, with settings of its own.
    pub strategy: Arc<dyn SearchStrategy>,
}

/// Registry of strategies by word; [`part`](vaglio_core::part) and [`saved`](vaglio_core::saved) implement it.
#[doc(hidden)]
pub mod registered {
    use vaglio_core::typetag;

    #[typetag::serde(tag = "kind")]
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is a search without a word in pipeline files",
        label = "has no word",
        note = "put `#[vaglio_core::part(SearchStrategy, \"its_word\")]` on the struct"
    )]
    pub trait SearchStrategy: Send + Sync {
        fn part(self: Box<Self>) -> Box<dyn crate::SearchStrategy>;
    }
}
