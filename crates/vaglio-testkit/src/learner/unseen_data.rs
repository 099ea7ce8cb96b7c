//! Laws of refitted learners: data that must not influence a model.

use super::fits::{alike, fitted, predicted};
use crate::law_violation::Law;
use crate::{LawResult, design_copies};
use vaglio_core::{Error, Feature, Form, Learner, Problem};

/// A refitted learner ignores the columns outside its subset, whether their values change or they are absent.
///
/// A linear form may mix all columns into its features, and passes.
pub fn outside_unseen(learner: &dyn Learner, problem: &Problem, tolerance: f64) -> LawResult {
    let law = Law("outside_unseen");
    if matches!(learner.form(), Form::Linear(_)) {
        return Ok(());
    }
    let (model, subset) = fitted(law, learner, problem)?;
    let expected = predicted(law, &model, problem)?;
    let on = format_args!("other values in the columns outside of subset {subset:?}");
    let changed = law.ran(on, || design_copies::with_others_changed(problem, &subset, false))?;
    let other = law.ran(on, || learner.fit(&changed, &subset, None))?;
    alike(law, on, tolerance, &expected, &predicted(law, &other, &changed)?)?;
    let mut kept = subset.clone();
    kept.sort_unstable();
    let on = format_args!("no columns outside of subset {subset:?}");
    let alone = law.ran(on, || problem.select_columns(&kept))?;
    let place = |feature: &Feature| kept.partition_point(|other| other < feature);
    let other = law.ran(on, || learner.fit(&alone, &subset.iter().map(place).collect::<Vec<_>>(), None))?;
    alike(law, on, tolerance, &expected, &predicted(law, &other, &alone)?)
}

/// Column names do not change a model. A learner passes if its settings name columns and it rejects other names.
pub fn names_unseen(learner: &dyn Learner, problem: &Problem, tolerance: f64) -> LawResult {
    let law = Law("names_unseen");
    let on = "the columns under other names";
    let renamed = law.ran(on, || design_copies::with_others_changed(problem, &[], true))?;
    let refused = law.calm(on, || learner.check(&renamed))?;
    if matches!(refused, Err(Error::Setting { .. } | Error::UnknownName { .. })) {
        return Ok(());
    }
    let (model, _) = fitted(law, learner, problem)?;
    let (other, _) = fitted(law, learner, &renamed)?;
    alike(law, on, tolerance, &predicted(law, &model, problem)?, &predicted(law, &other, &renamed)?)
}

/// Group numbers do not change a model if their order is kept: they only say which rows belong together. The grouping
/// itself may play a part in training.
pub fn group_numbers_unseen(learner: &dyn Learner, problem: &Problem, tolerance: f64) -> LawResult {
    let law = Law("group_numbers_unseen");
    let Some(groups) = problem.groups() else { return Ok(()) };
    let on = "the groups under other numbers";
    let renumbered = groups.iter().map(|group| 3 * group + 2).collect();
    let other = law.ran(on, || problem.clone().with_groups(renumbered))?;
    let (first, second) = (fitted(law, learner, problem)?.0, fitted(law, learner, &other)?.0);
    alike(law, on, tolerance, &predicted(law, &first, problem)?, &predicted(law, &second, problem)?)
}

/// On the first one to four rows of a problem, a learner trains a working model or fails, but never panics.
pub fn few_rows(learner: &dyn Learner, problem: &Problem) -> LawResult {
    Law("few_rows").few_rows(problem.rows(), |rows| {
        let few = problem.select_rows(rows);
        learner.check(&few)?;
        let features = match learner.form() {
            Form::Linear(form) => form.design(&few)?.features(),
            Form::Refit(_) => few.columns().len(),
        };
        let model = learner.fit(&few, &(0..features.min(3)).collect::<Vec<_>>(), None)?;
        let inputs = problem.columns().select(model.inputs());
        model.predict(&inputs, problem.series()).map(drop)
    })
}
