//! What each selected column is worth: the score without it, and the columns that cost least in its place.

use crate::selector::ValidSelector;
use vaglio_core::{Design, Feature, Outline, Result, Score, Subset};

/// What one selected column is worth.
#[derive(Debug, Default, Clone)]
pub(super) struct Worth {
    /// The score without it.
    pub without: Option<f64>,
    /// Columns in its place with the score that they give, the best first.
    pub substitutes: Option<Vec<(Feature, f64)>>,
}

/// Substitutes that are kept of each column.
const SUBSTITUTES: usize = 3;

/// Flops that the trials of every exchange may take, or, where these would take more, bounds that leave one in its place.
const MOST_WORK: f64 = 3e9;
const MOST_BOUNDED: f64 = 3e10;

/// Trials without each column of a subset, and with every candidate in its place; left out where they would take long.
///
/// # Errors
/// Those of the criterion's scores.
pub(super) fn worth(selector: &ValidSelector, design: &Design, selected: &[Feature]) -> Result<Vec<Worth>> {
    let mut all = vec![Worth::default(); selected.len()];
    let size = selected.len();
    let outside: Vec<Feature> = design.candidates().into_iter().filter(|f| !selected.contains(f)).collect();
    let outline = |trials: usize| Outline { start: size, largest: size + 1, trials: trials as f64, steps: 0 };
    let work = |outline: &Outline| selector.criterion().estimate(design, outline).flops;
    let (removals, exchanges) = (outline(size), outline(size * outside.len()));
    if size == 0 || work(&removals) > MOST_BOUNDED {
        return Ok(all);
    }
    let mut subset = Subset::open(&**selector.criterion(), design, &removals)?;
    subset.reset(selected)?;
    let mut scores = vec![Score::WORST; size];
    subset.score_removals(selected, &mut scores)?;
    for (worth, score) in all.iter_mut().zip(&scores) {
        worth.without = Some(score.loss);
    }
    // After a reset every candidate is brought up to the whole subset, whatever the criterion says of a step of a search.
    let flops = work(&exchanges).max((design.rows().max(size) * size * size) as f64 * outside.len() as f64);
    if flops > MOST_BOUNDED {
        return Ok(all);
    }
    let mut scores = vec![Score::WORST; outside.len()];
    for (place, worth) in all.iter_mut().enumerate() {
        let rest: Vec<Feature> = selected.iter().enumerate().filter(|(k, _)| *k != place).map(|(_, &f)| f).collect();
        subset.reset(&rest)?;
        let mut found: Vec<(Feature, f64)> = match flops > MOST_WORK {
            true => subset.best_addition(&outside)?.into_iter().map(|best| (best.feature, best.score.loss)).collect(),
            false => {
                subset.score_additions(&outside, &mut scores)?;
                outside.iter().copied().zip(scores.iter().map(|s| s.loss)).collect()
            }
        };
        found.retain(|(_, loss)| loss.is_finite());
        found.sort_by(|(a, x), (b, y)| x.total_cmp(y).then(a.cmp(b)));
        found.truncate(SUBSTITUTES);
        worth.substitutes = Some(found);
    }
    Ok(all)
}
