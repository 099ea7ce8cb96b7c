//! Evaluation of formulas, column by column.

use super::levels::RowsByLevel;
use super::{ColumnFormula, MapFormulas};
use crate::table::excludes_missing;
use crate::{Cells, Column, Condition, Error, Expression, Numbers, ProductNumbers, Result, Table};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl MapFormulas {
    /// Applies the map to the columns of `table` that it knows. Columns of the names that it makes are dropped, since
    /// the training rows had none.
    ///
    /// # Errors
    /// [`Error::Shape`] for a cell unlike any in training; [`Error::Numerical`] for an overflow. Both name the cell.
    pub fn transform(&self, mut table: Table) -> Result<Table> {
        if let Some(map) = &self.by_rows {
            return map.transform(table);
        }
        let columns = table.take_columns();
        let columns = if self.are_added { self.add(columns, &table) } else { self.replace(columns, &table) };
        table.with_columns(columns?)
    }

    fn replace(&self, columns: Vec<(String, Cells)>, table: &Table) -> Result<Vec<(String, Cells)>> {
        let mut out = Vec::new();
        for (name, cells) in columns {
            let known = self.levels_of(&name);
            let formulas = self.made_from(&name);
            // A column whose training rows had no level is dropped.
            if formulas.len() == 0 && known.is_none() {
                out.extend(self.get(&name).is_none().then_some((name, cells)));
                continue;
            }
            let rows = known.map(|known| RowsByLevel::new(known, &cells));
            if let Some((refusal, rows)) = known.and_then(|known| known.refusal.as_ref()).zip(rows.as_ref())
                && let Some(&row) = rows.others().first()
            {
                let message = refusal.replacen("{}", &cells.text(row), 1);
                return Err(Error::Shape(format!("row {}, column `{name}`: {message}", table.origin(row) + 1)));
            }
            for formula in formulas {
                let made = match (&formula.expression, &rows) {
                    (Some(Expression::Level(values)), Some(rows)) => Cells::Numbers(rows.values(values)),
                    (Some(expression), None) => self.evaluate_column(expression, &name, &cells, table)?,
                    _ => return Err(no_formula(formula)),
                };
                out.push((formula.name.clone(), made));
            }
        }
        Ok(out)
    }

    /// Values of a formula of one column.
    fn evaluate_column(&self, expression: &Expression, name: &str, cells: &Cells, table: &Table) -> Result<Cells> {
        let numbers: Numbers = match (expression, cells) {
            (Expression::Filled(operands), _) if matches!(operands[1], Expression::Text(_)) => {
                return Ok(fill(operands, cells));
            }
            (Expression::Filled(_), Cells::Numbers(numbers)) if excludes_missing(numbers) => return Ok(cells.clone()),
            (Expression::If(Condition::Missing(operand), _), _) if matches!(**operand, Expression::Column(_)) => {
                let missing = (0..cells.len()).map(|row| if cells.is_missing(row) { f64::NAN } else { 0.0 });
                missing.map(|cell| expression.value(&|_| cell)).collect::<Vec<f64>>().into()
            }
            _ => match (expression.scaling(), cells) {
                (Some((shift, scale)), Cells::Numbers(numbers)) => match numbers.plain() {
                    Numbers::Product(product) => product.rescale(shift, scale),
                    numbers => numbers.map(|x| (x - shift) / scale),
                },
                _ => read(name, cells, expression.has_dates())?
                    .iter()
                    .map(|&x| expression.value(&|_| x))
                    .collect::<Vec<f64>>()
                    .into(),
            },
        };
        let Some(row) = first_unfit(numbers.view(), |row| cells.is_missing(row)) else {
            return Ok(Cells::Numbers(numbers));
        };
        let place = format!("row {}, column `{name}`", table.origin(row) + 1);
        match numbers.view().get(row).is_nan() {
            true => {
                let cell = read(name, cells, expression.has_dates())?[row];
                Err(Error::Shape(format!("{place}: {}", self.domain.replacen("{}", &cell.to_string(), 1))))
            }
            false => Err(overflow(&place)),
        }
    }

    fn add(&self, mut columns: Vec<(String, Cells)>, table: &Table) -> Result<Vec<(String, Cells)>> {
        columns.retain(|(name, _)| self.get(name).is_none());
        let names: HashSet<&str> = self.made.iter().flat_map(|formula| &formula.sources).map(String::as_str).collect();
        let mut sources: HashMap<&str, Arc<Numbers>> = HashMap::new();
        for (name, cells) in &mut columns {
            let Some(name) = names.get(name.as_str()) else { continue };
            let numbers = match cells {
                Cells::Numbers(numbers) => numbers.share(),
                others => Arc::new(read(name, others, false)?.into_owned().into()),
            };
            sources.insert(name, numbers);
        }
        let are_stored = self.are_stored(table.rows());
        let made = self.made.par_iter().map(|formula| {
            let expression = formula.expression.as_ref().ok_or_else(|| no_formula(formula))?;
            if formula.sources.iter().any(|name| !sources.contains_key(name.as_str())) {
                return Ok(None);
            }
            let numbers = combine(expression, &sources, table.rows(), are_stored);
            match first_unfit(numbers.view(), |_| true) {
                None => Ok(Some((formula.name.clone(), Cells::Numbers(numbers)))),
                Some(row) => Err(overflow(&format!("row {}, column `{}`", table.origin(row) + 1, formula.name))),
            }
        });
        // The first error in order is reported.
        let made: Vec<Result<Option<(String, Cells)>>> = made.collect();
        for one in made {
            columns.extend(one?);
        }
        Ok(columns)
    }
}

/// Values of a formula of several columns. Products are computed on reading unless they are stored.
fn combine(expression: &Expression, sources: &HashMap<&str, Arc<Numbers>>, rows: usize, are_stored: bool) -> Numbers {
    if let Some(factors) = factors(expression) {
        let shared = |(name, exponent): (&str, u32)| (Arc::clone(&sources[name]), exponent);
        let product = ProductNumbers::new(factors.into_iter().map(shared).collect());
        return if are_stored { product.view().to_vec().into() } else { Numbers::Product(product) };
    }
    let values: HashMap<&str, Cow<'_, [f64]>> =
        expression.columns().into_iter().map(|name| (name, sources[name].view().values())).collect();
    (0..rows).map(|row| expression.value(&|name| values[name][row])).collect::<Vec<f64>>().into()
}

/// Columns of a product with their exponents.
fn factors(expression: &Expression) -> Option<Vec<(&str, u32)>> {
    let Expression::Product(parts) = expression else { return None };
    parts.iter().map(power).collect::<Option<Vec<_>>>().filter(|factors| !factors.is_empty())
}

/// A column with its exponent. A power is a product of one column with itself.
fn power(part: &Expression) -> Option<(&str, u32)> {
    match part {
        Expression::Column(name) => Some((name, 1)),
        Expression::Product(equal) => match equal.first() {
            Some(Expression::Column(name)) if equal.iter().all(|other| *other == equal[0]) => {
                Some((name, equal.len() as u32))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Cells as text, with missing ones filled.
fn fill(operands: &[Expression; 2], cells: &Cells) -> Cells {
    let fill = if let Expression::Text(fill) = &operands[1] { fill.as_str() } else { "" };
    let text = |row| if cells.is_missing(row) { fill.to_owned() } else { cells.label(row) };
    Cells::Text((0..cells.len()).map(text).collect())
}

/// Numbers of a column, or its dates. A column with all cells missing may have any type.
fn read<'c>(name: &str, cells: &'c Cells, are_dates: bool) -> Result<Cow<'c, [f64]>> {
    match cells {
        Cells::Numbers(numbers) if !are_dates => Ok(numbers.view().values()),
        Cells::Dates(dates) if are_dates => Ok(Cow::Borrowed(dates)),
        other if other.missing().map_or(0, |(_, count)| count) == other.len() => {
            Ok(Cow::Owned(vec![f64::NAN; other.len()]))
        }
        other => {
            let (found, learned) = (other.what(), if are_dates { "dates" } else { "numbers" });
            Err(Error::Shape(format!("column `{name}` holds {found}, and in the training rows it held {learned}")))
        }
    }
}

/// First row with an infinite entry, or with NaN although its cell is not missing.
fn first_unfit(column: Column<'_>, is_missing: impl Fn(usize) -> bool) -> Option<usize> {
    match column {
        Column::Sparse(sparse) if sparse.range().iter().all(|x| x.is_finite()) => None,
        Column::Product(product) => product.numbers().first_infinite(),
        _ => {
            let values = column.values();
            (0..values.len()).find(|&row| !(values[row].is_finite() || values[row].is_nan() && is_missing(row)))
        }
    }
}

fn overflow(place: &str) -> Error {
    Error::Numerical(format!("{place}: the result of the map overflows; rescale what it is made of"))
}

fn no_formula(formula: &ColumnFormula) -> Error {
    Error::Shape(format!("column `{}`: the map has no formula for it", formula.name))
}
