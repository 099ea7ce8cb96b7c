//! The law of settings that searches share.

use super::named_columns::named_columns;
use super::recorded_run::{SearchLaws, run};
use crate::LawResult;
use crate::law_violation::{equals, law, must, no_panic, unless};
use crate::replay::{moved_features, replay};
use std::collections::BTreeMap;
use vaglio_core::StopReason::{NoImprovement, Patience, Tolerance};
use vaglio_core::{Action, Feature};
use vaglio_search::{Blocks, Choose, FeatureRef, Path, Polish, Search, Silent, Step};

impl SearchLaws<'_> {
    /// A search obeys each shared setting that it has, tested one by one.
    ///
    /// * `forced` columns are in every entry, `excluded` ones in none.
    /// * Sizes lie between `min_features` and `max_features`, and `blocks` are whole.
    /// * A `tolerance` that no step reaches ends the search after `patience` + 1 steps.
    /// * The result is the one that `choose` names, also in [`Search::size_choice`].
    ///
    /// A search passes if it lacks a setting or rejects it, in [`Search::check`] or [`Search::check_settings`].
    pub fn settings(&self) -> LawResult {
        law("settings", || {
            let design = self.design;
            let all = design.candidates().len();
            must(all >= 3, "the design", "three columns that are not constant", all)?;
            let (named, mut columns) = (named_columns(self.search, design), design.candidates());
            columns.retain(|feature| !named.contains(feature));
            let trial = SettingsTrial { full: self, all, columns };
            if trial.columns.len() >= 3 {
                trial.forced()?;
                trial.excluded()?;
                trial.blocks()?;
            }
            trial.sizes()?;
            trial.tolerance()?;
            trial.choose()
        })
    }
}

/// A search whose settings are changed one by one.
struct SettingsTrial<'a> {
    /// The search with its own settings.
    full: &'a SearchLaws<'a>,
    /// Number of non-constant columns.
    all: usize,
    /// Non-constant columns that the search's own settings do not name.
    columns: Vec<Feature>,
}

/// A search with changed settings, and its path.
struct WithSettings {
    settings: String,
    search: Search,
    path: Path,
}

impl WithSettings {
    /// Returns the subset size after the last step.
    fn last_size(&self) -> usize {
        let largest = self.path.entries.last().map_or(0, |entry| entry.subset.len());
        self.path.steps.last().map_or(largest, |step| step.size)
    }
}

impl SettingsTrial<'_> {
    /// Runs the search with other values of some settings; `None` if it lacks one of them or rejects the values.
    fn run_with(&self, changed: &[&str], change: impl FnOnce(Search) -> Search) -> LawResult<Option<WithSettings>> {
        let &SearchLaws { search, criterion, design, .. } = self.full;
        if !changed.iter().all(|name| search.shared_settings().contains(name)) {
            return Ok(None);
        }
        let search = change(search.clone()).polish(Polish::None);
        let values = serde_json::to_value(&search).unwrap_or_default();
        let settings: Vec<String> = changed.iter().map(|name| format!("`{name}: {}`", values[*name])).collect();
        let settings = settings.join(" and ");
        let checks = || search.check_settings().and_then(|()| search.check(criterion, design));
        if no_panic(&settings, checks)?.is_err() {
            return Ok(None);
        }
        let path = run(&search, criterion, design, &mut Silent);
        Ok(Some(WithSettings { path: path.map_err(|broken| broken.within(&settings))?, settings, search }))
    }

    /// Fails at a subset of a step or an entry for which `holds` is false.
    fn each_subset(&self, taken: &WithSettings, expected: &str, holds: impl Fn(&[Feature]) -> bool) -> LawResult {
        let visits = replay(self.full.design, &taken.path)?.into_iter().map(|visit| visit.subset);
        for subset in visits.chain(taken.path.entries.iter().map(|entry| entry.subset.clone())) {
            let on = format_args!("{}, subset {subset:?}", taken.settings);
            must(holds(&subset), on, expected, &subset)?;
        }
        Ok(())
    }

    fn name(&self, place: usize) -> &str {
        &self.full.design.problem().names()[self.columns[place]]
    }

    fn forced(&self) -> LawResult {
        let places = [self.columns.len() - 1, 1];
        let names = places.map(|place| self.name(place));
        let Some(taken) = self.run_with(&["forced"], |search| search.forced(names))? else { return Ok(()) };
        let forced = places.map(|place| self.columns[place]);
        // Forced columns enter one by one, so initial subsets may have some of them only.
        self.each_subset(&taken, &format!("columns {forced:?}"), |subset| {
            forced.iter().all(|f| subset.contains(f)) || subset.iter().all(|f| forced.contains(f))
        })?;
        let least = *taken.path.allowed.start();
        must(least >= 2, &taken.settings, "results of at least 2 columns", &taken.path.allowed)
    }

    fn excluded(&self) -> LawResult {
        let places = [0, 2];
        let names = places.map(|place| self.name(place));
        let Some(taken) = self.run_with(&["excluded"], |search| search.excluded(names))? else { return Ok(()) };
        let excluded = places.map(|place| self.columns[place]);
        self.each_subset(&taken, &format!("none of columns {excluded:?}"), |subset| {
            excluded.iter().all(|f| !subset.contains(f))
        })
    }

    fn blocks(&self) -> LawResult {
        let block = [0, 1].map(|place| FeatureRef::from(self.name(place))).to_vec();
        let blocks = Blocks::Named(BTreeMap::from([("pair".into(), block)]));
        let Some(taken) = self.run_with(&["blocks"], |search| search.blocks(blocks))? else { return Ok(()) };
        let pair = [self.columns[0], self.columns[1]];
        self.each_subset(&taken, &format!("both of columns {pair:?}, or none"), |subset| {
            subset.contains(&pair[0]) == subset.contains(&pair[1])
        })
    }

    fn sizes(&self) -> LawResult {
        // The search's own settings may allow fewer than 3 columns.
        let own = &self.full.path.allowed;
        let endless = |search: Search| search.min_features(3).tolerance(self.beyond()).patience(None::<usize>);
        for taken in [
            self.run_with(&["min_features"], |search| search.min_features(3))?,
            self.run_with(&["min_features", "tolerance", "patience"], endless)?,
        ] {
            let Some(taken) = taken.filter(|_| *own.end() >= 3) else { continue };
            self.result_within(&taken, 3..=usize::MAX)?;
            let ended = taken.path.stop_reason;
            let short = taken.last_size() < 3 && matches!(ended, NoImprovement | Patience | Tolerance);
            unless(!short, &taken.settings, "no stop below 3 columns", ended.sentence())?;
        }
        let taken = self.run_with(&["max_features"], |search| search.max_features(2))?;
        let Some(taken) = taken.filter(|_| *own.start() <= 2) else { return Ok(()) };
        self.result_within(&taken, 0..=2)?;
        if taken.path.steps.first().is_some_and(|step| step.action == Action::Add) {
            let largest = taken.path.steps.iter().map(|step| step.size).max().unwrap_or(0);
            must(largest <= 2, &taken.settings, "steps to at most 2 columns", largest)?;
        }
        Ok(())
    }

    /// Fails if the result, or an allowed size, is outside a range.
    fn result_within(&self, taken: &WithSettings, sizes: std::ops::RangeInclusive<usize>) -> LawResult {
        let WithSettings { settings: on, path, .. } = taken;
        let all = self.all;
        let allowed = [*path.allowed.start().min(&all), *path.allowed.end().min(&all)];
        let is_within = allowed.iter().all(|size| sizes.contains(size));
        must(is_within, on, "the sizes that the settings allow in `allowed`", &path.allowed)?;
        let size = path.chosen.map(|chosen| path.entries[chosen].subset.len());
        must(size.is_none_or(|size| sizes.contains(&size)), on, "a result of such a size", size)?;
        let fits = path.entries.iter().find(|e| path.allowed.contains(&e.subset.len()) && e.score.loss < f64::INFINITY);
        let none = path.allowed.contains(&0) && self.full.criterion.traits().compares_with_empty;
        let missing = size.is_none() && fits.is_some() && !none;
        must(!missing, on, "a result, since an entry has such a size", size)
    }

    /// Returns a score improvement that no step reaches.
    fn beyond(&self) -> f64 {
        let path = &self.full.path;
        let scores = path.steps.iter().map(|step| step.score.loss).chain([path.empty.loss]);
        let largest = scores.filter(|loss| loss.is_finite()).fold(1.0, |largest: f64, loss| largest.max(loss.abs()));
        1e3 * largest
    }

    fn tolerance(&self) -> LawResult {
        let beyond = self.beyond();
        for (patience, steps) in [(None, 1), (Some(1usize), 2)] {
            let change = |search: Search| search.tolerance(beyond).patience(patience);
            let Some(taken) = self.run_with(&["tolerance", "patience"], change)? else { continue };
            let WithSettings { settings, path, .. } = &taken;
            let Some(first) = path.steps.first() else { continue };
            // If the empty subset is not comparable, the first steps have no baseline to improve on.
            let free = if self.full.criterion.traits().compares_with_empty { 0 } else { first.size };
            let begun = if first.action == Action::Add { free.max(*path.allowed.start()) } else { 0 };
            let removes_below = |step: &&Step| {
                step.action == Action::Remove && step.size + moved_features(step).count() <= *path.allowed.end()
            };
            let gone = match first.action {
                Action::Add => path.steps.iter().map(|step| step.size).max().unwrap_or(0),
                // Removals go on while the subset is larger than the result may be.
                Action::Remove => path.steps.iter().filter(removes_below).count(),
            };
            let expected = format!("to end within {steps} steps, none of which lowers the score by as much");
            must(gone <= begun + steps, settings, expected, gone)?;
        }
        Ok(())
    }

    fn choose(&self) -> LawResult {
        for choose in [Choose::Best, Choose::Last, Choose::Size(2)] {
            let Some(taken) = self.run_with(&["choose"], |search| search.choose(choose.clone()))? else { continue };
            let WithSettings { settings, path, search } = &taken;
            equals(format_args!("{settings}, in `Search::size_choice`"), &choose, &search.size_choice())?;
            let last = path.entries.partition_point(|entry| entry.subset.len() < taken.last_size());
            let expected = choose.pick(&path.entries, last, &path.allowed);
            let expected = expected.filter(|entry| path.entries[*entry].score.loss < f64::INFINITY);
            let none =
                choose == Choose::Best && path.allowed.contains(&0) && self.full.criterion.traits().compares_with_empty;
            if path.chosen.is_none() && none {
                continue;
            }
            let subset = |entry: Option<usize>| entry.and_then(|entry| path.entries.get(entry)).map(|e| &e.subset);
            equals(settings, &subset(expected), &subset(path.chosen))?;
        }
        Ok(())
    }
}
