//! Reading in batches.

use super::super::super::{Batches, Hint};
use super::*;

#[test]
fn rows_come_some_at_a_time_and_from_any_row_on() {
    let x = Arc::new(Float64Array::from(
        (0..50).map(|row| (row % 7 > 0).then_some(f64::from(row) / 4.0)).collect::<Vec<_>>(),
    ));
    let word = Arc::new(StringArray::from((0..50).map(|row| format!("w{}", row % 3)).collect::<Vec<_>>()));
    let whole = batch(vec![("x", x as ArrayRef), ("word", word)]);
    let [a, b] = [write("first", &whole.slice(0, 20)), write("second", &whole.slice(20, 30))];
    let text = |first: usize, rows: usize| {
        let path = folder_of("arrow").join(format!("rows-{first}.csv"));
        let cell = |row: usize| if row.is_multiple_of(7) { String::new() } else { (row as f64 / 4.0).to_string() };
        let lines: String = (first..first + rows).map(|row| format!("{},w{}\n", cell(row), row % 3)).collect();
        std::fs::write(&path, format!("x,word\n{lines}")).unwrap();
        path
    };
    let in_groups = |name: &str, batch: RecordBatch| {
        let path = folder_of("arrow").join(format!("{name}.parquet"));
        let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
        for first in (0..batch.num_rows()).step_by(8) {
            writer.write(&batch.slice(first, 8.min(batch.num_rows() - first))).unwrap();
            writer.flush().unwrap();
        }
        writer.close().unwrap();
        path
    };
    let groups = [in_groups("first-groups", whole.slice(0, 20)), in_groups("second-groups", whole.slice(20, 30))];
    let known = Arc::default();
    let paths = [[a[0].clone(), b[0].clone()], [a[1].clone(), b[1].clone()], [text(0, 20), text(20, 30)], groups];
    for paths in &paths {
        let columns = [("word".to_owned(), Hint::Class), ("x".to_owned(), Hint::Number)];
        let wanted = Wanted { hints: columns.iter().cloned().collect(), ..Wanted::default() };
        let (table, _) = Source::open(paths, &ReadSpec::default()).unwrap().read(&wanted).unwrap();
        for (most, skipped) in [(7, 0), (64, 0), (7, 6), (3, 19), (7, 20), (16, 33), (9, 50)] {
            let batches = Batches::open_all(paths, &ReadSpec::default(), &known).unwrap().unwrap();
            let mut reader = batches.start(&columns, &[], Default::default(), most).unwrap().unwrap();
            reader.skip(skipped).unwrap();
            let mut row = skipped;
            while let Some(rows) = reader.next_rows().unwrap() {
                assert_eq!(rows.first, row);
                for (name, cells) in &rows.columns {
                    let all = table.get(name).unwrap();
                    assert!((0..cells.len()).all(|j| cells.label(j) == all.label(row + j)), "{name} {most} {skipped}");
                }
                row += rows.columns[0].1.len();
            }
            assert_eq!(row, 50, "{paths:?} {most} {skipped}");
        }
        let batches = Batches::open_all(paths, &ReadSpec::default(), &known).unwrap().unwrap();
        let mut reader = batches.start(&columns, &[], Default::default(), 8).unwrap().unwrap();
        assert!(reader.skip(51).unwrap_err().to_string().ends_with("has fewer rows than when it was read before"));
    }
    // Cached facts of a file do not apply to a file that replaces it.
    std::fs::write(&paths[0][0], "PAR1 and nothing else PAR1").unwrap();
    assert!(Batches::open_all(&paths[0], &ReadSpec::default(), &known).unwrap().is_none());
}
