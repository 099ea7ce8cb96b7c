//! The figures along the path: score, losses and penalty against size.

use super::labels;
use super::number::{counted, short};
use super::plot::{Level, Plot, Series};
use super::source::{Entry, Source};
use serde::Serialize;
use vaglio_core::Loss;

/// A drawing with heading, legend and caption.
#[derive(Serialize)]
pub struct Figure {
    heading: &'static str,
    svg: String,
    legend: String,
    caption: String,
}

/// The values of each entry along the path.
fn along(source: &Source<'_>, value: fn(&Entry) -> Option<f64>) -> Vec<Option<f64>> {
    source.path.iter().map(value).collect()
}

fn series(source: &Source<'_>, name: &str, class: &'static str, value: fn(&Entry) -> Option<f64>) -> Series {
    Series { name: name.into(), class, values: along(source, value) }
}

/// The figures along the path that have something to show.
pub fn figures(source: &Source<'_>) -> Vec<Figure> {
    let loss = source.record.pipeline.loss;
    let mut out = Vec::new();
    out.extend(score_figure(source));
    if loss != Some(Loss::Squared) {
        let lines =
            [series(source, "test rows", "test", |e| e.test), series(source, "training rows", "train", |e| e.train)];
        out.extend(loss_figure(source, "Mean squared error against size", "mean squared error", lines));
    }
    if loss != Some(Loss::ZeroOne) {
        let lines = [
            series(source, "test rows", "test", |e| e.rates.test_error),
            series(source, "training rows", "train", |e| e.rates.train_error),
        ];
        out.extend(loss_figure(source, "Error rate against size", "error rate", lines));
    }
    out.extend(lambda_figure(source));
    out
}

fn base(source: &Source<'_>) -> Plot {
    Plot {
        sizes: source.path.iter().map(|entry| entry.size).collect(),
        chosen: source.chosen_entry().map(|entry| entry.size),
        ..Plot::default()
    }
}

fn figure(heading: &'static str, plot: &Plot, caption: String) -> Option<Figure> {
    Some(Figure { heading, svg: plot.html()?, legend: plot.legend(), caption })
}

/// `5 columns: score 2905.5 ± 202, test 3351.2`.
fn tip(size: usize, parts: &[(&str, Option<f64>)]) -> String {
    let told: Vec<String> = parts.iter().filter_map(|(name, v)| Some(format!("{name} {}", short((*v)?)))).collect();
    format!("{}: {}", counted(size as u64, "column"), told.join(", "))
}

fn score_figure(source: &Source<'_>) -> Option<Figure> {
    let name = labels::score(source);
    let mut lines = vec![Series { name: name.clone(), class: "inner", values: along(source, |e| e.score) }];
    match source.record.pipeline.loss {
        Some(Loss::Squared) => {
            lines.push(series(source, "test rows", "test", |e| e.test));
            lines.push(series(source, "training rows", "train", |e| e.train));
        }
        Some(Loss::ZeroOne) => {
            lines.push(series(source, "test rows", "test", |e| e.rates.test_error));
            lines.push(series(source, "training rows", "train", |e| e.rates.train_error));
        }
        _ => {}
    }
    lines.retain(|line| line.class == "inner" || line.values.iter().any(Option::is_some));
    let mut levels = Vec::new();
    if let Some(value) = source.empty_score() {
        levels.push(Level { name: format!("no column: {}", short(value)), class: "empty", value });
    }
    let bound = source.best_entry().and_then(|e| Some(e.score? + e.standard_error?));
    if let Some(value) = bound.filter(|b| b.is_finite()) {
        levels.push(Level { name: format!("lowest + one standard error: {}", short(value)), class: "bound", value });
    }
    let tips = source.path.iter().enumerate().map(|(place, entry)| {
        let of = |class: &str| lines.iter().find(|l| l.class == class).and_then(|l| *l.values.get(place)?);
        tip(
            entry.size,
            &[("score", entry.score), ("±", entry.standard_error), ("test", of("test")), ("training", of("train"))],
        )
    });
    let tips = tips.collect();
    let plot = Plot {
        label: format!("{} against the number of columns", labels::capital(&name)),
        vertical: name,
        band: along(source, |e| e.standard_error),
        series: lines,
        levels,
        tips,
        ..base(source)
    };
    figure(
        "Score against size",
        &plot,
        "The best subset found of each size; the ring marks the size that was chosen.".into(),
    )
}

fn loss_figure(source: &Source<'_>, heading: &'static str, name: &str, lines: [Series; 2]) -> Option<Figure> {
    let mut lines = Vec::from(lines);
    let tips = source.path.iter().enumerate().map(|(place, entry)| {
        let of = |k: usize| lines.get(k).and_then(|l| *l.values.get(place)?);
        tip(entry.size, &[("test", of(0)), ("training", of(1))])
    });
    let tips = tips.collect();
    lines.retain(|line| line.values.iter().any(Option::is_some));
    let label = format!("{} against the number of columns", labels::capital(name));
    let plot = Plot { label, vertical: name.into(), series: lines, tips, ..base(source) };
    figure(heading, &plot, "Of the models refitted on the subsets of the path.".into())
}

fn lambda_figure(source: &Source<'_>) -> Option<Figure> {
    let values = along(source, |e| e.lambda);
    let mut known = values.iter().flatten();
    let first = known.next()?;
    if known.all(|l| l == first) {
        return None;
    }
    let plot = Plot {
        label: "The chosen penalty λ against the number of columns".into(),
        vertical: "λ".into(),
        tips: source.path.iter().map(|e| tip(e.size, &[("λ", e.lambda)])).collect(),
        series: vec![Series { name: "λ that won".into(), class: "inner", values }],
        logarithmic: true,
        ..base(source)
    };
    figure("Penalty against size", &plot, "The λ of the lowest score for each subset, on a logarithmic axis.".into())
}
