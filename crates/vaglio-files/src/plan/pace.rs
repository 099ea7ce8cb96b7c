//! How fast an engine works here: a part of the walk itself, on some of the rows and columns.

use super::clock::Clock;
use ndarray::Axis;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vaglio_core::{
    Answer, Criterion, Design, Event, Feature, InFolds, Journal, Learner, Monitor, Observer, Outline, Problem, Result,
    Score, StopReason, StopSign, Subset,
};
use vaglio_pipeline::selector::ValidSelector;

/// Seconds that parts of a walk may take together.
const BUDGET: f64 = 0.08;
/// Seconds that the walk itself may take, where parts of it tell that it takes no longer, and those that it is given.
const WHOLE: f64 = 0.06;
const GIVEN: f64 = 0.1;
/// Rows and columns of the smallest part, and entries of the largest.
const ROWS: usize = 128;
const COLUMNS: usize = 16;
const ENTRIES: usize = 1 << 21;
/// How many times as large the next part is at most, and the least for which it is worth the time.
const LARGER: f64 = 4.0;
const NO_LARGER: f64 = 1.5;
/// Columns that a part adds one by one.
const STEPS: usize = 4;
/// What is short is tried so many times, or for so long, and the fastest counts: what else the machine does can only take
/// longer.
const REPEATS: usize = 5;
/// The part of the budget that one try may take.
const TWICE: f64 = 2.0;
const SHORT: f64 = 0.025;
/// Seconds after which a part of a walk is given up, and those that a trial then has to end.
const LATE: Duration = Duration::from_secs(1);
const GRACE: Duration = Duration::from_millis(100);
/// Flops a second where nothing can be tried, and those of products of columns, of which moments are made.
const USUAL: f64 = 1.5e9;
const PRODUCTS: f64 = 8e9;
/// The engine of `kfold` on these.
const MOMENTS: &str = "moments";

/// Flops a second of one thread, for the engine that a search of this outline takes: those of the largest part of the walk
/// that is tried within the budget.
pub(super) fn pace(selector: &ValidSelector, design: &Design, outline: &Outline) -> f64 {
    let criterion = &**selector.criterion();
    let whole = criterion.estimate(design, outline);
    let has_shape = outline.start > 0;
    // Small parts are all overhead: where larger ones have another engine, what is usual is nearer.
    let mut found = if whole.engine == MOMENTS { PRODUCTS } else { USUAL };
    let size = (design.rows(), design.candidates().len());
    if size.1 == 0 {
        return found;
    }
    let refits = refits(design, whole.engine);
    alone(|| {
        let begun = clock(refits);
        let mut sides = smallest(size, has_shape);
        loop {
            let Ok(part) = part(selector.learner(), design, sides, refits) else { return found };
            let outline = of_part(outline, part.candidates().len());
            let estimate = criterion.estimate(&part, &outline);
            let tried = || {
                // Moments that one try keeps of the design are nearly all of the work of the next.
                let anew = (estimate.engine == MOMENTS).then(|| part.clone().seeded(part.seed()));
                seconds(criterion, anew.as_ref().unwrap_or(&part), &outline, clock(refits)).ok()
            };
            let Some(least) = least(tried) else { return found };
            // Another engine says nothing of this one.
            if estimate.engine == whole.engine {
                found = estimate.flops / least.max(1e-9);
            }
            let times = ((BUDGET - begun.seconds()) / least / TWICE).min(LARGER);
            let next = larger(sides, size, times, has_shape);
            if times < NO_LARGER || next == sides {
                return found;
            }
            sides = next;
        }
    })
    .unwrap_or(found)
}

/// Rows and columns of the smallest part: few of both, and in the shape of the whole where that decides.
fn smallest((rows, columns): (usize, usize), has_shape: bool) -> (usize, usize) {
    if !has_shape {
        return (ROWS.min(rows), COLUMNS.min(columns));
    }
    let scale = ((ROWS * COLUMNS) as f64 / (rows * columns) as f64).sqrt().min(1.0);
    let side = |count: usize| ((count as f64 * scale).ceil() as usize).clamp(COLUMNS.min(count), count);
    (side(rows), side(columns))
}

/// Those of a part that takes so many times as long: the whole is approached by its shape, or by rows first, since with few of
/// them a trial is all overhead.
fn larger(
    (rows, columns): (usize, usize),
    (most_rows, most_columns): (usize, usize),
    times: f64,
    has_shape: bool,
) -> (usize, usize) {
    let grown = |count: usize, times: f64, most: usize| ((count as f64 * times) as usize).clamp(count, most.max(count));
    if has_shape {
        let times = times.cbrt().min((ENTRIES as f64 / (rows * columns) as f64).sqrt());
        return (grown(rows, times, most_rows), grown(columns, times, most_columns));
    }
    match rows < most_rows.min(ENTRIES / columns) {
        true => (grown(rows, times, most_rows.min(ENTRIES / columns)), columns),
        false => (rows, grown(columns, times, most_columns.min(ENTRIES / rows))),
    }
}

/// Whether every trial of a design refits, which may take any time for one.
fn refits(design: &Design, engine: &str) -> bool {
    design.readout().is_none() || ["refit", "definition"].contains(&engine)
}

/// A sign by which trials that refit are made on threads of their own and left there, so that one that does not end holds up no
/// plan.
fn leaving(sign: StopSign, refits: bool) -> StopSign {
    if refits { sign.leaving(Duration::MAX, GRACE, |_| {}) } else { sign }
}

/// The clock of trials, which are made on other threads where they refit.
fn clock(refits: bool) -> Clock {
    if refits { Clock::of_others() } else { Clock::start() }
}

/// Works on one thread, without words.
pub(super) fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().ok()?;
    Some(pool.install(|| tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::default(), work)))
}

/// The least seconds of a few tries, of one where it is long.
pub(super) fn least(mut work: impl FnMut() -> Option<f64>) -> Option<f64> {
    let clock = Clock::start();
    let (mut least, mut tries) = (f64::INFINITY, 0);
    while tries < REPEATS && (tries == 0 || clock.seconds() < SHORT) {
        least = least.min(work()?);
        tries += 1;
    }
    Some(least)
}

/// A walk that was begun on the whole design.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    /// Seconds that all of it takes.
    pub seconds: f64,
    /// The size that it reaches.
    pub size: usize,
    /// Whether it came to its end.
    pub is_whole: bool,
}

/// The search itself, up to a size if it pauses there, for as long as the budget lets it, where that is what is `predicted` or how long it takes depends on what
/// bounds rule out; `None` where that tells nothing.
pub(super) fn begun(
    selector: &ValidSelector,
    design: &Design,
    predicted: f64,
    (outline, until): (&Outline, Option<usize>),
) -> Option<Begun> {
    let is_tree = outline.steps == 0 && outline.largest > outline.start;
    // A criterion of unknown work may take any time for one subset.
    let is_small = design.rows() <= LARGER as usize * ROWS && design.candidates().len() <= LARGER as usize * COLUMNS;
    let may = is_tree || predicted < WHOLE || predicted.is_nan() && is_small;
    if design.planned_rows() > design.rows() || !may {
        return None;
    }
    alone(|| {
        let mut end = None;
        let seconds = least(|| {
            let (seconds, found) = tried(selector, design, (outline, until))?;
            end = Some(found);
            Some(seconds)
        })?;
        end.map(|(size, is_whole)| Begun { seconds, size, is_whole })
    })?
}

/// Seconds that the search takes, the size that it reaches, and whether it came to its end.
fn tried(
    selector: &ValidSelector,
    design: &Design,
    (outline, until): (&Outline, Option<usize>),
) -> Option<(f64, (usize, bool))> {
    // What the criterion keeps of the design belongs to the run.
    let own = design.clone().seeded(design.seed());
    let refits = refits(design, selector.criterion().estimate(design, outline).engine);
    let clock = clock(refits);
    let is_over = move || clock.passed() > GIVEN && clock.seconds() > GIVEN;
    let stop = leaving(StopSign::new(move || is_over().then_some(StopReason::Limit)), refits);
    let mut progress = PartProgress { clock, opened: 0.0, steps: 0, part: 0.0 };
    let monitor = &mut Monitor { observer: &mut progress, journal: Journal::default(), stop };
    let path = selector.search_on(&own, Instant::now(), until, monitor).ok()?.path;
    let all = clock.seconds();
    if !path.stop_reason.is_partial() {
        let size = path.entries.iter().map(|entry| entry.subset.len()).max().unwrap_or(0);
        return Some((all, (size, true)));
    }
    let part = match outline.steps {
        0 => progress.part,
        steps => progress.steps as f64 / steps as f64,
    };
    let seconds = progress.opened + (all - progress.opened) / part.min(1.0);
    seconds.is_finite().then_some((seconds, (outline.largest, false)))
}

/// How far a walk came.
struct PartProgress {
    clock: Clock,
    opened: f64,
    steps: usize,
    part: f64,
}

impl Observer for PartProgress {
    fn observe(&mut self, event: &Event<'_>) -> Answer {
        match event {
            Event::Begin { .. } => self.opened = self.clock.seconds(),
            Event::Step(_) => self.steps += 1,
            Event::Visited { done, of } => self.part = done / of.max(1.0),
            _ => {}
        }
        Answer::Continue
    }
}

/// Rows and columns that stand evenly among all; every column of a learner that is refitted.
fn part(learner: &Arc<dyn Learner>, design: &Design, (rows, columns): (usize, usize), refits: bool) -> Result<Design> {
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
    if refits {
        problem = problem.stopping_at(leaving(StopSign::default().or_after(Instant::now(), LATE), true));
    }
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
        (true, steps) => Outline::backward(columns, columns - (columns * steps / whole.start.max(1)).clamp(1, columns)),
        // All subsets of up to two columns.
        (false, 0) => {
            let trials = (columns * (columns + 1) / 2) as f64;
            Outline { start: 0, largest: columns.min(2), trials, steps: 0 }
        }
        (false, _) => Outline::forward(columns, STEPS),
    }
}

/// Seconds of a short search.
fn seconds(criterion: &dyn Criterion, design: &Design, outline: &Outline, clock: Clock) -> Result<f64> {
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
    Ok(clock.seconds())
}
