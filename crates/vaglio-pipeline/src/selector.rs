//! Selection of columns of a problem by a criterion, a search and a learner.

mod fold_preprocessing;
mod range;
mod search_result;

pub(crate) use search_result::SearchResult;

use crate::final_fit::subset_score;
use crate::final_model::FinalModel;
use crate::memory_slots::MemorySlots;
use crate::tune::Tune;
use std::sync::Arc;
use vaglio_core::{
    Criterion, Design, Error, Estimate, Learner, Loss, Part, Problem, Readout, Result, SearchExtent, Squared, Task,
    ZeroOne, single_outputs,
};
use vaglio_kernels::ridge::Ridge;
use vaglio_search::{Choose, CrossValidation, Search, SubsetScorer};

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
    /// Criterion that scores subsets.
    pub criterion: Arc<dyn Criterion>,
    /// Search that walks subsets.
    pub search: Search,
    /// Learner that fits a subset.
    pub learner: Arc<dyn Learner>,
    /// Seed, which determines every random choice.
    pub seed: u64,
    /// Settings of the learner to tune before the search, and searches to compare, if any.
    pub tune: Option<Tune>,
    /// Learner trained on the selected columns; it replaces `learner` in predictions and evaluation.
    pub model: Option<FinalModel>,
    /// Memory slots for concurrent repetitions of the search.
    pub slots: MemorySlots,
}

impl Selector {
    /// Parameters from a criterion, a search and a learner, each new, boxed or shared.
    pub fn params(
        criterion: impl Into<Part<dyn Criterion>>,
        search: impl Into<Search>,
        learner: impl Into<Part<dyn Learner>>,
    ) -> Self {
        Selector(ValidSelector {
            criterion: criterion.into().into(),
            search: search.into(),
            learner: learner.into().into(),
            seed: 0,
            tune: None,
            model: None,
            slots: MemorySlots::default(),
        })
    }

    /// Sets the seed, which determines every random choice.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.0.seed = seed;
        self
    }
}

impl ValidSelector {
    /// Cross-validation that chooses the result, if any.
    pub fn cross_validation(&self) -> Option<CrossValidation> {
        match self.search.size_choice() {
            Choose::CrossValidated(how) => Some(how),
            Choose::Auto => self.criterion.traits().loss.map(|_| CrossValidation::default()),
            _ => None,
        }
    }

    /// Whether the user asked for the cross-validation that chooses the result.
    pub fn asks_for_folds(&self) -> bool {
        matches!(self.search.size_choice(), Choose::CrossValidated(_))
    }

    /// Whether rows are expected in time order.
    pub fn needs_order(&self) -> bool {
        self.learner.needs_order() || self.model.as_ref().is_some_and(|model| model.learner.needs_order())
    }

    /// Loss that compares selections: the criterion's, else the squared error or, for classes, the zero-one loss.
    pub fn loss(&self, task: &Task) -> Part<dyn Loss> {
        let own = || if *task == Task::Regression { Squared.into() } else { ZeroOne.into() };
        self.criterion.traits().loss.unwrap_or_else(own)
    }

    /// The design of a problem, after every check that precedes the search, with an automatic grid of λ fitted.
    pub fn design(&self, problem: &Problem) -> Result<Design> {
        self.design_at(problem, None)
    }

    /// Like [`ValidSelector::design`], but for some of the rows of the design `whole`, which provides the grid of λ.
    pub fn design_at(&self, problem: &Problem, whole: Option<&Design>) -> Result<Design> {
        problem.sign().ends(|| {
            let learner_error = |error: Error| error.from_part(&*self.learner);
            self.learner.check_settings().map_err(learner_error)?;
            let design = self.unchecked_design(problem).map_err(learner_error)?;
            let design = if self.search.takes_lambda() {
                range::with_fitted_lambdas(design, whole)
            } else {
                range::with_one_lambda(design)
            };
            if single_outputs(&design).is_some() && !self.criterion.traits().scores_each_output {
                let why = "`each` takes the lambda of an output by what it loses on rows held out; \
                       use `loo` or `kfold`, or share lambda";
                return Err(Error::setting("learner.lambda.outputs", why));
            }
            self.criterion.check(&design).map_err(|error| error.from_part(&*self.criterion))?;
            // A check that is interrupted is no failure: the search then ends at once.
            match problem.sign().ends(|| self.search.check(&*self.criterion, &design)) {
                Err(Error::Stopped(_)) => {}
                checked => checked.map_err(|error| self.in_search(error))?,
            }
            self.check_final_model(&design, problem)?;
            self.fitted_in_folds(design, problem)
        })
    }

    /// The learner's design before criterion and search check it. Its candidates are the columns that the search may
    /// add: not the excluded ones, nor the others of their blocks. Settings that do not suit the design are left to the
    /// search's own check.
    pub(crate) fn unchecked_design(&self, problem: &Problem) -> Result<Design> {
        let design = Design::from_problem(&problem.clone().with_seed(self.seed), Arc::clone(&self.learner))?;
        if self.search.settings.excluded.is_empty() {
            return Ok(design);
        }
        let kept = self.search.space(&design).map(|space| space.groups().concat());
        Ok(match kept {
            Ok(kept) => design.among(&kept),
            Err(_) => design,
        })
    }

    /// Refuses targets and rows that the learner of a final model does not accept, and selections of features that are
    /// not columns.
    fn check_final_model(&self, design: &Design, problem: &Problem) -> Result<()> {
        let Some(model) = &self.model else { return Ok(()) };
        model.learner.check(problem).map_err(|error| model.in_learner(error).under("model"))?;
        let rules = self.search.rules(design).map_err(|error| error.under("search"))?;
        if rules.is_some_and(|rules| rules.has_signs()) {
            let message = "signs are those of the weights by which columns are selected, and `model` trains others; leave one out";
            return Err(Error::setting("search.constraints.signs", message));
        }
        if design.problem().has_columns_of(problem) {
            return Ok(());
        }
        let kind = self.learner.kind();
        let message = format!(
            "`model` is trained on columns of the table, and the learner `{kind}` selects from features that it makes of them; \
             write `{kind}` here and `rls` as the learner"
        );
        Err(Error::setting("model", message))
    }

    /// Limits repetitions of the search at once to those of `each` bytes that fit in `bytes`; one always runs.
    #[must_use]
    pub fn limit_repetitions(self, bytes: f64, each: f64) -> Self {
        ValidSelector { slots: MemorySlots::new(bytes, each), ..self }
    }

    /// A copy with another search.
    pub fn with_search(&self, search: Search) -> Self {
        ValidSelector { search, ..self.clone() }
    }

    /// Like [`ValidSelector::design`], but reuses the design `known` for the search `other` if possible.
    pub(crate) fn design_reusing(&self, other: &Search, known: &Design, problem: &Problem) -> Result<Design> {
        let has_other_columns = self.search.settings.excluded != other.settings.excluded;
        if has_other_columns || self.search.takes_lambda() && !other.takes_lambda() {
            return self.design(problem);
        }
        self.search.check(&*self.criterion, known).map_err(|error| self.in_search(error))?;
        Ok(if self.search.takes_lambda() { known.clone() } else { range::with_one_lambda(known.clone()) })
    }

    /// A copy with penalties fitted to a design, if the search is evaluated at several penalties.
    pub(crate) fn at_penalties(&self, design: &Design) -> Result<Option<ValidSelector>> {
        let fitted = self.search.at_penalties(&*self.criterion, design).map_err(|error| self.in_search(error))?;
        Ok(fitted.map(|search| self.with_search(search)))
    }

    /// Attributes an error to the search, unless it belongs to another part.
    fn in_search(&self, error: Error) -> Error {
        error.from_part(&self.search)
    }

    /// The design at the λ that the criterion chooses for all columns, if the learner asks for it (`per: all`).
    pub(crate) fn at_lambda_of_all(&self, design: &Design) -> Result<Design> {
        if !takes_lambda_of_all(design) {
            return Ok(design.clone());
        }
        let score = design.problem().sign().ends(|| subset_score(&*self.criterion, design, &design.candidates()))?;
        let lambda = score.lambda.ok_or_else(|| {
            let kind = self.criterion.kind();
            let message =
                format!("`all` takes lambda by the score of all columns, and `{kind}` takes none; use `path`");
            Error::setting("learner.lambda.per", message)
        })?;
        tracing::debug!(lambda, "lambda of all columns");
        Ok(design.at_lambda(Some(lambda)))
    }

    /// The scorer of the search on a design; it prepares the criterion's cached data.
    pub(crate) fn scorer<'a>(&'a self, design: &'a Design) -> Result<SubsetScorer<'a>> {
        let extent = self.search.extent(design).map_err(|error| self.in_search(error))?;
        SubsetScorer::open(&*self.criterion, design, &extent)
    }

    /// Extent of one search on a design, and the criterion's estimate for it.
    pub fn extent_and_estimate(&self, design: &Design) -> Result<(SearchExtent, Estimate)> {
        let lambdas = path_lambdas(design, self.cross_validation().is_some()).len();
        let design = at_first_lambda(design, lambdas);
        let search_extent = self.search.extent(&design).map_err(|error| error.under("search"))?;
        let (flops, bytes) = self.search.effort(&*self.criterion, &design).map_err(|error| error.under("search"))?;
        let own = self.criterion.plan(&design, &search_extent).estimate;
        Ok((search_extent, Estimate { flops: own.flops + flops, bytes: own.bytes + bytes, ..own }))
    }
}

/// Values of λ that each get a search path: the readout's if λ belongs to the path, else a single `None`. Unless the
/// readout says so (`per`), λ belongs to the path if the search `is_cross_validated`.
pub fn path_lambdas(design: &Design, is_cross_validated: bool) -> Vec<Option<f64>> {
    let Some(readout) = design.readout() else { return vec![None] };
    let of_path = readout.is_per_path().unwrap_or(is_cross_validated);
    if of_path && !readout.refine && readout.lambdas.len() > 1 { design.lambdas() } else { vec![None] }
}

/// Whether λ is chosen among several by the score of all columns.
pub fn takes_lambda_of_all(design: &Design) -> bool {
    design.readout().is_some_and(Readout::is_of_all_columns)
}

/// Checks the settings of the parts that need no data.
pub(crate) fn check_parts(criterion: &dyn Criterion, search: &Search, learner: &dyn Learner) -> Result<()> {
    learner.check_settings().map_err(|error| error.under("learner"))?;
    criterion.check_settings().map_err(|error| error.under("criterion"))?;
    search.check_settings().map_err(|error| error.under("search"))
}

/// The design of the first of `lambdas` walks, which share caches: at its λ, or at all λ if there is one walk.
pub fn at_first_lambda(design: &Design, lambdas: usize) -> Design {
    let all = design.lambdas();
    design.at_lambda(all[0].filter(|_| lambdas > 1)).with_run(|run| run.share(&all[..lambdas.min(all.len())]))
}

/// Memory of the columns of a problem and of the features that the learner makes of them, in bytes.
pub fn data_bytes(problem: &Problem, design: &Design) -> f64 {
    let mapped = if design.problem().has_columns_of(problem) { 0 } else { design.problem().columns().bytes() };
    (problem.columns().bytes() + mapped) as f64
}

/// Memory of the final fit in bytes: at most `largest` selected columns, the targets, and their triangular reduction.
pub fn fit_bytes(design: &Design, largest: usize) -> f64 {
    let (rows, outputs) = (design.planned_rows(), design.targets().nrows());
    8.0 * rows as f64 * (largest as f64 + 2.0 * outputs as f64) + Ridge::bytes(rows, largest)
}
