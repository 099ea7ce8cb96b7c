//! Held-out predictions of the cross-validated search, at the chosen size and λ.

use super::loss_sums::TargetsAndPredictions;
use super::path_predictions::PathModels;
use super::pool::{StageMonitor, repeated};
use super::pooled_predictions::Pooled;
use super::sample::Sample;
use super::size_choice::Choice;
use super::validation::{dealt, parting, said_of_fold};
use super::walks::Fold;
use crate::selector::ValidSelector;
use ndarray::Array2;
use vaglio_core::{Model, Result};
use vaglio_search::CrossValidation;

/// Train/test splits of the first repeat of the cross-validated search.
///
/// # Errors
/// [`vaglio_core::Error::Setting`] for invalid splits.
pub fn chosen_parts(
    selector: &ValidSelector,
    sample: &Sample,
    how: &CrossValidation,
) -> Result<Vec<super::split_rule::TrainTestSplit>> {
    Ok(dealt(selector, sample, &parting(selector, sample, how, true)?, 0)?.all().collect())
}

/// Held-out predictions for the first repeat's folds, by the subset that each fold's search reached. Returns `None` if:
/// the search was not cross-validated; the work was stopped. Cost: the maps and one fit per fold.
///
/// # Errors
/// Returns the errors of the maps and the fits.
pub fn held_out(
    selector: &ValidSelector,
    sample: &Sample,
    chosen: &Choice,
    watcher: &StageMonitor<'_>,
) -> Result<Option<Pooled>> {
    let Some(how) = chosen.folds.as_ref().filter(|_| !chosen.fold_entries.is_empty()) else { return Ok(None) };
    let deal = chosen_parts(selector, sample, how)?;
    watcher.stage("held out", deal.len());
    let parts = repeated(&selector.room, deal.len(), |number| {
        if watcher.stopped().is_some() {
            return Ok(None);
        }
        let _held_out = tracing::debug_span!("held out", fold = number + 1).entered();
        let fold = Fold::new(selector, sample, &deal[number], None).map_err(|error| said_of_fold(error, number))?;
        let held = fold.held();
        let found = predicted_in_fold(selector, &fold, chosen, number, watcher)?;
        let part = found.map(|(model, predictions)| {
            let weights = held.compare(&model, &predictions, |compared| compared.weights.map(<[f64]>::to_vec));
            (held.problem.targets().as_ref().clone(), predictions, weights, fold.clusters.clone())
        });
        watcher.piece();
        Ok(part)
    })?;
    if watcher.stopped().is_some() {
        return Ok(None);
    }
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    Pooled::new(parts.iter().map(|(targets, predictions, weights, clusters)| TargetsAndPredictions {
        targets: targets.view(),
        predictions: predictions.view(),
        weights: weights.as_deref(),
        units: None,
        clusters: Some(clusters),
    }))
    .map(Some)
}

/// The chosen model of one fold, trained on its training rows, and its held-out predictions.
///
/// # Errors
/// Errors of the fit, with the number of the fold.
fn predicted_in_fold(
    selector: &ValidSelector,
    fold: &Fold,
    chosen: &Choice,
    number: usize,
    watcher: &StageMonitor<'_>,
) -> Result<Option<(Model, Array2<f64>)>> {
    let design = &fold.design.at_lambda(chosen.walk_lambda());
    let entry = &chosen.fold_entries[number];
    let entries = if entry.subset.is_empty() { &[] } else { std::slice::from_ref(entry) };
    let models = PathModels { design, entries, empty_lambda: entry.score.lambda, reduced: None };
    // The empty subset comes first and is replaced by the entry, if there is one.
    let mut last = None;
    selector.predictions(models, fold.context(&watcher.stop), &fold.held(), |_, model: &Model, predictions| {
        last = Some((model.clone(), predictions));
        Ok(())
    })?;
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criteria::Loo;
    use crate::learners::Rls;
    use crate::resampling::{Sample, select};
    use crate::selector::Selector;
    use linfa::ParamGuard;
    use std::time::Instant;
    use vaglio_core::{Lambda, Monitor, Silent};
    use vaglio_search::Greedy;
    use vaglio_testkit::data;

    #[test]
    fn their_loss_is_the_cross_validated_one() {
        let grid: Lambda = serde_json::from_str(r#"{"values": [0.1, 1.0, 10.0]}"#).unwrap();
        for (recipe, learner) in [
            (data::binary(40, 8, 3).weighted(), Rls { lambda: grid.clone(), ..Rls::default() }),
            (data::regression(30, 6, 5), Rls::default()),
        ] {
            let selector = Selector::params(Loo::default(), Greedy::default(), learner).seed(4).check().unwrap();
            let problem = recipe.problem();
            let sample = Sample::plain(problem.clone(), false);
            let design = selector.design(&problem).unwrap();
            let picked = select(&selector, &sample, &design, Instant::now(), &mut Monitor::from(&mut Silent)).unwrap();
            let pooled =
                held_out(&selector, &sample, &picked.chosen, &StageMonitor::new(&mut Silent)).unwrap().unwrap();
            let loss = selector.loss(problem.task());
            let found = loss.mean(pooled.targets.view(), pooled.predictions.view(), Some(&pooled.weights));
            let expected = picked.chosen.cell.unwrap().loss;
            assert!((found - expected).abs() < 1e-12 * expected, "{found} is not {expected}");
        }
    }
}
