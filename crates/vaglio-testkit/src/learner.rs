//! Laws of a learner: weights count rows, coefficients give the predictions, and a model survives saving.

use crate::law_violation::{attempt, equals, law, must, on_each, reload, unless, violation};
use crate::{LawResult, LawViolation, data, design_copies};
use fits::{finite, same_predictions};
use ndarray::{Array2, s};
use serde_json::Value;
use vaglio_core::{Error, prelude::*};

mod fits;
mod unseen_data;

/// Checks all laws of a learner on a problem.
///
/// # Errors
/// Fails with every violated law.
pub fn check_learner(learner: &dyn Learner, problem: &Problem, tolerance: f64) -> LawResult {
    law("check", || attempt("the settings", || learner.check_settings()))?;
    let laws = LearnerLaws::new(learner, problem, tolerance);
    LawViolation::among([
        laws.saved(),
        laws.coefficients(),
        laws.retrained(),
        laws.whole_weights(),
        laws.rows_alone(),
        laws.subset_order(),
        laws.targets_unseen(),
        laws.outside_unseen(),
        laws.names_unseen(),
        laws.group_numbers_unseen(),
        laws.degenerate(),
        laws.damaged(),
        laws.few_rows(),
    ])
}

/// Checks all laws of a learner on each of [`data::standard_problems`] that [`Learner::check`] accepts.
///
/// # Errors
/// Fails with every violated law, or if the learner rejects every task.
pub fn check_learner_on_standard_data(learner: &dyn Learner, tolerance: f64) -> LawResult {
    law("tasks", || {
        on_each(
            data::standard_problems(),
            |problem| !matches!(learner.check(problem), Err(Error::Setting { .. })),
            |problem| check_learner(learner, problem, tolerance),
        )
    })
}

/// Laws of a learner on a problem; [`check_learner`] checks all.
#[derive(Clone, Copy)]
pub struct LearnerLaws<'l> {
    learner: &'l dyn Learner,
    problem: &'l Problem,
    tolerance: f64,
}

impl<'l> LearnerLaws<'l> {
    /// Creates the laws; `tolerance` is relative to the largest prediction.
    pub fn new(learner: &'l dyn Learner, problem: &'l Problem, tolerance: f64) -> Self {
        LearnerLaws { learner, problem, tolerance }
    }

    /// The laws on another problem.
    fn with_problem(self, problem: &'l Problem) -> Self {
        LearnerLaws { problem, ..self }
    }
}

impl LearnerLaws<'_> {
    /// A model saved as JSON and loaded again reads the same columns and predicts the same bits.
    pub fn saved(self) -> LawResult {
        law("saved", || {
            let (model, subset) = self.fit()?;
            let on = format_args!("the model of subset {subset:?}");
            let loaded = reload(on, &model)?;
            equals(on, model.inputs(), loaded.inputs())?;
            equals(on, &model.coefficients(), &loaded.coefficients())?;
            let (before, after) = (self.predict(&model)?, self.predict(&loaded)?);
            for (row, (a, b)) in before.iter().zip(&after).enumerate() {
                let same = a.to_bits() == b.to_bits();
                must(same, format_args!("{on}, prediction {row}"), format!("{a:?} bit for bit"), b)?;
            }
            Ok(())
        })
    }

    /// Predictions equal the coefficients applied to the subset's columns, the learner's features or the problem's
    /// columns.
    ///
    /// A learner with a readout must have coefficients; any other learner without them passes.
    pub fn coefficients(self) -> LawResult {
        law("coefficients", || {
            let (model, subset) = self.fit()?;
            let on = format_args!("the model of subset {subset:?}");
            let Some(coefficients) = model.coefficients() else {
                let is_free = matches!(self.learner.readout(), Ok(None));
                return unless(is_free, on, "coefficients of the readout", "none");
            };
            let sizes = (coefficients.weights.dim(), coefficients.intercept.len());
            let outputs = self.problem.targets().nrows();
            must(sizes == ((subset.len(), outputs), outputs), on, format!("{} x {outputs}", subset.len()), sizes)?;
            let columns = match attempt(on, || self.design())? {
                Some(design) => design.problem().columns().select(&subset),
                None => self.problem.columns().select(&subset),
            };
            let x = Array2::from_shape_fn((subset.len(), self.problem.rows()), |(k, row)| columns.column(k).get(row));
            same_predictions(on, self.tolerance, &coefficients.predict(x.view()), &self.predict(&model)?)
        })
    }

    /// `fit` predicts like the readout's design retrained on all rows.
    ///
    /// Without a readout, two fits must predict equal bits.
    pub fn retrained(self) -> LawResult {
        law("retrained", || {
            let Some(design) = attempt("the readout's design", || self.design())? else {
                let exact = LearnerLaws { tolerance: 0.0, ..self };
                return exact.same_fits("a second fit", self.problem, self.problem);
            };
            let (model, subset) = self.fit()?;
            let on = format_args!("all rows and subset {subset:?}");
            let rows: Vec<usize> = (0..self.problem.rows()).collect();
            let expected = attempt(on, || design.retrain(&rows, &rows, &subset, design.lambdas()[0]))?;
            same_predictions(on, self.tolerance, &expected, &self.predict(&model)?)
        })
    }

    /// A row of weight 2 equals that row given twice.
    ///
    /// A learner passes if its [`Learner::check`] rejects row weights.
    pub fn whole_weights(self) -> LawResult {
        law("whole_weights", || {
            let (weighted, repeated) = attempt("weights from 1 to 3", || design_copies::whole_weights(self.problem))?;
            if matches!(self.learner.check(&weighted), Err(Error::Setting { .. })) {
                return Ok(());
            }
            self.same_fits("weights from 1 to 3", &repeated, &weighted)
        })
    }

    /// Predictions of a row do not depend on other rows: one-by-one predictions are equal.
    ///
    /// A learner of time-ordered rows passes.
    pub fn rows_alone(self) -> LawResult {
        law("rows_alone", || {
            if self.learner.needs_order() || self.problem.series().is_some() {
                return Ok(());
            }
            let (model, subset) = self.fit()?;
            let together = self.predict(&model)?;
            let mut alone = together.clone();
            for row in 0..self.problem.rows() {
                let own = self.with_problem(&self.problem.select_rows(&[row])).predict(&model)?;
                alone.column_mut(row).assign(&own.column(0));
            }
            same_predictions(
                format_args!("the model of subset {subset:?}, rows one by one"),
                self.tolerance,
                &together,
                &alone,
            )
        })
    }

    /// Subset order changes no prediction.
    pub fn subset_order(self) -> LawResult {
        law("subset_order", || {
            let (model, mut subset) = self.fit()?;
            let (_, lambda) = self.extent()?;
            subset.reverse();
            let on = format_args!("the columns in the order {subset:?}");
            let other = attempt(on, || self.learner.fit(self.problem, &subset, lambda))?;
            same_predictions(on, self.tolerance, &self.predict(&model)?, &self.predict(&other)?)
        })
    }

    /// Features of a readout depend on the columns only, not on targets: criteria build them once, from all rows,
    /// and then hold rows out.
    ///
    /// A learner without a readout passes.
    pub fn targets_unseen(self) -> LawResult {
        law("targets_unseen", || {
            let on = "the targets in reverse";
            let reversed = self.problem.targets().slice(s![.., ..;-1]).to_owned();
            let reversed = attempt(on, || self.problem.with_targets(reversed))?;
            let Some(other) = attempt(on, || self.with_problem(&reversed).design())? else { return Ok(()) };
            let Some(own) = attempt("the readout's design", || self.design())? else { return Ok(()) };
            equals(on, &own.features(), &other.features())?;
            for feature in 0..own.features() {
                let bits =
                    |design: &Design| design.column(feature).values().iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
                unless(bits(&own) == bits(&other), format_args!("{on}, feature {feature}"), "the same bits", "others")?;
            }
            Ok(())
        })
    }

    /// Predictions are finite with duplicate columns, fewer rows than columns, the empty subset, and a default λ.
    pub fn degenerate(self) -> LawResult {
        law("degenerate", || {
            let problem = self.problem;
            let doubled = attempt("duplicate columns", || design_copies::double(problem))?;
            let wide = design_copies::wide(problem);
            for (what, problem, all) in [
                ("duplicate columns", &doubled, true),
                ("fewer rows than columns", &wide, true),
                ("the empty subset", problem, false),
            ] {
                let (count, lambda) = self.with_problem(problem).extent()?;
                let subset: Vec<Feature> = if all { (0..count).collect() } else { Vec::new() };
                for lambda in [lambda, None] {
                    let on = format_args!("{what}, lambda {lambda:?}");
                    let model = attempt(on, || self.learner.fit(problem, &subset, lambda))?;
                    finite(on, &self.with_problem(problem).predict(&model)?)?;
                }
            }
            Ok(())
        })
    }

    /// A saved model with a longer or shorter list or a huge integer is rejected, or predicts without a panic.
    ///
    /// * If accepted, it reads as many columns as before.
    /// * If accepted with a matrix row of another length, its predictions are unchanged.
    /// * A model with an unknown field is rejected.
    pub fn damaged(self) -> LawResult {
        law("damaged", || {
            let (model, subset) = self.fit()?;
            let on = format_args!("the model of subset {subset:?}");
            let whole = serde_json::to_value(&model).map_err(|e| violation(on, "a model that is saved", e))?;
            let mut more = whole.clone();
            more["no_such_field"] = Value::from(1);
            let refused = serde_json::from_value::<Model>(more).is_err();
            unless(refused, format_args!("{on} with a field `no_such_field`"), "to be refused", "that it is read")?;
            let columns = halves(&model, self.problem);
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
                    must(all == now, on, format!("to be refused, or a model of {all} columns"), now)?;
                    let after = attempt(on, || Ok(loaded.predict(&columns, None).ok()))?;
                    let ragged = after.is_some() && after != before && is_row_of_matrix(&whole, &place);
                    unless(!ragged, on, "to be refused, or to change no prediction", "other predictions")?;
                }
            }
            Ok(())
        })
    }
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
