//! Splits of rows around a search: folds that are held out once each, or the splits of a splitter.
//!
//! The settings may name a splitter. Otherwise the criterion's splitter is used if the search must not train on rows
//! after the held-out ones. Forward chaining uses fewer blocks if the first training rows would be too few for the
//! criterion.

use super::Sample;
use crate::selector::ValidSelector;
use vaglio_core::{Design, Part, Problem, Readout, Resampling, Result, Round};
use vaglio_maps::folds::FoldAssignment;

/// A train/test split of row indices, both in increasing order.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainTestSplit {
    /// Training rows.
    pub training: Vec<usize>,
    /// Held-out rows.
    pub held: Vec<usize>,
}

/// Default number of blocks in time.
pub const PIECES: usize = 10;

/// Splits rows for training and testing.
#[derive(Debug, Clone)]
pub enum Splitter {
    /// Folds of rows, and their number.
    Folds(FoldAssignment, usize),
    /// Splits of a resampling, and whether the settings name it.
    Splits(Part<dyn Resampling>, bool),
}

impl Splitter {
    /// The resampling, unless rows are split into folds.
    pub fn resampling(&self) -> Option<&Part<dyn Resampling>> {
        match self {
            Splitter::Folds(..) => None,
            Splitter::Splits(splits, _) => Some(splits),
        }
    }

    /// Describes the splits.
    pub fn sentence(&self) -> String {
        match self {
            Splitter::Folds(assignment, folds) => assignment.sentence(*folds),
            Splitter::Splits(splits, _) => splits.sentence(),
        }
    }

    /// The train/test splits of one repeat, by the seed.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] on `folds` or `splits` for invalid splits.
    pub fn split(&self, sample: &Sample, seed: u64) -> Result<Vec<TrainTestSplit>> {
        Ok(self.clone().repeats(sample, [seed])?.all().collect())
    }

    /// The train/test splits of repeats, by the seed of each; a single repeat if all are equal, like splits by time.
    pub fn repeats(self, sample: &Sample, seeds: impl IntoIterator<Item = u64>) -> Result<RepeatedSplits<'_>> {
        let rounds = |seed: u64| match &self {
            Splitter::Folds(assignment, folds) => {
                let fold_of_row = assignment.folds(*folds, seed)?.into_iter().map(Some).collect();
                Ok(vec![Round::new(fold_of_row)])
            }
            Splitter::Splits(splits, written) => {
                let rounds = rounds(splits, &sample.problem, seed);
                rounds.map_err(|error| if *written { error.under("splits") } else { error })
            }
        };
        let mut repeats: Vec<Vec<Round>> = seeds.into_iter().map(rounds).collect::<Result<_>>()?;
        if repeats.iter().all(|rounds| *rounds == repeats[0]) {
            repeats.truncate(1);
        }
        let folds = repeats.first().into_iter().flatten().map(Round::count).sum();
        let rounds = repeats.concat();
        let folds_of = |(at, round): (usize, &Round)| (0..round.count()).map(move |fold| (at, fold));
        let places = rounds.iter().enumerate().flat_map(folds_of).collect();
        Ok(RepeatedSplits { splitter: self, sample, rounds, places, folds })
    }
}

/// Train/test splits of several repeats, each made when it is needed; the list of many rows is as large as a column.
pub struct RepeatedSplits<'s> {
    /// Splitter of the rows.
    pub splitter: Splitter,
    sample: &'s Sample,
    /// Rounds of all repeats.
    rounds: Vec<Round>,
    /// Round and fold of each split.
    places: Vec<(usize, usize)>,
    /// Number of folds of each repeat.
    pub folds: usize,
}

impl RepeatedSplits<'_> {
    /// Number of splits over all repeats.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// All splits, repeat by repeat.
    pub fn all(&self) -> impl Iterator<Item = TrainTestSplit> + '_ {
        (0..self.count()).map(|place| self.split(place))
    }

    /// One split. Cost O(rows).
    pub fn split(&self, place: usize) -> TrainTestSplit {
        let (round, fold) = self.places[place];
        let round = &self.rounds[round];
        let mut held = Vec::with_capacity(round.held_out(fold).count());
        held.extend(round.held_out(fold));
        let mut split = TrainTestSplit { training: round.training(fold), held };
        if matches!(&self.splitter, Splitter::Folds(assignment, _) if assignment.is_in_time) {
            self.sample.drop_overlap(&mut split.training, &split.held);
        }
        split
    }

    /// Fold of each row by repeat, if rows are split into folds.
    pub(super) fn fold_of_rows(&self) -> Vec<Vec<usize>> {
        if self.splitter.resampling().is_some() {
            return Vec::new();
        }
        let fold_numbers = |round: &Round| round.fold_of_rows().iter().map(|fold| fold.unwrap_or(0) as usize).collect();
        self.rounds.iter().map(fold_numbers).collect()
    }
}

fn rounds(splits: &Part<dyn Resampling>, problem: &Problem, seed: u64) -> Result<Vec<Round>> {
    let problem = problem.clone().with_seed(seed);
    splits.splits(&problem, problem.classes().as_ref()).and_then(|all| Round::from_splits(problem.rows(), all))
}

/// A design of the rows without columns, for splitters.
pub fn empty_design(problem: &Problem) -> Result<Design> {
    Ok(Design::identity(problem, Readout::new(vec![1.0], true)?))
}

impl Sample {
    /// Chooses the splitter of the rows: the one `written` in the settings, else the criterion's splitter for
    /// searches, else `folds` folds. Forward splits use fewer folds if their first training rows are too few for the
    /// criterion; `within` levels of nested splits are also checked.
    pub fn splitter(
        &self,
        selector: &ValidSelector,
        written: Option<&Part<dyn Resampling>>,
        folds: usize,
        within: usize,
    ) -> Splitter {
        let by_criterion = || selector.criterion.traits().splits.and_then(|splits| splits.around_search(folds));
        let Some(splits) = written.cloned().or_else(by_criterion) else {
            return Splitter::Folds(self.fold_assignment(), folds);
        };
        let fewer = (1..=folds).rev().filter_map(|folds| splits.around_search(folds));
        let mut all = std::iter::once(splits.clone()).chain(fewer);
        let is_enough = |splits: &Part<dyn Resampling>| can_split(selector, splits, &self.problem, within);
        let found = all.find(|splits| splits.around_search(1).is_none() || is_enough(splits));
        Splitter::Splits(found.unwrap_or(splits), written.is_some())
    }
}

/// Whether the criterion can split the smallest training set, also after `within` nested splits of it.
fn can_split(selector: &ValidSelector, splits: &Part<dyn Resampling>, problem: &Problem, within: usize) -> bool {
    let Ok(rounds) = rounds(splits, problem, 0) else { return false };
    let trainings = rounds.iter().flat_map(|round| (0..round.count()).map(|fold| round.training(fold)));
    let Some(least) = trainings.min_by_key(Vec::len) else { return false };
    let training = problem.view_rows(&least);
    let holds_out = empty_design(&training).is_ok_and(|design| selector.criterion.folds(&design).is_ok());
    let inside = || splits.around_search(1).is_none_or(|one| can_split(selector, &one, &training, within - 1));
    holds_out && (within == 0 || inside())
}
