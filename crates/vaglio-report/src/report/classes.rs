//! Predictions of classes: confusion matrix, ROC curve.

use crate::names::clause;
use crate::page::{Chart, Mark, Section, TableBuilder, TableCell, count, heat_map, short};
use crate::record::{Record, ShownPredictions};

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
