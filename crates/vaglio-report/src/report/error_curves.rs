//! Curves of errors over the number of columns, λ and costs.

use crate::LEVEL;
use crate::names::{capital, join_up_to};
use crate::page::{Chart, Mark, ScaleKind, Section, TableBuilder, finite, short};
use crate::record::{Cell, EntryRecord, PredictionRows, Record, interval_name};
use vaglio_core::pluralize;
use vaglio_search::CrossValidation;

/// Number of sizes from which the axis is logarithmic, if the chosen size is below a tenth of the largest.
const MANY_SIZES: usize = 100;

/// Chart of the error over the number of columns, with the fewest columns that suffice.
pub fn error_by_size(record: &Record) -> Option<Section> {
    let sizes = record.chosen.sizes.as_ref().map(|sizes| sizes.sentence(record.selected.len()));
    let section = Section::new("Error by number of columns").text(fewest(record)).text(sizes);
    Some(section.chart(curves(record).0))
}

/// The other curves along the path.
pub fn other_curves(record: &Record) -> Option<Section> {
    let section = Section::new("Other curves of the search").chart(curves(record).1);
    Some(section.chart(penalties(record)).chart(error_by_lambda(record)))
}

/// Chart of the losses, and of the score if its units differ; without losses, chart of the score alone.
fn curves(record: &Record) -> (Chart, Option<Chart>) {
    let losses = losses(record);
    if !losses.marks.iter().any(|mark| matches!(mark, Mark::Line { .. })) {
        return (scores(record), None);
    }
    (losses, (!record.is_comparable()).then(|| scores(record)))
}

/// Values along the path, broken where sizes are left out or have none.
pub fn along_path<const N: usize>(
    record: &Record,
    value: impl Fn(&EntryRecord) -> Option<[f64; N]>,
) -> Vec<Option<[f64; N]>> {
    let mut points = Vec::new();
    let mut before = 0;
    for entry in record.path_by_size() {
        if entry.size > before + 1 {
            points.push(None);
        }
        points.push(value(entry));
        before = entry.size;
    }
    points
}

fn line(record: &Record, name: &str, class: &str, value: impl Fn(&EntryRecord) -> Option<f64>) -> Option<Mark> {
    let points = along_path(record, |entry| Some([entry.size as f64, value(entry).and_then(finite)?]));
    points.iter().any(Option::is_some).then(|| Mark::line(name, class, points))
}

/// The intervals of the score along the path.
fn score_band(record: &Record) -> Option<Mark> {
    let loss = record.loss();
    let interval = |entry: &EntryRecord| loss.interval_at(entry.size as f64, Some(entry.score), entry.standard_error);
    Mark::band(interval_name(LEVEL), "inner", along_path(record, interval))
}

/// A chart over the number of columns, with the chosen one.
fn by_size(record: &Record, title: &str) -> Chart {
    let last = record.path.iter().map(|entry| entry.size).max().unwrap_or(0);
    let seen = record.selected.len().max(record.best_entry().map_or(0, |entry| entry.size)).max(1);
    let kind = if last >= MANY_SIZES && last / seen >= 10 { ScaleKind::Log } else { ScaleKind::Whole };
    let label = format!("{} over the number of columns", capital(title));
    let chosen = record.chosen_entry().map(|entry| Mark::chosen(entry.size as f64, entry.size));
    Chart::new(label, "columns", title).x(kind).marks(chosen)
}

fn without_features(value: Option<f64>) -> Option<Mark> {
    value.map(|value| Mark::level(format!("without features: {}", short(value)), "empty", value))
}

/// The losses of the path, with the score if it is one of them.
fn losses(record: &Record) -> Chart {
    let (loss, is_comparable) = (record.loss(), record.is_comparable());
    let is_cross_validated = record.path.iter().any(|entry| entry.cross_validated.and_then(finite).is_some());
    let baseline = if is_cross_validated {
        record.chosen.empty_loss.and_then(finite)
    } else {
        finite(record.empty_score).filter(|_| is_comparable)
    };
    let test = record.test.as_ref().and_then(|test| test.empty_loss).and_then(finite);
    let test = test.map(|value| Mark::level(format!("without features, test: {}", short(value)), "empty test", value));
    // The interval of the chosen size says more than standard errors of the others.
    let chosen = record.held_out_error(PredictionRows::CrossValidation).and_then(|error| error.interval);
    let bar = chosen.map_or("", |_| "; the bar is the interval at the chosen size");
    let chosen = chosen.and_then(|([low, high], level)| {
        let place = record.selected.len() as f64;
        Mark::band(interval_name(level), "cross-validated", vec![Some([place, low, high])])
    });
    let marks = [
        chosen,
        score_band(record).filter(|_| is_comparable && !is_cross_validated),
        without_features(baseline),
        test,
        line(record, "training", "train", |entry| entry.train),
        line(record, "test", "test", |entry| entry.test),
        line(record, "score of the search", "inner", |entry| Some(entry.score).filter(|_| is_comparable)),
        line(record, "cross-validated", "cross-validated", |entry| entry.cross_validated),
    ];
    let caption = match is_cross_validated {
        true => format!("The cross-validated error repeats the whole search in each fold{bar}."),
        false => "The best subset found of each size.".into(),
    };
    by_size(record, &loss.axis_title()).marks(marks.into_iter().flatten()).caption(caption)
}

fn scores(record: &Record) -> Chart {
    let marks = [
        score_band(record),
        without_features(finite(record.empty_score)),
        line(record, "score of the search", "inner", |entry| Some(entry.score)),
    ];
    by_size(record, &record.score_title())
        .marks(marks.into_iter().flatten())
        .caption("The best subset found of each size.")
}

/// Chart of the λ of every subset, if they differ.
fn penalties(record: &Record) -> Option<Chart> {
    let mut known = record.path.iter().filter_map(|entry| entry.lambda);
    let first = known.next()?;
    if known.all(|lambda| lambda == first) {
        return None;
    }
    let line = line(record, "λ", "inner", |entry| entry.lambda.filter(|l| *l > 0.0));
    let chart = by_size(record, "λ").y(ScaleKind::Log).marks(line);
    Some(chart.caption("The λ with the lowest score, for each size."))
}

/// The lowest cross-validated loss over sizes, for each λ.
fn error_by_lambda(record: &Record) -> Option<Chart> {
    let table = record.report.table.as_ref()?;
    let lowest = |cells: &Vec<Cell>| cells.iter().filter_map(|cell| finite(cell.loss)).reduce(f64::min);
    let pairs = table.lambdas.iter().zip(&table.cells);
    let mut best: Vec<[f64; 2]> =
        pairs.filter_map(|(lambda, cells)| Some([lambda.filter(|l| *l > 0.0)?, lowest(cells)?])).collect();
    best.sort_by(|a, b| a[0].total_cmp(&b[0]));
    if best.len() < 2 {
        return None;
    }
    let chosen = record.chosen.lambda.filter(|lambda| best.iter().any(|[own, _]| own == lambda));
    let chart = Chart::new("Loss over λ", "λ", record.loss().axis_title())
        .x(ScaleKind::Log)
        .marks(without_features(record.chosen.empty_loss.and_then(finite)))
        .marks(chosen.map(|lambda| Mark::chosen(lambda, short(lambda))))
        .mark(Mark::line("cross-validated", "cross-validated", best.into_iter().map(Some).collect()));
    Some(chart.caption("Loss against λ: the lowest cross-validated error over all sizes."))
}

/// The fewest columns whose cross-validated loss is within one standard error of the difference to the lowest.
fn fewest(record: &Record) -> Option<String> {
    let table = record.report.table.as_ref()?;
    let (_, best) = table.pick(&CrossValidation::default()).ok()?;
    let place = table.lambdas.iter().position(|lambda| *lambda == record.chosen.lambda).unwrap_or(0);
    let cells = table.losses_at(place);
    let is_known = cells.iter().any(|cell| cell.difference_error.is_some_and(|error| error > 0.0));
    let least = cells.iter().find(|cell| cell.is_near(best.loss)).filter(|_| is_known)?;
    let above = format!("above the lowest, {}", short(best.loss));
    let error = short(least.difference_error.unwrap_or(0.0));
    let near = format!("{}, is at most one standard error of the difference ({error}) {above}", short(least.loss));
    if least.size == 0 {
        return Some(format!("No column is needed: the error without features, {near}."));
    }
    if least.size == record.selected.len() {
        return Some(format!(
            "Fewer columns do not suffice: their errors are more than one standard error of the difference {above}."
        ));
    }
    let place = record.path.iter().position(|entry| entry.size == least.size)?;
    let subset = &record.subsets()[place];
    let sources = record.source_note(subset);
    Some(format!(
        "{} would do{sources}: {}. Their cross-validated error, {near}.",
        pluralize(least.size, "column"),
        join_up_to(subset.iter().map(|index| record.column_name(*index)), 12)
    ))
}

/// The searches that were compared on the same folds.
pub fn searches(record: &Record) -> Option<Section> {
    let searches = &record.searches;
    let winner = searches.iter().find(|search| search.won)?;
    let lead = format!(
        "{} searches were cross-validated on the same folds; the result is from {}. Another search must be better than the first, {}, \
         by more than one standard error of the difference. The error of a winner is slightly too low.",
        searches.len(),
        winner.search,
        searches[0].search
    );
    let table = TableBuilder::new("“searches”", searches)
        .name("Search", |search| &search.search)
        .count("Columns", |search| search.size)
        .number("λ", |search| search.lambda)
        .number("Cross-validated", |search| search.loss)
        .number("Standard error", |search| search.standard_error)
        .highlight(|search| search.won);
    Some(Section::new("Compared searches").text(lead).table(table))
}

/// Chart of the lowest error for each cost of columns; `None` if columns have no costs.
pub fn costs(record: &Record) -> Option<Section> {
    let points = &record.frontier;
    if points.is_empty() {
        return None;
    }
    let line = points.iter().map(|point| Some([point.cost, finite(point.loss)?])).collect();
    let chosen = record.chosen_entry().and_then(|entry| entry.cost);
    let chart = Chart::new("Error over the cost of the columns", "cost", record.loss().axis_title())
        .x(ScaleKind::Linear)
        .marks(chosen.map(|cost| Mark::chosen(cost, short(cost))))
        .mark(Mark::line("lowest for its cost", "cross-validated", line));
    let size = record.selected.len();
    let table = TableBuilder::new("“frontier”", points)
        .number("Cost", |point| point.cost)
        .count("Columns", |point| point.size)
        .number("Loss", |point| point.loss)
        .number("Standard error", |point| point.standard_error)
        .highlight(|point| point.size == size);
    let lead = "Subsets of the path with a lower error than all that cost as much or less. A smaller budget may lead the search to others.";
    Some(Section::new("What each cost buys").text(lead.to_owned()).chart(chart).table(table))
}
