//! The law of equal columns.

use super::named_columns::named_columns;
use super::recorded_run::SearchLaws;
use crate::law_violation::{attempt, law, must};
use crate::replay::{moved_features, replay};
use crate::trial::Subject;
use crate::{LawResult, data, design_copies};
use vaglio_core::{Action, Feature};
use vaglio_search::Path;

impl SearchLaws<'_> {
    /// Among copies of a column, the lowest index enters first, and its step lists the others as tied.
    ///
    /// Tested on the design with copies of its first two non-constant columns at the end. If the settings name columns,
    /// all other columns are copied. A search must add at least one copied column, unless it starts with a removal or
    /// its settings name columns. Re-entries and blocks are ignored. A search without steps reports no ties; its
    /// entries must not contain a copy without those of lower index.
    pub fn ties(&self) -> LawResult {
        law("ties", || {
            let design = self.design;
            let subject = Subject::new(self.criterion, design);
            subject.trail(3, 0)?;
            let named = named_columns(self.search, design);
            let most = if named.is_empty() { 2 } else { usize::MAX };
            let columns: Vec<Feature> = subject.candidates(Action::Add, &named).into_iter().take(most).collect();
            let all: Vec<Feature> = (0..design.features()).chain(columns.into_iter().rev()).collect();
            let copied = attempt("the design with copies", || design_copies::with_columns(design, &all))?;
            let mut sets = data::duplicates(&copied);
            sets.iter_mut().for_each(|set| set.retain(|f| !named.contains(f)));
            let path = self.path_on(&copied)?;
            let Some(first) = path.steps.first() else { return lowest_copies(&path, &sets) };
            let visits = replay(&copied, &path)?;
            let (mut seen, mut gone) = (0, Vec::new());
            for (step, before) in path.steps.iter().zip(&visits) {
                if step.action == Action::Remove {
                    gone.extend(moved_features(step));
                    continue;
                }
                // Copies of a column that the step adds alone and for the first time.
                let is_alone = step.with.is_empty() && !gone.contains(&step.feature);
                let Some(set) = sets.iter().find(|set| is_alone && set.contains(&step.feature)) else { continue };
                let on = format_args!("the addition of {} to {:?}, of copies {set:?}", step.feature, before.subset);
                let others: Vec<Feature> =
                    set.iter().copied().filter(|f| *f != step.feature && !before.subset.contains(f)).collect();
                must(others.iter().all(|&f| f > step.feature), on, "the lowest index", step.feature)?;
                must(others.iter().all(|f| step.tied.contains(f)), on, format!("{others:?} tied"), &step.tied)?;
                seen += usize::from(!others.is_empty());
            }
            let removes = first.action == Action::Remove;
            let on = "the design with copies";
            must(
                seen > 0 || removes || !named.is_empty(),
                on,
                "the addition of a column that has a free copy",
                &path.steps,
            )
        })
    }
}

fn lowest_copies(path: &Path, sets: &[Vec<Feature>]) -> LawResult {
    for entry in &path.entries {
        for set in sets {
            let held: Vec<bool> = set.iter().map(|copy| entry.subset.contains(copy)).collect();
            let on = format_args!("the entry {:?}, of copies {set:?}", entry.subset);
            must(held.is_sorted_by(|a, b| *a || !b), on, "the lowest indices", &entry.subset)?;
        }
    }
    Ok(())
}
