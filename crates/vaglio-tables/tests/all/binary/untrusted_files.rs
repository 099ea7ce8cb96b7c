//! Files with false claims about their size, and small files that decompress to large ones.

use super::{batch, write};
use crate::create_folder;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int32Array, NullArray, StringArray, StringViewArray};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, root_as_footer};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaDataReader, ParquetMetaDataWriter, RowGroupMetaData};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vaglio_core::{Error, Result, Table};
use vaglio_tables::ReadSpec;
use vaglio_tables::budget::{Budget, resident};
use vaglio_tables::read::{ReadRequest, TableSource, read_table};

/// Message for a field that would be misread.
const MISREAD: &str = "a field is not as the format has it";

/// Returns a budget of `more` bytes above the current resident size.
fn budget(more: u64) -> Budget {
    Budget::new(resident().unwrap_or(0) + more)
}

fn read(path: &Path, budget: Budget) -> Result<Table> {
    let source = TableSource::open_within(&[path.to_owned()], &ReadSpec::default(), budget, false)?;
    source.read(&ReadRequest::default()).map(|(table, _)| table)
}

fn doubles() -> ArrayRef {
    Arc::new(Float64Array::from((0..40).map(f64::from).collect::<Vec<_>>()))
}

/// Returns the message of an error that is not a memory limit.
fn damage(path: &Path) -> String {
    let error = read_table(path, &ReadRequest::default()).map(|table| table.rows()).unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
    error.to_string()
}

#[test]
fn a_block_that_is_longer_than_its_file_is_refused() {
    // Two columns, so that no buffer is as long as the block.
    let [_, path] = write("block", &batch(vec![("x", doubles()), ("y", doubles())]));
    let whole = std::fs::read(&path).unwrap();
    let end = whole.len() - 10;
    let length = i32::from_le_bytes(whole[end..end + 4].try_into().unwrap()) as usize;
    let footer = root_as_footer(&whole[end - length..end]).unwrap();
    let block = footer.recordBatches().unwrap().get(0);
    let said = block.bodyLength().to_le_bytes();
    let start = block.offset() as usize;
    let at = start + whole[start..].windows(8).position(|bytes| bytes == said).unwrap();
    for value in [12_300_000_000i64, -1, i64::MAX] {
        let mut bytes = whole.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        std::fs::write(&path, &bytes).unwrap();
        let message = damage(&path);
        assert!(message.ends_with("is damaged: a message is longer than what is left of it"), "{message}");
    }
    for footer in [i32::MAX, -1] {
        let mut bytes = whole.clone();
        bytes[end..end + 4].copy_from_slice(&footer.to_le_bytes());
        std::fs::write(&path, &bytes).unwrap();
        damage(&path);
    }
}

#[test]
fn a_buffer_that_claims_to_become_larger_than_the_memory_is_refused() {
    let values: ArrayRef = Arc::new(Float64Array::from(vec![0.5; 131_071]));
    let batch = batch(vec![("x", values)]);
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let options = || IpcWriteOptions::default().try_with_compression(Some(codec)).unwrap();
        let path = create_folder("strangers").join(format!("claims{}.arrow", codec.0));
        let mut writer =
            FileWriter::try_new_with_options(File::create(&path).unwrap(), &batch.schema(), options()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let stream = path.with_extension("arrows");
        let mut writer =
            StreamWriter::try_new_with_options(File::create(&stream).unwrap(), &batch.schema(), options()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        for path in [path, stream] {
            assert!(read(&path, budget(1 << 28)).is_ok());
            let mut bytes = std::fs::read(&path).unwrap();
            let claim = (8 * 131_071i64).to_le_bytes();
            let at = bytes.windows(8).position(|bytes| bytes == claim).unwrap();
            bytes[at..at + 8].copy_from_slice(&(1i64 << 40).to_le_bytes());
            std::fs::write(&path, &bytes).unwrap();
            let error = read(&path, budget(1 << 28)).map(|table| table.rows()).unwrap_err();
            assert_eq!(error.field(), Some("limits.memory"), "{error}");
            assert!(error.to_string().contains(": a batch, decompressed, would take about 1.1 TB "), "{error}");
        }
    }
}

#[test]
fn a_stream_that_is_cut_is_refused() {
    let batch = batch(vec![("x", doubles())]);
    let path = create_folder("strangers").join("cut.arrows");
    let mut writer = StreamWriter::try_new(File::create(&path).unwrap(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let whole = std::fs::read(&path).unwrap();
    for cut in [20, 100, 200] {
        std::fs::write(&path, &whole[..whole.len() - cut]).unwrap();
        assert!(
            damage(&path).ends_with("is damaged: a message is longer than what is left of it"),
            "{}",
            damage(&path)
        );
    }
}

/// Returns a file's footer and its offset.
fn footer(bytes: &[u8]) -> (usize, Vec<u8>) {
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
    (end - length, bytes[end - length..end].to_vec())
}

#[test]
fn a_page_that_claims_to_become_larger_than_the_memory_is_refused() {
    let [path, _] = write("page", &batch(vec![("x", doubles())]));
    assert!(read(&path, budget(1 << 28)).is_ok());
    let bytes = std::fs::read(&path).unwrap();
    // The page type, dictionary, then its size as a zigzag varint: 320, two bytes.
    assert_eq!(bytes[4..9], [0x15, 4, 0x15, 0x80, 0x05]);
    for (claim, words) in [
        (vec![0xfe, 0xff, 0xff, 0xff, 0x0f], "page.parquet: a page on each thread, decompressed, would take about "),
        (vec![2], "a dictionary claims more values than there can be"),
    ] {
        let mut changed = bytes.clone();
        changed.splice(7..9, claim);
        std::fs::write(&path, &changed).unwrap();
        let error = read(&path, budget(1 << 28)).map(|table| table.rows()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_header_of_a_page_with_other_fields_is_refused() {
    let [path, _] = write("header", &batch(vec![("x", doubles())]));
    let bytes = std::fs::read(&path).unwrap();
    for (head, is_known) in [
        // The page type in long form.
        (vec![0x05, 2, 4], true),
        // A field 15 first: a list of 2³¹ − 1 booleans, which take no bytes when skipped.
        (vec![0xf9, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07, 0x05, 2, 4], false),
        // The page type as a string.
        (vec![0x18, 1, 4], false),
    ] {
        let mut changed = bytes.clone();
        changed.splice(4..6, head);
        std::fs::write(&path, &changed).unwrap();
        let error = read(&path, budget(1 << 28)).map(|table| table.rows()).err().map(|error| error.to_string());
        let is_refused = error.as_ref().is_some_and(|error| error.contains(MISREAD));
        assert_eq!(is_refused, !is_known, "{error:?}");
    }
}

#[test]
fn a_footer_with_fields_of_other_kinds_is_refused_before_it_is_read() {
    let [path, _] = write("kinds", &batch(vec![("x", doubles())]));
    let bytes = std::fs::read(&path).unwrap();
    let (start, whole) = footer(&bytes);
    assert_eq!(whole[..2], [0x15, 2], "the version, a number");
    let with_footer = |parts: [&[u8]; 3]| {
        std::fs::write(&path, [&bytes[..start], &add_footer_end(&parts.concat())].concat()).unwrap();
        read(&path, budget(1 << 28)).map(|table| table.rows()).map_err(|error| error.to_string())
    };
    // Field 32, after all others.
    let unknown =
        |kind: u8, value: &[u8]| with_footer([&whole[..whole.len() - 1], &[kind, 64], &[value, &[0]].concat()]);
    let billions = |head: &[u8]| [head, &[0xff, 0xff, 0xff, 0xff, 0x07]].concat();
    // Unknown fields are skipped: numbers, strings, lists of them, and structures.
    for (kind, value) in
        [(1, &[][..]), (6, &[0x80, 1]), (8, &[2, b'a', b'b']), (9, &[0x25, 2, 4]), (9, &[0x01]), (12, &[0x15, 2, 0])]
    {
        assert_eq!(unknown(kind, value), Ok(40), "{kind} {value:?}");
    }
    for (kind, value) in [
        (9, billions(&[0xf1])),
        (10, billions(&[0xf2])),
        (9, [&[0x19], &billions(&[0xf1])[..]].concat()),
        (11, [&billions(&[])[..], &[0x11]].concat()),
        (12, [&[0x19], &billions(&[0xf1])[..]].concat()),
        (14, vec![]),
        // Structures nested unreasonably deep.
        (12, vec![0x1c; 40]),
    ] {
        let error = unknown(kind, &value).unwrap_err();
        assert!(error.contains(MISREAD), "{kind} {value:?}: {error}");
    }
    // The version as a list, an invalid field number, and a field that is there twice.
    for fields in [&billions(&[0x19, 0xf1])[..], &[0x05, 0xff, 0xff, 0xff, 0xff, 0x0f, 2], &[0x15, 2, 0x05, 2, 2]] {
        assert!(with_footer([fields, &whole[2..], &[]]).unwrap_err().contains(MISREAD), "{fields:?}");
    }
    // A list longer than the file ends with the file.
    let error = unknown(9, &billions(&[0xf5])).unwrap_err();
    assert!(!error.contains(MISREAD) && error.len() < 300, "{error}");
}

#[test]
fn a_footer_with_impossible_groups_of_columns_is_refused() {
    let path = create_folder("strangers").join("groups.parquet");
    // A version, groups named a, no rows and no groups of rows.
    let file = |count: usize, children: &[u8]| {
        let number = [0xfc, count as u8 | 128, (count >> 7) as u8 | 128, (count >> 14) as u8];
        let groups = [&[0x48, 1, b'a', 0x15][..], children, &[0]].concat().repeat(count);
        let footer = [&[0x15, 2, 0x19][..], &number, &groups, &[0x16, 0, 0x19, 0x0c, 0]].concat();
        std::fs::write(&path, [b"PAR1", &add_footer_end(&footer)[..]].concat()).unwrap();
        damage(&path)
    };
    for (count, children) in [(20_000, &[2][..]), (1, &[0xfe, 0xff, 0xff, 0xff, 0x0f]), (1, &[1])] {
        let error = file(count, children);
        assert!(error.contains("a group claims more columns than there can be"), "{error}");
    }
}

/// A footer with what follows it in a file.
fn add_footer_end(footer: &[u8]) -> Vec<u8> {
    [footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
}

/// Replaces the row count of a file, 40, in its footer by another number in Thrift's compact form.
fn claim_file_rows(path: &Path, rows: &[u8]) {
    let mut bytes = std::fs::read(path).unwrap();
    let (start, mut footer) = footer(&bytes);
    // A field's delta and type, then a zigzag varint.
    let at = footer.windows(2).position(|bytes| bytes == [0x16, 80]).unwrap() + 1;
    footer.splice(at..at + 1, rows.iter().copied());
    bytes.truncate(start);
    bytes.extend(add_footer_end(&footer));
    std::fs::write(path, bytes).unwrap();
}

/// Replaces the row count everywhere in the footer.
fn claim_rows(path: &Path, rows: i64) {
    write_groups(path, |group| {
        let column = |column: &ColumnChunkMetaData| column.clone().into_builder().set_num_values(rows).build().unwrap();
        let columns = group.columns().iter().map(column).collect();
        group.clone().into_builder().set_column_metadata(columns).set_num_rows(rows).build().unwrap()
    });
}

/// Changes the row groups in a footer.
fn write_groups(path: &Path, change: impl Fn(&RowGroupMetaData) -> RowGroupMetaData) {
    let mut bytes = std::fs::read(path).unwrap();
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::from(bytes.clone())).unwrap();
    let groups = metadata.row_groups().iter().map(change).collect();
    bytes.truncate(footer(&bytes).0);
    let changed = metadata.into_builder().set_row_groups(groups).build();
    ParquetMetaDataWriter::new(&mut bytes, &changed).finish().unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_footer_that_lies_about_its_rows_is_refused() {
    let [path, _] = write("lies", &batch(vec![("x", doubles())]));
    let sound = std::fs::read(&path).unwrap();
    for (rows, written) in [(1_000_000_000_000i64, &[128, 192, 168, 202, 154, 58][..]), (39, &[78]), (-1, &[1])] {
        std::fs::write(&path, &sound).unwrap();
        claim_file_rows(&path, written);
        let expected = format!("is damaged: its footer says {rows} rows, and its groups have 40");
        assert!(damage(&path).ends_with(&expected), "{}", damage(&path));
    }
    std::fs::write(&path, &sound).unwrap();
    claim_rows(&path, 100_000);
    assert!(damage(&path).ends_with("is damaged: its footer says 100000 rows, and it holds 40"), "{}", damage(&path));
    claim_rows(&path, 1_000_000_000_000);
    let error = read(&path, budget(1 << 28)).unwrap_err().to_string();
    assert!(error.contains("1000000000000 rows of 1 columns, as its footer says, would take about 1.0 TB"), "{error}");
}

fn parquet(name: &str, columns: Vec<(&str, ArrayRef)>) -> PathBuf {
    let (path, batch) = (create_folder("strangers").join(name), batch(columns));
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    path
}

#[test]
fn few_bytes_that_stand_for_much_text_are_refused() {
    let (rows, long) = (100_000, "x".repeat(2000));
    let words: DictionaryArray<Int32Type> =
        DictionaryArray::new(Int32Array::from(vec![0; rows]), Arc::new(StringArray::from(vec![long.as_str()])));
    let words: ArrayRef = Arc::new(words);
    let mut views = arrow_array::builder::StringViewBuilder::new();
    let block = views.append_block(long.clone().into_bytes().into());
    (0..rows).for_each(|_| views.try_append_view(block, 0, long.len() as u32).unwrap());
    let views: StringViewArray = views.finish();
    let table = vec![("y", Arc::new(Int32Array::from(vec![1; rows])) as ArrayRef), ("t", words.clone())];
    let path = parquet("words.parquet", table);
    assert!(std::fs::metadata(&path).unwrap().len() < 100_000);
    let [_, arrow] = write("words", &batch(vec![("t", words)]));
    let [_, viewed] = write("views", &batch(vec![("t", Arc::new(views))]));
    for path in [path, arrow, viewed] {
        let error = read(&path, budget(100_000_000)).unwrap_err();
        assert_eq!(error.field(), Some("limits.memory"), "{error}");
        assert!(error.to_string().contains(" would take about "), "{error}");
    }
}

#[test]
fn rows_without_bytes_are_counted() {
    let [_, path] = write("nulls", &batch(vec![("n", Arc::new(NullArray::new(1 << 30)) as ArrayRef)]));
    assert!(std::fs::metadata(&path).unwrap().len() < 2000);
    let error = read(&path, budget(1 << 28)).unwrap_err().to_string();
    assert!(error.contains("nulls.arrow, while it is read, would take about 8.6 GB"), "{error}");
}

#[test]
fn columns_with_and_without_dictionaries_are_read_alike() {
    let words: Vec<String> = (0..70_000).map(|row| format!("w{}", row % 5)).collect();
    let many: Vec<String> = (0..70_000).map(|row| format!("some longer text of its own, {row}")).collect();
    let sparse: Vec<Option<&str>> = (0..70_000).map(|row| (row % 3 == 0).then_some("é")).collect();
    let array = |text: &[String]| Arc::new(StringArray::from(text.to_vec())) as ArrayRef;
    let table =
        vec![("w", array(&words)), ("m", array(&many)), ("s", Arc::new(StringArray::from(sparse.clone())) as ArrayRef)];
    let path = parquet("plain.parquet", table);
    let table = read(&path, Budget::new(u64::MAX)).unwrap();
    let cells = |name: &str| (0..70_000).map(|row| table.get(name).unwrap().label(row)).collect::<Vec<_>>();
    assert!(cells("m") == many && cells("w") == words);
    assert!(cells("s").iter().zip(&sparse).all(|(found, expected)| found == expected.unwrap_or_default()));
}

#[test]
fn of_large_files_the_first_rows_are_read_and_the_others_counted() {
    // Different numbers, so that each file is too large to be read whole.
    let column =
        |rows: i32| Arc::new(Float64Array::from_iter_values((0..rows).map(|k| f64::from(k) / 8.0))) as ArrayRef;
    let path = parquet("sampled.parquet", vec![("x", column(2_500_000))]);
    let batches = [batch(vec![("x", column(2_000_000))]), batch(vec![("x", column(500_000))])];
    let (file, stream) = (path.with_extension("arrow"), path.with_extension("arrows"));
    let mut writer = FileWriter::try_new(File::create(&file).unwrap(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    let mut writer = StreamWriter::try_new(File::create(&stream).unwrap(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    for path in [path, file, stream] {
        let source = TableSource::open_within(&[path], &ReadSpec::default(), Budget::new(u64::MAX), true).unwrap();
        let (table, profile) = source.read(&ReadRequest::default()).unwrap();
        assert_eq!((table.rows(), source.times(&profile)), (2_000_000, 1.25));
    }
}

#[test]
fn memory_is_asked_for_while_rows_are_read() {
    let rows = 1_000_000;
    let path = parquet("many.parquet", vec![("x", Arc::new(Float64Array::from(vec![0.5; rows])) as ArrayRef)]);
    let error = read(&path, Budget::new(1 << 20)).map(|table| table.rows()).unwrap_err().to_string();
    assert!(
        error.contains("many.parquet, while it is read, would take about 4.") && error.contains("is 1.0 MB"),
        "{error}"
    );
    let text = path.with_extension("csv");
    std::fs::write(&text, "x,y\n".to_owned() + &"1,2\n".repeat(400_000)).unwrap();
    assert_eq!(read(&text, Budget::new(u64::MAX)).unwrap().rows(), 400_000);
    assert_eq!(read(&text, Budget::new(1 << 20)).unwrap_err().field(), Some("limits.memory"));
}

#[test]
fn what_is_compressed_in_another_way_says_what_to_do() {
    use parquet::basic::{BrotliLevel, Compression};
    let [path, _] = write("brotli", &batch(vec![("x", doubles()), ("z", doubles())]));
    let brotli = Compression::BROTLI(BrotliLevel::default());
    write_groups(&path, |group| {
        let mut columns = group.columns().to_vec();
        columns[1] = columns[1].clone().into_builder().set_compression(brotli).build().unwrap();
        group.clone().into_builder().set_column_metadata(columns).build().unwrap()
    });
    let expected = "column `z` is compressed by brotli, which this program does not read; write the file again with \
                    snappy, gzip, lz4 or zstd, or without compression";
    assert!(damage(&path).ends_with(expected), "{}", damage(&path));
    // A column that is not read may be damaged.
    let source = TableSource::open(&[path], &ReadSpec::default()).unwrap();
    let wanted = ReadRequest::only(["x"]);
    assert_eq!(source.read(&wanted).unwrap().0.rows(), 40);
}
