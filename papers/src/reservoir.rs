//! Reservoir readouts on series.

use crate::markdown::{MarkdownTable, number, seconds};
use crate::pair::deviation;
use crate::run::{Bench, median};
use std::time::Instant;
use vaglio::search::Silent;
use vaglio_core::{Columns, Problem, Result, Task};
use vaglio_pipeline::pipeline::load;
use vaglio_report::record::Figures;
use vaglio_testkit::SplitMix64;

pub fn tables(bench: &Bench<'_>) -> Result<String> {
    let mut text = String::from(
        "# Reservoir readouts\n\nSpeaker recognition (Japanese Vowels; M. Kudo, J. Toyama, M. Shimbo 1999) by one decision a series, and the \
         NARMA-10 system (A. Atiya, A. Parlos 2000) step by step.\n\n",
    );
    text += &vowels(bench)?;
    text += &windows(bench)?;
    text += &classes(bench)?;
    text += &narma(bench)?;
    Ok(text)
}

fn vowels(bench: &Bench<'_>) -> Result<String> {
    if !bench.has("Japanese Vowels", &["japanese_vowels_train", "japanese_vowels_test"]) {
        return Ok(String::new());
    }
    let head = ["seed", "leave-one-series-out error %", "test error %", "λ", "seconds"];
    let mut table =
        MarkdownTable::new("Japanese Vowels: 270 training and 370 test series, 9 speakers, 200 nodes", &head);
    let (mut errors, mut scores) = (Vec::new(), Vec::new());
    for seed in 1..=bench.seeds {
        (bench.note)(&format!("Japanese Vowels: seed {seed}"));
        let run = bench.run(&format!(
            "version: 1\nseed: {seed}\n\
             data: {{train: japanese_vowels_train.parquet, test: japanese_vowels_test.parquet, target: target, task: multiclass, series: series, time: t}}\n\
             preprocess: [standardize]\n\
             learner: {{kind: reservoir, units: 200, spectral_radius: 0.7, leak_rate: 0.7, input_scaling: 0.3, bias_scaling: 0.5, decision: series, \
             lambda: {{grid: {{from: 1e-4, to: 1e2, points: 50}}}}}}\n\
             criterion: {{kind: kfold, by: groups, loss: zero_one}}\nsearch: {{kind: all, choose: best}}\n"
        ))?;
        let score = run.selection.path.result().map_or(f64::NAN, |entry| 100.0 * entry.score.loss);
        let error = 100.0 * run.test.and_then(|test| test.error_rate).unwrap_or(f64::NAN);
        let lambda = run.selection.model.lambda().unwrap_or(f64::NAN);
        table.row(&[
            seed.to_string(),
            number(score, 2),
            number(error, 2),
            format!("{lambda:.1e}"),
            seconds(run.seconds),
        ]);
        errors.push(error);
        scores.push(score);
    }
    table.row(&["median".into(), number(median(scores), 2), number(median(errors), 2)]);
    Ok(table.finish())
}

/// Sets of series, their files, and how many steps back a window goes.
const WINDOWED: [(&str, &str, usize); 2] =
    [("Japanese Vowels", "japanese_vowels", 5), ("Basic Motions", "basic_motions", 10)];

/// Class-reweighted ridge regression on windows, in place of the paper's recordings of the brain.
fn windows(bench: &Bench<'_>) -> Result<String> {
    let head = ["data", "method", "folds' balanced error %", "test balanced error %", "± series", "columns", "seconds"];
    let mut table = MarkdownTable::new("Class-reweighted ridge regression on windows, step by step", &head);
    for (name, file, back) in WINDOWED {
        let (train, test) = (format!("{file}_train"), format!("{file}_test"));
        if !bench.has(name, &[&train, &test]) {
            continue;
        }
        let lags: Vec<String> = (0..back).map(|lag| lag.to_string()).collect();
        for (method, search) in [
            ("RR", "{kind: all, choose: best}"),
            ("FFS", "{kind: greedy, choose: best}"),
            ("BFS", "{kind: backward, choose: best}"),
        ] {
            (bench.note)(&format!("{name}, windows: {method}"));
            let run = bench.run(&format!(
                "version: 1\nseed: 1\n\
                 data: {{train: {train}.parquet, test: {test}.parquet, target: target, task: multiclass, series: series, time: t}}\n\
                 preprocess: [{{kind: window, lags: [{}]}}, standardize]\n\
                 learner: {{kind: crrr, lambda: {{grid: {{from: 1e-4, to: 1.0, points: 9}}}}}}\n\
                 criterion: {{kind: kfold, by: groups, folds: 5, shuffle: true, loss: balanced_error}}\nsearch: {search}\n",
                lags.join(", ")
            ))?;
            let entry = run.selection.path.result();
            let spread = 100.0 * deviation(&run.errors_of_series()?);
            let error = run.test.and_then(|test| test.balanced_error_rate).unwrap_or(f64::NAN);
            table.row(&[
                name.into(),
                method.into(),
                number(entry.map_or(f64::NAN, |entry| 100.0 * entry.score.loss), 2),
                number(100.0 * error, 2),
                number(spread, 1),
                entry.map_or(0, |entry| entry.subset.len()).to_string(),
                seconds(run.seconds),
            ]);
        }
    }
    Ok(table.finish()
        + "Folds are of whole series; a step is one decision. ± is the standard deviation of the share of wrong steps over test series, as the paper \
           has it over subjects. The paper's recordings could not be had.\n\n")
}

/// The reservoir for steps of series, without its λ: nodes of a slow network on standardized columns.
const OF_STEPS: &str = "kind: reservoir, units: 100, spectral_radius: 0.9, leak_rate: 0.3, input_scaling: 0.3, bias_scaling: 0.5, warmup: 5";

/// Readouts of a reservoir step by step, each row alike and each class alike, in place of the paper's recordings.
fn classes(bench: &Bench<'_>) -> Result<String> {
    let head = ["data", "readout", "folds' balanced error %", "test balanced error %", "columns", "seconds"];
    let mut table = MarkdownTable::new("Reservoirs whose readout weighs classes, step by step: 100 nodes", &head);
    for (name, file, _) in WINDOWED {
        let (train, test) = (format!("{file}_train"), format!("{file}_test"));
        if !bench.has(name, &[&train, &test]) {
            continue;
        }
        let (rows, alike) = (
            "lambda: {grid: {from: 1e-2, to: 1e3, points: 11}}",
            "balanced: true, lambda: {grid: {from: 1e-5, to: 1.0, points: 11}}",
        );
        for (method, settings, search) in [
            ("RC, rows alike", rows, "{kind: all, choose: best}"),
            ("RC, CRRR", alike, "{kind: all, choose: best}"),
            ("RC, CRRR, FFS", alike, "{kind: greedy, choose: best}"),
            ("RC, CRRR, BFS", alike, "{kind: backward, choose: best}"),
        ] {
            let (mut scores, mut errors, mut sizes, mut times) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for seed in 1..=bench.seeds.min(3) {
                (bench.note)(&format!("{name}, reservoir: {method}, seed {seed}"));
                let run = bench.run(&format!(
                    "version: 1\nseed: {seed}\n\
                     data: {{train: {train}.parquet, test: {test}.parquet, target: target, task: multiclass, series: series, time: t}}\n\
                     preprocess: [standardize]\nlearner: {{{OF_STEPS}, {settings}}}\n\
                     criterion: {{kind: kfold, by: groups, folds: 5, shuffle: true, loss: balanced_error}}\nsearch: {search}\n"
                ))?;
                let entry = run.selection.path.result();
                scores.push(entry.map_or(f64::NAN, |entry| 100.0 * entry.score.loss));
                errors.push(100.0 * run.test.and_then(|test| test.balanced_error_rate).unwrap_or(f64::NAN));
                sizes.push(entry.map_or(0.0, |entry| entry.subset.len() as f64));
                times.push(run.seconds);
            }
            table.row(&[
                name.into(),
                method.into(),
                number(median(scores), 2),
                number(median(errors), 2),
                number(median(sizes), 0),
                seconds(median(times)),
            ]);
        }
    }
    Ok(table.finish()
        + "Medians over the seeds of the network, at most three; folds are of whole series; a step is one decision.\n\n")
}

/// Steps that train, steps of the test, and steps before the reservoir counts as driven.
const STEPS: [usize; 2] = [2000, 2000];
const WARMUP: usize = 100;

fn narma(bench: &Bench<'_>) -> Result<String> {
    if !"narma".contains(&bench.only.to_lowercase()) {
        return Ok(String::new());
    }
    let mut table =
        MarkdownTable::new("NARMA-10: NRMSE on 2000 test steps", &["readout", "NRMSE", "columns", "seconds"]);
    let grid = "lambda: {grid: {from: 1e-3, to: 1e2, points: 30}}";
    let reservoir = format!(
        "{{kind: reservoir, units: 200, spectral_radius: 0.9, leak_rate: 1.0, input_scaling: 0.5, bias_scaling: 0.2, warmup: {WARMUP}, {grid}}}"
    );
    for (name, learner, search) in [
        ("the input alone", format!("{{kind: rls, {grid}}}"), "{kind: backward, min_features: 1, choose: best}"),
        ("reservoir, all 200 nodes", reservoir.clone(), "{kind: all, choose: best}"),
        ("reservoir, nodes by greedy", reservoir.clone(), "{kind: greedy, max_features: 60, choose: best}"),
        ("reservoir, nodes by backward", reservoir, "{kind: backward, choose: best}"),
    ] {
        let (mut errors, mut times, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for seed in 1..=bench.seeds {
            (bench.note)(&format!("NARMA-10, {name}: seed {seed}"));
            let text = format!(
                "version: 1\nseed: {seed}\ndata: {{train: none.csv, target: y}}\nlearner: {learner}\n\
                 criterion: {{kind: kfold, folds: 20}}\nsearch: {search}\n"
            );
            let (pipeline, _) = load(&text, "pipeline", &[])?;
            let [train, test] = [series(seed, STEPS[0])?, series(1000 + seed, STEPS[1])?];
            let start = Instant::now();
            let found = pipeline.selector().select(&train, &mut Silent)?;
            times.push(start.elapsed().as_secs_f64());
            let predicted = found.model.predict(&test.columns().select(found.model.inputs()), None)?;
            let counts = found.model.counts(test.rows(), None);
            let figures =
                Figures::new(None, &vaglio::core::Squared, test.targets().view(), predicted.view(), counts.as_deref());
            errors.push(figures.nrmse.unwrap_or(f64::NAN));
            sizes.push(found.path.result().map_or(0.0, |entry| entry.subset.len() as f64));
        }
        table.row(&[name.into(), number(median(errors), 3), number(median(sizes), 0), seconds(median(times))]);
    }
    Ok(table.finish() + "Medians over seeds of the series and of the reservoir; 20 contiguous folds, 30 penalties.\n\n")
}

/// u uniform between 0 and ½; y(t+1) = tanh(0.3 y(t) + 0.05 y(t) Σ y(t−9…t) + 1.5 u(t−9) u(t) + 0.1).
fn series(seed: u64, steps: usize) -> Result<Problem> {
    let mut random = SplitMix64::new(seed);
    let u: Vec<f64> = (0..steps).map(|_| 0.5 * random.uniform()).collect();
    let mut y = vec![0.0f64; steps];
    for t in 9..steps - 1 {
        let past: f64 = y[t - 9..=t].iter().sum();
        y[t + 1] = (0.3 * y[t] + 0.05 * y[t] * past + 1.5 * u[t - 9] * u[t] + 0.1).tanh();
    }
    let mut columns = Columns::new(steps);
    columns.push(u);
    let targets = ndarray::Array2::from_shape_fn((1, steps), |(_, t)| y[t]);
    Problem::new(columns, vec!["u".into()], targets, vec!["y".into()], Task::Regression)
}
