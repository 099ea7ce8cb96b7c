//! Differences within series.

use super::columns;
use vaglio_core::{Cells, Error, Expression, FittedMap, Map, Numbers, Result, Table, part, saved};

/// Columns of numbers less their mean over the rows of the same series: what differs within series is left, as of the units
/// of a panel or the documents of a query.
///
/// Ridge on these columns is that of differences between rows of one series. With n_q rows of series q its weights minimize
///
/// ```text
/// Σ_q 1/n_q Σ_{i<j in q} ((y_i − y_j) − wᵀ(x_i − x_j))² + λ‖w‖²,
/// ```
///
/// RankRLS of every query, or the within estimator of a panel: centered columns have nothing in common with what the
/// targets of a series share, so targets need not be centered. `kfold` with `by: groups` leaves each series out in turn, and
/// what a subset loses there is that of differences within the series and the same constant for every subset and λ. New
/// rows are centered by the rows of their series that are predicted with them.
///
/// Each row counts once in its mean, whatever it weighs; missing cells count in none and stay missing.
/// Cost O(rows · columns · log rows).
///
/// # Errors
/// Rows without series (`data.series`).
///
/// # Reference
/// T. Pahikkala, E. Tsivtsivadze, A. Airola, J. Järvinen, J. Boberg, *An efficient algorithm for learning to rank from
/// preference graphs*, Machine Learning 75 (2009).
#[part(
    Map,
    "within",
    summary = "columns less their mean in the series: differences within units, or within queries",
    example = "preprocess: [{kind: within}]"
)]
#[derive(PartialEq, Eq)]
pub struct WithinSeries {
    /// The columns; all of numbers when absent.
    pub columns: Option<Vec<String>>,
}

vaglio_core::setters!(WithinSeries {;; columns: [String] });

/// The columns that [`WithinSeries`] takes.
#[saved(FittedMap, "within")]
#[derive(Clone, PartialEq, Eq)]
pub struct FittedWithinSeries {
    columns: Vec<String>,
}

impl Map for WithinSeries {
    fn fit(&self, table: &Table, _weights: Option<&[f64]>) -> Result<Box<dyn FittedMap>> {
        if table.series().is_none() {
            return Err(Error::setting("kind", "there are no series to be within; name their column in `data.series`"));
        }
        let columns = columns::numbers(table, self.columns.as_deref())?.map(|(name, _)| name.to_owned()).collect();
        Ok(Box::new(FittedWithinSeries { columns }))
    }

    fn check(&self) -> Result<()> {
        columns::check(self.columns.as_deref())
    }
}

impl FittedMap for FittedWithinSeries {
    fn growth(&self, table: &Table) -> f64 {
        columns::as_doubles(table, |name| self.columns.iter().any(|column| column == name))
    }

    fn expression(&self, name: &str) -> Option<Expression> {
        let is_kept = self.columns.iter().all(|column| column != name);
        is_kept.then(|| Expression::column(name))
    }

    fn takes_rows_alone(&self) -> bool {
        false
    }

    fn divisor(&self, _name: &str) -> Option<f64> {
        Some(1.0)
    }

    fn transform(&self, mut table: Table) -> Result<Table> {
        let runs: Vec<_> = table.runs().collect();
        let all = table.take_columns();
        let mut out = Vec::with_capacity(all.len());
        for (name, cells) in all {
            if !self.columns.contains(&name) {
                out.push((name, cells));
                continue;
            }
            let Some(numbers) = cells.numbers() else {
                let message =
                    format!("column `{name}` holds {}, and in the training rows it held numbers", cells.what());
                return Err(Error::Shape(message));
            };
            let mut values = numbers.values().into_owned();
            runs.iter().for_each(|run| center(&mut values[run.clone()]));
            if let Some(row) = values.iter().position(|value| value.is_infinite()) {
                let row = table.origin(row) + 1;
                return Err(Error::Numerical(format!("row {row}, column `{name}`: the mean of its series overflows")));
            }
            out.push((name, Cells::Numbers(Numbers::from(values))));
        }
        table.with_columns(out)
    }
}

/// Less the mean of those that are known, the same in any order of the rows; equal values become exactly 0.
fn center(values: &mut [f64]) {
    let mut known: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    known.sort_unstable_by(f64::total_cmp);
    let (mut mean, mut count) = (0.0, 0.0);
    for value in known {
        count += 1.0;
        mean += (value - mean) / count;
    }
    values.iter_mut().for_each(|value| *value -= mean);
}
