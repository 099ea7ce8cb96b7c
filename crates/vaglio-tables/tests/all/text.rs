//! Text files.

use crate::{create_folder, write_file};
use std::path::Path;
use vaglio_core::{Result, Table};
use vaglio_tables::read::{DAY_FIRST, Hint, LEADING_ZEROS, ReadRequest, TableSource, read_table};
use vaglio_tables::{Decimal, Delimiter, ReadSpec, TableProfile};
use vaglio_testkit::SplitMix64;

fn csv(name: &str, content: impl AsRef<[u8]>) -> std::path::PathBuf {
    write_file("csv", &format!("{name}.csv"), content)
}

/// Reads a file with hints for its columns.
fn read_as(path: &Path, spec: &ReadSpec, hints: &[(&str, Hint)]) -> Result<(Table, TableProfile)> {
    let hints = hints.iter().map(|(name, hint)| ((*name).to_owned(), *hint)).collect();
    TableSource::open(&[path.to_owned()], spec)?.read(&ReadRequest { hints, ..ReadRequest::default() })
}

fn read(path: &Path) -> Table {
    read_table(path, &ReadRequest::default()).unwrap()
}

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    table.get(name).unwrap().numbers().unwrap().values().into_owned()
}

fn labels(table: &Table, name: &str) -> Vec<String> {
    let cells = table.get(name).unwrap();
    (0..cells.len()).map(|row| cells.label(row)).collect()
}

fn message(path: &Path) -> String {
    let error = read_table(path, &ReadRequest::default()).unwrap_err().to_string();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    error.split_once(&format!("{name}: ")).map_or(error.clone(), |(_, rest)| rest.to_owned())
}

fn read_text(name: &str, content: impl AsRef<[u8]>) -> String {
    message(&csv(name, content))
}

#[test]
fn what_is_no_data_file_is_refused_in_words() {
    let folder = create_folder("formats");
    let said = |path: &Path| read_table(path, &ReadRequest::default()).unwrap_err().to_string();
    assert!(said(&folder).ends_with("is a folder; name a file, or its files as `folder/*.parquet`"));
    assert!(said(&folder.join("x.csv")).ends_with("x.csv: there is no such file"));
    assert!(said(&folder.join("*.csv")).ends_with("no file fits the pattern"));
    std::fs::write(folder.join("x.json"), "[]\n").unwrap();
    assert!(said(&folder.join("x.json")).contains("data are read from .csv, .tsv, .txt, .data, .parquet"));
    std::fs::write(folder.join("x.xlsx"), b"PK\x03\x04rest").unwrap();
    assert!(said(&folder.join("x.xlsx")).ends_with("save the table as .csv"));
    std::fs::write(folder.join("X.CSV"), "a\n1\n").unwrap();
    assert_eq!(TableSource::open(&[folder.join("X.CSV")], &ReadSpec::default()).unwrap().names(), ["a"]);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn formats_that_are_not_built_in_say_so() {
    let folder = create_folder("without");
    std::fs::write(folder.join("x.parquet"), "").unwrap();
    assert!(message(&folder.join("x.parquet")).contains("built without Parquet"));
}

#[test]
fn columns_are_numbers_or_text() {
    let text = "\u{feff}a, b ,c,d\r\n1, x ,\"1,5\",+1e-3\r\n 2,3,y,.5\r\n\r\n";
    let table = read(&csv("kinds", text));
    assert_eq!(table.names().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    assert_eq!(table.rows(), 2);
    assert_eq!(numbers(&table, "a"), [1.0, 2.0]);
    assert_eq!(numbers(&table, "d"), [1e-3, 0.5]);
    assert_eq!(labels(&table, "b"), ["x", "3"]);
    assert_eq!(labels(&table, "c"), ["1,5", "y"]);
}

#[test]
fn columns_that_are_not_wanted_are_not_checked() {
    let path = csv("lazy", "a,b,c\n1,inf,\n2,3,\n3,x,\n4,5,\n5,6,\n");
    let table = read_table(&path, &ReadRequest::only(["a", "z"])).unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["a"]);
    let table = read_table(&path, &ReadRequest::except(["b", "c"])).unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["a"]);
    assert!(read_table(&path, &ReadRequest::default()).is_err());
}

#[test]
fn cells_stay_as_they_are_written_where_that_is_asked_for() {
    let path = csv("written", "id,b\n007,1\n NA,2\n1e5,3\n");
    let (table, _) = read_as(&path, &ReadSpec::default(), &[("id", Hint::Written)]).unwrap();
    assert_eq!(labels(&table, "id"), ["007", " NA", "1e5"]);
    let (table, _) = read_as(&path, &ReadSpec::default(), &[("id", Hint::Class)]).unwrap();
    assert_eq!(labels(&table, "id"), ["007", "", "1e5"]);
}

#[test]
fn missing_cells_are_kept_and_infinities_refused() {
    for cell in ["", "NA", "na", "NaN", "?", "null", "N/A", "-"] {
        let (table, profile) =
            read_as(&csv("missing", format!("a,b,c\n1,2,x\n3,{cell},{cell}\n5,{cell},y\n")), &ReadSpec::default(), &[])
                .unwrap();
        assert_eq!(table.get("b").unwrap().missing(), Some((1, 2)), "{cell}");
        assert_eq!(table.get("c").unwrap().missing(), Some((1, 1)), "{cell}");
        assert_eq!(profile.column("b").unwrap().first_missing, Some((1, cell.to_owned())));
        assert_eq!(profile.column("a").unwrap().missing, 0);
    }
    for cell in ["-inf", "Infinity", "1e400"] {
        let found = read_text("infinite", format!("a,b\n1,2\n3,{cell}\n5,{cell}\n"));
        assert_eq!(found, format!("row 2, column `b`: {cell} is not a finite number (2 such values in this column)"));
    }
}

#[test]
fn a_few_words_among_numbers_are_bad_cells() {
    let rows: String =
        (0..40).map(|k| format!("{k},{}\n", if k == 7 { ">40".into() } else { k.to_string() })).collect();
    assert_eq!(
        read_text("bad", format!("a,BMI\n{rows}")),
        "row 8, column `BMI`: `>40` is not a number, and 39 of the column's 40 cells are (1 such cell); correct it, set \
         data.read.na: [\"\", NA, \"N/A\", NaN, \"null\", \"?\", \"-\", \">40\"] if it is a missing cell (the list replaces the \
         default one), or set data.types: {BMI: text}; ordered answers are read with data.types: \
         {BMI: class} and {kind: ordinal, order: {BMI: […]}} in preprocess"
    );
    let own = ReadSpec { na_by_column: [("b".into(), vec!["none".into()])].into(), ..ReadSpec::default() };
    let found = read_as(&csv("own", "a,b\n1,2\n2,none\n3,4\n4,5\n5,odd\n"), &own, &[]).unwrap_err().to_string();
    assert!(found.contains("set data.read.na_by_column: {b: [none, odd]} if"), "{found}");
    // Also if the first of them comes after the rows used for inference.
    let rows: String =
        (0..5000).map(|k| format!("{k},{}\n", if k == 4000 { "high".into() } else { k.to_string() })).collect();
    let found = read_text("late", format!("a,b\n{rows}"));
    assert!(found.starts_with("row 4001, column `b`: `high` is not a number, and 4999 of"), "{found}");
    let path = csv("late", format!("a,b\n{rows}"));
    let (table, _) = read_as(&path, &ReadSpec::default(), &[("b", Hint::Text)]).unwrap();
    assert_eq!(labels(&table, "b")[4000], "high");
    // A text column may start with numbers.
    let rows: String =
        (0..5000).map(|k| format!("{},1\n", if k > 300 { format!("u{k}") } else { k.to_string() })).collect();
    let table = read(&csv("late_text", format!("a,b\n{rows}")));
    assert_eq!(labels(&table, "a")[299..302], ["299", "300", "u301"]);
    // Labels may be any text.
    let (table, _) =
        read_as(&csv("label", "a,b\n1,2\n2,3\n3,4\nx,5\n"), &ReadSpec::default(), &[("a", Hint::Label)]).unwrap();
    assert_eq!(labels(&table, "a"), ["1", "2", "3", "x"]);
}

#[test]
fn decimal_commas_thousands_percent_and_currencies_are_numbers() {
    let table = read(&csv("comma", "a;b;c\n1,5;1.234,5;x\n2,25;-3;y\n"));
    assert_eq!(numbers(&table, "a"), [1.5, 2.25]);
    assert_eq!(numbers(&table, "b"), [1234.5, -3.0]);
    let table = read(&csv("quoted", "a,b\n\"1,5\",3\n\"2,25\",4\n"));
    assert_eq!(numbers(&table, "a"), [1.5, 2.25]);
    let (table, profile) = read_as(
        &csv("money", "pay,pct,big\n\"$50,123\",95%,\"1,000\"\n$7,5%,\"2,000,000\"\n"),
        &ReadSpec::default(),
        &[],
    )
    .unwrap();
    assert_eq!(numbers(&table, "pay"), [50123.0, 7.0]);
    assert_eq!(numbers(&table, "pct"), [95.0, 5.0]);
    assert_eq!(numbers(&table, "big"), [1000.0, 2e6]);
    assert_eq!(profile.column("pay").unwrap().note.as_deref(), Some("$, thousands apart"));
    // Next to decimal points, a comma alone is no decimal mark.
    let found = read_text("mixed", "a;b\n1.5;1,5\n2.5;2,5\n3;3.5\n");
    assert!(
        found.starts_with("row 1, column `b`: `1,5` is a number only if `,` stands before decimals (2 such"),
        "{found}"
    );
    let point = ReadSpec { decimal: Decimal::Point, ..ReadSpec::default() };
    let found = read_as(&csv("quoted", "a,b\n\"1,5\",3\n\"2,25\",4\n"), &point, &[]).unwrap_err().to_string();
    assert!(found.contains("row 1, column `a`: `1,5`") && found.ends_with("set data.read.decimal: \",\""), "{found}");
    let found = read_text("slip", "a\n95%\n90%\n80%\n0.7\n");
    assert!(found.starts_with("row 4, column `a`: `0.7` is not") || found.contains("95%"), "{found}");
}

#[test]
fn dates_and_words_for_truth_are_known() {
    let (table, profile) = read_as(
        &csv("dates", "d,u,t\n2023-01-01,31/01/2023,True\n2023-01-02 12:00,01/02/2023,false\n,02/02/2023,TRUE\n"),
        &ReadSpec::default(),
        &[],
    )
    .unwrap();
    assert_eq!(labels(&table, "d"), ["2023-01-01", "2023-01-02T12:00:00", ""]);
    assert_eq!(labels(&table, "u"), ["2023-01-31", "2023-02-01", "2023-02-02"]);
    assert_eq!(profile.column("u").unwrap().note.as_deref(), Some(DAY_FIRST));
    assert_eq!(numbers(&table, "t"), [1.0, 0.0, 1.0]);
    let (table, _) = read_as(&csv("truth", "t\nTrue\nFalse\n"), &ReadSpec::default(), &[("t", Hint::Target)]).unwrap();
    assert_eq!(labels(&table, "t"), ["true", "false"]);
    let found = read_text("either", "d,y\n01/02/2023,1\n03/04/2023,2\n");
    assert!(found.contains("`01/02/2023` may begin with the day or with the month"), "{found}");
    assert!(found.contains("data.read.dates: day_first"), "{found}");
    let found = read_text("slip_of_date", "d,y\n2023-01-01,1\n2023-01-02,2\n2023-01-03,2\n2023-13-04,4\n");
    assert!(
        found.starts_with("row 4, column `d`: `2023-13-04` is not a date as 3 of the column's 4 cells are"),
        "{found}"
    );
}

#[test]
fn columns_without_a_name_are_left_out_or_named() {
    let path = csv("index", ",a,b\n0,5,x\n1,6,y\n2,7,x\n");
    let source = TableSource::open(std::slice::from_ref(&path), &ReadSpec::default()).unwrap();
    assert_eq!(source.names(), ["index", "a", "b"]);
    assert_eq!(source.aside().len(), 1);
    assert_eq!(read(&path).names().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(read_table(&path, &ReadRequest::only(["index"])).unwrap().names().collect::<Vec<_>>(), ["index"]);
    // R's row names: a first column without a header.
    let table = read(&write_file("csv", "rows.txt", "\"a\"\t\"b\"\n\"r1\"\t1\t2\n\"r2\"\t3\t4\n"));
    assert_eq!(table.names().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(numbers(&table, "b"), [2.0, 4.0]);
    // A delimiter at the end of each line.
    assert_eq!(read(&csv("trailing", "a,b,\n1,2,\n3,4,\n")).names().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(read(&csv("unnamed", "a,\n1,7\n3,7\n")).names().collect::<Vec<_>>(), ["a", "column_2"]);
}

#[test]
fn encodings_quotes_and_comments_are_read_or_refused_with_a_remedy() {
    let latin = b"caf\xe9,b\n1,2\n";
    let found = message(&csv("latin_header", latin));
    assert_eq!(
        found,
        "line 1: the text is not UTF-8; if it is Latin-1, set data.read.encoding: latin1, or convert the file to UTF-8"
    );
    let spec = ReadSpec { encoding: "latin1".into(), ..ReadSpec::default() };
    let (table, _) = read_as(&csv("latin_header", latin), &spec, &[]).unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["café", "b"]);
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let marked = [&[0xff, 0xfe][..], &wide("a,b\n1,é\n")].concat();
    assert_eq!(labels(&read(&csv("wide", marked)), "b"), ["é"]);
    assert!(read_text("unmarked", wide("a,b\n1,\u{e9}\n")).contains("utf-16le"));
    let zero = "line 2 (data row 1), column `b`: a NUL byte, which no text holds; the file is damaged or no table";
    assert_eq!(read_text("zero", "a,b\n1,x\0y\n"), zero);
    let spec = ReadSpec { encoding: "klingon".into(), ..ReadSpec::default() };
    let error = read_as(&csv("latin_header", latin), &spec, &[]).unwrap_err();
    assert_eq!(error.field(), Some("data.read.encoding"));
    let spec = ReadSpec { quote: '\'', comment: Some('#'), ..ReadSpec::default() };
    let (table, _) = read_as(&csv("quotes", "# by hand\na,b\n'x, y',1\n#,\n'z',2\n"), &spec, &[]).unwrap();
    assert_eq!(labels(&table, "a"), ["x, y", "z"]);
}

#[test]
fn files_that_are_no_table_are_refused_in_words() {
    assert_eq!(read_text("ragged", "a,b\n\"1\n\",2\n3\n"), "line 4 (data row 2) has 1 cells and the header has 2");
    assert_eq!(read_text("wide", "a,b\r\n1,2\r\n1,2,3\r\n"), "line 3 (data row 2) has 3 cells and the header has 2");
    assert_eq!(read_text("gap", "a,b\n1,2\n\n\n3\n"), "line 5 (data row 2) has 1 cells and the header has 2");
    assert_eq!(read_text("empty", ""), "is empty; expected a header and rows");
    assert_eq!(read_text("blank", "\n\n"), "is empty; expected a header and rows");
    assert_eq!(read_text("header", "a,b\n"), "has a header and no rows");
    assert_eq!(read_text("twice", "a,b,a \n1,2,3\n"), "the column name `a` stands twice");
    assert!(
        read_text("latin", b"a,b\n1,2\n3,\xe9\n").starts_with("line 3 (data row 2), column `b`: the text is not UTF-8")
    );
    assert!(read_text("first", b"a,b\n1,\xe9\n").starts_with("line 2 (data row 1), column `b`: the text is not UTF-8"));
}

#[test]
fn parts_are_read_side_by_side_as_one() {
    let rows: String = (0..200_000).map(|k| format!("{k},{},w{}\n", k % 256, k % 7)).collect();
    let path = csv("large", format!("a,b,c\n{rows}"));
    let table = read(&path);
    assert_eq!(table.rows(), 200_000);
    assert!(numbers(&table, "a").iter().enumerate().all(|(row, v)| *v == row as f64));
    assert!(labels(&table, "c").iter().enumerate().all(|(row, v)| *v == format!("w{}", row % 7)));
    let found = read_text("large_bad", format!("a,b,c\n{rows}1,2\n"));
    assert_eq!(found, "line 200002 (data row 200001) has 2 cells and the header has 3");
}

#[test]
fn several_files_are_one_table() {
    let folder = create_folder("parts");
    for (name, text) in [("1.csv", "a,b\n1,x\n"), ("2.csv", "b,a\ny,2\n")] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let table = read(&folder.join("*.csv"));
    assert_eq!((numbers(&table, "a"), labels(&table, "b")), (vec![1.0, 2.0], vec!["x".into(), "y".into()]));
    let hive = create_folder("hive");
    for (year, value) in [("2020", "1"), ("2021", "2")] {
        let part = hive.join(format!("year={year}/g=k"));
        std::fs::create_dir_all(&part).unwrap();
        std::fs::write(part.join("part.csv"), format!("a\n{value}\n{value}\n")).unwrap();
    }
    let table = read(&hive);
    assert_eq!(table.names().collect::<Vec<_>>(), ["a", "year", "g"]);
    assert_eq!(numbers(&table, "year"), [2020.0, 2020.0, 2021.0, 2021.0]);
    std::fs::write(folder.join("3.csv"), "a,c\n1,2\n").unwrap();
    let error = read_table(&folder.join("*.csv"), &ReadRequest::default()).unwrap_err().to_string();
    assert!(error.contains("3.csv: has no column `b`"), "{error}");
}

#[test]
fn doubles_are_read_exactly() {
    let mut random = SplitMix64::new(19);
    let values: Vec<f64> = (0..4000).map(|_| f64::from_bits(random.bits())).filter(|x| x.is_finite()).collect();
    let text = values.iter().map(f64::to_string).collect::<Vec<_>>().join("\n");
    for (decimal, name) in [(Decimal::Point, "exact"), (Decimal::Comma, "exact_comma")] {
        let text = if decimal == Decimal::Comma { text.replace('.', ",") } else { text.clone() };
        let path = csv(name, format!("x\n{text}\n"));
        let spec = ReadSpec { decimal, delimiter: Delimiter::Is(b';'), ..ReadSpec::default() };
        let (table, _) = read_as(&path, &spec, &[]).unwrap();
        assert!(numbers(&table, "x").iter().zip(&values).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}

#[test]
fn runs_of_blanks_and_fixed_widths_are_tables() {
    let auto = "mpg  weight name\n18.0   3504.  \"chevrolet  malibu\"\n\n 9.0\t  4732.\t\"hi 1200d\"\n";
    let table = read(&write_file("csv", "auto.data", auto));
    assert_eq!(numbers(&table, "weight"), [3504.0, 4732.0]);
    assert_eq!(labels(&table, "name"), ["chevrolet  malibu", "hi 1200d"]);
    let written_by_r = "\"x\" \"y\"\n\"Alabama\" 1.5 2\n\"Alaska\" 3 4\n";
    let path = write_file("csv", "r.txt", written_by_r);
    let source = TableSource::open(&[path], &ReadSpec::default()).unwrap();
    assert_eq!(source.names(), ["index", "x", "y"]);
    assert_eq!(source.detected_settings().delimiter, Delimiter::Blanks);
    let (table, _) = source.read(&ReadRequest::default()).unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(source.digest().unwrap(), format!("blake3:{}", blake3::hash(written_by_r.as_bytes())));

    let error = message(&write_file("csv", "ragged.data", "a  b\n\n1   2\n3\n4 5\n6 7\n8 9\n"));
    assert_eq!(error, "line 4 (data row 2) has 1 cells and the header has 2");

    let spec = ReadSpec { widths: Some(vec![3, 5, 2]), ..ReadSpec::default() };
    let path = write_file("csv", "fixed.txt", "id code v\n 1 ab c 1\n12 \"\n");
    let (table, profile) = read_as(&path, &spec, &[]).unwrap();
    assert_eq!(numbers(&table, "id"), [1.0, 12.0]);
    assert_eq!(labels(&table, "code"), ["ab c", "\""]);
    assert_eq!(profile.column("v").unwrap().missing, 1);
    let path = write_file("csv", "long.txt", "id code v\n 1 ab c 1\n 1 ab c 123\n");
    let error = read_as(&path, &spec, &[]).unwrap_err().to_string();
    assert!(error.ends_with("line 3 has 11 characters and data.read.widths take 10; give the widths of all columns"));
}

#[test]
fn codes_with_leading_zeros_stay_text() {
    let text = "zip,n,of,both\n07030,05,1,08\n10001,5,02,NA\n00501,007,3,12\n";
    let path = csv("zeros", text);
    let (table, profile) = read_as(&path, &ReadSpec::default(), &[]).unwrap();
    assert_eq!(labels(&table, "zip"), ["07030", "10001", "00501"]);
    assert_eq!(labels(&table, "both"), ["08", "", "12"]);
    let note = |name: &str| profile.column(name).unwrap().note.as_deref();
    assert_eq!(
        [note("zip"), note("both"), note("n"), note("of")],
        [Some(LEADING_ZEROS), Some(LEADING_ZEROS), None, None]
    );
    assert_eq!(numbers(&table, "n"), [5.0, 5.0, 7.0]);
    assert_eq!(numbers(&table, "of"), [1.0, 2.0, 3.0]);
    for hint in [Hint::Number, Hint::Target, Hint::Label] {
        let (table, _) = read_as(&path, &ReadSpec::default(), &[("zip", hint)]).unwrap();
        assert_eq!(numbers(&table, "zip"), [7030.0, 10001.0, 501.0]);
    }
    // The leading zero may come after the rows used for inference, or in another file.
    let late = "zip\n".to_owned() + &"10001\n".repeat(300) + "07030\n";
    assert_eq!(labels(&read(&csv("zeros_late", late)), "zip")[300], "07030");
}
