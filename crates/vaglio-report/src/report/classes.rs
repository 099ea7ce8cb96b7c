//! Classes: confusion matrix, errors of each class, and the ROC curve.

use super::axis::{Axis, tick_labels, ticks};
use super::number::{count, escape, short};
use super::source::RecordView;
use super::svg::{self, px};
use super::table::{Column, HtmlTable, bar};
use super::{heat, labels};
use crate::record::ShownPredictions;
use serde::Serialize;
use std::fmt::Write;

/// Classes whose confusion matrix is a table; those of more are a drawing.
const FEW: usize = 10;
/// The side of the ROC curve.
const SIDE: f64 = 360.0;

/// The section on classes.
#[derive(Serialize)]
pub struct Classes {
    lead: String,
    matrix: String,
    per_class: String,
    roc: Option<String>,
    roc_note: String,
}

/// The errors of one class.
struct Class {
    name: String,
    rows: usize,
    wrong: usize,
    taken: String,
}

impl Classes {
    /// The section; `None` for numbers, or without predictions of rows that were not seen.
    pub fn of(source: &RecordView<'_>) -> Option<Classes> {
        let names = source.record.data.classes.as_ref()?;
        let (figures, rows) = source.record.trusted()?;
        let counts = figures.confusion.as_ref()?;
        let name = |k: usize| names.get(k).cloned().unwrap_or_else(|| format!("class {}", k + 1));
        let classes: Vec<Class> = counts.iter().enumerate().map(|(k, row)| class(k, row, &name)).collect();
        let all: usize = classes.iter().map(|class| class.rows).sum();
        let wrong: usize = classes.iter().map(|class| class.wrong).sum();
        let mut lead = format!(
            "Of {} {rows}, {} {} given the wrong class",
            count(all as u64),
            count(wrong as u64),
            if wrong == 1 { "was" } else { "were" }
        );
        if let Some(balanced) = figures.balanced_error_rate {
            let _ = write!(lead, "; the mean over classes of their error rates is {}", short(balanced));
        }
        lead.push('.');
        let share = |class: &Class| class.wrong as f64 / class.rows.max(1) as f64;
        let columns = vec![
            Column::name("Class", |class: &Class| class.name.clone()),
            Column::count("Rows", |class: &Class| class.rows),
            Column::count("Wrong", |class: &Class| class.wrong),
            Column::html("Error rate", "share", |class: &Class| {
                (class.rows > 0).then(|| bar(share(class), &short(share(class))))
            }),
            Column::text("Most often taken for", |class: &Class| class.taken.clone()),
        ];
        let (roc, roc_note) = match source.record.report.predictions.as_ref().and_then(roc) {
            Some((svg, on)) => {
                let auc = figures.auc.map(|auc| format!(" The area under it, AUC, is {}.", short(auc)));
                let positive = name(1);
                let note = format!(
                    "Of the outputs on {on}: how many rows of “{positive}” are found as more of the others are taken for it.{}",
                    auc.unwrap_or_default()
                );
                (Some(svg), note)
            }
            None => (None, String::new()),
        };
        let shown: Vec<String> = (0..counts.len()).map(name).collect();
        let matrix = if counts.len() <= FEW { matrix(&shown, counts) } else { heat::confusion(&shown, counts) };
        let per_class = HtmlTable::of("Errors of each class", "“confusion”", columns, &classes, |_| false).html();
        Some(Classes { lead, matrix, per_class, roc, roc_note })
    }
}

fn class(k: usize, row: &[usize], name: &impl Fn(usize) -> String) -> Class {
    let rows: usize = row.iter().sum();
    let others = row.iter().enumerate().filter(|(other, _)| *other != k);
    let most = others.max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(&a.0))).filter(|(_, n)| **n > 0);
    let taken = most.map(|(other, n)| format!("{} ({})", name(other), count(*n as u64))).unwrap_or_default();
    Class { name: name(k), rows, wrong: rows - row.get(k).copied().unwrap_or(0), taken }
}

/// The confusion matrix as a table, shaded by the share of each class.
fn matrix(names: &[String], counts: &[Vec<usize>]) -> String {
    let mut out = String::from("<table class=\"confusion\"><thead><tr><th scope=\"col\" class=\"t\">class</th>");
    for name in names {
        let _ = write!(out, "<th scope=\"col\">taken for {}</th>", escape(name));
    }
    out.push_str("</tr></thead><tbody>");
    for (k, (name, row)) in names.iter().zip(counts).enumerate() {
        let total = row.iter().sum::<usize>().max(1) as f64;
        let _ = write!(out, "<tr><th scope=\"row\" class=\"t\">{}</th>", escape(name));
        for (j, n) in row.iter().enumerate() {
            let (class, share) = (if j == k { "right" } else { "wrong" }, (100.0 * *n as f64 / total).round());
            let _ = write!(out, "<td class=\"{class}\" style=\"--share:{share}%\">{}</td>", count(*n as u64));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table>");
    out
}

/// The ROC curve of two classes, and of which rows it is.
fn roc(shown: &ShownPredictions) -> Option<(String, String)> {
    let ([observed], [predicted]) = (&shown.observed[..], &shown.predicted[..]) else { return None };
    let mut rows: Vec<(f64, bool)> = predicted.iter().zip(observed).map(|(p, o)| (*p, *o > 0.5)).collect();
    let positives = rows.iter().filter(|(_, positive)| *positive).count();
    let negatives = rows.len() - positives;
    if positives == 0 || negatives == 0 || rows.iter().any(|(p, _)| !p.is_finite()) {
        return None;
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut points, mut hits, mut alarms) = (vec![(0.0, 0.0)], 0.0, 0.0);
    for tied in rows.chunk_by(|a, b| a.0 == b.0) {
        hits += tied.iter().filter(|(_, positive)| *positive).count() as f64;
        alarms += tied.iter().filter(|(_, positive)| !*positive).count() as f64;
        points.push((alarms / negatives as f64, hits / positives as f64));
    }
    let (left, top, floor) = (52.0, 12.0, SIDE - 46.0);
    let x = Axis { from: 0.0, to: 1.0, start: left, length: SIDE - left - 16.0, logarithmic: false };
    let y = Axis { from: 0.0, to: 1.0, start: floor, length: top - floor, logarithmic: false };
    let mut out = svg::framed("square", (SIDE, SIDE), "ROC curve");
    let marks = ticks(0.0, 1.0, 5);
    let labels = tick_labels(&marks, false);
    svg::grid(&mut out, &x, &y, &marks, &labels);
    svg::foot(&mut out, &x, floor, &marks.iter().map(|m| x.at(*m)).zip(labels).collect::<Vec<_>>());
    svg::text(
        &mut out,
        "axis-label",
        (left + x.length / 2.0, SIDE - 6.0),
        "middle",
        "share of the others taken for it",
    );
    svg::upright(&mut out, (14.0, (top + floor) / 2.0), "share found");
    let chance = format!("M{},{}L{},{}", px(x.at(0.0)), px(y.at(0.0)), px(x.at(1.0)), px(y.at(1.0)));
    let path: Vec<String> = points.iter().map(|(a, h)| format!("{},{}", px(x.at(*a)), px(y.at(*h)))).collect();
    let class = labels::class_of(shown.from);
    let _ = write!(
        out,
        "<path class=\"level empty\" d=\"{chance}\"/><path class=\"line {class}\" d=\"M{}\"/></svg>",
        path.join("L")
    );
    Some((out, labels::on(shown)))
}
