//! Searches that compete: all are cross-validated on the same folds, and one wins.

use super::choice::{Picked, Taken, Validated, compared, cut_short, finished, walk_lambdas};
use super::extend::cross_validated_beyond;
use super::full;
use super::judged::{may_decline, tested};
use super::parting::Part;
use super::pool::Watcher;
use super::sample::Sample;
use super::scored::{not_validated, plain};
use super::table::{Matched, by_others, compare_with};
use super::tally::Tally;
use super::validated::{CrossValidated, Made, Validation};
use crate::selector::ValidSelector;
use std::time::Instant;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{CrossValidation, Design, ExitClass, Loss, Monitor, Path, Result, Rule, Wanted};
use vaglio_kernels::tolerance::SCORE_ROUNDING;
use vaglio_report::record::{Cell, Contestant, CurvePoint, Declined, FrontierPoint, RaceRecord, Table};

/// Cross-validates every contestant and goes on with the one that wins.
///
/// # Errors
/// Those of the searches, of the fits and of the folds.
pub(super) fn race(
    selector: &ValidSelector,
    sample: &Sample,
    whole: &Design,
    (how, is_written, deals): (&CrossValidation, bool, Result<Vec<Vec<Part>>>),
    start: Instant,
    monitor: &mut Monitor<'_>,
) -> Result<Picked> {
    let begun = Instant::now();
    let contestants = selector.contestants();
    let loss = &*selector.loss(sample.task());
    let watcher = &Watcher::new(&mut *monitor);
    let designs: Vec<Design> = contestants.iter().map(|own| own.of_own_lambdas(whole.clone())).collect();
    let (contestants, paths) = at_penalties(contestants, &designs, watcher)?;
    let done = deals.and_then(|deals| {
        let made: Vec<Made> = deals.iter().flatten().map(|_| Made::default()).collect();
        let mut all = Vec::new();
        for (place, (own, design)) in contestants.iter().zip(&designs).enumerate() {
            let journal = &watcher.journal().under(format_args!("race/{place}"));
            let of = Validation {
                selector: own,
                competing: selector,
                sample,
                whole: design,
                deals: &deals,
                everything: own.search().outline(design).map_err(|error| error.under("search"))?.largest,
                patience: how.patience,
                watcher,
                journal,
                made: &made,
                path: paths[place].as_ref(),
            };
            let validated = watcher.ends(|| validated(&of, loss, how, is_written))?;
            let Some(validated) = validated else { return Ok(None) };
            all.push(validated);
        }
        Ok(Some(all))
    });
    let seconds = begun.elapsed().as_secs_f64();
    let mut all = match done {
        Ok(Some(all)) => all,
        Ok(None) => {
            return Ok(Picked { seconds, ..cut_short(&contestants[0], &designs[0], None, how, watcher)? });
        }
        // A penalty is no score's to choose.
        Err(error) if !is_written && paths.iter().all(Option::is_none) && error.class() != ExitClass::Numerical => {
            return plain(&contestants[0], (sample, whole), start, monitor, vec![not_validated(&error)]);
        }
        Err(error) => return Err(error),
    };
    let delivered = delivered(loss, (&contestants, &designs), &all, how)?;
    let won = won(loss, &mut all, &delivered, how)?;
    let names: Vec<String> = contestants.iter().map(name).collect();
    let record = record(&names, &all, won, how)?;
    let journal = &watcher.journal().under(format_args!("race/{won}"));
    let picked = finished(&contestants[won], &designs[won], loss, how, all.swap_remove(won), None, (watcher, journal))?;
    Ok(Picked { seconds, race: Some(record), ..picked })
}

/// The contestants with their penalties, and the path of all rows of those that have some.
fn at_penalties(
    contestants: Vec<ValidSelector>,
    designs: &[Design],
    watcher: &Watcher<'_>,
) -> Result<(Vec<ValidSelector>, Vec<Option<Path>>)> {
    let all = contestants.into_iter().zip(designs).enumerate().map(|(place, (own, design))| {
        let Some(fitted) = own.at_penalties(design)? else { return Ok((own, None)) };
        let mut member = watcher.member(watcher.journal().under(format_args!("race/{place}/penalties")));
        let searched = fitted.search_on(design, Instant::now(), None, &mut member.monitor())?;
        Ok((fitted, Some(searched.path)))
    });
    Ok(all.collect::<Result<Vec<_>>>()?.into_iter().unzip())
}

/// The words of a search: of a chain those of its stages.
fn name(selector: &ValidSelector) -> String {
    let written = serde_json::to_value(selector.search()).unwrap_or_default();
    let kind = |search: &serde_json::Value| search["kind"].as_str().unwrap_or_default().to_owned();
    match written["stages"].as_array() {
        Some(stages) => stages.iter().map(kind).collect::<Vec<_>>().join(", "),
        None => kind(&written),
    }
}

/// What the folds say of one contestant; `None` when it was stopped.
fn validated(
    of: &Validation<'_, '_>,
    loss: &dyn Loss,
    how: &CrossValidation,
    is_written: bool,
) -> Result<Option<Validated>> {
    let Validation { selector, whole, everything, watcher, journal, .. } = *of;
    let mut lambdas = walk_lambdas(whole, true);
    let mut all = full::lambdas(selector, whole, how.folds * how.repeats);
    selector.opened(&whole.at_lambda(lambdas[0]))?;
    let Some(CrossValidated { walks, full }) = cross_validated_beyond(of, (&mut lambdas, &mut all))? else {
        return Ok(None);
    };
    let by = (watcher, journal);
    let of =
        |how: &CrossValidation| compared(selector, whole, (&lambdas, &walks), loss, (everything, how, is_written), by);
    // A search that has no size of at most so many columns has its curve all the same.
    let (table, taken) = of(how).or_else(|_| of(&CrossValidation { at_most: None, ..how.clone() }))?;
    Ok(Some(Validated { lambdas, all, walks, full, table, taken, everything }))
}

/// The folds' losses of one λ of a contestant.
fn matched(of: &Validated, place: usize, repeats: usize) -> Matched<'_> {
    of.walks[place].matched((of.everything, repeats))
}

/// The standard error of what the loss of one contestant's cell and of another's differ by.
fn difference(
    loss: &dyn Loss,
    (a, (at_a, cell_a)): (&Validated, (usize, Cell)),
    (b, (at_b, cell_b)): (&Validated, (usize, Cell)),
    repeats: usize,
) -> Option<f64> {
    let of = matched(a, at_a, repeats);
    of.difference(loss, cell_a.size, (&matched(b, at_b, repeats), cell_b.size))
}

/// The lowest loss of each contestant, of which λ that the score took is one, by the place of its λ. Where the columns would be
/// declined it is the loss of none: another contestant has to be better than what the first would deliver.
fn delivered(
    loss: &dyn Loss,
    (contestants, designs): (&[ValidSelector], &[Design]),
    all: &[Validated],
    how: &CrossValidation,
) -> Result<Vec<(usize, Cell)>> {
    let lowest = Wanted { at_most: how.at_most, ..Rule::Best.into() };
    let none = Cell { size: 0, loss: f64::INFINITY, standard_error: None, difference_error: None };
    let best = |of: &Validated| match of.taken.scored {
        Some(_) if how.at_most.is_none_or(|most| of.taken.cell.size <= most) => (of.taken.place, of.taken.cell),
        Some(_) => (0, none),
        None => of.table.pick(lowest).unwrap_or((0, none)),
    };
    let of_contestant = |((own, design), of): ((&ValidSelector, &Design), &Validated)| {
        let (place, cell) = best(of);
        if !how.wanted().is_lowest() || !may_decline(own, design, how)? {
            return Ok((place, cell));
        }
        let walks: Vec<_> = (0..of.walks.len()).map(|place| matched(of, place, how.repeats)).collect();
        let by_others = by_others(loss, &of.table, &walks, (cell, how.at_most));
        let tested = tested(loss, &walks[place], (cell, &by_others), how);
        Ok(match tested.filter(Declined::may_be_nothing) {
            Some(_) => (place, walks[place].empty(loss)?),
            None => (place, cell),
        })
    };
    contestants.iter().zip(designs).zip(all).map(of_contestant).collect()
}

/// The place of the contestant that is taken; its cell is that of the rule, compared with all.
fn won(loss: &dyn Loss, all: &mut [Validated], best: &[(usize, Cell)], how: &CrossValidation) -> Result<usize> {
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
    // The fewest columns of any contestant that are near the lowest loss.
    let (at, reference) = best[winner];
    let of_best: Vec<Tally> =
        matched(&all[winner], at, how.repeats).parts(reference.size).into_iter().cloned().collect();
    let of_best: Vec<&Tally> = of_best.iter().collect();
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

/// The fewest columns of a table that are as near to a loss as the rule says: within one standard error the largest λ, else the
/// lowest loss of them.
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

/// The curve of every contestant, and the lowest of all at each size.
fn record(names: &[String], all: &[Validated], won: usize, how: &CrossValidation) -> Result<RaceRecord> {
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

/// Of each size the λ of the lowest loss.
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
