//! Lagged columns and forecast horizons of time series.

use super::columns;
use std::collections::BTreeMap;
use vaglio_core::{ColumnFormula, Error, Map, Result, Table, prelude::*};

/// Replaces numeric columns by lagged values of the same series: column `x` becomes `x` for lag 0, `x_lag1` for lag 1,
/// and so on.
///
/// `lags: {y: [1, 2], x: [0, 1]}` sets lags by column. Targets may be included with lags from 1, since lag 0 is to be
/// predicted; the window is then the first map.
///
/// `horizons: [1, 2, 3]` makes a direct multi-step forecast. From the values known at a row, its target included (lag
/// 0), it predicts the targets one, two and three steps later, as outputs `y+1`, `y+2` and `y+3`. Forward chaining then
/// omits the max(horizons) − 1 training rows before a block, whose targets are not yet known.
///
/// Rows without full history, the first max(lags) of each series, are dropped, as are training rows without all their
/// later targets. A row with a missing target (`data.missing_target: drop`) stays in the history of other rows; rows
/// with a lag of that target are dropped. Without series the whole table is one. Cost O(rows · columns · lags).
#[part(
    Map,
    "window",
    summary = "columns, and targets, at earlier steps of their time series",
    example = "preprocess: [{kind: window, lags: [0, 1, 2]}]"
)]
#[derive(PartialEq, Eq)]
pub struct Window {
    /// Lags in steps, each once; 0 is the present. A list for all columns, or a list for each of some columns.
    pub lags: Lags,
    /// Columns to lag, if one list of lags applies to all; by default all numeric columns. Other columns stay
    /// unchanged.
    pub columns: Option<Vec<String>>,
    /// Forecast horizons in steps, each once, from 1; empty to predict the targets of the row itself.
    pub horizons: Vec<usize>,
}

/// Lags of [`Window`].
#[setting]
#[derive(PartialEq, Eq)]
#[serde(untagged, expecting = "expected a list of steps, or such a list for each of some columns")]
pub enum Lags {
    /// One list for all columns.
    All(Vec<usize>),
    /// A list for each column.
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
    /// Each list, with its path in the settings.
    fn lists(&self) -> Vec<(String, &Vec<usize>)> {
        match self {
            Lags::All(lags) => vec![("lags".to_owned(), lags)],
            Lags::Each(each) => each.iter().map(|(name, lags)| (format!("lags.{name}"), lags)).collect(),
        }
    }
}

impl Window {
    /// A window with these lags of all columns; 0 is the present.
    pub fn new(lags: impl Into<Vec<usize>>) -> Self {
        Window { lags: Lags::All(lags.into()), ..Window::default() }
    }

    /// A window with lags of its own for each of some columns.
    pub fn by_column(lags: impl Into<BTreeMap<String, Vec<usize>>>) -> Self {
        Window { lags: Lags::Each(lags.into()), ..Window::default() }
    }

    /// Lags of a column that the settings name.
    fn named(&self, name: &str) -> Option<&[usize]> {
        match &self.lags {
            Lags::Each(each) => each.get(name).map(Vec::as_slice),
            Lags::All(lags) => self.columns.iter().flatten().any(|column| column == name).then_some(lags),
        }
    }
}

/// Fitted [`Window`], with its columns and lags.
#[saved(FittedMap, "window")]
struct FittedWindow {
    lags: Vec<usize>,
    columns: Vec<String>,
    /// Lags of columns with their own.
    #[optional]
    each: BTreeMap<String, Vec<usize>>,
    /// Lagged targets: rows with a missing lag of these are dropped.
    #[optional]
    targets: Vec<String>,
}

impl Map for Window {
    fn traits(&self) -> MapTraits {
        let past = self.lags.lists().into_iter().flat_map(|(_, lags)| lags).copied().max().unwrap_or(0);
        let names: Vec<&String> = match &self.lags {
            Lags::Each(each) => each.keys().collect(),
            Lags::All(_) => self.columns.iter().flatten().collect(),
        };
        let lags = names
            .into_iter()
            .filter_map(|name| Some((name.clone(), self.named(name)?.iter().copied().min()?)))
            .collect();
        let horizons = self.horizons.clone();
        MapTraits { needs_order: true, lags, past, horizons, ..MapTraits::default() }
    }

    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        for name in rows.outputs.iter().filter(|_| self.horizons.is_empty()) {
            if self.named(name).is_some_and(|lags| lags.contains(&0)) {
                let field = if matches!(self.lags, Lags::All(_)) { "lags".to_owned() } else { format!("lags.{name}") };
                let message = format!(
                    "0 is the present of the target `{name}`, which is to be predicted; take 1 and more, or predict later \
                     ones by `horizons`"
                );
                return Err(Error::setting(field, message));
            }
        }
        let targets = rows.lagged.iter().filter(|name| self.named(name).is_some()).cloned().collect();
        Ok(self.fit_columns(rows.table, targets)?.into())
    }

    fn check_settings(&self) -> Result<()> {
        if self.lags.lists().iter().all(|(_, lags)| lags.is_empty()) {
            return Err(Error::setting("lags", "at least one lag is needed; 0 is the row itself"));
        }
        for (field, lags) in self.lags.lists() {
            columns::check_list(&field, lags, usize::to_string)?;
        }
        if let (Lags::Each(_), Some(_)) = (&self.lags, &self.columns) {
            return Err(Error::setting("columns", "`lags` names the columns already; leave it out"));
        }
        for (index, ahead) in self.horizons.iter().enumerate() {
            let wrong = |message: &str| Err(Error::setting(format!("horizons[{index}]"), message));
            match index.checked_sub(1).map(|before| self.horizons[before]) {
                _ if *ahead == 0 => return wrong("0 is the row itself; take 1 and more"),
                Some(before) if before >= *ahead => return wrong("horizons increase, each listed once"),
                _ => {}
            }
        }
        columns::check(self.columns.as_deref())
    }
}

impl Window {
    fn fit_columns(&self, table: &Table, targets: Vec<String>) -> Result<FittedWindow> {
        let (named, lags, each) = match &self.lags {
            Lags::All(lags) => (self.columns.clone(), lags.clone(), BTreeMap::new()),
            Lags::Each(each) => (Some(each.keys().cloned().collect()), Vec::new(), each.clone()),
        };
        let columns = columns::numbers(table, named.as_deref())?;
        let columns: Vec<String> = columns.map(|(name, _)| name.to_owned()).collect();
        if columns.is_empty() {
            return Err(Error::setting("columns", "lags are taken of columns of numbers, and there are none"));
        }
        let fitted = FittedWindow { lags, columns, each, targets };
        if fitted.rows_with_history(table).is_empty() {
            let what = fitted.nothing_left();
            return Err(Error::setting("lags", format!("{what}, so none has its full history")));
        }
        Ok(fitted)
    }
}

impl FittedMap for FittedWindow {
    fn formulas(&self) -> MapFormulas {
        let formulas = self.columns.iter().flat_map(|name| {
            let formula = |&lag| ColumnFormula::from_rows(lagged(name, lag), name, Some(lag));
            self.lags_of(name).iter().map(formula)
        });
        formulas.collect::<MapFormulas>().named_by("lags")
    }

    fn transform(&self, mut table: Table) -> Result<Table> {
        let kept = self.rows_with_history(&table);
        let (rows, longest) = (table.rows(), self.longest());
        if kept.is_empty() && rows > 0 {
            let what = self.nothing_left();
            return Err(Error::Shape(format!("{what}, and lags up to {longest} need as many before a row")));
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
}

impl FittedWindow {
    fn longest(&self) -> usize {
        self.each.values().flatten().chain(&self.lags).copied().max().unwrap_or(0)
    }

    /// Lags of a lagged column.
    fn lags_of(&self, name: &str) -> &[usize] {
        self.each.get(name).unwrap_or(&self.lags)
    }

    /// Rows with full history and known lagged targets.
    fn rows_with_history(&self, table: &Table) -> Vec<usize> {
        let longest = self.longest();
        let targets: Vec<(&Cells, &[usize])> =
            self.targets.iter().filter_map(|name| Some((table.get(name)?, self.lags_of(name)))).collect();
        let is_known =
            |row: &usize| targets.iter().all(|(cells, lags)| lags.iter().all(|lag| !cells.is_missing(row - lag)));
        table.runs().flat_map(|series| series.skip(longest)).filter(is_known).collect()
    }

    /// Error message if no row is left.
    fn nothing_left(&self) -> String {
        let known = if self.targets.is_empty() { "" } else { " with the targets that lags need" };
        format!("no series has more than {} rows{known}", self.longest())
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
