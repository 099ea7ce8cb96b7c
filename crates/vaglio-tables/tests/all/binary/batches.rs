//! Reading in batches.

use super::{batch, write};
use crate::create_folder;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::ops::ControlFlow;
use std::sync::Arc;
use vaglio_tables::ReadSpec;
use vaglio_tables::read::{Hint, ReadRequest, TableSource};

#[test]
fn rows_come_some_at_a_time() {
    let x = Arc::new(Float64Array::from(
        (0..50).map(|row| (row % 7 > 0).then_some(f64::from(row) / 4.0)).collect::<Vec<_>>(),
    ));
    let word = Arc::new(StringArray::from((0..50).map(|row| format!("w{}", row % 3)).collect::<Vec<_>>()));
    let whole = batch(vec![("x", x as ArrayRef), ("word", word)]);
    let [arrow, stream] = write("rows_in_batches", &whole);
    let cell = |row: usize| if row.is_multiple_of(7) { String::new() } else { (row as f64 / 4.0).to_string() };
    let lines: String = (0..50).map(|row| format!("{},w{}\n", cell(row), row % 3)).collect();
    let text = create_folder("arrow").join("rows.csv");
    std::fs::write(&text, format!("x,word\n{lines}")).unwrap();
    let in_groups = |name: &str, batch: RecordBatch| {
        let path = create_folder("arrow").join(format!("{name}.parquet"));
        let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
        for first in (0..batch.num_rows()).step_by(8) {
            writer.write(&batch.slice(first, 8.min(batch.num_rows() - first))).unwrap();
            writer.flush().unwrap();
        }
        writer.close().unwrap();
        path
    };
    for path in [arrow, stream, text, in_groups("rows_in_groups", whole.clone())] {
        let columns = [("word".to_owned(), Hint::Class), ("x".to_owned(), Hint::Number)];
        let wanted = ReadRequest { hints: columns.iter().cloned().collect(), ..ReadRequest::default() };
        let (table, _) =
            TableSource::open(std::slice::from_ref(&path), &ReadSpec::default()).unwrap().read(&wanted).unwrap();
        for most in [3, 7, 16, 64] {
            let source = TableSource::on_disk(&path, &ReadSpec::default()).unwrap().unwrap();
            let mut row = 0;
            let is_read = source.read_in_batches(&columns, &Default::default(), most, &mut |first, columns, _| {
                assert_eq!(first, row);
                for (name, cells) in &columns {
                    let all = table.get(name).unwrap();
                    assert!((0..cells.len()).all(|j| cells.label(j) == all.label(row + j)), "{name} {most}");
                }
                row += columns[0].1.len();
                Ok(ControlFlow::Continue(()))
            });
            assert!(is_read.unwrap());
            assert_eq!(row, 50, "{path:?} {most}");
        }
    }
}
