//! Selection of columns of a problem by a criterion, a search and a learner.

mod fold_preprocessing;
mod range;
pub mod resource_estimates;
mod resumable_search;
mod selection;

use crate::all_rows::FitFrom;
use crate::final_fit::{train, train_entry};
use crate::final_model::FinalModel;
use crate::learners::Rls;
use crate::resampling::memory_slots::MemorySlots;
use crate::resampling::{self, ChosenSearch, Sample, by_score};
use crate::search::Search;
pub(crate) use resumable_search::ResumableSearch;
use selection::UNTRAINED;
pub use selection::{SearchResult, Selection};
use std::sync::Arc;
use std::time::Instant;
use vaglio_core::{
    AnyCriterion, AnyLearner, AnyLoss, Criterion, Design, Error, LambdaScope, Learner, Monitor, Path, Problem, Result,
    Role, SearchExtent, Squared, StopSign, Task, ZeroOne,
};
use vaglio_report::record::{Warning, WarningKind};
use vaglio_search::{Rule, SubsetScorer};

/// A criterion, a search and a learner, not yet checked: parameters in linfa's sense.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `criterion` | – | scores subsets | any [`Criterion`] |
/// | `search` | – | walks subsets | any [`Search`] |
/// | `learner` | – | gives a subset its meaning | any [`Learner`] |
/// | `seed` | 0 | determines every random choice | any |
///
/// # Errors
/// `check` gives [`vaglio_core::Error::Setting`] for a setting that is invalid whatever the data; `fit` checks the
/// settings that depend on the data.
///
/// # Example
/// ```
/// use linfa::prelude::*;
/// use ndarray::array;
/// use vaglio::{Selector, criteria::Loo, learners::Rls, search::Greedy};
///
/// let x = array![[1.0, 0.3, 5.0], [2.0, -0.1, 3.0], [3.0, 0.2, 8.0], [4.0, 0.0, 1.0], [5.0, -0.4, 2.0]];
/// let y = array![1.1, 2.0, 2.9, 4.2, 5.0];
/// let dataset = Dataset::new(x, y);
///
/// let selector = Selector::params(Loo::default(), Greedy::new(1), Rls::default());
/// let fitted = selector.fit(&dataset)?;
/// assert_eq!(fitted.indices(), [0]);
/// let smaller = fitted.transform(dataset);
/// assert_eq!(smaller.nfeatures(), 1);
/// # Ok::<(), vaglio::FitError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Selector(pub(crate) ValidSelector);

/// Checked parameters of a selection.
#[derive(Debug, Clone)]
pub struct ValidSelector {
    pub(crate) criterion: Arc<dyn Criterion>,
    pub(crate) search: Search,
    pub(crate) learner: Arc<dyn Learner>,
    pub(crate) seed: u64,
    /// Learner trained on the selected columns; it replaces `learner` in predictions and evaluation.
    pub(crate) model: Option<FinalModel>,
    /// Memory slots for concurrent repetitions of the search.
    pub(crate) room: MemorySlots,
}

impl Selector {
    /// Parameters from a criterion, a search and a learner, each new, boxed or shared.
    pub fn params(
        criterion: impl Into<AnyCriterion>,
        search: impl Into<Search>,
        learner: impl Into<AnyLearner>,
    ) -> Self {
        Selector::from_parts(criterion.into().into(), search.into(), learner.into().into())
    }

    /// Parameters from shared components, such as those of a pipeline.
    pub fn from_parts(criterion: Arc<dyn Criterion>, search: Search, learner: Arc<dyn Learner>) -> Self {
        Selector(ValidSelector { criterion, search, learner, seed: 0, model: None, room: MemorySlots::default() })
    }

    /// Sets the seed, which determines every random choice.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.0.seed = seed;
        self
    }
}

impl Default for Selector {
    /// Greedy leave-one-out selection for ridge regression with λ = 1 and an intercept.
    fn default() -> Self {
        Selector::params(crate::criteria::Loo::default(), crate::search::Greedy::default(), Rls::default())
    }
}

impl ValidSelector {
    /// The seed, which determines every random choice.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Memory slots for concurrent repetitions of the search.
    pub fn room(&self) -> &MemorySlots {
        &self.room
    }

    /// Sets the memory slots.
    pub fn in_room(self, room: MemorySlots) -> Self {
        ValidSelector { room, ..self }
    }

    /// Learner trained on the selected columns; it replaces `learner` in predictions and evaluation.
    pub fn model(&self) -> Option<&FinalModel> {
        self.model.as_ref()
    }

    /// Criterion that scores subsets.
    pub fn criterion(&self) -> &Arc<dyn Criterion> {
        &self.criterion
    }

    /// Search that walks subsets.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// Learner that fits a subset.
    pub fn learner(&self) -> &Arc<dyn Learner> {
        &self.learner
    }

    /// Checks the settings that need no data.
    ///
    /// # Errors
    /// [`Error::Setting`] with the path of the field.
    pub(crate) fn check_settings(&self) -> Result<()> {
        check_parts(&*self.criterion, &self.search, &*self.learner, self.model.as_ref())
    }

    /// Loss that compares selections: the criterion's, else the squared error or, for classes, the zero-one loss.
    pub fn loss(&self, task: &Task) -> AnyLoss {
        let own = || if *task == Task::Regression { Squared.into() } else { ZeroOne.into() };
        self.criterion.traits().loss.unwrap_or_else(own)
    }

    /// The design of a problem, after every check that precedes the search, with an automatic grid of λ fitted.
    ///
    /// # Errors
    /// Errors of the learner, the search and the criterion, each under its own name.
    pub fn design(&self, problem: &Problem) -> Result<Design> {
        self.design_at(problem, None)
    }

    /// Like [`ValidSelector::design`], but for some of the rows of the design `whole`, which provides the grid of λ.
    ///
    /// # Errors
    /// Returns the errors of [`ValidSelector::design`].
    pub fn design_at(&self, problem: &Problem, whole: Option<&Design>) -> Result<Design> {
        problem.sign().ends(|| self.designed(problem, whole))
    }

    fn designed(&self, problem: &Problem, whole: Option<&Design>) -> Result<Design> {
        let of_learner = |error: Error| error.from_part(Role::Learner, self.learner.typetag_name());
        self.learner.check().map_err(of_learner)?;
        let design =
            Design::from_problem(&problem.clone().seeded(self.seed), Arc::clone(&self.learner)).map_err(of_learner)?;
        let design =
            if self.search.takes_lambda() { range::fitted(design, whole) } else { range::with_one_lambda(design) };
        if design.single_outputs().is_some() && !self.criterion.traits().scores_each_output {
            let why = "`each` takes the lambda of an output by what it loses on rows held out; use `loo` or `kfold`, or share lambda";
            return Err(Error::setting("learner.lambda.outputs", why));
        }
        self.criterion
            .check(&design)
            .map_err(|error| error.from_part(Role::Criterion, self.criterion.typetag_name()))?;
        // A check that is interrupted is no failure: the search then ends at once.
        match problem.sign().ends(|| self.search.check(&*self.criterion, &design)) {
            Err(Error::Stopped(_)) => {}
            checked => checked.map_err(|error| self.in_search(error))?,
        }
        self.model.as_ref().map_or(Ok(()), |model| model.check_design(self, &design, problem))?;
        self.fitted_in_folds(design, problem)
    }

    /// A copy with another search.
    pub fn with_search(&self, search: Search) -> Self {
        ValidSelector { search, ..self.clone() }
    }

    /// Like [`ValidSelector::design`], but reuses the design `known` for the search `other` if possible.
    ///
    /// # Errors
    /// Returns the errors of [`ValidSelector::design`].
    pub(crate) fn design_beside(&self, other: &Search, known: &Design, problem: &Problem) -> Result<Design> {
        if self.search.takes_lambda() && !other.takes_lambda() {
            return self.design(problem);
        }
        self.search.check(&*self.criterion, known).map_err(|error| self.in_search(error))?;
        Ok(if self.search.takes_lambda() { known.clone() } else { range::with_one_lambda(known.clone()) })
    }

    /// A copy with penalties fitted to a design, if the search is evaluated at several penalties.
    ///
    /// # Errors
    /// Returns the errors of [`SearchStrategy::at_penalties`].
    pub(crate) fn at_penalties(&self, design: &Design) -> Result<Option<ValidSelector>> {
        let fitted = self.search.at_penalties(&*self.criterion, design).map_err(|error| self.in_search(error))?;
        Ok(fitted.map(|search| self.with_search(search)))
    }

    /// Attributes an error to the search, unless it belongs to another part.
    fn in_search(&self, error: Error) -> Error {
        error.from_part(Role::Search, self.search.kind())
    }

    /// Searches, chooses a size and λ, and trains the learner on the selected subset.
    ///
    /// If the search's `choose` cross-validates, the whole search is repeated on the training rows of folds.
    ///
    /// # Errors
    /// Errors of [`ValidSelector::design`], the criterion and the final fit.
    pub fn select<'m>(&self, problem: &Problem, monitor: impl Into<Monitor<'m>>) -> Result<Selection> {
        let mut monitor: Monitor<'m> = monitor.into();
        let sample = Sample::plain(problem.clone(), self.needs_order());
        let start = Instant::now();
        let design = self.design(problem)?;
        let picked = resampling::select(self, &sample, &design, start, &mut monitor)?;
        self.fit_on(problem, &design, picked, &mut monitor)
    }

    /// The design at the λ that the criterion chooses for all columns, if the learner asks for it (`per: all`).
    ///
    /// # Errors
    /// [`Error::Setting`] for a criterion that chooses no λ; errors of the criterion's scores.
    pub(crate) fn at_lambda_of_all(&self, design: &Design) -> Result<Design> {
        if !takes_lambda_of_all(design) {
            return Ok(design.clone());
        }
        let all = design.candidates();
        let score = design.run().stop.ends(|| {
            let mut subset = SubsetScorer::open(&*self.criterion, design, &SearchExtent::fixed(all.len()))?;
            subset.reset(&all)?;
            subset.score()
        });
        let lambda = score?.lambda.ok_or_else(|| {
            let kind = self.criterion.typetag_name();
            let message =
                format!("`all` takes lambda by the score of all columns, and `{kind}` takes none; use `path`");
            Error::setting("learner.lambda.per", message)
        })?;
        tracing::debug!(lambda, "lambda of all columns");
        Ok(design.at_lambda(Some(lambda)))
    }

    /// Searches on a design whose preparation began at `start`, up to the size `until` if given.
    pub fn search_on(
        &self,
        design: &Design,
        start: Instant,
        until: Option<usize>,
        monitor: &mut Monitor<'_>,
    ) -> Result<SearchResult> {
        let design = self.at_lambda_of_all(&design.clone().stopping_at(monitor.stop.clone()))?;
        let mut walking = ResumableSearch::open(self, &design, start, monitor)?;
        walking.to(until)?;
        walking.searched()
    }

    /// Prepares the criterion's cached data for a design.
    pub(crate) fn opened(&self, design: &Design) -> Result<()> {
        let search_extent = self.search.extent(design).map_err(|error| self.in_search(error))?;
        SubsetScorer::open(&*self.criterion, design, &search_extent).map(drop)
    }

    /// The search result with another path entry chosen.
    pub(crate) fn taking(
        &self,
        mut searched: SearchResult,
        entry: Option<usize>,
        design: &Design,
    ) -> Result<SearchResult> {
        searched.path.chosen = entry;
        if searched.alpha.is_some() {
            let search_extent = self.search.extent(design).map_err(|error| self.in_search(error))?;
            searched.alpha = alpha(&searched.path, &SubsetScorer::open(&*self.criterion, design, &search_extent)?)?;
        }
        Ok(searched)
    }

    /// Trains on the selected subset and all rows of a problem's design.
    pub fn fit_on(
        &self,
        problem: &Problem,
        design: &Design,
        picked: ChosenSearch,
        monitor: &mut Monitor<'_>,
    ) -> Result<Selection> {
        let start = Instant::now();
        let _entered = tracing::info_span!("fit").entered();
        let ChosenSearch { searched, mut chosen, mut warnings, seconds: choose_seconds, searches } = picked;
        let SearchResult { mut path, engine, approximation, mut alpha, seconds, .. } = searched;
        let end = monitor.stop.at_the_end();
        let trained = end.ends(|| {
            let Some(entry) = path.result() else { return Ok(None) };
            let model = train_entry(&design.stopping_at(end.clone()), entry, chosen.lambda, FitFrom::Search)?;
            let Some(last) = &self.model else { return Ok(Some((model, None))) };
            let journal = monitor.journal.under("model");
            let fitted = last.train(self, problem, &entry.subset, &mut monitor.with_journal(journal))?;
            Ok(Some((model, Some(fitted))))
        });
        if let Err(Error::Stopped(reason)) = trained {
            (path.chosen, path.stop_reason, alpha) = (None, reason, None);
            chosen = by_score(&path, Rule::Best);
            warnings.push(Warning::new(WarningKind::Interrupted, UNTRAINED));
        }
        let (model, final_model) = match trained {
            Err(error) if !matches!(error, Error::Stopped(_)) => return Err(error),
            Ok(Some(trained)) => trained,
            _ => {
                let design = design.stopping_at(StopSign::default());
                (train(&design, &[], path.empty.lambda.or(chosen.lambda), FitFrom::Search)?, None)
            }
        };
        let fit_seconds = start.elapsed().as_secs_f64();
        let names = design.names().to_vec();
        Ok(Selection {
            path,
            chosen,
            searches,
            warnings,
            names,
            model,
            final_model,
            engine,
            approximation,
            alpha,
            search_seconds: seconds,
            choose_seconds,
            fit_seconds,
        })
    }
}

/// Whether λ is chosen among several by the score of all columns.
pub fn takes_lambda_of_all(design: &Design) -> bool {
    design.readout().is_some_and(|readout| readout.per == Some(LambdaScope::All) && readout.lambdas.len() > 1)
}

/// The criterion's own coefficients of the result, if it has any.
fn alpha(path: &Path, subset: &SubsetScorer<'_>) -> Result<Option<Vec<f64>>> {
    match (path.result(), subset.geometry()) {
        (Some(entry), Some(mut geometry)) => geometry.minimizer(&entry.subset),
        _ => Ok(None),
    }
}

/// Checks the settings of the parts that need no data.
///
/// # Errors
/// [`Error::Setting`] with the path of the field.
pub(crate) fn check_parts(
    criterion: &dyn Criterion,
    search: &Search,
    learner: &dyn Learner,
    model: Option<&FinalModel>,
) -> Result<()> {
    learner.check().map_err(|error| error.under("learner"))?;
    model.map_or(Ok(()), |model| model.check().map_err(|error| error.under("model")))?;
    criterion.check_settings().map_err(|error| error.under("criterion"))?;
    search.check_settings().map_err(|error| error.under("search"))
}
