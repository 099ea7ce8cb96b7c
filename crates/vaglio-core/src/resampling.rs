//! Resampling: splits of rows into training and held-out rows.

use crate::part_setting::{named_part, registered_traits};
use crate::{Classes, Part, Problem, Result, Split};
use std::fmt::Debug;

/// A way to hold rows out; its fields are its settings.
///
/// # Example
/// ```
/// use vaglio_core::{Classes, Problem, Resampling, Result, Split, part};
///
/// /// The last rows are held out.
/// #[part(Resampling, "last")]
/// struct Last {
///     /// How many rows.
///     #[default(20)]
///     rows: usize,
/// }
///
/// impl Resampling for Last {
///     fn splits(&self, problem: &Problem, _: Option<&Classes>) -> Result<Vec<Split>> {
///         let first = problem.rows().saturating_sub(self.rows);
///         Ok(vec![Split::holding_out((first..problem.rows()).collect())])
///     }
/// }
/// ```
pub trait Resampling: registered::Resampling + Debug + Send + Sync {
    /// The splits of the rows of a problem. A loss is the mean over all held-out rows; a row that is held out twice
    /// counts twice.
    ///
    /// Consecutive splits with disjoint held-out rows are computed together. `classes` are the classes to stratify by,
    /// if asked for: see [`ResamplingTraits::can_stratify`].
    ///
    /// # Errors
    /// [`crate::Error::Setting`] for impossible splits, with the field's path inside this resampling.
    fn splits(&self, problem: &Problem, classes: Option<&Classes>) -> Result<Vec<Split>>;

    /// Properties that the settings decide.
    fn traits(&self) -> ResamplingTraits {
        ResamplingTraits::default()
    }

    /// A resampling that repeats a whole search on so many folds, if training must not see later rows, for example.
    /// `None`, the default, allows ordinary folds.
    fn around_search(&self, _folds: usize) -> Option<Part<dyn Resampling>> {
        None
    }

    /// Checks the settings before any data are read.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] with the field's path inside this resampling.
    fn check_settings(&self) -> Result<()> {
        Ok(())
    }
}

registered_traits! { Resampling "resampling" }
named_part! { Resampling }

/// Maximum number of repeats of a resampling.
pub const MOST_REPEATS: usize = 10_000;

/// Properties of a resampling; by default it has none of them.
#[derive(Debug, Clone, Default)]
pub struct ResamplingTraits {
    /// Whether the splits are stratified when classes are given.
    pub can_stratify: bool,
    /// The column of the data that defines the splits, if a setting names one; it is no feature.
    pub assignment: Option<String>,
    /// The words allowed in that column: see [`CriterionTraits::assignment_words`](crate::CriterionTraits).
    pub assignment_words: &'static [&'static str],
    /// If splits go forward in time: number of untrained points in time just before held-out rows.
    pub gap: Option<usize>,
    /// Description for people: "5 blocks forward in time, each predicted from its past".
    pub sentence: Option<String>,
}

impl dyn Resampling + '_ {
    /// Description for people.
    pub fn sentence(&self) -> String {
        self.traits().sentence.unwrap_or_else(|| format!("the splits of `{}`", self.kind()))
    }
}
