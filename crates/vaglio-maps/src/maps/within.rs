//! Within transformation of series.

use super::columns;
use vaglio_core::{ColumnFormula, Error, Map, Result, Table, prelude::*};

/// Subtracts from numeric columns their mean over the rows of the same series, which leaves differences within the
/// units of a panel or the documents of a query.
///
/// Ridge regression on these columns fits differences between rows of a series. With n_q rows of series q, its weights
/// minimize
///
/// ```text
/// Σ_q 1/n_q Σ_{i<j in q} ((y_i − y_j) − wᵀ(x_i − x_j))² + λ‖w‖²,
/// ```
///
/// This is RankRLS for each query, or the within estimator of a panel. Centered columns are orthogonal to what the
/// targets of a series share, so targets need no centering. `kfold` with `by: groups` leaves each series out in turn;
/// its loss is that of differences within the series, plus a constant that is equal for all subsets and λ. New rows are
/// centered by the rows of their series predicted together with them.
///
/// Means are unweighted; missing cells are ignored and stay missing. Cost O(rows · columns · log rows).
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
    /// Columns to transform; by default all numeric columns.
    pub columns: Option<Vec<String>>,
}

/// Fitted [`WithinSeries`], with its columns.
#[saved(FittedMap, "within")]
struct FittedWithinSeries {
    columns: Vec<String>,
}

impl Map for WithinSeries {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        if rows.table.series().is_none() {
            return Err(Error::setting("kind", "there are no series to be within; name their column in `data.series`"));
        }
        let columns = columns::numbers(rows.table, self.columns.as_deref())?.map(|(name, _)| name.to_owned()).collect();
        Ok(FittedWithinSeries { columns }.into())
    }

    fn check_settings(&self) -> Result<()> {
        columns::check(self.columns.as_deref())
    }
}

impl FittedMap for FittedWithinSeries {
    fn formulas(&self) -> MapFormulas {
        self.columns.iter().map(|name| ColumnFormula::from_rows(name, name, None)).collect()
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

/// Subtracts the mean of the known values, summed in sorted order so that row order has no effect. Equal values become
/// exactly 0.
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
