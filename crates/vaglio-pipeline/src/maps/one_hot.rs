//! One-hot encoding of text columns.

use super::levels::{Finder, label};
use super::{LearnedOn, columns, weights};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use vaglio_core::{
    Cells, Error, Expression, FittedMap, LevelValues, Map, Numbers, Origin, OutputUnit, RefitScope, Result,
    SparseNumbers, Table, part, saved,
};

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
    pub unknown: Unknown,
    /// Level without a column of its own; its rows have zeros in the others.
    pub drop: Dropped,
    /// Columns to encode; by default all text columns. Named columns may also hold numbers or dates, whose values are
    /// levels.
    pub columns: Option<Vec<String>>,
    /// Rows on which the levels are learned during cross-validation.
    pub scope: LearnedOn,
}

/// Treatment of levels unknown from the training rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// Treat as a rare level if there are any; else set all indicators to 0.
    #[default]
    Zeros,
    /// Refuse, with the row.
    Error,
}

/// Level without a column of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// No level.
    #[default]
    None,
    /// The first of two levels, since the other column determines it.
    IfBinary,
}

vaglio_core::setters!(OneHot { rare: u32, unknown: Unknown, drop: Dropped, scope: LearnedOn;; columns: [String] });

/// Fitted [`OneHot`], with the levels of the training rows.
#[saved(FittedMap, "one_hot")]
#[derive(Clone, PartialEq, Eq)]
pub struct FittedOneHot {
    columns: Vec<ColumnLevels>,
    /// Models saved before this setting existed refused unknown levels.
    #[serde(default = "refused")]
    unknown: Unknown,
}

fn refused() -> Unknown {
    Unknown::Error
}

/// Sorted levels of one column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnLevels {
    column: String,
    levels: Vec<String>,
    /// Levels that share the column of rare ones, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rare: Vec<String>,
    /// Level without a column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dropped: Option<String>,
}

/// Level name of the shared column of rare levels.
const RARE: &str = "(rare)";

/// Largest number of levels listed in a message.
const LISTED: usize = 12;

impl Map for OneHot {
    fn fit(&self, table: &Table, weights: Option<&[f64]>) -> Result<Box<dyn FittedMap>> {
        let takes = |cells: &Cells| self.columns.is_some() || matches!(cells, Cells::Text(_));
        let chosen = columns::chosen(table, self.columns.as_deref(), "columns of text", takes)?;
        let levels = |(name, cells): (&str, &Cells)| self.levels(name, cells, weights);
        let columns = chosen.into_iter().map(levels).collect::<Result<_>>()?;
        Ok(Box::new(FittedOneHot { columns, unknown: self.unknown }))
    }

    fn in_folds(&self) -> RefitScope {
        self.scope.in_folds()
    }

    fn check(&self) -> Result<()> {
        columns::check(self.columns.as_deref())
    }
}

impl OneHot {
    /// Levels of the rows with positive weight, split into frequent and rare ones.
    fn levels(&self, column: &str, cells: &Cells, weights: Option<&[f64]>) -> Result<ColumnLevels> {
        let mut rows: BTreeMap<Cow<'_, str>, u32> = BTreeMap::new();
        for row in (0..cells.len()).filter(|&row| weights::counts(weights, row) && !cells.is_missing(row)) {
            *rows.entry(label(cells, row)).or_default() += 1;
        }
        let (levels, rare): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, count)| *count >= self.rare);
        let named =
            |levels: Vec<(Cow<'_, str>, u32)>| levels.into_iter().map(|(level, _)| level.into_owned()).collect();
        let (mut levels, rare): (Vec<String>, Vec<String>) = (named(levels), named(rare));
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

impl FittedMap for FittedOneHot {
    fn origin(&self, name: &str) -> Option<Origin> {
        let (known, _) = self.find_output(name)?;
        Some(Origin { is_block: true, ..Origin::from_column(&known.column).in_unit(OutputUnit::Divided(1.0)) })
    }

    fn growth(&self, table: &Table) -> f64 {
        let of_column = |known: &ColumnLevels| {
            let Some(cells) = table.get(&known.column) else { return 0.0 };
            let columns = known.levels.len() + usize::from(!known.rare.is_empty());
            // Working memory lists the rows of each level. At most a few levels have too many rows for a sparse column.
            let dense =
                |columns: usize, bytes: usize| (size_of::<usize>() + columns * bytes) as f64 * cells.len() as f64;
            match SparseNumbers::most_entries(cells.len()).filter(|_| cells.missing().is_none()) {
                Some(most) => dense(columns.min(cells.len() / (most + 1)), 1) + (size_of::<u32>() * cells.len()) as f64,
                None if cells.missing().is_some() => dense(columns, size_of::<f64>() + 1),
                None => dense(columns, 1),
            }
        };
        self.columns.iter().map(of_column).sum()
    }

    fn for_outputs(&self, names: &[String]) -> Option<Box<dyn FittedMap>> {
        columns::restricted(self, names, |own, sources| own.columns.retain(|known| sources.contains(&known.column)))
    }

    /// Levels that are equal numbers match, whatever their notation.
    fn transform(&self, mut table: Table) -> Result<Table> {
        let mut out = Vec::new();
        for (name, cells) in table.take_columns() {
            match self.columns.iter().find(|known| known.column == name) {
                Some(known) => out.extend(known.indicators(&cells, self.unknown, |row| table.origin(row))?),
                None => out.push((name, cells)),
            }
        }
        table.with_columns(out)
    }

    fn levels(&self) -> Vec<(&str, Vec<&str>)> {
        self.columns.iter().map(|known| (known.column.as_str(), known.all().collect())).collect()
    }

    fn expression(&self, name: &str) -> Option<Expression> {
        let Some((known, level)) = self.find_output(name) else { return Some(Expression::column(name)) };
        let refuses = self.unknown == Unknown::Error;
        // Levels other than this one are only listed if others are pooled here, or if unknown levels are refused.
        let own = known.levels.binary_search_by(|own| own.as_str().cmp(level)).is_ok();
        let mut levels = Vec::new();
        if !own || refuses {
            let others = known.levels.iter().chain(&known.dropped).filter(|other| *other != level);
            levels.extend(others.map(|other| (other.clone(), 0.0)));
        }
        match own {
            true => levels.push((level.to_owned(), 1.0)),
            false => levels.extend(known.rare.iter().map(|rare| (rare.clone(), 1.0))),
        }
        if own && refuses {
            levels.extend(known.rare.iter().map(|rare| (rare.clone(), 0.0)));
        }
        let other = match refuses {
            true => f64::NAN,
            false => f64::from(u8::from(!own)),
        };
        let of = Expression::column(&known.column);
        Some(Expression::Level(Box::new(LevelValues { of, levels, missing: f64::NAN, other })))
    }
}

impl FittedOneHot {
    /// Column and level of the indicator `name`.
    fn find_output<'a>(&'a self, name: &'a str) -> Option<(&'a ColumnLevels, &'a str)> {
        self.columns.iter().find_map(|known| {
            let level = name.strip_prefix(&*known.column)?.strip_prefix('=')?;
            known.makes(level).then_some((known, level))
        })
    }

    /// Each encoded column with its output columns, in order.
    pub fn blocks(&self) -> Vec<(String, Vec<String>)> {
        self.columns.iter().map(|known| (known.column.clone(), known.outputs().collect())).collect()
    }
}

impl ColumnLevels {
    fn outputs(&self) -> impl Iterator<Item = String> {
        let pooled = (!self.rare.is_empty()).then_some(RARE);
        self.levels.iter().map(String::as_str).chain(pooled).map(|level| format!("{}={level}", self.column))
    }

    /// Whether a level has a column of its own, or is the name of the shared column.
    fn makes(&self, level: &str) -> bool {
        let is_known = self.levels.binary_search_by(|known| known.as_str().cmp(level)).is_ok();
        is_known || (level == RARE && !self.rare.is_empty())
    }

    /// All levels: with own columns, rare ones, and the dropped one.
    fn all(&self) -> impl Iterator<Item = &str> {
        self.levels.iter().chain(&self.rare).chain(&self.dropped).map(String::as_str)
    }

    fn indicators(
        &self,
        cells: &Cells,
        unknown: Unknown,
        origin: impl Fn(usize) -> usize,
    ) -> Result<Vec<(String, Cells)>> {
        let (own, rare) = (self.levels.len(), self.rare.len());
        let mut rows_of = vec![Vec::new(); own + usize::from(rare > 0)];
        let (missing, present): (Vec<usize>, Vec<usize>) = (0..cells.len()).partition(|row| cells.is_missing(*row));
        let mut finder = Finder::new(self.all());
        for row in present {
            let label = label(cells, row);
            match finder.place(&label) {
                Some(place) if place < own + rare => rows_of[place.min(own)].push(row),
                Some(_) => {}
                None if unknown == Unknown::Error => return Err(self.unknown(origin(row), &label)),
                None if rare > 0 => rows_of[own].push(row),
                None => {}
            }
        }
        let of = |rows: Vec<usize>| Cells::Numbers(indicator(cells.len(), &rows, &missing));
        Ok(self.outputs().zip(rows_of.into_iter().map(of)).collect())
    }

    fn unknown(&self, row: usize, label: &str) -> Error {
        let known = self.dropped.iter().chain(&self.levels);
        let listed: Vec<&str> = known.take(LISTED).map(String::as_str).collect();
        let more = if self.levels.len() > LISTED { ", …" } else { "" };
        Error::Shape(format!(
            "row {}, column `{}`: `{label}` is none of the levels of the training rows: {}{more}",
            row + 1,
            self.column,
            listed.join(", ")
        ))
    }
}

/// A column with ones in `rows` (increasing) and zeros elsewhere, except in missing rows. Sparse if few of many are 1.
fn indicator(len: usize, rows: &[usize], missing: &[usize]) -> Numbers {
    let is_thin = SparseNumbers::most_entries(len).is_some_and(|most| rows.len() <= most);
    if missing.is_empty() && is_thin {
        let ones = vec![1.0; rows.len()];
        return Numbers::Sparse(SparseNumbers::new(len, rows.iter().map(|&row| row as u32).collect(), ones));
    }
    let mut bytes = vec![0u8; len];
    rows.iter().for_each(|&row| bytes[row] = 1);
    if missing.is_empty() {
        return Numbers::from(bytes);
    }
    let mut doubles: Vec<f64> = bytes.into_iter().map(f64::from).collect();
    missing.iter().for_each(|&row| doubles[row] = f64::NAN);
    Numbers::from(doubles)
}

#[cfg(test)]
mod tests;
