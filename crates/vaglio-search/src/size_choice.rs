//! The rule that picks the result from a path.

use crate::PathEntry;
use crate::gain_requirement::RequireGain;
use serde::de::{self, MapAccess};
use serde::{Deserialize, Serialize, Serializer};
use std::ops::RangeInclusive;
use vaglio_core::{Error, MOST_REPEATS, MixedSetting, Part, Resampling, Score, first_key, is_lower, setting};

/// The rule that picks the result from the entries of a path.
///
/// In files a word (`auto`, `best`, `last`, `one_se`), a number of features, or the settings of [`CrossValidation`].
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Choose {
    /// By cross-validation of the whole search where the criterion has a loss, else the lowest score.
    #[default]
    Auto,
    /// The lowest score; the fewest features among equals.
    Best,
    /// The size that was reached last.
    Last,
    /// The fewest features whose score is within one standard error of the lowest. This is the standard error of the
    /// score itself, since a criterion gives no losses of single rows. [`Rule::OneSe`] compares cross-validated losses.
    OneSe,
    /// This number of features, or the largest smaller size that was reached.
    Size(usize),
    /// The size and the λ of the whole walk with the lowest loss, when the search is repeated on the training rows of
    /// folds.
    CrossValidated(CrossValidation),
    /// The features that are confirmed at this false discovery rate, whatever they score.
    FalseDiscoveries(f64),
}

/// Cross-validation of a whole search.
#[setting(builder)]
#[derive(PartialEq)]
pub struct CrossValidation {
    /// Rule that chooses among the compared sizes and λ.
    pub rule: Rule,
    /// Number of folds.
    #[default(5)]
    #[schemars(extend("minimum" = 2, "maximum" = MOST_FOLDS))]
    pub folds: usize,
    /// Number of times that rows are assigned to folds.
    #[default(1)]
    #[schemars(extend("minimum" = 1, "maximum" = MOST_REPEATS))]
    pub repeats: usize,
    /// The fewest features whose loss is above the lowest by this share of it at most, in place of the rule; 0.05 are 5 %.
    #[schemars(extend("minimum" = 0))]
    #[optional]
    pub within: Option<f64>,
    /// The largest size that is compared.
    #[optional]
    pub at_most: Option<usize>,
    /// Sizes that did not lower the loss after which the walks at a λ end in all folds, though never before 20 sizes, and
    /// with them those of a λ whose loss is above the lowest by five standard errors; `null`: they go as far as the search.
    #[schemars(extend("minimum" = 1))]
    #[default(Some(10))]
    pub patience: Option<usize>,
    /// Rows that are held out otherwise than once each, in place of the folds; by default forward in time where the
    /// criterion's splits are, with so many folds.
    #[optional]
    pub splits: Option<Part<dyn Resampling>>,
    /// Level of the test that columns say more of the target than noise does; `never` makes no test. `unless` is read as well.
    #[serde(alias = "unless")]
    #[optional]
    pub require_gain: RequireGain,
    /// The scale of the losses that choose size and λ, where there is a `target_map`.
    #[optional]
    pub judge: Judge,
    /// The share of repetitions in which the intervals of the chosen loss are to hold the truth; 0.95 by default.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    #[optional]
    pub interval: Option<f64>,
}

impl CrossValidation {
    /// Cross-validation with this number of folds, without repeats.
    pub fn new(folds: usize) -> Self {
        CrossValidation { folds, ..CrossValidation::default() }
    }

    /// Whether the lowest loss is taken, however many features it has.
    pub fn is_lowest(&self) -> bool {
        self.rule == Rule::Best && self.within.is_none()
    }

    /// Checks all settings that need no data.
    ///
    /// # Errors
    /// [`Error::Setting`] for too many folds, no or too many repeats, a negative or infinite `within`, or one
    /// next to another rule; also for an `interval` outside (0, 1), and the errors of `require_gain` and `splits`.
    pub fn check(&self) -> vaglio_core::Result<()> {
        // Too few folds are refused when rows are assigned to them.
        if self.folds > MOST_FOLDS {
            Error::unless_between("folds", self.folds, 2..=MOST_FOLDS)?;
        }
        Error::unless_between("repeats", self.repeats, 1..=MOST_REPEATS)?;
        if let Some(within) = self.within {
            if !(within.is_finite() && within >= 0.0) {
                return Err(Error::setting("within", format!("{within} is no share; 0.05 are 5 % of the lowest loss")));
            }
            if self.rule != Rule::Best {
                return Err(Error::setting("within", "it is a rule by itself; leave `rule` out"));
            }
        }
        self.interval.map_or(Ok(()), |level| Error::unless_share("interval", level))?;
        if let Some(level) = self.require_gain.level() {
            Error::unless_between("require_gain", level, RequireGain::LEAST..=0.5)?;
        }
        self.splits.as_ref().map_or(Ok(()), |splits| splits.check_settings().map_err(|error| error.under("splits")))
    }
}

/// Maximum number of folds of a cross-validated search.
pub const MOST_FOLDS: usize = 1_000_000;

/// Rule that chooses among sizes with estimated losses.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Rule {
    /// The lowest loss.
    #[default]
    Best,
    /// The fewest features, then the largest λ, whose difference to the lowest loss, on the same rows, is within one standard
    /// error of that difference.
    OneSe,
}

/// A scale of targets that are mapped.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Judge {
    /// The units of the data.
    #[default]
    Original,
    /// The mapped targets.
    Mapped,
}

impl Judge {
    /// The other scale.
    #[must_use]
    pub fn other(self) -> Self {
        if self == Judge::Original { Judge::Mapped } else { Judge::Original }
    }
}

impl From<CrossValidation> for Choose {
    fn from(how: CrossValidation) -> Self {
        Choose::CrossValidated(how)
    }
}

impl From<usize> for Choose {
    fn from(size: usize) -> Self {
        Choose::Size(size)
    }
}

impl Choose {
    /// Words in files for the choices without settings.
    const WORDS: [(&'static str, Choose); 4] =
        [("auto", Choose::Auto), ("best", Choose::Best), ("last", Choose::Last), ("one_se", Choose::OneSe)];

    /// Index of the chosen entry among those of an allowed size; `None` without entries.
    ///
    /// `entries` are in increasing size and `last` is the index of the size reached last. Choices by cross-validation
    /// are made by whoever repeats the search; on a single walk they take the lowest score. `OneSe` takes the lowest
    /// score if no standard error is known.
    pub fn pick(&self, entries: &[PathEntry], last: usize, allowed: &RangeInclusive<usize>) -> Option<usize> {
        let size = |index: usize| entries[index].subset.len();
        let loss = |index: usize| entries[index].score.loss;
        let mut open = (0..entries.len()).filter(|&index| allowed.contains(&size(index)));
        let lowest = open.clone().min_by(|&a, &b| loss(a).total_cmp(&loss(b)))?;
        let best = open.clone().find(|&index| !is_lower(loss(lowest), loss(index))).unwrap_or(lowest);
        match *self {
            Choose::Best | Choose::Auto | Choose::CrossValidated(_) | Choose::FalseDiscoveries(_) => Some(best),
            Choose::Last => open.rfind(|&index| index <= last).or(Some(best)),
            Choose::OneSe => {
                let bound = loss(best) + entries[best].standard_error.unwrap_or(0.0);
                open.find(|&index| loss(index) <= bound)
            }
            Choose::Size(most) => open.clone().rfind(|&index| size(index) <= most).or_else(|| open.next()),
        }
    }

    /// Whether the empty subset is taken instead of an entry of an allowed size.
    ///
    /// It is if size 0 is allowed and no entry lowers its score by at least `drop`. `OneSe` also takes it within one
    /// standard error of the lowest score. `Size`, `Last` and `FalseDiscoveries` never do.
    pub fn takes_none(&self, empty: Score, entries: &[PathEntry], allowed: &RangeInclusive<usize>, drop: f64) -> bool {
        let is_by_score = !matches!(self, Choose::Last | Choose::Size(_) | Choose::FalseDiscoveries(_));
        let best = Choose::Best.pick(entries, 0, allowed).filter(|_| is_by_score && allowed.contains(&0));
        let Some(best) = best.map(|best| &entries[best]) else { return false };
        let beats = is_lower(best.score.loss, empty.loss) && empty.loss - best.score.loss >= drop;
        let error = if *self == Choose::OneSe { best.standard_error } else { None };
        !beats || error.is_some_and(|error| empty.loss <= best.score.loss + error)
    }
}

impl Serialize for Choose {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Choose::Size(size) => size.serialize(serializer),
            Choose::CrossValidated(how) => how.serialize(serializer),
            Choose::FalseDiscoveries(fdr) => AtRate { fdr: *fdr }.serialize(serializer),
            word => {
                let word = Choose::WORDS.iter().find(|(_, choose)| choose == word).map_or("", |(word, _)| word);
                serializer.serialize_str(word)
            }
        }
    }
}

vaglio_core::mixed_setting!(Choose);

impl MixedSetting for Choose {
    const EXPECTED: &'static str =
        "`best`, `last`, `one_se`, a number of columns, {rule: best, folds: 5, repeats: 1} or {fdr: 0.1}";

    fn from_text<E: de::Error>(word: &str) -> Result<Self, E> {
        let known = Choose::WORDS.iter().find(|(name, _)| *name == word).map(|(_, choose)| choose.clone());
        known.ok_or_else(|| E::unknown_variant(word, &["auto", "best", "last", "one_se"]))
    }

    fn from_whole<E: de::Error>(size: i128) -> Result<Self, E> {
        let size = usize::try_from(size).map_err(|_| E::custom(format!("{size} columns cannot be chosen")));
        size.map(Choose::Size)
    }

    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let (first, map) = first_key(map)?;
        match first.as_deref() == Some("fdr") {
            true => AtRate::deserialize(map).map(|at| Choose::FalseDiscoveries(at.fdr)),
            false => CrossValidation::deserialize(map).map(Choose::CrossValidated),
        }
    }
}

/// The rate of [`Choose::FalseDiscoveries`].
#[setting]
#[schemars(rename = "FalseDiscoveries")]
struct AtRate {
    /// The share of false discoveries among the columns that are taken, on average at most.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    fdr: f64,
}

vaglio_core::schema!(Choose, by_folds: CrossValidation, at_rate: AtRate => {
    "description": "Which size is the result: by cross-validation of the whole search (a map; the default where the criterion has a loss), the lowest score, the last size, the fewest columns within one standard error of the lowest score, a number of columns, or those that are confirmed at a rate of false discoveries.",
    "anyOf": [
        {"type": "string", "enum": ["auto", "best", "last", "one_se"]},
        {"type": "integer", "minimum": 0},
        by_folds,
        at_rate
    ]
});
