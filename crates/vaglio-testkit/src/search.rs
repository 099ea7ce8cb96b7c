//! Laws of a search: its path matches its steps, and its steps match the criterion.
//!
//! A search may have settings that force, exclude or join columns, by the names or indices of the design. The design
//! needs a ridge readout, at least three non-constant columns, and at least two steps of the search. A search without
//! steps, such as one of all subsets, is tested by its entries. It must emit
//! [`Event::Visited`](vaglio_search::Event::Visited) before each part of its work.

use crate::law_violation::{attempt, in_pool, law, must, on_each, on_few_rows};
use crate::replay::replay;
use crate::trial::Subject;
use crate::{LawResult, LawViolation, data, design_copies};
pub use recorded_run::SearchLaws;
use recorded_run::{RecordingObserver, SEED, run, same_path};
use vaglio_core::{Criterion, Design, StopReason};
use vaglio_search::{Path, Search, SearchContext, Silent, SubsetScorer};

mod constants;
mod constraints;
mod empty_results;
mod named_columns;
mod recorded_run;
mod shared_settings;
mod ties;

/// Checks all laws of a search with a criterion on a design.
///
/// A criterion that cannot [compare](vaglio_core::CriterionTraits::compares_with_empty) the empty subset with others
/// may score it below every single column. The search then rightly ends at once, and squared leave-one-out replaces the
/// criterion.
///
/// # Errors
/// Fails with every violated law.
pub fn check_search(search: &Search, criterion: &dyn Criterion, design: &Design, tolerance: f64) -> LawResult {
    let is_replaced = empty_results::needs_leave_one_out(search, criterion, design)?;
    let criterion = if is_replaced { &empty_results::RetrainedLeaveOneOut {} } else { criterion };
    let laws = SearchLaws::new(search, criterion, design)?;
    LawViolation::among([
        laws.steps(tolerance),
        laws.entries(tolerance),
        laws.deterministic(),
        laws.extent(),
        laws.stops(tolerance),
        laws.ties(),
        laws.constants(),
        laws.lacking(),
        laws.no_candidates(),
        laws.constraints(),
        laws.settings(),
        laws.few_rows(),
    ])
}

/// Checks all laws of a search with a criterion on each of [`data::standard_designs`] that both accept. Designs have at
/// most ten columns, so that a search of all subsets can run too.
///
/// # Errors
/// Fails with every violated law, or if no design is accepted.
pub fn check_search_on_standard_data(search: &Search, criterion: &dyn Criterion, tolerance: f64) -> LawResult {
    let designs = data::standard_designs().into_iter().filter(|(_, design)| design.features() <= 10);
    law("check", || {
        on_each(
            designs.collect(),
            |design| criterion.check(design).and_then(|()| search.check(criterion, design)).is_ok(),
            |design| check_search(search, criterion, design, tolerance),
        )
    })
}

impl SearchLaws<'_> {
    /// Steps form a valid walk with the reported sizes and the criterion's scores, and the observer sees exactly these
    /// steps.
    pub fn steps(&self, tolerance: f64) -> LawResult {
        law("steps", || {
            let SearchLaws { design, path, events, .. } = self;
            let subject = Subject::new(self.criterion, design).within(tolerance);
            must(events.seen == path.steps, "the observer", "to see every step", events.seen.len())?;
            subject.is_defined("the empty subset", &[], path.empty)?;
            for (number, visit) in replay(design, path)?.into_iter().enumerate() {
                let Some(score) = visit.score else { continue };
                subject.is_defined(
                    format_args!("step {number}, to subset {:?}", visit.subset),
                    &visit.subset,
                    score,
                )?;
            }
            Ok(())
        })
    }

    /// Entries increase in size, and report the criterion's score and standard error.
    ///
    /// * An entry lists its columns in order of entry.
    /// * No visited subset of an entry's size has a lower score.
    /// * The result is one of the entries. It may be absent if the empty subset is allowed, comparable, and no worse
    ///   than the entries.
    pub fn entries(&self, tolerance: f64) -> LawResult {
        law("entries", || {
            let SearchLaws { criterion, design, path, .. } = self;
            let lowest = path.entries.iter().map(|entry| entry.score.loss).fold(f64::INFINITY, f64::min);
            // An entry that is better by rounding only may lose to the empty subset.
            let gained = path.empty.loss - lowest > tolerance.max(1e-6) * path.empty.loss.abs();
            let none = criterion.traits().compares_with_empty && path.allowed.contains(&0) && !gained;
            must(path.chosen.is_some() || none, "the whole path", "a result", path.chosen)?;
            sound(Subject::new(*criterion, design).within(tolerance), path)
        })
    }

    /// Equal searches on equal designs take equal paths, bit for bit.
    pub fn deterministic(&self) -> LawResult {
        law("deterministic", || same_path("a second run", &self.path_on(self.design)?, &self.path_on(self.design)?))
    }

    /// One and three threads take the path of the current number of threads, bit for bit.
    pub fn threads(&self) -> LawResult {
        law("threads", || {
            for count in [1, 3] {
                let path = in_pool(count, || self.path_on(self.design))?;
                same_path(&format!("{count} threads"), &self.path, &path)?;
            }
            Ok(())
        })
    }

    /// The extent and the step count announced to the observer are upper bounds.
    pub fn extent(&self) -> LawResult {
        law("extent", || {
            let SearchLaws { path, events, .. } = self;
            let extent = attempt("the extent", || self.search.extent(self.design))?;
            let taken = path.steps.len();
            must(extent.steps >= taken, "the extent", format!("at least {taken} steps"), extent)?;
            let promised = events.promised.unwrap_or(taken);
            must(promised >= taken, "the start", format!("at least {taken} steps promised"), promised)?;
            let largest = path.entries.iter().map(|entry| entry.subset.len()).max().unwrap_or(0);
            must(extent.largest >= largest, "the extent", format!("at least {largest} columns"), extent)?;
            let trials = extent.trials.is_finite() && extent.trials >= 0.0;
            must(trials, "the extent", "a number of trials", extent)
        })
    }

    /// An observer that stops the search gets a prefix of the full path, its own stop reason, and valid entries.
    ///
    /// A search without steps stops at a question; its certificate then claims no proof.
    pub fn stops(&self, tolerance: f64) -> LawResult {
        law("stops", || {
            let SearchLaws { search, criterion, design, .. } = self;
            let subject = Subject::new(*criterion, design).within(tolerance);
            let path = self.path_on(design)?;
            let steps = path.steps.len();
            let count = if steps == 0 { self.events.asked } else { steps };
            must(count >= 2, "the whole path", "at least two steps, or questions", count)?;
            for after in [1, count / 2, count - 1] {
                let on = format_args!("a stop after step or question {after} of {count}");
                let mut observer = RecordingObserver { stop_after: Some(after), ..RecordingObserver::default() };
                let part = run(search, *criterion, design, &mut observer)?;
                let taken = if steps == 0 { 0 } else { after };
                must(part.steps.len() == taken, on, format!("{taken} steps"), part.steps.len())?;
                must(part.steps == path.steps[..taken], on, format!("{:?}", &path.steps[..taken]), &part.steps)?;
                must(observer.seen.len() == taken, on, "no step after the stop", observer.seen.len())?;
                must(steps > 0 || observer.asked == after, on, "no question after the stop", observer.asked)?;
                must(part.stop_reason == StopReason::Interrupted, on, "the observer's reason", part.stop_reason)?;
                must(part.stop_reason.is_partial(), on, "a partial path", part.stop_reason)?;
                let is_unproven = part.certificate.as_ref().is_none_or(|certificate| !certificate.optimal);
                must(is_unproven, on, "no proof", &part.certificate)?;
                sound(subject, &part).map_err(|broken| broken.within(&on.to_string()))?;
            }
            Ok(())
        })
    }

    /// On one to four rows of a design, a search returns a path or an error, but never panics.
    pub fn few_rows(&self) -> LawResult {
        let &SearchLaws { search, criterion, design, .. } = self;
        on_few_rows(design.rows(), |rows| {
            let few = design_copies::with_rows(design, rows)?;
            criterion.check(&few)?;
            search.check(criterion, &few)?;
            let subset = SubsetScorer::open(criterion, &few, &search.extent(&few)?)?;
            search.run(&mut SearchContext::new(subset, &mut Silent, SEED)).map(drop)
        })
    }
}

fn sound(subject: Subject<'_>, path: &Path) -> LawResult {
    let Subject { design, near, .. } = subject;
    let visits = replay(design, path)?;
    let sizes: Vec<usize> = path.entries.iter().map(|entry| entry.subset.len()).collect();
    must(sizes.is_sorted_by(|a, b| a < b), "the entries", "increasing sizes", &sizes)?;
    for entry in &path.entries {
        let on = format_args!("the entry {:?}", entry.subset);
        let mut set = entry.subset.clone();
        set.sort_unstable();
        set.dedup();
        must(set.len() == entry.subset.len(), on, "every column once", &entry.subset)?;
        let candidates = design.candidates();
        must(set.iter().all(|f| candidates.contains(f)), on, "columns that are not constant", &entry.subset)?;
        subject.is_defined(on, &entry.subset, entry.score)?;
        if let Some(found) = entry.standard_error {
            let mut reset = subject.reset(&entry.subset)?;
            let expected = attempt(on, || reset.standard_error())?;
            let same = expected.is_some_and(|expected| near.loosely().holds(expected, found));
            let said = expected.map_or("none".into(), |expected| expected.to_string());
            must(same, format_args!("{on}, its standard error"), said, found)?;
        }
        let visits_of_size = || visits.iter().filter(|visit| visit.subset.len() == set.len());
        for visit in visits_of_size() {
            if let Some(score) = visit.score {
                let expected = format!("no worse than the {} of {:?}", score.loss, visit.subset);
                must(entry.score.loss <= score.loss, on, expected, entry.score.loss)?;
            }
        }
        let mut passed = visits_of_size().filter(|visit| set.iter().all(|f| visit.subset.contains(f))).peekable();
        let ordered = passed.peek().is_none() || passed.any(|visit| visit.is_in_order(&entry.subset));
        must(ordered, on, "the order of entry", &entry.subset)?;
    }
    for visit in visits.iter().skip(1).filter(|visit| !visit.subset.is_empty()) {
        let on = format_args!("size {}, which subset {:?} reached", visit.subset.len(), visit.subset);
        must(sizes.contains(&visit.subset.len()), on, "an entry", &sizes)?;
    }
    let chosen = path.chosen.is_none_or(|index| index < path.entries.len());
    must(chosen, "the result", format!("one of {} entries", sizes.len()), path.chosen)
}
