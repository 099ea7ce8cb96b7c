//! Race of several searches, cross-validated on the same folds.

use super::choice::{ChosenSearch, CrossValidatedSearch, Taken, compared, cut_short, finished, walk_lambdas};
use super::extend_grid::cross_validated_beyond;
use super::full_model;
use super::gain::ColumnTest;
use super::loss_sums::LossSums;
use super::pool::Watcher;
use super::sample::Sample;
use super::scored::{not_validated, plain};
use super::split_rule::Part;
use super::table::compare_with;
use super::validated::{CrossValidated, Made, Validation};
use crate::search::Search;
use crate::selector::ValidSelector;
use std::time::Instant;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{CrossValidation, Design, ExitClass, Journal, Loss, Monitor, Path, Result, Rule, Wanted};
use vaglio_kernels::tolerance::SCORE_ROUNDING;
use vaglio_report::record::{Cell, Contestant, CurvePoint, FrontierPoint, RaceRecord, Table};

/// Cross-validates every search and finishes the winner.
///
/// # Errors
/// Returns the errors of the searches, the fits and the folds.
pub(super) fn race(
    selector: &ValidSelector,
    sample: &Sample,
    whole: &Design,
    (how, is_written, deals): (&CrossValidation, bool, Result<Vec<Vec<Part>>>),
    start: Instant,
    monitor: &mut Monitor<'_>,
) -> Result<ChosenSearch> {
    let begun = Instant::now();
    let loss = &*selector.loss(sample.task());
    let watcher = &Watcher::new(&mut *monitor);
    let contest = Contest::new(selector, sample, whole, watcher)?;
    let Contest { contestants, designs, .. } = &contest;
    let done = deals.and_then(|deals| contest.validated(&deals, how, is_written));
    let cut_short =
        |seconds: f64| Ok(ChosenSearch { seconds, ..cut_short(&contestants[0], &designs[0], None, how, watcher)? });
    let mut all = match done {
        Ok(Some(all)) => all,
        Ok(None) => return cut_short(begun.elapsed().as_secs_f64()),
        // A penalty cannot be chosen by the score.
        Err(error) if !is_written && !contest.has_penalties() && error.class() != ExitClass::Numerical => {
            return plain(&contestants[0], whole, start, monitor, vec![not_validated(&error)]);
        }
        Err(error) => return Err(error),
    };
    let won = won(loss, &mut all, how)?;
    let columns = ColumnTest { selector, sample, design: &designs[won], watcher };
    let test = watcher.ends(|| columns.run(&all, won, how).map(Some))?;
    let seconds = begun.elapsed().as_secs_f64();
    let Some(test) = test else { return cut_short(seconds) };
    let names: Vec<String> = contestants.iter().map(name).collect();
    let record = record(&names, &all, won, how)?;
    let journal = &watcher.journal().under(format_args!("race/{won}"));
    let of = (&contestants[won], &designs[won]);
    let picked = finished(of, loss, how, (all.swap_remove(won), test), None, (watcher, journal))?;
    Ok(ChosenSearch { seconds, race: Some(record), ..picked })
}

/// Searches that are cross-validated on the same folds.
struct Contest<'a, 'o> {
    selector: &'a ValidSelector,
    sample: &'a Sample,
    contestants: Vec<ValidSelector>,
    designs: Vec<Design>,
    /// Path of all rows of each search that is evaluated at penalties.
    paths: Vec<Option<Path>>,
    watcher: &'a Watcher<'o>,
}

impl<'a, 'o> Contest<'a, 'o> {
    /// Prepares the competing searches.
    ///
    /// # Errors
    /// Returns the errors of the paths of searches that are evaluated at penalties.
    fn new(selector: &'a ValidSelector, sample: &'a Sample, whole: &Design, watcher: &'a Watcher<'o>) -> Result<Self> {
        let mut contestants = selector.contestants();
        let designs: Vec<Design> = contestants.iter().map(|own| own.with_search_lambdas(whole.clone())).collect();
        let mut paths = Vec::with_capacity(contestants.len());
        for (place, (own, design)) in contestants.iter_mut().zip(&designs).enumerate() {
            paths.push(match own.at_penalties(design)? {
                None => None,
                Some(fitted) => {
                    *own = fitted;
                    let mut member = watcher.member(watcher.journal().under(format_args!("race/{place}/penalties")));
                    Some(own.search_on(design, Instant::now(), None, &mut member.monitor())?.path)
                }
            });
        }
        Ok(Contest { selector, sample, contestants, designs, paths, watcher })
    }

    fn has_penalties(&self) -> bool {
        self.paths.iter().any(Option::is_some)
    }

    /// Cross-validates each search. Returns `None` if stopped.
    ///
    /// # Errors
    /// Returns the errors of the searches and the fits.
    fn validated(
        &self,
        deals: &[Vec<Part>],
        how: &CrossValidation,
        is_written: bool,
    ) -> Result<Option<Vec<CrossValidatedSearch>>> {
        let made: Vec<Made> = deals.iter().flatten().map(|_| Made::default()).collect();
        let loss = &*self.selector.loss(self.sample.task());
        let mut all = Vec::new();
        for place in 0..self.contestants.len() {
            let journal = &self.watcher.journal().under(format_args!("race/{place}"));
            let of = self.validation(place, (deals, &made), how, journal)?;
            let Some(validated) = self.watcher.ends(|| validated(&of, loss, how, is_written))? else { return Ok(None) };
            all.push(validated);
        }
        Ok(Some(all))
    }

    /// Cross-validation settings of one search, by index.
    ///
    /// # Errors
    /// Returns the errors of the search's size estimate.
    fn validation<'v>(
        &'v self,
        place: usize,
        (deals, made): (&'v [Vec<Part>], &'v [Made]),
        how: &CrossValidation,
        journal: &'v Journal,
    ) -> Result<Validation<'v, 'o>> {
        let (selector, whole) = (&self.contestants[place], &self.designs[place]);
        Ok(Validation {
            selector,
            competing: self.selector,
            sample: self.sample,
            whole,
            deals,
            everything: selector.search().outline(whole).map_err(|error| error.under("search"))?.largest,
            patience: how.patience,
            watcher: self.watcher,
            journal,
            made,
            path: self.paths[place].as_ref(),
        })
    }
}

/// Name of a search; the names of its stages for a chain.
fn name(selector: &ValidSelector) -> String {
    match selector.search().stages() {
        [] => selector.search().kind().to_owned(),
        stages => stages.iter().map(Search::kind).collect::<Vec<_>>().join(", "),
    }
}

/// Cross-validates one search. Returns `None` if stopped.
fn validated(
    of: &Validation<'_, '_>,
    loss: &dyn Loss,
    how: &CrossValidation,
    is_written: bool,
) -> Result<Option<CrossValidatedSearch>> {
    let Validation { selector, whole, everything, watcher, journal, .. } = *of;
    let mut lambdas = walk_lambdas(whole, true);
    let mut all = full_model::lambdas(selector, whole, how.folds * how.repeats);
    selector.opened(&whole.at_lambda(lambdas[0]))?;
    let Some(CrossValidated { walks, full }) = cross_validated_beyond(of, (&mut lambdas, &mut all))? else {
        return Ok(None);
    };
    let by = (watcher, journal);
    let of =
        |how: &CrossValidation| compared(selector, whole, (&lambdas, &walks), loss, (everything, how, is_written), by);
    // A search without any size up to the limit still has a curve.
    let (table, taken) = of(how).or_else(|_| of(&CrossValidation { at_most: None, ..how.clone() }))?;
    Ok(Some(CrossValidatedSearch { lambdas, all, walks, full, table, taken, everything }))
}

/// Standard error of the difference between the losses of two cells of two searches.
fn difference(
    loss: &dyn Loss,
    (a, (at_a, cell_a)): (&CrossValidatedSearch, (usize, Cell)),
    (b, (at_b, cell_b)): (&CrossValidatedSearch, (usize, Cell)),
    repeats: usize,
) -> Option<f64> {
    a.matched(at_a, repeats).difference(loss, cell_a.size, (&b.matched(at_b, repeats), cell_b.size))
}

/// The loss that a search would deliver: its lowest cross-validated loss, or that at the λ of its score, with the index
/// of λ.
fn lowest(of: &CrossValidatedSearch, how: &CrossValidation) -> (usize, Cell) {
    let fits = how.at_most.is_none_or(|most| of.taken.cell.size <= most);
    let found = match of.taken.scored {
        Some(_) => fits.then_some((of.taken.place, of.taken.cell)),
        None => of.table.pick(Wanted { at_most: how.at_most, ..Rule::Best.into() }).ok(),
    };
    found.unwrap_or((0, Cell { size: 0, loss: f64::INFINITY, standard_error: None, difference_error: None }))
}

/// Index of the winning search. Its cell is chosen by the rule, compared with all searches.
fn won(loss: &dyn Loss, all: &mut [CrossValidatedSearch], how: &CrossValidation) -> Result<usize> {
    let best: Vec<(usize, Cell)> = all.iter().map(|of| lowest(of, how)).collect();
    let mut winner = 0;
    for place in 1..all.len() {
        let own = best[place].1.loss;
        let is_lower = |than: usize, error: f64| best[than].1.loss - own > error.max(SCORE_ROUNDING * own.abs());
        let error = difference(loss, (&all[0], best[0]), (&all[place], best[place]), how.repeats);
        if is_lower(0, error.unwrap_or(0.0)) && is_lower(winner, 0.0) {
            winner = place;
        }
    }
    if how.wanted().is_lowest() {
        return Ok(winner);
    }
    // Chooses the smallest size of any search near the lowest loss.
    let (at, reference) = best[winner];
    let of_best: Vec<LossSums> =
        all[winner].matched(at, how.repeats).parts(reference.size).into_iter().cloned().collect();
    let of_best: Vec<&LossSums> = of_best.iter().collect();
    let mut fewest: Option<(usize, usize, Cell)> = None;
    for (place, of) in all.iter_mut().enumerate() {
        let matched: Vec<_> = of.walks.iter().map(|walks| walks.matched((of.everything, how.repeats))).collect();
        compare_with(loss, &mut of.table, &matched, (reference, &of_best))?;
        let Some((l, cell)) = near(&of.table, reference, how) else { continue };
        if fewest.is_none_or(|(_, _, other)| cell.size < other.size) {
            fewest = Some((place, l, cell));
        }
    }
    let (place, l, cell) = fewest.unwrap_or((winner, at, reference));
    all[place].taken = Taken { place: l, cell, scored: None };
    Ok(place)
}

/// Smallest size of a table whose loss is near the reference by the rule. Ties choose the largest λ within one standard
/// error, else the lowest loss.
fn near(table: &Table, reference: Cell, how: &CrossValidation) -> Option<(usize, Cell)> {
    let is_near = |cell: &Cell| match how.within {
        Some(within) => cell.loss <= reference.loss + within * reference.loss.abs(),
        None => cell.is_near(reference.loss),
    };
    let fits = |cell: &Cell| how.at_most.is_none_or(|most| cell.size <= most) && is_near(cell);
    let cells = table.cells.iter().enumerate().flat_map(|(l, cells)| cells.iter().map(move |cell| (l, *cell)));
    cells.filter(|(_, cell)| fits(cell)).min_by(|(a, x), (b, y)| {
        let then = if how.within.is_some() { x.loss.total_cmp(&y.loss) } else { b.cmp(a) };
        x.size.cmp(&y.size).then(then)
    })
}

/// Curve of every search, and the lowest loss of all at each size.
fn record(names: &[String], all: &[CrossValidatedSearch], won: usize, how: &CrossValidation) -> Result<RaceRecord> {
    let mut frontier: Vec<FrontierPoint> = Vec::new();
    let mut contestants = Vec::new();
    for (place, (of, name)) in all.iter().zip(names).enumerate() {
        let curve = curve(&of.table);
        for point in &curve {
            let own = FrontierPoint {
                size: point.size,
                loss: point.loss,
                standard_error: point.standard_error,
                search: name.clone(),
                cost: None,
            };
            match frontier.iter_mut().find(|known| known.size == point.size) {
                Some(known) if point.loss < known.loss => *known = own,
                Some(_) => {}
                None => frontier.push(own),
            }
        }
        let (at, cell) = match place == won || of.taken.scored.is_some() {
            true => (of.taken.place, of.taken.cell),
            false => of.table.pick(how.wanted()).unwrap_or((of.taken.place, of.taken.cell)),
        };
        contestants.push(Contestant {
            search: name.clone(),
            won: place == won,
            chosen: CurvePoint {
                size: cell.size,
                lambda: of.lambdas[at],
                loss: cell.loss,
                standard_error: cell.standard_error,
            },
            curve,
        });
    }
    frontier.sort_by_key(|point| point.size);
    Ok(RaceRecord { contestants, frontier })
}

/// The λ with the lowest loss for each size.
fn curve(table: &Table) -> Vec<CurvePoint> {
    let mut points: Vec<CurvePoint> = Vec::new();
    for (lambda, cells) in table.lambdas.iter().zip(&table.cells) {
        for cell in cells {
            let own =
                CurvePoint { size: cell.size, lambda: *lambda, loss: cell.loss, standard_error: cell.standard_error };
            match points.iter_mut().find(|point| point.size == cell.size) {
                Some(point) if cell.loss < point.loss => *point = own,
                Some(_) => {}
                None => points.push(own),
            }
        }
    }
    points.sort_by_key(|point| point.size);
    points
}
