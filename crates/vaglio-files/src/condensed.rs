//! Condensed tables: weighted rows that stand for many, fold by fold.

use super::evaluations::RunPlan;
use super::roles::DataSettings;
use std::collections::HashMap;
use vaglio_core::{Error, HeldOut, Result, Round, Table};
use vaglio_pipeline::pipeline::DataSpec;
use vaglio_report::record::{Warning, WarningKind};

/// Column of the weights.
pub const WEIGHT: &str = "vaglio_weight";
/// Column of the folds.
pub const FOLD: &str = "vaglio_fold";
/// Column with the number of rows that each row stands for; without it, the weight is that number.
pub const ROWS: &str = "vaglio_rows";

/// Gives the columns of a condensed table their roles; the column of the numbers of rows. `None` for other tables.
///
/// # Errors
/// [`Error::Setting`] for other weights or groups, and for filters of rows.
pub fn set_roles(spec: &mut DataSpec, names: &[String]) -> Result<Option<&'static str>> {
    let has = |column: &str| names.iter().any(|name| name == column);
    if !has(WEIGHT) || !has(FOLD) {
        return Ok(None);
    }
    for (field, role, column) in [("data.weights", &mut spec.weights, WEIGHT), ("data.groups", &mut spec.groups, FOLD)]
    {
        if role.get_or_insert_with(|| column.into()) != column {
            return Err(refuse(field, &format!("it must be `{column}`")));
        }
    }
    match spec.filters().find(|(_, filter)| filter.column != FOLD) {
        Some((field, _)) => Err(refuse(&field, "only whole folds can be filtered")),
        None => Ok(Some(if has(ROWS) { ROWS } else { WEIGHT })),
    }
}

/// An error for a setting that needs single rows.
fn refuse(field: &str, message: &str) -> Error {
    Error::setting(field, format!("{message}: the table is condensed, and has no single rows"))
}

impl DataSettings<'_> {
    /// Folds of condensed rows, and how many rows each stands for; `None` for a table that is not condensed.
    ///
    /// # Errors
    /// [`Error::Setting`] for folds that are no whole numbers.
    pub fn condensed_labels(&self, table: &Table) -> Result<Option<(Vec<u32>, Vec<f64>)>> {
        let columns = self.counts.and_then(|counts| Some((table.get(FOLD)?, table.get(counts)?)));
        let Some((folds, counts)) = columns else { return Ok(None) };
        let fold = |row: usize| {
            let label = folds.label(row);
            let known = label.parse::<f64>().ok().filter(|fold| fold.fract() == 0.0 && (0.0..1e9).contains(fold));
            known.map(|fold| fold as u32).ok_or_else(|| {
                Error::setting("data.train", format!("row {} of `{FOLD}` is `{label}`, no whole number", row + 1))
            })
        };
        let counts = counts.numbers().map(|counts| counts.values().into_owned()).unwrap_or_default();
        Ok(Some(((0..folds.len()).map(fold).collect::<Result<_>>()?, counts)))
    }
}

/// Says what a condensed table stands for.
pub fn notice(rows: usize, counts: &[f64]) -> Warning {
    let all: f64 = counts.iter().sum();
    let message = format!("the table is condensed: {rows} weighted rows stand for {all:.0} rows");
    Warning::new(WarningKind::Condensed, message)
}

impl RunPlan<'_> {
    /// Refuses settings that need single rows, if the rows are condensed: the sums of each fold are all that is known.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn check_condensed(&self) -> Result<()> {
        let RunPlan { pipeline, evaluate, selector, prepared, design, .. } = *self;
        if prepared.train.labels().counts.is_none() {
            return Ok(());
        }
        let groups = prepared.train.groups().unwrap_or_default();
        let criterion = &selector.criterion;
        let keeps_folds = |rounds: &[Round]| rounds.iter().all(|round| keeps_folds(round, groups));
        match criterion.folds(design)? {
            HeldOut::EachRow => {
                return Err(refuse("criterion", "it holds out single rows; take `{kind: kfold, by: groups}`"));
            }
            HeldOut::Folds(rounds) if !keeps_folds(&rounds) => {
                return Err(refuse("criterion", "its folds divide those of the table; take `by: groups`"));
            }
            _ => {}
        }
        if !criterion.traits().is_of_sums {
            let message = "it needs more than sums of products; take `kfold` with the squared loss, or `information`";
            return Err(refuse("criterion", message));
        }
        if !design.problem().has_columns_of(&prepared.train) || design.readout().is_none() {
            return Err(refuse("learner", "it needs more than sums of products; take `rls`"));
        }
        let other_map = pipeline.preprocess.iter().position(|map| map.kind() != "standardize");
        if let Some(at) = other_map {
            let message = "only `standardize` is possible; `vaglio condense` takes a pipeline with maps";
            return Err(refuse(&format!("preprocess[{at}]"), message));
        }
        let asked = [
            ("model", pipeline.model.is_some()),
            ("target_map", pipeline.target_map.is_some()),
            ("evaluate.permutations", evaluate.permutations.is_some()),
            ("evaluate.intervals", evaluate.intervals.is_some()),
            ("evaluate.fdr", evaluate.fdr.is_some()),
            ("evaluate.learning_curve", evaluate.learning_curve),
        ];
        let found = asked.iter().find(|(_, is_asked)| *is_asked);
        found.map_or(Ok(()), |(field, _)| Err(refuse(field, "it needs single rows")))
    }
}

/// Whether rows of one fold of the table are held out together, or not at all.
fn keeps_folds(round: &Round, folds: &[u32]) -> bool {
    let mut of_fold = HashMap::new();
    round.fold_of_rows().iter().zip(folds).all(|(held, fold)| of_fold.entry(fold).or_insert(held) == &held)
}
