//! Strategy of a search: how it walks subsets, and what the driver has to know of it.

use crate::lars::PathCoefficients;
use crate::penalties::Penalties;
use crate::search::Search;
use crate::settings::SearchSettings;
use crate::space::Space;
use std::fmt::Debug;
use vaglio_core::{Outline, Path, Result, SearchContext};

/// How a search walks subsets; the fields are its own settings.
///
/// The driver, [`Search`], checks the shared settings, makes the [`Space`] of them and chooses the result.
pub trait SearchStrategy: registered::SearchStrategy + Debug + Send + Sync {
    /// Walks the subsets of the space by changing the context's, and reports every step. [`run`](crate::run()) does all of it
    /// but the steps.
    ///
    /// # Errors
    /// The criterion's errors.
    fn run(&self, space: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path>;

    /// How far the search goes in a space, so that criteria can choose the cheapest engine, for `plan` and for progress.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] for settings that the space or the shared settings do not allow.
    fn extent(&self, space: &Space<'_>) -> Result<Outline>;

    /// What the driver has to know of the strategy.
    fn traits(&self) -> StrategyTraits<'_> {
        StrategyTraits::default()
    }
}

/// What the driver of searches has to know of a strategy.
#[derive(Debug)]
pub struct StrategyTraits<'s> {
    /// How the strategy goes through subsets.
    pub moves: Moves<'s>,
    /// The shared settings that the strategy has.
    pub settings: &'static [&'static str],
    /// Shared settings that mean nothing to the strategy and are refused when given.
    pub unused: &'static [UnusedSettings],
    /// Whether its own settings are possible on any data; an error names the field.
    pub check: Result<()>,
    /// The default of `tolerance`.
    pub tolerance: Option<f64>,
    /// The default of `patience` when none of `max_features`, `tolerance` and `patience` is given.
    pub patience: Option<usize>,
    /// Whether a search without `max_features` ends at as many features as there are rows.
    pub is_within_rows: bool,
}

impl Default for StrategyTraits<'_> {
    fn default() -> Self {
        StrategyTraits {
            moves: Moves::Steps,
            settings: &SearchSettings::NAMES,
            unused: &[],
            check: Ok(()),
            tolerance: None,
            patience: None,
            is_within_rows: false,
        }
    }
}

/// Shared settings that mean nothing to a strategy.
#[derive(Debug, Clone, Copy)]
pub struct UnusedSettings {
    /// Their names.
    pub names: &'static [&'static str],
    /// Why they mean nothing, and what to do.
    pub why: &'static str,
}

/// How a strategy goes through subsets.
#[derive(Debug, Clone, Copy)]
pub enum Moves<'s> {
    /// Adds and removes features.
    Steps,
    /// Takes all features.
    All,
    /// Visits or excludes every subset.
    EverySubset {
        /// Whether subsets nearly as good as the best are listed.
        lists: bool,
    },
    /// Follows a path of the criterion's [geometry](vaglio_core::Criterion::geometry).
    GeometryPath {
        /// Whose coefficients the model has.
        coefficients: PathCoefficients,
        /// The penalties at which the path is judged.
        penalties: Option<&'s Penalties>,
    },
    /// Runs these searches one after the other.
    Stages(&'s [Search]),
    /// Cross-validates these searches on the same folds and takes one.
    Race(&'s [Search]),
}

/// The words of strategies; [`part`](vaglio_core::part) and [`saved`](vaglio_core::saved) implement it.
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
