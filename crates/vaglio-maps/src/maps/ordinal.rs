//! Ordinal encoding of levels.

use super::levels::{CellValue, LISTED, rows_by_level};
use super::{Scope, columns};
use std::borrow::Cow;
use std::collections::BTreeMap;
use vaglio_core::{Error, Map, OutputUnit, Result, abridge, prelude::*};

/// Replaces text columns by numbers: the position of each level in an order, from 0.
///
/// The order is `order` if given, else alphabetical. Missing cells stay missing. Cost O(rows · columns).
///
/// # Errors
/// A level that is not in the order, with row and column, unless `unknown` makes it missing.
#[part(
    Map,
    "ordinal",
    summary = "the place of each level of a text column in an order",
    example = "preprocess: [{kind: ordinal, order: {size: [low, mid, high]}}]"
)]
#[derive(PartialEq)]
pub struct Ordinal {
    /// Columns to encode; by default those of `order`, or all text columns without it. Named columns may also hold
    /// numbers.
    pub columns: Option<Vec<String>>,
    /// Levels of a column from the lowest to the highest.
    pub order: BTreeMap<String, Vec<CellValue>>,
    /// Treatment of levels that are not in the order.
    pub(crate) unknown: UnknownLevel,
    /// Rows on which the order is learned during cross-validation.
    #[default(Scope::Train)]
    pub scope: Scope,
}

/// Treatment of levels that are not in the order.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum UnknownLevel {
    /// Refuse, with the row.
    #[default]
    Error,
    /// Make the cell missing.
    Missing,
}

impl Ordinal {
    /// Makes cells missing whose level is not in the order.
    #[must_use]
    pub fn unknown_as_missing(self) -> Self {
        Ordinal { unknown: UnknownLevel::Missing, ..self }
    }
}

impl Map for Ordinal {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        let TrainingRows { table, weights, .. } = *rows;
        if let Some(name) = self.order.keys().find(|name| table.get(name).is_none()) {
            return Err(Error::unknown(format!("order.{name}"), "column", name, table.names()));
        }
        let ordered: Vec<String> = self.order.keys().cloned().collect();
        let named = self.columns.as_deref().or((!ordered.is_empty()).then_some(&ordered[..]));
        let mut columns = Orders::new();
        for (name, cells) in columns::levels(table, named)? {
            let levels: Vec<String> = match self.order.get(name) {
                Some(order) => order.iter().map(CellValue::label).collect(),
                None => rows_by_level(cells, weights).into_keys().map(Cow::into_owned).collect(),
            };
            columns.insert(name.to_owned(), levels.into_iter().zip(0..).collect());
        }
        Ok(formulas(&columns, self.unknown))
    }

    fn traits(&self) -> MapTraits {
        self.scope.traits(None)
    }

    fn check_settings(&self) -> Result<()> {
        for (name, order) in &self.order {
            let field = format!("order.{name}");
            columns::check_list(&field, order, |level| format!("`{}`", level.label()))?;
            if self.columns.as_ref().is_some_and(|columns| !columns.contains(name)) {
                return Err(Error::setting(field, format!("`{name}` is not among `columns`")));
            }
        }
        columns::check(self.columns.as_deref())
    }
}

/// Position of each level, by column.
pub type Orders = BTreeMap<String, BTreeMap<String, usize>>;

pub fn formulas(columns: &Orders, unknown: UnknownLevel) -> MapFormulas {
    let formula = |(name, places): (&String, &BTreeMap<String, usize>)| {
        let levels = places.iter().map(|(level, place)| (level.clone(), *place as f64)).collect();
        Expression::levels(name, levels, f64::NAN).named(name).in_unit(OutputUnit::Code)
    };
    columns.iter().fold(columns.iter().map(formula).collect(), |formulas: MapFormulas, (column, places)| {
        let refusal = (unknown == UnknownLevel::Error).then(|| refusal(places));
        formulas.with_levels(column, places.keys().cloned(), refusal)
    })
}

/// Error message for a level that is not in the order.
fn refusal(places: &BTreeMap<String, usize>) -> String {
    let levels: BTreeMap<&usize, &String> = places.iter().map(|(level, place)| (place, level)).collect();
    let order = abridge(levels.into_values(), LISTED);
    format!("`{{}}` is not in the order {order}; add it to `order`, or set `unknown: missing`")
}
