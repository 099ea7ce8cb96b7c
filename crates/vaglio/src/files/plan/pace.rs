//! How fast an engine works here: a part of the walk itself, on some of the rows and columns.

use crate::selector::ValidSelector;
use ndarray::Axis;
use std::sync::Arc;
use std::time::Instant;
use vaglio_core::{Criterion, Design, Feature, InFolds, Learner, Outline, Problem, Result, Score, Subset};

/// A part that takes as long as this, in seconds, tells the pace of the whole; what other work there is seldom cuts into
/// one that is so short.
const ENOUGH: f64 = 0.01;
/// Of which the whole is more than so many times the work, larger parts are tried until one takes as long as this: the share of
/// what grows with the columns, and of what grows with their square, is another in a part that is small beside the whole.
const MANY_TIMES: f64 = 30.0;
const MORE: f64 = 0.04;
/// Where a part has another engine than the whole, larger ones are tried until one takes as long as this.
const TOO_LONG: f64 = 0.3;
/// Rows and columns of the smallest part, and entries of the largest.
const ROWS: usize = 128;
const COLUMNS: usize = 16;
const ENTRIES: usize = 1 << 22;
/// Columns that a part adds, or removes, one by one.
const STEPS: usize = 3;
/// The same part is walked so many times, or until that took so many seconds, and the fastest counts: what else the machine
/// does can only take longer.
const REPEATS: usize = 8;
const REPEATED: f64 = 0.4;
/// Flops a second where nothing can be tried, and those of products of columns, of which moments are made.
const USUAL: f64 = 1.5e9;
const PRODUCTS: f64 = 8e9;

/// Flops a second of one thread, for the engine that a search of this outline takes.
pub(super) fn pace(selector: &ValidSelector, design: &Design, outline: &Outline) -> f64 {
    let criterion = &**selector.criterion();
    let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else { return USUAL };
    let whole = criterion.estimate(design, outline);
    pool.install(|| {
        let (mut rows, mut columns) = (ROWS.min(design.rows()), COLUMNS.min(design.candidates().len()));
        let mut found = USUAL;
        loop {
            let Ok(part) = part(selector.learner(), design, rows, columns) else { return found };
            let outline = of_part(outline, part.candidates().len());
            let estimate = criterion.estimate(&part, &outline);
            let Ok(first) = seconds(criterion, &part, &outline) else { return found };
            let is_whole = rows == design.rows() && columns == design.candidates().len();
            // Rows first: with few of them, a trial is all overhead.
            let more_rows = (4 * rows).min(design.rows());
            let more_columns = match rows == design.rows() {
                true => (4 * columns).min(design.candidates().len()).min((ENTRIES / rows).max(columns)),
                false => columns,
            };
            let is_alike = estimate.engine == whole.engine;
            let is_long = first
                > match is_alike {
                    true if whole.flops <= MANY_TIMES * estimate.flops => ENOUGH,
                    true => MORE,
                    false => TOO_LONG,
                };
            let is_largest = (more_rows, more_columns) == (rows, columns) || more_rows * more_columns > ENTRIES;
            let ends = is_whole || is_long || is_largest;
            let (mut best, mut all) = (first, first);
            for _ in 1..if ends && is_alike { REPEATS } else { 1 } {
                let Some(again) = seconds(criterion, &part, &outline).ok().filter(|_| all < REPEATED) else { break };
                (best, all) = (best.min(again), all + again);
            }
            // Another engine says nothing of this one.
            if is_alike {
                found = estimate.flops / best.max(1e-9);
            }
            if ends {
                // Small parts are all overhead: where larger ones have another engine, what is usual is nearer.
                let usual = if whole.engine == "moments" { PRODUCTS } else { USUAL };
                return if is_alike { found } else { found.max(usual) };
            }
            (rows, columns) = (more_rows, more_columns);
        }
    })
}

/// Rows and columns that stand evenly among all; every column of a learner that is refitted.
fn part(learner: &Arc<dyn Learner>, design: &Design, rows: usize, columns: usize) -> Result<Design> {
    let evenly = |count: usize, of: usize| (0..count).map(|k| k * of / count.max(1)).collect::<Vec<usize>>();
    let rows = evenly(rows, design.rows());
    let candidates = design.candidates();
    let features: Vec<Feature> = match design.readout() {
        Some(_) => evenly(columns, candidates.len()).into_iter().map(|k| candidates[k]).collect(),
        None => (0..design.features()).collect(),
    };
    let of_rows = |all: &[u32]| rows.iter().map(|&row| all[row]).collect::<Vec<u32>>();
    let names = features.iter().map(|&f| design.names()[f].clone()).collect();
    let targets = design.targets().select(Axis(1), &rows);
    let target_names = (0..targets.nrows()).map(|output| output.to_string()).collect();
    let columns = design.columns().select(&features).select_rows(&rows);
    let mut problem = Problem::new(columns, names, targets, target_names, design.task().clone())?.seeded(design.seed());
    if let Some(weights) = design.weights() {
        problem = problem.with_weights(rows.iter().map(|&row| weights[row]).collect())?;
    }
    if let Some(groups) = design.groups() {
        problem = problem.with_groups(of_rows(groups))?;
    }
    if let Some(folds) = design.assignment() {
        problem = problem.with_assignment(of_rows(folds))?;
    }
    let Some(readout) = design.readout() else { return Design::of(&problem, Arc::clone(learner)) };
    let made = Design::identity(&problem, readout.clone());
    let made = if design.in_folds().is_standardized() { made.fitted_in_folds(InFolds::standardize()) } else { made };
    let Some(decisions) = design.decisions() else { return Ok(made) };
    made.deciding_by(&rows.iter().map(|&row| decisions.of_row()[row] as u32).collect::<Vec<_>>())
}

/// The outline of a short search of the same kind.
fn of_part(whole: &Outline, columns: usize) -> Outline {
    match (whole.start > 0, whole.steps) {
        (true, 0) => Outline { start: columns, largest: columns, trials: 1.0, steps: 0 },
        (true, _) => Outline::backward(columns, columns.saturating_sub(STEPS)),
        // All subsets of up to two columns.
        (false, 0) => {
            let trials = (columns * (columns + 1) / 2) as f64;
            Outline { start: 0, largest: columns.min(2), trials, steps: 0 }
        }
        (false, _) => Outline::forward(columns, STEPS),
    }
}

/// Seconds of a short search.
fn seconds(criterion: &dyn Criterion, design: &Design, outline: &Outline) -> Result<f64> {
    let begun = Instant::now();
    let mut subset = Subset::open(criterion, design, outline)?;
    let all = design.candidates();
    let mut scores = vec![Score::WORST; all.len()];
    if outline.start > 0 {
        subset.reset(&all)?;
        subset.score()?;
        for _ in 0..outline.steps {
            let left = subset.selected().to_vec();
            let Some(winner) = subset.best_removal(&left)? else { break };
            subset.remove(winner.feature)?;
        }
    } else if outline.steps == 0 {
        let mut root = subset.tree(&all)?;
        let places: Vec<usize> = (0..all.len()).collect();
        root.score_additions(&places, &mut scores)?;
        for place in 0..all.len().saturating_sub(1) {
            let later: Vec<usize> = (0..all.len() - place - 1).collect();
            root.child(place)?.score_additions(&later, &mut scores[..later.len()])?;
        }
    } else {
        for _ in 0..outline.steps {
            let open: Vec<Feature> = all.iter().copied().filter(|f| !subset.selected().contains(f)).collect();
            let Some(winner) = subset.best_addition(&open)? else { break };
            subset.add(winner.feature)?;
            subset.score()?;
        }
    }
    Ok(begun.elapsed().as_secs_f64())
}
