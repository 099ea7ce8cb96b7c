//! Shapley values: the contribution of each chosen column to the reduction of the criterion's score.
//!
//! Let v(S) be the score of the columns S out of a subset of k. The Shapley value of column i is φ_i = Σ_{S ∌ i}
//! |S|!·(k − 1 − |S|)!/k! · (v(S) − v(S ∪ i)): the mean, over all orders of the columns, of the reduction when i
//! enters. Σ φ_i = v(∅) − v(all). Up to 20 columns, the criterion's engine scores all 2^k subsets; for more, the mean
//! is over random orders, each with its reverse.
//!
//! # Reference
//! L. S. Shapley, *A value for n-person games*, 1953; I. Covert, S. Lundberg, S.-I. Lee, *Understanding global feature
//! contributions with additive importance measures*, NeurIPS 2020.

use super::{Evaluation, RunPlan};
use crate::trials::TrialDesign;
use serde::{Deserialize, Serialize};
use vaglio_core::shuffle::{random_order, stream};
use vaglio_core::{Action, Design, Feature, Result, SearchExtent};
use vaglio_pipeline::resampling::{Selection, StageMonitor};
use vaglio_report::record::{ShareRecord, SharesRecord, Warning, WarningKind};
use vaglio_search::SubsetScorer;

/// Maximum number of columns with all subsets scored.
const MOST_EXACT: usize = 20;
/// Number of pairs of random orders for more columns.
const PAIRS: usize = 128;
/// Number of columns whose subsets one job scores.
const OF_JOB: usize = 8;

const ORDERS: u64 = 22;

/// Shapley values with the scores of the empty and the full subset.
#[derive(Serialize, Deserialize)]
struct Shapley {
    #[serde(with = "vaglio_core::exact_float")]
    empty: f64,
    #[serde(with = "vaglio_core::exact_float")]
    all: f64,
    of_columns: Vec<f64>,
    /// Standard errors, if orders were sampled.
    errors: Option<Vec<f64>>,
}

/// Shapley values of the chosen columns.
pub const EVALUATION: Evaluation = Evaluation {
    plan: |plan| Ok(plan.evaluate.shares.then(|| sentence(plan.result()))),
    ..Evaluation::new("shares", |run, found, watcher| {
        if !run.input.evaluate.shares {
            return Ok(());
        }
        let shares = shares(&run.trials(), run.selection, watcher)?;
        if shares.as_ref().is_none_or(|shares| shares.columns.iter().all(|column| column.share.is_finite())) {
            found.record.shares = shares;
            return Ok(());
        }
        let message =
            "some subset of the chosen columns has no finite score, so that there are no shares of the columns";
        found.record.warnings.push(Warning::new(WarningKind::NoShares, message));
        Ok(())
    })
};

/// Shapley values of the chosen columns. `None` if there are no columns, or if stopped. Cost: 2^k scores, or 256 walks
/// of k columns.
fn shares(trials: &TrialDesign<'_>, selection: &Selection, watcher: &StageMonitor<'_>) -> Result<Option<SharesRecord>> {
    let Some(entry) = selection.path.result() else { return Ok(None) };
    let trials = &trials.with_sign(&watcher.stop);
    let found = watcher.journal.once("shares/all", || shapley(trials, &entry.subset, watcher))?;
    let Some(Shapley { empty, all, of_columns, errors }) = found else { return Ok(None) };
    let size = entry.subset.len();
    let fall = empty - all;
    let column = |(place, (&index, share)): (usize, (&Feature, f64))| ShareRecord {
        index,
        name: trials.design.problem().names()[index].clone(),
        share,
        part: (fall > 0.0).then(|| share / fall),
        standard_error: errors.as_ref().map(|errors| errors[place]),
    };
    Ok(Some(SharesRecord {
        subsets: errors.is_none().then(|| 1 << size),
        permutations: errors.is_some().then_some(2 * PAIRS),
        empty,
        all,
        columns: entry.subset.iter().zip(of_columns).enumerate().map(column).collect(),
    }))
}

/// Search extent for estimating the cost.
fn extent(size: usize) -> SearchExtent {
    let (trials, steps) = if size <= MOST_EXACT {
        (1 << size, 1 << size.saturating_sub(1))
    } else {
        (2 * PAIRS * size, 2 * PAIRS * size)
    };
    SearchExtent { start: 0, largest: size, trials: trials as f64, steps }
}

/// Flops of the Shapley values that a plan has, on a design at one λ.
pub fn flops(plan: &RunPlan<'_>, design: &Design) -> f64 {
    if !plan.evaluate.shares {
        return 0.0;
    }
    let candidates = design.candidates();
    let some = &candidates[..plan.result().min(candidates.len())];
    cheapest(&TrialDesign::new(plan.selector, design), some).1
}

/// The cheaper design for the subsets of some columns, with the flops.
fn cheapest<'s>(trials: &TrialDesign<'s>, columns: &[Feature]) -> (TrialDesign<'s>, f64) {
    trials.cheapest(columns.iter().copied(), |trials| trials.flops(&extent(columns.len())))
}

/// Describes what is scored for a result of `size` columns.
fn sentence(size: usize) -> String {
    let what = if size <= MOST_EXACT {
        format!("all {} subsets of {size} chosen columns", 1u64 << size)
    } else {
        format!("{} random orders of {size} chosen columns", 2 * PAIRS)
    };
    format!("{what}; of up to {MOST_EXACT} columns every subset is scored")
}

/// Shapley values of some columns of a design; `None` if stopped.
fn shapley(trials: &TrialDesign<'_>, columns: &[Feature], watcher: &StageMonitor<'_>) -> Result<Option<Shapley>> {
    let (place, _) = cheapest(trials, columns);
    let columns = place.places(columns);
    if columns.len() > MOST_EXACT {
        return by_random_orders(&place, &columns, watcher);
    }
    let Some(scores) = subset_scores(&place, &columns, watcher)? else { return Ok(None) };
    let empty = scores[0];
    let all = scores[scores.len() - 1];
    Ok(Some(Shapley { empty, all, of_columns: shapley_values(&scores, columns.len()), errors: None }))
}

/// Scores of all subsets, indexed by bit mask. Each job starts from a subset of the first columns and adds the others
/// in turn. So no score depends on the number of threads.
fn subset_scores(
    trials: &TrialDesign<'_>,
    columns: &[Feature],
    watcher: &StageMonitor<'_>,
) -> Result<Option<Vec<f64>>> {
    let size = columns.len();
    let first = size.saturating_sub(OF_JOB);
    let (head, tail) = columns.split_at(first);
    let jobs = watcher.jobs("shares", 1 << first, |job: usize| {
        let mut subset = trials.scorer(&extent(size))?;
        let begun: Vec<Feature> = (0..first).filter(|bit| job >> bit & 1 == 1).map(|bit| head[bit]).collect();
        subset.reset(&begun)?;
        let mut scores = vec![0.0; 1 << tail.len()];
        scores[0] = subset.score()?.loss;
        branch(&mut subset, tail, 0, 0, &mut scores)?;
        Ok(Some(scores))
    })?;
    let Some(jobs) = jobs else { return Ok(None) };
    Ok(Some((0..1 << size).map(|mask: usize| jobs[mask & ((1 << first) - 1)][mask >> first]).collect()))
}

/// Means over random orders, each with its reverse.
fn by_random_orders(
    trials: &TrialDesign<'_>,
    columns: &[Feature],
    watcher: &StageMonitor<'_>,
) -> Result<Option<Shapley>> {
    let size = columns.len();
    let pairs = watcher.jobs("shares", PAIRS, |pair| {
        let mut subset = trials.scorer(&extent(size))?;
        let mut order = random_order(size, stream(trials.selector.seed, ORDERS, pair as u64));
        let mut ends = None;
        let mut falls = vec![0.0; size];
        for _ in 0..2 {
            subset.reset(&[])?;
            let empty = subset.score()?.loss;
            let mut last = empty;
            for &place in &order {
                subset.add(columns[place])?;
                let score = subset.score()?.loss;
                falls[place] += last - score;
                last = score;
            }
            ends = ends.or(Some((empty, last)));
            order.reverse();
        }
        Ok(Some((ends, falls)))
    })?;
    let Some(pairs) = pairs else { return Ok(None) };
    let Some(&(Some((empty, all)), _)) = pairs.first() else { return Ok(None) };
    let count = PAIRS as f64;
    let mean = |place: usize| pairs.iter().map(|(_, falls)| falls[place] / 2.0).sum::<f64>() / count;
    let of_columns: Vec<f64> = (0..size).map(mean).collect();
    let error = |place: usize| {
        let squares = pairs.iter().map(|(_, falls)| (falls[place] / 2.0 - of_columns[place]).powi(2));
        (squares.sum::<f64>() / (count - 1.0) / count).sqrt()
    };
    let errors = Some((0..size).map(error).collect());
    Ok(Some(Shapley { empty, all, of_columns, errors }))
}

/// Scores the current subset extended by some of the columns from `from` on.
fn branch(
    subset: &mut SubsetScorer<'_>,
    columns: &[Feature],
    mask: usize,
    from: usize,
    scores: &mut [f64],
) -> Result<()> {
    let later = &columns[from..];
    if later.is_empty() {
        return Ok(());
    }
    for (bit, score) in (from..).zip(subset.scores(Action::Add, later)?) {
        scores[mask | 1 << bit] = score.loss;
    }
    for bit in from..columns.len() - 1 {
        subset.add(columns[bit])?;
        branch(subset, columns, mask | 1 << bit, bit + 1, scores)?;
        subset.remove(columns[bit])?;
    }
    Ok(())
}

/// Shapley values from the scores of all subsets of `size` columns, indexed by bit mask. Cost O(size · 2^size).
fn shapley_values(scores: &[f64], size: usize) -> Vec<f64> {
    // |S|!·(k − 1 − |S|)!/k!
    let mut weights = vec![1.0 / size.max(1) as f64; size];
    for s in 1..size {
        weights[s] = weights[s - 1] * s as f64 / (size - s) as f64;
    }
    let column_share = |column: usize| {
        let without = (0..scores.len()).filter(|mask| mask >> column & 1 == 0);
        let falls =
            without.map(|mask| weights[mask.count_ones() as usize] * (scores[mask] - scores[mask | 1 << column]));
        falls.sum()
    };
    (0..size).map(column_share).collect()
}

#[cfg(test)]
mod tests;
