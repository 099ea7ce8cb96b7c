//! Figures of a whole selection are those of a plain loop over folds.

use crate::common::{Folder, case_stride};
use ndarray::{Array2, Axis, concatenate, s};
use vaglio::core::{Loss, Squared, ZeroOne, is_lower};
use vaglio::files::{RunOptions, TrainTest, prepare, run};
use vaglio::search::Silent;
use vaglio_pipeline::pipeline::{load, pool};
use vaglio_report::record::Record;
use vaglio_testkit::{SplitMix64, Tolerance, on_one_thread};

const NEAR: Tolerance = Tolerance { tolerance: 1e-10, least: 1e-3 };

/// Sixty rows in five groups: numbers `y` that two of six columns make, and the class of their sign.
fn table(folder: &Folder) -> Vec<String> {
    let mut random = SplitMix64::new(11);
    let mut lines = vec!["a,b,c,d,e,f,g,y,class".to_owned()];
    for row in 0..60 {
        let x: Vec<f64> = (0..6).map(|k| random.normal() * (1.0 + f64::from(k))).collect();
        let y = x[1] - 0.4 * x[4] + 1.5 * random.normal();
        let cells: Vec<String> = x.iter().map(f64::to_string).collect();
        lines.push(format!("{},{},{y},{}", cells.join(","), row * 7 % 5, if y > 0.3 { "yes" } else { "no" }));
    }
    folder.write("all.csv", lines.join("\n"));
    for group in 0..5 {
        let is_held = |line: &&String| line.split(',').nth(6) == Some(&group.to_string());
        let head = &lines[..1];
        let (held, rest): (Vec<&String>, Vec<&String>) = lines[1..].iter().partition(is_held);
        let file = |rows: Vec<&String>| head.iter().chain(rows).cloned().collect::<Vec<_>>().join("\n");
        folder.write(&format!("held{group}.csv"), file(held));
        folder.write(&format!("rest{group}.csv"), file(rest));
    }
    lines
}

fn text(files: &str, target: &str, parts: &str) -> String {
    let other = if target == "y" { "class" } else { "y" };
    format!(
        "version: 1\nseed: 9\ndata: {{{files}, target: {target}, exclude: [{other}], groups: g}}\npreprocess: [standardize]\n{parts}"
    )
}

fn ran(folder: &Folder, text: &str) -> Record {
    let (pipeline, _) = load(text, "p.yaml", &[]).unwrap_or_else(|e| panic!("{text}{e}"));
    let options = RunOptions { folder: folder.0.clone(), out: folder.path("out"), ..RunOptions::default() };
    run(&pipeline, &options, &mut Silent).unwrap_or_else(|e| panic!("{text}{e}")).record
}

fn ran_alone(folder: &Folder, text: &str) -> Record {
    on_one_thread(|| ran(folder, text))
}

/// Half-width of the 95 % interval over 1.96, for a loss that is a mean over rows and five folds of one group each.
fn error_by_hand(loss: &dyn Loss, targets: &Array2<f64>, predictions: &Array2<f64>) -> f64 {
    let rows = targets.ncols();
    let all = loss.mean(targets.view(), predictions.view(), None);
    let apart = |from: usize, to: usize| {
        let mean = loss.mean(targets.slice(s![.., from..to]), predictions.slice(s![.., from..to]), None);
        ((to - from) as f64 * (mean - all)).powi(2)
    };
    let size = rows / 5;
    let squares: f64 = (0..5).map(|fold| apart(fold * size, (fold + 1) * size)).sum();
    // Clusters are the folds; t(4) is 2.776445, and the model that is delivered is one more than five.
    (5.0 / 4.0 * squares).sqrt() / rows as f64 * 2.776_445_105 / 1.96 * (5.0_f64 / 4.0).sqrt()
}

/// Targets and predictions of the rows held out, cut at each size from 0 to 6, for one λ: by walks on files of folds.
fn by_hand(folder: &Folder, target: &str, parts: &str) -> Vec<(Array2<f64>, Array2<f64>)> {
    type Parts = Vec<Array2<f64>>;
    let mut sizes: Vec<(Parts, Parts)> = vec![(Vec::new(), Vec::new()); 7];
    for group in 0..5 {
        let files = format!("train: rest{group}.csv, test: held{group}.csv");
        let (pipeline, _) = load(&text(&files, target, parts), "p.yaml", &[]).unwrap();
        let prepared: TrainTest = prepare(&pipeline, &folder.0).unwrap();
        let (selector, test) = (pipeline.selector(), prepared.test.as_ref().unwrap());
        let selection = selector.select(&prepared.train, &mut Silent).unwrap();
        for (size, (targets, predictions)) in sizes.iter_mut().enumerate() {
            let entry = selection.path.entries.iter().rev().find(|entry| entry.subset.len() <= size);
            let (subset, lambda) =
                entry.map_or((&[][..], selection.path.empty.lambda), |e| (&e.subset[..], e.score.lambda));
            let model = selector.learner.fit(&prepared.train.clone().with_seed(9), subset, lambda).unwrap();
            targets.push(test.targets().as_ref().clone());
            predictions.push(model.predict(&test.columns().select(model.inputs()), None).unwrap());
        }
    }
    let joined = |parts: &[Array2<f64>]| concatenate(Axis(1), &parts.iter().map(Array2::view).collect::<Vec<_>>());
    sizes.iter().map(|(t, p)| (joined(t).unwrap(), joined(p).unwrap())).collect()
}

const SEARCHES: [&str; 5] = [
    "{kind: greedy, max_features: 5",
    "{kind: floating, max_features: 5",
    "{kind: backward",
    "{kind: lars",
    "{kind: exhaustive, max_features: 4",
];
const CRITERIA: [&str; 4] = [
    "loo",
    "{kind: kfold, folds: 4}",
    "{kind: kfold, folds: 3, loss: zero_one, stratified: true}",
    "{kind: kfold, by: groups}",
];

/// Pairs of a learner and a search at a distance of `stride`.
fn learners_and_searches(
    target: &str,
    first: usize,
    stride: usize,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_classes = (target == "class").then_some("{kind: crrr");
    let learners = ["{kind: rls", "{kind: elm, units: 6, direct: false"].into_iter().chain(of_classes);
    learners.flat_map(|learner| SEARCHES.map(|search| (learner, search))).skip(first % stride).step_by(stride)
}

/// The table of cross-validated losses, and the size and λ that are taken from it. Each learner meets each search once.
#[test]
fn size_and_lambda_are_chosen_by_a_plain_loop_over_folds() {
    let folder = Folder::new("honest");
    table(&folder);
    let lambdas = [0.1, 30.0];
    let of_y = [0, 1, 3].map(|at| ("y", CRITERIA[at]));
    let of_class = [0, 2, 3].map(|at| ("class", CRITERIA[at]));
    for (first, (target, criterion)) in of_y.into_iter().chain(of_class).enumerate() {
        let loss: &dyn Loss = if criterion.contains("zero_one") { &ZeroOne } else { &Squared };
        for (learner, search) in learners_and_searches(target, first, case_stride(3)) {
            let on = format!("{target} {learner} {criterion} {search}");
            let parts = |lambda: &str, choose: &str| {
                format!(
                    "learner: {learner}, lambda: {lambda}}}\ncriterion: {criterion}\nsearch: {search}, choose: {choose}}}\n"
                )
            };
            let record = ran(
                &folder,
                &text("train: all.csv", target, &parts("{values: [0.1, 30]}", "{folds: 5, require_gain: never}")),
            );
            let found = record.report.table.as_ref().unwrap();
            assert_eq!(found.lambdas, lambdas.map(Some), "{on}");
            let mut all: Vec<(f64, usize, f64)> = Vec::new();
            for (cells, lambda) in found.cells.iter().zip(lambdas) {
                let expected = by_hand(&folder, target, &parts(&lambda.to_string(), "last"));
                assert!(!cells.is_empty() && cells[0].size == 0, "{on}");
                for cell in cells {
                    let (targets, predictions) = &expected[cell.size];
                    let plain = loss.mean(targets.view(), predictions.view(), None);
                    NEAR.assert(plain, cell.loss, format!("{on}, lambda {lambda}, size {}", cell.size));
                    let error = error_by_hand(loss, targets, predictions);
                    let told = cell.standard_error.unwrap();
                    assert!((error - told).abs() < 1e-6 * error + 1e-12, "{on}: {error} is not {told}");
                    all.push((cell.loss, cell.size, lambda));
                }
            }
            // Of losses that are equal to rounding that of the fewest columns.
            let least = all.iter().map(|cell| cell.0).fold(f64::INFINITY, f64::min);
            let equal = all.iter().filter(|cell| !is_lower(least, cell.0));
            let lowest = equal.min_by_key(|cell| cell.1).unwrap();
            let chosen = &record.chosen;
            assert_eq!((chosen.cross_validated, chosen.size), (Some(lowest.0), lowest.1), "{on}");
            assert!(chosen.size == 0 || chosen.lambda == Some(lowest.2), "{on}");
            assert_eq!(record.selected.len(), chosen.size, "{on}");
        }
    }
}

/// Every outer fold is a run on a file of its training rows, judged on a file of the others. Each learner and each search
/// has a turn.
#[test]
fn nested_figures_are_those_of_runs_on_files_of_folds() {
    let folder = Folder::new("honest-nested");
    table(&folder);
    let loss =
        |record: &Record| record.test.as_ref().map(|test| (test.loss, test.empty_loss.unwrap(), test.rows)).unwrap();
    for (first, (target, criterion)) in [("y", CRITERIA[1]), ("class", CRITERIA[0])].into_iter().enumerate() {
        for (learner, search) in learners_and_searches(target, 2 * first, case_stride(6)) {
            let parts = format!(
                "learner: {learner}, lambda: {{values: [0.1, 30]}}}}\ncriterion: {criterion}\nsearch: {search}, choose: {{folds: 4}}}}\n"
            );
            let record = ran_alone(
                &folder,
                &text("train: all.csv", target, &format!("{parts}evaluate: {{nested: {{folds: 5}}}}\n")),
            );
            let nested = record.nested.as_ref().unwrap();
            let (mut sum, mut empty) = (0.0, 0.0);
            let mut losses = Vec::new();
            for group in 0..5 {
                let files = format!("train: rest{group}.csv, test: held{group}.csv");
                let one = ran_alone(&folder, &text(&files, target, &parts));
                let (loss, without, rows) = loss(&one);
                sum += loss * rows as f64;
                empty += without * rows as f64;
                losses.push(loss);
            }
            let on = format!("{target} {learner} {criterion} {search}");
            NEAR.assert(sum / 60.0, nested.loss, &on);
            NEAR.assert(empty / 60.0, nested.empty_loss, &on);
            let mut found: Vec<f64> = nested.per_fold.iter().map(|fold| fold.loss).collect();
            found.sort_by(f64::total_cmp);
            losses.sort_by(f64::total_cmp);
            losses.iter().zip(&found).for_each(|(plain, found)| NEAR.assert(*plain, *found, &on));
        }
    }
}

/// One thread, two or three: the same record but for times and memory.
#[test]
fn the_number_of_threads_changes_no_figure() {
    let folder = Folder::new("honest-threads");
    table(&folder);
    let parts = "learner: {kind: rls, lambda: {values: [0.1, 3, 30]}}\nsearch: {kind: floating, max_features: 4}\n\
                 evaluate: {nested: {folds: 3}, permutations: 5, stability: {pairs: 4}}\n";
    let text = text("train: all.csv", "y", parts).replace(", groups: g", ", weights: g");
    let on = |threads: usize| {
        let mut record = pool(threads).unwrap().install(|| ran(&folder, &text));
        (record.seconds, record.peak_memory_bytes) = (Default::default(), None);
        record.to_text().unwrap()
    };
    let one = on(1);
    assert_eq!(one, on(2));
    assert_eq!(one, on(3));
}

/// Impossible folds are refused at their setting; folds that were not asked for give way with a warning.
#[test]
fn folds_that_cannot_be_made_are_refused_or_told() {
    let folder = Folder::new("honest-refused");
    let lines = table(&folder);
    let refused = |parts: &str, files: &str| {
        let (pipeline, _) = load(&text(files, "y", parts), "p.yaml", &[]).unwrap();
        let options = RunOptions { folder: folder.0.clone(), out: folder.path("out"), ..RunOptions::default() };
        run(&pipeline, &options, &mut Silent).unwrap_err()
    };
    let error = refused("search: {kind: greedy, choose: {folds: 6}}\n", "train: all.csv");
    assert_eq!(error.field(), Some("search.choose.folds"), "{error}");
    assert!(error.to_string().contains("6 are asked for, of 5 groups of rows"), "{error}");
    let error = refused("evaluate: {nested: {folds: 7}}\n", "train: all.csv");
    assert_eq!(error.field(), Some("evaluate.nested.folds"), "{error}");

    // One group can be parted in no way.
    folder.write(
        "one.csv",
        lines.iter().filter(|l| l.contains(",g,") || l.contains(",0,")).cloned().collect::<Vec<_>>().join("\n"),
    );
    let record = ran(&folder, &text("train: one.csv", "y", ""));
    assert!(record.chosen.cross_validated.is_none());
    assert!(
        record.warnings.iter().any(|warning| warning.message.contains("could not be cross-validated")),
        "{:?}",
        record.warnings
    );
}

/// Shuffled targets: the cross-validated loss of the data is below all of them, and p says so.
#[test]
fn a_signal_is_told_from_shuffled_targets() {
    let folder = Folder::new("honest-shuffled");
    table(&folder);
    let parts = "learner: {kind: rls, lambda: 3.0}\nsearch: {kind: greedy, max_features: 3}\nevaluate: {permutations: 19, stability: {pairs: 10}}\n";
    let record = ran(&folder, &text("train: all.csv", "y", parts).replace(", groups: g", ""));
    let permutations = record.permutations.unwrap();
    assert_eq!(permutations.count, 19);
    let figure = permutations.cross_validated.unwrap();
    assert_eq!((figure.p, figure.values.len()), (0.05, 19));
    assert!(figure.mean > 1.2 * record.chosen.cross_validated.unwrap());
    assert!(permutations.score.mean > record.score);
    let stability = record.stability.unwrap();
    assert_eq!((stability.pairs, stability.frequency[0].name.as_str()), (10, "b"));
    assert!(stability.frequency[0].share > 0.9);

    // A forced column is in every half, which says nothing of it.
    let forced = parts.replace("max_features: 3", "max_features: 3, forced: [b]");
    let record = ran(&folder, &text("train: all.csv", "y", &forced).replace(", groups: g", ""));
    assert!(record.stability.unwrap().columns.iter().all(|column| column.name != "b"));
}

#[test]
fn errors_and_intervals_are_those_of_weights_in_any_unit() {
    let folder = Folder::new("weight-units");
    let figures = |power: i32| {
        let unit = 2f64.powi(power);
        let weight = |row: usize, _: f64| format!("{:e}", unit * (1 + row % 3) as f64);
        folder.write("train.csv", crate::common::table(60, 3, &[("w", &weight)]));
        let selection = folder.run(&format!(
            "version: 1\ndata: {{train: train.csv, target: y, weights: w}}\nlearner: {{kind: rls, lambda: {unit:e}}}\n\
             criterion: {{kind: kfold, folds: 5}}\nevaluate: {{nested: {{folds: 4}}}}\n"
        ));
        let number = |at: &str| selection.pointer(at).and_then(serde_json::Value::as_f64);
        [
            "/score",
            "/chosen/standard_error",
            "/chosen/interval/0",
            "/nested/loss",
            "/nested/standard_error",
            "/nested/interval/0",
            "/nested/interval/1",
        ]
        .map(|at| number(at).unwrap_or_else(|| panic!("2^{power}: no {at} in {}", selection["nested"])))
    };
    let expected = figures(0);
    for power in [-550, 900] {
        let found = figures(power);
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() <= 1e-12 * expected.abs(), "2^{power}: {found} for {expected}");
        }
    }
}
