//! Fitted maps: formulas of the columns that a map makes, with their sources, levels and memory.

mod evaluation;
mod levels;
mod saved;

use crate::{
    Cells, Error, Expression, FittedMap, Numbers, PartOutputs, Result, SparseNumbers, Table, duplicate, saved,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// A fitted map: the formulas of all columns that it makes.
///
/// Other columns are left as they are. A formula has one source column and takes the place of that column, unless the
/// formulas are [added](MapFormulas::added).
#[derive(Debug, Default)]
pub struct MapFormulas {
    /// Word of the map in files.
    pub kind: Cow<'static, str>,
    /// The map itself if it reads other rows than its own.
    by_rows: Option<Box<dyn FittedMap>>,
    made: Vec<ColumnFormula>,
    /// Index of the formula of each column.
    by_name: HashMap<String, usize>,
    /// Indices of the formulas of each source; a constant has an empty one.
    by_source: HashMap<String, Vec<usize>>,
    are_added: bool,
    /// The columns with learned levels.
    pub levels: Vec<LearnedLevels>,
    domain: Cow<'static, str>,
    /// Setting of the map that decides the names.
    named_by: &'static str,
    /// Findings of the fit of the map, for the report.
    pub found: PartOutputs,
    /// Transformed training rows, computed out of fold, until they are taken. Target encoders need them so that no row
    /// sees its own target. They have the rows of the training table and the columns of the map's output.
    pub training: Option<Table>,
}

/// Formula of one column that a map makes.
#[saved]
#[derive(Clone)]
pub struct ColumnFormula {
    /// Name of the column.
    pub name: String,
    /// Value in a row; `None` if it depends on other rows. [`Expression::Level`] is not part of another expression.
    #[serde(deserialize_with = "saved::read_expression")]
    pub expression: Option<Expression>,
    /// Distinct columns that the value is made from; none for a constant.
    #[serde(skip)]
    pub sources: Vec<String>,
    /// Unit of the values.
    pub unit: OutputUnit,
    /// Whether the column is in a block with the others made from its source, as levels are.
    #[optional]
    pub is_block: bool,
    /// How many rows before its own the value is read; only for a lag.
    #[serde(skip)]
    pub lag: Option<usize>,
}

/// Unit of the values of a column that a map made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputUnit {
    /// The unit of the source, after a shift and a division by this number.
    Divided(f64),
    /// A code with its own unit, such as a level's rank or a year. Weights are reported in that unit.
    Code,
    /// No unit: a change of the output is not proportional to a change of the source.
    Other,
}

/// Levels of a column in the training rows.
#[saved]
#[derive(Clone)]
pub struct LearnedLevels {
    /// Name of the column.
    pub column: String,
    /// The levels. A label that equals none matches the first one that is the same number.
    pub levels: Vec<String>,
    /// Error message for other levels, in which `{}` is the level; `None` if the formulas have values for them.
    pub refusal: Option<String>,
    /// Index of each level.
    #[serde(skip)]
    places: HashMap<String, usize>,
}

impl LearnedLevels {
    fn new(column: &str, levels: impl Iterator<Item = String>, refusal: Option<String>) -> Self {
        let levels: Vec<String> = levels.collect();
        let places = levels.iter().cloned().zip(0..).collect();
        LearnedLevels { column: column.to_owned(), levels, refusal, places }
    }

    /// The rows of cells that have none of the levels and are not missing.
    pub fn other_rows(&self, cells: &Cells) -> Vec<usize> {
        levels::RowsByLevel::new(self, cells).others().to_vec()
    }
}

impl Expression {
    /// Formula of a column with this value.
    pub fn named(self, name: impl Into<String>) -> ColumnFormula {
        let (sources, unit) = (self.sources(), self.unit());
        ColumnFormula { name: name.into(), expression: Some(self), sources, unit, is_block: false, lag: None }
    }

    fn unit(&self) -> OutputUnit {
        match self {
            Expression::Number(_) => OutputUnit::Divided(1.0),
            Expression::Filled(operands) => operands[0].unit(),
            _ if self.has_dates() => OutputUnit::Code,
            _ => self.scaling().map_or(OutputUnit::Other, |(_, scale)| OutputUnit::Divided(scale)),
        }
    }
}

impl ColumnFormula {
    /// Formula of a value that depends on other rows, in the unit of its source: the cell `lag` rows before, or a number
    /// of several rows.
    pub fn from_rows(name: impl Into<String>, source: &str, lag: Option<usize>) -> Self {
        ColumnFormula { expression: None, lag, ..Expression::column(source).named(name) }
    }

    fn source(&self) -> &str {
        self.sources.first().map_or("", String::as_str)
    }

    /// Bytes of an entry, if an entry of the source takes `source` bytes. Columns of levels are counted together.
    fn entry_bytes(&self, source: usize) -> usize {
        match &self.expression {
            Some(Expression::Level(_)) => 0,
            // Bytes are never missing.
            Some(Expression::Filled(_)) if source == 1 => source,
            None if self.lag.is_some() => source,
            _ => size_of::<f64>(),
        }
    }

    /// Sets the unit. By default, a shifted, divided or filled source keeps its unit, and a part of a date is a code.
    #[must_use]
    pub fn in_unit(self, unit: OutputUnit) -> Self {
        ColumnFormula { unit, ..self }
    }

    /// Puts the column into a block with the others of its source.
    #[must_use]
    pub fn in_block(self) -> Self {
        ColumnFormula { is_block: true, ..self }
    }
}

impl FromIterator<ColumnFormula> for MapFormulas {
    fn from_iter<I: IntoIterator<Item = ColumnFormula>>(formulas: I) -> Self {
        let made = formulas.into_iter().collect();
        let mut formulas = MapFormulas { made, domain: "the map has no value for {}".into(), ..MapFormulas::default() };
        formulas.index();
        formulas
    }
}

/// Estimated memory of a product that is computed on reading, with its name, in bytes.
const PRODUCT_BYTES: usize = 256;

impl MapFormulas {
    /// Adds the columns after those of the table, instead of replacing their sources.
    #[must_use]
    pub fn added(self) -> Self {
        MapFormulas { are_added: true, ..self }
    }

    /// Adds the levels of a column of [`Expression::Level`], with the error message for others if they are refused; `{}`
    /// stands for the level.
    #[must_use]
    pub fn with_levels(mut self, column: &str, levels: impl Iterator<Item = String>, refusal: Option<String>) -> Self {
        self.levels.push(LearnedLevels::new(column, levels, refusal));
        self
    }

    /// Sets the error message for a cell outside the map's domain; `{}` stands for the cell.
    #[must_use]
    pub fn with_domain(self, domain: &'static str) -> Self {
        MapFormulas { domain: domain.into(), ..self }
    }

    /// Sets the setting of the map that decides the names, for the error of a column that is made twice.
    #[must_use]
    pub fn named_by(self, setting: &'static str) -> Self {
        MapFormulas { named_by: setting, ..self }
    }

    /// Drops the formulas and levels of columns that are not `needed`.
    pub fn retain(&mut self, needed: &HashSet<String>) {
        if self.by_rows.is_none() {
            self.made.retain(|formula| needed.contains(&formula.name));
            self.levels.retain(|known| needed.contains(&known.column));
            self.index();
        }
    }

    fn index(&mut self) {
        self.by_name = self.made.iter().map(|formula| formula.name.clone()).zip(0..).collect();
        self.by_source.clear();
        for (place, formula) in self.made.iter().enumerate() {
            self.by_source.entry(formula.source().to_owned()).or_default().push(place);
        }
    }

    /// The formula of the column `name`; `None` for a column that the map leaves as it is.
    pub fn get(&self, name: &str) -> Option<&ColumnFormula> {
        self.by_name.get(name).map(|&place| &self.made[place])
    }

    /// The formulas of the column `source`, in their order.
    fn made_from<'f>(&'f self, source: &str) -> impl ExactSizeIterator<Item = &'f ColumnFormula> + use<'f> {
        let places = self.by_source.get(source).map_or(&[][..], Vec::as_slice);
        places.iter().map(move |&place| &self.made[place])
    }

    /// The input columns from which the output column `name` is made; none for a constant.
    pub fn sources(&self, name: &str) -> Vec<String> {
        self.get(name).map_or_else(|| vec![name.to_owned()], |formula| formula.sources.clone())
    }

    /// The output column `name` as an expression of the input columns, missing where the map refuses a level. `None` if
    /// it depends on other rows.
    pub fn expression(&self, name: &str) -> Option<Expression> {
        let Some(formula) = self.get(name) else { return Some(Expression::column(name)) };
        let mut expression = formula.expression.clone()?;
        if let Expression::Level(values) = &mut expression
            && let Some(known) = self.levels_of(formula.source()).filter(|known| known.refusal.is_some())
        {
            let listed: HashSet<String> = values.levels.iter().map(|(level, _)| level.clone()).collect();
            let others = known.levels.iter().filter(|level| !listed.contains(*level));
            values.levels.extend(others.map(|level| (level.clone(), values.other)));
            values.other = f64::NAN;
        }
        Some(expression)
    }

    /// Whether the map keeps every row and transforms it independently of others, so that files can be read in chunks.
    pub fn takes_rows_alone(&self) -> bool {
        self.made.iter().all(|formula| formula.expression.is_some())
    }

    /// Number of earlier rows that the map reads for a row.
    pub fn past(&self) -> usize {
        self.made.iter().filter_map(|formula| formula.lag).max().unwrap_or(0)
    }

    /// Refuses a map that makes a column twice from a table, or a column that the table has already.
    ///
    /// # Errors
    /// [`Error::Setting`] at the setting that decides the names.
    pub fn check(&self, table: &Table) -> Result<()> {
        let replaced: HashSet<&String> =
            self.made.iter().filter(|_| !self.are_added).flat_map(|formula| &formula.sources).collect();
        let kept = table.columns().iter().map(|(name, _)| name).filter(|name| !replaced.contains(name));
        let names = kept.chain(self.made.iter().map(|formula| &formula.name)).map(String::as_str);
        match duplicate(names) {
            Some(twice) => {
                let message = format!("a second column `{twice}` would be made; rename one");
                Err(Error::setting(self.named_by, message))
            }
            None => Ok(()),
        }
    }

    /// Estimated extra memory, in bytes, of the map's output over its input.
    pub fn growth(&self, table: &Table) -> f64 {
        if self.are_added && !self.are_stored(table.rows()) {
            return (PRODUCT_BYTES * self.made.len()) as f64;
        }
        let bytes = |cells: &Cells| match cells {
            Cells::Numbers(numbers) if matches!(numbers.plain(), Numbers::Byte(_)) => 1,
            _ => size_of::<f64>(),
        };
        let growth = |formula: &ColumnFormula| {
            let source = table.get(formula.source()).map_or(0, bytes);
            let own = formula.entry_bytes(source);
            // A column in place of one that is as large takes its memory.
            let is_replaced = !self.are_added && formula.source() == formula.name && own == source;
            if is_replaced { 0.0 } else { own as f64 * table.rows() as f64 }
        };
        let level_growth = self.levels.iter().filter_map(|known| {
            let formulas = self.made_from(&known.column).len();
            Some(growth_by_levels(table.get(&known.column)?, formulas))
        });
        self.made.iter().map(growth).chain(level_growth).sum()
    }

    fn levels_of(&self, column: &str) -> Option<&LearnedLevels> {
        self.levels.iter().find(|known| known.column == column)
    }

    /// Whether products are stored for this many rows.
    fn are_stored(&self, rows: usize) -> bool {
        /// Largest memory of stored products, in bytes; larger ones are computed on reading.
        const STORED: usize = 1 << 26;
        size_of::<f64>() * self.made.len() * rows <= STORED
    }
}

/// Estimated memory, in bytes, of columns made from the levels of the cells. Working memory lists the rows of each
/// level. At most a few levels have too many rows for a sparse column.
fn growth_by_levels(cells: &Cells, columns: usize) -> f64 {
    let rows = cells.len();
    let dense = |columns: usize, bytes: usize| (size_of::<usize>() + columns * bytes) as f64 * rows as f64;
    match SparseNumbers::most_entries(rows).filter(|_| cells.missing().is_none()) {
        Some(most) => dense(columns.min(rows / (most + 1)), 1) + (size_of::<u32>() * rows) as f64,
        None if cells.missing().is_some() => dense(columns, size_of::<f64>() + 1),
        None => dense(columns, 1),
    }
}
