//! A test of what columns gain over none.
//!
//! The lowest of many cross-validated losses lies below that of no columns on noise as well. How far is known from shuffles: searches
//! are made again on targets that rows exchanged, so that no column carries anything. On noise their gain is distributed as on the
//! data. So a gain that is the largest of 20 comes from noise in one of 20 tables, for every search, loss and number of rows. The
//! first shuffle that gains as much ends the test.
//!
//! A gain is relative to no columns. It adds that of the lowest cross-validated loss and that of the lowest score on all rows,
//! where the score is a loss: the score is optimistic, on shuffles as well, and it uses all rows. Three of the λ and the first
//! eight columns of walks that begin with none say enough, so that a shuffle costs a small part of the choice.
//!
//! A gain that is clear without shuffles needs none. Each fold is judged at the size and λ that the other folds choose, and the
//! interval of what it loses less than no columns, on the same rows, says how likely noise gains as much. It is the whole test
//! where shuffles would cost much and rows are many.
//!
//! # Reference
//! J. Besag, P. Clifford, *Sequential Monte Carlo p-values*, Biometrika 78 (1991).

use super::choice::{Validated, walk_lambdas};
use super::interval::Judged;
use super::parting::Part;
use super::pool::{Piece, Watcher, in_turn};
use super::race::Contest;
use super::sample::Sample;
use super::table::{self, Matched};
use super::tally::Tally;
use super::validated::{ChoiceParts, CrossValidated, Made, Validation, parted_choice};
use crate::selector::ValidSelector;
use std::time::Instant;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{CrossValidation, Design, Error, Loss, Path, Result, StopReason};
use vaglio_kernels::tolerance::SCORE_ROUNDING;
use vaglio_report::record::{Cell, GainTest, Table};
use vaglio_search::shuffle::stream;

const SHUFFLE: u64 = 4;

/// The part of the level at which an interval decides without shuffles: noise passes it in few tables of a thousand.
const CERTAIN: f64 = 0.1;
/// Observations that an interval needs.
const FEWEST: usize = 20;
/// Rows, and numbers in the table, up to which targets are shuffled.
const MOST: usize = 2000;
const MOST_CELLS: usize = 2_000_000;
/// Subsets up to which every search is shuffled; a tree of more may take far longer on noise than on the data.
const MOST_SUBSETS: f64 = 1e5;
/// Columns up to which walks go.
const SIZES: usize = 8;

impl Contest<'_, '_> {
    /// Tests the gain of the columns of the contestant that won. No test is made where none is asked for, where there are no
    /// columns or some are asked for, and where nothing is known.
    ///
    /// # Errors
    /// Those of the search and of the folds' losses; [`Error::Stopped`].
    pub fn tested(
        &self,
        (all, won): (&[Validated], usize),
        (how, is_written): (&CrossValidation, bool),
    ) -> Result<Option<GainTest>> {
        let Contest { selector, sample, watcher, .. } = *self;
        let (of, loss) = (&all[won], &*selector.loss(sample.task()));
        let Some(level) = how.require_gain.level() else { return Ok(None) };
        // Where columns are asked for, no columns are no choice.
        if of.taken.cell.size == 0 || !all.iter().any(|of| of.walked(how.repeats).any(|walk| walk.has(0))) {
            return Ok(None);
        }
        let walks: Vec<_> = of.walked(how.repeats).collect();
        let p = paired_p(loss, (&of.table, &walks), (of.taken.place, of.taken.cell), how);
        let by_losses = p.map(|p| GainTest { p, level, shuffles: None });
        if p.is_some_and(|p| p <= CERTAIN * level) || !self.may_shuffle() {
            return Ok(by_losses);
        }
        let gain = self.sample_gain("data", sample, (how, is_written))?;
        let count = (1.0 / level - 1e-9).ceil() as usize - 1;
        watcher.stage("gain", count);
        // The first shuffle that gains as much, or the one after the last.
        let mut first = count + 1;
        for number in 0..count {
            let seed = stream(selector.seed(), SHUFFLE, number as u64);
            let shuffled = sample.shuffled(selector.goes_forward(), seed)?;
            match self.sample_gain(&number.to_string(), &shuffled, (how, is_written)) {
                Ok(shuffled) if shuffled >= gain - SCORE_ROUNDING * gain.abs() => {
                    first = number + 1;
                    break;
                }
                Ok(_) => {}
                Err(Error::Stopped(reason)) => return Err(Error::Stopped(reason)),
                // Shuffled targets on which nothing can be chosen, as where a fold has one class, say nothing.
                Err(error) => {
                    tracing::debug!(%error, "shuffle");
                    return Ok(by_losses);
                }
            }
        }
        Ok(Some(GainTest { p: 1.0 / first as f64, level, shuffles: Some(first.min(count)) }))
    }

    /// Whether shuffles cost no more than a few times the choice.
    fn may_shuffle(&self) -> bool {
        let Contest { sample, contestants, designs, .. } = self;
        let is_walk = |(own, design): (&ValidSelector, &Design)| {
            let columns = design.candidates().len() as f64;
            let most = MOST_SUBSETS.max(4.0 * columns * columns);
            own.search().outline(design).is_ok_and(|outline| outline.trials <= most)
        };
        let columns = designs.iter().map(|design| design.candidates().len()).max().unwrap_or(0);
        let is_small = sample.rows() <= MOST && sample.rows() * columns <= MOST_CELLS;
        sample.behind.is_none() && is_small && sample.has_shuffles() && contestants.iter().zip(designs).all(is_walk)
    }

    /// Gain of searches on a sample, which the journal keeps under a key.
    ///
    /// # Errors
    /// Those of the searches; [`Error::Stopped`].
    fn sample_gain(&self, key: &str, sample: &Sample, (how, is_written): (&CrossValidation, bool)) -> Result<f64> {
        let Contest { selector, watcher, .. } = *self;
        let (key, piece) = (format!("gain/{key}"), Piece::whole(watcher));
        let gain = watcher.journal().once(&key, || {
            let whole = selector.design(&sample.fitted()?.problem)?;
            let how = CrossValidation { patience: how.patience.map(|_| 0), ..how.clone() };
            let ChoiceParts { how, deals, design, .. } = parted_choice(selector, sample, &whole, (how, is_written))?;
            let mut member = watcher.member(watcher.journal().within(&key)).of_piece(Some(&piece));
            let inner = &Watcher::new(member.monitor());
            let contest = Contest::new(selector, sample, &design, inner)?;
            inner.ends(|| contest.gain(&deals?, &how))
        })?;
        piece.end();
        match (gain, watcher.stopped()) {
            (Some(gain), None) => Ok(gain),
            (_, reason) => Err(Error::Stopped(reason.unwrap_or(StopReason::Interrupted))),
        }
    }

    /// Gain of the lowest loss of all contestants over no columns, with that of the lowest score on all rows; `None` when it was
    /// stopped.
    fn gain(&self, deals: &[Vec<Part>], how: &CrossValidation) -> Result<Option<f64>> {
        let loss = &*self.selector.loss(self.sample.task());
        let made: Vec<Made> = deals.iter().flatten().map(|_| Made::default()).collect();
        let most = how.at_most.unwrap_or(usize::MAX);
        let (mut of_folds, mut of_scores) = (0.0_f64, 0.0_f64);
        for place in 0..self.contestants.len() {
            let journal = &self.watcher.journal().under(format_args!("gain/{place}"));
            let of = Validation { first: SIZES, ..self.validation(place, (deals, &made), how, journal)? };
            let lambdas = thinned(walk_lambdas(of.whole, true));
            of.selector.opened(&of.whole.at_lambda(lambdas[0]))?;
            let Some(CrossValidated { mut walks, .. }) = of.at((&lambdas, &[]), &[], journal)? else {
                return Ok(None);
            };
            if let Some(path) = of.path {
                walks = walks[0].to_penalties(path).1;
            }
            for walks in &walks {
                let matched = walks.matched((of.everything, how.repeats));
                if let Some((_, lowest)) = matched.lowest(loss, most)? {
                    of_folds = of_folds.max(relative(matched.empty(loss)?.loss, lowest));
                }
            }
            for path in self.paths_of(place, &lambdas, how.patience.map(|_| SIZES))? {
                let Some(path) = path else { return Ok(None) };
                let fits = |size: usize| path.allowed.contains(&size) && size <= most;
                let scores = path.entries.iter().filter(|entry| fits(entry.subset.len()));
                let gains = scores.map(|entry| relative(path.empty.loss, entry.score.loss));
                of_scores = gains.fold(of_scores, f64::max);
            }
        }
        // A choice of no columns gains nothing, whatever the scores.
        let has_scores = of_folds > 0.0 && self.selector.criterion().loss().is_some();
        Ok(Some(of_folds + if has_scores { of_scores } else { 0.0 }))
    }

    /// The walks of a contestant on all rows at each λ; `None` for one that was stopped.
    fn paths_of(&self, place: usize, lambdas: &[Option<f64>], until: Option<usize>) -> Result<Vec<Option<Path>>> {
        if let Some(path) = &self.paths[place] {
            return Ok(vec![Some(path.clone())]);
        }
        in_turn(lambdas.len(), |at| {
            let journal = self.watcher.journal().under(format_args!("gain/walk/{place}/{at}"));
            let mut member = self.watcher.member(journal);
            let design = self.designs[place].at_lambda(lambdas[at]);
            let path = self.contestants[place].search_on(&design, Instant::now(), until, &mut member.monitor())?.path;
            Ok((!path.stop_reason.is_partial()).then_some(path))
        })
    }
}

/// Three of many λ, apart from each other and from the ends.
fn thinned(lambdas: Vec<Option<f64>>) -> Vec<Option<f64>> {
    match lambdas.len() {
        0..=3 => lambdas,
        count => [1, 3, 5].map(|sixth| lambdas[(count - 1) * sixth / 6]).to_vec(),
    }
}

/// p-value of paired losses: each fold at the size and λ that the others choose, beside the fold without columns. `None` of few
/// observations.
pub(super) fn paired_p(
    loss: &dyn Loss,
    (table, walks): (&Table, &[Matched<'_>]),
    (place, cell): (usize, Cell),
    how: &CrossValidation,
) -> Option<f64> {
    let by_others = table::by_others(loss, table, walks, (cell, how.at_most));
    let outer = if by_others.is_empty() { walks[place].parts(cell.size) } else { by_others.iter().collect() };
    if Tally::shape(&outer, None).count < FEWEST {
        return None;
    }
    let own = Judged { outer, repeats: how.repeats };
    let none = Judged { outer: walks[place].empties(), repeats: how.repeats };
    own.chance_below(loss, &none)
}

/// Part of the loss of no columns by which another is lower.
fn relative(empty: f64, loss: f64) -> f64 {
    if empty.abs() > 0.0 { (empty - loss) / empty.abs() } else { empty - loss }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::criteria::Loo;
    use crate::learners::Rls;
    use crate::resample::{Chosen, Sample, select};
    use crate::search::Greedy;
    use crate::selector::Selector;
    use linfa::ParamGuard;
    use ndarray::Array2;
    use vaglio_core::{Choose, Lambda, Monitor, Problem, RequireGain, Silent};
    use vaglio_testkit::{Random, data};

    const LAMBDAS: [f64; 2] = [1.0, 10.0];

    fn selector(require_gain: RequireGain) -> ValidSelector {
        let how = CrossValidation { folds: 4, require_gain, ..CrossValidation::default() };
        let search = Greedy { choose: Choose::CrossValidated(how), ..Greedy::default() };
        let lambda: Lambda = serde_json::from_value(serde_json::json!({ "values": LAMBDAS })).unwrap();
        Selector::params(Loo::default(), search, Rls { lambda, ..Rls::default() }).seed(5).check().unwrap()
    }

    fn chosen(selector: &ValidSelector, sample: &Sample) -> Chosen {
        let design = selector.design(&sample.fitted().unwrap().problem).unwrap();
        select(selector, sample, &design, Instant::now(), &mut Monitor::from(&mut Silent)).unwrap().chosen
    }

    /// The gain of a choice that makes no test, with that of the lowest score of a search at each λ.
    fn gain_by_hand(never: &ValidSelector, sample: &Sample) -> f64 {
        let chosen = chosen(never, sample);
        let part = |empty: f64, loss: f64| (empty - loss) / empty;
        let of_folds = part(chosen.empty.unwrap().loss, chosen.cell.unwrap().loss);
        if chosen.size == 0 {
            return 0.0;
        }
        let design = never.design(&sample.fitted().unwrap().problem).unwrap();
        let score = |lambda: f64| {
            let design = design.at_lambda(Some(lambda));
            let path = never.search_on(&design, Instant::now(), None, &mut Monitor::from(&mut Silent)).unwrap().path;
            let lowest = path.entries.iter().map(|entry| entry.score.loss).fold(f64::INFINITY, f64::min);
            part(path.empty.loss, lowest)
        };
        of_folds + LAMBDAS.map(score).into_iter().fold(0.0, f64::max)
    }

    #[test]
    fn columns_are_taken_where_no_shuffle_gains_as_much() {
        let (default, never) = (selector(RequireGain::default()), selector(RequireGain::Never));
        let mut taken = 0;
        for seed in 0..12 {
            // A signal of one column, which some tables show, on so few rows that no interval decides.
            let problem: Problem = data::regression(18, 4, seed).problem();
            let mut random = Random::new(seed + 100);
            let x = problem.columns().column(0).values().to_vec();
            let targets = Array2::from_shape_fn((1, 18), |(_, row)| 0.6 * x[row] + random.normal());
            let sample = Sample::plain(problem.with_targets(targets).unwrap(), false);
            let found = chosen(&default, &sample);
            let gain = gain_by_hand(&never, &sample);
            let Some(test) = found.test.filter(|test| test.shuffles.is_some()) else { continue };
            let shuffled = |number: u64| sample.shuffled(false, stream(5, SHUFFLE, number)).unwrap();
            let first = (0..19).position(|number| gain_by_hand(&never, &shuffled(number)) >= gain);
            let expected = first.map_or(0.05, |first| 1.0 / (first + 1) as f64);
            assert_eq!((test.p, test.shuffles), (expected, Some(first.map_or(19, |first| first + 1))), "{seed}");
            assert_eq!(found.size > 0, first.is_none());
            assert_eq!(found.declined.is_some(), first.is_some());
            taken += usize::from(first.is_none());
        }
        assert!((1..12).contains(&taken), "{taken} of 12");
    }
}
