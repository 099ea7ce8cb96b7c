//! Laws of a learner: weights count rows, coefficients give the predictions, and a model survives saving.

use crate::law_violation::{Law, laws};
use crate::{LawResult, data, design_copies};
use fits::{alike, extent, finite, fitted, predicted};
use ndarray::{Array2, s};
use serde_json::Value;
pub use unseen_data::{few_rows, group_numbers_unseen, names_unseen, outside_unseen};
use vaglio_core::{Error, prelude::*};

mod fits;
mod unseen_data;

/// Checks all laws of a learner on a problem.
///
/// # Errors
/// Fails with every violated law.
pub fn check_learner(learner: &dyn Learner, problem: &Problem, tolerance: f64) -> LawResult {
    Law("check").ran("the settings", || learner.check_settings())?;
    laws! {
        saved(learner, problem);
        coefficients(learner, problem, tolerance);
        retrained(learner, problem, tolerance);
        whole_weights(learner, problem, tolerance);
        rows_alone(learner, problem, tolerance);
        subset_order(learner, problem, tolerance);
        targets_unseen(learner, problem);
        outside_unseen(learner, problem, tolerance);
        names_unseen(learner, problem, tolerance);
        group_numbers_unseen(learner, problem, tolerance);
        degenerate(learner, problem);
        damaged(learner, problem);
        few_rows(learner, problem);
    }
}

/// Checks all laws of a learner on each of [`data::standard_problems`] that [`Learner::check`] accepts.
///
/// # Errors
/// Fails with every violated law, or if the learner rejects every task.
pub fn check_learner_on_standard_data(learner: &dyn Learner, tolerance: f64) -> LawResult {
    Law("tasks").on_each(
        data::standard_problems(),
        |problem| !matches!(learner.check(problem), Err(Error::Setting { .. })),
        |problem| check_learner(learner, problem, tolerance),
    )
}

/// A model saved as JSON and loaded again reads the same columns and predicts the same bits.
pub fn saved(learner: &dyn Learner, problem: &Problem) -> LawResult {
    let law = Law("saved");
    let (model, subset) = fitted(law, learner, problem)?;
    let on = format_args!("the model of subset {subset:?}");
    let loaded = law.reloaded(on, &model)?;
    law.equal(on, model.inputs(), loaded.inputs())?;
    law.equal(on, &model.coefficients(), &loaded.coefficients())?;
    let (before, after) = (predicted(law, &model, problem)?, predicted(law, &loaded, problem)?);
    for (row, (a, b)) in before.iter().zip(&after).enumerate() {
        let same = a.to_bits() == b.to_bits();
        law.must(same, format_args!("{on}, prediction {row}"), format!("{a:?} bit for bit"), b)?;
    }
    Ok(())
}

/// Predictions equal the coefficients applied to the subset's columns, the learner's features or the problem's columns.
///
/// A learner with a linear form must have coefficients; any other learner without them passes.
pub fn coefficients(learner: &dyn Learner, problem: &Problem, tolerance: f64) -> LawResult {
    let law = Law("coefficients");
    let (model, subset) = fitted(law, learner, problem)?;
    let on = format_args!("the model of subset {subset:?}");
    let Some(coefficients) = model.coefficients() else {
        let is_free = matches!(learner.form(), Form::Refit(_));
        return law.unless(is_free, on, "coefficients of the linear form", "none");
    };
    let sizes = (coefficients.weights.dim(), coefficients.intercept.len());
    let outputs = problem.targets().nrows();
    law.must(sizes == ((subset.len(), outputs), outputs), on, format!("{} x {outputs}", subset.len()), sizes)?;
    let columns = match learner.form() {
        Form::Linear(form) => law.ran(on, || form.design(problem))?.columns().select(&subset),
        Form::Refit(_) => problem.columns().select(&subset),
    };
    let x = Array2::from_shape_fn((subset.len(), problem.rows()), |(k, row)| columns.column(k).get(row));
    alike(law, on, tolerance, &coefficients.predict(x.view()), &predicted(law, &model, problem)?)
}

/// `fit` predicts like the linear form's design retrained on all rows.
///
/// Without a linear form, two fits must predict equal bits.
pub fn retrained(learner: &dyn Learner, problem: &Problem, tolerance: f64) -> LawResult {
    let law = Law("retrained");
    let Form::Linear(form) = learner.form() else {
        let (first, second) = (fitted(law, learner, problem)?.0, fitted(law, learner, problem)?.0);
        let on = "a second fit";
        return alike(law, on, 0.0, &predicted(law, &first, problem)?, &predicted(law, &second, problem)?);
    };
    let (model, subset) = fitted(law, learner, problem)?;
    let on = format_args!("all rows and subset {subset:?}");
    let design = law.ran(on, || form.design(problem))?;
    let rows: Vec<usize> = (0..problem.rows()).collect();
    let expected = law.ran(on, || design.retrain(&rows, &rows, &subset, design.lambdas()[0]))?;
    alike(law, on, tolerance, &expected, &predicted(law, &model, problem)?)
}

/// A row of weight 2 equals that row given twice.
///
/// A learner passes if its [`Learner::check`] rejects row weights.
pub fn whole_weights(learner: &dyn Learner, problem: &Problem, tolerance: f64) -> LawResult {
    let law = Law("whole_weights");
    let (weighted, repeated) = law.ran("weights from 1 to 3", || design_copies::whole_weights(problem))?;
    if matches!(learner.check(&weighted), Err(Error::Setting { .. })) {
        return Ok(());
    }
    let (by_weight, subset) = fitted(law, learner, &weighted)?;
    let (by_rows, _) = fitted(law, learner, &repeated)?;
    let on = format_args!("weights from 1 to 3 and subset {subset:?}");
    alike(law, on, tolerance, &predicted(law, &by_rows, problem)?, &predicted(law, &by_weight, problem)?)
}

/// Predictions of a row do not depend on other rows: one-by-one predictions are equal.
///
/// A learner of time-ordered rows passes.
pub fn rows_alone(learner: &dyn Learner, problem: &Problem, tolerance: f64) -> LawResult {
    let law = Law("rows_alone");
    if learner.needs_order() || problem.series().is_some() {
        return Ok(());
    }
    let (model, subset) = fitted(law, learner, problem)?;
    let together = predicted(law, &model, problem)?;
    let mut alone = together.clone();
    for row in 0..problem.rows() {
        let own = predicted(law, &model, &problem.select_rows(&[row]))?;
        alone.column_mut(row).assign(&own.column(0));
    }
    alike(law, format_args!("the model of subset {subset:?}, rows one by one"), tolerance, &together, &alone)
}

/// Subset order changes no prediction.
pub fn subset_order(learner: &dyn Learner, problem: &Problem, tolerance: f64) -> LawResult {
    let law = Law("subset_order");
    let (model, mut subset) = fitted(law, learner, problem)?;
    let (_, lambda) = extent(law, learner, problem)?;
    subset.reverse();
    let on = format_args!("the columns in the order {subset:?}");
    let other = law.ran(on, || learner.fit(problem, &subset, lambda))?;
    alike(law, on, tolerance, &predicted(law, &model, problem)?, &predicted(law, &other, problem)?)
}

/// Features of a linear form depend on the columns only, not on targets: criteria build them once, from all rows, and
/// then hold rows out.
///
/// A learner without a linear form passes.
pub fn targets_unseen(learner: &dyn Learner, problem: &Problem) -> LawResult {
    let law = Law("targets_unseen");
    let Form::Linear(form) = learner.form() else { return Ok(()) };
    let on = "the targets in reverse";
    let reversed = problem.targets().slice(s![.., ..;-1]).to_owned();
    let other = law.ran(on, || form.design(&problem.with_targets(reversed)?))?;
    let own = law.ran("the linear form's design", || form.design(problem))?;
    law.equal(on, &own.features(), &other.features())?;
    for feature in 0..own.features() {
        let bits = |design: &Design| design.column(feature).values().iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
        law.unless(bits(&own) == bits(&other), format_args!("{on}, feature {feature}"), "the same bits", "others")?;
    }
    Ok(())
}

/// Predictions are finite with duplicate columns, fewer rows than columns, the empty subset, and a default λ.
pub fn degenerate(learner: &dyn Learner, problem: &Problem) -> LawResult {
    let law = Law("degenerate");
    let doubled = law.ran("duplicate columns", || design_copies::doubled(problem))?;
    let wide = design_copies::wide(problem);
    for (what, problem, all) in [
        ("duplicate columns", &doubled, true),
        ("fewer rows than columns", &wide, true),
        ("the empty subset", problem, false),
    ] {
        let (count, lambda) = extent(law, learner, problem)?;
        let subset: Vec<Feature> = if all { (0..count).collect() } else { Vec::new() };
        for lambda in [lambda, None] {
            let on = format_args!("{what}, lambda {lambda:?}");
            let model = law.ran(on, || learner.fit(problem, &subset, lambda))?;
            finite(law, on, &predicted(law, &model, problem)?)?;
        }
    }
    Ok(())
}

/// A saved model with a longer or shorter list or a huge integer is rejected, or predicts without a panic.
///
/// * If accepted, it reads as many columns as before.
/// * If accepted with a matrix row of another length, its predictions are unchanged.
/// * A model with an unknown field is rejected.
pub fn damaged(learner: &dyn Learner, problem: &Problem) -> LawResult {
    let law = Law("damaged");
    let (model, subset) = fitted(law, learner, problem)?;
    let on = format_args!("the model of subset {subset:?}");
    let whole = serde_json::to_value(&model).map_err(|e| law.broken(on, "a model that is saved", e))?;
    let mut more = whole.clone();
    more["no_such_field"] = Value::from(1);
    let refused = serde_json::from_value::<Model>(more).is_err();
    law.unless(refused, format_args!("{on} with a field `no_such_field`"), "to be refused", "that it is read")?;
    let columns = halves(&model, problem);
    let before = model.predict(&columns, None).ok();
    let mut places = Vec::new();
    collect(&whole, &mut String::new(), &mut places);
    for place in places {
        for (what, damage) in DAMAGES {
            let mut value = whole.clone();
            if !value.pointer_mut(&place).is_some_and(damage) {
                continue;
            }
            let on = format_args!("{on}, its {place} {what}");
            let Ok(loaded) = serde_json::from_value::<Model>(value) else { continue };
            let (all, now) = (model.inputs().len(), loaded.inputs().len());
            law.must(all == now, on, format!("to be refused, or a model of {all} columns"), now)?;
            let after = law.ran(on, || Ok(loaded.predict(&columns, None).ok()))?;
            let ragged = after.is_some() && after != before && is_row_of_matrix(&whole, &place);
            law.unless(!ragged, on, "to be refused, or to change no prediction", "other predictions")?;
        }
    }
    Ok(())
}

/// Builds columns for a model to read, one value per row of the problem.
fn halves(model: &Model, problem: &Problem) -> Columns {
    let mut columns = Columns::new(problem.rows());
    let value = |k: usize, row: usize| 0.5 + 0.25 * ((k + row) % 3) as f64;
    (0..model.inputs().len())
        .for_each(|k| columns.push((0..problem.rows()).map(|row| value(k, row)).collect::<Vec<f64>>()));
    columns
}

/// Tests whether a pointer is to one of several lists of numbers of equal length.
fn is_row_of_matrix(value: &Value, place: &str) -> bool {
    let length = |list: &Value| list.as_array().filter(|l| l.iter().all(Value::is_number)).map(Vec::len);
    let beside = place.rsplit_once('/').and_then(|(above, _)| value.pointer(above)?.as_array());
    let lengths: Option<Vec<usize>> = beside.and_then(|rows| rows.iter().map(length).collect());
    lengths.is_some_and(|all| all.len() > 1 && all.iter().all(|length| *length == all[0]))
}

/// Damages a part of a file; `false` if it does not apply there.
type Damage = fn(&mut Value) -> bool;

/// The tested kinds of damage.
const DAMAGES: [(&str, Damage); 3] = [
    ("shorter", |part| part.as_array_mut().is_some_and(|list| list.pop().is_some())),
    ("longer", |part| {
        let last = part.as_array().and_then(|list| list.last()).cloned();
        part.as_array_mut().zip(last).map(|(list, last)| list.push(last)).is_some()
    }),
    ("huge", |part| {
        let is_whole = part.is_u64();
        if is_whole {
            *part = Value::from(1u64 << 40);
        }
        is_whole
    }),
];

/// Collects pointers to every list and number of a value; in a long list, to the first and last item.
fn collect(value: &Value, at: &mut String, places: &mut Vec<String>) {
    let mut inside = |key: &str, value: &Value| {
        let length = at.len();
        *at += &format!("/{key}");
        collect(value, at, places);
        at.truncate(length);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| inside(key, value)),
        Value::Array(list) => {
            let ends = [0, list.len().saturating_sub(1)];
            ends.iter().filter_map(|&k| Some((k, list.get(k)?))).for_each(|(k, value)| inside(&k.to_string(), value));
            places.push(at.clone());
        }
        Value::Number(_) => places.push(at.clone()),
        _ => {}
    }
}
