//! Seeded tables, for maps.

use crate::SplitMix64;
use vaglio_core::{Cells, Numbers, Table};

/// Generates a numeric table with some byte columns and one constant column.
pub fn table(rows: usize, columns: usize, seed: u64) -> Table {
    let mut random = SplitMix64::new(seed);
    let mut cells: Vec<(String, Cells)> = Vec::new();
    for j in 0..columns {
        let values: Vec<f64> = match j % 3 {
            1 => (0..rows).map(|_| random.below(200) as f64).collect(),
            _ => (0..rows).map(|_| 3.0 + 10.0 * random.normal()).collect(),
        };
        cells.push((format!("n{j}"), Cells::Numbers(Numbers::from(values))));
    }
    cells.push(("same".into(), Cells::Numbers(Numbers::from(vec![1.5; rows]))));
    from_columns(cells)
}

/// Generates such a table with rows in four series of about equal length.
#[expect(clippy::expect_used, reason = "a series for each row")]
pub fn series_table(rows: usize, columns: usize, seed: u64) -> Table {
    let series = (0..rows).map(|row| (4 * row / rows.max(1)) as u32).collect();
    table(rows, columns, seed).with_series(series).expect("as many as rows")
}

/// Generates a numeric table plus two text columns, with three and two labels.
pub fn mixed_table(rows: usize, columns: usize, seed: u64) -> Table {
    let mut random = SplitMix64::new(seed ^ 0x7e87);
    let mut cells = table(rows, columns, seed).into_columns();
    for (name, labels) in [("colour", &["red", "green", "blue"][..]), ("answer", &["yes", "no"][..])] {
        let text = (0..rows).map(|row| {
            let pick = if row < labels.len() { row } else { random.below(labels.len()) };
            labels[pick].to_owned()
        });
        cells.insert(1, (name.into(), Cells::Text(text.collect())));
    }
    from_columns(cells)
}

/// Generates a mixed table plus a date column, with missing cells in some columns of each kind.
pub fn gappy_table(rows: usize, columns: usize, seed: u64) -> Table {
    let mut random = SplitMix64::new(seed ^ 0x6a95);
    let mut cells = mixed_table(rows, columns, seed).into_columns();
    let dates = (0..rows).map(|_| 86_400.0 * random.below(20_000) as f64 + 60.0 * random.below(1_440) as f64);
    cells.insert(2, ("when".into(), Cells::Dates(dates.collect())));
    for (name, column) in &mut cells {
        if !["n0", "n1", "colour", "when"].contains(&name.as_str()) {
            continue;
        }
        let gone: Vec<bool> = (0..rows).map(|row| row > 2 && random.below(4) == 0).collect();
        let numbers =
            |values: &[f64]| values.iter().zip(&gone).map(|(x, gone)| if *gone { f64::NAN } else { *x }).collect();
        *column = match &*column {
            Cells::Numbers(values) => Cells::Numbers(Numbers::from(numbers(&values.view().values()))),
            Cells::Dates(values) => Cells::Dates(numbers(values)),
            Cells::Text(text) => Cells::Text(
                text.iter().zip(&gone).map(|(t, gone)| if *gone { String::new() } else { t.clone() }).collect(),
            ),
        };
    }
    from_columns(cells)
}

#[expect(clippy::expect_used, reason = "columns of one length under different names")]
fn from_columns(cells: Vec<(String, Cells)>) -> Table {
    Table::new(cells).expect("the columns fit")
}
