//! Settings of the learner, chosen by the criterion before the search.
//!
//! [`Tune`] is the `tune` block of a pipeline. Points of the unit cube become settings of the learner (`bounds`,
//! `setting`), each is scored once (`ledger`), and the solvers of argmin choose the points (`solve`).

mod bounds;
mod ledger;
mod setting;
mod solve;

pub use bounds::{Bounds, Scale};
pub use ledger::Trial;

use crate::selector::ValidSelector;
use ledger::{Ledger, Outcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use vaglio_core::{
    Answer, Criterion, Design, Error, Event, Journal, Learner, Monitor, Observer, Outline, Problem, Result, Score,
    Subset,
};

/// Evaluations that a budget may name.
const MOST_EVALUATIONS: usize = 1_000_000;
/// Parameters that are tuned together, at most.
const MOST_PARAMETERS: usize = 100;

/// Which settings of the learner are tuned, within which bounds, and how.
///
/// Minimizes over θ in a box the criterion of the learner with the settings θ: of all columns that its map makes, or of
/// the subset that the search finds. Each parameter is scaled to \[0, 1\], linearly or in its logarithm; points outside
/// are moved to the nearest point inside, and whole numbers are rounded, so that points which become the same settings
/// are scored once and count once. Cost: at most `budget` scores.
///
/// The configured values are scored first (the middle of the bounds where a value is no number, or outside). The lowest
/// score wins, the first among equals. Settings that the learner or the criterion refuses score +∞.
///
/// # Example
/// ```
/// use linfa::prelude::*;
/// use ndarray::array;
/// use vaglio::{Pipeline, criteria::Loo, learners::Rls, search::Greedy, tune::{Bounds, Tune}};
///
/// let x = array![[1.0, 0.3, 5.0], [2.0, -0.1, 3.0], [3.0, 0.2, 8.0], [4.0, 0.0, 1.0], [5.0, -0.4, 2.0]];
/// let dataset = Dataset::new(x, array![1.1, 2.0, 2.9, 4.2, 5.0]);
/// let pipeline = Pipeline::new(Loo::default(), Greedy::new(1), Rls::default())
///     .tune(Tune::new(20).parameter("learner.lambda", Bounds::log(1e-3, 1e3)));
/// assert_eq!(pipeline.fit(&dataset)?.selected(), ["feature-0"]);
/// # Ok::<(), vaglio::FitError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tune {
    /// What chooses the points.
    #[serde(default)]
    pub method: Method,
    /// Evaluations of the criterion, at most.
    #[serde(default = "default_budget")]
    #[schemars(extend("minimum" = 1, "maximum" = MOST_EVALUATIONS))]
    pub budget: usize,
    /// What is scored.
    #[serde(default)]
    pub score: Scored,
    /// Dotted paths of numeric settings, such as `learner.lambda`, with their bounds; their order means nothing.
    pub parameters: BTreeMap<String, Bounds>,
}

fn default_budget() -> usize {
    60
}

/// What chooses the points at which the criterion is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A simplex that begins at the configured values with edges of a quarter of each range, and twice anew, smaller,
    /// where it has closed in; no random choices.
    #[default]
    NelderMead,
    /// A swarm of eight particles, one of them at the configured values and the others anywhere, by the seed.
    ParticleSwarm,
}

impl Method {
    /// Its name in pipeline files.
    pub fn name(self) -> &'static str {
        match self {
            Method::NelderMead => "nelder_mead",
            Method::ParticleSwarm => "particle_swarm",
        }
    }
}

/// Which subset is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scored {
    /// All columns of the learner's map that are not constant.
    #[default]
    All,
    /// The subset that the search finds.
    Search,
}

impl Tune {
    /// A simplex search over no parameters yet, on the score of all columns.
    pub fn new(budget: usize) -> Self {
        Tune { method: Method::default(), budget, score: Scored::default(), parameters: BTreeMap::new() }
    }

    /// Tunes the setting at this dotted path as well.
    #[must_use]
    pub fn parameter(mut self, path: impl Into<String>, bounds: Bounds) -> Self {
        self.parameters.insert(path.into(), bounds);
        self
    }

    /// The same by another method.
    #[must_use]
    pub fn method(self, method: Method) -> Self {
        Tune { method, ..self }
    }

    /// The same on another score.
    #[must_use]
    pub fn score(self, score: Scored) -> Self {
        Tune { score, ..self }
    }

    /// Checks bounds, and that every parameter is a setting of the learner that takes the numbers between them.
    ///
    /// # Errors
    /// [`Error::Setting`] and [`Error::UnknownName`] with the field's path inside this block.
    pub fn check(&self, learner: &dyn Learner) -> Result<()> {
        Error::unless_between("budget", self.budget, 1..=MOST_EVALUATIONS)?;
        if self.parameters.is_empty() {
            return Err(Error::setting(
                "parameters",
                "at least one is needed, as in `learner.lambda: {from: 0.1, to: 10}`",
            ));
        }
        if self.parameters.len() > MOST_PARAMETERS {
            return Err(Error::setting("parameters", format!("at most {MOST_PARAMETERS} are tuned together")));
        }
        let settings = setting::written(learner)?;
        for (path, bounds) in &self.parameters {
            let field = format!("parameters.{path}");
            bounds.check().map_err(|e| e.under(&field))?;
            setting::check(&settings, path, bounds, &field)?;
        }
        Ok(())
    }

    /// Flops of tuning on a design, where one search takes `search`.
    pub fn flops(&self, criterion: &dyn Criterion, design: &Design, search: f64) -> f64 {
        let one = match self.score {
            Scored::All => criterion.estimate(design, &all_at_once(design.candidates().len())).flops,
            Scored::Search => search,
        };
        self.budget as f64 * one
    }

    /// The selection with the learner tuned on `problem`, and how it was; the selection itself when it was interrupted
    /// before anything was scored.
    ///
    /// The criterion that tunes is the one that selects, on the same rows: its score is optimistic, and honest figures
    /// come from rows that neither saw. The monitor may stop it; the best so far is the result then.
    ///
    /// # Errors
    /// The first failure, when nothing that was tried has a finite score.
    pub(crate) fn tune(
        &self,
        selector: ValidSelector,
        problem: &Problem,
        monitor: &mut Monitor<'_>,
    ) -> Result<(ValidSelector, Option<Tuned>)> {
        let Some(found) = self.search(&selector, problem, monitor)? else { return Ok((selector, None)) };
        let learner = self.with(&setting::written(&*selector.learner)?, found.values())?;
        Ok((ValidSelector { learner, ..selector }, Some(found)))
    }

    /// Searches; `None` when it was interrupted before anything was scored.
    fn search(&self, selector: &ValidSelector, problem: &Problem, monitor: &mut Monitor<'_>) -> Result<Option<Tuned>> {
        let span = tracing::info_span!("tune", method = self.method.name(), budget = self.budget);
        let _entered = span.enter();
        let settings = setting::written(&*selector.learner)?;
        let (journal, mut tried) = (monitor.journal.under("tune"), 0);
        let mut progress = Progress { monitor, done: 0.0, of: self.budget as f64, stopped: false };
        let evaluate = |values: &[f64]| {
            if progress.stopped {
                return Outcome::Stopped;
            }
            tried += 1;
            let scored = self.with(&settings, values).and_then(|learner| {
                let tuned = ValidSelector { learner, ..selector.clone() };
                journal.once(tried, || self.scored(&tuned, problem, &mut progress, journal.within(tried)))
            });
            progress.done += 1.0;
            match scored {
                Ok(None) => Outcome::Stopped,
                Ok(Some(score)) => {
                    progress.ask();
                    Outcome::Scored(score.loss)
                }
                Err(error) => {
                    progress.ask();
                    Outcome::Failed(error)
                }
            }
        };
        let bounds: Vec<Bounds> = self.parameters.values().copied().collect();
        let start: Vec<f64> =
            self.parameters.iter().map(|(path, b)| b.place(setting::value(&settings, path))).collect();
        let paths: Vec<&str> = self.parameters.keys().map(String::as_str).collect();
        let ledger = Ledger::new(&paths, &bounds, self.budget, evaluate);
        match self.method {
            Method::NelderMead => solve::nelder_mead(&ledger, &start)?,
            Method::ParticleSwarm => solve::particle_swarm(&ledger, &start, selector.seed)?,
        }
        let (trials, failure) = ledger.into_trials();
        let lowest = |best: Option<usize>, k: usize| match best {
            Some(b) if trials[b].score <= trials[k].score => Some(b),
            _ => Some(k).filter(|&k| trials[k].score < f64::INFINITY),
        };
        match ((0..trials.len()).fold(None, lowest), failure) {
            (Some(best), _) => Ok(Some(Tuned { tune: self.clone(), trials, best })),
            (None, Some(failure)) => Err(failure),
            (None, None) if trials.is_empty() => Ok(None),
            (None, None) => Err(Error::Numerical("every setting that was tried while tuning scores +∞".into())),
        }
    }

    /// The learner with these settings.
    fn with(&self, settings: &serde_json::Value, values: &[f64]) -> Result<Arc<dyn Learner>> {
        let mut settings = settings.clone();
        for ((path, bounds), &value) in self.parameters.iter().zip(values) {
            setting::set(&mut settings, path, bounds.number(value));
        }
        let learner = setting::read(settings).map_err(|message| Error::setting("learner", message))?;
        learner.check().map_err(|e| e.under("learner"))?;
        Ok(learner)
    }

    /// The criterion of a selection; `None` when it was stopped.
    fn scored(
        &self,
        selector: &ValidSelector,
        problem: &Problem,
        progress: &mut Progress<'_, '_>,
        journal: Journal,
    ) -> Result<Option<Score>> {
        let design = selector.design(problem)?;
        match self.score {
            Scored::All => {
                let all = design.candidates();
                let mut subset = Subset::open(&*selector.criterion, &design, &all_at_once(all.len()))?;
                subset.reset(&all)?;
                subset.score().map(Some)
            }
            Scored::Search => {
                let stop = progress.monitor.stop.clone();
                let monitor = &mut Monitor { observer: &mut *progress, journal, stop };
                let path = selector.search_on(&design, Instant::now(), monitor)?.path;
                let score = path.result().map_or(path.empty, |entry| entry.score);
                if progress.stopped || path.stop_reason.is_partial() { Ok(None) } else { Ok(Some(score)) }
            }
        }
    }
}

/// The outline of one score of all columns.
fn all_at_once(columns: usize) -> Outline {
    Outline { start: columns, largest: columns, trials: 1.0, steps: 0 }
}

/// For a plan: `nelder_mead over learner.lambda; at most 60 scores of all columns before the search`.
impl fmt::Display for Tune {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths: Vec<&str> = self.parameters.keys().map(String::as_str).collect();
        let what = match self.score {
            Scored::All => "scores of all columns",
            Scored::Search => "searches",
        };
        let (method, budget) = (self.method.name(), self.budget);
        write!(f, "{method} over {}; at most {budget} {what} before the search", paths.join(", "))
    }
}

/// Shows scores in place of the steps of their searches, which are not the run's own.
struct Progress<'o, 'm> {
    monitor: &'o mut Monitor<'m>,
    done: f64,
    of: f64,
    stopped: bool,
}

impl Progress<'_, '_> {
    fn ask(&mut self) -> Answer {
        let answer = self.monitor.show(&Event::Visited { done: self.done, of: self.of });
        self.stopped |= matches!(answer, Answer::Stop(_));
        answer
    }
}

impl Observer for Progress<'_, '_> {
    fn observe(&mut self, event: &Event<'_>) -> Answer {
        match event {
            Event::Step(_) | Event::Visited { .. } => self.ask(),
            _ => Answer::Continue,
        }
    }
}

/// What tuning found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuned {
    tune: Tune,
    trials: Vec<Trial>,
    best: usize,
}

impl Tuned {
    /// The settings of the search.
    pub fn tune(&self) -> &Tune {
        &self.tune
    }

    /// Everything that was scored, in order.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// The lowest score.
    pub fn score(&self) -> f64 {
        self.trials[self.best].score
    }

    /// The position of the lowest score among the trials.
    pub fn best(&self) -> usize {
        self.best
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
