//! Comparison of several runs: figures, curves, columns, and paired differences of their outer losses.

mod page;
mod pair;

use crate::names::clause;
use crate::record::{PredictionRows, Record};
use crate::report::heading;
use pair::{Difference, NamedRun, difference};
use std::collections::HashSet;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result, escape_controls, join, short, significant};

/// Several runs, with the difference of each pair.
#[derive(Debug)]
pub struct Comparison {
    /// The runs, in the given order.
    runs: Vec<NamedRun>,
    /// Positions of the two runs of each pair, and their difference, or the reason why they are not compared.
    pairs: Vec<(usize, usize, Result<Difference, String>)>,
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

/// Jaccard index |a ∩ b| / |a ∪ b|; 1 for two empty sets.
pub fn jaccard<T: Eq + Hash>(a: &HashSet<T>, b: &HashSet<T>) -> f64 {
    let either = a.union(b).count();
    if either == 0 { 1.0 } else { a.intersection(b).count() as f64 / either as f64 }
}
