//! Models that had not seen the rows which they are to predict.

use super::{AffineModels, Probes};
use crate::resample::along::{Held, predictions_along};
use crate::resample::chosen::Chosen;
use crate::resample::held_out::{chosen_parts, predicted_in_fold};
use crate::resample::numeric;
use crate::resample::pool::{Watcher, in_turn};
use crate::resample::rows::{Learned, Rows};
use crate::resample::sample::{Fitted, Sample, SampleSource};
use crate::resample::validated::said_of_fold;
use crate::resample::walks::Fold;
use crate::selector::ValidSelector;
use std::sync::Arc;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Design, Feature, HeldOut, PathEntry, Problem, Result, Round, Score};

/// The cells that are held out, with a model of the others.
type Unseen = (Vec<u32>, AffineModels);

/// Those of the first repeat's folds of the cross-validated search, at the size and λ that it took; none where there is none.
///
/// # Errors
/// Those of the maps and of the fits.
pub fn of_choice(
    selector: &ValidSelector,
    sample: &Sample,
    chosen: &Chosen,
    watcher: &Watcher<'_>,
) -> Result<Vec<Unseen>> {
    let Some(how) = chosen.folds.as_ref().filter(|_| !chosen.of_folds.is_empty()) else { return Ok(Vec::new()) };
    let deal = chosen_parts(selector, sample, how)?;
    in_turn(deal.len(), |number| {
        let Fold { fitted, .. } = Fold::of(sample, &deal[number]).map_err(|error| said_of_fold(error, number))?;
        let subset = &chosen.of_folds[number].subset;
        let probes = Probes::new(sample, (&fitted.maps, fitted.problem.names()), subset)?;
        let held = Held::new(&probes.problem, fitted.units.as_deref(), &fitted.problem);
        let found = predicted_in_fold(selector, &fitted.problem, (chosen, number), &held, watcher)?;
        let predictions: Vec<_> = found.into_iter().map(|(_, predictions)| predictions).collect();
        Ok((sample.cells(&deal[number].held), probes.models(&predictions)))
    })
}

/// The rounds in which a criterion holds rows out; none where it holds none out in folds.
///
/// # Errors
/// Those of the folds.
pub fn rounds_of(selector: &ValidSelector, design: &Design) -> Result<Vec<Round>> {
    Ok(match selector.criterion().folds(design)? {
        HeldOut::Folds(rounds) => rounds,
        _ => Vec::new(),
    })
}

/// Those of the folds of one of these, of some subsets, each with its λ.
///
/// # Errors
/// Those of the maps and of the fits.
pub fn of_round(
    selector: &ValidSelector,
    (sample, design): (&Sample, &Design),
    round: &Round,
    entries: &[PathEntry],
) -> Result<Vec<Unseen>> {
    let features: Vec<Feature> = entries.iter().flat_map(|entry| &entry.subset).copied().collect();
    let (filled, none): (Vec<PathEntry>, Vec<PathEntry>) =
        entries.iter().cloned().partition(|entry| !entry.subset.is_empty());
    let empty = none.first().map_or(Score::WORST, |entry| entry.score);
    in_turn(round.count(), |fold| {
        let fitted = sample.fitted_in_fold(&round.training(fold), design)?;
        // What folds are dealt of these rows is not known, nor asked for.
        let own = Design::of(&fitted.problem, Arc::clone(&selector.learner))?;
        let own = own.at_lambda(design.readout().map(|readout| readout.lambdas[0]));
        let probes = Probes::new(sample, (&fitted.maps, fitted.problem.names()), &features)?;
        let held = Held::new(&probes.problem, fitted.units.as_deref(), &fitted.problem);
        let mut all = Vec::new();
        predictions_along(None, &own, (&filled, empty), &held, |index, _, predictions| {
            // The model without columns is one of them where an entry has none.
            all.extend(index.map_or(!none.is_empty(), |_| true).then_some(predictions));
            Ok(())
        })?;
        Ok((sample.cells(&round.held_out(fold).collect::<Vec<_>>()), probes.models(&all)))
    })
}

impl Sample {
    /// What a criterion learns of the training rows of a fold: maps that it fits again there, and of all rows the others.
    fn fitted_in_fold(&self, training: &[usize], design: &Design) -> Result<Fitted> {
        let SampleSource::Mapped(rows, recipe) = &self.source else { return self.select(training)?.fitted() };
        let count = recipe.maps.len();
        let standardized = if design.in_folds().is_standardized() { count.saturating_sub(1) } else { count };
        let first = recipe.refit_from.unwrap_or(standardized);
        let mut all = Rows::clone(rows);
        let before = recipe.fit_between(0..first, &mut all)?;
        let mut own = all.select(training);
        let Learned { maps, units, .. } = recipe.fit_between(first..count, &mut own)?;
        let units = match (before.units, units) {
            (Some(mapped), Some(scaled)) => {
                Some(mapped.into_iter().zip(scaled).map(|(mapped, scaled)| mapped.scaled(scaled.scale)).collect())
            }
            (mapped, scaled) => mapped.or(scaled),
        };
        let (columns, names) = numeric(&mut own.table)?;
        let targets = std::mem::take(&mut own.targets);
        let problem = Problem::new(columns, names, targets, recipe.target_names.clone(), recipe.task.clone())?;
        let problem = own.complete(recipe.with_bias(recipe.in_precision(problem)?)?)?;
        Ok(Fitted { problem, maps: before.maps.into_iter().chain(maps).collect(), units })
    }
}
