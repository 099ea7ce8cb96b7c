//! Limits on the bytes of rows and of headers.

use crate::create_folder;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::PathBuf;
use vaglio_tables::ReadSpec;
use vaglio_tables::budget::{Budget, resident};
use vaglio_tables::read::{Hint, TableSource};

/// Maximum bytes of a row.
const RECORD: usize = 1 << 26;

/// Compressed file of some bytes followed by `count` copies of one.
fn bomb(name: &str, head: &[u8], byte: u8, count: usize) -> PathBuf {
    let path = create_folder("bombs").join(name);
    let mut writer = zstd::Encoder::new(std::fs::File::create(&path).unwrap(), 1).unwrap();
    std::io::Write::write_all(&mut writer, head).unwrap();
    let mut rest = std::io::repeat(byte).take(count as u64);
    std::io::copy(&mut rest, &mut writer).unwrap();
    writer.finish().unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() < 250_000);
    path
}

#[test]
fn few_bytes_that_stand_for_long_rows_or_many_empty_lines_are_refused_by_line() {
    let much = RECORD / 2 * 3;
    for (name, head, byte, words) in [
        ("empty.csv.zst", &b""[..], b'\n', "line 1: a row has more than 67108864 bytes"),
        ("after.csv.zst", b"a,b\n1,2\n", b'\n', "line 3: a row has more than 67108864 bytes"),
        ("long.csv.zst", b"a,b\n1,", b'x', "line 2: a row has more than 67108864 bytes"),
        ("header.csv.zst", b"a,", b'x', "line 1: a row has more than 67108864 bytes"),
        ("zeros.csv.zst", b"", 0, "line 1: a row has more than 67108864 bytes"),
        (
            "lines.csv.zst",
            b"a,b\n1,\"\n\nx",
            b'\n',
            "line 2: a row has more than 67108864 bytes; is a quote not closed?",
        ),
        (
            "again.csv.zst",
            b"a,b\n1,\"x\"\"\ny\"\n2,\"\"\"",
            b' ',
            "line 4: a row has more than 67108864 bytes; is a quote not closed?",
        ),
    ] {
        let path = bomb(name, head, byte, much);
        let paths = [path.clone()];
        let opened = TableSource::open_within(&paths, &ReadSpec::default(), Budget::new(1 << 40), false);
        let error = opened.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(words), "{error}");
    }
}

#[test]
fn rows_that_follow_one_by_one_are_bounded_as_well() {
    let path = bomb("stream.csv.zst", &b"a,b\n1,2\n".repeat(1000).repeat(200), b'\n', 2 * RECORD);
    let source = TableSource::on_disk(&path, &ReadSpec::default()).unwrap().unwrap();
    let columns = [("a".to_owned(), Hint::Class)];
    let read =
        source.read_in_batches(&columns, &Default::default(), 1 << 20, &mut |_, _, _| Ok(ControlFlow::Continue(())));
    let error = read.unwrap_err().to_string();
    assert!(error.contains("a row has more than 67108864 bytes"), "{error}");
}

#[test]
fn memory_for_names_is_asked_for_before_they_are_made() {
    let path = create_folder("bombs").join("names.csv");
    std::fs::write(&path, "a,".repeat(20 << 20) + "\n").unwrap();
    let limit = Budget::new(resident().unwrap_or(0) + 1_000_000_000);
    let opened = TableSource::open_within(&[path], &ReadSpec::default(), limit, false);
    let error = opened.map(|_| ()).unwrap_err();
    assert_eq!(error.field(), Some("limits.memory"), "{error}");
    assert!(error.to_string().contains("names.csv, whose header has 20971521 names, would take about "), "{error}");
}
