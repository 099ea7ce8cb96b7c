//! Indicators of the levels of text columns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use vaglio_core::{Cells, Error, FittedMap, Map, Numbers, Result, Table};

/// Replaces every text column by one 0/1 column per level, named `column=level`, levels sorted and all kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneHot {}

vaglio_core::describe!(
    Map,
    OneHot,
    "one_hot",
    "a 0/1 column for every level of every text column",
    "preprocess: [one_hot]"
);

/// The levels that [`OneHot`] found in the training rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FittedOneHot {
    columns: Vec<Levels>,
}

/// The sorted levels of one column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Levels {
    column: String,
    levels: Vec<String>,
}

/// Levels that a message lists, at most.
const LISTED: usize = 12;

#[typetag::serde(name = "one_hot")]
impl Map for OneHot {
    fn fit(&self, table: &Table, _weights: Option<&[f64]>) -> Result<Box<dyn FittedMap>> {
        let levels = |(name, cells): &(String, Cells)| match cells {
            Cells::Text(text) => {
                let levels: BTreeSet<&String> = text.iter().filter(|level| !level.is_empty()).collect();
                Some(Levels { column: name.clone(), levels: levels.into_iter().cloned().collect() })
            }
            Cells::Numbers(_) | Cells::Dates(_) => None,
        };
        Ok(Box::new(FittedOneHot { columns: table.columns().iter().filter_map(levels).collect() }))
    }
}

#[typetag::serde(name = "one_hot")]
impl FittedMap for FittedOneHot {
    fn divisor(&self, _name: &str) -> Option<f64> {
        Some(1.0)
    }

    /// A column of numbers that was text in training is matched by the numbers' shortest text.
    fn transform(&self, mut table: Table) -> Result<Table> {
        let mut out = Vec::new();
        for (name, cells) in table.take_columns() {
            match self.columns.iter().find(|known| known.column == name) {
                Some(known) => out.extend(known.indicators(&cells, |row| table.origin(row))?),
                None => out.push((name, cells)),
            }
        }
        table.with_columns(out)
    }

    fn sources(&self, name: &str) -> Vec<String> {
        let made = |known: &&Levels| known.outputs().any(|output| output == name);
        vec![self.columns.iter().find(made).map_or(name, |known| &known.column).to_owned()]
    }
}

impl FittedOneHot {
    /// Each text column with the columns that were made from it, in order.
    pub fn blocks(&self) -> Vec<(String, Vec<String>)> {
        self.columns.iter().map(|known| (known.column.clone(), known.outputs().collect())).collect()
    }
}

impl Levels {
    fn outputs(&self) -> impl Iterator<Item = String> {
        self.levels.iter().map(|level| format!("{}={level}", self.column))
    }

    fn indicators(&self, cells: &Cells, origin: impl Fn(usize) -> usize) -> Result<Vec<(String, Cells)>> {
        let mut indicators = vec![vec![0u8; cells.len()]; self.levels.len()];
        for row in 0..cells.len() {
            let label = cells.label(row);
            let level = self.levels.binary_search(&label).ok();
            match level.and_then(|level| indicators.get_mut(level)).and_then(|column| column.get_mut(row)) {
                Some(cell) => *cell = 1,
                None => return Err(self.unknown(origin(row), &label)),
            }
        }
        let cells = indicators.into_iter().map(|bytes| Cells::Numbers(Numbers::from(bytes)));
        Ok(self.outputs().zip(cells).collect())
    }

    fn unknown(&self, row: usize, label: &str) -> Error {
        let listed: Vec<&str> = self.levels.iter().take(LISTED).map(String::as_str).collect();
        let more = if self.levels.len() > LISTED { ", …" } else { "" };
        Error::Shape(format!(
            "row {}, column `{}`: `{label}` is none of the levels of the training rows: {}{more}",
            row + 1,
            self.column,
            listed.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(cells: &[&str]) -> Cells {
        Cells::Text(cells.iter().map(|&c| c.to_owned()).collect())
    }

    fn numbers(values: &[f64]) -> Cells {
        Cells::Numbers(Numbers::from(values.to_vec()))
    }

    fn table(columns: Vec<(&str, Cells)>) -> Table {
        Table::new(columns.into_iter().map(|(name, cells)| (name.to_owned(), cells)).collect()).unwrap()
    }

    fn fitted() -> Box<dyn FittedMap> {
        let map: Box<dyn Map> = serde_json::from_str(r#"{"kind": "one_hot"}"#).unwrap();
        let table =
            table(vec![("a", numbers(&[1.0, 2.0, 3.0])), ("c", text(&["y", "x", "1"])), ("d", text(&["p", "p", "p"]))]);
        map.fit(&table, None).unwrap()
    }

    fn values(table: &Table, name: &str) -> Vec<f64> {
        table.get(name).unwrap().numbers().unwrap().values().into_owned()
    }

    #[test]
    fn text_becomes_indicators_in_its_place() {
        let out = fitted()
            .transform(table(vec![("d", text(&["p", "p"])), ("c", text(&["x", "y"])), ("a", numbers(&[5.0, 6.0]))]))
            .unwrap();
        assert_eq!(out.names().collect::<Vec<_>>(), ["d=p", "c=1", "c=x", "c=y", "a"]);
        assert_eq!(values(&out, "c=x"), [1.0, 0.0]);
        assert_eq!(values(&out, "c=y"), [0.0, 1.0]);
        assert_eq!(values(&out, "c=1"), [0.0, 0.0]);
        assert_eq!(values(&out, "d=p"), [1.0, 1.0]);
        assert_eq!(values(&out, "a"), [5.0, 6.0]);
    }

    #[test]
    fn fewer_columns_are_enough_and_numbers_match_their_text() {
        let out = fitted().transform(table(vec![("c", numbers(&[1.0]))])).unwrap();
        assert_eq!(values(&out, "c=1"), [1.0]);
    }

    #[test]
    fn a_level_that_training_lacked_is_named() {
        let error = fitted().transform(table(vec![("c", text(&["x", "z"]))])).unwrap_err();
        assert_eq!(error.to_string(), "row 2, column `c`: `z` is none of the levels of the training rows: 1, x, y");
        assert_eq!(error.class(), vaglio_core::ExitClass::Data);
    }

    #[test]
    fn an_output_knows_its_source_and_the_map_its_blocks() {
        let fitted = fitted();
        assert_eq!(fitted.sources("c=x"), ["c"]);
        assert_eq!(fitted.sources("a"), ["a"]);
        let json = serde_json::to_string(&fitted).unwrap();
        assert!(json.starts_with(r#"{"kind":"one_hot""#), "{json}");
        let plain: FittedOneHot = serde_json::from_str(&json.replacen(r#""kind":"one_hot","#, "", 1)).unwrap();
        let blocks = [("c", vec!["c=1", "c=x", "c=y"]), ("d", vec!["d=p"])];
        let blocks = blocks.map(|(c, o)| (c.to_owned(), o.into_iter().map(str::to_owned).collect::<Vec<_>>()));
        assert_eq!(plain.blocks(), blocks);
    }

    #[test]
    fn a_name_made_twice_is_refused() {
        let clash = table(vec![("c", text(&["x"])), ("c=x", numbers(&[1.0]))]);
        let fitted = OneHot {}.fit(&clash, None).unwrap();
        assert!(fitted.transform(clash).unwrap_err().to_string().contains("two columns are named `c=x`"));
    }
}
