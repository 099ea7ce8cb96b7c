//! The figures along the path: score, losses and penalty against size, and the loss against λ.

use super::labels;
use super::number::{counted, short};
use super::plot::{Across, Level, Plot, Series};
use super::source::{Entry, RecordView};
use serde::Serialize;
use vaglio_core::ZeroOne;

/// From this ratio of the largest size to the chosen one on, the axis of sizes shows powers.
const FAR: usize = 10;
/// And from so many sizes on.
const MANY: usize = 100;

/// A drawing with heading, legend and caption.
#[derive(Serialize)]
pub struct Figure {
    heading: String,
    svg: String,
    legend: String,
    caption: String,
}

/// A line: its name in tooltips and its values with their spread.
struct FigureLine {
    word: &'static str,
    series: Series,
}

fn line(
    source: &RecordView<'_>,
    (word, name): (&'static str, &str),
    class: &'static str,
    value: fn(&Entry) -> Option<f64>,
) -> FigureLine {
    let values = source.path.iter().map(value).collect();
    FigureLine { word, series: Series { name: name.into(), class, values, band: Vec::new() } }
}

impl FigureLine {
    fn banded(mut self, source: &RecordView<'_>, half: fn(&Entry) -> Option<f64>) -> FigureLine {
        self.series.band = source.path.iter().map(half).collect();
        self
    }
}

/// The figures along the path that have something to show.
pub fn figures(source: &RecordView<'_>) -> Vec<Figure> {
    let loss = source.loss();
    let mut out = Vec::new();
    let inner = line(source, ("score", &format!("inner score: {}", labels::score(source))), "inner", |e| e.score);
    let mut losses = vec![
        line(source, ("cross-validated", "cross-validated, the whole search"), "cross", |e| e.cross)
            .banded(source, |e| e.cross_error),
        line(source, ("test", "test rows"), "test", |e| e.test),
        line(source, ("training", "training rows"), "train", |e| e.train),
    ];
    if source.comparable {
        losses.insert(1, inner);
        out.extend(loss_figure(source, losses));
    } else {
        out.extend(score_figure(source, inner));
        out.extend(loss_figure(source, losses));
    }
    if !loss.is(&ZeroOne) {
        let lines = vec![
            line(source, ("test", "test rows"), "test", |e| e.rates.test_error),
            line(source, ("training", "training rows"), "train", |e| e.rates.train_error),
        ];
        let plot = along(source, "error rate".into(), lines, rates(source));
        let caption = "The share of rows that the models refitted on the subsets of the path give the wrong class.";
        out.extend(figure("Error rate against size", &plot, caption.into()));
    }
    out.extend(penalty_figure(source));
    out.extend(lambda_figure(source));
    out
}

/// The error rates of rows held out, and of always calling the most frequent class on test rows.
fn rates(source: &RecordView<'_>) -> Vec<Level> {
    let record = source.record;
    let always = record.test.as_ref().and_then(|test| Some((test.always()?.error_rate, record.always_text(test)?)));
    let always = always.map(|(value, name)| Level { name: format!("test rows, {name}"), class: "empty test", value });
    let nested = record.nested.as_ref().and_then(|nested| Some(("nested", nested.figures.error_rate?)));
    let of_search = || Some(("cross", record.report.figures.as_ref()?.error_rate?));
    let held_out = nested.or_else(of_search).map(|(class, value)| Level {
        name: format!("rows held out, by the chosen size: {}", short(value)),
        class,
        value,
    });
    always.into_iter().chain(held_out).collect()
}

/// Whether sizes are shown as powers: where all that matters is at the far left.
fn across(source: &RecordView<'_>) -> Across {
    let last = source.path.last().map_or(0, |entry| entry.size);
    let seen = source.record.selected.len().max(source.best_entry().map_or(0, |entry| entry.size)).max(1);
    if last >= MANY && last / seen >= FAR { Across::Powers } else { Across::Sizes }
}

/// A plot along the path.
fn along(source: &RecordView<'_>, vertical: String, lines: Vec<FigureLine>, levels: Vec<Level>) -> Plot {
    let lines: Vec<FigureLine> = lines.into_iter().filter(|l| l.series.values.iter().any(Option::is_some)).collect();
    let told = |place: usize| {
        let part = |line: &FigureLine| {
            let value = (*line.series.values.get(place)?)?;
            let spread = line.series.band.get(place).copied().flatten();
            let spread = spread.map(|s| format!(" ± {}", short(s))).unwrap_or_default();
            Some(format!("{} {}{spread}", line.word, short(value)))
        };
        lines.iter().filter_map(part).collect::<Vec<_>>().join(", ")
    };
    let tip = |(place, entry): (usize, &Entry)| format!("{}: {}", counted(entry.size as u64, "column"), told(place));
    let tips = source.path.iter().enumerate().map(tip).collect();
    Plot {
        label: format!("{} against the number of columns", labels::capital(&vertical)),
        vertical,
        across: across(source),
        at: source.path.iter().map(|entry| entry.size as f64).collect(),
        chosen: source.chosen_entry().map(|entry| (entry.size as f64, format!("chosen: {}", entry.size))),
        tips,
        series: lines.into_iter().map(|line| line.series).collect(),
        levels,
        ..Plot::default()
    }
}

fn figure(heading: &str, plot: &Plot, caption: String) -> Option<Figure> {
    Some(Figure { heading: heading.into(), svg: plot.html()?, legend: plot.legend(), caption })
}

/// The value that is compared with, and one standard error above the lowest of a line.
fn levels(empty: Option<f64>, bound: Option<f64>) -> Vec<Level> {
    let empty =
        empty.map(|value| Level { name: format!("no column, the same rows: {}", short(value)), class: "empty", value });
    let bound = bound.filter(|bound| bound.is_finite()).map(|value| Level {
        name: format!("lowest + one standard error: {}", short(value)),
        class: "bound",
        value,
    });
    empty.into_iter().chain(bound).collect()
}

fn score_bound(source: &RecordView<'_>) -> Option<f64> {
    source.best_entry().and_then(|e| Some(e.score? + e.standard_error?))
}

fn score_figure(source: &RecordView<'_>, inner: FigureLine) -> Option<Figure> {
    let inner = inner.banded(source, |e| e.standard_error);
    let levels = levels(source.empty_score(), score_bound(source));
    let plot = along(source, labels::score(source), vec![inner], levels);
    let caption = "The score of the best subset found of each size; the ring marks the size that was chosen.";
    figure("Score against size", &plot, caption.into())
}

fn loss_figure(source: &RecordView<'_>, mut lines: Vec<FigureLine>) -> Option<Figure> {
    let crossed = source.path.iter().any(|entry| entry.cross.is_some());
    let (empty, bound) = match crossed {
        // What is near the lowest hangs on the difference of each size, and on no one level.
        true => (source.record.chosen.empty_loss, None),
        false if source.comparable => (source.empty_score(), score_bound(source)),
        false => (None, None),
    };
    if !crossed {
        lines = lines
            .into_iter()
            .map(|l| if l.series.class == "inner" { l.banded(source, |e| e.standard_error) } else { l })
            .collect();
    }
    let mut levels = levels(empty, bound);
    if let Some(value) = source.record.test.as_ref().and_then(|test| test.empty_loss).filter(|empty| empty.is_finite())
    {
        let name = format!("no column, test rows: {}", short(value));
        levels.push(Level { name, class: "empty test", value });
    }
    let plot = along(source, labels::vertical(&source.loss()), lines, levels);
    let caption = match crossed {
        true => {
            "The cross-validated loss repeats the whole search in every fold and cuts it at this size; it is the one to read. The others are of the subsets of the path. The ring marks the size that was chosen."
        }
        false => {
            "The best subset found of each size, and the loss of its model; the ring marks the size that was chosen."
        }
    };
    let heading = if source.comparable && !crossed { "Score against size" } else { "Loss against size" };
    figure(
        heading,
        &plot,
        format!("{caption} Lines join neighboring sizes only; where there is none, nothing was computed."),
    )
}

/// The λ of every subset, where they differ.
fn penalty_figure(source: &RecordView<'_>) -> Option<Figure> {
    let penalty = line(source, ("λ", "λ that won"), "inner", |e| e.lambda);
    let mut known = penalty.series.values.iter().flatten();
    let first = known.next()?;
    if known.all(|l| l == first) {
        return None;
    }
    let plot = Plot { logarithmic: true, ..along(source, "λ".into(), vec![penalty], Vec::new()) };
    figure("Penalty against size", &plot, "The λ of the lowest score for each subset, on a logarithmic axis.".into())
}

/// The lowest cross-validated loss over sizes, for each λ of the walk.
fn lambda_figure(source: &RecordView<'_>) -> Option<Figure> {
    let table = source.record.report.table.as_ref()?;
    let lowest = |cells: &Vec<crate::record::Cell>| {
        let known = cells.iter().filter(|cell| cell.loss.is_finite());
        known.min_by(|a, b| a.loss.total_cmp(&b.loss).then(a.size.cmp(&b.size))).copied()
    };
    let pairs = table.lambdas.iter().zip(&table.cells);
    let mut best: Vec<(f64, crate::record::Cell)> =
        pairs.filter_map(|(l, cells)| Some((l.filter(|l| *l > 0.0)?, lowest(cells)?))).collect();
    best.sort_by(|a, b| a.0.total_cmp(&b.0));
    if best.len() < 2 {
        return None;
    }
    let tip = |(lambda, cell): &(f64, crate::record::Cell)| {
        format!("λ {}: {} with {}", short(*lambda), short(cell.loss), counted(cell.size as u64, "column"))
    };
    let chosen = source.record.chosen.lambda.filter(|l| best.iter().any(|(other, _)| other == l));
    let edge = chosen.is_some_and(|l| best.first().is_some_and(|b| b.0 == l) || best.last().is_some_and(|b| b.0 == l));
    let plot = Plot {
        label: "The lowest cross-validated loss against λ".into(),
        vertical: labels::vertical(&source.loss()),
        across: Across::Lambda,
        at: best.iter().map(|(lambda, _)| *lambda).collect(),
        tips: best.iter().map(tip).collect(),
        chosen: chosen.map(|l| (l, format!("chosen: {}{}", short(l), if edge { ", at the edge" } else { "" }))),
        series: vec![Series {
            name: "cross-validated, at the best size".into(),
            class: "cross",
            values: best.iter().map(|(_, cell)| Some(cell.loss)).collect(),
            band: best.iter().map(|(_, cell)| cell.standard_error).collect(),
        }],
        levels: levels(source.record.chosen.empty_loss, None),
        ..Plot::default()
    };
    let mut caption =
        String::from("One walk for each λ, cross-validated as a whole, each at the size that suits it best.");
    if edge {
        caption.push_str(" The chosen λ is at the edge of those that were tried: a wider grid may find a lower loss.");
    }
    figure("Loss against λ", &plot, caption)
}
