//! Scores from trials.

use crate::criteria::kernel::lowest;
use vaglio_core::{Result, Score};
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
