//! Tuning of a learner's settings: parameters, their bounds, and the method.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use vaglio_core::{Error, Result, join, setting};
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

    /// Adds the setting at a dotted path.
    #[must_use]
    pub fn parameter(mut self, path: impl Into<String>, bounds: Bounds) -> Self {
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

/// Whole numbers up to this are exact.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Where a parameter is searched.
#[setting]
#[derive(Copy, PartialEq)]
pub struct Bounds {
    /// The smallest value.
    pub from: f64,
    /// The largest value.
    pub to: f64,
    /// Scale of an even search: the value or its logarithm.
    #[serde(default)]
    pub scale: Scale,
    /// Whether values are whole numbers.
    #[serde(default)]
    pub integer: bool,
}

/// Scale of an even search.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// The value.
    #[default]
    Linear,
    /// Logarithm.
    Log,
}

impl Bounds {
    /// Between two values, evenly.
    pub fn linear(from: f64, to: f64) -> Self {
        Bounds { from, to, scale: Scale::Linear, integer: false }
    }

    /// Between two positive values, evenly in the logarithm.
    pub fn log(from: f64, to: f64) -> Self {
        Bounds { from, to, scale: Scale::Log, integer: false }
    }

    /// Restricts the bounds to whole numbers.
    #[must_use]
    pub fn integer(self) -> Self {
        Bounds { integer: true, ..self }
    }

    /// Rejects bounds without a range between them.
    pub fn check(&self) -> Result<()> {
        for (field, value) in [("from", self.from), ("to", self.to)] {
            if !value.is_finite() {
                return Err(Error::setting(field, format!("{value} is not a finite number")));
            }
            if self.integer && !(value.fract() == 0.0 && value.abs() <= LARGEST_WHOLE) {
                return Err(Error::setting(field, format!("{value} is not a whole number, and `integer` is true")));
            }
        }
        if self.from >= self.to {
            return Err(Error::setting(
                "to",
                format!("from is {} and to is {}; from must be smaller", self.from, self.to),
            ));
        }
        if self.scale == Scale::Log && self.from <= 0.0 {
            return Err(Error::setting("from", format!("{} is not positive, and the scale is `log`", self.from)));
        }
        Ok(())
    }

    /// Value at a position in \[0, 1\]; positions outside are clamped.
    pub fn at(&self, place: f64) -> f64 {
        // In powers of ten, so that round bounds give round values.
        let value = match (place, self.scale) {
            (u, _) if u <= 0.0 => self.from,
            (u, _) if u >= 1.0 => self.to,
            (u, Scale::Linear) => self.from * (1.0 - u) + self.to * u,
            (u, Scale::Log) => 10f64.powf(self.from.log10() * (1.0 - u) + self.to.log10() * u),
        };
        let value = if self.integer { value.round() } else { value };
        value.clamp(self.from, self.to)
    }

    /// Position of a value in \[0, 1\]; 0.5 for no value, or one outside the bounds.
    pub fn place(&self, value: Option<f64>) -> f64 {
        let Some(value) = value.filter(|v| (self.from..=self.to).contains(v)) else { return 0.5 };
        // Halves, so that a difference does not overflow.
        let share = |from: f64, to: f64, v: f64| (v / 2.0 - from / 2.0) / (to / 2.0 - from / 2.0);
        match self.scale {
            Scale::Linear => share(self.from, self.to, value),
            Scale::Log => share(self.from.log10(), self.to.log10(), value.log10()),
        }
    }

    /// Smallest distance of distinct positions; for whole numbers, one over their count.
    pub fn grain(&self) -> f64 {
        match (self.integer, self.scale) {
            (false, _) => 0.0,
            (true, Scale::Linear) => 1.0 / (self.to - self.from),
            (true, Scale::Log) => (1.0 + 1.0 / self.from).ln() / (self.to / self.from).ln(),
        }
    }

    /// Converts a value to JSON for the learner's settings.
    pub fn number(&self, value: f64) -> Value {
        if self.integer { json!(value as i64) } else { json!(value) }
    }
}
