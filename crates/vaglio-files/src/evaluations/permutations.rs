//! Permutation test: repeats the whole selection on shuffled targets.

use super::{Evaluation, RepetitionInput, Repetitions};
use serde::{Deserialize, Serialize};
use vaglio_core::Result;
use vaglio_core::shuffle::stream;
use vaglio_pipeline::resampling::{Jobs, StageMonitor, on_training_rows};
use vaglio_report::record::{Cell, NullFigure, Permutations};

const SHUFFLE: u64 = 3;
const PREFIX: &str = "permutations/";

/// Score and cross-validated loss of a selection on shuffled targets.
#[derive(Serialize, Deserialize)]
struct NullSelection {
    #[serde(with = "vaglio_core::exact_float")]
    score: f64,
    cross_validated: Option<Cell>,
}

/// Compares the selection with those on shuffled targets.
pub const EVALUATION: Evaluation = Evaluation {
    repetitions: Some(Repetitions {
        prefix: PREFIX,
        units: "shuffles",
        planned: "the same on N shuffled targets",
        is_one_search: false,
        count: |input| Ok(input.evaluate.permutations.unwrap_or(0)),
        repeat: |input, _, watcher| shuffles(input, watcher).map(drop),
    }),
    ..Evaluation::new("permutations", |run, found, watcher| {
        let Some(nulls) = shuffles(&run.input, watcher)? else { return Ok(()) };
        let count = nulls.len();
        let figure = |observed: f64, values: Vec<f64>| {
            let values: Vec<f64> = values.into_iter().map(|value| value.min(f64::MAX)).collect();
            let count = values.len() as f64;
            let below = values.iter().filter(|value| **value <= observed).count() as f64;
            NullFigure { mean: values.iter().sum::<f64>() / count, p: (below + 1.0) / (count + 1.0), values }
        };
        let score = run.selection.path.score().loss;
        let cross_validated = run.selection.chosen.cell;
        let fold_losses: Vec<f64> =
            nulls.iter().filter_map(|null| null.cross_validated).map(|cell| cell.loss).collect();
        found.record.permutations = Some(Permutations {
            count,
            score: figure(score, nulls.iter().map(|null| null.score).collect()),
            cross_validated: cross_validated
                .filter(|_| fold_losses.len() == count)
                .map(|cell| figure(cell.loss, fold_losses)),
        });
        Ok(())
    })
};

/// Selections on shuffled targets; `None` if they are not asked for, if stopped, or if some belong to another process.
fn shuffles(input: &RepetitionInput<'_>, watcher: &StageMonitor<'_>) -> Result<Option<Vec<NullSelection>>> {
    let Some(count) = input.evaluate.permutations else { return Ok(None) };
    let selector = input.selector;
    Jobs::new(PREFIX, count).run("permutations", &selector.slots, watcher, |number, subtask| {
        let _shuffle = tracing::debug_span!("shuffle", number = number + 1).entered();
        let seed = stream(selector.seed, SHUFFLE, number as u64);
        let shuffled = input.sample.with_shuffled_targets(selector.goes_forward(), seed)?;
        let fit = selector.fit_sample(&shuffled, subtask);
        let fit = fit.map_err(|e| on_training_rows(e, &format!("shuffle {}", number + 1)))?;
        Ok(fit.map(|fit| NullSelection {
            score: fit.selection.path.score().loss,
            cross_validated: fit.selection.chosen.cell,
        }))
    })
}
