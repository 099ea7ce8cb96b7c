//! Comparison of several runs: figures, curves, columns, and paired differences of their outer losses.

use crate::names::clause;
use crate::page::{COLORS, Chart, Mark, ScaleKind, Section, TableBuilder, TableCell, page};
use crate::record::{LossName, NestedEvaluation, OuterFold, PredictionRows, Record, interval_text};
use crate::report::{along_path, heading};
use crate::{ClusterSum, LEVEL, MeanVariances, StandardizedMoments};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::hash::Hash;
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result, escape_controls, join, pluralize, short, significant};

/// Several runs, with the difference of each pair.
#[derive(Debug)]
pub struct Comparison {
    /// The runs, in the given order.
    runs: Vec<NamedRun>,
    /// Positions of the two runs of each pair, and their difference, or the reason why they are not compared.
    pairs: Vec<(usize, usize, Result<Difference, String>)>,
}

/// A run with its name.
#[derive(Debug)]
struct NamedRun {
    /// Name of the folder, or its path as given if several folders have that name.
    name: String,
    /// Result.
    record: Record,
}

impl NamedRun {
    fn parts(&self) -> String {
        let parts = &self.record.pipeline;
        let then = clause(", then {}", self.record.model.as_ref().map(|model| &model.kind));
        format!("{} on {}, {}{then}", parts.search, parts.criterion, parts.learner)
    }

    /// RMSE by the most trustworthy held-out error, for regression.
    fn rmse(&self) -> Option<f64> {
        self.record.held_out_errors().first().and_then(|error| error.rmse())
    }

    fn selected_names(&self) -> HashSet<&str> {
        self.record.selected.iter().map(|column| column.name.as_str()).collect()
    }
}

impl Comparison {
    /// Reads `selection.json` of each folder.
    ///
    /// # Errors
    /// [`Error::Setting`] for fewer than two folders; [`Error::Unreadable`] for a result that is missing, damaged or of
    /// another version.
    pub fn read(folders: &[PathBuf]) -> Result<Self> {
        if folders.len() < 2 {
            return Err(Error::setting("DIR", "there is nothing to compare it with; give two folders or more"));
        }
        let names: Vec<String> = folders.iter().map(|folder| heading(folder)).collect();
        let name = |at: usize| match names.iter().filter(|name| **name == names[at]).count() {
            1 => names[at].clone(),
            _ => folders[at].display().to_string(),
        };
        let read = |(at, folder): (usize, &PathBuf)| {
            Ok(NamedRun { name: name(at), record: Record::read(&Path::new(folder).join("selection.json"))? })
        };
        let runs: Vec<NamedRun> = folders.iter().enumerate().map(read).collect::<Result<_>>()?;
        let count = runs.len();
        let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        let pairs = pairs.map(|(a, b)| (a, b, difference(&runs[a], &runs[b]))).collect();
        Ok(Comparison { runs, pairs })
    }

    /// Formats a table of the runs and their losses with 95 % intervals, then each pair's difference of nested errors.
    pub fn table(&self) -> String {
        let row = |run: &NamedRun| {
            let error = |origin| {
                let Some(error) = run.record.held_out_error(origin) else { return "-".to_owned() };
                let ends = error.interval.map(|(ends, _)| join(ends.map(|end| significant(end, 4)), " to "));
                short(error.loss) + &clause(" ({})", ends)
            };
            [
                run.name.clone(),
                run.parts(),
                run.record.loss().result_name().to_owned(),
                short(run.record.score),
                error(PredictionRows::CrossValidation),
                error(PredictionRows::Nested),
                error(PredictionRows::Test),
                run.rmse().map_or_else(|| "-".to_owned(), |rmse| significant(rmse, 4)),
                run.record.selected.len().to_string(),
            ]
        };
        let heads = ["run", "made by", "loss", "score", "cross-validated", "nested", "test", "RMSE", "columns"];
        let mut rows = vec![heads.map(str::to_owned)];
        rows.extend(self.runs.iter().map(|run| row(run).map(|cell| escape_controls(&cell).into_owned())));
        let width = |k: usize| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..heads.len()).map(width).collect();
        let mut text = String::new();
        for row in &rows {
            let cells =
                row.iter().zip(&widths).enumerate().map(|(k, (cell, &width))| {
                    if k < 3 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                });
            text += join(cells, "  ").trim_end();
            text.push('\n');
        }
        text.push('\n');
        for (a, b, difference) in &self.pairs {
            let (a, b) = (escape_controls(&self.runs[*a].name), escape_controls(&self.runs[*b].name));
            let difference = difference.as_ref().map_or_else(|why| format!("not compared: {why}"), ToString::to_string);
            text += &format!("{a} - {b}: {difference}\n");
        }
        text
    }
}

/// Difference of the outer losses of two runs, the first minus the second.
#[derive(Debug, Clone, PartialEq)]
struct Difference {
    /// Mean.
    mean: f64,
    /// 95 % confidence interval.
    interval: Option<[f64; 2]>,
    /// Number and kind of the pairs: `60 rows`, `3 outer folds`.
    pairs: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let interval = clause(" ({})", self.interval.map(|ends| interval_text((ends, LEVEL))));
        let sign = if self.mean > 0.0 { "+" } else { "" };
        write!(f, "nested {sign}{}{interval}, paired by {}", short(self.mean), self.pairs)
    }
}

/// Paired difference, if both runs held out the same rows in the same folds, or why there is none.
fn difference(a: &NamedRun, b: &NamedRun) -> Result<Difference, String> {
    let [first, second] = matching(a, b)?;
    let by_fold = fold_differences(first, second);
    let folds: Vec<&[ClusterSum]> = by_fold.iter().map(std::slice::from_ref).collect();
    let folds = MeanVariances::from_folds(&folds, first.repeats).folds;
    let by_row = row_differences(first, second).and_then(|pairs| {
        let clusters = MeanVariances::from_folds(&[&pairs], 1).clusters;
        let words = match first.paired.as_ref()?.clusters {
            Some(_) => format!("{} of rows", pluralize(pairs.len(), "cluster")),
            None => pluralize(pairs.len(), "row"),
        };
        mean_difference(&pairs, MeanVariances { clusters, folds }, words)
    });
    let by_fold =
        || mean_difference(&by_fold, MeanVariances { clusters: None, folds }, pluralize(by_fold.len(), "outer fold"));
    by_row.or_else(by_fold).ok_or_else(|| "a fold has no finite loss".into())
}

/// Outer folds of both runs, or the reason why they do not match.
fn matching<'r>(a: &'r NamedRun, b: &'r NamedRun) -> Result<[&'r NestedEvaluation; 2], String> {
    let nested = |run: &'r NamedRun| {
        let lacks = || format!("{} has no outer folds; run it with `--nested 5`", run.name);
        run.record.nested.as_ref().ok_or_else(lacks)
    };
    let (first, second) = (nested(a)?, nested(b)?);
    if a.record.data.digest != b.record.data.digest {
        return Err("the training data are not the same".into());
    }
    if (&a.record.data.targets, &a.record.data.classes) != (&b.record.data.targets, &b.record.data.classes) {
        return Err("the targets are not the same".into());
    }
    if a.record.loss() != b.record.loss() {
        return Err(format!(
            "one loss is `{}`, the other `{}`",
            a.record.loss().result_name(),
            b.record.loss().result_name()
        ));
    }
    let folds =
        |nested: &NestedEvaluation| nested.per_fold.iter().map(|f| (f.repeat, f.fold, f.rows)).collect::<Vec<_>>();
    let weighs = |nested: &NestedEvaluation| nested.paired.as_ref().is_some_and(|paired| paired.weights.is_some());
    if weighs(first) != weighs(second) {
        return Err("one run weighs its rows and the other does not".into());
    }
    match (&first.paired, &second.paired) {
        (Some(p), Some(q)) if p.digest == q.digest && folds(first) == folds(second) => Ok([first, second]),
        _ => Err("the outer folds do not hold out the same rows; give both runs the same seed and folds".into()),
    }
}

/// Differences of the losses of each cluster, by default one row, if both runs recorded the losses of rows.
fn row_differences(first: &NestedEvaluation, second: &NestedEvaluation) -> Option<Vec<ClusterSum>> {
    let (p, q) = (first.paired.as_ref()?, second.paired.as_ref()?);
    let (a, b) = (p.losses.as_ref()?, q.losses.as_ref()?);
    if a.len() != b.len() || p.weights != q.weights || p.clusters != q.clusters {
        return None;
    }
    let pair = |(row, (a, b)): (usize, (&f64, &f64))| {
        let weight = p.weights.as_ref().and_then(|weights| weights.get(row)).copied().unwrap_or(1.0);
        let cluster = p.clusters.as_ref().and_then(|clusters| clusters.get(row)).copied().unwrap_or(row as u32);
        ClusterSum { cluster, weight, sum: weight * (a - b) }
    };
    Some(ClusterSum::merge(a.iter().zip(b).enumerate().map(pair).collect()))
}

/// Difference of the losses of each fold.
fn fold_differences(first: &NestedEvaluation, second: &NestedEvaluation) -> Vec<ClusterSum> {
    let pair = |(fold, (a, b)): (u32, (&OuterFold, &OuterFold))| {
        let weight = a.rows as f64;
        ClusterSum { cluster: fold, weight, sum: weight * (a.loss - b.loss) }
    };
    (0..).zip(first.per_fold.iter().zip(&second.per_fold)).map(pair).collect()
}

/// Weighted mean of the differences, with its interval; `words` describe the pairs.
fn mean_difference(pairs: &[ClusterSum], spread: MeanVariances, words: String) -> Option<Difference> {
    let (weight, sum) = ClusterSum::total(pairs);
    let mean = sum / weight;
    let shape = StandardizedMoments::from_clusters(pairs);
    let interval = spread.root().map(|error| shape.interval(mean, spread.model_factor() * error, LEVEL));
    let interval = interval.filter(|bounds| bounds.iter().all(|bound| bound.is_finite()));
    mean.is_finite().then_some(Difference { mean, interval, pairs: words })
}

/// Jaccard index |a ∩ b| / |a ∪ b|; 1 for two empty sets.
pub fn jaccard<T: Eq + Hash>(a: &HashSet<T>, b: &HashSet<T>) -> f64 {
    let either = a.union(b).count();
    if either == 0 { 1.0 } else { a.intersection(b).count() as f64 / either as f64 }
}

/// Columns that the page lists, at most.
const MOST_COLUMNS: usize = 300;

impl Comparison {
    /// One self-contained HTML page: the table, pairs, curves over each other and shared columns.
    pub fn html(&self) -> String {
        let mut losses: Vec<LossName> = Vec::new();
        self.runs.iter().map(|run| run.record.loss()).for_each(|loss| {
            if !losses.contains(&loss) {
                losses.push(loss);
            }
        });
        let curves = losses.iter().map(|loss| self.curves(loss));
        let curves = curves.fold(Section::new("Error by number of columns"), Section::chart);
        let runs = self.runs.iter().flat_map(|run| run.record.warnings.iter().map(move |warning| (run, warning)));
        let warnings = runs.map(|(run, warning)| format!("{}: {}.", run.name, warning.message));
        let section = warnings.fold(self.runs_section(), |section, text| section.warning(text));
        let sections = [section, self.pairs_section(), curves, self.columns_section()];
        let names = join(self.runs.iter().map(|run| &run.name), ", ");
        let footer = format!("Made by vaglio {}.", env!("CARGO_PKG_VERSION"));
        page("compare", "vaglio compare", &names, sections.into_iter(), &footer)
    }

    fn runs_section(&self) -> Section {
        let note = "The score chose the columns and is optimistic. Cross-validation chose size and λ; nested and test errors are of unseen rows. \
                    Intervals are at the level of each run, 95 % by default. RMSE is of the most trustworthy error.";
        Section::new("Runs")
            .table(
                TableBuilder::new("", &self.runs)
                    .name("Run", |run| &run.name)
                    .text("Made by", |run| run.parts())
                    .text("Loss", |run| run.record.loss().result_name().to_owned())
                    .count("Rows", |run| run.record.data.rows)
                    .count("Columns", |run| run.record.selected.len())
                    .number("λ", |run| run.record.lambda)
                    .number("Score", |run| run.record.score)
                    .cells("Cross-validated", "number", |run| error_cell(run, PredictionRows::CrossValidation))
                    .cells("Nested", "number", |run| error_cell(run, PredictionRows::Nested))
                    .number("Without features", |run| {
                        let nested = run.record.nested.as_ref().map(|nested| nested.empty_loss);
                        nested.or(run.record.chosen.empty_loss)
                    })
                    .cells("Test", "number", |run| error_cell(run, PredictionRows::Test))
                    .number("Without features, test", |run| run.record.test.as_ref()?.empty_loss)
                    .number("RMSE", |run| run.rmse()),
            )
            .note(note)
    }

    fn pairs_section(&self) -> Section {
        let columns = |run: &usize| self.runs[*run].selected_names();
        let note = "A difference whose interval holds 0 may be chance.";
        Section::new("Nested errors, run against run")
            .table(
                TableBuilder::new("", &self.pairs)
                    .name("First", |(run, ..)| &self.runs[*run].name)
                    .name("Second", |(_, run, _)| &self.runs[*run].name)
                    .number("First − second", |(.., difference)| Some(difference.as_ref().ok()?.mean))
                    .text("95 % interval", |(.., difference)| {
                        Some(join(difference.as_ref().ok()?.interval?.map(short), " to "))
                    })
                    .count("Columns in both", |(a, b, _)| columns(a).intersection(&columns(b)).count())
                    .number("Jaccard index", |(a, b, _)| jaccard(&columns(a), &columns(b)))
                    .text("Paired by", |(.., difference)| {
                        difference
                            .as_ref()
                            .map_or_else(|why| why.replace('`', ""), |difference| difference.pairs.clone())
                    }),
            )
            .note(note)
    }

    /// The curves of all runs of one loss.
    fn curves(&self, loss: &LossName) -> Chart {
        let runs = self.runs.iter().filter(|run| run.record.loss() == *loss).enumerate();
        let line = |(k, run): (usize, &NamedRun)| {
            let is_cross_validated = run.record.path.iter().any(|entry| entry.cross_validated.is_some());
            let name = if is_cross_validated { run.name.clone() } else { format!("{} (score, optimistic)", run.name) };
            let points = along_path(&run.record, |entry| {
                let loss = if is_cross_validated { entry.cross_validated? } else { entry.score };
                loss.is_finite().then_some([entry.size as f64, loss])
            });
            Mark::line(&name, &format!("alpha k{}", k % COLORS), points)
        };
        let title = loss.title();
        Chart::new(format!("The {title} of each run over the number of columns"), "columns", title)
            .x(ScaleKind::Whole)
            .marks(runs.map(line))
            .caption("The cross-validated error of each size, at the λ that each run took.")
    }

    /// The columns that any run selected: those of most runs first, of equals the earliest to enter.
    fn columns_section(&self) -> Section {
        let names: BTreeSet<&str> = self.runs.iter().flat_map(NamedRun::selected_names).collect();
        let place = |run: &NamedRun, name: &str| run.record.selected.iter().position(|column| column.name == name);
        let places = |name| (name, self.runs.iter().map(|run| place(run, name)).collect());
        let mut rows: Vec<(&str, Vec<Option<usize>>)> = names.into_iter().map(places).collect();
        rows.sort_by_key(|(_, places)| {
            let known = places.iter().flatten();
            (Reverse(known.clone().count()), known.min().copied())
        });
        let table = TableBuilder::new("“selected”", &rows).most(MOST_COLUMNS).name("Column", |row| row.0);
        let table = self.runs.iter().enumerate().fold(table, |table, (k, run)| {
            table.cells(&run.name, "number", |row| {
                TableCell::text(row.1[k].map_or("–".into(), |place| (place + 1).to_string()))
            })
        });
        Section::new("Selected columns").table(table).note("Numbers are the order of entry.")
    }
}

fn error_cell(run: &NamedRun, origin: PredictionRows) -> Option<TableCell> {
    let error = run.record.held_out_error(origin)?;
    let interval = error.interval.map(|(ends, _)| join(ends.map(short), " to "));
    Some(TableCell::number(error.loss).note(interval.unwrap_or_default()))
}
