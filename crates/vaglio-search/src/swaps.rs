//! Exchanges of units for others, after a search: one for one, and where none helps, several for several.

use super::frame::{Frame, Move};
use super::settings::Polish;
use super::walk::Walk;
use vaglio_core::{Action, Answer, Feature, Outline, Result, Score, SearchContext, StopReason, Subset};

/// An exchange is made when it lowers the score by more than this part of it.
const GAIN: f64 = 1e-10;

/// The most units that are exchanged at once.
const DEEPEST: usize = 5;

/// A unit that leaves for another that enters.
pub(super) struct Exchange {
    pub out: usize,
    pub entering: Move,
}

/// The most exchanges that are made.
fn most_exchanges(frame: &Frame) -> usize {
    10 * frame.units.len()
}

/// An outline with the steps and trials of polishing, if there is any.
pub(super) fn outlined(frame: &Frame, outline: Outline) -> Outline {
    if frame.polish == Polish::None {
        return outline;
    }
    let exchanges = most_exchanges(frame);
    // A typical search makes few exchanges; each looks at all pairs.
    let pairs = frame.largest() as f64 * frame.columns as f64;
    Outline { steps: outline.steps + 2 + 2 * exchanges, trials: outline.trials + 4.0 * pairs, ..outline }
}

/// Exchanges units of the entry until no exchange of units of one size lowers its score, nor any oscillation; the reason
/// if the observer stops it.
///
/// The walk goes to the entry's subset first, in at most two steps that move all columns concerned, and only when there
/// is an exchange to make. Cost O(size) best additions an exchange.
///
/// # Reference
/// P. Somol, P. Pudil, *Oscillating search algorithms for feature selection*, ICPR 2000.
pub(super) fn polish(walk: &mut Walk<'_>, context: &mut SearchContext<'_>, entry: usize) -> Result<Option<StopReason>> {
    let mut subset = walk.entries[entry].subset.clone();
    let mut score = walk.entries[entry].score;
    let current = context.subset.selected().to_vec();
    let mut inside = vec![false; walk.inside.len()];
    for (unit, columns) in walk.frame.units.iter().enumerate() {
        inside[unit] = subset.contains(&columns[0]);
    }
    let mut there = false;
    walk.frame.originals(context.design());
    for _ in 0..most_exchanges(walk.frame) {
        let exchange = best_exchange(walk.frame, &mut context.subset, &subset, &inside)?;
        let gains = |to: Score| score.loss - to.loss > GAIN * score.loss.abs();
        let Some(exchange) = exchange.filter(|exchange| gains(exchange.entering.score)) else {
            let Some(found) = oscillate(walk.frame, context, &subset, &inside, gains)? else { return Ok(None) };
            let from = if there { &subset } else { &current };
            if let Some(reason) = go(walk, context, from, &found.subset, found.score)? {
                return Ok(Some(reason));
            }
            walk.inside.copy_from_slice(&found.inside);
            (subset, inside, score, there) = (found.subset, found.inside, found.score, true);
            continue;
        };
        if !there {
            if let Some(reason) = go(walk, context, &current, &subset, score)? {
                return Ok(Some(reason));
            }
            walk.inside.copy_from_slice(&inside);
            there = true;
        }
        (inside[exchange.out], inside[exchange.entering.unit]) = (false, true);
        score = exchange.entering.score;
        if let Some(reason) = make(walk, context, exchange)? {
            return Ok(Some(reason));
        }
        subset = context.subset.selected().to_vec();
    }
    Ok(None)
}

/// The exchange of lowest score; ties to the lowest unit that leaves, and of copies, where they are known, only the first
/// is tried. The evaluator is back at `subset` in the end.
pub(super) fn best_exchange(
    frame: &Frame,
    evaluator: &mut Subset<'_>,
    subset: &[Feature],
    inside: &[bool],
) -> Result<Option<Exchange>> {
    let mut best: Option<Exchange> = None;
    evaluator.reset(subset)?;
    for out in (0..inside.len()).filter(|unit| inside[*unit] && !frame.forced.contains(unit)) {
        let size = frame.units[out].len();
        let original = |unit: usize| frame.originals.get().map_or(unit, |originals| originals[unit]);
        if (0..out).any(|unit| inside[unit] && original(unit) == original(out)) {
            continue;
        }
        let others: Vec<usize> = (0..inside.len()).filter(|&u| !inside[u] && frame.units[u].len() == size).collect();
        if others.is_empty() {
            continue;
        }
        frame.units[out].iter().try_for_each(|&feature| evaluator.remove(feature))?;
        let entering = frame.best_addition(evaluator, &others)?;
        frame.units[out].iter().try_for_each(|&feature| evaluator.add(feature))?;
        let Some(entering) = entering else { continue };
        if best.as_ref().is_none_or(|best| entering.score.loss < best.entering.score.loss) {
            best = Some(Exchange { out, entering });
        }
    }
    evaluator.reset(subset)?;
    Ok(best)
}

/// A subset that an oscillation has found.
struct Found {
    subset: Vec<Feature>,
    inside: Vec<bool>,
    score: Score,
}

/// Adds the best units and then removes the least missed, or the other way round, two of them, then three and so on,
/// until that gains something. The evaluator is anywhere in the end.
fn oscillate(
    frame: &Frame,
    context: &mut SearchContext<'_>,
    subset: &[Feature],
    inside: &[bool],
    gains: impl Fn(Score) -> bool,
) -> Result<Option<Found>> {
    for depth in 2..=DEEPEST {
        for up_first in [true, false] {
            let mut found = Found { subset: Vec::new(), inside: inside.to_vec(), score: Score::WORST };
            context.subset.reset(subset)?;
            let moved = (0..2 * depth).try_fold(true, |moved, k| -> Result<bool> {
                Ok(moved && swing(frame, context, &mut found, (k < depth) == up_first)?)
            })?;
            found.subset = context.subset.selected().to_vec();
            if moved && found.subset.len() == subset.len() && gains(found.score) {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// Adds the best unit or removes the least missed; false where there is none.
fn swing(frame: &Frame, context: &mut SearchContext<'_>, found: &mut Found, up: bool) -> Result<bool> {
    let candidates = (0..found.inside.len()).filter(|&unit| found.inside[unit] != up);
    let candidates: Vec<usize> = candidates.filter(|unit| up || !frame.forced.contains(unit)).collect();
    if candidates.is_empty() {
        return Ok(false);
    }
    let design = context.design();
    let chosen = match up {
        true => frame.best_addition(&mut context.subset, &candidates)?,
        false => frame.best_removal(&mut context.subset, design, &candidates)?,
    };
    let Some(chosen) = chosen else { return Ok(false) };
    let evaluator = &mut context.subset;
    let columns = &frame.units[chosen.unit];
    match up {
        true => columns.iter().try_for_each(|&feature| evaluator.add(feature))?,
        false => columns.iter().try_for_each(|&feature| evaluator.remove(feature))?,
    }
    found.inside[chosen.unit] = up;
    found.score = chosen.score;
    Ok(true)
}

/// Goes from one subset to another, of which the score is known: what is too much leaves, then what is missing enters.
fn go(
    walk: &mut Walk<'_>,
    context: &mut SearchContext<'_>,
    from: &[Feature],
    to: &[Feature],
    score: Score,
) -> Result<Option<StopReason>> {
    let mut subset: Vec<Feature> = from.iter().copied().filter(|f| to.contains(f)).collect();
    let without = |all: &[Feature], others: &[Feature]| {
        let mut left: Vec<Feature> = all.iter().copied().filter(|f| !others.contains(f)).collect();
        left.sort_unstable();
        left
    };
    let (leaving, entering) = (without(from, to), without(to, from));
    context.subset.reset(&subset)?;
    if !leaving.is_empty() {
        let between = if entering.is_empty() { score } else { context.subset.score()? };
        if let Answer::Stop(reason) = walk.took(context, Action::Remove, &leaving, between, Vec::new())? {
            return Ok(Some(reason));
        }
    }
    if !entering.is_empty() {
        subset.extend(&entering);
        context.subset.reset(&subset)?;
        if let Answer::Stop(reason) = walk.took(context, Action::Add, &entering, score, Vec::new())? {
            return Ok(Some(reason));
        }
    }
    Ok(None)
}

/// Makes an exchange in two steps.
fn make(walk: &mut Walk<'_>, context: &mut SearchContext<'_>, exchange: Exchange) -> Result<Option<StopReason>> {
    let Exchange { out, entering } = exchange;
    let rest: Vec<Feature> = {
        let leaving = &walk.frame.units[out];
        context.subset.selected().iter().copied().filter(|f| !leaving.contains(f)).collect()
    };
    context.subset.reset(&rest)?;
    let score = context.subset.score()?;
    walk.inside[out] = false;
    let frame = walk.frame;
    if let Answer::Stop(reason) = walk.took(context, Action::Remove, &frame.units[out], score, Vec::new())? {
        return Ok(Some(reason));
    }
    match walk.add(context, entering)? {
        Answer::Stop(reason) => Ok(Some(reason)),
        Answer::Continue => Ok(None),
    }
}
