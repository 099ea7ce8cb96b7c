//! Forward selection with its own shared settings, without `vaglio-search`, and possible faults.

use super::Said::Found;
use super::{Planted, criteria};
use crate::common::TOLERANCE;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::BTreeMap;
use vaglio_core::{
    Action, Answer, Criterion, Design, Error, Feature, Path, PathEntry, Result, Score, SearchExtent, Step, StopReason,
    saved,
};
use vaglio_search::{
    Blocks, Choose, FeatureRef, Search, SearchContext, SearchSettings, SearchStrategy, Space, StrategyTraits,
};
use vaglio_testkit::{LawViolation, check_search, check_search_on_standard_data, data};

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub enum Fault {
    #[default]
    None,
    RandomStep,
    TiesUntold,
    EntriesReversed,
    ErrorsLarger,
    EmptyScore,
    StopReason,
    LambdaLost,
    OneTooMany,
    Excluded,
    MinFeatures,
    Tolerance,
    ChooseBest,
    Blocks,
    Forced,
    /// No fault: the search never accepts a worse subset.
    Descends,
}

pub fn planted() -> Vec<Planted> {
    use Fault as F;
    let all = [
        ("a random step", F::RandomStep, "deterministic"),
        ("ties that are not told", F::TiesUntold, "ties"),
        ("entries in reverse", F::EntriesReversed, "entries"),
        ("standard errors times 1.5", F::ErrorsLarger, "entries"),
        ("a wrong score of the empty subset", F::EmptyScore, "steps"),
        ("a wrong stop reason", F::StopReason, "stops"),
        ("a lambda that is lost", F::LambdaLost, "steps"),
        ("one column too many", F::OneTooMany, "settings"),
        ("`excluded` ignored", F::Excluded, "settings"),
        ("`min_features` ignored", F::MinFeatures, "settings"),
        ("`tolerance` ignored", F::Tolerance, "settings"),
        ("`choose: best` ignored", F::ChooseBest, "settings"),
        ("`blocks` ignored", F::Blocks, "settings"),
        ("`forced` ignored", F::Forced, "settings"),
    ];
    all.into_iter().map(|(name, fault, law)| (name, Found(law), tried(fault))).collect()
}

pub fn sound() -> Vec<(&'static str, std::result::Result<(), LawViolation>)> {
    let search = Search::new(Steps::default());
    vec![("a search", check_search_on_standard_data(&search, &criteria::from_rows(), TOLERANCE))]
}

fn design() -> Design {
    data::regression(14, 6, 3).weighted().duplicates(1).constants(1).design(&[0.3], true)
}

fn tried(fault: Fault) -> std::result::Result<(), LawViolation> {
    check_search(&Search::new(Steps { fault }), &criteria::from_rows(), &design(), TOLERANCE)
}

/// Settings that name columns, by name and by index, do not exempt a search from the laws.
#[test]
fn a_sound_search_with_settings_of_columns_keeps_every_law() {
    let by_name = |names: &[&str]| names.iter().map(|name| FeatureRef::from(*name)).collect::<Vec<_>>();
    let blocks = Blocks::Named(BTreeMap::from([("pair".to_owned(), by_name(&["x0", "x3"]))]));
    let steps = || Search::new(Steps::default());
    for search in [
        steps().forced(by_name(&["x2", "x1"])),
        steps().forced([FeatureRef::Index(2)]),
        steps().excluded(by_name(&["x0", "x1"])),
        steps().excluded([FeatureRef::Index(0)]),
        steps().min_features(3).max_features(4),
        steps().blocks(blocks),
    ] {
        let outcome = check_search(&search, &criteria::from_rows(), &design(), TOLERANCE);
        crate::common::holds(outcome.map_err(|broken| broken.within(&format!("{search:?}"))));
    }
}

/// If the criterion cannot compare the empty subset and scores it lowest, a descending search stays there.
#[test]
fn a_search_that_rightly_stays_at_the_empty_subset_keeps_every_law() {
    #[saved(Criterion, "outside_redundancy")]
    struct Redundancy {}

    impl Criterion for Redundancy {
        fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
            let inner = criteria::from_rows().evaluate(design, subset)?;
            Ok(if subset.is_empty() { Score { loss: 0.0, ..inner } } else { Score { loss: 1.0 + inner.loss, ..inner } })
        }

        fn folds(&self, design: &Design) -> Result<vaglio_core::HeldOut> {
            criteria::from_rows().folds(design)
        }
    }
    let search = Search::new(Steps { fault: Fault::Descends });
    crate::common::holds(check_search(&search, &Redundancy {}, &design(), TOLERANCE));
    // The fault is also found under the other criterion.
    let wrong = Search::new(Steps { fault: Fault::EmptyScore }).tolerance(0.0);
    assert_eq!(crate::common::broken_law(check_search(&wrong, &Redundancy {}, &design(), TOLERANCE)), "steps");
}

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

#[saved(SearchStrategy, "outside_steps")]
#[derive(Default)]
#[serde(default)]
struct Steps {
    fault: Fault,
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
                all.iter().map(|one| one.resolve(design.names(), field)).collect::<Result<_>>()?;
            match found.iter().find(|f| field == "forced" && design.constant().contains(f)) {
                Some(feature) => Err(Error::setting(field, format!("`{}` is constant", design.names()[*feature]))),
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
            let own = block.map_or_else(
                || vec![feature],
                |block| {
                    let mut own: Vec<Feature> =
                        block.iter().copied().filter(|f| design.candidates().contains(f)).collect();
                    own.sort_unstable();
                    own
                },
            );
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
    fn allows(
        &self,
        settings: &SearchSettings,
        drop: f64,
        misses: &mut usize,
        counts: bool,
    ) -> std::result::Result<(), StopReason> {
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
        let Some((&first, others)) = equal.split_first() else { return Ok(None) };
        Ok(Some((first, scores[first], others.iter().map(|&k| groups[k][0]).collect())))
    }
}

impl SearchStrategy for Steps {
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let rules = self.rules(&space.settings, space.design)?;
        let all = rules.groups.iter().map(Vec::len).sum();
        Ok(SearchExtent::forward(all, rules.most))
    }

    fn traits(&self) -> StrategyTraits<'_> {
        let settings =
            &["max_features", "min_features", "tolerance", "patience", "forced", "excluded", "choose", "blocks"];
        StrategyTraits { settings, ..StrategyTraits::default() }
    }

    fn run(&self, space: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        let (settings, rules) = (&space.settings, self.rules(&space.settings, space.design)?);
        let empty = context.subset.score()?;
        let mut path = Path::stopped(empty, StopReason::NoCandidates);
        path.allowed = rules.least..=rules.most;
        let (mut inside, mut misses, mut lowest) = (Vec::new(), 0, empty.loss);
        loop {
            let size = context.subset.selected().len();
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
            if let Answer::Stop(reason) = self.taken(context, groups[place], score, tied, &mut path)? {
                path.stop_reason = if self.fault == Fault::StopReason { StopReason::Limit } else { reason };
                break;
            }
        }
        self.finish(settings, &mut path, empty, context.criterion());
        Ok(path)
    }
}

impl Steps {
    /// Records a step and reports it.
    fn taken(
        &self,
        context: &mut SearchContext<'_>,
        group: &[Feature],
        mut score: Score,
        tied: Vec<Feature>,
        path: &mut Path,
    ) -> Result<Answer> {
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
        step.tied = if self.fault == Fault::TiesUntold { Vec::new() } else { tied };
        let answer = context.observe(&step);
        path.steps.push(step);
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
        match self.fault {
            Fault::EntriesReversed => path.entries.reverse(),
            Fault::EmptyScore => path.empty.loss += 1e-3,
            _ => {}
        }
    }
}
