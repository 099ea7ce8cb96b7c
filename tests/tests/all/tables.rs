//! One table, deformed as tables of people are: each form is read as a person would read it, or refused with what would
//! mend it.

use crate::common::Folder;
use serde_json::Value;
use vaglio_testkit::SplitMix64;

/// A table as text cells, its target last.
struct Sheet {
    names: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    fn new() -> Self {
        let mut random = SplitMix64::new(7);
        let rows = (0..60).map(|_| {
            let age = 20 + random.below(50);
            let bmi = f64::from(random.below(200) as u32 + 180) / 10.0;
            let income = 1000 + 7 * random.below(9000);
            let share = random.below(101);
            let sex = ["f", "m", "x"][random.below(3)];
            let y =
                0.5 * age as f64 + bmi - income as f64 / 1000.0 + if sex == "f" { 3.0 } else { 0.0 } + random.normal();
            vec![
                age.to_string(),
                format!("{bmi:.1}"),
                income.to_string(),
                share.to_string(),
                sex.to_owned(),
                format!("{:.3}", y),
            ]
        });
        Sheet { names: vec!["age", "bmi", "income", "share", "sex", "y"], rows: rows.collect() }
    }

    /// A copy with the cells of a column, or of all columns, changed.
    fn map(&self, column: Option<&str>, change: impl Fn(usize, &str) -> String) -> Sheet {
        let at = column.map(|name| self.names.iter().position(|other| *other == name).unwrap());
        let rows = self.rows.iter().enumerate().map(|(row, cells)| {
            let cells = cells.iter().enumerate();
            cells.map(|(k, cell)| if at.is_none_or(|at| at == k) { change(row, cell) } else { cell.clone() }).collect()
        });
        Sheet { names: self.names.clone(), rows: rows.collect() }
    }

    /// A copy with one more column.
    fn with(&self, name: &'static str, cell: impl Fn(usize) -> String) -> Sheet {
        let names = self.names.iter().copied().chain([name]).collect();
        let more = |(row, cells): (usize, &Vec<String>)| cells.iter().cloned().chain([cell(row)]).collect();
        Sheet { names, rows: self.rows.iter().enumerate().map(more).collect() }
    }

    fn text(&self, delimiter: &str) -> String {
        let mut text = self.names.join(delimiter) + "\n";
        for row in &self.rows {
            text += &(row.join(delimiter) + "\n");
        }
        text
    }

    /// Each cell at the right of so many characters.
    fn aligned(&self, width: usize) -> String {
        let line =
            |cells: &mut dyn Iterator<Item = &str>| cells.map(|cell| format!("{cell:>width$}")).collect::<String>();
        let mut text = line(&mut self.names.iter().copied()) + "\n";
        for row in &self.rows {
            text += &(line(&mut row.iter().map(String::as_str)) + "\n");
        }
        text
    }

    fn csv(&self) -> String {
        self.text(",")
    }
}

const DATA: &str = "train: train.csv, target: y";

fn pipeline(data: &str) -> String {
    format!(
        "version: 1\ndata: {{{data}}}\npreprocess: [one_hot]\nlearner: {{kind: rls, lambda: 0.5}}\n\
         search: {{kind: greedy, max_features: 4, choose: last}}\n"
    )
}

/// Chosen columns, with every digit of the scores.
fn chosen(result: &Value) -> Vec<(String, String)> {
    let steps = result["steps"].as_array().unwrap();
    steps.iter().map(|step| (step["name"].to_string(), step["score"].to_string())).collect()
}

/// Runs on a file of that name and content, in a folder of its own.
fn run(name: &str, content: impl AsRef<[u8]>, data: &str) -> Result<Value, (Option<i32>, String)> {
    let folder = Folder::new("table");
    folder.write(name, content);
    folder.write("p.yaml", pipeline(data));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet", "--json"]);
    match ran.code {
        Some(0) => Ok(serde_json::from_str(&ran.out).unwrap()),
        code => Err((code, ran.err)),
    }
}

fn grouped(cell: &str, mark: &str) -> String {
    match cell.len() {
        0..=3 => cell.to_owned(),
        long => format!("{}{mark}{}", &cell[..long - 3], &cell[long - 3..]),
    }
}

fn utf16(text: &str, mark: &[u8], bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    mark.iter().copied().chain(text.encode_utf16().flat_map(bytes)).collect()
}

#[test]
fn forms_of_one_table_give_one_result() {
    let sheet = Sheet::new();
    let clean = chosen(&run("train.csv", sheet.csv(), DATA).unwrap());
    assert_eq!(clean.len(), 4);
    let comma = sheet.map(None, |_, cell| cell.replace('.', ","));
    let quote = |cell: &str| format!("\"{cell}\"");
    let with_index = |first: &str, sheet: &Sheet| {
        let mut lines: Vec<String> = sheet.csv().lines().map(str::to_owned).collect();
        for (k, line) in lines.iter_mut().enumerate() {
            *line = if k == 0 { format!("{first}{line}") } else { format!("{},{line}", k - 1) };
        }
        lines.join("\n")
    };
    let csv = |sheet: &Sheet| sheet.csv().into_bytes();
    let cases: Vec<(&str, &str, Vec<u8>, &str)> = vec![
        ("line ends of Windows", "train.csv", sheet.csv().replace('\n', "\r\n").into(), DATA),
        ("a byte order mark", "train.csv", format!("\u{feff}{}", sheet.csv()).into(), DATA),
        ("semicolons", "train.csv", sheet.text(";").into(), DATA),
        ("tabs", "train.tsv", sheet.text("\t").into(), "train: train.tsv, target: y"),
        ("tabs in .csv", "train.csv", sheet.text("\t").into(), DATA),
        ("bars", "train.txt", sheet.text("|").into(), "train: train.txt, target: y"),
        ("decimal commas", "train.csv", comma.text(";").into(), DATA),
        (
            "decimal commas, said",
            "train.csv",
            comma.text(";").into(),
            "train: train.csv, target: y, read: {decimal: \",\"}",
        ),
        ("decimal commas in quotes", "train.csv", csv(&comma.map(None, |_, cell| quote(cell))), DATA),
        ("decimal commas between tabs", "train.tsv", comma.text("\t").into(), "train: train.tsv, target: y"),
        ("all in quotes", "train.csv", csv(&sheet.map(None, |_, cell| quote(cell))), DATA),
        ("blanks", "train.csv", csv(&sheet.map(None, |_, cell| format!("  {cell} "))), DATA),
        ("an index without a name", "train.csv", with_index(",", &sheet).into(), DATA),
        ("names of rows as R writes them", "train.csv", with_index("", &sheet).into(), DATA),
        ("a delimiter at each end", "train.csv", sheet.csv().replace('\n', ",\n").into(), DATA),
        ("empty lines", "train.csv", format!("{}\n\n\n", sheet.csv()).into(), DATA),
        ("no line end", "train.csv", sheet.csv().trim_end().into(), DATA),
        ("UTF-16, little end first", "train.csv", utf16(&sheet.csv(), &[0xff, 0xfe], u16::to_le_bytes), DATA),
        ("UTF-16, big end first", "train.csv", utf16(&sheet.csv(), &[0xfe, 0xff], u16::to_be_bytes), DATA),
        (
            "UTF-16 without a mark, said",
            "train.csv",
            utf16(&sheet.csv(), &[], u16::to_le_bytes),
            "train: train.csv, target: y, read: {encoding: utf-16le}",
        ),
        (
            "comments, said",
            "train.csv",
            format!("# from the clinic\n{}# end\n", sheet.csv()).into(),
            "train: train.csv, target: y, read: {comment: \"#\"}",
        ),
        (
            "quotes of another kind, said",
            "train.csv",
            csv(&comma.map(None, |_, cell| format!("'{cell}'"))),
            "train: train.csv, target: y, read: {quote: \"'\"}",
        ),
        (
            "a delimiter that is said",
            "train.csv",
            sheet.text("~").into(),
            "train: train.csv, target: y, read: {delimiter: \"~\"}",
        ),
        ("thousands", "train.csv", csv(&sheet.map(Some("income"), |_, c| quote(&grouped(c, ",")))), DATA),
        (
            "thousands in currency",
            "train.csv",
            csv(&sheet.map(Some("income"), |_, c| quote(&format!("${}", grouped(c, ","))))),
            DATA,
        ),
        ("currency behind", "train.csv", csv(&sheet.map(Some("income"), |_, c| format!("{c} €"))), DATA),
        ("thousands with blanks", "train.csv", csv(&sheet.map(Some("income"), |_, c| grouped(c, " "))), DATA),
        (
            "thousands with no-break blanks",
            "train.csv",
            csv(&sheet.map(Some("income"), |_, c| grouped(c, "\u{a0}"))),
            DATA,
        ),
        ("thousands with apostrophes", "train.csv", csv(&sheet.map(Some("income"), |_, c| grouped(c, "'"))), DATA),
        (
            "thousands with points",
            "train.csv",
            comma.map(Some("income"), |_, c| grouped(c, ".")).text(";").into(),
            DATA,
        ),
        ("percent", "train.csv", csv(&sheet.map(Some("share"), |_, c| format!("{c}%"))), DATA),
        ("percent after a blank", "train.csv", csv(&sheet.map(Some("share"), |_, c| format!("{c} %"))), DATA),
        ("zeros behind", "train.csv", csv(&sheet.map(Some("bmi"), |_, c| format!("{c}00"))), DATA),
        (
            "zeros before all, which look like codes",
            "train.csv",
            csv(&sheet.map(Some("age"), |_, c| format!("0{c}"))),
            "train: train.csv, target: y, types: {age: number}",
        ),
        (
            "zeros before some",
            "train.csv",
            csv(&sheet.map(Some("age"), |row, c| if row % 2 == 0 { format!("0{c}") } else { c.to_owned() })),
            DATA,
        ),
        ("runs of blanks", "train.data", sheet.text("   ").into(), "train: train.data, target: y"),
        (
            "blanks and tabs",
            "train.txt",
            sheet.text(" \t ").into(),
            "train: train.txt, target: y, read: {delimiter: blanks}",
        ),
        (
            "fixed widths",
            "train.txt",
            sheet.aligned(9).into(),
            "train: train.txt, target: y, read: {widths: [9, 9, 9, 9, 9, 9]}",
        ),
        ("signs", "train.csv", csv(&sheet.map(Some("age"), |_, c| format!("+{c}"))), DATA),
        ("exponents", "train.csv", csv(&sheet.map(Some("age"), |_, c| format!("{c}e0"))), DATA),
        ("minus as printers have it", "train.csv", csv(&sheet.map(Some("y"), |_, c| c.replace('-', "\u{2212}"))), DATA),
        (
            "a column that is left out and would be refused",
            "train.csv",
            csv(&sheet.with("id", |row| format!("u{row}"))),
            "train: train.csv, target: y, exclude: [id]",
        ),
        (
            "the same by its type",
            "train.csv",
            csv(&sheet.with("id", |row| format!("u{row}"))),
            "train: train.csv, target: y, types: {id: drop}",
        ),
        ("a column without any value", "train.csv", csv(&sheet.with("none", |_| String::new())), DATA),
    ];
    for (what, name, content, data) in cases {
        let result = run(name, content, data).unwrap_or_else(|(code, err)| panic!("{what}: {code:?} {err}"));
        assert_eq!(chosen(&result), clean, "{what}");
    }
}

#[test]
fn forms_that_a_person_would_ask_about_are_refused_with_what_mends_them() {
    let sheet = Sheet::new();
    let set = |row: usize, column: &str, cell: &str| {
        sheet.map(Some(column), |k, old| if k + 1 == row { cell.to_owned() } else { old.to_owned() }).csv().into_bytes()
    };
    let cases: Vec<(&str, Vec<u8>, i32, Vec<&str>)> = vec![
        (
            "a bound",
            set(8, "bmi", ">40"),
            3,
            vec!["train.csv: row 8, column `bmi`: `>40` is not a number", "types: {bmi: text}"],
        ),
        ("a word", set(9, "bmi", "unknown"), 3, vec!["row 9, column `bmi`: `unknown`", "data.read.na"]),
        ("None", set(9, "age", "None"), 3, vec!["row 9, column `age`: `None`", "data.read.na"]),
        ("a word in the target", set(5, "y", "high"), 3, vec!["row 5, column `y`: `high` is not a number, and 59 of"]),
        (
            "an empty cell",
            set(3, "age", ""),
            3,
            vec!["train.csv: row 3, column `age`: an empty cell", "{kind: impute}"],
        ),
        ("NA", set(3, "bmi", "NA"), 3, vec!["row 3, column `bmi`: `NA`, which data.read.na takes", "{kind: impute}"]),
        ("an empty class", set(3, "sex", ""), 3, vec!["row 3, column `sex`", "{kind: impute}"]),
        (
            "an empty target",
            set(3, "y", "?"),
            3,
            vec!["row 3, column `y`: `?`, which data.read.na takes", "data.read.na_by_column: {\"y\": [\"\"]}"],
        ),
        ("an infinity", set(4, "bmi", "inf"), 3, vec!["row 4, column `bmi`: inf is not a finite number"]),
        ("one decimal comma", set(6, "bmi", "\"27,6\""), 3, vec!["row 6, column `bmi`: `27,6`", "data.read.decimal"]),
        ("one percent sign", set(6, "share", "95%"), 3, vec!["row 6, column `share`: `95%`"]),
        ("a letter for a digit", set(6, "age", "4O"), 3, vec!["row 6, column `age`: `4O`"]),
        (
            "zeros before all",
            sheet.map(Some("age"), |_, c| format!("0{c}")).csv().into(),
            2,
            vec!["the column `age` holds text", "or number, which drops the zeros it begins with"],
        ),
        ("a cell too many", set(6, "age", "41,2"), 3, vec!["line 7 (data row 6) has 7 cells and the header has 6"]),
        (
            "dates",
            sheet.map(Some("sex"), |k, _| format!("2024-01-{:02}", 1 + k % 28)).csv().into(),
            2,
            vec!["column `sex` holds dates", "date_parts"],
        ),
        (
            "dates of two readings",
            sheet.map(Some("sex"), |k, _| format!("{:02}/{:02}/2024", 1 + k % 12, 1 + k % 11)).csv().into(),
            3,
            vec!["column `sex`", "day_first or month_first", "types: {sex: text}"],
        ),
        (
            "identifiers",
            sheet.map(Some("sex"), |k, _| format!("u{k}")).csv().into(),
            2,
            vec!["the column `sex` holds another text in every row", "data.exclude", "types: {sex: class}"],
        ),
        (
            "too many levels",
            sheet.map(Some("sex"), |k, _| format!("u{}", k / 2)).csv().into(),
            2,
            vec!["the column `sex` holds text of too many levels", "30 levels in 60 rows"],
        ),
        (
            "a target of words",
            sheet.map(Some("y"), |k, _| format!("u{}", k / 2)).csv().into(),
            2,
            vec!["`data.target`", "30 levels in 60 rows", "multiclass"],
        ),
        ("a name twice", sheet.csv().replacen("bmi", "age", 1).into(), 3, vec!["the column name `age` stands twice"]),
        (
            "Latin-1",
            [sheet.csv().as_bytes(), b"1,2,3,4,\xe9,5\n"].concat(),
            3,
            vec!["line 62 (data row 61), column `sex`", "latin1"],
        ),
        ("UTF-16 without a mark", utf16(&sheet.csv(), &[], u16::to_le_bytes), 3, vec!["utf-16le"]),
        ("nothing", Vec::new(), 3, vec!["is empty"]),
        ("a header alone", b"age,y\n".to_vec(), 3, vec!["has a header and no rows"]),
        ("a spreadsheet", b"PK\x03\x04\x14\0".to_vec(), 3, vec!["spreadsheet", ".csv"]),
    ];
    for (what, content, code, words) in cases {
        let (found, err) = run("train.csv", content, DATA).expect_err(what);
        assert_eq!(found, Some(code), "{what}: {err}");
        for word in words {
            assert!(err.contains(word), "{what} lacks `{word}`: {err}");
        }
        assert!(err.len() < 700, "{what}: {err}");
    }
    let commas = sheet.map(None, |_, cell| cell.replace('.', ",")).text(";");
    let (code, err) = run("train.csv", commas, "train: train.csv, target: y, read: {decimal: \".\"}").unwrap_err();
    assert_eq!(code, Some(3));
    assert!(err.contains("column `bmi`") && err.contains("set data.read.decimal: \",\""), "{err}");
    let (code, err) =
        run("train.csv", sheet.csv(), "train: train.csv, target: y, types: {wieght: number}").unwrap_err();
    assert_eq!(code, Some(2), "{err}");
    let (code, err) = run("train.csv", sheet.csv(), "train: train.csv, target: y, types: {sex: number}").unwrap_err();
    assert_eq!(code, Some(3));
    assert!(err.contains("row 1, column `sex`"), "{err}");
}
