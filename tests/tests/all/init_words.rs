//! `vaglio init`: words for missing cells that are values, and the names of columns and files in what it writes.

use crate::common::Folder;
use vaglio_testkit::SplitMix64;

/// `init` with these options: the pipeline, what was said, and the record of its run.
fn drafted(folder: &Folder, table: &str, options: &[&str]) -> (String, String, serde_json::Value) {
    let ran = folder.vaglio(&[&["init", table, "--out", "p.yaml", "--force"], options].concat());
    let text = folder.read("p.yaml");
    assert_eq!(ran.code, Some(0), "{}\n{text}", ran.err);
    let done = folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet"]);
    assert_eq!(done.code, Some(0), "{}\n{text}", done.err);
    (text, ran.err, folder.json("out/selection.json"))
}

fn table(header: &str, rows: usize, mut row: impl FnMut(usize, &mut SplitMix64) -> String) -> String {
    let mut random = SplitMix64::new(11);
    (0..rows).fold(format!("{header}\n"), |text, at| text + &row(at, &mut random) + "\n")
}

#[track_caller]
fn has(text: &str, words: &[&str]) {
    words.iter().for_each(|words| assert!(text.contains(words), "lacks {words}:\n{text}"));
}

/// Candidates of the search.
fn candidates(done: &serde_json::Value) -> Vec<&str> {
    done["candidates"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

#[test]
fn a_level_that_is_a_word_for_missing_cells_stays_a_level() {
    let folder = Folder::new("init_levels");
    // Signs beside each other, a country among codes, a class of its own, and numbers whose missing cells are written alike.
    let row = |at: usize, random: &mut SplitMix64| {
        let (sign, country) = (["+", "0", "-"][at % 3], ["NA", "BW", "ZA", "AO"][at % 4]);
        let (answer, x) = (["Y", "NA"][at % 2], if at % 20 == 7 { "NA".into() } else { random.normal().to_string() });
        let z = if at % 25 == 3 { "-".into() } else { random.normal().to_string() };
        format!("{sign},{country},{answer},{x},{z},{}", at as f64 * 0.01 + random.normal())
    };
    folder.write("t.csv", table("sign,country,answer,x,z,y", 90, row));
    let (text, told, done) = drafted(&folder, "t.csv", &["--target", "y"]);
    let candidates = candidates(&done);
    for name in ["sign=-", "sign=+", "country=NA", "x", "z"] {
        assert!(candidates.contains(&name), "{name}: {candidates:?}");
    }
    assert!(candidates.iter().any(|name| name.starts_with("answer=")), "{candidates:?}");
    let words = [
        "missing in x: `NA` in 5 cells",
        "missing in z: `-` in 4 cells",
        "sign: taken as a value: `-` in 30 cells; if not, see data.read.na_by_column",
        "country: taken as a value: `NA` in 23 cells",
        "answer: taken as a value: `NA` in 45 cells",
    ];
    has(&told, &words);
    has(&text, &["# missing in x: `NA` in 5 cells", "country: [\"\", \"N/A\"", "# taken as a value: `NA` in 23 cells"]);
    // As targets they lose no class.
    let (_, _, done) = drafted(&folder, "t.csv", &["--target", "sign"]);
    assert_eq!(done["data"]["classes"], serde_json::json!(["+", "-", "0"]), "{}", done["data"]);
    assert!(done["data"].get("left_out").is_none_or(|rows| rows.as_array().is_none_or(Vec::is_empty)), "{done}");
    let (_, told, _) = drafted(&folder, "t.csv", &["--target", "answer"]);
    assert!(!told.contains("without a target"), "{told}");
    // A word that is missing among numbers is so in text that looks like no level of its own.
    let row = |at: usize, random: &mut SplitMix64| {
        let grade = if at % 10 == 4 { "NA" } else { ["low", "high"][at % 2] };
        let x = if at % 9 == 2 { "NA".into() } else { random.normal().to_string() };
        format!("{grade},{x},{}", random.normal())
    };
    folder.write("r.csv", table("grade,x,y", 60, row));
    let (text, told, _) = drafted(&folder, "r.csv", &["--target", "y"]);
    has(&told, &["missing in grade: `NA` in 6 cells", "missing in x: `NA` in 7 cells"]);
    has(&text, &["{kind: impute, how: most_frequent}"]);
    assert!(!text.contains("na_by_column"), "{text}");
}

#[test]
fn flags_of_a_number_and_a_sign_are_classes() {
    let folder = Folder::new("init_flags");
    for (share, name) in [(2, "even.csv"), (9, "rare.csv")] {
        let row = |at: usize, random: &mut SplitMix64| {
            format!("{},{}", if at.is_multiple_of(share) { "-" } else { "1" }, random.normal())
        };
        folder.write(name, table("flag,y", 60, row));
        let (text, _, done) = drafted(&folder, name, &["--target", "y"]);
        assert_eq!(candidates(&done).len(), 1, "{text}");
        has(&text, &["`-` in"]);
    }
}

#[test]
fn a_word_among_numbers_is_missing_in_its_own_column_alone() {
    let folder = Folder::new("init_words");
    let row = |at: usize, random: &mut SplitMix64| {
        let grade = match at % 40 {
            7 => "other".to_owned(),
            9 => "none".to_owned(),
            _ => (5 + random.below(8)).to_string(),
        };
        let region = ["north", "south", "other"][at % 3];
        format!("{grade},{region},{}", random.normal() + if at % 3 == 2 { 3.0 } else { 0.0 })
    };
    folder.write("t.csv", table("grade,region,y", 240, row));
    let (text, told, done) = drafted(&folder, "t.csv", &["--target", "y"]);
    has(&told, &["missing in grade: `other` in 6 cells, `none` in 6 cells"]);
    has(&text, &["grade: [\"\", \"NA\"", "\"other\", \"none\"]"]);
    assert!(candidates(&done).contains(&"region=other"), "{text}");
    assert!(!text.contains("most_frequent"), "{text}");
    // The last line is a sum.
    let mut sums = table("x,y", 40, |_, random| format!("{},{}", random.normal(), random.normal()));
    sums += "Total,3.5\n";
    folder.write("sums.csv", sums);
    let (text, told, _) = drafted(&folder, "sums.csv", &["--target", "y"]);
    has(&told, &["missing in x: `Total` in row 41", "the last row looks like a sum"]);
    has(&text, &["# missing in x: `Total` in row 41"]);
}

#[test]
fn messages_on_missing_cells_name_the_words_and_what_to_do() {
    let folder = Folder::new("missing_words");
    let row = |at: usize, random: &mut SplitMix64| {
        let (group, class) = (if at == 4 { "NA" } else { ["a", "b", "c"][at % 3] }, ["+", "-"][at % 2]);
        let (weight, x) = (if at == 6 { "" } else { "1" }, random.normal());
        format!("{group},{class},{weight},{x},{}", random.normal())
    };
    folder.write("t.csv", table("g,class,w,x,y", 30, row));
    let run = |data: &str| {
        folder.write("p.yaml", format!("version: 1\ndata: {{train: t.csv, {data}}}\ncriterion: loo\nsearch: all\n"));
        let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet"]);
        assert!(ran.code == Some(3) && !ran.err.contains("is not a finite number"), "{:?} {}", ran.code, ran.err);
        ran.err
    };
    has(
        &run("target: y, groups: g, exclude: [class, w]"),
        &[
            "row 5, column `g`: `NA`, which data.read.na takes for a missing cell (1 such cell in this column); each row needs one",
            "if it is a value, set data.read.na_by_column: {g: [\"\"]}",
        ],
    );
    has(
        &run("target: class, exclude: [g, w]"),
        &[
            "row 2, column `class`: `-`, which",
            "data.missing_target: drop; if it is a value, set data.read.na_by_column",
        ],
    );
    has(
        &run("target: y, weights: w, exclude: [g, class]"),
        &["row 7, column `w`: an empty cell (1 such cell", "data.read.na"],
    );
    // The remedy that is named is one.
    folder.write(
        "p.yaml",
        "version: 1\ndata: {train: t.csv, target: class, exclude: [g, w], read: {na_by_column: {class: [\"\"]}}}\ncriterion: loo\nsearch: all\n",
    );
    folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet"]).succeeded();
    // What predicts has no pipeline to change.
    for (cell, words) in [("-", "row 2, column `x`: `-`, which data.read.na"), ("nan", "row 2, column `x`: nan")] {
        folder.write("new.csv", format!("x,y\n0.5,1\n{cell},2\n"));
        let predicted = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv"]);
        assert_eq!(predicted.code, Some(3));
        has(&predicted.err, &[words, "fill it in, or leave the row out"]);
        assert!(!predicted.err.contains("preprocess"), "{}", predicted.err);
    }
    folder.write("p.yaml", "version: 1\ndata: {train: t.csv, target: y, read: {na_by_column: {clas: [\"\"]}}}\n");
    has(
        &folder.vaglio(&["run", "p.yaml"]).err,
        &["`data.read.na_by_column`: there is no column `clas`; did you mean `class`?"],
    );
}

#[test]
fn names_with_blanks_and_quotes_are_written_as_they_are() {
    let folder = Folder::new("init_names_quoted");
    let text = table("column's,y", 30, |at, random| {
        format!("{},{}", if at == 3 { "odd".into() } else { random.normal().to_string() }, random.normal())
    });
    folder.write("it's my table.csv", text);
    let ran = folder.vaglio(&["init", "it's my table.csv", "--target", "y"]);
    assert!(ran.err.ends_with("next: vaglio run 'it'\\''s my table.yaml'\n"), "{}", ran.err);
    let text = folder.read("it's my table.yaml");
    has(&text, &["# missing in column's: `odd` in row 4"]);
    assert!(!text.contains("\\'"), "{text}");
    let next = ran.err.lines().find_map(|line| line.strip_prefix("next: vaglio ")).unwrap();
    let command = format!("'{}' {next} --quiet --out out", env!("CARGO_BIN_EXE_vaglio-under-test"));
    let shell = std::process::Command::new("sh").args(["-c", &command]).current_dir(folder.path("")).status().unwrap();
    assert!(shell.success());
}

#[test]
fn a_file_without_a_header_and_columns_without_values_are_told_without_log_lines() {
    let folder = Folder::new("init_header");
    let rows = table("0.606,5.1,a", 40, |at, random| {
        format!("{},{},{}", random.normal(), random.normal(), ["a", "b"][at % 2])
    });
    folder.write("t.csv", &rows);
    let ran = folder.vaglio(&["init", "t.csv"]);
    has(&ran.err, &["the file seems to have none"]);
    folder.write(
        "e.csv",
        table("row,x,empty,y", 40, |at, random| format!("{at},{},,{}", random.normal(), random.normal()))
            .replacen("row", "", 1),
    );
    let (_, told, done) = drafted(&folder, "e.csv", &["--target", "y"]);
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "again"]);
    for said in [&told, &ran.err] {
        assert!(!said.contains("WARN"), "{said}");
    }
    let warnings = done["warnings"].to_string();
    assert!(warnings.contains("`empty` (no row has a value)"), "{warnings}");
}

#[test]
fn ordered_answers_and_columns_of_units_are_offered() {
    let folder = Folder::new("init_ordered");
    let row = |at: usize, random: &mut SplitMix64| {
        let sleep = ["<5", "5", "6", "7", "8", "9", "10+", "7", "6", "8"][random.below(10)];
        let (school, x) = (100 + at / 6, random.normal());
        let of_school = |k: usize| ((school * 7919 + k * 31) % 17) as f64 / 3.0;
        format!("{sleep},{school},{},{},{},{x},{}", of_school(1), of_school(2), of_school(3), x + random.normal())
    };
    folder.write("t.csv", table("sleep,school,a,b,c,x,y", 120, row));
    let (text, told, done) = drafted(&folder, "t.csv", &["--target", "y"]);
    has(
        &text,
        &[
            "{kind: ordinal, order: {sleep: [\"<5\", \"5\", \"6\", \"7\", \"8\", \"9\", \"10+\"]}}",
            "types: {sleep: class}",
        ],
    );
    assert!(candidates(&done).contains(&"sleep"), "{done}");
    has(&text, &["  # groups: school"]);
    has(&told, &["3 columns are constant within each of the 20 values of school", "--groups school"]);
    folder.write("p.yaml", "version: 1\ndata: {train: t.csv, target: y}\n");
    has(&folder.vaglio(&["run", "p.yaml"]).err, &["{kind: ordinal, order: {sleep: […]}}"]);
}
