//! What runs from files to files see of pipelines, selections and saved models, and programs do not.

mod saved;

pub use crate::pipeline::saved::chain::{Chain, Predicted, Scaled, scaled};
pub use crate::pipeline::saved::intervals::bounds;
pub use crate::pipeline::settings::Settings;
pub use saved::{CalibrationParts, HistoryParts, SavedParts};

use crate::fdr::Discoveries;
use crate::final_model::{FinalModel, FittedFinalModel, Judging};
use crate::pipeline::{DataSpec, EngineSpec, OuterFolds, ValidPipeline};
use crate::resample::along::Held;
use crate::resample::judged::FoldLosses;
use crate::resample::parting::Parting;
use crate::resample::room::Room;
use crate::resample::{Chosen, Picked, Recipe, Sample};
use crate::selector::{Searched, Selection, ValidSelector};
use ndarray::Array2;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vaglio_core::{
    AnyLoss, Design, Estimate, Feature, Model, Monitor, Outline, PathEntry, Problem, Result, Score, SearchStrategy,
    Task,
};

/// What a pipeline is made of.
pub trait PipelineParts: Sized {
    /// Its settings.
    fn settings(&self) -> &Settings;

    /// Its settings, to be changed.
    fn settings_mut(&mut self) -> &mut Settings;

    /// How rows of a table become a problem.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] for a map that asks for what only the last can have.
    fn recipe(&self, task: Task, target_names: Vec<String>) -> Result<Recipe>;

    /// The time that a run, or a fit, may take.
    fn most_time(&self) -> Option<Duration>;

    /// The same with what was left to a default by data written out: how the result was chosen, and λ for what.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Numerical`] when settings cannot be written.
    fn resolved(&self, chosen: &Chosen) -> Result<Self>;

    /// The settings on which what a run finds depends, as JSON: not where the data lie, whose content counts, nor threads
    /// and limits.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Numerical`] when settings cannot be written.
    fn configuration(&self) -> Result<serde_json::Value>;
}

impl PipelineParts for ValidPipeline {
    fn settings(&self) -> &Settings {
        &self.0
    }

    fn settings_mut(&mut self) -> &mut Settings {
        &mut self.0
    }

    fn recipe(&self, task: Task, target_names: Vec<String>) -> Result<Recipe> {
        ValidPipeline::recipe(self, task, target_names)
    }

    fn most_time(&self) -> Option<Duration> {
        ValidPipeline::most_time(self)
    }

    fn resolved(&self, chosen: &Chosen) -> Result<Self> {
        ValidPipeline::resolved(self, chosen)
    }

    fn configuration(&self) -> Result<serde_json::Value> {
        ValidPipeline::configuration(self)
    }
}

/// Where the data of a pipeline are.
pub trait DataParts {
    /// Whether the training rows begin with labels.
    fn has_labels(&self) -> bool;

    /// The file of the targets, where that is another than the data.
    fn target_file(&self) -> Option<&String>;
}

impl DataParts for DataSpec {
    fn has_labels(&self) -> bool {
        DataSpec::has_labels(self)
    }

    fn target_file(&self) -> Option<&String> {
        DataSpec::target_file(self)
    }
}

/// Where a pipeline computes.
pub trait EngineParts {
    /// Refuses to compute on this machine what is to be computed on others.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`].
    fn check_is_here(&self) -> Result<()>;

    /// The folder of the ledger that workers share, to be changed.
    fn ledger_mut(&mut self) -> Option<&mut String>;
}

impl EngineParts for EngineSpec {
    fn check_is_here(&self) -> Result<()> {
        EngineSpec::check_is_here(self)
    }

    fn ledger_mut(&mut self) -> Option<&mut String> {
        self.ledger.as_mut()
    }
}

/// How rows are parted for outer folds.
pub trait FoldsParts {
    /// How rows are parted for them.
    ///
    /// # Errors
    /// Those of [`Problem::new`].
    fn parting(&self, selector: &ValidSelector, sample: &Sample) -> Result<Parting>;
}

impl FoldsParts for OuterFolds {
    fn parting(&self, selector: &ValidSelector, sample: &Sample) -> Result<Parting> {
        OuterFolds::parting(self, selector, sample)
    }
}

/// A selection, piece by piece.
pub trait SelectorParts: Sized {
    /// The seed from which every random choice follows.
    fn seed(&self) -> u64;

    /// For how many repetitions of the search there is memory at once.
    fn room(&self) -> &Room;

    /// The same with room for others.
    fn in_room(self, room: Room) -> Self;

    /// The same by another search.
    fn by_search(&self, search: Arc<dyn SearchStrategy>) -> Self;

    /// What is trained on the chosen columns and judged in place of the learner.
    fn model(&self) -> Option<&FinalModel>;

    /// The loss by which selections are compared: the criterion's, or a readout's where it has none.
    fn loss(&self, task: &Task) -> AnyLoss;

    /// Whether rows are taken to be in an order of time.
    fn needs_order(&self) -> bool;

    /// The design of some of the rows of another design, which has its grid of λ from all of them.
    ///
    /// # Errors
    /// Those of [`ValidSelector::design`].
    fn design_at(&self, problem: &Problem, whole: Option<&Design>) -> Result<Design>;

    /// A design with the grid of λ that its search takes: one λ, where that has no part in it.
    fn of_own_lambdas(&self, design: Design) -> Design;

    /// The selection of the search that won, by its place; this one where it is no race.
    fn of_winner(&self, place: Option<usize>) -> Self;

    /// The search on a design at one of so many λ, outlined, with what its criterion estimates.
    ///
    /// # Errors
    /// Those of the search's outline.
    fn outlined(&self, design: &Design, lambdas: usize) -> Result<(Outline, Estimate)>;

    /// Searches on a design of the problem that was begun at `start`, up to a size if one is given.
    ///
    /// # Errors
    /// Those of the search and of the criterion.
    fn search_on(
        &self,
        design: &Design,
        start: Instant,
        until: Option<usize>,
        monitor: &mut Monitor<'_>,
    ) -> Result<Searched>;

    /// Trains on the chosen subset and all rows of the design of a problem.
    ///
    /// # Errors
    /// Those of the learner.
    fn fit_on(&self, of: (&Problem, &Design), picked: Picked, monitor: &mut Monitor<'_>) -> Result<Selection>;

    /// Calls `each` with the predictions of the models by which subsets are judged: of the learner, or of the final model where
    /// there is one, trained on the problem of the design. Ends early at a stop sign.
    ///
    /// # Errors
    /// Those of the fits.
    fn predictions(
        &self,
        of: (&Problem, &Design),
        entries: (&[PathEntry], Score),
        held: &Held<'_>,
        by: Judging<'_>,
        each: impl FnMut(Option<usize>, &Model, Array2<f64>) -> Result<()>,
    ) -> Result<()>;
}

impl SelectorParts for ValidSelector {
    fn seed(&self) -> u64 {
        self.seed
    }

    fn room(&self) -> &Room {
        &self.room
    }

    fn in_room(self, room: Room) -> Self {
        ValidSelector { room, ..self }
    }

    fn by_search(&self, search: Arc<dyn SearchStrategy>) -> Self {
        ValidSelector { search, ..self.clone() }
    }

    fn model(&self) -> Option<&FinalModel> {
        self.model.as_ref()
    }

    fn loss(&self, task: &Task) -> AnyLoss {
        ValidSelector::loss(self, task)
    }

    fn needs_order(&self) -> bool {
        ValidSelector::needs_order(self)
    }

    fn design_at(&self, problem: &Problem, whole: Option<&Design>) -> Result<Design> {
        ValidSelector::design_at(self, problem, whole)
    }

    fn of_own_lambdas(&self, design: Design) -> Design {
        ValidSelector::of_own_lambdas(self, design)
    }

    fn of_winner(&self, place: Option<usize>) -> Self {
        ValidSelector::of_winner(self, place)
    }

    fn outlined(&self, design: &Design, lambdas: usize) -> Result<(Outline, Estimate)> {
        ValidSelector::outlined(self, design, lambdas)
    }

    fn search_on(
        &self,
        design: &Design,
        start: Instant,
        until: Option<usize>,
        monitor: &mut Monitor<'_>,
    ) -> Result<Searched> {
        ValidSelector::search_on(self, design, start, until, monitor)
    }

    fn fit_on(&self, of: (&Problem, &Design), picked: Picked, monitor: &mut Monitor<'_>) -> Result<Selection> {
        ValidSelector::fit_on(self, of, picked, monitor)
    }

    fn predictions(
        &self,
        of: (&Problem, &Design),
        entries: (&[PathEntry], Score),
        held: &Held<'_>,
        by: Judging<'_>,
        each: impl FnMut(Option<usize>, &Model, Array2<f64>) -> Result<()>,
    ) -> Result<()> {
        ValidSelector::predictions(self, of, entries, held, by, each)
    }
}

/// A final model, trained by itself.
pub trait FinalParts {
    /// Trained on all rows of a problem and its columns `subset`, of which there is at least one.
    ///
    /// # Errors
    /// Those of the learner, of its criterion and of tuning, under `model`.
    fn train(
        &self,
        selector: &ValidSelector,
        problem: &Problem,
        subset: &[Feature],
        monitor: &mut Monitor<'_>,
    ) -> Result<FittedFinalModel>;
}

impl FinalParts for FinalModel {
    fn train(
        &self,
        selector: &ValidSelector,
        problem: &Problem,
        subset: &[Feature],
        monitor: &mut Monitor<'_>,
    ) -> Result<FittedFinalModel> {
        FinalModel::train(self, selector, problem, subset, monitor)
    }
}

/// What is known of how a result was taken.
pub trait ChosenParts {
    /// The size at which the walks at that λ were ended in all folds, if they were.
    fn until(&self) -> Option<usize>;

    /// What the first repeat's folds reached at that size and λ.
    fn of_folds(&self) -> &[PathEntry];

    /// What the folds lost there and near it.
    fn losses(&self) -> Option<&FoldLosses>;

    /// What is known of false discoveries, where they chose.
    fn confirmed(&self) -> Option<&Discoveries>;

    /// The λ of the whole walk, where it is not that of each subset.
    fn walk_lambda(&self) -> Option<f64>;
}

impl ChosenParts for Chosen {
    fn until(&self) -> Option<usize> {
        self.until
    }

    fn of_folds(&self) -> &[PathEntry] {
        &self.of_folds
    }

    fn losses(&self) -> Option<&FoldLosses> {
        self.losses.as_ref()
    }

    fn confirmed(&self) -> Option<&Discoveries> {
        self.confirmed.as_ref()
    }

    fn walk_lambda(&self) -> Option<f64> {
        Chosen::walk_lambda(self)
    }
}
