//! A time limit or one signal ends every part soon, with the result so far. `VAGLIO_CASES=all` tries every criterion
//! with every search, and every learner with several of both; else every part has one cell.

use crate::cells::{LEARNERS, criteria, linked, searches};
use crate::common::{Folder, Ran, case_stride, ran};
use serde_json::Value;
use std::time::{Duration, Instant};
use vaglio::core::Role;
use vaglio_testkit::{SplitMix64, tries_all_cases};

/// Seconds that runs are given, and what they take beside them at most: the second that is theirs, what the program takes to start
/// and read, and what other tests take of the processors.
const LIMIT: f64 = 0.3;
const BESIDE: Duration = Duration::from_secs(8);

/// 60 series of 10 steps and 60 columns: classes, numbers, weights, texts, dates, and a column with empty cells.
fn table(folder: &Folder) {
    let mut random = SplitMix64::new(3);
    let names: Vec<String> = (0..60).map(|k| format!("x{k}")).collect();
    let mut text = format!("id,t,day,word,gap,{},class,y,w\n", names.join(","));
    for id in 0..60 {
        for t in 0..10 {
            let x: Vec<f64> = names.iter().map(|_| (random.normal() * 1000.0).round() / 1000.0).collect();
            let y = x[0] - x[3] + 0.5 * x[7] * x[8] + random.normal();
            let gap = if t == 3 { String::new() } else { x[5].to_string() };
            let cells: Vec<String> = x.iter().map(f64::to_string).collect();
            let (class, w) = (if y > 0.0 { "yes" } else { "no" }, 1 + t % 3);
            text += &format!("s{id},{t},2024-01-{:02},w{},{gap},{},{class},{y},{w}\n", t + 1, id % 7, cells.join(","));
        }
    }
    folder.write("train.csv", text);
}

const ROWS: &str = "{train: train.csv, target: y, exclude: [id, t, day, word, gap, class, w]}";
const PLAIN: &str = "{train: train.csv, target: y, groups: id, exclude: [t, day, word, gap, class, w]}";
const CLASSES: &str =
    "{train: train.csv, target: class, task: binary, series: id, time: t, exclude: [day, word, gap, y, w]}";
const SERIES: &str = "{train: train.csv, target: y, series: id, time: t, exclude: [class]}";

/// A pipeline that is stopped, and what it is a cell of.
struct Cell {
    name: String,
    text: String,
    /// Whether what takes long comes before the search, so that there is no result.
    is_before: bool,
}

impl Cell {
    fn new(data: &str, learner: &str, criterion: &str, search: &str) -> Self {
        let text = format!(
            "version: 1\nseed: 5\ndata: {data}\npreprocess: [standardize]\nlearner: {learner}\ncriterion: {criterion}\n\
             search: {{kind: {search}}}\n"
        );
        Cell { name: format!("{learner} {criterion} {search}"), text, is_before: false }
    }
}

/// All pairs, or each of both once.
fn pairs<'a, A, B>(a: &'a [A], b: &'a [B]) -> Vec<(&'a A, &'a B)> {
    match tries_all_cases() {
        true => a.iter().flat_map(|a| b.iter().map(move |b| (a, b))).collect(),
        false => (0..a.len().max(b.len())).map(|k| (&a[k % a.len()], &b[k % b.len()])).collect(),
    }
}

/// Stops every cell by its limit: it ends soon, with a whole partial result, unless it ended before; on a busy machine the limit may hit
/// some before their search. Gives how many were stopped.
fn stopped(folder: &Folder, cells: &[Cell]) -> usize {
    let (mut count, mut before) = (0, 0);
    for Cell { name, text, is_before } in cells {
        folder.write("p.yaml", text);
        let _ = std::fs::remove_dir_all(folder.path("out"));
        let begun = Instant::now();
        let limit = format!("{LIMIT}s");
        let arguments = ["run", "p.yaml", "--quiet", "--out", "out", "--threads", "2", "--time-limit", &limit];
        let Ran { code, err, .. } = ran(&mut folder.command(&arguments));
        let passed = begun.elapsed();
        println!("{passed:.1?} {code:?} {name}");
        assert!(passed < Duration::from_secs_f64(LIMIT) + BESIDE, "{name}: {passed:?} {err}");
        match code {
            Some(0) => {}
            Some(5) if err.contains("a limit was hit") => {
                count += 1;
                before += usize::from(!is_before);
            }
            Some(5) => {
                count += 1;
                assert!(folder.path("out/selection.json").exists(), "{name}: {err}");
                let partial = folder.json("out/selection.json");
                assert_eq!(
                    (&partial["status"], &partial["stop_reason"]),
                    (&"partial".into(), &"limit".into()),
                    "{name}"
                );
                assert!(folder.path("out/model.json").exists(), "{name}");
            }
            code => panic!("{name}: {code:?} {err}\n{text}"),
        }
    }
    assert!(before <= cells.len() / 2, "{before} of {} have no result", cells.len());
    count
}

#[test]
fn a_limit_ends_every_criterion_and_search() {
    let folder = Folder::new("stops-searches");
    table(&folder);
    let searches: Vec<String> = searches()
        .iter()
        .map(|search| match *search {
            "exhaustive" => "exhaustive, max_features: 5".to_owned(),
            "random" => "random, repeats: 100000".to_owned(),
            search => search.to_owned(),
        })
        .collect();
    let learner = "{kind: rls, lambda: {grid: {from: 0.001, to: 1000, points: 50}}}";
    let all = pairs(&criteria(), &searches)
        .into_iter()
        .map(|(criterion, search)| Cell::new(PLAIN, learner, criterion, search))
        .collect::<Vec<_>>();
    let count = stopped(&folder, &all);
    assert!(count >= all.len() / 4, "{count} of {}", all.len());
}

#[test]
fn a_limit_ends_every_learner() {
    let folder = Folder::new("stops-learners");
    table(&folder);
    let with = |(kind, _, settings): &(&str, &str, &str)| {
        let data = if ["elastic_net"].contains(kind) { PLAIN } else { CLASSES };
        (data, format!("{{kind: {kind}, {settings}}}"))
    };
    let learners: Vec<(&str, String)> = LEARNERS.iter().map(with).collect();
    let around = [("loo", "greedy"), ("{kind: kfold, by: groups}", "backward"), ("loo", "all")];
    let all = pairs(&learners, &around)
        .into_iter()
        .map(|((data, learner), (criterion, search))| Cell::new(data, learner, criterion, search))
        .collect::<Vec<_>>();
    let count = stopped(&folder, &all);
    assert!(count >= all.len() / 3, "{count} of {}", all.len());
    // A final model, and maps of learners that take long themselves.
    let models = LEARNERS.iter().map(|(kind, _, settings)| {
        let model = format!("model: {{learner: {{kind: {kind}, {settings}}}}}\n");
        let cell = Cell::new(if *kind == "elastic_net" { PLAIN } else { CLASSES }, "rls", "loo", "greedy");
        Cell { name: model.clone(), text: cell.text + &model, ..cell }
    });
    stopped(&folder, &models.step_by(case_stride(4)).collect::<Vec<_>>());
    let large = ["{kind: elm, units: 20000}", "{kind: reservoir, units: 3000}", "{kind: fs_ls_svm, landmarks: 600}"];
    let large = large.map(|learner| Cell { is_before: true, ..Cell::new(CLASSES, learner, "loo", "greedy") });
    stopped(&folder, &large);
}

#[test]
fn a_limit_ends_every_map() {
    let folder = Folder::new("stops-maps");
    table(&folder);
    let settings = |map: &str| match map {
        "clip" => ", quantiles: [0.01, 0.99]",
        "impute" => ", how: mean",
        "interactions" => ", columns: [x0, x1, x2]",
        "log1p" => ", columns: [w]",
        "ordinal" => ", order: {word: [w0, w1, w2, w3, w4, w5, w6]}",
        "polynomial" => ", columns: [x0, x1, x2], degree: 2",
        "target_encode" => ", columns: [word]",
        "window" => ", lags: [0, 1, 2]",
        _ => "",
    };
    let cell = |map: &'static str| {
        let own = format!("{{kind: {map}{}}}", settings(map));
        let maps = match map {
            "target_encode" | "ordinal" => format!("[{own}, impute, {{kind: date_parts, columns: [day]}}]"),
            _ => format!("[impute, one_hot, {{kind: date_parts, columns: [day]}}, {own}]"),
        };
        let learner = if map == "constant" { "{kind: rls, intercept: false}" } else { "rls" };
        let text = format!(
            "version: 1\ndata: {SERIES}\npreprocess: {maps}\nlearner: {learner}\nsearch: {{kind: greedy}}\n\
             evaluate: {{nested: {{folds: 5, repeats: 50}}}}\n"
        );
        Cell { name: map.to_owned(), text, is_before: true }
    };
    let cells: Vec<Cell> =
        linked(Role::Map).into_iter().filter(|map| !["one_hot", "date_parts"].contains(map)).map(cell).collect();
    let count = stopped(&folder, &cells);
    assert!(count >= cells.len() / 2, "{count} of {}", cells.len());
}

#[test]
fn a_limit_ends_every_figure() {
    let folder = Folder::new("stops-figures");
    table(&folder);
    let schema: Value = serde_json::from_str(&folder.vaglio(&["schema"]).out).unwrap();
    let figures = schema["$defs"]["Evaluate"]["properties"].as_object().unwrap();
    let settings = |figure: &str| match figure {
        "nested" => "nested: {folds: 5, repeats: 100}",
        "permutations" => "permutations: 100000",
        "stability" => "stability: {pairs: 100000}",
        "intervals" => "nested: {folds: 5, repeats: 100}, intervals: 0.9",
        "fdr" => "fdr: 0.1",
        "worth" => "worth: all",
        "alternatives" => "alternatives: {within: one_se, count: 100}",
        "shares" => "shares: true",
        "learning_curve" => "learning_curve: true",
        figure => panic!("say how `{figure}` takes long"),
    };
    let cells: Vec<Cell> = figures
        .keys()
        .map(|figure| {
            let cell = Cell::new(ROWS, "rls", "loo", "greedy, max_features: 12, choose: {rule: best, folds: 2}");
            let text = format!("{}evaluate: {{{}}}\n", cell.text, settings(figure));
            Cell { name: figure.clone(), text, ..cell }
        })
        .collect();
    let count = stopped(&folder, &cells);
    assert!(count >= 3, "{count} of {}", cells.len());
}

#[cfg(unix)]
#[test]
fn one_signal_ends_the_tree_of_best_subsets() {
    let folder = Folder::new("stops-signal");
    table(&folder);
    for (name, criterion) in [("-TERM", "loo"), ("-INT", "{kind: kfold, folds: 10}")] {
        let learner = "{kind: rls, lambda: {grid: {from: 0.001, to: 1000, points: 13}}}";
        folder.write("p.yaml", Cell::new(PLAIN, learner, criterion, "exhaustive").text);
        let mut command = folder.command(&["run", "p.yaml", "--out", "out"]);
        let child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        let begun = Instant::now();
        while !folder.path("out/journal.jsonl").exists() && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(300));
        let asked = Instant::now();
        std::process::Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(asked.elapsed() < BESIDE, "{:?}", asked.elapsed());
        assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(folder.json("out/selection.json")["status"], "partial");
        let _ = std::fs::remove_dir_all(folder.path("out"));
    }
}
