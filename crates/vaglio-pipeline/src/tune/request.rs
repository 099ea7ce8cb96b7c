//! Tuning of a learner's settings: parameters and the method.

use super::bounds::Bounds;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use vaglio_core::{join, setting};
use vaglio_search::Search;

/// Which settings of the learner are tuned, within which bounds, and how; and which searches are compared.
///
/// Minimizes over θ in a box the criterion of the learner with the settings θ: of all columns that its map makes, or of
/// the subset that the search finds. Each parameter is scaled to \[0, 1\], linearly or in its logarithm; points outside
/// are moved to the nearest point inside, and whole numbers are rounded, so that points which become the same settings
/// are scored once and count once. Cost: at most `budget` scores.
///
/// The configured values are scored first (the middle of the bounds where a value is no number, or outside). The lowest
/// score wins, the first among equals. Settings that the learner or the criterion refuses score +∞.
#[setting]
#[derive(PartialEq)]
pub struct Tune {
    /// Method that chooses the points.
    #[serde(default)]
    pub(crate) method: Method,
    /// Evaluations of the criterion, at most.
    #[serde(default = "default_budget")]
    #[schemars(extend("minimum" = 1, "maximum" = Tune::MOST_EVALUATIONS))]
    pub budget: usize,
    /// Columns that are scored.
    #[serde(default)]
    pub(crate) score: ScoredSelection,
    /// Dotted paths of numeric settings, such as `learner.lambda`, with their bounds; their order means nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Bounds>,
    /// Searches, or chains of searches, that are cross-validated on the same folds as `search`, which is the first of the
    /// list unless it is given. The first is taken unless another loses less by more than one standard error of their
    /// paired difference, since the lowest of many is lowest partly by luck.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {
        "if": {"type": "array"}, "then": {"minItems": 1, "items": {"$ref": "#/$defs/Search"}}, "else": {"$ref": "#/$defs/Search"}
    }))]
    pub search: Vec<Search>,
}

fn default_budget() -> usize {
    60
}

/// Method that chooses the points at which the criterion is evaluated.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// A simplex that begins at the configured values with edges of a quarter of each range, and twice anew, smaller,
    /// where it has closed in; no random choices.
    #[default]
    NelderMead,
    /// A swarm of eight particles, one of them at the configured values and the others anywhere, by the seed.
    ParticleSwarm,
}

/// Which subset is scored.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum ScoredSelection {
    /// All columns of the learner's map that are not constant.
    #[default]
    All,
    /// The subset that the search finds.
    Search,
}

impl Tune {
    /// Evaluations that a budget may name.
    pub const MOST_EVALUATIONS: usize = 1_000_000;

    /// A simplex search over no parameters yet, on the score of all columns.
    pub fn new(budget: usize) -> Self {
        let (method, score) = (Method::default(), ScoredSelection::default());
        Tune { method, budget, score, parameters: BTreeMap::new(), search: Vec::new() }
    }

    /// Compares the search of the pipeline with others on the same folds.
    pub fn searches(searches: impl IntoIterator<Item = impl Into<Search>>) -> Self {
        Tune { search: searches.into_iter().map(Into::into).collect(), ..Tune::new(default_budget()) }
    }

    /// Chooses the points by a particle swarm instead of a simplex.
    #[must_use]
    pub fn particle_swarm(self) -> Self {
        Tune { method: Method::ParticleSwarm, ..self }
    }

    /// Scores the subset that the search finds instead of all columns.
    #[must_use]
    pub fn score_search(self) -> Self {
        Tune { score: ScoredSelection::Search, ..self }
    }

    /// Whether the subset that the search finds is scored.
    pub fn scores_search(&self) -> bool {
        self.score == ScoredSelection::Search
    }

    /// Adds the setting at a dotted path, searched evenly within a range.
    #[must_use]
    pub fn linear(self, path: impl Into<String>, range: RangeInclusive<f64>) -> Self {
        self.with(path, Bounds::linear(*range.start(), *range.end()))
    }

    /// Adds the setting at a dotted path, searched evenly in the logarithm within a range of positive numbers.
    #[must_use]
    pub fn log(self, path: impl Into<String>, range: RangeInclusive<f64>) -> Self {
        self.with(path, Bounds::log(*range.start(), *range.end()))
    }

    /// Like [`Tune::linear`], but for a setting that is a whole number.
    #[must_use]
    pub fn integer(self, path: impl Into<String>, range: RangeInclusive<i64>) -> Self {
        self.with(path, Bounds::linear(*range.start() as f64, *range.end() as f64).integer())
    }

    /// Like [`Tune::log`], but for a setting that is a whole number.
    #[must_use]
    pub fn log_integer(self, path: impl Into<String>, range: RangeInclusive<i64>) -> Self {
        self.with(path, Bounds::log(*range.start() as f64, *range.end() as f64).integer())
    }

    fn with(mut self, path: impl Into<String>, bounds: Bounds) -> Self {
        self.parameters.insert(path.into(), bounds);
        self
    }
}

/// For a plan: `nelder_mead over learner.lambda; at most 60 scores of all columns before the search`.
impl fmt::Display for Tune {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.search.is_empty() {
            write!(f, "searches on the same folds: {}", join(self.search.iter().map(Search::kind), ", "))?;
        }
        if self.parameters.is_empty() {
            return Ok(());
        }
        if !self.search.is_empty() {
            f.write_str("; ")?;
        }
        let paths = join(self.parameters.keys(), ", ");
        let what = match self.score {
            ScoredSelection::All => "scores of all columns",
            ScoredSelection::Search => "searches",
        };
        let (method, budget) = (self.method.word(), self.budget);
        write!(f, "{method} over {paths}; at most {budget} {what} before the search")
    }
}
