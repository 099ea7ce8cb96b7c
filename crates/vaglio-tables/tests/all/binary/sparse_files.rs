//! svmlight, `.npz` and Matrix Market.

use crate::write_file;
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::path::Path;
use vaglio_core::{Cells, Numbers, Result, Table};
use vaglio_tables::ReadSpec;
use vaglio_tables::budget::Budget;
use vaglio_tables::read::{Hint, ReadRequest, TableSource};
use vaglio_testkit::SplitMix64;

fn read(path: &Path) -> Result<(Vec<String>, Vec<Vec<f64>>)> {
    let source = TableSource::open(&[path.to_owned()], &ReadSpec::default())?;
    let (table, _) = source.read(&ReadRequest::default())?;
    let values = |(_, cells): &(String, Cells)| cells.numbers().unwrap().values().into_owned();
    Ok((table.names().map(str::to_owned).collect(), table.columns().iter().map(values).collect()))
}

fn message(name: &str, bytes: impl AsRef<[u8]>) -> String {
    let text = read(&write_file("sparse", name, bytes)).unwrap_err().to_string();
    text.rsplit_once(&format!("{name}: ")).map_or(text.clone(), |(_, message)| message.to_owned())
}

/// Writes a one-dimensional .npy file.
fn npy<const N: usize>(descr: &str, shape: &str, numbers: &[[u8; N]]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while !(header.len() + 11).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(numbers.iter().flatten());
    out
}

fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (at, (name, bytes)) in members.iter().enumerate() {
        let by = [zip::CompressionMethod::Deflated, zip::CompressionMethod::Stored][at % 2];
        writer
            .start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default().compression_method(by))
            .unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn ints(numbers: &[i32]) -> Vec<u8> {
    npy("<i4", &format!("({},)", numbers.len()), &numbers.iter().map(|n| n.to_le_bytes()).collect::<Vec<_>>())
}

fn longs(numbers: &[i64]) -> Vec<u8> {
    npy("<i8", &format!("({},)", numbers.len()), &numbers.iter().map(|n| n.to_le_bytes()).collect::<Vec<_>>())
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    npy(">f8", &format!("({},)", numbers.len()), &numbers.iter().map(|n| n.to_be_bytes()).collect::<Vec<_>>())
}

fn word(word: &str) -> Vec<u8> {
    npy(&format!("|S{}", word.len()), "()", &word.bytes().map(|b| [b]).collect::<Vec<_>>())
}

/// Writes the matrix 0 2 0 / 1.5 0 0 / 0 −1 0 in one of three formats.
fn small(format: &str) -> Vec<u8> {
    let own = match format {
        "csr" => {
            vec![("indptr", ints(&[0, 1, 2, 3])), ("indices", ints(&[1, 0, 1])), ("data", doubles(&[2.0, 1.5, -1.0]))]
        }
        "csc" => {
            vec![("indptr", ints(&[0, 1, 3, 3])), ("indices", ints(&[1, 0, 2])), ("data", doubles(&[1.5, 2.0, -1.0]))]
        }
        _ => vec![
            ("row", longs(&[2, 0, 1, 0])),
            ("col", longs(&[1, 1, 0, 1])),
            ("data", doubles(&[-1.0, 1.25, 1.5, 0.75])),
        ],
    };
    npz(&[own, vec![("format", word(format)), ("shape", longs(&[3, 3]))]].concat())
}

const SMALL: [[f64; 3]; 3] = [[0.0, 1.5, 0.0], [2.0, 0.0, -1.0], [0.0, 0.0, 0.0]];

#[test]
fn every_format_of_an_archive_gives_the_same_columns() {
    for format in ["csr", "csc", "coo"] {
        let (names, columns) = read(&write_file("sparse", &format!("{format}.npz"), small(format))).unwrap();
        assert_eq!(names, ["x1", "x2", "x3"]);
        assert_eq!(columns, SMALL);
    }
}

#[test]
fn names_stand_in_the_text_file_beside() {
    let path = write_file("sparse", "named.npz", small("csc"));
    write_file("sparse", "named.txt", "a\nb b\né\n");
    assert_eq!(read(&path).unwrap().0, ["a", "b b", "é"]);
    write_file("sparse", "named.txt", "a\nb\n");
    let error = read(&path).unwrap_err().to_string();
    assert!(
        error.contains("named.txt: it stands beside") && error.contains("its 3 columns, a line each, and has 2 lines")
    );
    write_file("sparse", "named.txt", "a\nb\na\n");
    assert!(read(&path).unwrap_err().to_string().ends_with("the column name `a` stands twice"));
}

#[test]
fn archives_at_fault_are_told_by_their_array() {
    let with = |name: &str, bytes: Vec<u8>| {
        let mut members = vec![
            ("format", word("csc")),
            ("shape", longs(&[3, 3])),
            ("indptr", ints(&[0, 1, 3, 3])),
            ("indices", ints(&[1, 0, 2])),
            ("data", doubles(&[1.5, 2.0, -1.0])),
        ];
        members.retain(|(own, _)| *own != name);
        if !bytes.is_empty() {
            members.push((name, bytes));
        }
        npz(&members)
    };
    for (bytes, expected) in [
        (with("data", Vec::new()), "it has no array `data`; what is read are files of `scipy.sparse.save_npz`"),
        (
            with("format", word("bsr")),
            "the matrix is stored as `bsr`, and csr, csc and coo are read; write it by `save_npz(file, matrix.tocsc())`",
        ),
        (with("shape", longs(&[3])), "array `shape`: it is not two whole numbers, the rows and the columns"),
        (with("shape", longs(&[3, 0])), "it has 0 columns, and from 1 to 4294967295 are read"),
        (with("shape", longs(&[2, 3])), "array `indices`: entry 3 is 2, which is no whole number from 0 to 1"),
        (with("shape", longs(&[3, 4])), "array `indptr`: it has 4 numbers, and 5 are expected"),
        (with("indptr", ints(&[0, 3, 1, 3])), "array `indptr`: entry 3 is less than the one before it"),
        (with("indptr", ints(&[1, 1, 3, 3])), "array `indptr`: it does not lead from the first entry to the last"),
        (with("indptr", ints(&[0, -1, 3, 3])), "array `indptr`: entry 1 lies outside the matrix"),
        (with("indices", ints(&[1, 0, -2])), "array `indices`: entry 3 is -2, which is no whole number from 0 to 2"),
        (
            with("indices", doubles(&[1.0, 0.0, 2.0])),
            "array `indices`: entry 1 is 1, which is no whole number from 0 to 2",
        ),
        (with("data", b"nothing".to_vec()), "array `data`: it is no .npy"),
        (with("data", doubles(&[1.5, 2.0, -1.0])[..100].to_vec()), "array `data`: its header is torn"),
        (
            with("data", npy("<c16", "(0,)", &[[0u8]])),
            "array `data`: its numbers are `<c16`, and whole numbers and floats of 4 or 8 bytes are read",
        ),
        (with("data", npy("<f8", "(3,)", &[[0u8; 8]])), "array `data`: it has fewer numbers than it says"),
        (
            with("data", npy("<f8", "(4611686018427387904, 4611686018427387904)", &[[0u8; 8]])),
            "array `data`: it has fewer numbers than it says",
        ),
    ] {
        assert_eq!(message("fault.npz", bytes), expected);
    }
    assert!(message("no.npz", "PK\u{3}\u{4}").starts_with("the archive cannot be read: "));
    let infinite = message("infinite.npz", with("data", doubles(&[1.5, f64::INFINITY, -1.0])));
    assert!(infinite.contains("row 1, column `x2`"), "{infinite}");
}

#[test]
fn rows_of_svmlight_have_labels_and_queries() {
    let text = "# made by hand\n+1 1:0.5 3:2 # first\r\n\n-1\n1 qid 2:1\n";
    assert_eq!(
        message("wrong.svm", text),
        "line 5: `qid` is no pair of an index from 0 to 4294967294 and a number, such as `3:0.5`"
    );
    let (names, columns) =
        read(&write_file("sparse", "plain.svm", "+1 1:0.5 3:2 # first\r\n\n-1\n1 2:1 3:nan\n")).unwrap();
    assert_eq!(names, ["x1", "x2", "x3", "target"]);
    assert_eq!(columns[0], [0.5, 0.0, 0.0]);
    assert_eq!(columns[1], [0.0, 0.0, 1.0]);
    assert!(columns[2][2].is_nan() && columns[2][..2] == [2.0, 0.0]);
    assert_eq!(columns[3], [1.0, -1.0, 1.0]);
    // Index 0 is a column if some row has it; query numbers are read on request.
    let path = write_file("sparse", "queries.libsvm", "3 qid:7 0:1\n2 qid:7 2:-0.0\n1 qid:8 2:4\n");
    let (names, columns) = read(&path).unwrap();
    assert_eq!(names, ["x0", "x1", "x2", "target"]);
    assert_eq!(
        (&columns[0][..], &columns[1][..], &columns[2][..]),
        (&[1.0, 0.0, 0.0][..], &[0.0; 3][..], &[0.0, 0.0, 4.0][..])
    );
    let source = TableSource::open(&[path], &ReadSpec::default()).unwrap();
    assert_eq!(source.aside().iter().map(|(name, _)| &name[..]).collect::<Vec<_>>(), ["qid"]);
    let (table, _) = source.read(&ReadRequest::only(["qid"])).unwrap();
    assert_eq!(*table.get("qid").unwrap().numbers().unwrap().values(), [7.0, 7.0, 8.0]);
}

#[test]
fn labels_may_be_words_and_files_follow_each_other() {
    let first = write_file("sparse", "part1.svm", "spam 1:1\nham 2:1\n");
    let second = write_file("sparse", "part2.svm", "ham 4:2\n");
    let source = TableSource::open(&[first, second], &ReadSpec::default()).unwrap();
    let (table, profile): (Table, _) = source
        .read(&ReadRequest { hints: [("target".to_owned(), Hint::Target)].into(), ..ReadRequest::default() })
        .unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["x1", "x2", "x3", "x4", "target"]);
    assert_eq!(*table.get("x4").unwrap().numbers().unwrap().values(), [0.0, 0.0, 2.0]);
    assert_eq!((0..3).map(|row| table.get("target").unwrap().label(row)).collect::<Vec<_>>(), ["spam", "ham", "ham"]);
    assert_eq!(profile.files.iter().map(|(_, rows)| *rows).collect::<Vec<_>>(), [2, 1]);
    let narrow = TableSource::open(&[write_file("sparse", "narrow.svm", "1 1:2\n")], &ReadSpec::default()).unwrap();
    let wide = narrow.with_columns(["x3", "x01", "y", "target"]);
    assert_eq!(wide.names(), ["x1", "x3", "target"]);
}

#[test]
fn rows_at_fault_are_told_by_their_line() {
    for (text, expected) in [
        ("1 1:1\n1:3 2:1\n", "line 2: a row begins with its label, not with `1:3`"),
        ("1,3 1:1\n", "line 1: `1,3` are several labels, and a row has one"),
        ("1 1:1\n1 3:1 2:1\n", "line 2: the index 2 does not follow the one before it; indices increase"),
        ("1 3:1 3:1\n", "line 1: the index 3 does not follow the one before it; indices increase"),
        ("1 x:1\n", "line 1: `x:1` is no pair of an index from 0 to 4294967294 and a number, such as `3:0.5`"),
        ("1 -1:1\n", "line 1: `-1:1` is no pair of an index from 0 to 4294967294 and a number, such as `3:0.5`"),
        ("1 1:1\n\n2 qid:1 2:1\n", "line 3: some rows have a `qid:` and others have none"),
        ("2 2:1 qid:1\n", "line 1: `qid:` stands once in a row, before the entries"),
        ("1\n", "no row has an entry `index:value`"),
        ("", "no row has an entry `index:value`"),
    ] {
        assert_eq!(message("fault.svm", text), expected);
    }
    assert_eq!(message("latin.svm", b"1 1:1\n\xff 1:1\n"), "line 2: the text is not UTF-8");
    assert!(message("infinite.svm", "1 1:1\n1 1:1e999\n").contains("row 2, column `x1`"));
    let huge = read(&write_file("sparse", "huge.svm", "1 4294967294:1\n")).unwrap_err();
    assert_eq!(huge.field(), Some("limits.memory"), "{huge}");
}

#[test]
fn matrix_market_has_entries_or_arrays() {
    let general =
        "%%MatrixMarket matrix coordinate real general\n% words\n3 3 4\n\n2 1 1.5\n1 2 1.25\n1 2 0.75\n3 2 -1\n";
    assert_eq!(read(&write_file("sparse", "general.mtx", general)).unwrap().1, SMALL);
    let symmetric = "%%matrixmarket MATRIX coordinate integer symmetric\n3 3 2\n2 2 5\n3 1 7\n";
    assert_eq!(
        read(&write_file("sparse", "symmetric.mtx", symmetric)).unwrap().1,
        [[0.0, 0.0, 7.0], [0.0, 5.0, 0.0], [7.0, 0.0, 0.0]]
    );
    let skew = "%%MatrixMarket matrix coordinate pattern skew-symmetric\n2 2 1\n2 1\n";
    assert_eq!(read(&write_file("sparse", "skew.mtx", skew)).unwrap().1, [[0.0, 1.0], [-1.0, 0.0]]);
    let array = "%%MatrixMarket matrix array real general\n2 3\n1\n2\n0\n4\n5\n6\n";
    assert_eq!(read(&write_file("sparse", "array.mtx", array)).unwrap().1, [[1.0, 2.0], [0.0, 4.0], [5.0, 6.0]]);
    let lower = "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n";
    assert_eq!(read(&write_file("sparse", "lower.mtx", lower)).unwrap().1, [[1.0, 2.0], [2.0, 3.0]]);
    let below = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n";
    assert_eq!(
        read(&write_file("sparse", "below.mtx", below)).unwrap().1,
        [[0.0, 1.0, 2.0], [-1.0, 0.0, 3.0], [-2.0, -3.0, 0.0]]
    );
}

#[test]
fn matrices_at_fault_are_told_by_their_line() {
    let banner = |rest: &str| format!("%%MatrixMarket matrix coordinate real general\n{rest}");
    for (text, expected) in [
        (
            String::new(),
            "line 1: the first line of Matrix Market is `%%MatrixMarket matrix coordinate real general`, or the like",
        ),
        (banner(""), "the line with the shape is missing"),
        (banner("2 2\n"), "line 2: `2 2` is not the number of rows, columns and entries"),
        (banner("2 2 1\n1 3 1\n"), "line 3: `1 3 1` is not `row column value` of a matrix of 2 rows and 2 columns"),
        (banner("2 2 1\n0 1 1\n"), "line 3: `0 1 1` is not `row column value` of a matrix of 2 rows and 2 columns"),
        (banner("2 2 1\n1 1 x\n"), "line 3: `1 1 x` is not `row column value` of a matrix of 2 rows and 2 columns"),
        (banner("2 2 2\n1 1 1\n"), "it ends after 1 of 2 entries"),
        (banner("2 2 1\n1 1 1\n%\n2 2 1\n"), "line 5: there are more than the 1 entries that the shape says"),
        (banner("0 2 0\n"), "it has 0 rows, and from 1 to 4294967295 are read"),
    ] {
        assert_eq!(message("fault.mtx", text), expected);
    }
    let complex = message("complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n");
    assert!(complex.starts_with("line 1: `complex` is not read; what is: "), "{complex}");
    let huge = read(&write_file("sparse", "huge.mtx", banner("4294967295 4294967295 0\n"))).unwrap_err();
    assert_eq!(huge.field(), Some("limits.memory"), "{huge}");
}

#[test]
fn columns_are_sparse_where_that_halves_them() {
    let mut text = String::new();
    for row in 0..100 {
        let often = if row % 3 == 0 { format!(" 2:{row}.5") } else { String::new() };
        let seldom = if row % 20 == 0 { " 3:2" } else { "" };
        writeln!(text, "1 1:{row}{often}{seldom}").unwrap();
    }
    let source = TableSource::open(&[write_file("sparse", "mixed.svm", text)], &ReadSpec::default()).unwrap();
    let (table, _) = source.read(&ReadRequest::default()).unwrap();
    let is_sparse = |name: &str| matches!(table.get(name), Some(Cells::Numbers(Numbers::Sparse(_))));
    assert_eq!([is_sparse("x1"), is_sparse("x2"), is_sparse("x3"), is_sparse("target")], [false, false, true, false]);
}

#[test]
fn whatever_bytes_there_are_a_table_or_an_error_comes_of_them() {
    let files = [
        ("fuzz.npz", small("csr")),
        ("fuzz.svm", b"+1 qid:1 1:0.5 3:2 # first\n-1 qid:2 2:1e3\n".to_vec()),
        ("fuzz.mtx", b"%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 2 5\n3 1 7\n".to_vec()),
    ];
    let mut random = SplitMix64::new(23);
    for count in 0..300 {
        let (name, mut bytes) = files[count % 3].clone();
        for _ in 0..random.below(6) {
            let at = random.below(bytes.len());
            bytes[at] = random.bits() as u8;
        }
        if random.below(2) == 0 {
            bytes.truncate(random.below(bytes.len()));
        }
        let source = TableSource::open(&[write_file("sparse", name, bytes)], &ReadSpec::default());
        if let Ok((table, _)) = source.and_then(|source| source.read(&ReadRequest::default())) {
            assert!(table.columns().iter().all(|(_, cells)| cells.len() == table.rows()));
        }
    }
}

#[test]
fn a_sparse_file_is_read_whole_even_as_a_sample() {
    let text = "1 1:2 3:4\n".repeat(1000) + "#" + &"x".repeat(17 << 20) + "\n";
    let (path, spec) = (write_file("sparse", "long.svm", text), ReadSpec::default());
    let source = TableSource::open_within(&[path], &spec, Budget::new(u64::MAX), true).unwrap();
    let (table, profile) = source.read(&ReadRequest::default()).unwrap();
    assert_eq!((source.times(&profile), table.rows()), (1.0, 1000));
}
