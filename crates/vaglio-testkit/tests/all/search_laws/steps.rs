//! Forward selection with the shared settings, and one fault.

use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::BTreeMap;
use vaglio_core::{Action, Criterion, Design, Error, Feature, Result, Score, SearchExtent, StopReason, saved};
use vaglio_search::{
    Blocks, Choose, FeatureRef, Path, PathEntry, SearchContext, SearchSettings, SearchStrategy, Space, Step,
};

/// The planted fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub enum Fault {
    #[default]
    None,
    StepScore,
    StepSize,
    NanScore,
    LambdaLost,
    EmptyScore,
    AddsTwice,
    Unobserved,
    EntryScore,
    EntryOrder,
    EntrySubset,
    EntryMissing,
    EntriesReversed,
    NotTheBest,
    ErrorsLarger,
    ChosenOutside,
    NothingChosen,
    RandomStep,
    Pool,
    ExtentShort,
    IgnoresStop,
    OwnReason,
    HighestWins,
    TiesUnseen,
    TakesConstants,
    CountsConstants,
    PanicsOnNothing,
    FailsOnNothing,
    PartialOnNothing,
    PanicsOnFewRows,
    OneTooMany,
    Excluded,
    MinFeatures,
    Tolerance,
    ChooseBest,
    Blocks,
    Forced,
    /// No fault: a search may end at any size.
    EndsEarly,
    /// No fault: the search never accepts a worse subset.
    Descends,
}

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

#[saved(SearchStrategy, "steps")]
#[derive(Default)]
#[serde(default)]
pub struct Steps {
    pub fault: Fault,
}

/// Settings applied to a design: blocks of columns, initial columns, and sizes.
struct Rules {
    groups: Vec<Vec<Feature>>,
    forced: Vec<usize>,
    most: usize,
    least: usize,
}

impl Steps {
    fn rules(&self, settings: &SearchSettings, design: &Design) -> Result<Rules> {
        let find = |fault: Fault, all: &[FeatureRef], field: &str| -> Result<Vec<Feature>> {
            let all = if self.fault == fault { &[] } else { all };
            let found: Vec<Feature> =
                all.iter().map(|one| one.resolve(design.problem().names(), field)).collect::<Result<_>>()?;
            match found.iter().find(|f| field == "forced" && design.problem().constant().contains(f)) {
                Some(feature) => {
                    Err(Error::setting(field, format!("`{}` is constant", design.problem().names()[*feature])))
                }
                None => Ok(found),
            }
        };
        let forced = find(Fault::Forced, &settings.forced, "forced")?;
        let excluded = find(Fault::Excluded, &settings.excluded, "excluded")?;
        let mut blocks = Vec::new();
        let named = if let Some(Blocks::Named(named)) = &settings.blocks { Some(named) } else { None };
        for block in named.into_iter().flat_map(BTreeMap::values) {
            blocks.push(find(Fault::Blocks, block, "blocks")?);
        }
        let mut groups: Vec<Vec<Feature>> = Vec::new();
        for feature in design.candidates() {
            let block = blocks.iter().find(|block| block.contains(&feature));
            let mut own = block.cloned().unwrap_or_else(|| vec![feature]);
            own.retain(|f| design.candidates().contains(f));
            own.sort_unstable();
            if own[0] == feature && own.iter().all(|f| !excluded.contains(f)) {
                groups.push(own);
            }
        }
        let group_of = |f: &Feature| groups.iter().position(|group| group.contains(f));
        let mut entering: Vec<usize> = forced.iter().filter_map(group_of).collect();
        entering.dedup();
        let all = groups.iter().map(Vec::len).sum();
        let least = if self.fault == Fault::MinFeatures { 0 } else { settings.min_features.unwrap_or(0).min(all) };
        let held: usize = entering.iter().map(|&group| groups[group].len()).sum();
        let beyond = usize::from(self.fault == Fault::OneTooMany && settings.max_features.is_some());
        let most = settings.max_features.map_or(all, |most| most.min(all)) + beyond;
        Ok(Rules { groups, forced: entering, most, least: least.max(held) })
    }

    /// Decides whether a step that lowers the best score by `drop` is accepted.
    fn allows(&self, settings: &SearchSettings, drop: f64, misses: &mut usize, counts: bool) -> Result<(), StopReason> {
        if self.fault == Fault::Descends && drop <= 0.0 {
            return Err(StopReason::NoImprovement);
        }
        let stops = settings.tolerance.is_some() || settings.patience.is_some();
        let reached = settings.tolerance.map_or(drop > 0.0, |tolerance| drop >= tolerance);
        if !stops || reached || !counts || self.fault == Fault::Tolerance {
            *misses = 0;
            return Ok(());
        }
        *misses += 1;
        if *misses > settings.patience.unwrap_or(0) { Err(StopReason::Tolerance) } else { Ok(()) }
    }

    /// Returns the best group to add, with those of equal score.
    fn best(
        &self,
        context: &mut SearchContext<'_>,
        groups: &[&Vec<Feature>],
    ) -> Result<Option<(usize, Score, Vec<Feature>)>> {
        let before = context.subset.selected().to_vec();
        let mut scores = Vec::new();
        for group in groups {
            let score = match group[..] {
                [only] => crate::common::addition(&mut context.subset, only)?,
                _ => {
                    group.iter().try_for_each(|&feature| context.subset.add(feature))?;
                    let score = context.subset.score()?;
                    context.subset.reset(&before)?;
                    score
                }
            };
            scores.push(score);
        }
        let lowest = scores.iter().map(|score| score.loss).fold(f64::INFINITY, f64::min);
        let equal: Vec<usize> =
            (0..scores.len()).filter(|&k| scores[k].loss == lowest && lowest < f64::INFINITY).collect();
        let found = if self.fault == Fault::HighestWins { equal.split_last() } else { equal.split_first() };
        let Some((&first, others)) = found else { return Ok(None) };
        let tied = if self.fault == Fault::HighestWins { &[] } else { others };
        Ok(Some((first, scores[first], tied.iter().map(|&k| groups[k][0]).collect())))
    }
}

impl SearchStrategy for Steps {
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let rules = self.rules(&space.settings, space.design)?;
        let all = rules.groups.iter().map(Vec::len).sum();
        let extent = SearchExtent::forward(all, rules.most);
        let steps = if self.fault == Fault::ExtentShort { 1 } else { extent.steps };
        Ok(SearchExtent { steps, largest: extent.largest + usize::from(self.fault == Fault::TakesConstants), ..extent })
    }

    fn check_settings(&self, shared: &SearchSettings) -> Result<()> {
        shared.refuse(&["polish", "constraints"], "it has neither")
    }

    fn run(&self, space: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        let (settings, rules) = (&space.settings, self.rules(&space.settings, space.design)?);
        assert!(self.fault != Fault::PanicsOnFewRows || space.design.rows() > 4, "an index is out of bounds");
        let empty = context.subset.score()?;
        let mut path = Path::stopped(empty, StopReason::NoCandidates);
        path.allowed = rules.least..=rules.most;
        if rules.groups.is_empty() {
            match self.fault {
                Fault::PanicsOnNothing => panic!("an index is out of bounds"),
                Fault::FailsOnNothing => return Err(Error::setting("max_features", "no candidates")),
                Fault::PartialOnNothing => path.stop_reason = StopReason::Limit,
                _ => {}
            }
        }
        let (mut inside, mut misses, mut lowest) = (Vec::new(), 0, empty.loss);
        loop {
            let size = context.subset.selected().len();
            if self.fault == Fault::EndsEarly && inside.len() + 1 == rules.groups.len() {
                break;
            }
            if self.fault == Fault::TakesConstants && size == 2 {
                let constant = vec![context.subset.design.features() - 1];
                let score = crate::common::addition(&mut context.subset, constant[0])?;
                context.subset.add(constant[0])?;
                self.take_step(context, &constant, score, Vec::new(), &mut path)?;
            }
            let fits = |group: &usize| !inside.contains(group) && size + rules.groups[*group].len() <= rules.most;
            let next = rules.forced.get(inside.len()).copied();
            let open: Vec<usize> = match next {
                Some(next) => vec![next],
                None => (0..rules.groups.len()).filter(fits).collect(),
            };
            let groups: Vec<&Vec<Feature>> = open.iter().map(|&group| &rules.groups[group]).collect();
            let Some((mut place, mut score, mut tied)) = self.best(context, &groups)? else { break };
            if self.fault == Fault::RandomStep && CALLS.replace(CALLS.get() + 1) % 5 == 3 {
                place = groups.len() - 1;
                (_, score, tied) = self.best(context, &groups[place..])?.unwrap_or((0, score, Vec::new()));
            }
            if next.is_none()
                && let Err(reason) = self.allows(settings, lowest - score.loss, &mut misses, size >= rules.least)
            {
                path.stop_reason = reason;
                break;
            }
            lowest = lowest.min(score.loss);
            groups[place].iter().try_for_each(|&feature| context.subset.add(feature))?;
            inside.push(open[place]);
            let answer = self.take_step(context, groups[place], score, tied, &mut path)?;
            if let (Some(reason), true) = (answer, self.fault != Fault::IgnoresStop) {
                path.stop_reason = if self.fault == Fault::OwnReason { StopReason::Limit } else { reason };
                break;
            }
        }
        if self.fault == Fault::NotTheBest && path.steps.len() > 2 {
            let second = path.steps[1].feature;
            context.subset.reset(&[])?;
            path.entries[0] = PathEntry::new(vec![second], crate::common::addition(&mut context.subset, second)?);
        }
        self.finish(settings, &mut path, empty, context.subset.criterion);
        self.spoil(context.subset.design.features(), &mut path);
        Ok(path)
    }
}

impl Steps {
    /// Records a step and reports it.
    fn take_step(
        &self,
        context: &mut SearchContext<'_>,
        group: &[Feature],
        mut score: Score,
        tied: Vec<Feature>,
        path: &mut Path,
    ) -> Result<Option<StopReason>> {
        let mut entry: PathEntry = context.subset.entry(score)?;
        if self.fault == Fault::ErrorsLarger {
            entry.standard_error = entry.standard_error.map(|error| 1.5 * error);
        }
        if self.fault == Fault::LambdaLost {
            score.lambda = None;
        }
        path.entries.push(entry);
        let mut step = Step::new(Action::Add, group[0], score, context.subset.selected().len());
        step.with = group[1..].to_vec();
        step.tied = if self.fault == Fault::TiesUnseen { Vec::new() } else { tied };
        let is_second = path.steps.len() == 1;
        let is_seen = self.fault != Fault::Unobserved || !is_second;
        let answer = if is_seen { context.observe(&step) } else { None };
        let times = if self.fault == Fault::AddsTwice && is_second { 2 } else { 1 };
        path.steps.extend(std::iter::repeat_n(step, times));
        Ok(answer)
    }

    fn finish(&self, settings: &SearchSettings, path: &mut Path, empty: Score, criterion: &dyn Criterion) {
        let drop = settings.tolerance.unwrap_or(0.0);
        let none = criterion.traits().compares_with_empty
            && settings.choose.takes_none(empty, &path.entries, &path.allowed, drop);
        let last = path.entries.len().saturating_sub(1);
        let chosen = settings.choose.pick(&path.entries, last, &path.allowed).filter(|_| !none);
        let is_best_ignored = self.fault == Fault::ChooseBest && settings.choose == Choose::Best;
        path.chosen = if is_best_ignored { chosen.map(|_| last) } else { chosen };
    }

    /// Changes a path that is right.
    fn spoil(&self, columns: usize, path: &mut Path) {
        let (steps, entries) = (&mut path.steps, &mut path.entries);
        match self.fault {
            Fault::StepScore => steps[1].score.loss += 1e-3,
            Fault::StepSize => steps[1].size = 3,
            Fault::NanScore => steps[0].score.loss = f64::NAN,
            Fault::Pool => steps[0].score.loss *= 1.0 + 1e-15 * rayon::current_num_threads() as f64,
            Fault::EmptyScore => path.empty.loss += 1e-3,
            Fault::EntryScore => entries[1].score.loss -= 1e-3,
            Fault::EntryOrder => entries[2].subset.swap(0, 2),
            Fault::EntrySubset => entries[0].subset = vec![entries[1].subset[1]],
            Fault::EntryMissing => drop(entries.remove(1)),
            Fault::EntriesReversed => entries.reverse(),
            Fault::ChosenOutside => path.chosen = Some(entries.len()),
            Fault::NothingChosen => path.chosen = None,
            Fault::CountsConstants => path.allowed = columns - 1..=usize::MAX,
            _ => {}
        }
    }
}
