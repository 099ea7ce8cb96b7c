//! Columns of a Parquet file are those that were written, in every encoding.

use super::batch;
use crate::create_folder;
use arrow_array::*;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use vaglio_core::Cells;
use vaglio_tables::ReadSpec;
use vaglio_tables::read::{Hint, ReadRequest, TableSource};

const ROWS: usize = 5000;

/// Builds every numeric type with no, some and only missing cells, and columns of other types.
fn columns() -> Vec<(&'static str, ArrayRef)> {
    let wave = |row: usize| (row as f64 * 0.7).sin() * 1e3;
    let small = |row: usize| (row * 7 % 200) as u8;
    let some = |row: usize| row % 11 > 2;
    macro_rules! array {
        ($array:ident, $value:expr) => {
            Arc::new($array::from((0..ROWS).map($value).collect::<Vec<_>>())) as ArrayRef
        };
    }
    vec![
        ("f64", array!(Float64Array, wave)),
        ("f64_bytes", array!(Float64Array, |row| f64::from(small(row)))),
        ("f64_late", array!(Float64Array, |row| if row < 3000 { f64::from(small(row)) } else { -0.0 })),
        ("f64_some", array!(Float64Array, |row| some(row).then(|| wave(row)))),
        ("f64_none", array!(Float64Array, |_| None)),
        ("f64_odd", array!(Float64Array, |row| [1.0, f64::NAN, f64::INFINITY, 0.5][row % 4])),
        ("f32", array!(Float32Array, |row| wave(row) as f32)),
        ("f32_some", array!(Float32Array, |row| some(row).then(|| wave(row) as f32))),
        ("i8", array!(Int8Array, |row| small(row) as i8)),
        ("i16", array!(Int16Array, |row| wave(row) as i16)),
        ("i32", array!(Int32Array, |row| wave(row) as i32 * 1000)),
        ("i32_some", array!(Int32Array, |row| some(row).then(|| i32::from(small(row))))),
        ("i64", array!(Int64Array, |row| (wave(row) * 1e9) as i64)),
        ("i64_bytes", array!(Int64Array, |row| i64::from(small(row)))),
        ("i64_same", array!(Int64Array, |_| 7)),
        ("u8", array!(UInt8Array, small)),
        ("u8_some", array!(UInt8Array, |row| some(row).then(|| small(row)))),
        ("u16", array!(UInt16Array, |row| small(row) as u16 * 300)),
        ("u32", array!(UInt32Array, |row| u32::MAX - row as u32)),
        ("u64", array!(UInt64Array, |row| row as u64)),
        ("u64_large", array!(UInt64Array, |row| (1 << 63) + ((row as u64) << 20))),
        ("bool", array!(BooleanArray, |row| some(row).then_some(row % 3 == 0))),
        ("date", array!(Date32Array, |row| row as i32)),
        ("text", array!(StringArray, |row| Some(format!("t{}", row % 5)))),
    ]
}

fn write(name: &str, properties: WriterProperties) -> PathBuf {
    let (path, batch) = (create_folder("direct").join(format!("{name}.parquet")), batch(columns()));
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), Some(properties)).unwrap();
    // Pages end at or before batch ends.
    for from in (0..ROWS).step_by(700) {
        writer.write(&batch.slice(from, 700.min(ROWS - from))).unwrap();
    }
    writer.close().unwrap();
    path
}

/// Reads all columns, with the faults of those that have some.
fn read(source: &TableSource) -> Vec<String> {
    // As text, doubles differ exactly if their bits do, except NaN.
    source.read_each(&ReadRequest::default()).unwrap().0.iter().map(|column| format!("{column:?}")).collect()
}

#[test]
fn every_encoding_codec_and_cut_gives_what_arrays_hold() {
    let writer = WriterProperties::builder;
    let with = |encoding: Encoding, names: &[&str]| {
        let mut builder = writer().set_dictionary_enabled(false);
        for name in names {
            builder = builder.set_column_encoding(ColumnPath::from(*name), encoding);
        }
        builder
    };
    let split = ["f64", "f64_some", "f32", "f32_some", "i32", "i64", "u8_some"];
    let delta = ["i8", "i16", "i32", "i32_some", "i64", "i64_bytes", "i64_same", "u8", "u8_some", "u16", "u32", "u64"];
    let mut cases: Vec<(&str, WriterPropertiesBuilder)> = vec![
        ("dictionary", writer()),
        ("small_dictionary", writer().set_dictionary_page_size_limit(2000).set_write_batch_size(100)),
        ("plain", writer().set_dictionary_enabled(false)),
        ("split", with(Encoding::BYTE_STREAM_SPLIT, &split)),
        ("delta", with(Encoding::DELTA_BINARY_PACKED, &delta)),
        ("groups", writer().set_max_row_group_row_count(Some(1234)).set_data_page_row_count_limit(100)),
        ("second", writer().set_writer_version(WriterVersion::PARQUET_2_0).set_data_page_row_count_limit(333)),
    ];
    for (name, codec) in [
        ("snappy", Compression::SNAPPY),
        ("zstd", Compression::ZSTD(Default::default())),
        ("gzip", Compression::GZIP(Default::default())),
        ("lz4", Compression::LZ4_RAW),
    ] {
        cases.push((name, writer().set_compression(codec)));
    }
    let (whole, spec) = (batch(columns()), ReadSpec::default());
    let held = TableSource::from_batches("held", whole.schema(), vec![whole.clone()], &spec).unwrap();
    let expected = read(&held);
    let sound = |(name, _): &&(&str, ArrayRef)| *name != "f64_odd";
    let hints: Vec<(String, Hint)> =
        columns().iter().filter(sound).map(|(name, _)| ((*name).to_owned(), Hint::Auto)).collect();
    let labels = |cells: &Cells| (0..cells.len()).map(|row| cells.label(row)).collect::<Vec<_>>();
    let written = |(name, _): &(String, Hint)| {
        let wanted = ReadRequest::only([name]);
        labels(held.read(&wanted).unwrap().0.get(name).unwrap())
    };
    let written: Vec<Vec<String>> = hints.iter().map(written).collect();
    for (name, builder) in cases {
        let path = write(name, builder.set_write_batch_size(100).build());
        let found = read(&TableSource::open(std::slice::from_ref(&path), &spec).unwrap());
        assert_eq!(found.len(), whole.num_columns());
        for (found, expected) in found.iter().zip(&expected) {
            assert!(found == expected, "{name}: {found} for {expected}");
        }
        // In batches, whose ends are none of pages.
        let source = TableSource::on_disk(&path, &spec).unwrap().unwrap();
        for most in [2049, ROWS] {
            let mut parts: Vec<Vec<(String, Cells)>> = Vec::new();
            let read = source.read_in_batches(&hints, &Default::default(), most, &mut |_, columns, _| {
                parts.push(columns);
                Ok(ControlFlow::Continue(()))
            });
            assert!(read.unwrap());
            for (at, ((name, _), written)) in hints.iter().zip(&written).enumerate() {
                let found: Vec<String> = parts.iter().flat_map(|part| labels(&part[at].1)).collect();
                assert!(found == *written, "{name}");
            }
        }
    }
}
