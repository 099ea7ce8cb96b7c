//! Cells, dialects of text, and how columns are stored.

use crate::write_file;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_core::{Cells, Column, Numbers, Result};
use vaglio_tables::read::{Hint, ReadRequest, TableSource, date_span, sort_levels};
use vaglio_tables::{DateOrder, Decimal, Delimiter, ReadSpec, TableProfile};

/// Writes a file whose name no other has.
fn write_next(name: &str, text: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    write_file("cells", &format!("{}-{name}", COUNT.fetch_add(1, Ordering::Relaxed)), text)
}

/// Reads the column `x` of files with a hint.
fn read_column_x(paths: &[PathBuf], spec: &ReadSpec, hint: Hint) -> Result<(Cells, TableProfile)> {
    let hints = [("x".to_owned(), hint)].into();
    let (mut table, profile) =
        TableSource::open(paths, spec)?.read(&ReadRequest { hints, ..ReadRequest::default() })?;
    Ok((table.take("x").unwrap(), profile))
}

/// Reads a file of one cell with a hint.
fn cell(cell: &str, spec: &ReadSpec, hint: Hint) -> Result<f64> {
    let path = write_next("cell.csv", &format!("x;y\n\"{cell}\";1\n"));
    let spec = ReadSpec { delimiter: Delimiter::Is(b';'), ..spec.clone() };
    Ok(match read_column_x(&[path], &spec, hint)?.0 {
        Cells::Numbers(numbers) => numbers.view().get(0),
        Cells::Dates(dates) => dates[0],
        Cells::Text(_) => panic!("{cell} is text"),
    })
}

#[test]
fn numbers_are_plain_dressed_or_missing() {
    let point = ReadSpec { decimal: Decimal::Point, ..ReadSpec::default() };
    for (text, value) in [
        ("12", 12.0),
        ("1e-3", 1e-3),
        ("+.5", 0.5),
        ("-0", -0.0),
        ("007", 7.0),
        ("5.", 5.0),
        ("$50,123", 50123.0),
        ("95%", 95.0),
        ("-$1,234.50", -1234.5),
        ("($1,234)", -1234.0),
        ("12 €", 12.0),
        ("1 234 567", 1_234_567.0),
        ("1'234.5", 1234.5),
    ] {
        assert_eq!(cell(text, &point, Hint::Number).unwrap().to_bits(), f64::to_bits(value), "{text}");
    }
    for text in ["", "NA", "na", "NaN", "nan", "NULL", "?", "-", "N/A"] {
        assert!(cell(text, &point, Hint::Number).unwrap().is_nan(), "{text}");
    }
    for text in [
        "inf",
        "1,5",
        "x",
        ">40",
        "None",
        "1e999",
        "1,23",
        "0,125",
        "012,345",
        "12,34,567",
        "$",
        "%",
        "1,2345",
        "(5)",
        "$-",
        "1 2",
    ] {
        assert!(cell(text, &point, Hint::Number).is_err(), "{text}");
    }
    let comma = ReadSpec { decimal: Decimal::Comma, ..ReadSpec::default() };
    assert_eq!(cell("27,6", &comma, Hint::Number).unwrap(), 27.6);
    assert_eq!(cell("1.234.567,8", &comma, Hint::Number).unwrap(), 1_234_567.8);
    assert!(cell("27.6", &comma, Hint::Number).is_err());
    // A number may stand for a missing cell.
    let own = ReadSpec { na: vec!["-999".into()], ..ReadSpec::default() };
    assert!(cell("-999.0", &own, Hint::Number).unwrap().is_nan());
    assert!(cell("NA", &own, Hint::Number).is_err());
}

#[test]
fn dates_are_seconds_since_1970() {
    let seconds = |text: &str| cell(text, &ReadSpec::default(), Hint::Date);
    for (text, value) in [
        ("1970-01-02", 86400.0),
        ("1970/01/02 01:00", 90000.0),
        ("1970-01-01T00:00:01.5Z", 1.5),
        ("1970-01-01T02:00:00+01:30", 1800.0),
        ("31.01.1970", 2_592_000.0),
        ("01/31/1970", 2_592_000.0),
        ("02-Jan-1970", 86400.0),
        ("Jan 2, 1970", 86400.0),
        ("2 January 1970 01:00", 90000.0),
    ] {
        assert_eq!(seconds(text).unwrap(), value, "{text}");
    }
    assert!(seconds("03/04/1970").unwrap_err().to_string().contains("may begin with the day or with the month"));
    for text in ["12", "1.5", "1-2", "13:05", "2024-13-01", "10-20-30-40", "a-b-c", "1.2.3"] {
        assert!(seconds(text).is_err(), "{text}");
    }
    assert_eq!(date_span("1970-01-02", DateOrder::Auto), Some([86400.0, 172_800.0]));
    assert_eq!(date_span("03/04/1970", DateOrder::Auto), None);
}

#[test]
fn numbers_ranges_and_bounds_are_in_order() {
    for (levels, expected) in [
        (&["10+", "5", "6", "<5"][..], Some(vec!["<5", "5", "6", "10+"])),
        (&["20-29", "30-39", "under 20", "40 or more"], Some(vec!["under 20", "20-29", "30-39", "40 or more"])),
        (&[">= 3", "1", "2"], Some(vec!["1", "2", ">= 3"])),
        (&["1", "2", "3"], None),
        (&["1", "2", "many"], None),
        (&["5+", "+5", "1"], None),
        (&["2024-01-31", "2024-02-29", "2024-03-31"], None),
        (&["<5", "5"], None),
    ] {
        let expected = expected.map(|all| all.into_iter().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(sort_levels(levels), expected, "{levels:?}");
    }
}

/// Delimiter that is detected in a text.
fn detect_delimiter(text: &str) -> char {
    let source = TableSource::open(&[write_next("dialect.txt", text)], &ReadSpec::default()).unwrap();
    match source.detected_settings().delimiter {
        Delimiter::Is(byte) => char::from(byte),
        _ => ' ',
    }
}

#[test]
fn the_delimiter_gives_all_rows_as_many_cells() {
    assert_eq!(detect_delimiter("a,b\n1,2\n"), ',');
    assert_eq!(detect_delimiter("a;b\n1,5;2,5\n"), ';');
    assert_eq!(detect_delimiter("a;b,c;d\n1,5;2,5;3\n2;3;4\n"), ';');
    assert_eq!(detect_delimiter("a\tb\n1\t2\n"), '\t');
    assert_eq!(detect_delimiter("a|b\n1|\"x,y\"\n"), '|');
    assert_eq!(detect_delimiter("\"a;b\",\"c;d\"\n1,2\n"), ',');
    assert_eq!(detect_delimiter("a\n1\n"), ',');
    assert_eq!(detect_delimiter("a,b,c\n1,2\n1,2,3\n"), ',');
    assert_eq!(detect_delimiter("x;y\n1;1;2\n2;3;4\n"), ';');
}

#[test]
fn blanks_part_cells_where_nothing_else_does() {
    assert_eq!(detect_delimiter("a b\n1 2\n"), ' ');
    assert_eq!(detect_delimiter("  a   b\n 10  2\n  1  20 \n"), ' ');
    assert_eq!(detect_delimiter("mpg name\n18.0\t\"a  b\"\n15.0\t\"c\"\n"), ' ');
    assert_eq!(detect_delimiter("\"x\" \"y\"\n\"1\" 5 6\n\"2\" 7 8\n"), ' ');
    assert_eq!(detect_delimiter("a b c\n1 2 3\n1 2\n4 5 6\n"), ' ');
    assert_eq!(detect_delimiter("x y\n1,5 2,5\n"), ' ');
    assert_eq!(detect_delimiter("a b,c d\n1,2\n"), ',');
    assert_eq!(detect_delimiter("first name\tlast name\nA B\tC D\n"), '\t');
    assert_eq!(detect_delimiter("a\nNew York\nLos Angeles\n"), ',');
    assert_eq!(detect_delimiter("a\tb\n\t2\n1\t\n"), '\t');
}

/// Names and cells of a text with these settings, all as text.
fn read_text(text: &str, spec: &ReadSpec) -> Result<Vec<String>> {
    let source = TableSource::open(&[write_next("layout.txt", text)], spec)?;
    let hints = source.names().iter().map(|name| (name.clone(), Hint::Written)).collect();
    let (table, _) = source.read(&ReadRequest { hints, ..ReadRequest::default() })?;
    let row = |row: usize| table.columns().iter().map(|(_, cells)| cells.label(row)).collect::<Vec<_>>().join("|");
    Ok([table.names().collect::<Vec<_>>().join("|")].into_iter().chain((0..table.rows()).map(row)).collect())
}

#[test]
fn runs_of_blanks_are_tabs() {
    let spec = ReadSpec { delimiter: Delimiter::Blanks, comment: Some('#'), ..ReadSpec::default() };
    let rows = |text: &str| read_text(text, &spec).unwrap();
    assert_eq!(rows("a b  c\n  1.0 \t 2\t3\t\r\n\n 3   4 5 "), ["a|b|c", "1.0|2|3", "3|4|5"]);
    assert_eq!(rows("\"x  y\" \"say \"\"a  b\"\"\"\n1 5'10\"\n"), ["x  y|say \"a  b\"", "1|5'10\""]);
    assert_eq!(rows("# a  b\na b\n  # c  d\n1  #2"), ["a|b", "1|#2"]);
    assert_eq!(rows("é  ü\n1 2\n\"open  x\" 3\n"), ["é|ü", "1|2", "open  x|3"]);
}

#[test]
fn lines_are_cut_by_characters() {
    let spec = ReadSpec { widths: Some(vec![2, 4, 3]), comment: Some('#'), ..ReadSpec::default() };
    let rows = |text: &str| read_text(text, &spec).unwrap();
    assert_eq!(rows("a b   c\n 1  2 3\r\n"), ["a|b|c", "1|2|3"]);
    assert_eq!(rows("ééüüüüab\n1\n\n#x  y\n"), ["éé|üüüü|ab", "1||"]);
    assert_eq!(rows("a b   c\na b\"\"c d"), ["a|b|c", "a|b\"\"c|d"]);
    assert_eq!(rows("a b   c\nabcdefghi  \n"), ["a|b|c", "ab|cdef|ghi"]);
    let error = read_text("a b   c\nabcdefghij\n", &spec).unwrap_err().to_string();
    assert!(error.ends_with("line 2 has 10 characters and data.read.widths take 9; give the widths of all columns"));
}

/// Files of one column each, with a second column so that no line is blank.
fn parts(cells: &[&[&str]]) -> Vec<PathBuf> {
    let part = |(at, cells): (usize, &&[&str])| {
        let rows: String = cells.iter().map(|cell| format!("{cell},0\n")).collect();
        write_next(&format!("part{at}.csv"), &format!("x,y\n{rows}"))
    };
    cells.iter().enumerate().map(part).collect()
}

#[test]
fn columns_are_stored_as_their_values_alone_say() {
    for values in [&["0", "255"][..], &["0", "256"], &["1", "-0"], &["3", "0.5", "7"], &["-1", "2"]] {
        for cut in 1..values.len() {
            let files = parts(&[&values[..cut], &values[cut..]]);
            let (found, _) = read_column_x(&files, &ReadSpec::default(), Hint::Number).unwrap();
            let expected = Numbers::from(values.iter().map(|value| value.parse().unwrap()).collect::<Vec<f64>>());
            match (found.numbers().unwrap(), expected.view()) {
                (Column::Byte(a), Column::Byte(b)) => assert_eq!(a, b),
                (Column::Double(a), Column::Double(b)) => {
                    assert!(a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()));
                }
                (found, expected) => panic!("{found:?} for {expected:?}"),
            }
        }
    }
}

#[test]
fn cells_of_several_files_keep_their_rows() {
    let files = parts(&[&["1", "3"], &["NA", "2", "4", ""]]);
    let (found, profile) = read_column_x(&files, &ReadSpec::default(), Hint::Auto).unwrap();
    let column = profile.column("x").unwrap();
    assert_eq!((found.len(), column.missing, &column.first_missing), (6, 2, &Some((2, "NA".into()))));
    let files = parts(&[&["1", "x"], &["NA", "2", ">3", ""]]);
    let (found, _) = read_column_x(&files, &ReadSpec::default(), Hint::Auto).unwrap();
    let labels: Vec<String> = (0..6).map(|row| found.label(row)).collect();
    assert_eq!(labels, ["1", "x", "", "2", ">3", ""]);
}
