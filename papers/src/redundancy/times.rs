//! Seconds of the path over rows and columns.

use crate::markdown::{MarkdownTable, seconds};
use crate::run::Bench;
use ndarray::Array2;
use vaglio::search::Silent;
use vaglio_core::{Columns, Problem, Result, Task};
use vaglio_pipeline::pipeline::load;

/// Rows and columns of the timed paths.
const ROWS: [usize; 3] = [100, 300, 1000];
const COLUMNS: [usize; 3] = [500, 2000, 8000];

/// Seconds of the path over rows and columns, exact and by Nyström's approximation.
pub fn table(bench: &Bench<'_>) -> Result<String> {
    if !"runtime".contains(&bench.only) {
        return Ok(String::new());
    }
    let mut table = MarkdownTable::new(
        "Seconds to choose 10 columns by N³LARS",
        &["rows", "columns", "exact", "Nyström, 20 points"],
    );
    for (rows, columns) in ROWS.into_iter().flat_map(|rows| COLUMNS.map(|columns| (rows, columns))) {
        (bench.note)(&format!("runtime: {rows} rows, {columns} columns"));
        let (columns_of, y) = vaglio_testkit::data::sparse_linear(7, rows, columns, 10, 0.5);
        let mut x = Columns::new(rows);
        columns_of.into_iter().for_each(|column| x.push(column));
        let names = (0..columns).map(|k| format!("x{k}")).collect();
        let targets = Array2::from_shape_fn((1, rows), |(_, row)| y[row]);
        let problem = Problem::new(x, names, targets, vec!["y".into()], Task::Regression)?;
        let time = |approximation: &str| -> Result<f64> {
            let (pipeline, _) = load(
                &format!(
                    "version: 1\ndata: {{train: none.csv, target: y}}\ncriterion: {{kind: nhsic, kernel: {{approximation: {approximation}}}}}\n\
                     search: {{kind: lars, max_features: 10, choose: last}}\n"
                ),
                "pipeline",
                &[],
            )?;
            Ok(pipeline.selector().select(&problem, &mut Silent)?.search_seconds)
        };
        table.row(&[rows.to_string(), columns.to_string(), seconds(time("exact")?), seconds(time("nystrom")?)]);
    }
    Ok(table.finish())
}
