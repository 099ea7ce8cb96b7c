//! Imputation of missing cells.

use super::{Scope, columns, levels::CellValue, weights};
use std::collections::BTreeMap;
use vaglio_core::{ColumnFormula, Condition, Error, Map, RefitScope, Result, prelude::*, row_weights};

/// Fills the missing cells of each column with one value, learned from the training rows.
///
/// `mean` and `median` fill numeric columns, `most_frequent` text as well, a constant the columns of its own type;
/// dates are left unchanged. Every such column gets a value, even without missing cells, since new rows may have some.
/// A column without any value in the training rows becomes zeros or the text `missing`; as a constant it is never
/// selected. Cost O(rows · columns), times log rows for `median` and `most_frequent`.
#[part(
    Map,
    "impute",
    summary = "cells that are missing, filled by the mean, the median, the most frequent value or a constant",
    example = "preprocess: [{kind: impute, how: mean, indicator: false}]"
)]
#[derive(PartialEq)]
pub struct Impute {
    /// Value that replaces a missing cell.
    pub(crate) how: ImputeStrategy,
    /// Whether to add, for each column `x` with missing cells in the training rows, a column `x_missing` that is 1
    /// where `x` was missing and 0 elsewhere.
    pub indicator: bool,
    /// Columns to fill; by default all that `how` can fill.
    pub columns: Option<Vec<String>>,
    /// Rows on which the values are learned during cross-validation. `auto` refits only means in each fold, by a
    /// formula; `fold` refits other values, and all later maps, in each fold.
    pub scope: Scope,
}

/// Value that replaces a missing cell.
#[setting]
#[derive(Default, PartialEq)]
pub enum ImputeStrategy {
    /// Weighted mean of the column.
    #[default]
    Mean,
    /// Weighted median; the midpoint of two middle values.
    Median,
    /// Value with the largest total weight; the smallest of ties.
    MostFrequent,
    /// A given value.
    Constant(CellValue),
}

impl Impute {
    /// Fills with the weighted median.
    pub fn median() -> Self {
        Impute { how: ImputeStrategy::Median, ..Impute::default() }
    }

    /// Fills with the most frequent value.
    pub fn most_frequent() -> Self {
        Impute { how: ImputeStrategy::MostFrequent, ..Impute::default() }
    }

    /// Fills with a number or a text.
    pub fn constant(value: impl Into<CellValue>) -> Self {
        Impute { how: ImputeStrategy::Constant(value.into()), ..Impute::default() }
    }
}

/// Fill value of one column.
#[setting]
pub struct Fill {
    value: CellValue,
    indicator: bool,
}

impl Map for Impute {
    fn traits(&self) -> MapTraits {
        self.scope.traits((self.how == ImputeStrategy::Mean).then_some(RefitScope::Impute))
    }

    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        let TrainingRows { table, weights, .. } = *rows;
        let (what, numbers, text) = self.how.takes();
        let takes = |cells: &Cells| match cells {
            Cells::Numbers(_) => numbers,
            Cells::Text(_) => text,
            Cells::Dates(_) => false,
        };
        let chosen = columns::chosen(table, self.columns.as_deref(), what, takes)?;
        let formulas = chosen.into_iter().flat_map(|(name, cells)| {
            // A column without values may have some in held-out rows; here it is constant, and so never selected.
            let value = self.how.value(cells, weights).unwrap_or_else(|| match cells {
                Cells::Text(_) => CellValue::Text("missing".into()),
                _ => CellValue::Number(0.0),
            });
            let counts = |row: usize| weights::counts(weights, row) && cells.is_missing(row);
            let indicator = self.indicator && cells.missing().is_some() && (0..cells.len()).any(counts);
            Fill { value, indicator }.formulas(name)
        });
        Ok(formulas.collect::<MapFormulas>().named_by("indicator"))
    }

    fn check_settings(&self) -> Result<()> {
        match &self.how {
            ImputeStrategy::Constant(CellValue::Number(x)) if !x.is_finite() => {
                return Err(Error::setting("how.constant", format!("{x} is not a finite number")));
            }
            ImputeStrategy::Constant(CellValue::Text(text)) if text.is_empty() => {
                return Err(Error::setting("how.constant", "an empty text is a missing cell itself"));
            }
            _ => {}
        }
        columns::check(self.columns.as_deref())
    }
}

impl ImputeStrategy {
    /// Columns that it can fill, in words, and whether these are of numbers and of text.
    fn takes(&self) -> (&'static str, bool, bool) {
        match self {
            ImputeStrategy::Mean => ("of `mean` columns of numbers", true, false),
            ImputeStrategy::Median => ("of `median` columns of numbers", true, false),
            ImputeStrategy::MostFrequent => ("of `most_frequent` columns of numbers and text", true, true),
            ImputeStrategy::Constant(CellValue::Number(_)) => {
                ("of a constant that is a number columns of numbers", true, false)
            }
            ImputeStrategy::Constant(CellValue::Text(_)) => ("of a constant that is text columns of text", false, true),
        }
    }

    /// Fill value for the column; `None` if no cell has a value.
    fn value(&self, cells: &Cells, weights: Option<&[f64]>) -> Option<CellValue> {
        if let ImputeStrategy::Constant(value) = self {
            return Some(value.clone());
        }
        if let Cells::Text(text) = cells {
            let mut totals: BTreeMap<&String, f64> = BTreeMap::new();
            for (row, text) in text.iter().enumerate().filter(|(row, _)| weights::counts(weights, *row)) {
                *totals.entry(text).or_default() += row_weights(weights)(row);
            }
            let held = totals.into_iter().filter(|(text, _)| !text.is_empty());
            return weights::most_frequent(held.map(|(text, total)| (total, text))).cloned().map(CellValue::Text);
        }
        let values = cells.numbers()?.values();
        let value = match self {
            ImputeStrategy::Mean => weights::mean(&weights::counting(&values, weights)),
            ImputeStrategy::Median => weights::quantile(&weights::in_order(&values, weights), 0.5),
            _ => weights::most_frequent(weights::in_order(&values, weights).into_iter()),
        };
        value.map(CellValue::Number)
    }
}

impl Fill {
    /// Formulas of the filled column and, if wanted, of the indicator of its missing cells.
    pub fn formulas(&self, name: &str) -> Vec<ColumnFormula> {
        let value = Expression::column(name);
        let by = match &self.value {
            CellValue::Number(number) => Expression::Number(*number),
            CellValue::Text(text) => Expression::Text(text.clone()),
        };
        let filled = Expression::Filled(Box::new([value.clone(), by]));
        let is_missing = Expression::If(Condition::Missing(Box::new(value)), Box::new([1.0.into(), 0.0.into()]));
        let indicator = self.indicator.then(|| is_missing.named(format!("{name}_missing")));
        [filled.named(name)].into_iter().chain(indicator).collect()
    }
}
