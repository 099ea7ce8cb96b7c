//! Residuals against the chosen columns and time, and the rows with the largest errors.

use super::super::evaluation::Evaluations;
use super::super::rows::stride;
use super::super::run_context::Run;
use super::super::train_test::TrainTest;
use super::cells::ColumnValues;
use ndarray::ArrayView2;
use vaglio_core::{Design, Feature, Result, row_weights};
use vaglio_pipeline::resampling::Pooled;
use vaglio_report::record::{DrawnColumn, PredictionRows, ResidualsRecord, WorstRow, class_of};

/// Number of columns with a residual plot.
pub(crate) const DRAWN: usize = 12;
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

/// Flops of [`drawn`].
pub(crate) fn flops(design: &Design, size: usize) -> f64 {
    design.rows() as f64 * (2 * size + 40 * size.min(DRAWN)) as f64
}

/// Residual plots; `None` for classes, and if the design's columns are not those of the training rows.
///
/// # Errors
/// Returns the errors of [`vaglio_core::Model::predict`].
pub(crate) fn drawn(run: Run<'_>, chosen: &[Feature], found: &Evaluations) -> Result<Option<ResidualsRecord>> {
    let Run { prepared, design, selection, .. } = run;
    let train = &prepared.train;
    if !prepared.is_regression() || !design.has_columns_of(train) || chosen.is_empty() {
        return Ok(None);
    }
    let unit = prepared.target_scale(0);
    let training = TrainingResiduals::new(run, unit)?;
    let TrainingResiduals { rows, time, is_ordered, is_whole, .. } = training;
    let every = stride(rows, ROWS);
    let kept: Vec<usize> = (0..rows).step_by(every).collect();
    let held = found.held_out_rows().filter(|_| is_whole).and_then(|(from, pooled)| {
        let mut residuals = vec![None; kept.len()];
        let places = pooled.places.iter().map(|row| *row as usize).enumerate();
        for (place, row) in places.filter(|(_, row)| row % every == 0) {
            residuals[row / every] = Some(rounded(pooled.targets[[0, place]] - pooled.predictions[[0, place]]));
        }
        residuals.iter().any(Option::is_some).then_some((from, residuals))
    });
    let time = match time {
        Some(time) => kept.iter().map(|&row| f64::from(time[row]) + 1.0).collect(),
        None if is_ordered => kept.iter().map(|&row| row as f64 + 1.0).collect(),
        None => Vec::new(),
    };
    let weights = selection.coefficients();
    let mut columns = Vec::new();
    for (k, &feature) in chosen.iter().enumerate().take(DRAWN) {
        let values = prepared.column_values(design, feature);
        let slope = weights.map(|readout| readout.weights[[k, 0]] * unit / values.divisor);
        columns.push(drawn_column(feature, &values, slope, &training, &kept));
    }
    let (from, held_out) = held.unzip();
    let record = ResidualsRecord {
        rows: kept.iter().filter(|_| is_whole).map(|&row| prepared.row_number(row)).collect(),
        fitted: kept.iter().map(|&row| rounded(training.residual(row))).collect(),
        held_out: held_out.unwrap_or_default(),
        from,
        time,
        columns,
        largest: Vec::new(),
        largest_from: None,
    };
    Ok(Some(record))
}

/// Residuals of the training rows, with their weights and times.
struct TrainingResiduals<'p> {
    rows: usize,
    residuals: Vec<f64>,
    weights: Option<&'p [f64]>,
    time: Option<&'p [u32]>,
    is_ordered: bool,
    /// Whether maps kept all rows.
    is_whole: bool,
}

impl<'p> TrainingResiduals<'p> {
    fn new(run: Run<'p>, unit: f64) -> Result<Self> {
        let (train, sample, design) = (&run.prepared.train, &run.prepared.sample, run.design);
        let model = run.selection.predictor();
        let series = train.series();
        let fitted = model.predict(&train.columns().select(model.inputs()), series)?;
        let residual = |row: usize| (train.targets()[[0, row]] - fitted[[0, row]]) * unit;
        Ok(TrainingResiduals {
            rows: train.rows(),
            residuals: (0..train.rows()).map(residual).collect(),
            weights: design.weights(),
            time: train.time(),
            is_ordered: sample.ordered,
            is_whole: sample.rows() == train.rows(),
        })
    }

    fn residual(&self, row: usize) -> f64 {
        self.residuals[row]
    }
}

fn drawn_column(
    feature: Feature,
    values: &ColumnValues,
    slope: Option<f64>,
    training: &TrainingResiduals<'_>,
    kept: &[usize],
) -> DrawnColumn {
    let of_row = |row: &usize| Some(values.values[*row]).filter(|value| value.is_finite()).map(rounded);
    let all = (0..training.rows).step_by(stride(training.rows, COMPUTED));
    let known: Vec<usize> = all.filter(|&row| values.values[row].is_finite()).collect();
    let weight = row_weights(training.weights);
    let x: Vec<f64> = known.iter().map(|&row| values.values[row]).collect();
    let weights: Vec<f64> = known.iter().map(|&row| weight(row)).collect();
    let total: f64 = weights.iter().sum();
    let mean = weights.iter().zip(&x).map(|(w, x)| w * x).sum::<f64>() / total;
    let center = if mean.is_finite() { mean } else { 0.0 };
    let mut column = DrawnColumn {
        index: feature,
        as_read: values.as_read,
        values: kept.iter().map(of_row).collect(),
        slope: slope.filter(|slope| slope.is_finite()),
        center,
        trend: Vec::new(),
    };
    if let Some(slope) = column.slope {
        let partial = |(&row, x): (&usize, &f64)| training.residual(row) + slope * (x - center);
        let residuals: Vec<f64> = known.iter().zip(&x).map(partial).collect();
        column.trend = trend(&x, &residuals, &weights).into_iter().map(|point| point.map(rounded)).collect();
    }
    column
}

/// Weighted means of value and partial residual over tenths of the rows in order of the value; rows of one value stay
/// together.
///
/// # Reference
/// W. A. Larsen, S. J. McCleary, *The use of partial residual plots in regression analysis*, Technometrics 14(3), 1972.
fn trend(x: &[f64], residuals: &[f64], weights: &[f64]) -> Vec<[f64; 2]> {
    let mut order: Vec<usize> = (0..x.len()).step_by(stride(x.len(), TREND_ROWS)).collect();
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

/// Rows with the largest errors when held out: in outer folds, else in the test set, else in the folds of the search.
/// `None` if row numbers are unknown.
///
/// # Errors
/// Returns the errors of [`vaglio_core::Model::predict`].
pub(crate) fn largest(run: Run<'_>, found: &Evaluations) -> Result<Option<(PredictionRows, Vec<WorstRow>)>> {
    let (prepared, held) = (run.prepared, found.held_out_rows());
    let is_nested = held.as_ref().is_some_and(|(from, _)| *from == PredictionRows::Nested);
    if let Some(test) = prepared.test_rows().filter(|_| !is_nested) {
        let targets = test.problem.targets();
        let Some(numbers) = prepared.test_numbers.as_ref().filter(|numbers| numbers.len() == targets.ncols()) else {
            return Ok(None);
        };
        let predictions = test.predicted(run.selection.predictor())?;
        let number = |place: usize| numbers[place] + 1;
        return Ok(Some((PredictionRows::Test, worst(prepared, targets.view(), predictions.view(), number))));
    }
    Ok(held.map(|(from, Pooled { targets, predictions, places, .. })| {
        let number = |place: usize| prepared.row_number(places[place] as usize);
        (from, worst(prepared, targets.view(), predictions.view(), number))
    }))
}

fn worst(
    prepared: &TrainTest,
    targets: ArrayView2<'_, f64>,
    predictions: ArrayView2<'_, f64>,
    number: impl Fn(usize) -> usize,
) -> Vec<WorstRow> {
    let square = |row: usize| {
        let errors = targets.column(row).into_iter().zip(predictions.column(row)).map(|(y, p)| (y - p).powi(2));
        errors.sum::<f64>()
    };
    let mut squares: Vec<(f64, usize)> = Vec::new();
    for (square, row) in (0..targets.ncols()).map(|row| (square(row), row)).filter(|(square, _)| square.is_finite()) {
        // The first of equal rows comes first.
        let place = squares.partition_point(|larger| larger.0 >= square);
        squares.insert(place, (square, row));
        squares.truncate(WORST);
    }
    let order = prepared.train.class_order();
    let told = |&(_, row): &(f64, usize)| WorstRow {
        row: number(row),
        observed: match prepared.is_regression() {
            true => targets.column(row).iter().copied().take(OUTPUTS).collect(),
            false => vec![class_of(targets.column(row)) as f64],
        },
        predicted: match &order {
            None => predictions.column(row).iter().copied().take(OUTPUTS).collect(),
            Some(order) => vec![order.class_of(predictions.column(row)) as f64],
        },
    };
    squares.iter().map(told).collect()
}

/// Rounds to six digits, enough for a plot.
fn rounded(value: f64) -> f64 {
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
