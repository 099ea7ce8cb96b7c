//! Partial residuals of the chosen columns, and the rows with the largest errors.

use crate::evaluations::{EvaluationResults, Run};
use crate::rows::evenly_spaced;
use crate::train_test::TrainTest;
use vaglio_core::{Design, Feature, Result, gather, row_weights, sum_of_products};
use vaglio_pipeline::maps::scaled_source;
use vaglio_pipeline::resampling::PooledPredictions;
use vaglio_report::record::{DrawnColumn, PredictionRows, ResidualsRecord, WorstRow, class_of};

/// Number of columns with a residual plot.
pub const DRAWN: usize = 12;
/// Number of rows per plot.
const ROWS: usize = 300;
/// Limit on evenly spaced rows whose residuals are computed.
const COMPUTED: usize = 1 << 20;
/// Limit on evenly spaced rows that a trend is computed from.
const TREND_ROWS: usize = 5000;
/// Number of groups of rows whose means form a trend.
const TREND_PARTS: usize = 10;
/// Number of worst rows that are listed.
const WORST: usize = 10;
/// Limit on outputs listed for each worst row.
const OUTPUTS: usize = 12;

/// Flops of [`residuals_record`].
pub fn flops(design: &Design, size: usize) -> f64 {
    design.rows() as f64 * (2 * size + 40 * size.min(DRAWN)) as f64
}

/// Plots of partial residuals. `None` if: targets are classes; the model is not linear in the columns; the design's
/// columns are not those of the training rows; rows are condensed.
pub fn residuals_record(run: Run<'_>, chosen: &[Feature]) -> Result<Option<ResidualsRecord>> {
    let Run { prepared, design, selection, .. } = run;
    let train = &prepared.train;
    let is_of_rows = train.labels().counts.is_none() && design.problem().has_columns_of(train);
    let is_drawn = prepared.is_regression() && is_of_rows && !chosen.is_empty();
    let Some(readout) = selection.coefficients().filter(|_| is_drawn) else { return Ok(None) };
    let unit = prepared.target_units.as_ref().map_or(1.0, |units| units[0].scale.scale);
    let rows = train.rows();
    let model = selection.predictor();
    let fitted = model.predict(&train.columns().select(model.inputs()), train.series())?;
    let residuals: Vec<f64> = (0..rows).map(|row| (train.targets()[[0, row]] - fitted[[0, row]]) * unit).collect();
    let kept: Vec<usize> = evenly_spaced(rows, ROWS).collect();
    let weight = row_weights(design.weights());
    let column = |(k, &feature): (usize, &Feature)| {
        let (values, divisor) = column_values(prepared, design, feature);
        let known = evenly_spaced(rows, COMPUTED).filter(|&row| values[row].is_finite());
        let known: Vec<usize> = known.collect();
        let x = gather(&values, &known);
        let weights: Vec<f64> = known.iter().map(|&row| weight(row)).collect();
        let mean = sum_of_products(&weights, &x) / weights.iter().sum::<f64>();
        let center = if mean.is_finite() { mean } else { 0.0 };
        let slope = Some(readout.weights[[k, 0]] * unit / divisor).filter(|slope| slope.is_finite());
        let local_means = |slope: f64| {
            let partial = |(&row, x): (&usize, &f64)| residuals[row] + slope * (x - center);
            let residuals: Vec<f64> = known.iter().zip(&x).map(partial).collect();
            trend(&x, &residuals, &weights).into_iter().map(|point| point.map(round_to_six_digits)).collect()
        };
        let rounded_value = |row: &usize| Some(values[*row]).filter(|value| value.is_finite()).map(round_to_six_digits);
        DrawnColumn {
            index: feature,
            values: kept.iter().map(rounded_value).collect(),
            slope,
            center,
            trend: slope.map_or_else(Vec::new, local_means),
        }
    };
    Ok(Some(ResidualsRecord {
        columns: chosen.iter().enumerate().take(DRAWN).map(column).collect(),
        fitted: kept.iter().map(|&row| round_to_six_digits(residuals[row])).collect(),
        ..ResidualsRecord::default()
    }))
}

/// Values of a column of the training rows, NaN if missing, with the divisor that the maps applied to them: as read and
/// the maps' divisor, where maps only shift and divide and keep all rows; else as in the design and 1.
fn column_values(prepared: &TrainTest, design: &Design, feature: Feature) -> (Vec<f64>, f64) {
    let as_read = || {
        let (source, divisor) = scaled_source(&prepared.maps, &design.problem().names()[feature])?;
        let cells = prepared.sample.table()?.get(&source)?.numbers()?;
        (cells.len() == design.rows()).then_some((cells.values().into_owned(), divisor))
    };
    as_read().unwrap_or_else(|| (design.column(feature).values().into_owned(), 1.0))
}

/// Weighted means of value and partial residual over tenths of the rows in order of the value; rows of one value stay
/// together.
///
/// # Reference
/// W. A. Larsen, S. J. McCleary, *The use of partial residual plots in regression analysis*, Technometrics 14(3), 1972.
fn trend(x: &[f64], residuals: &[f64], weights: &[f64]) -> Vec<[f64; 2]> {
    let mut order: Vec<usize> = evenly_spaced(x.len(), TREND_ROWS).collect();
    order.sort_by(|&a, &b| x[a].total_cmp(&x[b]).then(a.cmp(&b)));
    let mut points = Vec::new();
    let mut start = 0;
    for part in 1..=TREND_PARTS {
        let mut end = (part * order.len() / TREND_PARTS).max(start);
        while end > start && end < order.len() && x[order[end]] == x[order[end - 1]] {
            end += 1;
        }
        if end > start {
            let mean = |values: &[f64]| {
                let weight: f64 = order[start..end].iter().map(|&row| weights[row]).sum();
                order[start..end].iter().map(|&row| weights[row] * values[row]).sum::<f64>() / weight
            };
            points.push([mean(x), mean(residuals)]);
            start = end;
        }
    }
    points.retain(|point| point.iter().all(|value| value.is_finite()));
    points
}

/// Rows with the largest errors when held out. `None` if there are none, or row numbers are unknown.
pub fn largest(prepared: &TrainTest, found: &EvaluationResults) -> Option<(PredictionRows, Vec<WorstRow>)> {
    let (from, PooledPredictions { targets, predictions, places, .. }) = found.held_out.as_ref()?;
    let number = |row: usize| match from {
        PredictionRows::Test => Some(prepared.test_numbers.as_ref()?[row] + 1),
        _ => places.get(row).map(|&place| prepared.row_number(place as usize)),
    };
    let square = |row: usize| {
        let errors = targets.column(row).into_iter().zip(predictions.column(row)).map(|(y, p)| (y - p).powi(2));
        errors.sum::<f64>()
    };
    let squares = (0..targets.ncols()).map(|row| (square(row), row)).filter(|(square, _)| square.is_finite());
    let mut squares: Vec<(f64, usize)> = squares.collect();
    squares.sort_by(|a, b| b.0.total_cmp(&a.0));
    let order = prepared.train.class_order();
    let worst = |&(_, row): &(f64, usize)| {
        Some(WorstRow {
            row: number(row)?,
            observed: if prepared.is_regression() {
                targets.column(row).iter().copied().take(OUTPUTS).collect()
            } else {
                vec![class_of(targets.column(row)) as f64]
            },
            predicted: match &order {
                None => predictions.column(row).iter().copied().take(OUTPUTS).collect(),
                Some(order) => vec![order.class_of(predictions.column(row)) as f64],
            },
        })
    };
    Some((*from, squares.iter().take(WORST).map(worst).collect::<Option<_>>()?))
}

/// Rounds to six digits, enough for a plot.
fn round_to_six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::trend;
    use vaglio_testkit::SplitMix64;

    #[test]
    fn trends_are_means_of_tenths() {
        let mut random = SplitMix64::new(11);
        let x: Vec<f64> = (0..200).map(|_| 9.0 * random.uniform()).collect();
        let residuals: Vec<f64> = x.iter().map(|x| x + 0.2 * random.normal()).collect();
        let weights: Vec<f64> = (0..200).map(|row| f64::from(1 + row % 3)).collect();
        let points = trend(&x, &residuals, &weights);
        assert_eq!(points.len(), 10);
        let mut rows: Vec<usize> = (0..200).collect();
        rows.sort_by(|&a, &b| x[a].total_cmp(&x[b]));
        let sum =
            |values: &dyn Fn(usize) -> f64| rows[20..40].iter().map(|&row| weights[row] * values(row)).sum::<f64>();
        let mean = |values: &[f64]| sum(&|row| values[row]) / sum(&|_| 1.0);
        assert!((points[1][0] - mean(&x)).abs() < 1e-12 && (points[1][1] - mean(&residuals)).abs() < 1e-12);
    }

    #[test]
    fn rows_of_one_value_are_one_point() {
        assert_eq!(trend(&[0.0, 1.0, 0.0, 1.0, 1.0], &[1.0, 2.0, 1.5, 0.0, 3.0], &[1.0; 5]).len(), 2);
    }
}
