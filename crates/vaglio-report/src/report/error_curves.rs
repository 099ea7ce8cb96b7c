//! Curves of errors: over the number of columns, λ, training rows and costs, and while tuning.

use super::chart::{Chart, ChartScale, Mark, ScaleKind};
use super::number::{counted, short};
use super::record_view::{PathEntryView, RecordView, capital, finite, listed, score_title, vertical};
use super::section::Section;
use super::table::TableBuilder;
use crate::record::{Cell, FrontierPoint, LearningPoint, LossName, PredictionRows, interval_text};
use vaglio_core::ZeroOne;
use vaglio_search::Rule;

/// Number of sizes from which the axis is logarithmic, if the chosen size is below a tenth of the largest.
const MANY_SIZES: usize = 100;

/// Chart of the error over the number of columns, with the fewest columns that suffice.
pub fn error_by_size(view: &RecordView<'_>) -> Option<Section> {
    let sizes = view.record.chosen.sizes.as_ref();
    let sizes = sizes.map(|sizes| format!("{}.", capital(&sizes.sentence(view.record.selected.len()))));
    let section =
        Section::new("curve", "Error by number of columns").lead(fewest(view)).text(sizes.unwrap_or_default());
    let chart = match view.comparable {
        true => Some(losses(view)),
        false => Some(losses(view)).filter(|chart| chart.html().is_some()).or_else(|| Some(scores(view))),
    };
    section.chart(chart).non_empty()
}

/// The other curves along the path.
pub fn other_curves(view: &RecordView<'_>) -> Option<Section> {
    let mut section = Section::new("curves", "Other curves of the search");
    if !view.comparable && losses(view).html().is_some() {
        section = section.chart(Some(scores(view)));
    }
    if !view.loss().is(&ZeroOne) {
        section = section.chart(Some(error_rates(view)));
    }
    section.chart(penalties(view)).chart(error_by_lambda(view)).non_empty()
}

/// Values along the path, broken where sizes are left out or have none.
fn along_path<const N: usize>(
    view: &RecordView<'_>,
    value: impl Fn(&PathEntryView<'_>) -> Option<[f64; N]>,
) -> Vec<Option<[f64; N]>> {
    let mut points = Vec::new();
    let mut before = 0;
    for entry in &view.path {
        if entry.size > before + 1 {
            points.push(None);
        }
        points.push(value(entry));
        before = entry.size;
    }
    points
}

fn line(
    view: &RecordView<'_>,
    name: &str,
    class: &str,
    value: impl Fn(&PathEntryView<'_>) -> Option<f64>,
) -> Option<Mark> {
    let points = along_path(view, |entry| Some([entry.size as f64, value(entry)?]));
    points.iter().any(Option::is_some).then(|| Mark::line(name, class, points))
}

/// The 95 % interval of a loss by its standard error.
fn interval_at(loss: &LossName, at: f64, mean: Option<f64>, error: Option<f64>) -> Option<[f64; 3]> {
    let [low, high] = loss.around(mean?, error?);
    Some([at, low, high])
}

fn band(points: Vec<Option<[f64; 3]>>, class: &str) -> Option<Mark> {
    points.iter().any(Option::is_some).then(|| Mark::band(class, points))
}

/// A chart over the number of columns, with the chosen one.
fn by_size(view: &RecordView<'_>, title: &str) -> Chart {
    let last = view.path.last().map_or(0, |entry| entry.size);
    let seen = view.record.selected.len().max(view.best_entry().map_or(0, |entry| entry.size)).max(1);
    let kind = if last >= MANY_SIZES && last / seen >= 10 { ScaleKind::Log } else { ScaleKind::Whole };
    let label = format!("{} over the number of columns", capital(title));
    let chart = Chart::new(label, ChartScale::new("columns", kind), ChartScale::new(title, ScaleKind::Auto));
    let chosen = view.chosen_entry().map(|entry| Mark::chosen(entry.size as f64, format!("chosen: {}", entry.size)));
    chart.marks(chosen)
}

fn without_features(value: Option<f64>) -> Option<Mark> {
    value.map(|value| Mark::level(format!("without features: {}", short(value)), "empty", value))
}

/// The losses of the path, with the score if it is one of them.
fn losses(view: &RecordView<'_>) -> Chart {
    let loss = view.loss();
    let is_cross_validated = view.path.iter().any(|entry| entry.cross.is_some());
    let baseline = match is_cross_validated {
        true => view.record.chosen.empty_loss.and_then(finite),
        false => view.empty_score().filter(|_| view.comparable),
    };
    let test = view.record.test.as_ref().and_then(|test| test.empty_loss).and_then(finite);
    let test = test.map(|value| Mark::level(format!("without features, test: {}", short(value)), "empty test", value));
    // The interval of the chosen size says more than standard errors of the others.
    let chosen =
        view.record.held_out_errors().into_iter().find(|error| error.origin == PredictionRows::CrossValidation);
    let chosen = chosen.and_then(|error| error.interval).map(|(ends, level)| {
        let bar = ends.map(|end| [view.record.selected.len() as f64, end]);
        Mark::bars("spread cross", vec![bar], vec![interval_text(ends, level)])
    });
    let score = |entry: &PathEntryView<'_>| interval_at(&loss, entry.size as f64, entry.score, entry.standard_error);
    let scores = if is_cross_validated { Vec::new() } else { along_path(view, score) };
    let marks = [
        chosen,
        band(if view.comparable { scores } else { Vec::new() }, "inner"),
        without_features(baseline),
        test,
        line(view, "training", "train", |entry| entry.train),
        line(view, "test", "test", |entry| entry.test),
        line(view, "score of the search", "inner", |entry| entry.score.filter(|_| view.comparable)),
        line(view, "cross-validated", "cross", |entry| entry.cross),
    ];
    let caption = match is_cross_validated {
        true => "The cross-validated error repeats the whole search in each fold; the bar is its 95 % interval.",
        false => "The best subset found of each size.",
    };
    by_size(view, &vertical(&loss)).marks(marks.into_iter().flatten()).caption(caption)
}

fn scores(view: &RecordView<'_>) -> Chart {
    let loss = view.loss();
    let interval = |entry: &PathEntryView<'_>| interval_at(&loss, entry.size as f64, entry.score, entry.standard_error);
    let marks = [
        band(along_path(view, interval), "inner"),
        without_features(view.empty_score()),
        line(view, "score of the search", "inner", |entry| entry.score),
    ];
    by_size(view, &score_title(view)).marks(marks.into_iter().flatten()).caption("The best subset found of each size.")
}

/// Error rates of models refitted on the subsets of the path.
fn error_rates(view: &RecordView<'_>) -> Chart {
    let record = view.record;
    let always = record.test.as_ref().and_then(|test| Some((test.always()?.error_rate, record.always_text(test)?)));
    let always = always.map(|(value, name)| Mark::level(format!("test, {name}"), "empty test", value));
    let held_out = record.trusted().and_then(|(figures, rows)| {
        let rate = figures.error_rate?;
        Some(Mark::level(format!("{rows}, chosen size: {}", short(rate)), "cross", rate))
    });
    let lines = [
        line(view, "training", "train", |entry| entry.rates.train_error),
        line(view, "test", "test", |entry| entry.rates.test_error),
    ];
    let chart = by_size(view, "error rate");
    if lines.iter().all(Option::is_none) {
        chart
    } else {
        chart.marks([always, held_out].into_iter().chain(lines).flatten())
    }
}

/// Chart of the λ of every subset, if they differ.
fn penalties(view: &RecordView<'_>) -> Option<Chart> {
    let mut known = view.path.iter().filter_map(|entry| entry.lambda);
    let first = known.next()?;
    if known.all(|lambda| lambda == first) {
        return None;
    }
    let mut chart = by_size(view, "λ").marks(line(view, "λ", "inner", |entry| entry.lambda.filter(|l| *l > 0.0)));
    chart.y.kind = ScaleKind::Log;
    Some(chart.caption("The λ of the lowest score of each subset."))
}

/// The lowest cross-validated loss over sizes, for each λ.
fn error_by_lambda(view: &RecordView<'_>) -> Option<Chart> {
    let table = view.record.report.table.as_ref()?;
    let lowest = |cells: &Vec<Cell>| {
        let known = cells.iter().filter(|cell| cell.loss.is_finite());
        known.min_by(|a, b| a.loss.total_cmp(&b.loss).then(a.size.cmp(&b.size))).copied()
    };
    let pairs = table.lambdas.iter().zip(&table.cells);
    let mut best: Vec<(f64, Cell)> =
        pairs.filter_map(|(lambda, cells)| Some((lambda.filter(|l| *l > 0.0)?, lowest(cells)?))).collect();
    best.sort_by(|a, b| a.0.total_cmp(&b.0));
    if best.len() < 2 {
        return None;
    }
    let points = best.iter().map(|(lambda, cell)| Some([*lambda, cell.loss])).collect();
    let chosen = view.record.chosen.lambda.filter(|lambda| best.iter().any(|(own, _)| own == lambda));
    let ends = [best[0].0, best[best.len() - 1].0];
    let is_end = chosen.is_some_and(|lambda| ends.contains(&lambda));
    let at_end = if is_end { ", at the edge" } else { "" };
    let (x, y) = (ChartScale::new("λ", ScaleKind::Log), ChartScale::new(vertical(&view.loss()), ScaleKind::Auto));
    let wider =
        if is_end { " The chosen λ is the first or the last that was tried: a wider grid may be better." } else { "" };
    let chart = Chart::new("Loss over λ", x, y)
        .marks(without_features(view.record.chosen.empty_loss.and_then(finite)))
        .marks(chosen.map(|lambda| Mark::chosen(lambda, format!("chosen: {}{at_end}", short(lambda)))))
        .mark(Mark::line("cross-validated", "cross", points));
    Some(chart.caption(format!("Loss against λ: the lowest cross-validated error over all sizes.{wider}")))
}

/// The fewest columns whose cross-validated loss is within one standard error of the difference to the lowest.
fn fewest(view: &RecordView<'_>) -> String {
    let record = view.record;
    let Some(table) = &record.report.table else { return String::new() };
    let Ok((_, best)) = table.pick(Rule::Best) else { return String::new() };
    let place = table.lambdas.iter().position(|lambda| *lambda == record.chosen.lambda).unwrap_or(0);
    let cells = table.losses_at(place);
    let is_known = cells.iter().any(|cell| cell.difference_error.is_some_and(|error| error > 0.0));
    let Some(least) = cells.iter().find(|cell| cell.is_near(best.loss)).filter(|_| is_known) else {
        return String::new();
    };
    let near = format!("within one standard error of the lowest, {}", short(best.loss));
    if least.size == 0 {
        return format!("No column is needed: the error without features is {near}.");
    }
    if least.size == record.selected.len() {
        return format!("Fewer columns do not suffice: their errors are not {near}.");
    }
    let Some(entry) = view.path.iter().find(|entry| entry.size == least.size) else { return String::new() };
    let names: Vec<String> = entry.subset.iter().map(|index| view.name(*index)).collect();
    let sources = record.source_count(entry.subset.iter().copied());
    let sources = match record.data.made.is_empty() || sources == least.size {
        true => String::new(),
        false => format!(" (of {sources} in the data)"),
    };
    format!(
        "{} would do{sources}: {}. Their cross-validated error {} is {near} (standard error of the difference {}).",
        counted(least.size as u64, "column"),
        listed(names.iter().map(String::as_str), 12),
        short(least.loss),
        short(least.difference_error.unwrap_or(0.0))
    )
}

/// The loss over the number of training rows.
pub fn learning_curve(view: &RecordView<'_>) -> Option<Section> {
    let curve = view.record.learning_curve.as_ref()?;
    let loss = |point: &LearningPoint| point.loss.and_then(finite);
    let name = view.loss();
    let interval = |point: &LearningPoint| interval_at(&name, point.rows.round(), loss(point), point.standard_error);
    let points = curve.points.iter().map(|point| Some([point.rows.round(), loss(point)?])).collect();
    let (x, y) =
        (ChartScale::new("training rows", ScaleKind::Linear), ChartScale::new(vertical(&name), ScaleKind::Auto));
    let folds = || counted(curve.folds as u64, "outer fold");
    let chart = Chart::new("Loss over the number of training rows", x, y)
        .marks(band(curve.points.iter().map(interval).collect(), "nested"))
        .mark(Mark::line("rows held out", "nested", points))
        .caption(format!(
            "Everything is repeated on growing parts of the training rows of {}.",
            curve.splits.clone().unwrap_or_else(folds)
        ));
    let table = TableBuilder::new("Learning curve", "“learning_curve”", &curve.points)
        .share("Share of the training rows", |point| Some(point.share))
        .short("Rows", |point| Some(point.rows))
        .short("Columns chosen", |point| point.size)
        .number("Loss", loss)
        .number("Standard error", |point| point.standard_error)
        .number("Gain over the row above", |point| point.gain)
        .number("Standard error", |point| point.gain_error)
        .text("Why there is none", |point| point.refused.clone().unwrap_or_default())
        .build();
    Some(Section::new("learning", "Learning curve").lead(curve.sentence()).chart(Some(chart)).table(table))
}

/// The searches that were compared on the same folds.
pub fn searches(view: &RecordView<'_>) -> Option<Section> {
    let searches = &view.record.searches;
    let winner = searches.iter().find(|search| search.won)?;
    let lead = format!(
        "{} searches were cross-validated on the same folds; the result is from {}. {} comes first: another search must be better by \
         more than one standard error. The error of a winner is slightly too low.",
        searches.len(),
        winner.search,
        capital(&searches[0].search)
    );
    let table = TableBuilder::new("Searches", "“searches”", searches)
        .name("Search", |search| search.search.clone())
        .count("Columns", |search| search.size)
        .short("λ", |search| search.lambda)
        .number("Cross-validated", |search| finite(search.loss))
        .number("Standard error", |search| search.standard_error)
        .marked(|search| search.won)
        .build();
    Some(Section::new("searches", "Compared searches").lead(lead).table(table))
}

/// Chart of the lowest error for each cost of columns; `None` if columns have no costs.
pub fn costs(view: &RecordView<'_>) -> Option<Section> {
    let points: &[FrontierPoint] = &view.record.frontier;
    if points.is_empty() {
        return None;
    }
    let line = points.iter().map(|point| Some([point.cost, finite(point.loss)?])).collect();
    let chosen = view.chosen_entry().and_then(|entry| entry.cost);
    let (x, y) = (ChartScale::new("cost", ScaleKind::Linear), ChartScale::new(vertical(&view.loss()), ScaleKind::Auto));
    let chart = Chart::new("Error over the cost of the columns", x, y)
        .marks(chosen.map(|cost| Mark::chosen(cost, format!("chosen: {}", short(cost)))))
        .mark(Mark::line("lowest for its cost", "cross", line));
    let size = view.record.selected.len();
    let table = TableBuilder::new("Costs", "“frontier”", points)
        .short("Cost", |point| Some(point.cost))
        .count("Columns", |point| point.size)
        .number("Loss", |point| finite(point.loss))
        .number("Standard error", |point| point.standard_error)
        .marked(|point| point.size == size)
        .build();
    let lead = "Subsets of the path with a lower error than all that cost as much or less. A smaller budget may lead the search to others.";
    Some(Section::new("costs", "What each cost buys").lead(lead).chart(Some(chart)).table(table))
}
