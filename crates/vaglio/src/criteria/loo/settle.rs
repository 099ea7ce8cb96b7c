//! Scores from trials.

use vaglio_core::{Error, Result, Score};
use vaglio_kernels::Scorer;
use vaglio_kernels::loo::{Basis, Change, Trial, careful, is_weak};

/// The scores of changes of a subset from their trials, one list for each state: those that have lost their digits are
/// computed with care, then the lowest over λ is taken.
pub(super) fn settle(
    bases: &[&Basis<'_>],
    scorer: &Scorer,
    mut trials: Vec<Vec<Trial>>,
    changes: &[Change],
) -> Result<Vec<Score>> {
    for (basis, trials) in bases.iter().zip(&mut trials) {
        let weak: Vec<usize> = (0..trials.len()).filter(|&k| is_weak(trials[k].low)).collect();
        let concerned: Vec<Change> = weak.iter().map(|&k| changes[k]).collect();
        for (k, loss) in weak.into_iter().zip(careful(basis, scorer, &concerned)) {
            trials[k].loss = loss;
        }
    }
    let joint = |k: usize| lowest(bases.iter().zip(&trials).map(|(basis, trials)| (basis.lambda(), trials[k].loss)));
    (0..changes.len()).map(joint).collect()
}

/// The lowest of the losses that belong to each λ; the first among equals.
pub(super) fn lowest(losses: impl Iterator<Item = (f64, f64)>) -> Result<Score> {
    let mut best = Score::WORST;
    for (lambda, loss) in losses {
        if loss.is_nan() {
            return Err(Error::Numerical(
                "a leave-one-out score is not a number; rescale or standardize the columns".into(),
            ));
        }
        if loss < best.loss {
            best = Score { loss, lambda: Some(lambda) };
        }
    }
    Ok(best)
}
