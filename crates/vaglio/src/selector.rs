//! One selection: a criterion, a search and a learner on a problem.

mod found;

use crate::criteria::is_of_moments;
use crate::learners::Rls;
use crate::resample::{self, Picked, Sample};
use crate::train::{train, train_entry};
pub(crate) use found::Searched;
pub use found::Selection;
use std::sync::Arc;
use std::time::Instant;
use vaglio_core::{
    AnyLoss, Criterion, Design, Engine, Error, Feature, Gaps, HeldOut, InFolds, Learner, MadeAnew, Observer, Path,
    Problem, Result, Role, SearchContext, SearchStrategy, Squared, Subset, Task, ZeroOne,
};

/// A criterion, a search and a learner, not yet checked: the parameters of a selection, in linfa's sense.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `criterion` | – | scores subsets | any [`Criterion`] |
/// | `search` | – | walks subsets | any [`SearchStrategy`] |
/// | `learner` | – | gives a subset its meaning | any [`Learner`] |
/// | `seed` | 0 | every random choice follows from it | any |
///
/// # Errors
/// `check` gives [`vaglio_core::Error::Setting`] for a setting that no data can have; what depends on the data is checked by
/// `fit`.
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
    pub(crate) search: Arc<dyn SearchStrategy>,
    pub(crate) learner: Arc<dyn Learner>,
    pub(crate) seed: u64,
}

impl Selector {
    /// Parameters from a criterion, a search and a learner.
    pub fn params(
        criterion: impl Criterion + 'static,
        search: impl SearchStrategy + 'static,
        learner: impl Learner + 'static,
    ) -> Self {
        Selector::from_parts(Arc::new(criterion), Arc::new(search), Arc::new(learner))
    }

    /// The same from shared components, such as those of a pipeline.
    pub fn from_parts(
        criterion: Arc<dyn Criterion>,
        search: Arc<dyn SearchStrategy>,
        learner: Arc<dyn Learner>,
    ) -> Self {
        Selector(ValidSelector { criterion, search, learner, seed: 0 })
    }

    /// The seed from which every random choice follows.
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

/// How many times as long a search may take for columns that are standardized anew in each fold, by `scope: auto`.
const MOST_TIMES: f64 = 3.0;

impl ValidSelector {
    /// What scores subsets.
    pub fn criterion(&self) -> &Arc<dyn Criterion> {
        &self.criterion
    }

    /// What walks subsets.
    pub fn search(&self) -> &Arc<dyn SearchStrategy> {
        &self.search
    }

    /// What gives a subset its meaning.
    pub fn learner(&self) -> &Arc<dyn Learner> {
        &self.learner
    }

    /// Checks what needs no data.
    ///
    /// # Errors
    /// [`Error::Setting`] with the field's path.
    pub(crate) fn check_settings(&self) -> Result<()> {
        check_parts(&*self.criterion, &*self.search, &*self.learner)
    }

    /// The loss by which selections are compared: the criterion's, or a readout's where it has none.
    pub(crate) fn loss(&self, task: &Task) -> AnyLoss {
        let own = || if *task == Task::Regression { Squared.into() } else { ZeroOne.into() };
        self.criterion.loss().unwrap_or_else(own)
    }

    /// The design of the problem, with every check that can be made before the search.
    ///
    /// # Errors
    /// Those of the learner, the search and the criterion, each under its own name.
    pub fn design(&self, problem: &Problem) -> Result<Design> {
        let of_learner = |error: Error| error.of(Role::Learner, self.learner.typetag_name());
        self.learner.check().map_err(of_learner)?;
        let design = Design::of(&problem.clone().seeded(self.seed), Arc::clone(&self.learner)).map_err(of_learner)?;
        if design.of_outputs().is_some() && !self.criterion.scores_each_output() {
            let why = "`each` takes the lambda of an output by what it loses on rows held out; use `loo` or `kfold`, or share lambda";
            return Err(Error::setting("learner.lambda.outputs", why));
        }
        self.criterion.check(&design).map_err(|error| error.of(Role::Criterion, self.criterion.typetag_name()))?;
        self.search.check(&*self.criterion, &design).map_err(|error| self.of_search(error))?;
        if let Some(by) = problem.anew() {
            return self.mapping(design, problem, by);
        }
        let design = self.imputing(design, problem)?;
        self.standardizing(design, problem)
    }

    /// An error of the search, unless it is of another part.
    fn of_search(&self, error: Error) -> Error {
        error.of(Role::Search, self.search.typetag_name())
    }

    /// The rows that the criterion holds out together.
    fn folds(&self, design: &Design) -> Result<HeldOut> {
        self.criterion.folds(design).map_err(|error| error.of(Role::Criterion, self.criterion.typetag_name()))
    }

    /// The design with maps that are fitted anew in each fold.
    fn mapping(&self, design: Design, problem: &Problem, by: &Arc<dyn MadeAnew>) -> Result<Design> {
        let folds = self.folds(&design)?;
        let why = match folds {
            HeldOut::Folds(_) if design.is_of(problem) => return Ok(design.making_anew_in_folds(Arc::clone(by))),
            HeldOut::Folds(_) => "the learner makes columns of its own",
            _ => "the criterion has no folds",
        };
        let message = format!("`scope: fold` cannot be had, since {why}; use `kfold` with `rls`, or `scope: train`");
        Err(Error::setting("preprocess", message))
    }

    /// The design with cells filled anew in each fold, where the problem asks for it and it can be done; where it need not
    /// be, in at most [`MOST_TIMES`] the time.
    fn imputing(&self, design: Design, problem: &Problem) -> Result<Design> {
        let Some((how, gaps)) = problem.gaps() else { return Ok(design) };
        if let Some(feature) = self.without_mean(&design, gaps)? {
            let name = &design.names()[feature];
            let message = format!(
                "`scope: fold` of impute cannot be had, since a fold is trained on rows that have no value of `{name}`; use `scope: train`, or add the column to data.exclude"
            );
            return if how == InFolds::Required { Err(Error::setting("preprocess", message)) } else { Ok(design) };
        }
        match self.anew(&design, problem, how, "impute", |design| design.imputing_in_folds(Arc::clone(gaps)))? {
            Some((anew, times)) if how == InFolds::Required || times <= MOST_TIMES => Ok(anew),
            _ => Ok(design),
        }
    }

    /// The first column that has no value in the training rows of a fold.
    fn without_mean(&self, design: &Design, gaps: &Gaps) -> Result<Option<Feature>> {
        let HeldOut::Folds(rounds) = self.folds(design)? else {
            return Ok(None);
        };
        let lacks = |feature: &Feature| {
            let Some(mask) = gaps.mask(*feature) else { return false };
            let has_value = |row: usize| mask.get(row) == 0.0;
            rounds.iter().any(|round| match round.trainings() {
                Some(trainings) => trainings.iter().any(|training| !training.iter().any(|&row| has_value(row))),
                None => {
                    let mut values = (0..mask.len()).filter(|&row| has_value(row)).map(|row| round.of_row()[row]);
                    let first = values.next().flatten();
                    first.is_some() && values.all(|fold| fold == first)
                }
            })
        };
        Ok(gaps.features().iter().copied().find(lacks))
    }

    /// The design with columns standardized anew in each fold, where the problem asks for it and it can be done; where it
    /// need not be, in at most [`MOST_TIMES`] the time.
    fn standardizing(&self, design: Design, problem: &Problem) -> Result<Design> {
        let Some(how) = problem.in_folds() else { return Ok(design) };
        Ok(match self.anew(&design, problem, how, "standardize", Design::standardizing_in_folds)? {
            Some((_, times)) if how == InFolds::Possible && times > MOST_TIMES => design.standardizing_once(times),
            Some((anew, _)) => anew,
            // What a criterion without folds of its own holds out by retraining is not learned from.
            None if self.folds(&design)? == HeldOut::Nothing && design.is_of(problem) => {
                design.standardizing_in_folds()
            }
            None => design,
        })
    }

    /// The design that learns something anew in each fold, and how many times as long a search of it takes; `None` where
    /// that cannot be had.
    fn anew(
        &self,
        design: &Design,
        problem: &Problem,
        how: InFolds,
        map: &str,
        anew: impl Fn(Design) -> Design,
    ) -> Result<Option<(Design, f64)>> {
        let folds = self.folds(design)?;
        let has_folds = matches!(folds, HeldOut::Folds(_));
        // A learner without a readout is retrained on the problem's own columns.
        let is_refitted = map == "standardize" && design.readout().is_none();
        let what = match (has_folds, design.is_of(problem) && (design.readout().is_some() || is_refitted)) {
            (true, true) => {
                let anew = anew(design.clone());
                // At one λ, so that a grid and each of its values are treated alike.
                let one = |design: &Design| match design.readout() {
                    Some(readout) if !readout.refine => design.at_lambda(Some(readout.lambdas[0])),
                    _ => design.clone(),
                };
                let times = self.flops(&one(&anew))? / self.flops(&one(design))?;
                return Ok(Some((anew, if times.is_nan() { 1.0 } else { times })));
            }
            (false, _) => "the criterion has no folds",
            (true, false) => "the learner makes columns of its own",
        };
        match how {
            InFolds::Possible => Ok(None),
            InFolds::Required => Err(Error::setting(
                "preprocess",
                format!(
                    "`scope: fold` of {map} cannot be had, since {what}; use `kfold` with `rls`, or `scope: train`"
                ),
            )),
        }
    }

    /// The work of a search; NaN where the criterion says nothing of it.
    fn flops(&self, design: &Design) -> Result<f64> {
        let outline = self.search.outline(design).map_err(|error| self.of_search(error))?;
        Ok(self.criterion.estimate(design, &outline).flops)
    }

    /// Searches, takes a size and a λ, and trains the learner on the chosen subset.
    ///
    /// Where the search's `choose` cross-validates, the whole walk is repeated on the training rows of folds.
    ///
    /// # Errors
    /// Those of [`ValidSelector::design`], of the criterion and of the final fit.
    pub fn select(&self, problem: &Problem, observer: &mut dyn Observer) -> Result<Selection> {
        self.select_of(&Sample::plain(problem.clone(), self.learner.needs_order()), problem, observer)
    }

    /// The same from the rows of which the problem was made, maps included.
    pub(crate) fn select_of(
        &self,
        sample: &Sample,
        problem: &Problem,
        observer: &mut dyn Observer,
    ) -> Result<Selection> {
        let start = Instant::now();
        let design = self.design(problem)?;
        let picked = resample::select(self, sample, &design, start, observer)?;
        self.fit_on(&design, picked)
    }

    /// Searches on a design of the problem that was begun at `start`.
    pub(crate) fn search_on(&self, design: &Design, start: Instant, observer: &mut dyn Observer) -> Result<Searched> {
        let span = tracing::info_span!("search", rows = design.rows(), columns = design.features());
        let _entered = span.enter();
        let (journal, begun) = (observer.journal(), Instant::now());
        let known: Option<Searched> = journal.recall("path");
        if let Some(searched) = known.filter(|known| known.path.is_among(design.features())) {
            if is_of_moments(&searched.engine) {
                // The final fit takes them from the search.
                self.opened(design)?;
            }
            return Ok(Searched { seconds: start.elapsed().as_secs_f64(), ..searched });
        }
        let design = &design.clone().stopping_at(observer.sign());
        let outline = self.search.outline(design).map_err(|error| self.of_search(error))?;
        let (subset, stopped) = match Subset::open(&*self.criterion, design, &outline) {
            // Before there was anything to search with.
            Err(stopped @ Error::Stopped(_)) => (Subset::by_definition(&*self.criterion, design), Some(stopped)),
            opened => (opened?, None),
        };
        let mut context = SearchContext::new(&*self.criterion, design, subset, observer, self.seed);
        let path = match stopped.map_or_else(|| self.search.search(&mut context), Err) {
            Err(Error::Stopped(reason)) => {
                context.subset.reset(&[])?;
                Path::stopped(context.subset.score()?, reason)
            }
            path => path.map_err(|error| self.of_search(error))?,
        };
        let path = Path { health: path.health.or(context.subset.health()), ..path };
        let alpha = alpha(&path, &context.subset)?;
        let Engine { name, approximation, .. } = context.subset.engine();
        let (engine, approximation) = (name.into(), approximation.map(Into::into));
        let searched = Searched { path, engine, approximation, alpha, seconds: start.elapsed().as_secs_f64() };
        if !searched.path.stop_reason.is_partial() && (journal.is_top() || journal.is_worth(begun, 1)) {
            journal.keep("path", &searched);
        }
        Ok(searched)
    }

    /// Makes what the criterion keeps of a design.
    pub(crate) fn opened(&self, design: &Design) -> Result<()> {
        let outline = self.search.outline(design).map_err(|error| self.of_search(error))?;
        Subset::open(&*self.criterion, design, &outline).map(drop)
    }

    /// The same with another entry of the path as its result.
    pub(crate) fn taking(&self, searched: Searched, entry: Option<usize>, design: &Design) -> Result<Searched> {
        let mut searched = Searched { path: Path { chosen: entry, ..searched.path }, ..searched };
        if searched.alpha.is_some() {
            let outline = self.search.outline(design).map_err(|error| self.of_search(error))?;
            searched.alpha = alpha(&searched.path, &Subset::open(&*self.criterion, design, &outline)?)?;
        }
        Ok(searched)
    }

    /// Trains on the chosen subset and all rows of the design.
    pub(crate) fn fit_on(&self, design: &Design, picked: Picked) -> Result<Selection> {
        let start = Instant::now();
        let span = tracing::info_span!("fit");
        let _entered = span.enter();
        let Picked { searched, chosen, warnings, seconds: choose_seconds } = picked;
        let Searched { path, engine, approximation, alpha, seconds } = searched;
        let model = match path.result() {
            Some(entry) => train_entry(design, entry, chosen.lambda, Some(&engine))?,
            None => train(design, &[], path.empty.lambda.or(chosen.lambda), Some(&engine))?,
        };
        let fit_seconds = start.elapsed().as_secs_f64();
        let names = design.names().to_vec();
        Ok(Selection {
            path,
            chosen,
            warnings,
            names,
            model,
            engine,
            approximation,
            alpha,
            search_seconds: seconds,
            choose_seconds,
            fit_seconds,
        })
    }
}

/// The criterion's own coefficients on the result, where it has any.
fn alpha(path: &Path, subset: &Subset<'_>) -> Result<Option<Vec<f64>>> {
    match (path.result(), subset.geometry()) {
        (Some(entry), Some(mut geometry)) => geometry.minimizer(&entry.subset),
        _ => Ok(None),
    }
}

/// Checks the settings of the parts, which needs no data.
///
/// # Errors
/// [`Error::Setting`] with the field's path.
pub(crate) fn check_parts(criterion: &dyn Criterion, search: &dyn SearchStrategy, learner: &dyn Learner) -> Result<()> {
    learner.check().map_err(|error| error.under("learner"))?;
    criterion.check_settings().map_err(|error| error.under("criterion"))?;
    search.check_settings().map_err(|error| error.under("search"))
}
