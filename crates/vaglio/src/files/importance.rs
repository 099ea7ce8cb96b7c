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

/// Flops that removals, and the trials of every exchange, may take, or, where the latter would take more, bounds that leave
/// one in its place.
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
    let removals = Outline { start: size, largest: size, trials: size as f64, steps: 1 };
    // What tells removals apart has size² entries, which every change rewrites.
    let changes = (size as f64).powi(3);
    if size == 0 || work(selector, design, &removals) + 4.0 * changes > MOST_WORK {
        return Ok(all);
    }
    let exchanges = exchanges(size, outside.len());
    let mut subset = Subset::open(&**selector.criterion(), design, &removals)?;
    subset.reset(selected)?;
    let mut scores = vec![Score::WORST; size];
    subset.score_removals(selected, &mut scores)?;
    for (worth, score) in all.iter_mut().zip(&scores) {
        worth.without = Some(score.loss);
    }
    let flops = work(selector, design, &exchanges) + 16.0 * changes;
    if outside.is_empty() || flops > MOST_BOUNDED {
        return Ok(all);
    }
    let mut subset = Subset::open(&**selector.criterion(), design, &exchanges)?;
    subset.reset(selected)?;
    let mut scores = vec![Score::WORST; outside.len()];
    for (&feature, worth) in selected.iter().zip(&mut all) {
        subset.remove(feature)?;
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
        subset.add(feature)?;
    }
    Ok(all)
}

/// Flops of a search; of unknown work all subsets are refitted, as if each took one pass for each of its columns.
fn work(selector: &ValidSelector, design: &Design, outline: &Outline) -> f64 {
    let known = selector.criterion().estimate(design, outline).flops;
    let guessed = outline.trials * design.rows() as f64 * (outline.largest * outline.largest) as f64;
    if known.is_nan() { guessed } else { known }
}

/// Up to a subset of `size` columns, then each of them out and in again, and every one of those outside follows both.
fn exchanges(size: usize, outside: usize) -> Outline {
    Outline { start: 0, largest: size, trials: (2 * size * outside) as f64, steps: 3 * size }
}

/// Bytes that the exchanges of a subset of `size` columns take; 0 where they are left out.
pub(super) fn bytes(selector: &ValidSelector, design: &Design, size: usize) -> f64 {
    let outline = exchanges(size, design.candidates().len().saturating_sub(size));
    match size > 0 && work(selector, design, &outline) + 16.0 * (size as f64).powi(3) <= MOST_WORK {
        true => selector.criterion().estimate(design, &outline).bytes,
        false => 0.0,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::criteria::{KFold, Loo};
    use crate::learners::Rls;
    use crate::search::Greedy;
    use crate::selector::Selector;
    use linfa::ParamGuard;
    use vaglio_testkit::data;

    #[test]
    fn exchanges_are_those_of_the_definition() {
        let loo = Selector::params(Loo::default(), Greedy::default(), Rls::default());
        let kfold = Selector::params(KFold { folds: Some(4), ..KFold::default() }, Greedy::default(), Rls::default());
        for selector in [loo, kfold] {
            let selector = selector.check().unwrap();
            let design = selector.design(&data::regression(40, 30, 7).problem()).unwrap();
            let selected: Vec<Feature> = (0..22).map(|k| (k * 7 + 3) % 30).collect();
            let score = |of: &[Feature]| selector.criterion().evaluate(&design, of).unwrap().loss;
            let found = worth(&selector, &design, &selected).unwrap();
            for (k, worth) in found.iter().enumerate() {
                let rest: Vec<Feature> = selected.iter().copied().filter(|f| *f != selected[k]).collect();
                let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-10 * b, "{a} is not {b}");
                near(worth.without.unwrap(), score(&rest));
                let with = |feature: Feature| [&rest[..], &[feature]].concat();
                let mut exchanges: Vec<(Feature, f64)> =
                    (0..30).filter(|f| !selected.contains(f)).map(|feature| (feature, score(&with(feature)))).collect();
                exchanges.sort_by(|a, b| a.1.total_cmp(&b.1));
                let substitutes = worth.substitutes.as_ref().unwrap();
                assert_eq!(substitutes.len(), SUBSTITUTES);
                for (a, b) in substitutes.iter().zip(&exchanges) {
                    assert_eq!(a.0, b.0);
                    near(a.1, b.1);
                }
            }
        }
    }
}
