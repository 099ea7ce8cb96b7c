//! Laws of refitted learners: data that must not influence a model.

use super::LearnerLaws;
use super::fits::same_predictions;
use crate::law_violation::{attempt, law, no_panic, on_few_rows};
use crate::{LawResult, design_copies};
use vaglio_core::{Error, Feature};

impl LearnerLaws<'_> {
    /// A refitted learner ignores the columns outside its subset, whether their values change or they are absent.
    ///
    /// A readout may be of features that mix all columns, and passes.
    pub fn outside_unseen(self) -> LawResult {
        law("outside_unseen", || {
            if !matches!(self.learner.readout(), Ok(None)) {
                return Ok(());
            }
            let (model, subset) = self.fit()?;
            let expected = self.predict(&model)?;
            let on = format_args!("other values in the columns outside of subset {subset:?}");
            let changed = attempt(on, || design_copies::with_others_changed(self.problem, &subset))?;
            let other = attempt(on, || self.learner.fit(&changed, &subset, None))?;
            same_predictions(on, self.tolerance, &expected, &self.with_problem(&changed).predict(&other)?)?;
            let mut kept = subset.clone();
            kept.sort_unstable();
            let on = format_args!("no columns outside of subset {subset:?}");
            let alone = attempt(on, || self.problem.select_columns(&kept))?;
            let place = |feature: &Feature| kept.partition_point(|other| other < feature);
            let other = attempt(on, || self.learner.fit(&alone, &subset.iter().map(place).collect::<Vec<_>>(), None))?;
            same_predictions(on, self.tolerance, &expected, &self.with_problem(&alone).predict(&other)?)
        })
    }

    /// Column names do not change a model. A learner passes if its settings name columns and it rejects other names.
    pub fn names_unseen(self) -> LawResult {
        law("names_unseen", || {
            let on = "the columns under other names";
            let renamed = attempt(on, || design_copies::with_other_names(self.problem))?;
            let refused = no_panic(on, || self.learner.check(&renamed))?;
            if matches!(refused, Err(Error::Setting { .. } | Error::UnknownName { .. })) {
                return Ok(());
            }
            self.same_fits(on, self.problem, &renamed)
        })
    }

    /// Group numbers do not change a model if their order is kept: they only say which rows belong together. The
    /// grouping itself may play a part in training.
    pub fn group_numbers_unseen(self) -> LawResult {
        law("group_numbers_unseen", || {
            let Some(groups) = self.problem.groups() else { return Ok(()) };
            let on = "the groups under other numbers";
            let renumbered = groups.iter().map(|group| 3 * group + 2).collect();
            let other = attempt(on, || self.problem.clone().with_groups(renumbered))?;
            self.same_fits(on, self.problem, &other)
        })
    }

    /// On one to four rows of a problem, a learner trains a working model or fails, but never panics.
    pub fn few_rows(self) -> LawResult {
        on_few_rows(self.problem.rows(), |rows| {
            let few = self.problem.select_rows(rows);
            self.learner.check(&few)?;
            let design = self.with_problem(&few).design()?;
            let features = design.map_or(few.columns().len(), |design| design.features());
            let model = self.learner.fit(&few, &(0..features.min(3)).collect::<Vec<_>>(), None)?;
            let inputs = self.problem.columns().select(model.inputs());
            model.predict(&inputs, self.problem.series()).map(drop)
        })
    }
}
