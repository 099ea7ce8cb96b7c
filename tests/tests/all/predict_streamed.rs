//! Predictions of files some rows at a time, and where they are written.

use crate::common::{Folder, pipeline, pipeline_on, side, table, third};
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use vaglio::core::Cells;
use vaglio::files::{FileModel, PredictOptions};
use vaglio::pipeline::SavedModel;
use vaglio_tables::read::{ReadRequest, read_table};

const MAPS: &str = "preprocess:\n- date_parts\n- {kind: impute, how: most_frequent, columns: [city]}\n\
                    - {kind: impute, indicator: true}\n- {kind: one_hot, rare: 3}\n- standardize\n";

/// Rows of numbers with gaps, percentages, truth values, cities, dates and text.
fn rows(count: usize) -> String {
    let gappy = |row: usize, y: f64| if row % 7 == 3 { "NA".into() } else { format!("{:.3}", y * y) };
    let share = |row: usize, y: f64| if row % 5 == 1 { String::new() } else { format!("{:.1}%", 3.0 * y) };
    let truth = |row: usize, _: f64| if row.is_multiple_of(3) { "true".into() } else { "false".into() };
    let city = |row: usize, y: f64| match row % 11 {
        4 => String::new(),
        _ => third(row, y).replace('a', "\"Bath, new\""),
    };
    let date = |row: usize, _: f64| match row % 13 {
        5 => String::new(),
        _ => format!("2024-{:02}-{:02}", row % 12 + 1, row % 28 + 1),
    };
    let note = |row: usize, _: f64| format!(" n{row:04} ");
    let extra: [crate::common::Made<'_>; 8] = [
        ("gappy", &gappy),
        ("share", &share),
        ("truth", &truth),
        ("city", &city),
        ("date", &date),
        ("note", &note),
        ("two", &side),
        ("three", &third),
    ];
    table(count, 4, &extra)
}

/// A run for a target on such rows, that takes every column.
fn made(name: &str, target: &str, lines: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", rows(90));
    folder.write("new.csv", rows(120));
    let yaml = format!("{MAPS}search: {{kind: all, choose: best}}\nlearner: {{kind: rls, lambda: 0.1}}\n{lines}");
    folder.run(&pipeline_on(target, &["y", "two", "three", "note"], &yaml));
    folder
}

/// The predictions as CSV with batches of so many rows, how many batches there were, and the figures.
fn streamed(model: &SavedModel, data: &Path, beside: &PredictOptions, rows: usize) -> (String, usize, Option<String>) {
    let (mut text, mut batches) = (String::new(), 0);
    let figures = FileModel(model).predict_in_batches(data, beside, rows, &mut |predictions| {
        text += &predictions.to_csv(batches == 0)?;
        batches += 1;
        Ok(ControlFlow::Continue(()))
    });
    (text, batches, figures.unwrap())
}

fn kept(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn predictions_are_the_same_bits_whatever_the_number_of_rows_at_a_time() {
    for (target, lines) in [("y", "evaluate: {intervals: 0.8, nested: {folds: 3}}"), ("two", ""), ("three", "")] {
        let folder = made("streamed", target, lines);
        let model = SavedModel::read(&folder.path("out/model.json")).unwrap();
        let data = folder.path("new.csv");
        let numbers = target == "y";
        let beside = PredictOptions {
            keep: kept(&["note", "gappy", "x1", target]),
            evaluate: true,
            probabilities: !numbers,
            intervals: numbers,
            ..PredictOptions::default()
        };
        for beside in [PredictOptions::default(), beside] {
            let whole = FileModel(&model).predict_file(&data, &beside).unwrap();
            for (rows, count) in [(1, 120), (7, 18), (60, 2), (119, 2), (120, 1), (100_000, 1)] {
                let (text, batches, figures) = streamed(&model, &data, &beside, rows);
                assert_eq!(batches, count);
                assert_eq!(text, whole.to_csv(true).unwrap(), "{target}, {rows} rows at a time");
                assert_eq!(figures, whole.table());
            }
        }
        // A file that is written as Parquet says the same, row group by row group.
        let names = ["x0", "x1", "x2", "x3", "gappy", "share", "truth", "city", "date", target];
        let options: Vec<&str> = names.iter().flat_map(|name| ["--keep", *name]).collect();
        let ran = folder.predict(&[&options[..], &["--out", "new.parquet"]].concat());
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
        let plain = FileModel(&model).predict_file(&data, &PredictOptions::default()).unwrap().to_csv(true).unwrap();
        let beside = PredictOptions { evaluate: true, ..PredictOptions::default() };
        for rows in [1, 7, 100_000] {
            let (text, batches, figures) = streamed(&model, &folder.path("new.parquet"), &beside, rows);
            assert_eq!((text, batches), (plain.clone(), 120usize.div_ceil(rows)));
            assert_eq!(figures, FileModel(&model).predict_file(&data, &beside).unwrap().table());
        }
    }
}

#[test]
fn what_looks_at_other_rows_takes_all_at_once() {
    let folder = Folder::new("streamed-not");
    folder.write("train.csv", table(40, 3, &[]));
    for lines in [
        "preprocess: [{kind: window, lags: [0, 1]}]",
        "learner: knn\nsearch: {kind: greedy, max_features: 2, choose: last}",
    ] {
        folder.run(&pipeline(lines));
        let model = SavedModel::read(&folder.path("out/model.json")).unwrap();
        let data = folder.path("train.csv");
        let (text, batches, _) = streamed(&model, &data, &PredictOptions::default(), 7);
        assert_eq!(
            (text, batches),
            (FileModel(&model).predict_file(&data, &PredictOptions::default()).unwrap().to_csv(true).unwrap(), 1)
        );
    }
}

#[test]
fn what_is_wrong_is_told_with_its_row_in_the_file() {
    let folder = made("streamed-wrong", "y", "");
    let model = SavedModel::read(&folder.path("out/model.json")).unwrap();
    let data = folder.read("new.csv");
    let line = |row: usize| data.lines().nth(row).unwrap().to_owned();
    let with = |row: usize, line: &str| {
        let mut lines: Vec<&str> = data.lines().collect();
        lines[row] = line;
        lines.join("\n") + "\n"
    };
    let cell = |row: usize, column: &str, value: &str| {
        let at = data.lines().next().unwrap().split(',').position(|name| name == column).unwrap();
        let line = line(row).replace(", new", "");
        let mut cells: Vec<&str> = line.split(',').collect();
        cells[at] = value;
        with(row, &cells.join(","))
    };
    let cases = [
        (cell(100, "x1", "many"), "row 100, column `x1`: `many` is not a number"),
        (cell(101, "x1", "1e999"), "row 101, column `x1`"),
        (
            cell(102, "share", "5"),
            "row 102, column `share`: `5` is written otherwise than the training rows, which have a percent sign",
        ),
        (cell(103, "truth", "1"), "row 103, column `truth`: `1` is neither true nor false"),
        (cell(104, "date", "01/02/2024"), "row 104, column `date`: `01/02/2024` is not a date"),
        (with(105, "1,2"), "data row 105 has 2 cells and the header has 13"),
        (data.lines().next().unwrap().to_owned() + "\n", "has a header and no rows"),
    ];
    for (text, words) in cases {
        folder.write("bad.csv", &text);
        for rows in [1, 7, 1000] {
            let mut seen = 0;
            let done = FileModel(&model).predict_in_batches(
                &folder.path("bad.csv"),
                &PredictOptions::default(),
                rows,
                &mut |predictions| {
                    seen += predictions.rows.len();
                    Ok(ControlFlow::Continue(()))
                },
            );
            let error = done.unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("bad.csv"), "{words}: {error}");
            // Whole batches before the fault were predicted.
            assert!(seen.is_multiple_of(rows) && seen <= 105, "{seen}");
        }
        // The settings of the run are no remedy here.
        let whole = FileModel(&model)
            .predict_file(&folder.path("bad.csv"), &PredictOptions::default())
            .unwrap_err()
            .to_string();
        assert!(!whole.contains("data.read") && !whole.contains("data.types"), "{whole}");
    }
    // Without `impute` a gap is told by its row.
    let plain = Folder::new("streamed-gap");
    plain.write("train.csv", table(40, 3, &[]));
    plain.run(&pipeline("search: {kind: all, choose: best}"));
    let text = plain.read("train.csv");
    let row = text.lines().nth(30).unwrap();
    plain.write("bad.csv", text.replace(row, &format!(",{}", row.split_once(',').unwrap().1)));
    let model = SavedModel::read(&plain.path("out/model.json")).unwrap();
    let sink = &mut |_: &_| Ok(ControlFlow::Continue(()));
    let error = FileModel(&model)
        .predict_in_batches(&plain.path("bad.csv"), &PredictOptions::default(), 8, sink)
        .unwrap_err()
        .to_string();
    assert!(error.contains("row 30"), "{error}");
}

#[test]
fn columns_stand_in_any_order_the_target_may_lack_and_maps_have_their_rules() {
    let folder = made("streamed-any", "y", "");
    let plain = folder.predict(&[]).succeeded_silently();
    let data = folder.read("new.csv").replace("\"Bath, new\"", "Bath");
    // The target is the fifth column.
    let turned = |line: &str| {
        let mut cells: Vec<&str> = line.split(',').collect();
        assert!(!cells.remove(4).is_empty() && cells.len() == 12);
        cells.reverse();
        cells.join(",")
    };
    let text = data.lines().map(turned).collect::<Vec<_>>().join("\n").replace("Bath", "\"Bath, new\"");
    assert!(!text.lines().next().unwrap().split(',').any(|name| name == "y"));
    folder.write("new.csv", &text);
    let other = folder.predict(&[]);
    assert_eq!((other.code, other.err.as_str(), other.out), (Some(0), "", plain.out));
    // A city that the training rows lack has zeros, a gap its mean: each row has a finite prediction.
    folder.write("new.csv", text.replace("\"Bath, new\"", "Ulm").replace(",b,", ",,"));
    let other = folder.predict(&[]);
    assert_eq!((other.code, other.out.lines().count()), (Some(0), 121), "{}", other.err);
    folder.predict(&["--evaluate"]).refused(2, "there is no column `y`");
}

#[test]
fn parquet_has_the_columns_of_csv_with_their_types() {
    let folder = made("streamed-parquet", "two", "");
    let options = ["--keep", "note", "--keep", "gappy", "--keep", "date", "--keep", "city", "--proba"];
    let text = folder.predict(&options).out;
    let ran = folder.predict(&[&options[..], &["--out", "p.parquet"]].concat());
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    let found = read_table(&folder.path("p.parquet"), &ReadRequest::default()).unwrap();
    assert_eq!(found.names().collect::<Vec<_>>().join(","), text.lines().next().unwrap());
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(found.rows(), lines.len());
    for (name, cells) in found.columns() {
        let expected = match name.as_str() {
            "note" | "city" | "label" => "text",
            "date" => "dates",
            _ => "numbers",
        };
        assert_eq!(cells.what(), expected, "{name}");
    }
    for (row, line) in lines.iter().enumerate() {
        let line = line.replace("\"Bath, new\"", "Bath");
        for (cell, (name, cells)) in line.split(',').zip(found.columns()) {
            match cells {
                Cells::Numbers(numbers) if cell != "NA" => {
                    assert_eq!(cell.parse::<f64>().unwrap().to_bits(), numbers.view().get(row).to_bits(), "{name}");
                }
                cells => assert_eq!(cell.trim().replace("NA", ""), cells.label(row).replace(", new", ""), "{name}"),
            }
        }
    }
}

/// A run on two columns, and so many rows to predict.
fn large(name: &str, count: usize) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", table(30, 2, &[]));
    folder.run(&pipeline("search: {kind: all, choose: best}"));
    folder.write("new.csv", table(count, 2, &[]));
    folder
}

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let folder = large("destination", 70_000);
    let good = folder.predict(&["--out", "p.csv"]);
    assert_eq!((good.code, good.out.as_str(), good.err.as_str()), (Some(0), "", ""));
    let first = folder.read("p.csv");
    assert_eq!(first.lines().count(), 70_001);
    folder.write("new.csv", folder.read("new.csv") + "1,x,2\n");
    for out in ["p.csv", "p.parquet"] {
        folder.predict(&["--out", out]).refused(3, "row 70001, column `x1`: `x` is not a number");
    }
    assert_eq!(folder.read("p.csv"), first);
    assert!(!folder.path("p.parquet").exists());
    let left = std::fs::read_dir(folder.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().ends_with(".part")));
    let folder_as_file = folder.predict(&["--out", "out"]);
    assert_eq!(folder_as_file.code, Some(3), "{}", folder_as_file.err);
}

#[test]
fn files_are_taken_apart_as_if_they_were_read_as_a_whole() {
    let folder = large("dialects", 300);
    let plain = folder.read("new.csv");
    let expected = folder.predict(&[]).out;
    let model = SavedModel::read(&folder.path("out/model.json")).unwrap();
    // Cells with line breaks, and lines so long that the first rows do not fit the beginning by which files are judged.
    let long = "a, \"\"b\"\"\n".repeat(1200);
    let with_long = |(row, line): (usize, &str)| match row {
        0 => format!("{line},remark\n"),
        _ => format!("{line},\"{long}{row}\"\n"),
    };
    let long: String = plain.lines().enumerate().map(with_long).collect();
    assert!(long.len() > 3 << 20);
    for (name, text) in [
        ("bom.csv", format!("\u{feff}{plain}")),
        ("crlf.csv", plain.replace('\n', "\r\n")),
        ("semicolons.csv", plain.replace(',', ";")),
        ("tabs.tsv", plain.replace(',', "\t")),
        ("blank.csv", plain.replacen('\n', "\n\n", 40) + "\n\n"),
        ("open.csv", plain.trim_end().to_owned()),
        (
            "index.csv",
            plain
                .lines()
                .enumerate()
                .map(|(row, line)| format!("{},{line}\n", if row == 0 { String::new() } else { row.to_string() }))
                .collect(),
        ),
        ("long.csv", long),
    ] {
        folder.write(name, &text);
        let (found, batches, _) = streamed(&model, &folder.path(name), &PredictOptions::default(), 64);
        assert_eq!((found.as_str(), batches), (expected.as_str(), 5), "{name}");
        assert_eq!(
            FileModel(&model)
                .predict_file(&folder.path(name), &PredictOptions::default())
                .unwrap()
                .to_csv(true)
                .unwrap(),
            expected,
            "{name}"
        );
    }
    if Command::new("gzip").arg("-k").arg(folder.path("long.csv")).status().is_ok_and(|status| status.success()) {
        let (found, batches, _) = streamed(&model, &folder.path("long.csv.gz"), &PredictOptions::default(), 64);
        assert_eq!((found, batches), (expected.clone(), 5));
        let bytes = std::fs::read(folder.path("long.csv.gz")).unwrap();
        folder.write("cut.csv.gz", &bytes[..bytes.len() - 9]);
        let sink = &mut |_: &_| Ok(ControlFlow::Continue(()));
        let error = FileModel(&model)
            .predict_in_batches(&folder.path("cut.csv.gz"), &PredictOptions::default(), 64, sink)
            .unwrap_err();
        assert!(error.to_string().contains("cut.csv.gz"), "{error}");
    }
    // Another encoding is read as a whole, and refused as a whole.
    let latin: Vec<u8> = plain.replacen('\n', ",é\n", 1).replace('é', "\u{fffd}").into_bytes();
    let latin: Vec<u8> = latin.into_iter().filter(|byte| !matches!(byte, 0xef | 0xbf)).collect();
    folder.write("latin.csv", latin);
    let sink = &mut |_: &_| Ok(ControlFlow::Continue(()));
    let error = FileModel(&model)
        .predict_in_batches(&folder.path("latin.csv"), &PredictOptions::default(), 64, sink)
        .unwrap_err();
    assert!(error.to_string().contains("the text is not UTF-8"), "{error}");
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_devices_and_pipes_stay_what_they_are() {
    let folder = large("devices", 20);
    let expected = folder.predict(&[]).out;
    std::fs::create_dir(folder.path("far")).unwrap();
    for (link, to) in [("link.csv", "far/real.csv"), ("again.csv", "link.csv")] {
        std::os::unix::fs::symlink(to, folder.path(link)).unwrap();
        for _ in 0..2 {
            folder.predict(&["--out", link]).succeeded();
            assert!(std::fs::symlink_metadata(folder.path(link)).unwrap().is_symlink());
            assert_eq!(folder.read("far/real.csv"), expected);
        }
        std::fs::remove_file(folder.path("far/real.csv")).unwrap();
    }
    assert_eq!(folder.predict(&["--out", "/dev/stdout"]).out, expected);
    folder.predict(&["--out", "/dev/null"]).succeeded();
    // Standard output that is a file is that file still.
    let open = std::fs::File::create(folder.path("stdout.csv")).unwrap();
    let arguments = ["predict", "--model", "out/model.json", "--data", "new.csv", "--out", "/dev/stdout"];
    assert!(folder.command(&arguments).stdout(open.try_clone().unwrap()).status().unwrap().success());
    assert_eq!(open.metadata().unwrap().len(), expected.len() as u64);
    assert_eq!(folder.read("stdout.csv"), expected);
    let pipe = folder.path("pipe");
    if Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        let arguments = ["predict", "--model", "out/model.json", "--data", "new.csv", "--out", "pipe"];
        let mut writing = folder.command(&arguments).spawn().unwrap();
        let mut text = String::new();
        std::fs::File::open(&pipe).unwrap().read_to_string(&mut text).unwrap();
        assert!(writing.wait().unwrap().success());
        assert_eq!(text, expected);
        assert!(!std::fs::symlink_metadata(&pipe).unwrap().is_file());
    }
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_quietly() {
    let folder = large("head", 150_000);
    let mut command = folder.command(&["predict", "--model", "out/model.json", "--data", "new.csv"]);
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(running.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let mut told = String::new();
    running.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!((first.as_str(), running.wait().unwrap().code(), told.as_str()), ("prediction\n", Some(0), ""));
}
