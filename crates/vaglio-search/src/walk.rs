//! A walk from subset to subset: its steps, and the best subset seen of each size.

use super::frame::{Frame, Move};
use super::settings::Polish;
use super::swaps;
use vaglio_core::{Action, Answer, Feature, Outline, Path, PathEntry, Result, Score, SearchContext, Step, StopReason};

/// The walk so far.
pub(super) struct Walk<'f> {
    pub frame: &'f Frame,
    /// The score of the empty subset.
    pub empty: Score,
    pub steps: Vec<Step>,
    pub entries: Vec<PathEntry>,
    /// Whether each unit is in the current subset.
    pub inside: Vec<bool>,
    pub size: usize,
}

impl<'f> Walk<'f> {
    /// Starts at the empty subset.
    pub fn new(frame: &'f Frame, context: &mut SearchContext<'_>, outline: &Outline) -> Result<Self> {
        context.begin(outline.steps);
        let empty = context.subset.score()?;
        let inside = vec![false; frame.units.len()];
        Ok(Walk { frame, empty, steps: Vec::new(), entries: Vec::new(), inside, size: 0 })
    }

    /// Goes to the subset of all units, without a step.
    pub fn fill(&mut self, context: &mut SearchContext<'_>) -> Result<Score> {
        let mut all: Vec<Feature> = self.frame.units.iter().flatten().copied().collect();
        all.sort_unstable();
        context.subset.reset(&all)?;
        self.inside.fill(true);
        self.size = all.len();
        let score = context.subset.score()?;
        self.record(context, score)?;
        Ok(score)
    }

    /// Adds the forced units; the reason if the observer stops it.
    pub fn enter_forced(&mut self, context: &mut SearchContext<'_>) -> Result<Option<StopReason>> {
        for &unit in &self.frame.forced {
            let score = self.frame.addition(&mut context.subset, unit)?;
            if let Answer::Stop(reason) = self.add(context, Move { unit, score, tied: Vec::new() })? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// The units outside.
    pub fn outside(&self) -> Vec<usize> {
        (0..self.inside.len()).filter(|&unit| !self.inside[unit]).collect()
    }

    /// The best unit to add that keeps to `max_features`, or why there is none.
    pub fn best_addition(&self, context: &mut SearchContext<'_>) -> Result<std::result::Result<Move, StopReason>> {
        if self.size >= self.frame.most {
            return Ok(Err(StopReason::MaxFeatures));
        }
        let room = self.frame.most - self.size;
        let outside = self.outside();
        let fitting: Vec<usize> = outside.iter().copied().filter(|&u| self.frame.units[u].len() <= room).collect();
        if fitting.is_empty() {
            return Ok(Err(if outside.is_empty() { StopReason::NoCandidates } else { StopReason::MaxFeatures }));
        }
        Ok(self.frame.best_addition(&mut context.subset, &fitting)?.ok_or(StopReason::NoCandidates))
    }

    /// The units that can leave with at least `least` columns left; forced ones cannot.
    pub fn removable(&self, least: usize) -> Vec<usize> {
        let can = |unit: &usize| self.frame.units[*unit].len() + least <= self.size;
        (0..self.inside.len())
            .filter(|unit| self.inside[*unit] && !self.frame.forced.contains(unit))
            .filter(can)
            .collect()
    }

    /// The best unit to remove among these.
    pub fn best_removal(&self, context: &mut SearchContext<'_>, removable: &[usize]) -> Result<Option<Move>> {
        let design = context.design();
        self.frame.best_removal(&mut context.subset, design, removable)
    }

    /// Adds a unit, records the subset and asks the observer.
    pub fn add(&mut self, context: &mut SearchContext<'_>, chosen: Move) -> Result<Answer> {
        let frame = self.frame;
        frame.units[chosen.unit].iter().try_for_each(|&feature| context.subset.add(feature))?;
        self.inside[chosen.unit] = true;
        self.took(context, Action::Add, &frame.units[chosen.unit], chosen.score, chosen.tied)
    }

    /// Removes a unit, records the subset and asks the observer.
    pub fn remove(&mut self, context: &mut SearchContext<'_>, chosen: Move) -> Result<Answer> {
        let frame = self.frame;
        frame.units[chosen.unit].iter().try_for_each(|&feature| context.subset.remove(feature))?;
        self.inside[chosen.unit] = false;
        self.took(context, Action::Remove, &frame.units[chosen.unit], chosen.score, chosen.tied)
    }

    /// Writes down that columns, in increasing order, have moved.
    pub fn took(
        &mut self,
        context: &mut SearchContext<'_>,
        action: Action,
        columns: &[Feature],
        score: Score,
        tied: Vec<Feature>,
    ) -> Result<Answer> {
        let Some((&feature, with)) = columns.split_first() else { return Ok(Answer::Continue) };
        self.made(context, Step { action, feature, with: with.to_vec(), score, size: 0, tied, knot: None })
    }

    /// Writes down a step that the evaluator has made; its size is filled in.
    pub fn made(&mut self, context: &mut SearchContext<'_>, mut step: Step) -> Result<Answer> {
        self.size = context.subset.selected().len();
        step.size = self.size;
        self.record(context, step.score)?;
        let answer = context.observe(&step);
        self.steps.push(step);
        Ok(answer)
    }

    /// Keeps the current subset if it is the best seen of its size.
    fn record(&mut self, context: &mut SearchContext<'_>, score: Score) -> Result<()> {
        if self.size == 0 {
            return Ok(());
        }
        let place = self.entries.binary_search_by_key(&self.size, |entry| entry.subset.len());
        if place.is_ok_and(|at| self.entries[at].score.loss <= score.loss) {
            return Ok(());
        }
        let subset = context.subset.selected().to_vec();
        let entry = PathEntry { subset, score, standard_error: context.subset.standard_error()? };
        match place {
            Ok(at) => self.entries[at] = entry,
            Err(at) => self.entries.insert(at, entry),
        }
        Ok(())
    }

    /// Chooses the result, and polishes it when asked to and nobody has stopped the search.
    pub fn finish(mut self, context: &mut SearchContext<'_>, mut stop_reason: StopReason) -> Result<Path> {
        let allowed = self.entries.partition_point(|entry| entry.subset.len() <= self.frame.most);
        let last = self.entries.partition_point(|entry| entry.subset.len() < self.size);
        let least = self.frame.least.unwrap_or(0).max(self.frame.forced_columns());
        let chosen = self.frame.choose.pick(&self.entries[..allowed], last, least);
        let size = chosen.map(|entry| self.entries[entry].subset.len());
        if let (Some(entry), Polish::Swaps, false) = (chosen, self.frame.polish, stop_reason.is_partial())
            && let Some(reason) = swaps::polish(&mut self, context, entry)?
        {
            stop_reason = reason;
        }
        // An exchange can pass through a size that had no entry.
        let chosen = size.and_then(|size| self.entries.iter().position(|entry| entry.subset.len() == size));
        let Walk { empty, steps, entries, .. } = self;
        Ok(Path { empty, steps, entries, chosen, stop_reason, certificate: None })
    }
}

/// Counts the steps in a row that do not lower the score enough.
pub(super) struct Failures {
    tolerance: Option<f64>,
    patience: Option<usize>,
    count: usize,
}

impl Failures {
    pub fn new(frame: &Frame) -> Self {
        Failures { tolerance: frame.tolerance, patience: frame.patience, count: 0 }
    }

    /// Why to stop before a step with this drop of the score, if it is to be counted and is one too many.
    pub fn stop(&mut self, drop: f64, counted: bool) -> Option<StopReason> {
        let stops = self.tolerance.is_some() || self.patience.is_some();
        let reached = self.tolerance.map_or(drop > 0.0, |tolerance| drop >= tolerance);
        if !stops || reached || !counted {
            self.count = 0;
            return None;
        }
        self.count += 1;
        let reason = if self.patience.is_some() { StopReason::Patience } else { StopReason::Tolerance };
        (self.count > self.patience.unwrap_or(0)).then_some(reason)
    }
}
