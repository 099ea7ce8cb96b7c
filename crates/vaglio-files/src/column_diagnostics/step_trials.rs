//! Trials of every column alone and at every step, to find where it came nearest to being chosen.

use crate::evaluations::drop_column::exchanges::TrialDesign;
use vaglio_core::{Action, Design, Feature, Result, Score, SearchExtent};
use vaglio_report::record::NearestStep;

/// Trials of all candidates added to the first columns of a result, in order of entry.
pub struct StepTrials {
    /// Score of each column alone and its rank, by index; `None` for a column that is no candidate.
    pub alone: Vec<Option<(f64, usize)>>,
    /// Step at which each column came nearest, by index; `None` if only single columns were tried.
    pub nearest: Vec<Option<NearestStep>>,
    /// Score of the result with each column added, by index; the worst if not tried.
    pub added: Vec<Score>,
}

/// Search extent of the trials: every candidate added to the first k columns, for k from 0.
fn extent(design: &Design, steps: usize) -> SearchExtent {
    SearchExtent::forward(design.candidates().len(), steps)
}

/// Flops of [`StepTrials::new`].
pub fn flops(trials: &TrialDesign<'_>, steps: usize) -> f64 {
    trials.flops(&extent(&trials.design, steps))
}

impl StepTrials {
    /// Adds each candidate to the first 0, 1, … columns of the result, for `steps` prefixes: at most one more than the
    /// result has columns. With fewer, no column has a nearest step; with 0, none has a score alone.
    pub fn new(trials: &TrialDesign<'_>, chosen: &[Feature], steps: usize) -> Result<Self> {
        let columns = trials.design.features();
        let mut step_trials =
            StepTrials { alone: vec![None; columns], nearest: vec![None; columns], added: vec![Score::WORST; columns] };
        if steps == 0 {
            return Ok(step_trials);
        }
        let mut subset = trials.scorer(&extent(&trials.design, steps))?;
        for k in 0..steps.min(chosen.len() + 1) {
            let open = trials.outside(&chosen[..k]);
            let scores = subset.scores(Action::Add, &open)?;
            if k == chosen.len() {
                open.iter().zip(&scores).for_each(|(&feature, score)| step_trials.added[feature] = *score);
            }
            let mut ranked: Vec<(f64, Feature)> = scores.iter().map(|score| score.loss).zip(open).collect();
            ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let taken = match chosen.get(k) {
                Some(next) => ranked.iter().find(|(_, feature)| feature == next).map(|(loss, _)| *loss),
                None => Some(subset.score()?.loss),
            };
            for (place, &(loss, feature)) in ranked.iter().enumerate().filter(|(_, (loss, _))| loss.is_finite()) {
                if k == 0 {
                    step_trials.alone[feature] = Some((loss, place + 1));
                }
                let nearest = &mut step_trials.nearest[feature];
                let above = taken.map(|taken| loss - taken).filter(|above| above.is_finite());
                if let (true, Some(above)) = (nearest.is_none_or(|nearest| place + 1 < nearest.rank), above) {
                    *nearest = Some(NearestStep { step: k + 1, rank: place + 1, above });
                }
            }
            if k + 1 < steps && k < chosen.len() {
                subset.add(chosen[k])?;
            }
        }
        if steps <= chosen.len() {
            step_trials.nearest.fill(None);
        }
        Ok(step_trials)
    }
}
