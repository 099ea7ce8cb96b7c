//! One-hot encoding of text columns.

use super::levels::{LISTED, rows_by_level};
use super::{Scope, columns};
use vaglio_core::{ColumnFormula, Error, Map, OutputUnit, Result, abridge, prelude::*};

/// Replaces every text column by one 0/1 column per level, named `column=level`, in sorted order. All levels are kept,
/// except rare ones and those excluded by `drop`.
///
/// A missing cell makes all indicators of its column missing; apply `impute` before or after. Cost O(rows · levels);
/// columns without missing cells take one byte per entry.
#[part(
    Map,
    "one_hot",
    summary = "a 0/1 column for every level of every text column",
    example = "preprocess: [{kind: one_hot, rare: 0, unknown: zeros}]"
)]
#[derive(PartialEq, Eq)]
pub struct OneHot {
    /// Levels in fewer training rows than this share one column, `column=(rare)`.
    pub rare: u32,
    /// Treatment of levels unknown from the training rows.
    pub(crate) unknown: Unknown,
    /// Level without a column of its own; its rows have zeros in the others.
    pub(crate) drop: Dropped,
    /// Columns to encode; by default all text columns. Named columns may also hold numbers or dates, whose values are
    /// levels.
    pub columns: Option<Vec<String>>,
    /// Rows on which the levels are learned during cross-validation.
    #[default(Scope::Train)]
    pub scope: Scope,
}

/// Treatment of levels unknown from the training rows.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Unknown {
    /// Treat as a rare level if there are any; else set all indicators to 0.
    #[default]
    Zeros,
    /// Refuse, with the row.
    Error,
}

/// Level without a column of its own.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Dropped {
    /// No level.
    #[default]
    None,
    /// The first of two levels, since the other column determines it.
    IfBinary,
}

/// Sorted levels of one column.
#[setting]
pub struct ColumnLevels {
    column: String,
    levels: Vec<String>,
    /// Levels that share the column of rare ones, sorted.
    #[optional]
    rare: Vec<String>,
    /// Level without a column.
    #[optional]
    dropped: Option<String>,
}

/// Level name of the shared column of rare levels.
const RARE: &str = "(rare)";

impl Map for OneHot {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        let TrainingRows { table, weights, .. } = *rows;
        let chosen = columns::levels(table, self.columns.as_deref())?;
        let levels = |(name, cells): (&str, &Cells)| self.levels(name, cells, weights);
        let columns: Vec<ColumnLevels> = chosen.into_iter().map(levels).collect::<Result<_>>()?;
        Ok(formulas(&columns, self.unknown))
    }

    fn traits(&self) -> MapTraits {
        self.scope.traits(None)
    }

    fn check_settings(&self) -> Result<()> {
        columns::check(self.columns.as_deref())
    }
}

impl OneHot {
    /// Refuses levels unknown from the training rows.
    #[must_use]
    pub fn refuse_unknown(self) -> Self {
        OneHot { unknown: Unknown::Error, ..self }
    }

    /// Leaves out the column of the first of two levels, which the other determines.
    #[must_use]
    pub fn drop_if_binary(self) -> Self {
        OneHot { drop: Dropped::IfBinary, ..self }
    }

    /// Levels of the rows with positive weight, split into frequent and rare ones.
    fn levels(&self, column: &str, cells: &Cells, weights: Option<&[f64]>) -> Result<ColumnLevels> {
        let (mut levels, mut rare): (Vec<String>, Vec<String>) = Default::default();
        for (level, count) in rows_by_level(cells, weights) {
            let side = if count >= self.rare { &mut levels } else { &mut rare };
            side.push(level.into_owned());
        }
        if !rare.is_empty() && levels.iter().any(|level| level == RARE) {
            let message = format!(
                "the column `{column}` has a level `{RARE}`, which is what rare levels are called together; rename it or set `rare` to 0"
            );
            return Err(Error::setting("rare", message));
        }
        let is_dropped = self.drop == Dropped::IfBinary && levels.len() == 2 && rare.is_empty();
        let dropped = is_dropped.then(|| levels.remove(0));
        Ok(ColumnLevels { column: column.to_owned(), levels, rare, dropped })
    }
}

pub fn formulas(columns: &[ColumnLevels], unknown: Unknown) -> MapFormulas {
    let formulas: MapFormulas = columns.iter().flat_map(|known| known.formulas(unknown)).collect();
    columns.iter().fold(formulas, |formulas, known| {
        let refusal = (unknown == Unknown::Error).then(|| {
            let levels = abridge(known.dropped.iter().chain(&known.levels), LISTED);
            format!("`{{}}` is none of the levels of the training rows: {levels}")
        });
        let levels = known.levels.iter().chain(&known.rare).chain(&known.dropped).cloned();
        formulas.with_levels(&known.column, levels, refusal)
    })
}

impl ColumnLevels {
    /// Formulas of the indicators, those of the rare levels last.
    fn formulas(&self, unknown: Unknown) -> impl Iterator<Item = ColumnFormula> {
        let is_one = |level: &String| (level.clone(), 1.0);
        let own = self.levels.iter().map(move |level| self.indicator(level, vec![is_one(level)], 0.0));
        let rare = (!self.rare.is_empty()).then(|| {
            let others = self.levels.iter().chain(&self.dropped).map(|level| (level.clone(), 0.0));
            let other = if unknown == Unknown::Zeros { 1.0 } else { 0.0 };
            self.indicator(RARE, others.chain(self.rare.iter().map(is_one)).collect(), other)
        });
        own.chain(rare)
    }

    /// Formula of the column `column=level`.
    fn indicator(&self, level: &str, levels: Vec<(String, f64)>, other: f64) -> ColumnFormula {
        Expression::levels(&self.column, levels, other)
            .named(format!("{}={level}", self.column))
            .in_unit(OutputUnit::Divided(1.0))
            .in_block()
    }
}
