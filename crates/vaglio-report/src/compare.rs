//! Several runs beside each other: their figures, curves and columns, and what their outer losses differ by.

mod page;
mod pair;

pub use pair::{Difference, PairedBy};

use crate::record::{Figures, LossName, Nested, Record};
use crate::report::heading;
use crate::report::number::significant;
use crate::report::plot::{Plot, Series};
use pair::difference;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result, Squared, short, shown};

/// A run by its name.
#[derive(Debug)]
pub struct Run {
    /// The name of its folder, or the folder as it was given where others have that name.
    pub name: String,
    /// Its result.
    pub record: Record,
}

/// Runs beside each other, with what each pair of them differs by.
#[derive(Debug)]
pub struct Comparison {
    /// The runs, in the order in which they were given.
    pub runs: Vec<Run>,
    /// Each pair of them, by their places.
    pub pairs: Vec<(usize, usize, Difference)>,
}

impl Run {
    /// The loss by which the run was made, or judged where its criterion has none.
    pub fn loss(&self) -> LossName {
        self.record.loss()
    }

    fn parts(&self) -> String {
        let parts = &self.record.pipeline;
        let then = self.record.model.as_ref().map(|model| format!(", then {}", model.kind)).unwrap_or_default();
        format!("{} on {}, {}{then}", parts.search, parts.criterion, parts.learner)
    }

    /// The root of a squared error of numbers, in the unit of the target: nested, else of test rows, else cross-validated.
    fn root(&self) -> Option<f64> {
        let Record { data, nested, test, chosen, .. } = &self.record;
        let loss = nested.as_ref().map(|nested| nested.loss).or(test.as_ref().map(|test| test.loss));
        let loss = loss.or(chosen.cross_validated).filter(|loss| loss.is_finite());
        loss.filter(|_| data.classes.is_none() && self.loss().is(&Squared)).map(f64::sqrt)
    }

    fn selected(&self) -> HashSet<&str> {
        self.record.selected.iter().map(|column| column.name.as_str()).collect()
    }

    /// The cross-validated loss of every size, or the score where the search was not cross-validated; and which.
    fn curve(&self) -> (BTreeMap<usize, f64>, bool) {
        let path = &self.record.path;
        let of_size = |value: fn(&crate::record::EntryRecord) -> Option<f64>| -> BTreeMap<usize, f64> {
            path.iter().filter_map(|entry| Some((entry.size, value(entry).filter(|v| v.is_finite())?))).collect()
        };
        let mut cross_validated = of_size(|entry| entry.cross_validated);
        if cross_validated.is_empty() {
            return (of_size(|entry| Some(entry.score)), false);
        }
        cross_validated.extend(self.record.chosen.empty_loss.filter(|v| v.is_finite()).map(|loss| (0, loss)));
        (cross_validated, true)
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
            Ok(Run { name: name(at), record: Record::read(&Path::new(folder).join("selection.json"))? })
        };
        let runs: Vec<Run> = folders.iter().enumerate().map(read).collect::<Result<_>>()?;
        let pairs = (0..runs.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let mut pairs: Vec<(usize, usize)> = pairs.collect();
        pairs.sort_unstable();
        let pairs = pairs.into_iter().map(|(a, b)| (a, b, difference(&runs[a], &runs[b]))).collect();
        Ok(Comparison { runs, pairs })
    }

    /// A table of the runs for people, losses with their 95 % intervals, `root` being that of the error to be trusted most, and below it what the outer losses of each pair differ by.
    pub fn table(&self) -> String {
        let spread = |value: Option<f64>, interval: Option<[f64; 2]>| match value {
            Some(value) => {
                let bounds =
                    interval.map(|[low, high]| format!(" ({} to {})", significant(low, 4), significant(high, 4)));
                format!("{}{}", short(value), bounds.unwrap_or_default())
            }
            None => "-".to_owned(),
        };
        let row = |run: &Run| {
            let around = |value: f64, error: Option<f64>| error.map(|error| run.loss().around(value, error));
            // Of runs of before there is an error alone.
            let or_around = |value: f64, interval: Option<[f64; 2]>, error| interval.or_else(|| around(value, error));
            let Record { chosen, nested, test, score, selected, .. } = &run.record;
            let nested = nested.as_ref();
            let of_test = |figures: &Figures| spread(Some(figures.loss), around(figures.loss, figures.standard_error));
            let cross = chosen.cross_validated;
            let of_cross = cross.and_then(|loss| or_around(loss, chosen.interval, chosen.standard_error));
            let of_nested = nested.and_then(|own| or_around(own.loss, own.interval, own.standard_error));
            [
                run.name.clone(),
                run.parts(),
                run.loss().told().to_owned(),
                spread(Some(*score), None),
                spread(cross, of_cross),
                spread(nested.map(|nested| nested.loss), of_nested),
                test.as_ref().map_or_else(|| "-".to_owned(), of_test),
                run.root().map_or_else(|| "-".to_owned(), |root| significant(root, 4)),
                selected.len().to_string(),
            ]
        };
        let heads = ["run", "made by", "loss", "score", "cross-validated", "nested", "test", "root", "columns"];
        let rows: Vec<[String; 9]> = std::iter::once(heads.map(str::to_owned))
            .chain(self.runs.iter().map(|run| row(run).map(|cell| shown(&cell).into_owned())))
            .collect();
        let width = |k: usize| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..heads.len()).map(width).collect();
        let mut text = String::new();
        for row in &rows {
            let cells =
                row.iter().zip(&widths).enumerate().map(|(k, (cell, &width))| {
                    if k < 3 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                });
            text += cells.collect::<Vec<_>>().join("  ").trim_end();
            text.push('\n');
        }
        text.push('\n');
        for (a, b, difference) in &self.pairs {
            let (a, b) = (shown(&self.runs[*a].name), shown(&self.runs[*b].name));
            text += &format!("{a} - {b}: {difference}\n");
        }
        text
    }

    /// One self-contained HTML page: the table, curves over each other, pairs and shared columns.
    ///
    /// # Errors
    /// [`Error::Shape`] when the template cannot be filled, which no record leads to.
    pub fn page(&self) -> Result<String> {
        page::page(self).map_err(|e| Error::Shape(format!("the page cannot be written: {e:#}")))
    }

    /// A drawing of the curves of all runs of one loss, with its legend.
    fn curves(&self, loss: &LossName) -> Option<(String, String)> {
        const CLASSES: [&str; 6] = ["alpha k0", "alpha k1", "alpha k2", "alpha k3", "alpha k4", "alpha k5"];
        let runs: Vec<&Run> = self.runs.iter().filter(|run| run.loss() == *loss).collect();
        let curves: Vec<(BTreeMap<usize, f64>, bool)> = runs.iter().map(|run| run.curve()).collect();
        let mut sizes: Vec<usize> = curves.iter().flat_map(|(curve, _)| curve.keys().copied()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let series = runs.iter().zip(&curves).enumerate().map(|(k, (run, (curve, is_cross_validated)))| Series {
            name: if *is_cross_validated { run.name.clone() } else { format!("{} (score, optimistic)", run.name) },
            class: CLASSES[k % CLASSES.len()],
            values: sizes.iter().map(|size| curve.get(size).copied()).collect(),
            band: Vec::new(),
        });
        let tip = |size: &usize| {
            let of_runs = runs.iter().zip(&curves);
            let told =
                of_runs.filter_map(|(run, (curve, _))| Some(format!("{} {}", run.name, short(*curve.get(size)?))));
            format!("{size} columns: {}", told.collect::<Vec<_>>().join(", "))
        };
        let plot = Plot {
            label: format!("The {} of each run against the number of columns", loss.title()),
            vertical: loss.title().into(),
            series: series.collect(),
            tips: sizes.iter().map(tip).collect(),
            at: sizes.iter().map(|size| *size as f64).collect(),
            ..Plot::default()
        };
        Some((plot.html()?, plot.legend()))
    }
}

/// Of two sets the share of what is in both among what is in either; two empty sets are equal.
fn likeness(a: &HashSet<&str>, b: &HashSet<&str>) -> f64 {
    let either = a.union(b).count();
    if either == 0 { 1.0 } else { a.intersection(b).count() as f64 / either as f64 }
}

/// How often the outer folds selected a column.
fn share(nested: Option<&Nested>, name: &str) -> Option<f64> {
    let found = nested?.frequency.iter().find(|of_column| of_column.name == name);
    Some(found.map_or(0.0, |of_column| of_column.share))
}
