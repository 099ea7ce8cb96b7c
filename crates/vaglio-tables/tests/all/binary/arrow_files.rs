//! Columns of Parquet and Arrow files and of batches, compressed files, and damaged ones.

use super::{batch, write};
use crate::{create_folder, write_file};
use arrow_array::types::*;
use arrow_array::*;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use rayon::prelude::*;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use vaglio_core::{Cells, Result, Table};
use vaglio_tables::ReadSpec;
use vaglio_tables::read::{Hint, ReadRequest, TableSource, read_table};

fn read(path: &Path) -> Result<Table> {
    read_table(path, &ReadRequest::default())
}

fn message(path: &Path) -> String {
    read(path).unwrap_err().to_string()
}

fn words() -> DictionaryArray<Int8Type> {
    ["x", "y", "x"].into_iter().collect()
}

#[test]
fn batches_of_a_program_are_read_as_their_file() {
    let whole = batch(vec![
        ("x", Arc::new(Float64Array::from(vec![Some(0.5), None, Some(2.0)]))),
        ("word", Arc::new(StringViewArray::from(vec![Some("a"), Some("12"), None]))),
        ("day", Arc::new(Date32Array::from(vec![0, 1, 2]))),
        ("coded", Arc::new(words())),
    ]);
    let parts = vec![whole.slice(0, 1), whole.slice(1, 0), whole.slice(1, 2)];
    let open_parts =
        |parts: Vec<RecordBatch>| TableSource::from_batches("the frame", whole.schema(), parts, &ReadSpec::default());
    let wanted = ReadRequest::except(["x"]);
    let (table, profile) = open_parts(parts).unwrap().read(&wanted).unwrap();
    let file = TableSource::open(&write("batches", &whole)[1..], &ReadSpec::default()).unwrap();
    let (expected, file_profile) = file.read(&wanted).unwrap();
    assert_eq!(format!("{table:?}"), format!("{expected:?}"));
    assert_eq!(profile.columns, file_profile.columns);
    let error = open_parts(vec![batch(vec![("y", Arc::new(Float64Array::from(vec![1.0])))])]).unwrap_err().to_string();
    assert_eq!(error, "the frame: batch 1 has another schema than the table");
    let infinite = batch(vec![("x", Arc::new(Float64Array::from(vec![1.0, f64::INFINITY])))]);
    let source =
        TableSource::from_batches("the frame", infinite.schema(), vec![infinite], &ReadSpec::default()).unwrap();
    let error = source.read(&ReadRequest::default()).unwrap_err().to_string();
    assert!(error.starts_with("the frame: row 2, column `x`: inf is not a finite number"), "{error}");
}

#[test]
fn columns_of_files_that_are_0_nearly_everywhere_are_sparse() {
    let column = |step: usize, value: f64| {
        Arc::new(Float64Array::from_iter_values((0..2000).map(|row| if row % step == 7 { value } else { 0.0 })))
    };
    let counts = Arc::new(UInt8Array::from_iter_values((0..2000).map(|row| u8::from(row % 50 == 1))));
    let whole = batch(vec![("few", column(100, 0.5)), ("many", column(10, 0.5)), ("counts", counts)]);
    let is_sparse = |table: &Table| {
        let sparse = |(_, cells): &(String, Cells)| matches!(cells.numbers(), Some(vaglio_core::Column::Sparse(_)));
        table.columns().iter().map(sparse).collect::<Vec<bool>>()
    };
    let source =
        TableSource::from_batches("the frame", whole.schema(), vec![whole.clone()], &ReadSpec::default()).unwrap();
    let (dense, dense_profile) = source.read(&ReadRequest::default()).unwrap();
    assert_eq!(is_sparse(&dense), [false; 3]);
    for path in write("thin", &whole) {
        let (table, profile) =
            TableSource::open(&[path], &ReadSpec::default()).unwrap().read(&ReadRequest::default()).unwrap();
        assert_eq!((is_sparse(&table), &profile.columns), (vec![true, false, true], &dense_profile.columns));
        for ((_, ours), (_, theirs)) in table.columns().iter().zip(dense.columns()) {
            assert_eq!(ours.numbers(), theirs.numbers());
        }
    }
}

#[test]
fn every_type_of_number_and_text_is_read() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("u8", Arc::new(UInt8Array::from(vec![1, 2, 255]))),
        ("i8", Arc::new(Int8Array::from(vec![-1, 2, 3]))),
        ("u16", Arc::new(UInt16Array::from(vec![1, 2, 65535]))),
        ("i32", Arc::new(Int32Array::from(vec![1, -2, 3]))),
        ("i64", Arc::new(Int64Array::from(vec![1, -2, 1 << 60]))),
        ("u64", Arc::new(UInt64Array::from(vec![1, 2, 1 << 63]))),
        ("f16", Arc::new(Float16Array::from_iter_values([1.0, 0.5, -2.0].map(half)))),
        ("f32", Arc::new(Float32Array::from(vec![0.1, 2.0, 3.0]))),
        ("f64", Arc::new(Float64Array::from(vec![0.1, -0.0, 1e300]))),
        ("bool", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("text", Arc::new(StringArray::from(vec!["a", "é", "a b"]))),
        ("large", Arc::new(LargeStringArray::from(vec!["a", "b", "c"]))),
        ("view", Arc::new(StringViewArray::from(vec!["a", "b", "a text longer than twelve bytes"]))),
        ("words", Arc::new(words())),
    ];
    let batch = batch(columns);
    for path in write("types", &batch) {
        assert_eq!(TableSource::open(std::slice::from_ref(&path), &ReadSpec::default()).unwrap().names().len(), 14);
        let table = read(&path).unwrap();
        let numbers = |name: &str| table.get(name).unwrap().numbers().unwrap().values().into_owned();
        assert_eq!(numbers("u8"), [1.0, 2.0, 255.0]);
        assert_eq!(numbers("i8"), [-1.0, 2.0, 3.0]);
        assert_eq!(numbers("u16"), [1.0, 2.0, 65535.0]);
        assert_eq!(numbers("i32"), [1.0, -2.0, 3.0]);
        assert_eq!(numbers("i64"), [1.0, -2.0, 2f64.powi(60)]);
        assert_eq!(numbers("u64"), [1.0, 2.0, 2f64.powi(63)]);
        assert_eq!(numbers("f16"), [1.0, 0.5, -2.0]);
        assert_eq!(numbers("f32"), [f64::from(0.1f32), 2.0, 3.0]);
        assert_eq!(
            numbers("f64").iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
            [0.1, -0.0, 1e300f64].map(f64::to_bits)
        );
        assert_eq!(numbers("bool"), [1.0, 0.0, 1.0]);
        for (name, expected) in [
            ("text", ["a", "é", "a b"]),
            ("large", ["a", "b", "c"]),
            ("view", ["a", "b", "a text longer than twelve bytes"]),
            ("words", ["x", "y", "x"]),
        ] {
            assert!(matches!(table.get(name).unwrap(), Cells::Text(text) if text == &expected), "{name}");
        }
        let some = read_table(&path, &ReadRequest::only(["f64", "u8", "none"])).unwrap();
        assert_eq!(some.names().collect::<Vec<_>>(), ["u8", "f64"]);
        assert!(matches!(some.get("u8").unwrap(), Cells::Numbers(vaglio_core::Numbers::Byte(_))));
    }
}

fn half(value: f32) -> <Float16Type as ArrowPrimitiveType>::Native {
    <Float16Type as ArrowPrimitiveType>::Native::from_f32(value)
}

#[test]
fn missing_values_are_kept() {
    let cases: Vec<(ArrayRef, usize)> = vec![
        (Arc::new(Float64Array::from(vec![1.0, f64::NAN])), 1),
        (Arc::new(Int32Array::from(vec![None, Some(1)])), 0),
        (Arc::new(UInt8Array::from(vec![Some(1), None])), 1),
        (Arc::new(BooleanArray::from(vec![Some(true), None])), 1),
        (Arc::new(StringArray::from(vec![Some("a"), None])), 1),
        (Arc::new(StringArray::from(vec!["a", ""])), 1),
        (Arc::new(Date32Array::from(vec![Some(1), None])), 1),
        (Arc::new(NullArray::new(2)), 0),
    ];
    for (index, (array, first)) in cases.into_iter().enumerate() {
        for path in write(&format!("missing{index}"), &batch(vec![("x", array)])) {
            let missing = read(&path).unwrap().get("x").unwrap().missing();
            assert_eq!(missing.map(|(first, _)| first), Some(first), "{}", path.display());
        }
    }
}

#[test]
fn decimals_and_dates_are_numbers_and_moments() {
    let decimals = Decimal128Array::from(vec![Some(12345), Some(-1), None]).with_precision_and_scale(10, 3).unwrap();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("decimal", Arc::new(decimals)),
        ("date", Arc::new(Date32Array::from(vec![1, -1, 365]))),
        (
            "moment",
            Arc::new(TimestampMicrosecondArray::from(vec![1_500_000, 0, 86_400_000_000]).with_timezone("+02:00")),
        ),
    ];
    for path in write("moments", &batch(columns)) {
        let table = read(&path).unwrap();
        let decimals = table.get("decimal").unwrap().numbers().unwrap().values().into_owned();
        assert_eq!((decimals[0], decimals[1], decimals[2].is_nan()), (12.345, -0.001, true));
        let labels = |name: &str| (0..3).map(|row| table.get(name).unwrap().label(row)).collect::<Vec<_>>();
        assert_eq!(labels("date"), ["1970-01-02", "1969-12-31", "1971-01-01"]);
        assert_eq!(labels("moment"), ["1970-01-01T00:00:01.500", "1970-01-01", "1970-01-02"]);
    }
}

#[test]
fn settings_have_the_last_word_where_the_format_allows_it() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("n", Arc::new(Int32Array::from(vec![Some(7), None, Some(5)]))),
        ("d", Arc::new(Date32Array::from(vec![Some(1), None, Some(0)]))),
        ("t", Arc::new(StringArray::from(vec!["1.5", "", "2"]))),
    ];
    for path in write("types_said", &batch(columns)) {
        let read = |name: &str, hint: Hint| {
            let hints = [(name.to_owned(), hint)].into();
            let source = TableSource::open(std::slice::from_ref(&path), &ReadSpec::default()).unwrap();
            source.read(&ReadRequest { hints, ..ReadRequest::only([name]) }).map(|(table, _)| {
                let cells = table.get(name).unwrap();
                (cells.what(), (0..3).map(|row| cells.label(row)).collect::<Vec<_>>().join("|"))
            })
        };
        assert_eq!(read("n", Hint::Class).unwrap(), ("text", "7||5".to_owned()));
        assert_eq!(read("d", Hint::Text).unwrap(), ("text", "1970-01-02||1970-01-01".to_owned()));
        assert_eq!(read("t", Hint::Number).unwrap(), ("numbers", "1.5||2".to_owned()));
        assert_eq!(read("t", Hint::Auto).unwrap(), ("text", "1.5||2".to_owned()));
        let error = read("n", Hint::Date).unwrap_err().to_string();
        assert!(error.contains("row 1, column `n`: `7` is a number by the format of the file"), "{error}");
        let error = read("d", Hint::Number).unwrap_err().to_string();
        assert!(error.contains("row 1, column `d`: `1970-01-02` is a date by the format of the file"), "{error}");
    }
}

#[test]
fn streams_and_compressed_batches_are_read() {
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
    let values: Vec<f64> = (0..1000).map(|k| f64::from(k % 5)).collect();
    let batch = batch(vec![("x", Arc::new(Float64Array::from(values.clone())) as ArrayRef)]);
    for (name, codec) in [("lz4", CompressionType::LZ4_FRAME), ("zstd", CompressionType::ZSTD)] {
        let options = || IpcWriteOptions::default().try_with_compression(Some(codec)).unwrap();
        let feather = create_folder("arrow").join(format!("{name}.feather"));
        let file = File::create(&feather).unwrap();
        let mut writer = FileWriter::try_new_with_options(file, &batch.schema(), options()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let stream = create_folder("arrow").join(format!("{name}.arrows"));
        let file = File::create(&stream).unwrap();
        let mut writer = StreamWriter::try_new_with_options(file, &batch.schema(), options()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        for path in [feather, stream] {
            let table = read(&path).unwrap();
            assert_eq!(table.get("x").unwrap().numbers().unwrap().values().as_ref(), values);
        }
    }
}

#[test]
fn whole_numbers_that_no_double_holds_are_text() {
    let decimals = |scale| {
        let all = Decimal128Array::from(vec![Some(100), None, Some(150_000_000_000_000_006_000)]);
        all.with_precision_and_scale(38, scale).unwrap()
    };
    let cases: Vec<(ArrayRef, &str)> = vec![
        (Arc::new(Int64Array::from(vec![Some(1), None, Some(i64::MAX)])), "1||9223372036854775807"),
        (Arc::new(Int64Array::from(vec![Some(i64::MIN + 1), None, Some(-1)])), "-9223372036854775807||-1"),
        (Arc::new(UInt64Array::from(vec![Some((1 << 53) + 1), None, Some(1)])), "9007199254740993||1"),
        (Arc::new(decimals(2)), "1||1500000000000000060"),
        (Arc::new(decimals(0)), "100||150000000000000006000"),
        (Arc::new(Int64Array::from(vec![Some(1 << 60), None, Some(7)])), "1152921504606846976||7"),
    ];
    for (index, (array, expected)) in cases.into_iter().enumerate() {
        for path in write(&format!("wide{index}"), &batch(vec![("x", array)])) {
            let table = read(&path).unwrap();
            let cells = table.get("x").unwrap();
            assert_eq!((0..3).map(|row| cells.label(row)).collect::<Vec<_>>().join("|"), expected);
            assert_eq!(cells.numbers().is_some(), index == 5, "{expected}");
        }
    }
}

#[test]
fn values_that_do_not_fit_are_named() {
    let cases: Vec<(ArrayRef, &str)> = vec![
        (
            Arc::new(Float64Array::from(vec![1.0, f64::INFINITY])),
            "row 2, column `x`: inf is not a finite number (1 such value",
        ),
        (Arc::new(BinaryArray::from_vec(vec![b"a", b"b"])), "column `x` is of type Binary; expected numbers"),
        (
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), None])),
            "column `x` is of type List(",
        ),
    ];
    for (index, (array, expected)) in cases.into_iter().enumerate() {
        let batch = batch(vec![("y", Arc::new(UInt8Array::from(vec![1, 2])) as ArrayRef), ("x", array)]);
        for path in write(&format!("case{index}"), &batch) {
            assert!(message(&path).contains(expected), "{}", message(&path));
            assert!(read_table(&path, &ReadRequest::except(["x"])).is_ok());
        }
    }
}

#[test]
fn files_without_rows_or_with_a_name_twice_are_refused() {
    let empty = batch(vec![("x", Arc::new(UInt8Array::from(vec![1])) as ArrayRef)]).slice(0, 0);
    for path in write("no_rows", &empty) {
        assert!(message(&path).ends_with("has columns and no rows"), "{}", message(&path));
    }
    let field = Field::new("x", DataType::UInt8, false);
    let column: ArrayRef = Arc::new(UInt8Array::from(vec![1]));
    let twice = RecordBatch::try_new(Arc::new(Schema::new(vec![field.clone(), field])), vec![column.clone(), column]);
    for path in write("twice", &twice.unwrap()) {
        assert!(message(&path).ends_with("the column name `x` stands twice"), "{}", message(&path));
    }
}

#[test]
fn damaged_files_are_errors() {
    let values: Vec<f64> = (0..100).map(f64::from).map(f64::sin).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("x", Arc::new(Float64Array::from(values))),
        ("b", Arc::new(UInt8Array::from((0..100).map(|i| i as u8).collect::<Vec<_>>()))),
        ("t", Arc::new(StringArray::from((0..100).map(|i| format!("t{}", i % 7)).collect::<Vec<_>>()))),
        (
            "w",
            Arc::new((0..100).map(|i| if i % 2 == 0 { "even" } else { "odd" }).collect::<DictionaryArray<Int8Type>>()),
        ),
    ];
    let stride = if vaglio_testkit::tries_all_cases() { 1 } else { 3 };
    for path in write("whole_numbers", &batch(columns)) {
        let whole = std::fs::read(&path).unwrap();
        let extension = path.extension().unwrap().to_str().unwrap();
        let damaged = path.with_file_name(format!("damaged.{extension}"));
        for length in (0..whole.len()).step_by(7) {
            std::fs::write(&damaged, &whole[..length]).unwrap();
            assert!(
                matches!(read(&damaged), Err(vaglio_core::Error::Unreadable { .. })),
                "{length} of {}",
                whole.len()
            );
        }
        for at in (0..whole.len()).step_by(stride) {
            let mut bytes = whole.clone();
            bytes[at] = if at % 2 == 0 { 0xff } else { bytes[at] ^ (1 << (at % 8)) };
            std::fs::write(&damaged, &bytes).unwrap();
            let _ = read(&damaged);
        }
    }
}

#[test]
fn the_hash_that_comes_behind_is_that_of_the_files() {
    let values = |from: u64| Float64Array::from_iter_values((from..from + 700_000).map(|i| (i as f64).sqrt()));
    let path = |from: u64| {
        let [path, _] = write(&format!("hashed-{from}"), &batch(vec![("a", Arc::new(values(from)))]));
        path
    };
    let paths = [path(0), path(7)];
    let threads = |count: usize| rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
    for paths in [&paths[..1], &paths[..]] {
        let source = || TableSource::open(paths, &ReadSpec::default()).unwrap();
        let expected = source().digest().unwrap();
        for count in [1, 2, 3] {
            let hashed = threads(count).install(|| source().read_and_hash(&ReadRequest::default()));
            let (table, _, digest) = hashed.unwrap();
            assert_eq!(table.rows(), 700_000 * paths.len());
            // Hashing goes on after the pool is dropped.
            assert_eq!(digest.wait().unwrap(), expected);
        }
        // All threads may wait at once.
        let all = |_| source().read_and_hash(&ReadRequest::default()).unwrap().2.wait().unwrap();
        let all: Vec<String> = threads(2).install(|| (0..4).into_par_iter().map(all).collect());
        assert_eq!(all, vec![expected; 4]);
    }
    // The file changes after reading and before hashing.
    let source = TableSource::open(&paths[..1], &ReadSpec::default()).unwrap();
    source.read(&ReadRequest::default()).unwrap();
    File::options().append(true).open(&paths[0]).unwrap().write_all(b"more").unwrap();
    for error in [source.digest().unwrap_err(), source.read(&ReadRequest::default()).unwrap_err()] {
        let message = error.to_string();
        assert!(
            message.ends_with("it was changed while it was read; try again when nothing writes to it"),
            "{message}"
        );
    }
}

#[test]
fn compressed_files_are_read_as_what_they_hold() {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(b"a\tb\n1\tx\n").unwrap();
    let zst = zstd::stream::encode_all(&b"a\tb\n1\tx\n"[..], 1).unwrap();
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bz2.write_all(b"a\tb\n1\tx\n").unwrap();
    let files = [("t.tsv.gz", gz.finish().unwrap()), ("t.csv.zst", zst), ("t.tsv.bz2", bz2.finish().unwrap())];
    for (name, bytes) in files {
        let file = |name: &str, bytes: &[u8]| write_file("compressed", name, bytes);
        assert_eq!(read(&file(name, &bytes)).unwrap().get("b").unwrap().label(0), "x");
        let found = message(&file(&format!("cut_{name}"), &bytes[..bytes.len() - 4]));
        assert!(found.contains(": it cannot be decompressed"), "{found}");
    }
}
