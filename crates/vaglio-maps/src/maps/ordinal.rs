//! Ordinal encoding of levels.

use super::levels::{LISTED, rows_by_level};
use super::{LearnedOn, Value, columns};
use std::borrow::Cow;
use std::collections::BTreeMap;
use vaglio_core::{Error, LearnedLevels, Map, OutputUnit, Result, abridge, prelude::*};

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
    pub order: BTreeMap<String, Vec<Value>>,
    /// Treatment of levels that are not in the order.
    pub unknown: UnknownLevel,
    /// Rows on which the order is learned during cross-validation.
    pub scope: LearnedOn,
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
                Some(order) => order.iter().map(Value::label).collect(),
                None => rows_by_level(cells, weights).into_keys().map(Cow::into_owned).collect(),
            };
            columns.insert(name.to_owned(), levels.into_iter().zip(0..).collect());
        }
        Ok(formulas(&columns, self.unknown))
    }

    fn traits(&self) -> MapTraits {
        self.scope.traits()
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
    let levels = |(column, places): (&String, &BTreeMap<String, usize>)| {
        let refusal = (unknown == UnknownLevel::Error).then(|| refusal(places));
        LearnedLevels::new(column, places.keys().cloned(), refusal)
    };
    let formulas: MapFormulas = columns.iter().map(formula).collect();
    formulas.with_levels(columns.iter().map(levels).collect())
}

/// Error message for a level that is not in the order.
fn refusal(places: &BTreeMap<String, usize>) -> String {
    let levels: BTreeMap<&usize, &String> = places.iter().map(|(level, place)| (place, level)).collect();
    let order = abridge(levels.into_values(), LISTED);
    format!("`{{}}` is not in the order {order}; add it to `order`, or set `unknown: missing`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maps::tests::{self, fit, numbers, text};
    use vaglio_core::Table;

    fn table() -> Table {
        let (s, t) = (text(&["mid", "", "low"]), text(&["b", "a", "b"]));
        tests::table([("s", s), ("t", t), ("n", numbers(&[10.0, 9.0, f64::NAN]))])
    }

    fn out(json: &str) -> Result<Table> {
        fit(json, &table())?.transform(table())
    }

    fn labels(table: &Table, name: &str) -> Vec<String> {
        (0..3).map(|row| table.get(name).unwrap().label(row)).collect()
    }

    #[test]
    fn levels_become_their_places_in_the_order() {
        let made = out(r#"{"kind": "ordinal", "order": {"s": ["low", "mid", "high"]}}"#).unwrap();
        assert_eq!(
            (labels(&made, "s"), labels(&made, "t")),
            (vec!["1".into(), String::new(), "0".into()], vec!["b".into(), "a".into(), "b".into()])
        );
        let made = out(r#"{"kind": "ordinal"}"#).unwrap();
        assert_eq!(
            (labels(&made, "s")[0].as_str(), labels(&made, "t")),
            ("1", vec!["1".into(), "0".into(), "1".into()])
        );
        let made = out(r#"{"kind": "ordinal", "order": {"n": [10, 9]}}"#).unwrap();
        assert_eq!(labels(&made, "n"), ["0", "1", ""]);
        let made = out(r#"{"kind": "ordinal", "order": {"s": ["mid"]}, "unknown": "missing"}"#).unwrap();
        assert_eq!(labels(&made, "s"), ["0", "", ""]);
    }

    #[test]
    fn what_is_not_in_the_order_is_refused() {
        for (json, words) in [
            (
                r#"{"kind": "ordinal", "order": {"s": ["mid", "high"]}}"#,
                "row 3, column `s`: `low` is not in the order mid, high",
            ),
            (r#"{"kind": "ordinal", "order": {"s": []}}"#, "`order.s`: it is empty"),
            (r#"{"kind": "ordinal", "order": {"s": ["a", "a"]}}"#, "`order.s[1]`: `a` is listed twice"),
            (r#"{"kind": "ordinal", "order": {"u": ["a"]}}"#, "`order.u`: there is no column `u`"),
            (
                r#"{"kind": "ordinal", "order": {"s": ["a"]}, "columns": ["t"]}"#,
                "`order.s`: `s` is not among `columns`",
            ),
        ] {
            let error = out(json).unwrap_err().to_string();
            assert!(error.contains(words), "{json}: {error}");
        }
    }
}
