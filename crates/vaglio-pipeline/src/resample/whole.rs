//! The whole procedure on some rows: maps, tuning, search, choice of size and λ, final fit.

use super::along::{Held, smeared};
use super::choice::{cross_validation, select};
use super::parting::{Part, Parting};
use super::pool::{Member, Piece, Watcher, repeated};
use super::sample::{Fitted, Sample};
use super::tally::{Compared, EVERY, Tally};
use super::walks::{held_by, said_of};
use crate::all_rows::FitFrom;
use crate::pipeline::OuterFolds;
use crate::selector::{Selection, ValidSelector};
use crate::train::train;
use crate::tune::Tune;
use crate::tune::Tuning;
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::time::Instant;
use vaglio_core::{Design, Error, FittedMap, Loss, Model, Result, TargetUnits};
use vaglio_report::record::Cell;
use vaglio_search::shuffle::stream;

const OUTER: u64 = 2;

/// What is repeated.
#[derive(Clone, Copy)]
pub struct Whole<'p> {
    /// Before tuning.
    pub selector: &'p ValidSelector,
    /// How the learner is tuned, if it is.
    pub tune: Option<&'p Tune>,
}

/// One repetition.
pub struct Repeated {
    /// What was learned from its rows.
    pub fitted: Fitted,
    pub(crate) design: Design,
    /// What was selected.
    pub selection: Selection,
}

impl Whole<'_> {
    /// The procedure on all rows of a sample, which a member watches and keeps in its journal; `None` when it was stopped.
    ///
    /// # Errors
    /// Those of every part of it.
    pub fn on(&self, sample: &Sample, mut member: Member<'_, '_>) -> Result<Option<Repeated>> {
        let (fitted, watcher) = (sample.fitted()?, member.watcher());
        let monitor = &mut member.monitor();
        let selector = match self.tune {
            Some(tune) => tune.tune(self.selector.clone(), &fitted.problem, monitor)?.0,
            None => self.selector.clone(),
        };
        let design = selector.design(&fitted.problem)?;
        let picked = select(&selector, sample, &design, Instant::now(), monitor)?;
        if watcher.stopped().is_some() {
            return Ok(None);
        }
        let selection = selector.fit_on((&fitted.problem, &design), picked, monitor)?;
        Ok(Some(Repeated { fitted, design, selection }))
    }
}

impl OuterFolds {
    /// How rows are parted for them.
    #[doc(hidden)]
    pub fn parting(&self, selector: &ValidSelector, sample: &Sample) -> Result<Parting> {
        let within = usize::from(cross_validation(selector).is_some());
        sample.parting(selector, self.splits.as_ref(), self.folds, within)
    }
}

/// One outer fold: what was selected on its training rows, and how that predicts the rows held out.
#[derive(Serialize, Deserialize)]
pub struct Outer {
    /// The number of the repeat.
    pub repeat: usize,
    /// The place of the fold in its repeat.
    pub fold: usize,
    /// What the selection took, and says of it.
    pub taken: Taken,
    /// The maps, fitted on the training rows.
    pub maps: Vec<Box<dyn FittedMap>>,
    /// How targets were mapped and scaled, if they were, with the residuals of the model.
    pub target_units: Option<Vec<TargetUnits>>,
    /// Names of the columns that the maps make.
    pub columns: Vec<String>,
    /// The model.
    pub model: Model,
    /// The rows held out, by their places in the sample.
    pub rows: Vec<usize>,
    /// What it predicts of these.
    pub held: HeldOutRows,
}

/// Rows that a procedure was not trained on, with what it predicts of them.
#[derive(Debug, Serialize, Deserialize)]
pub struct HeldOutRows {
    /// Outputs × rows held out, in the user's units, like the others.
    pub targets: Array2<f64>,
    /// Outputs × rows.
    pub predictions: Array2<f64>,
    /// Of the model without columns.
    pub empty: Array2<f64>,
    /// How much each row counts; all alike when absent.
    pub weights: Option<Vec<f64>>,
    /// The unit of each row, where rows are not judged one by one.
    pub units: Option<Vec<u32>>,
    /// The cluster of each row.
    pub clusters: Vec<u32>,
}

/// What a selection took.
#[derive(Serialize, Deserialize)]
pub struct Taken {
    /// Names of the features, in order of entry.
    pub selected: Vec<String>,
    /// How many features.
    pub size: usize,
    /// The score of the subset.
    #[serde(with = "vaglio_core::exact")]
    pub score: f64,
    /// The cross-validated loss, where there was one.
    pub cross_validated: Option<Cell>,
}

impl Taken {
    /// By a selection.
    pub fn of(selection: &Selection) -> Self {
        Taken {
            selected: selected(selection),
            size: selection.chosen.size,
            score: selection.path.result().map_or(selection.path.empty, |entry| entry.score).loss,
            cross_validated: selection.chosen.cell,
        }
    }
}

impl HeldOutRows {
    /// Of rows of a sample by what was made of others.
    ///
    /// # Errors
    /// Those of the maps and of the models.
    pub fn new(repeated: &Repeated, sample: &Sample, held: &[usize]) -> Result<Self> {
        let Repeated { fitted, design, selection } = repeated;
        let (problem, clusters) = held_by(sample, fitted, held)?;
        let held = Held::new(&problem, fitted.units.as_deref(), &fitted.problem);
        let predictions = held.predicted(selection.predictor())?;
        let empty = held.predicted(&train(design, &[], selection.path.empty.lambda, FitFrom::Rows)?)?;
        let owned = |c: Compared<'_>| (c.weights.map(<[f64]>::to_vec), c.units.map(<[u32]>::to_vec));
        let (weights, units) = held.compare(selection.predictor(), &predictions, owned);
        Ok(HeldOutRows { targets: problem.targets().as_ref().clone(), predictions, empty, weights, units, clusters })
    }

    /// Whether all are of the same rows, at most so many, which those of a journal may not be. Rows of weight 0 are left out.
    fn are_alike(&self, most: usize) -> bool {
        let (outputs, rows) = self.targets.dim();
        let shape = (outputs, rows.min(most));
        let is_whole = |all: Option<usize>| all.is_none_or(|count| count == rows);
        let are_alike = [&self.targets, &self.predictions, &self.empty].iter().all(|matrix| matrix.dim() == shape);
        let counts =
            [self.weights.as_ref().map(Vec::len), self.units.as_ref().map(Vec::len), Some(self.clusters.len())];
        are_alike && counts.into_iter().all(is_whole)
    }

    /// The losses of the predictions.
    pub fn tally(&self, loss: &dyn Loss) -> Tally {
        Tally::new(loss, self.compared(), EVERY)
    }

    /// The losses of the model without columns.
    pub fn empty_tally(&self, loss: &dyn Loss) -> Tally {
        Tally::new(loss, Compared { predictions: self.empty.view(), ..self.compared() }, EVERY)
    }

    /// The targets with the predictions.
    pub fn compared(&self) -> Compared<'_> {
        let (targets, predictions) = (self.targets.view(), self.predictions.view());
        let (weights, units) = (self.weights.as_deref(), self.units.as_deref());
        Compared { targets, predictions, weights, units, clusters: Some(&self.clusters) }
    }
}

/// Names of the features that a selection took, in order of entry.
fn selected(selection: &Selection) -> Vec<String> {
    let subset = selection.path.result().map_or(&[][..], |entry| &entry.subset);
    subset.iter().filter_map(|&feature| selection.names.get(feature).cloned()).collect()
}

/// The seed of one repeat of outer folds.
pub fn outer_seed(selector: &ValidSelector, repeat: usize) -> u64 {
    stream(selector.seed, OUTER, repeat as u64)
}

/// The parts of one repeat of outer folds.
///
/// # Errors
/// [`Error::Setting`] for parts that cannot be made.
pub fn outer_parts(selector: &ValidSelector, sample: &Sample, parting: &Parting, repeat: usize) -> Result<Vec<Part>> {
    parting.parts(sample, outer_seed(selector, repeat))
}

/// The parts of all outer folds, each with its repeat and its fold.
///
/// # Errors
/// [`Error::Setting`] for folds that cannot be made.
pub fn outer_jobs(whole: Whole<'_>, sample: &Sample, how: &OuterFolds) -> Result<Vec<((usize, usize), Part)>> {
    let under = |error: Error| error.under("evaluate.nested");
    let parting = how.parting(whole.selector, sample)?;
    let deal = |repeat: usize| outer_parts(whole.selector, sample, &parting, repeat).map_err(under);
    let mut deals: Vec<Vec<Part>> = (0..how.repeats).map(deal).collect::<Result<_>>()?;
    if deals.iter().all(|parts| *parts == deals[0]) {
        // What time orders is the same in every repeat.
        deals.truncate(1);
    }
    let of_repeat = |(repeat, parts): (usize, Vec<Part>)| {
        parts.into_iter().enumerate().map(move |(fold, part)| ((repeat, fold), part)).collect::<Vec<_>>()
    };
    Ok(deals.into_iter().enumerate().flat_map(of_repeat).collect())
}

/// The procedure on the training rows of outer folds; `None` when it was stopped, or where some are another process's.
///
/// # Errors
/// [`Error::Setting`] for folds that cannot be made; those of the procedure, with the fold.
pub fn outer(whole: Whole<'_>, sample: &Sample, how: &OuterFolds, watcher: &Watcher<'_>) -> Result<Option<Vec<Outer>>> {
    let parts = outer_jobs(whole, sample, how)?;
    watcher.stage("nested", parts.len());
    let done = repeated(&whole.selector.room, parts.len(), |job| {
        if watcher.stopped().is_some() {
            return Ok(None);
        }
        let (place, part) = &parts[job];
        let _outer = tracing::debug_span!("nested", repeat = place.0 + 1, fold = place.1 + 1).entered();
        let (key, piece) = (format!("nested/{job}"), Piece::whole(watcher));
        let outer = watcher.journal().once(&key, || {
            let member = watcher.member(watcher.journal().within(&key)).of_piece(Some(&piece));
            outer_fold(whole, sample, part, *place, member)
        });
        piece.end();
        if let Ok(Some(outer)) = &outer
            && !(outer.rows == part.held
                && (outer.repeat, outer.fold) == *place
                && outer.held.are_alike(part.held.len()))
        {
            return Err(Error::Shape(format!(
                "`{key}` of the journal is not of this fold's rows; run without --resume"
            )));
        }
        outer.map_err(|error| said_of(error, &format!("outer fold {}", place.1 + 1)))
    })?;
    Ok(if watcher.stopped().is_some() { None } else { done.into_iter().collect() })
}

/// One of them.
///
/// # Errors
/// Those of the procedure.
pub fn outer_fold(
    whole: Whole<'_>,
    sample: &Sample,
    Part { training, held }: &Part,
    (repeat, fold): (usize, usize),
    member: Member<'_, '_>,
) -> Result<Option<Outer>> {
    let Some(repeated) = whole.on(&sample.select(training)?, member)? else { return Ok(None) };
    let rows = held.clone();
    let held = HeldOutRows::new(&repeated, sample, held)?;
    let Repeated { fitted, selection, .. } = repeated;
    let (taken, columns) = (Taken::of(&selection), fitted.problem.names().to_vec());
    let target_units = smeared(fitted.units.as_deref(), &fitted.problem, selection.predictor())?;
    let (maps, model) = (fitted.maps, selection.predictor().clone());
    Ok(Some(Outer { repeat, fold, taken, maps, target_units, columns, model, rows, held }))
}
