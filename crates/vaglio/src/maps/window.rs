//! Columns at earlier steps of their series.

use super::columns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vaglio_core::{Cells, Error, FittedMap, Map, Numbers, Result, Table, TrainingRows, part, saved};

/// Replaces columns of numbers by their values some steps earlier in the same series: column `x` becomes `x` for a lag
/// of 0, `x_lag1` for 1, and so on.
///
/// `lags: {y: [1, 2], x: [0, 1]}` gives columns lags of their own. A target may be among them, with lags from 1 on: the
/// present is what is to be predicted. The window is then the first map.
///
/// Rows without full history, the first max(lags) of each series, are dropped, and so are series that have no others.
/// Without series the whole table is one. Cost O(rows · columns · lags).
#[part(
    Map,
    "window",
    summary = "columns, and targets, at earlier steps of their time series",
    example = "preprocess: [{kind: window, lags: [0, 1, 2]}]"
)]
#[derive(PartialEq, Eq)]
pub struct Window {
    /// How many steps back, each once; 0 is the step itself. A list for all columns, or a list for each of some columns.
    pub lags: Lags,
    /// The columns, with a list of lags for all; all columns of numbers when absent. Others stay as they are.
    pub columns: Option<Vec<String>>,
}

/// How many steps back [`Window`] looks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a list of steps, or such a list for each of some columns")]
pub enum Lags {
    /// The same for all columns.
    All(Vec<usize>),
    /// Those of each column.
    Each(BTreeMap<String, Vec<usize>>),
}

impl Default for Lags {
    fn default() -> Self {
        Lags::All(vec![0, 1, 2])
    }
}

impl<L: Into<Vec<usize>>> From<L> for Lags {
    fn from(lags: L) -> Self {
        Lags::All(lags.into())
    }
}

impl Lags {
    /// Each list, with its place among settings.
    fn lists(&self) -> Vec<(String, &Vec<usize>)> {
        match self {
            Lags::All(lags) => vec![("lags".to_owned(), lags)],
            Lags::Each(each) => each.iter().map(|(name, lags)| (format!("lags.{name}"), lags)).collect(),
        }
    }
}

vaglio_core::setters!(Window {; lags: Lags; columns: [String] });

impl Window {
    /// With these lags; 0 is the row itself.
    pub fn new(lags: impl Into<Vec<usize>>) -> Self {
        Window { lags: Lags::All(lags.into()), ..Window::default() }
    }

    /// The lags of a column that is named.
    fn named(&self, name: &str) -> Option<&[usize]> {
        match &self.lags {
            Lags::Each(each) => each.get(name).map(Vec::as_slice),
            Lags::All(lags) => self.columns.iter().flatten().any(|column| column == name).then_some(lags),
        }
    }
}

/// The columns that [`Window`] takes, and how far back.
#[saved(FittedMap, "window")]
#[derive(Clone, PartialEq, Eq)]
pub struct FittedWindow {
    lags: Vec<usize>,
    columns: Vec<String>,
    /// Lags of columns that have their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    each: BTreeMap<String, Vec<usize>>,
}

impl Map for Window {
    fn needs_order(&self) -> bool {
        true
    }

    fn past_of(&self, name: &str) -> Option<usize> {
        self.named(name)?.iter().copied().min()
    }

    fn fit_rows(&self, rows: &TrainingRows<'_>) -> Result<(Box<dyn FittedMap>, Option<Table>)> {
        for name in rows.outputs {
            if self.named(name).is_some_and(|lags| lags.contains(&0)) {
                let field = if matches!(self.lags, Lags::All(_)) { "lags".to_owned() } else { format!("lags.{name}") };
                let message =
                    format!("0 is the present of the target `{name}`, which is to be predicted; take 1 and more");
                return Err(Error::setting(field, message));
            }
        }
        Ok((self.fit(rows.table, rows.weights)?, None))
    }

    fn fit(&self, table: &Table, _weights: Option<&[f64]>) -> Result<Box<dyn FittedMap>> {
        let (named, lags, each) = match &self.lags {
            Lags::All(lags) => (self.columns.clone(), lags.clone(), BTreeMap::new()),
            Lags::Each(each) => (Some(each.keys().cloned().collect()), Vec::new(), each.clone()),
        };
        let columns = columns::numbers(table, named.as_deref())?;
        let columns = columns.into_iter().map(|(name, _)| name.to_owned()).collect();
        let fitted = FittedWindow { lags, columns, each };
        columns::unless_twice("lags", table.names().flat_map(|name| fitted.outputs(name)).collect())?;
        if fitted.kept(table).is_empty() {
            return Err(Error::setting(
                "lags",
                format!("no series has more than {} rows, so none has its full history", fitted.longest()),
            ));
        }
        Ok(Box::new(fitted))
    }

    fn check(&self) -> Result<()> {
        if self.lags.lists().iter().all(|(_, lags)| lags.is_empty()) {
            return Err(Error::setting("lags", "at least one lag is needed; 0 is the row itself"));
        }
        for (field, lags) in self.lags.lists() {
            if lags.is_empty() {
                return Err(Error::setting(field, "at least one lag is needed; 0 is the row itself"));
            }
            if let Some(index) = (0..lags.len()).find(|&k| lags[..k].contains(&lags[k])) {
                return Err(Error::setting(format!("{field}[{index}]"), format!("{} is listed twice", lags[index])));
            }
        }
        if let (Lags::Each(_), Some(_)) = (&self.lags, &self.columns) {
            return Err(Error::setting("columns", "`lags` names the columns already; leave it out"));
        }
        columns::check(self.columns.as_deref())
    }
}

impl FittedMap for FittedWindow {
    fn growth(&self, table: &Table) -> f64 {
        let bytes = |cells: &Cells| match cells {
            Cells::Numbers(Numbers::Byte(_)) => 1,
            _ => std::mem::size_of::<f64>(),
        };
        let taken = table.columns().iter().filter(|(name, _)| self.columns.contains(name));
        taken.map(|(name, cells)| (self.lags_of(name).len() * bytes(cells)) as f64 * cells.len() as f64).sum()
    }

    fn takes_rows_alone(&self) -> bool {
        false
    }

    fn divisor(&self, _name: &str) -> Option<f64> {
        Some(1.0)
    }

    fn transform(&self, mut table: Table) -> Result<Table> {
        let kept = self.kept(&table);
        let (rows, longest) = (table.rows(), self.longest());
        if kept.is_empty() && rows > 0 {
            return Err(Error::Shape(format!(
                "no series has more than {longest} rows, and lags up to {longest} need as many before a row"
            )));
        }
        for series in table.runs().into_iter().filter(|series| series.len() <= longest) {
            let (first, count) = (table.origin(series.start) + 1, series.len());
            tracing::warn!(
                "the series of row {first} has {count} rows and lags need {longest} before each; it is dropped"
            );
        }
        let mut out = Vec::new();
        for (name, cells) in table.take_columns() {
            if !self.columns.contains(&name) {
                out.push((name, at(&cells, &kept, 0)));
                continue;
            }
            if cells.numbers().is_none() {
                return Err(Error::Shape(format!(
                    "column `{name}` holds text, and in the training rows it held numbers"
                )));
            }
            out.extend(self.lags_of(&name).iter().map(|&lag| (lagged(&name, lag), at(&cells, &kept, lag))));
        }
        table.select_rows(&kept).with_columns(out)
    }

    fn sources(&self, name: &str) -> Vec<String> {
        let made = |source: &&String| self.lags_of(source).iter().any(|&lag| lagged(source, lag) == name);
        vec![self.columns.iter().find(made).map_or(name, String::as_str).to_owned()]
    }

    fn makes_blocks(&self) -> bool {
        false
    }

    fn past(&self) -> usize {
        self.longest()
    }
}

impl FittedWindow {
    fn longest(&self) -> usize {
        self.each.values().flatten().chain(&self.lags).copied().max().unwrap_or(0)
    }

    /// The lags of a column that is taken.
    fn lags_of(&self, name: &str) -> &[usize] {
        self.each.get(name).unwrap_or(&self.lags)
    }

    /// The rows that have their full history.
    fn kept(&self, table: &Table) -> Vec<usize> {
        let longest = self.longest();
        table.runs().into_iter().flat_map(|series| series.skip(longest)).collect()
    }

    /// The columns that are made of the column `name`.
    fn outputs(&self, name: &str) -> Vec<String> {
        match self.columns.iter().any(|column| column == name) {
            true => self.lags_of(name).iter().map(|&lag| lagged(name, lag)).collect(),
            false => vec![name.to_owned()],
        }
    }
}

fn lagged(name: &str, lag: usize) -> String {
    if lag == 0 { name.to_owned() } else { format!("{name}_lag{lag}") }
}

/// The cells `lag` rows before each of `rows`.
fn at(cells: &Cells, rows: &[usize], lag: usize) -> Cells {
    let rows: Vec<usize> = rows.iter().map(|row| row - lag).collect();
    cells.select_rows(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &[f64]) -> Cells {
        Cells::Numbers(Numbers::from(values.to_vec()))
    }

    fn table() -> Table {
        let text = Cells::Text(["p", "q", "r", "s", "t", "u"].map(str::to_owned).to_vec());
        let x = numbers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.5]);
        let y = numbers(&[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0]);
        let columns = vec![("x".to_owned(), x), ("t".to_owned(), text), ("y".to_owned(), y)];
        Table::new(columns).unwrap().with_series(vec![4, 4, 4, 0, 0, 7]).unwrap()
    }

    fn fit(json: &str, table: &Table) -> Result<Box<dyn FittedMap>> {
        let map: Box<dyn Map> = serde_json::from_str(json).unwrap();
        map.check()?;
        map.fit(table, None)
    }

    fn values(table: &Table, name: &str) -> Vec<f64> {
        table.get(name).unwrap().numbers().unwrap().values().into_owned()
    }

    #[test]
    fn history_stays_inside_a_series() {
        let fitted = fit(r#"{"kind": "window", "lags": [1, 0], "columns": ["x"]}"#, &table()).unwrap();
        let out = fitted.transform(table()).unwrap();
        assert_eq!(out.names().collect::<Vec<_>>(), ["x_lag1", "x", "t", "y"]);
        assert_eq!(values(&out, "x"), [2.0, 3.0, 5.0]);
        assert_eq!(values(&out, "x_lag1"), [1.0, 2.0, 4.0]);
        assert_eq!(values(&out, "y"), [-2.0, -3.0, -5.0]);
        assert_eq!((out.series(), out.origins()), (Some(&[4, 4, 0][..]), Some(&[1, 2, 4][..])));
        assert_eq!(
            (fitted.sources("x_lag1"), fitted.sources("x"), fitted.sources("t")),
            (vec!["x".into()], vec!["x".into()], vec!["t".into()])
        );
    }

    #[test]
    fn without_series_the_table_is_one_and_all_numbers_are_taken() {
        let table =
            Table::new(vec![("x".into(), numbers(&[1.0, 2.0, 4.0])), ("z".into(), numbers(&[0.0, 1.0, 0.0]))]).unwrap();
        let out = fit(r#"{"kind": "window", "lags": [2]}"#, &table).unwrap().transform(table).unwrap();
        assert_eq!(out.names().collect::<Vec<_>>(), ["x_lag2", "z_lag2"]);
        assert_eq!((values(&out, "x_lag2"), values(&out, "z_lag2")), (vec![1.0], vec![0.0]));
    }

    #[test]
    fn columns_have_lags_of_their_own() {
        let fitted = fit(r#"{"kind": "window", "lags": {"y": [1, 2], "x": [0]}}"#, &table()).unwrap();
        let out = fitted.transform(table()).unwrap();
        assert_eq!(out.names().collect::<Vec<_>>(), ["x", "t", "y_lag1", "y_lag2"]);
        let values = ["x", "y_lag1", "y_lag2"].map(|name| values(&out, name));
        assert_eq!(values, [vec![3.0], vec![-2.0], vec![-1.0]]);
        assert_eq!((fitted.past(), fitted.sources("y_lag2")), (2, vec!["y".to_owned()]));
    }

    #[test]
    fn the_laws_of_a_map_hold_but_for_repeated_rows() {
        use vaglio_testkit::{data, map};
        let window = Window { lags: vec![2, 0].into(), columns: None };
        for table in [data::table(20, 5, 41), data::mixed_table(20, 5, 42)] {
            map::repeatable(&window, &table).unwrap();
            map::fixed(&window, &table).unwrap();
            map::sources(&window, &table).unwrap();
            map::saved(&window, &table).unwrap();
        }
    }

    #[test]
    fn what_cannot_be_made_is_refused() {
        for (json, words) in [
            (r#"{"kind": "window", "lags": []}"#, "`lags`: at least one"),
            (r#"{"kind": "window", "lags": [0, 2, 2]}"#, "`lags[2]`: 2 is listed twice"),
            (r#"{"kind": "window", "lags": {"x": []}}"#, "`lags`: at least one"),
            (r#"{"kind": "window", "lags": {"x": [1, 1]}}"#, "`lags.x[1]`: 1 is listed twice"),
            (r#"{"kind": "window", "lags": {"x": [1]}, "columns": ["y"]}"#, "`columns`: `lags` names the columns"),
            (r#"{"kind": "window", "lags": {"w": [1]}}"#, "no column `w`"),
            (r#"{"kind": "window", "columns": []}"#, "`columns`: it is empty"),
            (r#"{"kind": "window", "lags": [0], "columns": ["x", "x"]}"#, "`columns[1]`: `x` is listed twice"),
            (r#"{"kind": "window", "lags": [1], "columns": ["yy"]}"#, "did you mean `y`?"),
            (r#"{"kind": "window", "lags": [1], "columns": ["t"]}"#, "holds text"),
            (r#"{"kind": "window", "lags": [3]}"#, "no series has more than 3 rows"),
            (r#"{"kind": "window", "lags": [18446744073709551615, 1]}"#, "no series has more than"),
        ] {
            let error = fit(json, &table()).unwrap_err().to_string();
            assert!(error.contains(words), "{json}: {error}");
        }
        let clash =
            Table::new(vec![("x".into(), numbers(&[1.0, 2.0])), ("x_lag1".into(), numbers(&[0.5, 1.0]))]).unwrap();
        let error = fit(r#"{"kind": "window", "lags": [0, 1], "columns": ["x"]}"#, &clash).unwrap_err();
        assert!(error.to_string().contains("a second column `x_lag1`"), "{error}");
        let fitted = fit(r#"{"kind": "window", "lags": [2]}"#, &table()).unwrap();
        let short = Table::new(vec![("x".into(), numbers(&[1.0, 2.0]))]).unwrap();
        assert!(fitted.transform(short).unwrap_err().to_string().contains("no series has more than 2 rows"));
        let text = Table::new(vec![("x".into(), Cells::Text(vec!["a".into(); 3]))]).unwrap();
        assert!(fitted.transform(text).unwrap_err().to_string().contains("holds text"));
    }
}
