//! The page of a comparison.

use super::{Comparison, NamedRun, jaccard};
use crate::page::{COLORS, Chart, Mark, ScaleKind, Section, TableBuilder, TableCell, page};
use crate::record::{LossName, PredictionRows};
use crate::report::along_path;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use vaglio_core::{join, short};

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
