//! What is asked about the worth of a whole selection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vaglio_core::{AnyResampling, Criterion, Error, MOST_FOLDS, MOST_REPEATS, Result};
use vaglio_search::{Alternatives, Within};

/// Figures of the whole selection, choice of size and λ included, beside its optimistic score.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Evaluate {
    /// Everything is repeated on the training rows of outer folds, and judged on the rows held out.
    pub nested: Option<OuterFolds>,
    /// So many times everything is repeated on shuffled targets.
    #[schemars(extend("minimum" = 1, "maximum" = MOST))]
    pub permutations: Option<usize>,
    /// The search is repeated on complementary halves of the rows.
    pub stability: Option<Pairs>,
    /// The share of new rows that prediction intervals by the outer folds are to cover; for numbers.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub intervals: Option<f64>,
    /// The share of false discoveries among the columns that are confirmed, on average at most: each column has the smallest rate
    /// at which it is taken, and a verdict.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub fdr: Option<f64>,
    /// How much is computed of what each chosen column is worth: the score without it, and with others in its place.
    pub worth: Worths,
    /// Which subsets are as good as the chosen one: of those that the search met, or of all where it is `exhaustive`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<Alternatives>,
    /// The share of each chosen column in what the criterion's loss falls by (Shapley values), and over folds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shares: bool,
    /// Everything is repeated on a quarter, a half, three quarters and all of the training rows of outer folds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub learning_curve: bool,
}

/// How much is computed of what each chosen column is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Worths {
    /// What takes a quarter of the search's work at most; what is left out is named.
    #[default]
    Auto,
    /// All of it.
    All,
    /// None of it.
    None,
}

/// Outer folds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OuterFolds {
    /// How many.
    #[schemars(extend("minimum" = 2, "maximum" = MOST_FOLDS))]
    pub folds: usize,
    /// How often rows are dealt into them.
    #[schemars(extend("minimum" = 1, "maximum" = MOST_REPEATS))]
    pub repeats: usize,
    /// Rows that are held out otherwise than once each, in place of the folds; by default forward in time where the
    /// criterion's splits are, with so many folds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub splits: Option<AnyResampling>,
    /// The share of repetitions in which the interval of the loss is to hold the truth; by default 0.95.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<f64>,
}

impl Default for OuterFolds {
    fn default() -> Self {
        OuterFolds { folds: 5, repeats: 1, splits: None, interval: None }
    }
}

impl OuterFolds {
    /// # Errors
    /// [`Error::Setting`] with the field's path.
    pub(crate) fn check(&self) -> Result<()> {
        check(self.splits.as_ref())?;
        Error::unless_between("folds", self.folds, 2..=MOST_FOLDS)?;
        Error::unless_between("repeats", self.repeats, 1..=MOST_REPEATS)?;
        self.interval.map_or(Ok(()), |level| unless_share("interval", level))
    }
}

/// Pairs of complementary halves of the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pairs {
    /// How many.
    #[schemars(extend("minimum" = 1, "maximum" = MOST))]
    pub pairs: usize,
    /// Splits that part the rows into pieces, which stay whole in the halves: rows that the same splits hold out. By default
    /// ten blocks of time where the criterion's splits are forward in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub splits: Option<AnyResampling>,
}

impl Default for Pairs {
    fn default() -> Self {
        Pairs { pairs: 50, splits: None }
    }
}

/// Repetitions of a kind, at most.
const MOST: usize = 1_000_000;

impl Evaluate {
    /// The outer folds, which intervals need as well.
    pub fn outer_folds(&self) -> Option<OuterFolds> {
        self.nested.clone().or(self.intervals.map(|_| OuterFolds::default()))
    }

    /// The folds of the learning curve, which are the outer ones where there are any.
    pub fn learning_folds(&self) -> Option<OuterFolds> {
        self.learning_curve.then(|| OuterFolds { repeats: 1, ..self.outer_folds().unwrap_or_default() })
    }

    /// Checks what does not depend on data.
    ///
    /// # Errors
    /// [`Error::Setting`] with the field's path inside this block.
    pub(super) fn check(&self, criterion: &dyn Criterion) -> Result<()> {
        if let Some(alternatives) = &self.alternatives {
            alternatives.check()?;
            if matches!(alternatives.within, Within::Rule(_)) && criterion.loss().is_none() {
                let kind = criterion.typetag_name();
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
        self.fdr.map_or(Ok(()), crate::fdr::check_rate)?;
        self.intervals.map_or(Ok(()), |level| unless_share("intervals", level))
    }
}

fn unless_share(field: &str, share: f64) -> Result<()> {
    match share > 0.0 && share < 1.0 {
        true => Ok(()),
        false => Err(Error::setting(field, format!("{share} does not lie between 0 and 1"))),
    }
}

fn check(splits: Option<&AnyResampling>) -> Result<()> {
    splits.map_or(Ok(()), |splits| splits.check_settings().map_err(|error| error.under("splits")))
}
