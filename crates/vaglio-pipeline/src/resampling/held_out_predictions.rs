//! Held-out predictions of the cross-validated search, at the chosen size and λ.

use super::loss_sums::Pooled;
use super::path_predictions::PathModels;
use super::pool::StageMonitor;
use super::sample::Sample;
use super::size_choice::Choice;
use super::split_rule::TrainTestSplit;
use super::validation::{repeats, said_of_fold};
use super::walks::Fold;
use crate::selector::ValidSelector;
use vaglio_core::Result;
use vaglio_search::CrossValidation;

/// Train/test splits of the first repeat of the cross-validated search.
///
/// # Errors
/// [`vaglio_core::Error::Setting`] for invalid splits.
pub fn chosen_parts(selector: &ValidSelector, sample: &Sample, how: &CrossValidation) -> Result<Vec<TrainTestSplit>> {
    Ok(repeats(selector, sample, how, true, 1)?.all().collect())
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
    let parts = chosen_parts(selector, sample, how)?;
    let in_fold = |number: usize| {
        let _held_out = tracing::debug_span!("held out", fold = number + 1).entered();
        let fold = Fold::new(selector, sample, &parts[number], None)?;
        let (design, held) = (&fold.design.at_lambda(chosen.walk_lambda()), fold.held());
        let entry = &chosen.fold_entries[number];
        let entries = if entry.subset.is_empty() { &[] } else { std::slice::from_ref(entry) };
        let models = PathModels { design, entries, empty_lambda: entry.score.lambda, reduced: None };
        // The empty subset comes first, and is the result unless there is an entry.
        let mut last = None;
        selector.predictions(models, &fold.known, &watcher.stop, &held, |_, model, predictions| {
            last = Some(held.compare(model, &predictions, |compared| Pooled::new(std::iter::once(compared)))?);
            Ok(())
        })?;
        Ok(last)
    };
    let found = watcher.jobs("held out", &selector.room, parts.len(), |number| {
        in_fold(number).map_err(|error| said_of_fold(error, number))
    })?;
    let Some(found) = found else { return Ok(None) };
    let mut pooled = Pooled::new(found.iter().map(Pooled::compared))?;
    pooled.placed(parts.iter().map(|part| &part.held));
    Ok(Some(pooled))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learners::Rls;
    use crate::resampling::{Sample, select};
    use crate::selector::Selector;
    use linfa::ParamGuard;
    use std::time::Instant;
    use vaglio_core::{Lambda, Monitor, Silent};
    use vaglio_search::Greedy;
    use vaglio_testkit::data;
    use vaglio_validate::Loo;

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
