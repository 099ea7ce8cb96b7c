//! Predictions of rows held out: scatter plots, worst rows, residuals against columns, confusion of classes, ROC curve.

use crate::names::clause;
use crate::page::{
    Chart, ChartShape, Mark, ScaleKind, Section, TableBuilder, TableCell, count, finite, heat_map, short, widen_range,
};
use crate::record::{DrawnColumn, Record, ResidualsRecord, ShownPredictions};
use vaglio_core::join;

/// Targets whose predictions are drawn, at most.
const MOST_TARGETS: usize = 4;

/// A cloud of points between two scales.
fn cloud(right: &str, up: &str, class: &str, points: Vec<[f64; 2]>) -> Chart {
    let points = points.into_iter().filter(|point| point.iter().all(|value| value.is_finite())).collect();
    let chart = Chart::new(format!("{up} against {right}"), right, up).x(ScaleKind::Linear).y(ScaleKind::Linear);
    chart.mark(Mark::Cloud { class: class.into(), points })
}

/// A straight line from the lowest to the highest of the finite values; empty without any.
fn straight_line(values: impl Iterator<Item = f64>, height: impl Fn(f64) -> f64) -> Vec<[f64; 2]> {
    let ends = values.filter_map(finite).fold(None, widen_range);
    ends.map_or_else(Vec::new, |ends| ends.map(|end| [end, height(end)]).to_vec())
}

/// Observed targets and residuals against predictions; `None` for classes.
pub fn predictions(record: &Record) -> Option<Section> {
    let drawn = record.report.predictions.as_ref().filter(|_| record.data.classes.is_none())?;
    let class = drawn.from.title();
    let is_one = drawn.observed.len() == 1;
    let charts = record.outputs().into_iter().zip(drawn.observed.iter().zip(&drawn.predicted)).take(MOST_TARGETS);
    let charts = charts.flat_map(|(name, (observed, predicted))| {
        let pairs = || predicted.iter().zip(observed);
        let diagonal = straight_line(pairs().flat_map(|(p, o)| [*p, *o]), |end| end);
        let suffix = if is_one { String::new() } else { format!(" {name}") };
        let straight =
            cloud("predicted", &format!("observed{suffix}"), class, pairs().map(|(p, o)| [*p, *o]).collect());
        let residuals = pairs().map(|(p, o)| [*p, o - p]).collect();
        let residuals = cloud("predicted", &format!("observed − predicted{suffix}"), class, residuals);
        [straight.mark(Mark::stroke("", "empty", diagonal)), residuals.mark(Mark::level("", "empty", 0.0))]
    });
    let section = Section::new("Predicted and observed");
    let section = charts.fold(section, |section, chart| section.chart(chart.shape(ChartShape::Square)));
    let rows = drawn.observed.first().map_or(0, Vec::len);
    let part = (rows < drawn.rows).then(|| format!(", a sample of {} of {}", count(rows), count(drawn.rows)));
    let part = part.unwrap_or_default();
    let note = format!("Predictions of {}{part}. Residuals should show no pattern.", drawn.from.rows());
    Some(section.note(note).text(record.outputs_line()))
}

/// Table of the rows with the largest errors.
pub fn worst_rows(record: &Record) -> Option<Section> {
    let largest = &record.report.residuals.as_ref()?.largest;
    let from = record.report.residuals.as_ref()?.largest_from?;
    let classes = record.data.classes.as_deref();
    let values = |values: &[f64]| {
        let one = |value: &f64| match classes {
            Some(classes) => classes.get(*value as usize).cloned().unwrap_or_default(),
            None => short(*value),
        };
        join(values.iter().map(one), ", ")
    };
    let is_single = classes.is_none() && largest.iter().all(|row| row.observed.len() == 1);
    let kind = if is_single { "number" } else { "text" };
    let table = TableBuilder::new("“report.residuals.largest”", largest)
        .count("Row", |row| row.row)
        .cells("Observed", kind, |row| TableCell::text(values(&row.observed)))
        .cells("Predicted", kind, |row| TableCell::text(values(&row.predicted)))
        .number("Residual", |row| {
            row.observed.first().zip(row.predicted.first()).filter(|_| is_single).map(|(y, p)| y - p)
        });
    let note = format!("Of the {}, by their number in the data without the header.", from.rows());
    Some(Section::new("Rows predicted worst").table(table).note(note))
}

/// Charts of each chosen column's contribution to the predictions of a linear model.
pub fn components(record: &Record) -> Option<Section> {
    let drawn = record.report.residuals.as_ref().filter(|drawn| !drawn.columns.is_empty())?;
    let panels = drawn.columns.iter().map(|column| component(&record.column_name(column.index), drawn, column));
    let section = panels.fold(Section::new("Components and residuals"), Section::chart);
    let note = "Points are partial residuals: the column’s part of the prediction plus the residual. Where the local means leave the straight line, try log1p or polynomial. Residuals are of the training rows.";
    Some(section.note(note))
}

/// The partial residuals of a column with its straight line and local means.
fn component(name: &str, drawn: &ResidualsRecord, column: &DrawnColumn) -> Option<Chart> {
    let slope = column.slope?;
    let part = |value: f64| slope * (value - column.center);
    let pairs = column.values.iter().zip(&drawn.fitted);
    let points: Vec<[f64; 2]> =
        pairs.filter_map(|(value, residual)| Some([(*value)?, residual + part((*value)?)])).collect();
    let line = straight_line(points.iter().map(|point| point[0]), part);
    let trend = column.trend.iter().copied().filter(|point| point.iter().all(|value| value.is_finite())).collect();
    let chart = cloud(name, "component + residual", "faint", points)
        .mark(Mark::stroke("", "fit", line))
        .mark(Mark::stroke("", "trend", trend));
    Some(chart.shape(ChartShape::Small))
}

/// Largest number of classes of a drawn confusion matrix.
const MOST_CLASSES: usize = 60;

/// Section with the errors of each class; `None` for regression, or without held-out predictions.
pub fn classes(record: &Record) -> Option<Section> {
    let names = record.data.classes.as_ref()?;
    let (figures, rows_of) = record.most_trusted_figures()?;
    let counts = figures.confusion.as_ref()?;
    let name = |k: usize| names.get(k).cloned().unwrap_or_else(|| format!("class {}", k + 1));
    let rows = |k: &usize| counts[*k].iter().sum::<usize>();
    let wrong = |k: &usize| rows(k) - counts[*k].get(*k).copied().unwrap_or(0);
    let classes: Vec<usize> = (0..counts.len()).collect();
    let (all, errors): (usize, usize) = (classes.iter().map(rows).sum(), classes.iter().map(wrong).sum());
    let balanced = clause("; the mean error rate of the classes is {}", figures.balanced_error_rate.map(short));
    let were = if errors == 1 { "was" } else { "were" };
    let lead = format!("Of {} {rows_of}, {} {were} given the wrong class{balanced}.", count(all), count(errors));
    let share = |k: &usize| wrong(k) as f64 / rows(k).max(1) as f64;
    let table = TableBuilder::new("“confusion”", &classes)
        .name("Class", |k| name(*k))
        .count("Rows", rows)
        .count("Wrong", wrong)
        .cells("Error rate", "share", |k| (rows(k) > 0).then(|| TableCell::number(share(k)).bar(share(k))));
    let names: Vec<String> = classes.iter().map(|k| name(*k)).collect();
    let matrix = if counts.len() <= MOST_CLASSES { confusion(counts, &names) } else { String::new() };
    let roc = record.report.predictions.as_ref().and_then(|predictions| roc(predictions, &name(1)));
    Some(Section::new("Classes").text(lead).with(&matrix).table(table).chart(roc))
}

/// A confusion matrix, shaded by the share of each class.
fn confusion(counts: &[Vec<usize>], names: &[String]) -> String {
    let cell = |i: usize, (j, n): (usize, &usize)| {
        let share = *n as f64 / counts[i].iter().sum::<usize>().max(1) as f64;
        (Some(if i == j { share } else { -share.sqrt() }), count(*n))
    };
    let row = |(i, row): (usize, &Vec<usize>)| row.iter().enumerate().map(|n| cell(i, n)).collect();
    let cells: Vec<Vec<_>> = counts.iter().enumerate().map(row).collect();
    let label = format!("Confusion of {} classes", names.len());
    heat_map(&label, [names, names], &cells, "Each row is an observed class, each column a predicted one.")
}

/// The ROC curve of two classes.
fn roc(predictions: &ShownPredictions, positive: &str) -> Option<Chart> {
    let ([observed], [predicted]) = (&predictions.observed[..], &predictions.predicted[..]) else { return None };
    let mut rows: Vec<(f64, bool)> = predicted.iter().zip(observed).map(|(p, o)| (*p, *o > 0.5)).collect();
    let positives = rows.iter().filter(|(_, is_positive)| *is_positive).count();
    let negatives = rows.len() - positives;
    if positives == 0 || negatives == 0 || rows.iter().any(|(p, _)| !p.is_finite()) {
        return None;
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut points, mut hits, mut alarms) = (vec![[0.0, 0.0]], 0, 0);
    for tied in rows.chunk_by(|a, b| a.0 == b.0) {
        let own = tied.iter().filter(|(_, is_positive)| *is_positive).count();
        (hits, alarms) = (hits + own, alarms + tied.len() - own);
        points.push([alarms as f64 / negatives as f64, hits as f64 / positives as f64]);
    }
    let curve = Mark::stroke("", predictions.from.title(), points);
    let chart = Chart::unit_square("ROC curve", "false-positive rate", "true-positive rate").mark(curve);
    Some(chart.caption(format!("ROC curve of “{positive}” on {}.", predictions.from.rows())))
}
