//! Files that change while they are read, that are too large, and of which a sample is read.

use crate::create_folder;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use vaglio_core::{Result, Table};
use vaglio_tables::ReadSpec;
use vaglio_tables::budget::Budget;
use vaglio_tables::read::{ReadRequest, TableSource};

fn open(path: &Path, budget: Budget) -> Result<TableSource> {
    TableSource::open_within(&[path.to_owned()], &ReadSpec::default(), budget, false)
}

fn read(source: &TableSource) -> Result<Table> {
    source.read(&ReadRequest::default()).map(|(table, _)| table)
}

#[test]
fn a_file_that_changes_while_it_is_read_is_noticed() {
    let path = create_folder("load").join("growing.csv");
    let append = || File::options().append(true).open(&path).unwrap().write_all(b"3,4\n").unwrap();
    let shorten = || File::options().write(true).open(&path).unwrap().set_len(8).unwrap();
    let touch = || {
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
        File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
    };
    for change in [&append as &dyn Fn(), &shorten, &touch] {
        std::fs::write(&path, "a,b\n1,2\n5,6\n").unwrap();
        let source = TableSource::on_disk(&path, &ReadSpec::default()).unwrap().unwrap();
        assert_eq!(read(&source).unwrap().rows(), 2);
        assert_eq!(source.digest().unwrap(), open(&path, Budget::new(u64::MAX)).unwrap().digest().unwrap());
        change();
        let error = read(&source).unwrap_err().to_string();
        assert!(error.ends_with("growing.csv: it was changed while it was read; try again when nothing writes to it"));
    }
    // A file of the system has another length than its content.
    if cfg!(target_os = "linux") {
        let error = open(Path::new("/proc/self/status"), Budget::new(u64::MAX)).unwrap_err().to_string();
        assert!(error.contains("it was changed while it was read"), "{error}");
    }
}

#[test]
fn what_is_larger_than_the_memory_is_not_read() {
    let path = create_folder("load").join("large.csv");
    File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let error = open(&path, Budget::new(1 << 33)).unwrap_err();
    assert_eq!(error.field(), Some("limits.memory"));
    let message = error.to_string();
    assert!(message.contains("large.csv would take about 1.1 TB beside the "), "{message}");
    assert!(message.ends_with("and the limit is 8.6 GB; read a smaller file, or raise the limit"), "{message}");
    if cfg!(target_os = "linux") {
        let error = open(Path::new("/dev/zero"), Budget::new(60_000_000)).unwrap_err().to_string();
        assert!(error.contains("/dev/zero, read or decompressed, would take about 16.8 MB beside the "), "{error}");
    }
}

/// Writes a text that is too large to be read whole as a sample.
fn long(name: &str, row: &str) -> (PathBuf, usize) {
    let (path, count) = (create_folder("head").join(name), (20 << 20) / row.len());
    std::fs::write(&path, "a,b\n".to_owned() + &row.repeat(count)).unwrap();
    (path, count)
}

#[test]
fn the_whole_is_guessed_from_the_beginning_which_ends_between_records() {
    let text = "x".repeat(60);
    for (name, row) in [
        ("long.csv", "1.2345678901234,2.3456789012345\n".to_owned()),
        ("quoted.csv", format!("1,\"{text}\ny, z\"\n")),
        ("open.csv", format!("\"{text}\n\ny\",1\n")),
    ] {
        let (path, count) = long(name, &row);
        let spec = ReadSpec::default();
        let source = TableSource::open_within(&[path], &spec, Budget::new(u64::MAX), true).unwrap();
        let (table, profile) = source.read(&ReadRequest::default()).unwrap();
        assert!(table.rows() < count / 2);
        let about = source.times(&profile) * table.rows() as f64 / count as f64;
        assert!((0.9..1.1).contains(&about), "{about}");
    }
    let path = create_folder("head").join("short.csv");
    std::fs::write(&path, "a,b\n".to_owned() + &"1,2\n".repeat(500_000)).unwrap();
    let source = TableSource::open_within(&[path], &ReadSpec::default(), Budget::new(u64::MAX), true).unwrap();
    let (table, profile) = source.read(&ReadRequest::default()).unwrap();
    assert_eq!((table.rows(), source.times(&profile)), (500_000, 1.0));
}
