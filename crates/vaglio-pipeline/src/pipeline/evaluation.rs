//! Evaluation settings of a whole procedure.

use crate::resampling::OuterFolds;
use vaglio_core::{AnyResampling, Criterion, Error, Result, setting};
use vaglio_search::{Alternatives, MOST_FOLDS, MOST_REPEATS, ScoreMargin};

/// Evaluation of the whole procedure, including the choice of size and λ; its score alone is optimistic.
#[setting]
#[derive(PartialEq, Default)]
#[serde(default)]
pub struct Evaluate {
    /// Nested cross-validation: repeats the procedure on the training rows of outer folds and evaluates on the held-out
    /// rows.
    pub nested: Option<OuterFolds>,
    /// Permutation test: number of repetitions of the procedure on shuffled targets.
    #[schemars(extend("minimum" = 1, "maximum" = MOST))]
    pub permutations: Option<usize>,
    /// Stability selection: repeats the search on complementary half-samples.
    pub stability: Option<Pairs>,
    /// Coverage of prediction intervals from the outer folds, as a share of new rows; for numbers.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub intervals: Option<f64>,
    /// Bound on the expected share of false discoveries among the confirmed columns. Each column gets a verdict and its
    /// q-value, the smallest rate that confirms it.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub fdr: Option<f64>,
    /// How much is computed of drop-column importance: the score without each chosen column, and with others in its
    /// place.
    pub worth: DropColumnBudget,
    /// Subsets as good as the chosen one: among those that the search visited, or among all if it is `exhaustive`.
    #[optional]
    pub alternatives: Option<Alternatives>,
    /// Shapley values of the chosen columns for the reduction of the criterion's loss, also by fold.
    #[optional]
    pub shares: bool,
    /// Learning curve: repeats the procedure on a quarter, a half, three quarters and all of the training rows of outer
    /// folds.
    #[optional]
    pub learning_curve: bool,
}

/// How much is computed of drop-column importance.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum DropColumnBudget {
    /// Results that take at most a quarter of the search's work; the rest is named as omitted.
    #[default]
    Auto,
    /// All results.
    All,
    /// No result.
    None,
}

impl OuterFolds {
    /// Checks the numbers of folds and repeats, and the confidence level.
    ///
    /// # Errors
    /// [`Error::Setting`] with the path of the field.
    pub(crate) fn check(&self) -> Result<()> {
        check(self.splits.as_ref())?;
        Error::unless_between("folds", self.folds, 2..=MOST_FOLDS)?;
        Error::unless_between("repeats", self.repeats, 1..=MOST_REPEATS)?;
        self.interval.map_or(Ok(()), |level| Error::unless_share("interval", level))
    }
}

/// Pairs of complementary half-samples.
#[setting]
#[derive(PartialEq)]
pub struct Pairs {
    /// Number of pairs.
    #[default(50)]
    #[schemars(extend("minimum" = 1, "maximum" = MOST))]
    pub pairs: usize,
    /// Splits whose held-out rows form blocks that half-samples keep whole. By default ten blocks of time if the
    /// criterion's splits are forward in time.
    #[optional]
    pub splits: Option<AnyResampling>,
}

/// Largest number of repetitions of a kind.
const MOST: usize = 1_000_000;

impl Evaluate {
    /// The outer folds, which prediction intervals need as well.
    pub fn outer_folds(&self) -> Option<OuterFolds> {
        self.nested.clone().or(self.intervals.map(|_| OuterFolds::default()))
    }

    /// The folds of the learning curve: the outer folds, if there are any.
    pub fn learning_folds(&self) -> Option<OuterFolds> {
        self.learning_curve.then(|| OuterFolds { repeats: 1, ..self.outer_folds().unwrap_or_default() })
    }

    /// Checks the settings that do not depend on data.
    ///
    /// # Errors
    /// [`Error::Setting`] with the path of the field inside this block.
    pub(super) fn check(&self, criterion: &dyn Criterion) -> Result<()> {
        if let Some(alternatives) = &self.alternatives {
            alternatives.check()?;
            if matches!(alternatives.within, ScoreMargin::OneSe) && criterion.traits().loss.is_none() {
                let kind = criterion.kind();
                let message = format!(
                    "`{kind}` is no loss of rows, so that its score has no standard error; give a number, a part of the score"
                );
                return Err(Error::setting("alternatives.within", message));
            }
        }
        if let Some(nested) = &self.nested {
            nested.check().map_err(|error| error.under("nested"))?;
        }
        if let Some(count) = self.permutations {
            Error::unless_between("permutations", count, 1..=MOST)?;
        }
        if let Some(Pairs { pairs, splits }) = &self.stability {
            Error::unless_between("stability.pairs", *pairs, 1..=MOST)?;
            check(splits.as_ref()).map_err(|error| error.under("stability"))?;
        }
        self.fdr.map_or(Ok(()), |rate| Error::unless_share("fdr", rate))?;
        self.intervals.map_or(Ok(()), |level| Error::unless_share("intervals", level))
    }
}

fn check(splits: Option<&AnyResampling>) -> Result<()> {
    splits.map_or(Ok(()), |splits| splits.check_settings().map_err(|error| error.under("splits")))
}
