//! Comma-separated text with a header.

use super::growing::{NumberColumn, TextColumn};
use super::{ColumnFilter, checked_names, system, unreadable};
use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use vaglio_core::{Cells, Result, Table};

/// Cells that stand for a missing number, beside those that parse as NaN or an infinity.
const MISSING: [&str; 5] = ["", "NA", "null", "None", "?"];

/// Reads the selected columns: numbers where every cell is one or is missing, else text.
///
/// Numbers are parsed as they come and their text is not kept; when some columns turn out to be text, the file is read
/// a second time for these.
pub(super) fn read_table(path: &Path, filter: &ColumnFilter) -> Result<Table> {
    let names = read_header(path)?;
    let wanted = filter.indices(&names);
    let mut columns: Vec<Option<NumberColumn>> = wanted.iter().map(|_| Some(NumberColumn::default())).collect();
    let rows = each_row(path, &names, |record| {
        for (column, &index) in columns.iter_mut().zip(&wanted) {
            let cell = record.get(index).unwrap_or_default().trim();
            let Some(numbers) = column else { continue };
            match cell.parse::<f64>() {
                Ok(value) if value.is_finite() => numbers.push(value),
                Ok(_) => numbers.push_missing(cell),
                Err(_) if MISSING.contains(&cell) => numbers.push_missing(cell),
                Err(_) => *column = None,
            }
        }
    })?;
    if rows == 0 {
        return Err(unreadable(path, "has a header and no rows"));
    }
    let is_text = |(column, &index): (&Option<NumberColumn>, &usize)| column.is_none().then_some(index);
    let text_indices: Vec<usize> = columns.iter().zip(&wanted).filter_map(is_text).collect();
    let mut text = read_text(path, &names, &text_indices)?.into_iter();
    let mut out: Vec<(String, Cells)> = Vec::with_capacity(wanted.len());
    for (&index, column) in wanted.iter().zip(columns) {
        let name = names.get(index).cloned().unwrap_or_default();
        let cells = match column {
            Some(numbers) => numbers.finish(&name)?,
            None => text.next().unwrap_or_default().finish(&name)?,
        };
        out.push((name, cells));
    }
    Table::new(out)
}

/// Reads the selected columns as text, each cell as it is written.
pub(super) fn read_as_written(path: &Path, filter: &ColumnFilter) -> Result<Table> {
    let names = read_header(path)?;
    let wanted = filter.indices(&names);
    let mut columns: Vec<Vec<String>> = wanted.iter().map(|_| Vec::new()).collect();
    each_row(path, &names, |record| {
        for (column, &index) in columns.iter_mut().zip(&wanted) {
            column.push(record.get(index).unwrap_or_default().to_owned());
        }
    })?;
    let named = wanted.iter().zip(columns).map(|(&index, cells)| (names[index].clone(), Cells::Text(cells)));
    Table::new(named.collect())
}

/// Reads the header.
pub(super) fn read_header(path: &Path) -> Result<Vec<String>> {
    let mut reader = open(path)?;
    let header = reader.headers().map_err(|error| explain(path, &error, &[], 0))?;
    let names: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
    if names.iter().all(String::is_empty) && names.len() < 2 {
        return Err(unreadable(path, "is empty; expected a header and rows"));
    }
    checked_names(path, names)
}

fn read_text(path: &Path, names: &[String], indices: &[usize]) -> Result<Vec<TextColumn>> {
    let mut columns: Vec<TextColumn> = indices.iter().map(|_| TextColumn::default()).collect();
    if !indices.is_empty() {
        each_row(path, names, |record| {
            for (column, &index) in columns.iter_mut().zip(indices) {
                column.push(record.get(index).unwrap_or_default().trim());
            }
        })?;
    }
    Ok(columns)
}

/// Gives every data row to `take` and returns how many there were.
fn each_row(path: &Path, names: &[String], mut take: impl FnMut(&StringRecord)) -> Result<usize> {
    let mut reader = open(path)?;
    // Read by itself, so that the place of a fault in the first row is that row's.
    reader.headers().map_err(|error| explain(path, &error, &[], 0))?;
    let (mut record, mut rows) = (StringRecord::new(), 0);
    while reader.read_record(&mut record).map_err(|error| explain(path, &error, names, rows + 1))? {
        take(&record);
        rows += 1;
    }
    Ok(rows)
}

fn open(path: &Path) -> Result<Reader<File>> {
    let file = File::open(path).map_err(|error| system(path, &error))?;
    Ok(ReaderBuilder::new().buffer_capacity(1 << 16).from_reader(file))
}

fn explain(path: &Path, error: &csv::Error, names: &[String], row: usize) -> vaglio_core::Error {
    let line = error.position().map_or(1, |position| line_of(path, position.byte()));
    let place = if row == 0 { format!("line {line}") } else { format!("line {line} (data row {row})") };
    match error.kind() {
        ErrorKind::Io(error) => system(path, error),
        ErrorKind::Utf8 { err, .. } => {
            let column = names.get(err.field()).map(|name| format!(", column `{name}`")).unwrap_or_default();
            unreadable(path, format!("{place}{column}: the text is not UTF-8"))
        }
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            unreadable(path, format!("{place} has {len} cells and the header has {expected_len}"))
        }
        _ => unreadable(path, format!("{place}: {error}")),
    }
}

/// The line on which the record at or after a byte stands; blank lines before it are passed over.
fn line_of(path: &Path, byte: u64) -> u64 {
    let Ok(file) = File::open(path) else { return 1 };
    let bytes = BufReader::new(file).bytes().map_while(std::result::Result::ok);
    let before = bytes.zip(0..).take_while(|(b, at)| *at < byte || matches!(b, b'\r' | b'\n'));
    1 + before.filter(|(b, _)| *b == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::super::tests::folder_of;
    use super::*;
    use proptest::prelude::*;

    fn file(name: &str, content: impl AsRef<[u8]>) -> std::path::PathBuf {
        let path = folder_of("csv").join(format!("{name}.csv"));
        std::fs::write(&path, content).unwrap();
        path
    }

    fn message(name: &str, content: impl AsRef<[u8]>) -> String {
        let error = read_table(&file(name, content), &ColumnFilter::All).unwrap_err().to_string();
        error.split_once(".csv: ").map_or(error.clone(), |(_, rest)| rest.to_owned())
    }

    #[test]
    fn columns_are_numbers_or_text() {
        let text = "\u{feff}a, b ,c,d\r\n1, x ,\"1,5\",+1e-3\r\n 2,3,y,.5\r\n\r\n";
        let table = read_table(&file("kinds", text), &ColumnFilter::All).unwrap();
        assert_eq!(table.names().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        assert_eq!(table.rows(), 2);
        assert_eq!(table.get("a").unwrap().numbers().unwrap().values().as_ref(), [1.0, 2.0]);
        assert_eq!(table.get("d").unwrap().numbers().unwrap().values().as_ref(), [1e-3, 0.5]);
        assert!(matches!(table.get("b").unwrap(), Cells::Text(t) if t == &["x", "3"]));
        assert!(matches!(table.get("c").unwrap(), Cells::Text(t) if t == &["1,5", "y"]));
    }

    #[test]
    fn columns_that_are_not_wanted_are_not_checked() {
        let path = file("lazy", "a,b,c\n1,NaN,\n2,3,\n");
        let table = read_table(&path, &ColumnFilter::only(["a", "z"])).unwrap();
        assert_eq!(table.names().collect::<Vec<_>>(), ["a"]);
        let table = read_table(&path, &ColumnFilter::except(["b", "c"])).unwrap();
        assert_eq!(table.names().collect::<Vec<_>>(), ["a"]);
        assert!(read_table(&path, &ColumnFilter::All).is_err());
    }

    #[test]
    fn cells_stay_as_they_are_written() {
        let path = file("written", "id,b\n007,1\n,2\n1e5,3\n");
        let table = read_as_written(&path, &ColumnFilter::only(["id"])).unwrap();
        assert!(matches!(table.get("id").unwrap(), Cells::Text(t) if t == &["007", "", "1e5"]));
    }

    #[test]
    fn missing_values_name_row_column_and_value() {
        for (cell, value) in [
            ("", "an empty cell"),
            ("NA", "NA"),
            ("NaN", "NaN"),
            ("-inf", "-inf"),
            ("Infinity", "Infinity"),
            ("?", "?"),
            ("1e400", "1e400"),
        ] {
            let found = message("missing", format!("a,b\n1,2\n3,{cell}\n5,{cell}\n"));
            assert_eq!(
                found,
                format!("row 2, column `b`: {value} is not a finite number (2 such values in this column)")
            );
        }
        assert!(message("all", "a,b\n1,NaN\n2,NA\n").starts_with("row 1, column `b`: NaN is not"));
        assert!(message("text", "a,b\n1,x\n2,\n").starts_with("row 2, column `b`: an empty cell is not"));
        assert!(message("late", "a,b\n1,\n2,x\n").starts_with("row 1, column `b`: an empty cell is not"));
    }

    #[test]
    fn files_that_are_no_table_are_refused_in_words() {
        assert_eq!(message("ragged", "a,b\n\"1\n\",2\n3\n"), "line 4 (data row 2) has 1 cells and the header has 2");
        assert_eq!(message("wide", "a,b\r\n1,2\r\n1,2,3\r\n"), "line 3 (data row 2) has 3 cells and the header has 2");
        assert_eq!(message("gap", "a,b\n1,2\n\n\n3\n"), "line 5 (data row 2) has 1 cells and the header has 2");
        assert_eq!(message("empty", ""), "is empty; expected a header and rows");
        assert_eq!(message("blank", "\n\n"), "is empty; expected a header and rows");
        assert_eq!(message("header", "a,b\n"), "has a header and no rows");
        assert_eq!(message("twice", "a,b,a \n1,2,3\n"), "two columns are named `a`");
        assert_eq!(message("unnamed", ",b\n1,2\n"), "column 1 has no name in the header");
        assert_eq!(message("latin", b"a,b\n1,2\n3,\xe9\n"), "line 3 (data row 2), column `b`: the text is not UTF-8");
        assert_eq!(message("latin_first", b"a,b\n1,\xe9\n"), "line 2 (data row 1), column `b`: the text is not UTF-8");
        assert_eq!(message("latin_header", b"a,\xe9\n1,2\n"), "line 1: the text is not UTF-8");
    }

    proptest! {
        #[test]
        fn doubles_are_read_exactly(values in proptest::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), 1..20)) {
            let lines: Vec<String> = values.iter().map(f64::to_string).collect();
            let path = file("exact", format!("x\n{}\n", lines.join("\n")));
            let table = read_table(&path, &ColumnFilter::All).unwrap();
            let read = table.get("x").unwrap().numbers().unwrap().values().into_owned();
            prop_assert!(read.iter().zip(&values).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }
}
