//! Stability selection: selection frequencies on complementary half-samples.
//!
//! With B pairs of half-samples, let π_j(k) be the share of half-samples whose subset of k columns has column j.
//! Stability paths are integrated: the score of a column is the mean over k of h(π) = (2π − 1)³, 0 below ½. 2π − 1 is
//! at most the share of pairs with the column in both halves. A column selected by chance is in both with probability
//! at most (k/p)². Hence p·E h ≤ k²/(B²p) + 3(B − 1)k⁴/(B²p³) + (B − 1)(B − 2)k⁶/(B²p⁵). Its mean over the sizes,
//! divided by a score, bounds the expected number of chance columns with that score.
//!
//! O. Melikechi, J. W. Miller, *Integrated path stability selection*, Journal of the American Statistical Association
//! (2025), arXiv 2403.15877. Sizes replace the paper's penalties, evenly spaced in their logarithm.

use super::{Evaluation, RepetitionInput, Repetitions};
use crate::series::count_codes;
use std::collections::{HashMap, HashSet};
use vaglio_core::shuffle::{random_order, stream};
use vaglio_core::{Design, Result, number_labels};
use vaglio_maps::folds::FoldAssignment;
use vaglio_pipeline::resampling::{
    Choice, Jobs, PIECES, Sample, Splitter, StageMonitor, TrainTestSplit, on_training_rows,
};
use vaglio_pipeline::selector::ValidSelector;
use vaglio_report::record::{Pairs, Stability, StableColumn};
use vaglio_search::Monitor;

const PREFIX: &str = "stability/";
const HALVES: u64 = 4;
/// Limit on the mean bound over the integrated sizes.
const CUTOFF: f64 = 0.05;

/// Stability selection at the chosen size. Half-sample paths are integrated over the sizes that every half reached and
/// whose mean bound is small.
pub const EVALUATION: Evaluation = Evaluation {
    plan: |plan| {
        let how = plan.evaluate.stability.as_ref();
        how.map(|how| Ok(halves(how, plan.selector, &plan.prepared.sample)?.sentence())).transpose()
    },
    repetitions: Some(Repetitions {
        prefix: PREFIX,
        units: "halves",
        planned: "N on halves of the rows",
        is_one_search: true,
        count: |input| Ok(input.evaluate.stability.as_ref().map_or(0, |how| 2 * how.pairs)),
        repeat: |input, found, watcher| {
            let Some(found) = found else { return Ok(()) };
            let columns = found.design.candidates().len();
            half_paths(input, &found.selector, &found.chosen_search.chosen, columns, watcher).map(drop)
        },
    }),
    ..Evaluation::new("stability", |run, found, watcher| {
        let Some(how) = &run.input.evaluate.stability else { return Ok(()) };
        let selection = run.selection;
        let pairs = how.pairs;
        let columns = run.design.candidates().len();
        let paths = half_paths(&run.input, run.selector, &selection.chosen, columns, watcher)?;
        let Some(mut paths) = paths else { return Ok(()) };
        let halves = halves(how, run.selector, &run.prepared.sample)?;
        let size = selection.chosen.size.max(1);
        let sets = paths.iter().filter_map(|path| Some(path.get(size - 1)?.iter().cloned().collect()));
        let sets: Vec<HashSet<String>> = sets.collect();
        let most = sizes(pairs, columns).max(1);
        let reached = paths.iter().map(Vec::len).min().unwrap_or(0).min(most);
        // A forced column is taken whatever the rows are, so its frequency is no evidence.
        let space = run.selector.search.space(run.design).map_err(|error| error.under("search"))?;
        let forced: Vec<&String> = space.forced_features().iter().map(|&column| &selection.names[column]).collect();
        paths.iter_mut().flatten().for_each(|set| set.retain(|name| !forced.contains(&name)));
        found.record.stability = Some(Stability {
            pairs,
            size: sets.iter().map(HashSet::len).sum::<usize>() as f64 / sets.len() as f64,
            frequency: run.frequency(&sets),
            by_source: run.source_frequency(&sets),
            sizes: reached,
            columns: stable_columns(&paths, reached, &selection.names, columns),
            splits: matches!(halves, HalfSamples::Pieces(_)).then(|| halves.sentence()),
        });
        Ok(())
    })
};

/// Column subsets of every size along the paths on complementary half-samples. `None` if: they are not asked for; it is
/// stopped; another process has some.
///
/// Each half-sample is searched by the tuned `selector`, at the λ chosen on all rows of `columns` candidates, up to the
/// size chosen there.
fn half_paths(
    input: &RepetitionInput<'_>,
    selector: &ValidSelector,
    chosen: &Choice,
    columns: usize,
    watcher: &StageMonitor<'_>,
) -> Result<Option<Vec<Vec<Vec<String>>>>> {
    let Some(how) = &input.evaluate.stability else { return Ok(None) };
    let sample = input.sample;
    let untuned = input.selector;
    let halves = halves(how, untuned, sample)?;
    let integrable = sizes(how.pairs, columns);
    let search_half = |job: usize, monitor: &mut Monitor<'_>| -> Result<Option<Vec<Vec<String>>>> {
        let _half = tracing::debug_span!("half", pair = job / 2 + 1).entered();
        let half = halves.first(stream(selector.seed, HALVES, (job / 2) as u64))?;
        let rows: Vec<usize> = (0..sample.rows()).filter(|&row| half[row] == (job.is_multiple_of(2))).collect();
        let fitted = sample.select(&rows)?.fit()?;
        let design: Design = selector.design(&fitted.problem)?.at_lambda(chosen.path_lambda());
        let path = selector.search_on(&design, chosen.until, monitor)?.path;
        if path.stop_reason.is_partial() {
            return Ok(None);
        }
        let size = chosen.size.max(1);
        let reached = path.entries.iter().map(|entry| entry.subset.len()).max().unwrap_or(0);
        let names_at = |size: usize| {
            let largest = path.entries.iter().take_while(|entry| entry.subset.len() <= size).last();
            let subset = largest.map_or(&[][..], |entry| &entry.subset);
            subset.iter().map(|&feature| design.problem().names()[feature].clone()).collect()
        };
        let most = size.max(integrable).min(reached.max(size));
        Ok(Some((1..=most).map(names_at).collect()))
    };
    Jobs::new(PREFIX, 2 * how.pairs).run("stability", &untuned.slots, watcher, |job, mut subtask| {
        search_half(job, &mut subtask.monitor()).map_err(|error| on_training_rows(error, "a half"))
    })
}

/// Upper bound on p·E h at a size, for columns selected by chance.
fn bound(size: usize, pairs: usize, columns: usize) -> f64 {
    let k = size as f64;
    let b = pairs as f64;
    let p = columns as f64;
    let both = (k / p).powi(2);
    p / (b * b) * (both + 3.0 * (b - 1.0) * both.powi(2) + (b - 1.0) * (b - 2.0) * both.powi(3))
}

/// Mean over sizes 1, …, evenly spaced in their logarithm.
fn log_spaced_mean(most: usize, term: impl Fn(usize) -> f64) -> f64 {
    let weights: f64 = (1..=most).map(|size| 1.0 / size as f64).sum();
    (1..=most).map(|size| term(size) / size as f64).sum::<f64>() / weights
}

/// Largest size up to which the mean bound is small.
fn sizes(pairs: usize, columns: usize) -> usize {
    let is_small = |most: &usize| log_spaced_mean(*most, |size| bound(size, pairs, columns)) <= CUTOFF;
    (1..=columns).take_while(is_small).last().unwrap_or(0)
}

/// Columns with a score, highest first, then in the order of `names`; `columns` of these can be selected.
fn stable_columns(paths: &[Vec<Vec<String>>], most: usize, names: &[String], columns: usize) -> Vec<StableColumn> {
    let pairs = paths.len() / 2;
    let expected = log_spaced_mean(most, |size| bound(size, pairs, columns));
    let mut counts: HashMap<&String, Vec<usize>> = HashMap::new();
    for path in paths {
        for (place, set) in path.iter().take(most).enumerate() {
            set.iter().for_each(|name| counts.entry(name).or_insert_with(|| vec![0; most])[place] += 1);
        }
    }
    let score = |counts: &[usize]| {
        log_spaced_mean(most, |size| (2.0 * counts[size - 1] as f64 / paths.len() as f64 - 1.0).max(0.0).powi(3))
    };
    let column = |(index, name): (usize, &String)| {
        let score = score(counts.get(name)?);
        let expected_false = (expected / score).min(columns as f64);
        (score > 0.0).then(|| StableColumn { index, name: name.clone(), score, expected_false, q: 1.0 })
    };
    let mut columns: Vec<StableColumn> = names.iter().enumerate().filter_map(column).collect();
    columns.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
    let mut least = 1.0_f64;
    for (place, column) in columns.iter_mut().enumerate().rev() {
        least = least.min(column.expected_false / (place + 1) as f64);
        column.q = least;
    }
    columns
}

/// Elements that half-samples are drawn from.
enum HalfSamples {
    /// Rows, groups or blocks, divided as evenly as possible.
    Units(FoldAssignment),
    /// Piece of each row; halves are unions of pieces.
    Pieces(Vec<u32>),
}

/// Given splits, and splits that hold around a search, divide the rows into pieces; time-ordered rows form blocks of a
/// tenth; other rows are units.
fn halves(how: &Pairs, selector: &ValidSelector, sample: &Sample) -> Result<HalfSamples> {
    let under = |error: vaglio_core::Error| error.under("evaluate.stability");
    match sample.splitter(selector, how.splits.as_ref(), PIECES - 1, 0) {
        splitter @ Splitter::Splits(..) => {
            Ok(HalfSamples::Pieces(pieces(&splitter.split(sample, selector.seed).map_err(under)?, sample.rows())))
        }
        Splitter::Folds(assignment, _) if assignment.is_in_time => {
            assignment.folds(assignment.count.min(PIECES), 0).map(HalfSamples::Pieces)
        }
        Splitter::Folds(assignment, _) => Ok(HalfSamples::Units(assignment)),
    }
}

impl HalfSamples {
    /// Draws the first half by the seed: whether each row is in it.
    pub fn first(&self, seed: u64) -> Result<Vec<bool>> {
        match self {
            HalfSamples::Pieces(piece_of_row) => {
                let order = random_order(count_codes(piece_of_row).len(), seed);
                Ok(piece_of_row.iter().map(|&piece| order[piece as usize].is_multiple_of(2)).collect())
            }
            HalfSamples::Units(assignment) => Ok(assignment.folds(2, seed)?.iter().map(|&fold| fold == 0).collect()),
        }
    }

    /// Describes the half-samples for people.
    pub fn sentence(&self) -> String {
        match self {
            HalfSamples::Pieces(piece_of_row) => {
                let pieces = count_codes(piece_of_row).len();
                format!("halves of {pieces} pieces that stay whole")
            }
            HalfSamples::Units(assignment) => assignment.sentence(2),
        }
    }
}

/// Piece of each row: rows held out by the same splits share one.
fn pieces(parts: &[TrainTestSplit], rows: usize) -> Vec<u32> {
    let mut held: Vec<Vec<usize>> = vec![Vec::new(); rows];
    for (number, part) in parts.iter().enumerate() {
        part.held.iter().for_each(|&row| held[row].push(number));
    }
    number_labels(held).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_rows_that_the_same_splits_hold_out() {
        let part = |held: &[usize]| TrainTestSplit { training: Vec::new(), held: held.to_vec() };
        assert_eq!(pieces(&[part(&[2, 3]), part(&[3, 4])], 6), [0, 0, 1, 2, 3, 0]);
        assert_eq!(Pairs::default().splits, None);
    }

    #[test]
    fn halves_are_halves() {
        let half = HalfSamples::Units(FoldAssignment::from_labels(&[], 11, None)).first(3).unwrap();
        assert_eq!(half.iter().filter(|inside| **inside).count(), 6);
    }

    fn set(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_bound_is_that_of_counting_by_hand() {
        // B = 2, p = 2, k = 1: both halves have a column with probability at most 1/4, so the third moment of the mean
        // of two is (2·1/4 + 6·1/16)/8.
        assert!((bound(1, 2, 2) - 2.0 * (0.5 + 0.375) / 8.0).abs() < 1e-15);
        // B = 3: (3·1/4 + 18·1/16 + 6·1/64)/27.
        assert!((bound(1, 3, 2) - 2.0 * (0.75 + 1.125 + 6.0 / 64.0) / 27.0).abs() < 1e-15);
        assert!(sizes(50, 20) < sizes(50, 100) && sizes(50, 100) < sizes(50, 1000));
    }

    #[test]
    fn scores_are_means_over_the_paths() {
        // `d` is constant: it can be selected by no half, and has no part in the bound.
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        let path = |first: &str, second: &[&str]| vec![set(&[first]), set(second)];
        let paths = [path("a", &["a", "b"]), path("a", &["a", "b"]), path("b", &["a", "b"]), path("a", &["a", "c"])];
        let found = stable_columns(&paths, 2, &names, 3);
        // a: π = ¾ and 1; b: ¼ and ¾; weights 1 and ½.
        let expected = (0.125 + 0.5) / 1.5;
        assert_eq!(found.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!((found[0].score - expected).abs() < 1e-15 && (found[1].score - 0.125 * 0.5 / 1.5).abs() < 1e-15);
        let bounds = (bound(1, 2, 3) + bound(2, 2, 3) / 2.0) / 1.5;
        assert!((found[0].expected_false - bounds / expected).abs() < 1e-14);
        assert!(found[0].q <= found[1].q && found[1].q <= 1.0);
    }
}
