//! Indicators of the levels of text columns.

use super::{LearnedOn, columns, weights};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use vaglio_core::{
    Cells, Error, Expression, FittedMap, FoldFit, LevelValues, Map, Numbers, Result, Table, part, saved,
};

/// Replaces every text column by one 0/1 column per level, named `column=level`, levels sorted and all kept unless they
/// are rare, or `drop` says otherwise.
///
/// A cell that is missing leaves all indicators of its column missing: `impute` before it, or after it, decides. Cost
/// O(rows · levels), a byte an entry where no cell is missing.
#[part(
    Map,
    "one_hot",
    summary = "a 0/1 column for every level of every text column",
    example = "preprocess: [{kind: one_hot, rare: 0, unknown: zeros}]"
)]
#[derive(PartialEq, Eq)]
pub struct OneHot {
    /// Levels in fewer training rows than this, by weight, are pooled into one column, `column=(rare)`.
    pub rare: u32,
    /// What becomes of a level that the training rows lacked.
    pub unknown: Unknown,
    /// Which level has no column, but zeros in those of the others.
    pub drop: Dropped,
    /// The columns; all of text when absent. Those that are named may hold numbers or dates, of which each is a level.
    pub columns: Option<Vec<String>>,
    /// On which rows it is learned while a criterion validates.
    pub scope: LearnedOn,
}

/// What becomes of a level that the training rows lacked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// It counts as a rare one where there are some; else all indicators are 0.
    #[default]
    Zeros,
    /// It is refused with its row.
    Error,
}

/// Which level has no column of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// None.
    #[default]
    None,
    /// The first of two, which the other column says as well.
    IfBinary,
}

vaglio_core::setters!(OneHot { rare: u32, unknown: Unknown, drop: Dropped, scope: LearnedOn;; columns: [String] });

/// The levels that [`OneHot`] found in the training rows.
#[saved(FittedMap, "one_hot")]
#[derive(Clone, PartialEq, Eq)]
pub struct FittedOneHot {
    columns: Vec<Levels>,
    /// Before there was a choice they were refused.
    #[serde(default = "refused")]
    unknown: Unknown,
}

fn refused() -> Unknown {
    Unknown::Error
}

/// The sorted levels of one column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Levels {
    column: String,
    levels: Vec<String>,
    /// Those that share a column, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rare: Vec<String>,
    /// The level that has no column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dropped: Option<String>,
}

/// The level that stands for all rare ones.
const RARE: &str = "(rare)";

/// Levels that a message lists, at most.
const LISTED: usize = 12;

impl Map for OneHot {
    fn fit(&self, table: &Table, weights: Option<&[f64]>) -> Result<Box<dyn FittedMap>> {
        let takes = |cells: &Cells| self.columns.is_some() || matches!(cells, Cells::Text(_));
        let chosen = columns::chosen(table, self.columns.as_deref(), "columns of text", takes)?;
        let levels = |(name, cells): (&str, &Cells)| self.levels(name, cells, weights);
        let columns = chosen.into_iter().map(levels).collect::<Result<_>>()?;
        Ok(Box::new(FittedOneHot { columns, unknown: self.unknown }))
    }

    fn in_folds(&self) -> FoldFit {
        self.scope.in_folds()
    }

    fn check(&self) -> Result<()> {
        columns::check(self.columns.as_deref())
    }
}

impl OneHot {
    /// The levels of rows that count, and which of them are rare.
    fn levels(&self, column: &str, cells: &Cells, weights: Option<&[f64]>) -> Result<Levels> {
        let mut rows: BTreeMap<Cow<'_, str>, f64> = BTreeMap::new();
        for row in (0..cells.len()).filter(|&row| weights::counts(weights, row) && !cells.is_missing(row)) {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            *rows.entry(label(cells, row)).or_default() += weight;
        }
        let (levels, rare): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, count)| *count >= f64::from(self.rare));
        let named =
            |levels: Vec<(Cow<'_, str>, f64)>| levels.into_iter().map(|(level, _)| level.into_owned()).collect();
        let (mut levels, rare): (Vec<String>, Vec<String>) = (named(levels), named(rare));
        if !rare.is_empty() && levels.iter().any(|level| level == RARE) {
            let message = format!(
                "the column `{column}` has a level `{RARE}`, which is what rare levels are called together; rename it or set `rare` to 0"
            );
            return Err(Error::setting("rare", message));
        }
        let is_dropped = self.drop == Dropped::IfBinary && levels.len() == 2 && rare.is_empty();
        let dropped = is_dropped.then(|| levels.remove(0));
        Ok(Levels { column: column.to_owned(), levels, rare, dropped })
    }
}

impl FittedMap for FittedOneHot {
    fn divisor(&self, _name: &str) -> Option<f64> {
        Some(1.0)
    }

    fn growth(&self, table: &Table) -> f64 {
        let of_column = |known: &Levels| {
            let Some(cells) = table.get(&known.column) else { return 0.0 };
            let bytes = if cells.missing().is_some() { std::mem::size_of::<f64>() + 1 } else { 1 };
            (known.levels.len() + usize::from(!known.rare.is_empty())) as f64 * (bytes * cells.len()) as f64
        };
        self.columns.iter().map(of_column).sum()
    }

    /// A column of numbers that was text in training is matched by the numbers' shortest text.
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

    fn sources(&self, name: &str) -> Vec<String> {
        vec![self.made_of(name).map_or(name, |(known, _)| &known.column).to_owned()]
    }

    fn expression(&self, name: &str) -> Option<Expression> {
        let Some((known, level)) = self.made_of(name) else { return Some(Expression::column(name)) };
        let refuses = self.unknown == Unknown::Error;
        // Levels that are neither this one nor pooled are told where others are pooled here, or refused.
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
    /// The column that the indicator of this name is made of, and its level.
    fn made_of<'a>(&'a self, name: &'a str) -> Option<(&'a Levels, &'a str)> {
        self.columns.iter().find_map(|known| {
            let level = name.strip_prefix(&*known.column)?.strip_prefix('=')?;
            known.makes(level).then_some((known, level))
        })
    }

    /// Each text column with the columns that were made from it, in order.
    pub fn blocks(&self) -> Vec<(String, Vec<String>)> {
        self.columns.iter().map(|known| (known.column.clone(), known.outputs().collect())).collect()
    }
}

/// The cell as text.
fn label(cells: &Cells, row: usize) -> Cow<'_, str> {
    match cells {
        Cells::Text(text) => Cow::Borrowed(&text[row]),
        _ => Cow::Owned(cells.label(row)),
    }
}

impl Levels {
    fn outputs(&self) -> impl Iterator<Item = String> {
        let pooled = (!self.rare.is_empty()).then_some(RARE);
        self.levels.iter().map(String::as_str).chain(pooled).map(|level| format!("{}={level}", self.column))
    }

    /// Whether a level has a column of its own, or is the name of that of rare ones.
    fn makes(&self, level: &str) -> bool {
        let is_known = self.levels.binary_search_by(|known| known.as_str().cmp(level)).is_ok();
        is_known || (level == RARE && !self.rare.is_empty())
    }

    /// The column of a level, from 0, or that of rare ones for one that is unknown; `None` where there is none.
    fn place(&self, label: &str, unknown: Unknown) -> Option<usize> {
        let rare = || self.rare.binary_search_by(|rare| rare.as_str().cmp(label)).is_ok();
        let pooled = !self.rare.is_empty() && (unknown == Unknown::Zeros || rare());
        let known = self.levels.binary_search_by(|level| level.as_str().cmp(label)).ok();
        known.or(pooled.then_some(self.levels.len()))
    }

    fn indicators(
        &self,
        cells: &Cells,
        unknown: Unknown,
        origin: impl Fn(usize) -> usize,
    ) -> Result<Vec<(String, Cells)>> {
        let mut indicators = vec![vec![0u8; cells.len()]; self.levels.len() + usize::from(!self.rare.is_empty())];
        let is_missing = |row: &usize| cells.is_missing(*row);
        let missing: Vec<usize> = (0..cells.len()).filter(is_missing).collect();
        for row in (0..cells.len()).filter(|row| !is_missing(row)) {
            let label = label(cells, row);
            match self.place(&label, unknown) {
                Some(place) => indicators[place][row] = 1,
                None if unknown == Unknown::Zeros || self.dropped.as_deref() == Some(&*label) => {}
                None => return Err(self.unknown(origin(row), &label)),
            }
        }
        let cells = indicators.into_iter().map(|bytes| {
            if missing.is_empty() {
                return Cells::Numbers(Numbers::from(bytes));
            }
            let mut doubles: Vec<f64> = bytes.into_iter().map(f64::from).collect();
            missing.iter().for_each(|&row| doubles[row] = f64::NAN);
            Cells::Numbers(Numbers::from(doubles))
        });
        Ok(self.outputs().zip(cells).collect())
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
        fit(r#"{"kind": "one_hot", "unknown": "error"}"#)
    }

    fn fit(json: &str) -> Box<dyn FittedMap> {
        let (c, d) = (text(&["y", "x", "1"]), text(&["p", "p", "p"]));
        fit_on(json, &table(vec![("a", numbers(&[1.0, 2.0, 3.0])), ("c", c), ("d", d)]))
    }

    fn fit_on(json: &str, table: &Table) -> Box<dyn FittedMap> {
        let map: Box<dyn Map> = serde_json::from_str(json).unwrap();
        map.fit(table, None).unwrap()
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
        let fitted = OneHot::default().fit(&clash, None).unwrap();
        assert!(fitted.transform(clash).unwrap_err().to_string().contains("two columns are named `c=x`"));
    }

    #[test]
    fn a_level_that_training_lacked_is_zeros_or_a_rare_one() {
        let out = fit(r#"{"kind": "one_hot"}"#).transform(table(vec![("c", text(&["z", "x"]))])).unwrap();
        assert_eq!(["c=1", "c=x", "c=y"].map(|name| values(&out, name)[0]), [0.0; 3]);
        let training = table(vec![("c", text(&["x", "y", "x", "w", "(rare)", "y"]))]);
        for (unknown, z) in [(Unknown::Zeros, Some(1.0)), (Unknown::Error, None)] {
            let fitted = OneHot { rare: 2, unknown, ..OneHot::default() }.fit(&training, None).unwrap();
            let out = fitted.transform(training.clone()).unwrap();
            assert_eq!(out.names().collect::<Vec<_>>(), ["c=x", "c=y", "c=(rare)"]);
            assert_eq!(values(&out, "c=(rare)"), [0.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
            assert_eq!(fitted.sources("c=(rare)"), ["c"]);
            let new = fitted.transform(table(vec![("c", text(&["z"]))])).ok();
            assert_eq!(new.map(|out| values(&out, "c=(rare)")[0]), z);
        }
        let twice = table(vec![("c", text(&["(rare)", "y", "(rare)"]))]);
        let error = OneHot { rare: 2, ..OneHot::default() }.fit(&twice, None).unwrap_err();
        assert!(error.to_string().contains("`rare`: the column `c` has a level `(rare)`"), "{error}");
    }

    #[test]
    fn of_two_levels_the_first_may_have_no_column() {
        let training = table(vec![("c", text(&["x", "y", "x"])), ("d", text(&["p", "q", "r"]))]);
        for (unknown, is_taken) in [("zeros", true), ("error", false)] {
            let fitted =
                fit_on(&format!(r#"{{"kind": "one_hot", "drop": "if_binary", "unknown": "{unknown}"}}"#), &training);
            let out = fitted.transform(training.clone()).unwrap();
            assert_eq!(out.names().collect::<Vec<_>>(), ["c=y", "d=p", "d=q", "d=r"]);
            assert_eq!(values(&out, "c=y"), [0.0, 1.0, 0.0]);
            assert_eq!(fitted.sources("c=y"), ["c"]);
            let new = fitted.transform(table(vec![("c", text(&["z"]))]));
            match is_taken {
                true => assert_eq!(values(&new.unwrap(), "c=y"), [0.0]),
                false => assert!(new.unwrap_err().to_string().ends_with("levels of the training rows: x, y")),
            }
        }
    }

    #[test]
    fn levels_count_by_weight_and_not_where_that_is_zero() {
        let training = table(vec![("c", text(&["x", "y", "z", "w"]))]);
        let map = OneHot { rare: 2, ..OneHot::default() };
        let out = map.fit(&training, Some(&[2.0, 1.0, 0.0, 3.0])).unwrap().transform(training).unwrap();
        assert_eq!(out.names().collect::<Vec<_>>(), ["c=w", "c=x", "c=(rare)"]);
    }

    #[test]
    fn a_missing_cell_leaves_its_indicators_missing() {
        let training = table(vec![("c", text(&["x", "", "y"]))]);
        let out = OneHot::default().fit(&training, None).unwrap().transform(training).unwrap();
        assert_eq!(out.names().collect::<Vec<_>>(), ["c=x", "c=y"]);
        for name in ["c=x", "c=y"] {
            assert!(values(&out, name)[1].is_nan() && !values(&out, name)[2].is_nan(), "{name}");
        }
    }

    #[test]
    fn columns_that_are_named_may_hold_numbers() {
        let training = table(vec![("c", numbers(&[3.0, 10.0, f64::NAN])), ("d", text(&["p", "q", "p"]))]);
        let map = OneHot { columns: Some(vec!["c".into()]), ..OneHot::default() };
        let out = map.fit(&training, None).unwrap().transform(training).unwrap();
        assert_eq!(out.names().collect::<Vec<_>>(), ["c=10", "c=3", "d"]);
    }

    #[test]
    fn what_was_saved_before_there_was_a_choice_refuses_unknown_levels() {
        let json = r#"{"kind": "one_hot", "columns": [{"column": "c", "levels": ["x", "y"]}]}"#;
        let fitted: Box<dyn FittedMap> = serde_json::from_str(json).unwrap();
        assert!(fitted.transform(table(vec![("c", text(&["z"]))])).is_err());
        assert_eq!(values(&fitted.transform(table(vec![("c", text(&["y"]))])).unwrap(), "c=y"), [1.0]);
    }
}
