//! Tuning of a learner's settings: the request, the trials, and their scores.

pub use super::bounds::{Bounds, Scale};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use vaglio_core::{joined, setting};
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
    pub method: Method,
    /// Evaluations of the criterion, at most.
    #[serde(default = "default_budget")]
    #[schemars(extend("minimum" = 1, "maximum" = Tune::MOST_EVALUATIONS))]
    pub budget: usize,
    /// Columns that are scored.
    #[serde(default)]
    pub score: ScoredSelection,
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

impl Method {
    /// Name in pipeline files.
    pub fn name(self) -> &'static str {
        match self {
            Method::NelderMead => "nelder_mead",
            Method::ParticleSwarm => "particle_swarm",
        }
    }
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

    /// Tunes the setting at this dotted path as well.
    #[must_use]
    pub fn parameter(mut self, path: impl Into<String>, bounds: Bounds) -> Self {
        self.parameters.insert(path.into(), bounds);
        self
    }
}

vaglio_core::setters!(Tune { method: Method, score: ScoredSelection;; });

/// For a plan: `nelder_mead over learner.lambda; at most 60 scores of all columns before the search`.
impl fmt::Display for Tune {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.search.is_empty() {
            write!(f, "searches on the same folds: {}", joined(self.search.iter().map(Search::kind), ", "))?;
        }
        if self.parameters.is_empty() {
            return Ok(());
        }
        if !self.search.is_empty() {
            f.write_str("; ")?;
        }
        let paths = joined(self.parameters.keys(), ", ");
        let what = match self.score {
            ScoredSelection::All => "scores of all columns",
            ScoredSelection::Search => "searches",
        };
        let (method, budget) = (self.method.name(), self.budget);
        write!(f, "{method} over {paths}; at most {budget} {what} before the search")
    }
}

/// One evaluation of the criterion while tuning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoredSettings {
    /// The value of every parameter, in the order of their paths.
    pub values: Vec<f64>,
    /// The score; +∞ where the settings were refused.
    #[serde(deserialize_with = "crate::infinity::number")]
    pub score: f64,
}

/// Result of tuning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TuningResult {
    /// The settings of the search.
    pub tune: Tune,
    /// Everything that was scored, in order.
    pub trials: Vec<ScoredSettings>,
    /// The position of the lowest score among the trials.
    pub best: usize,
}

impl TuningResult {
    /// The lowest score.
    pub fn score(&self) -> f64 {
        self.trials[self.best].score
    }

    /// The chosen value of every parameter, in the order of their paths.
    pub fn values(&self) -> &[f64] {
        &self.trials[self.best].values
    }

    /// The chosen value of every parameter, by its path.
    pub fn parameters(&self) -> serde_json::Map<String, serde_json::Value> {
        let chosen = self.tune.parameters.iter().zip(self.values());
        chosen.map(|((path, bounds), &value)| (path.clone(), bounds.number(value))).collect()
    }
}
