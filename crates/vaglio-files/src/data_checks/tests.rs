use super::*;
use linfa::ParamGuard;
use std::path::{Path, PathBuf};
use vaglio_pipeline::Pipeline;
use vaglio_pipeline::learners::Rls;
use vaglio_search::Greedy;
use vaglio_tables::ReadSpec;
use vaglio_tables::budget::Budget;
use vaglio_tables::read::{ReadRequest, TableSource};
use vaglio_testkit::SplitMix64;
use vaglio_validate::Loo;

/// Settings of a pipeline with some `data` settings.
fn settings_with(settings: serde_json::Value) -> DataSettings<'static> {
    let mut data = serde_json::json!({"train": "x.csv", "target": "y"});
    data.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    let mut pipeline = Pipeline::new(Loo::default(), Greedy::default(), Rls::default()).check().unwrap();
    pipeline.data = serde_json::from_value(data).unwrap();
    DataSettings::new(&pipeline, Path::new(""), false).unwrap()
}

/// CSV text of these columns.
fn csv(rows: usize, columns: &[(&str, &dyn Fn(usize) -> String)]) -> String {
    let mut text = columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(",") + "\n";
    for row in 0..rows {
        text += &(columns.iter().map(|(_, cell)| cell(row)).collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

/// Warnings for training and test tables with some `data` settings.
fn found_with(name: &str, settings: serde_json::Value, train: &str, test: Option<&str>) -> Vec<Warning> {
    let folder = std::env::temp_dir().join(format!("vaglio-findings-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let read = |part: &str, text: &str| {
        let path: PathBuf = folder.join(format!("{name}-{part}.csv"));
        std::fs::write(&path, text).unwrap();
        TableSource::open(&[path], &ReadSpec::default()).unwrap().read(&ReadRequest::default()).unwrap()
    };
    let settings = DataSettings { budget: Budget::new(u64::MAX), ..settings_with(settings) };
    let (table, profile) = read("train", train);
    let test = test.map(|text| read("test", text).0);
    check_data(&settings, &RawTable { table, profile, ..RawTable::default() }, test.as_ref())
}

fn find_warnings(name: &str, train: &str) -> Vec<Warning> {
    found_with(name, serde_json::json!({}), train, None)
}

fn only(warnings: &[Warning], kind: WarningKind) -> &str {
    assert_eq!(warnings.iter().map(|warning| warning.kind).collect::<Vec<_>>(), [kind], "{warnings:?}");
    &warnings[0].message
}

fn nothing(warnings: &[Warning]) {
    assert!(warnings.is_empty(), "{warnings:?}");
}

fn noise(rows: usize, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    (0..rows).map(|_| random.normal()).collect()
}

#[test]
fn a_column_that_is_the_target_is_told() {
    let (y, x, e) = (noise(80, 1), noise(80, 2), noise(80, 3));
    let check = |scale: f64| {
        let copy = |row: usize| (3.0 - 2.0 * y[row] + scale * e[row]).to_string();
        find_warnings("copy", &csv(80, &[("x", &|r| x[r].to_string()), ("copy", &copy), ("y", &|r| y[r].to_string())]))
    };
    let message =
        "`copy` gives the target away (R² 1.0000); leave it out by `data.exclude` if it is not known when predicting";
    assert_eq!(only(&check(0.0), WarningKind::TargetGivenAway), message);
    assert!(only(&check(0.02), WarningKind::TargetGivenAway).contains("(R² 0.9999)"));
    nothing(&check(0.2));
}

#[test]
fn two_columns_whose_sum_is_the_target_are_told() {
    let (a, b, x) = (noise(3000, 1), noise(3000, 2), noise(3000, 3));
    let text = |more: f64| {
        let y = |row: usize| (a[row] - 0.3 * b[row] + more * x[row]).to_string();
        let columns: [(&str, &dyn Fn(usize) -> String); 4] = [
            ("casual", &|r| b[r].to_string()),
            ("x", &|r| x[r].to_string()),
            ("registered", &|r| a[r].to_string()),
            ("y", &y),
        ];
        csv(3000, &columns)
    };
    let warnings = find_warnings("pair", &text(0.0));
    let message = only(&warnings, WarningKind::TargetGivenAway);
    assert!(
        message.starts_with("`casual` and `registered` together give the target away (R² 1.0000); leave"),
        "{message}"
    );
    nothing(&find_warnings("pair", &text(0.1)));
    // Two that differ little, and the target their difference.
    let y = |row: usize| ((a[row] + 0.01 * b[row]) - a[row]).to_string();
    let columns: [(&str, &dyn Fn(usize) -> String); 4] = [
        ("p", &|r| (a[r] + 0.01 * b[r]).to_string()),
        ("x", &|r| x[r].to_string()),
        ("q", &|r| a[r].to_string()),
        ("y", &y),
    ];
    assert!(
        only(&find_warnings("difference", &csv(3000, &columns)), WarningKind::TargetGivenAway)
            .starts_with("`p` and `q` together")
    );
}

#[test]
fn one_row_far_out_gives_nothing_away() {
    let (y, e) = (noise(100, 1), noise(100, 2));
    let far = |row: usize, value: f64| if row == 7 { 1e6 } else { value };
    let text = csv(100, &[("x", &|r| far(r, e[r]).to_string()), ("y", &|r| far(r, y[r]).to_string())]);
    nothing(&find_warnings("far", &text));
}

#[test]
fn classes_are_given_away_by_thresholds_and_levels() {
    let x = noise(120, 4);
    let class = |row: usize| ["no", "yes", "perhaps"][row % 3].to_owned();
    let check = |cell: &dyn Fn(usize) -> String| {
        find_warnings("classes", &csv(120, &[("x", &|r| x[r].to_string()), ("c", cell), ("y", &class)]))
    };
    let threshold = check(&|row| ((row % 3) as f64 + (row % 7) as f64 / 10.0).to_string());
    assert!(
        only(&threshold, WarningKind::TargetGivenAway)
            .starts_with("`c` gives the target away (2 thresholds separate the classes)")
    );
    let levels = check(&|row| format!("code{}", row % 12));
    assert!(only(&levels, WarningKind::TargetGivenAway).contains("(each of its 12 levels has one class)"));
    let values = check(&|row| (row % 12).to_string());
    assert!(only(&values, WarningKind::TargetGivenAway).contains("(each of its 12 values has one class)"));
    nothing(&check(&|row| if row == 5 { "code0".into() } else { format!("code{}", row % 12) }));
    // A level of its own for every row says nothing, nor does a threshold beside which few rows lie.
    nothing(&check(&|row| format!("row {row}")));
    let rare = |row: usize| if row < 3 { "yes" } else { "no" }.to_owned();
    let text = csv(60, &[("x", &|r| (if r < 3 { 9.5 } else { x[r] }).to_string()), ("y", &rare)]);
    nothing(&find_warnings("rare", &text));
}

#[test]
fn levels_with_a_target_each_are_told() {
    let text = csv(60, &[("town", &|r| format!("t{}", r % 12)), ("y", &|r| ((r % 12) as f64).sqrt().to_string())]);
    let warnings = find_warnings("levels", &text);
    assert!(
        warnings[0].message.starts_with("`town` gives the target away (R² 1.0000 by its 12 levels)"),
        "{warnings:?}"
    );
}

#[test]
fn identifiers_in_the_order_of_the_target_are_told() {
    let e = noise(100, 5);
    let check = |settings: serde_json::Value, noise: f64| {
        let y = |row: usize| ((row * row) as f64 + noise * e[row]).to_string();
        found_with("order", settings, &csv(100, &[("nr", &|r| (1000 + r).to_string()), ("y", &y)]), None)
    };
    let warnings = check(serde_json::json!({}), 300.0);
    assert!(
        only(&warnings, WarningKind::IdentifierInOrder)
            .contains(") numbers the rows in the order of the target; leave it out by `data.exclude`")
    );
    nothing(&check(serde_json::json!({}), 1e5));
    nothing(&check(serde_json::json!({"time": "nr"}), 300.0));
}

#[test]
fn copies_agree_in_all_columns_not_in_the_first() {
    // Every second column is 0 in nearly all rows.
    let cell = |row: usize, column: usize| {
        if column % 2 == 1 && row % 50 != column { 0.0 } else { (row * 97 % 61) as f64 + column as f64 / 7.0 }
    };
    let line = |row: usize, last: usize| {
        let cells: Vec<String> =
            (0..70).map(|column| if column == 69 { last as f64 } else { cell(row, column) }.to_string()).collect();
        cells.join(",") + "\n"
    };
    let names: Vec<String> = (0..69).map(|column| format!("c{column}")).chain(["y".into()]).collect();
    let mut text = names.join(",") + "\n" + &(0..60).map(|row| line(row, row)).collect::<String>();
    // 5 and 8 but for the last column, and 3, 3 and 40 whole.
    text += &[(5, 6), (8, 9), (3, 3), (3, 3), (40, 40)].map(|(row, last)| line(row, last)).concat();
    let warnings = find_warnings("late", &text);
    assert!(only(&warnings, WarningKind::CopiedRows).starts_with("3 of 65 training rows are exact copies of others"));
    let test = names.join(",") + "\n" + &[(5, 6), (5, 7), (8, 9), (9, 9)].map(|(row, last)| line(row, last)).concat();
    let known = found_with("late", serde_json::json!({"test": "t.csv"}), &text, Some(&test));
    let words = "3 of 4 test rows are exact copies of training rows";
    assert!(known.iter().any(|warning| warning.message.starts_with(words)), "{known:?}");
}

#[test]
fn copies_are_counted_where_rows_differ_by_chance() {
    let columns: Vec<Vec<f64>> = (0..4).map(|k| noise(60, k)).collect();
    let row = |row: usize| columns.iter().map(|c| c[row].to_string()).collect::<Vec<_>>().join(",") + "\n";
    let text = |rows: &[usize]| "a,b,c,y\n".to_owned() + &rows.iter().map(|r| row(*r)).collect::<String>();
    let rows: Vec<usize> = (0..40).chain([3, 3, 9]).collect();
    let warnings = find_warnings("copies", &text(&rows));
    assert!(only(&warnings, WarningKind::CopiedRows).starts_with("3 of 43 training rows are exact copies of others"));
    let rows: Vec<usize> = (0..40).collect();
    let known = found_with("known", serde_json::json!({"test": "t.csv"}), &text(&rows), Some(&text(&[7, 50, 8, 51])));
    assert!(
        only(&known, WarningKind::TestRowsInTraining).starts_with("2 of 4 test rows are exact copies of training rows")
    );
    // The column that names the test rows is not of the row.
    let parted = |rows: &[usize], part: &str| {
        let lines: Vec<String> = text(rows).lines().skip(1).map(|line| format!("{part},{line}\n")).collect();
        "part,a,b,c,y\n".to_owned() + &lines.concat()
    };
    let settings = serde_json::json!({"test_rows": {"column": "part", "is": "new"}});
    let known = found_with("parted", settings, &parted(&rows, "old"), Some(&parted(&[7, 50], "new")));
    assert!(only(&known, WarningKind::TestRowsInTraining).ends_with("take them out of the file"), "{known:?}");
    let coarse =
        csv(60, &[("a", &|r| (r % 3).to_string()), ("b", &|r| (r % 2).to_string()), ("y", &|r| (r % 5).to_string())]);
    nothing(&find_warnings("coarse", &coarse));
}

#[test]
fn copies_beyond_memory_are_not_counted() {
    let table = Table::new(vec![("y".into(), Cells::Dates(vec![0.0; 1000]))]).unwrap();
    let settings = DataSettings { budget: Budget::new(1000), ..settings_with(serde_json::json!({})) };
    let warnings = copies::copies(&Profile::new(&settings, &RawTable { table, ..RawTable::default() }, None));
    assert!(only(&warnings, WarningKind::CopiesNotCounted).starts_with("copies of rows were not searched for: "));
}

#[test]
fn groups_on_both_sides_are_named() {
    let (x, y) = (noise(40, 1), noise(40, 2));
    let rows_from = |first: usize, rows: usize| {
        csv(
            rows,
            &[
                ("g", &|r| format!("g{}", first + r % 8)),
                ("x", &|r| x[r + first].to_string()),
                ("y", &|r| y[r + first].to_string()),
            ],
        )
    };
    let settings = serde_json::json!({"groups": "g", "test": "t.csv"});
    let warnings = found_with("groups", settings.clone(), &rows_from(0, 30), Some(&rows_from(6, 16)));
    let message = only(&warnings, WarningKind::GroupsOnBothSides);
    assert!(message.starts_with("2 groups have rows in training and in test (`g6` and `g7` of `g`)"), "{message}");
    nothing(&found_with("groups", settings, &rows_from(0, 30), Some(&rows_from(8, 16))));
}

#[test]
fn codes_of_missing_cells_are_told() {
    let (x, y) = (noise(50, 1), noise(50, 2));
    let check = |code: &str, times: usize| {
        let age = |row: usize| if row < times { code.to_owned() } else { (20.0 + x[row]).to_string() };
        find_warnings("codes", &csv(50, &[("age", &age), ("y", &|r| y[r].to_string())]))
    };
    for code in ["-9", "-99", "-999", "-9999", "999", "9999"] {
        let warnings = check(code, 3);
        let message = only(&warnings, WarningKind::MissingCodes);
        let expected = format!("{code} in 3 rows of `age` lie far from all other values; if they are codes");
        assert!(message.starts_with(&expected), "{message}");
        assert!(
            message
                .contains(&format!("set data.read.na: [\"\", NA, \"N/A\", NaN, \"null\", \"?\", \"-\", \"{code}\"] ("))
        );
    }
    nothing(&check("-999", 1));
    nothing(&check("-998", 3));
    let wide = |row: usize| if row < 3 { "999".to_owned() } else { (20 * row).to_string() };
    nothing(&find_warnings("wide", &csv(50, &[("n", &wide), ("y", &|r| y[r].to_string())])));
}

#[test]
fn levels_that_differ_by_case_or_blanks_are_told() {
    let y = noise(40, 2);
    let check = |words: &[&str]| {
        find_warnings("alike", &csv(40, &[("w", &|r| words[r % words.len()].to_owned()), ("y", &|r| y[r].to_string())]))
    };
    let warnings = check(&["yes", "No", "Yes", "no"]);
    let message = only(&warnings, WarningKind::LevelsAlike);
    assert!(
        message.starts_with("levels differ only by case or blanks: `No` and `no` of `w`, and `Yes` and `yes` of `w`")
            || message
                .starts_with("levels differ only by case or blanks: `No` and `no` of `w` and `Yes` and `yes` of `w`"),
        "{message}"
    );
    assert!(
        only(&check(&["New  York", "New York", "Boston"]), WarningKind::LevelsAlike)
            .contains("`New  York` and `New York` of `w`")
    );
    nothing(&check(&["yes", "no", "yesno"]));
}

#[test]
fn leading_zeros_are_told() {
    let y = noise(40, 2);
    let text = csv(40, &[("zip", &|r| format!("0{}", 7000 + r % 4)), ("y", &|r| y[r].to_string())]);
    let message = "`zip` is read as text, since zeros begin some cells; `data.types: {zip: number}` reads numbers";
    assert_eq!(only(&find_warnings("zeros", &text), WarningKind::LeadingZeros), message);
}

#[test]
fn a_target_in_few_rows_is_told_and_chance_is_not() {
    let table = |rows: usize, columns: usize, seed: u64| {
        let all: Vec<Vec<f64>> = (0..=columns as u64).map(|column| noise(rows, 100 * seed + column)).collect();
        let cell = |column: usize, row: usize| format!("{:.3}", all[column][row]);
        let names: Vec<String> = (0..columns).map(|column| format!("x{column}")).collect();
        let mut text = names.join(",") + ",y\n";
        for row in 0..rows {
            text += &((0..=columns).map(|column| cell(column, row)).collect::<Vec<_>>().join(",") + "\n");
        }
        text
    };
    for rows in [3, 4, 8, 9] {
        let y = |row: usize| ["2", "3", "5", "9", "1", "0", "7", "4", "8"][row].to_owned();
        let copied = find_warnings("few", &csv(rows, &[("x", &y), ("z", &|r| (r * r % 5).to_string()), ("y", &y)]));
        assert!(only(&copied, WarningKind::TargetGivenAway).starts_with("`x` gives the target away"), "{copied:?}");
        for seed in 0..20 {
            nothing(&find_warnings("chance", &table(rows, 30, seed)));
        }
    }
}

#[test]
fn rounded_sums_are_told_and_strong_models_of_many_columns_are_not() {
    let (a, b) = (noise(400, 5), noise(400, 6));
    let e = noise(400, 7);
    // Miles in town and on the road, and their mean in whole miles: R² is 0.998.
    let cell = |value: f64| format!("{}", value.round());
    let (town, road) = (|r: usize| 20.0 + 8.0 * a[r], |r: usize| 28.0 + 8.0 * a[r] + 6.0 * b[r]);
    let both = find_warnings(
        "rounded",
        &csv(
            400,
            &[
                ("x", &|r| e[r].to_string()),
                ("town", &|r| cell(town(r))),
                ("road", &|r| cell(road(r))),
                ("y", &|r| cell(0.55 * town(r) + 0.45 * road(r))),
            ],
        ),
    );
    assert!(
        only(&both, WarningKind::TargetGivenAway)
            .starts_with("`town` and `road` together give the target away (R² 0.99")
    );
    // Six columns that explain as much together.
    let columns: Vec<Vec<f64>> = (0..6).map(|k| noise(400, 20 + k)).collect();
    let y = |r: usize| (columns.iter().map(|x| x[r]).sum::<f64>() + 0.15 * e[r]).to_string();
    let names = ["a", "b", "c", "d", "e", "f"];
    let cells: Vec<Box<dyn Fn(usize) -> String>> =
        columns.iter().map(|x| Box::new(|r: usize| x[r].to_string()) as Box<dyn Fn(usize) -> String>).collect();
    let mut all: Vec<(&str, &dyn Fn(usize) -> String)> =
        names.iter().zip(&cells).map(|(name, cell)| (*name, &**cell)).collect();
    all.push(("y", &y));
    nothing(&find_warnings("many", &csv(400, &all)));
}
