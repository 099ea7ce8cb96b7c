//! What scores are worth on wide tables: of three ways to take size and λ, what they claim and what is true.

use crate::markdown::{MarkdownTable, number, seconds};
use crate::run::Bench;
use std::time::Instant;
use vaglio::files::{RunOptions, run};
use vaglio::search::Silent;
use vaglio_core::{Error, Result};
use vaglio_pipeline::pipeline::load;
use vaglio_report::record::Record;

/// Names, files and tasks; targets of several classes are ±1 for each.
const SETS: [(&str, &str, &str); 5] = [
    ("colon", "colon_alon", "binary"),
    ("lymphoma", "lymphoma", "multiclass"),
    ("TOX-171", "tox_171", "multiclass"),
    ("TRIM32", "trim32_rat", "regression"),
    ("PIE10P", "pie10p", "multiclass"),
];
/// The name of a way, for what λ is taken, and what chooses.
const WAYS: [(&str, &str, &str); 3] = [
    ("lowest score, λ of every subset", "subset", "best"),
    ("cross-validated search", "path", "{rule: best}"),
    ("the same, one standard error", "path", "{rule: one_se}"),
];

/// The claims and the nested losses of every set and way.
pub fn tables(bench: &Bench<'_>) -> Result<String> {
    let head =
        ["data", "way", "score", "cross-validated", "nested", "±", "no columns", "columns", "Jaccard", "seconds"];
    let mut table = MarkdownTable::new("Squared error: claimed, and in five outer folds", &head);
    for (name, file, task) in SETS {
        if !bench.has(name, &[file]) {
            continue;
        }
        for (way, per, choose) in WAYS {
            (bench.note)(&format!("{name}: {way}"));
            let start = Instant::now();
            let record = one(
                bench,
                &format!(
                    "version: 1\nseed: 1\ndata: {{train: {file}.parquet, target: target, task: {task}}}\npreprocess: [standardize]\n\
                 learner: {{kind: rls, lambda: {{grid: {{from: 0.1, to: 10000.0, points: 11}}, per: {per}}}}}\n\
                 criterion: loo\nsearch: {{kind: greedy, max_features: 30, choose: {choose}}}\nevaluate: {{nested: {{folds: 5}}}}\n"
                ),
            )?;
            let time = start.elapsed().as_secs_f64();
            let Some(nested) = &record.nested else { continue };
            let sizes: Vec<f64> = nested.per_fold.iter().map(|fold| fold.size as f64).collect();
            table.row(&[
                name.into(),
                way.into(),
                number(record.score, 3),
                number(record.chosen.cross_validated.unwrap_or(f64::NAN), 3),
                number(nested.loss, 3),
                number(nested.standard_error.unwrap_or(f64::NAN), 3),
                number(nested.empty_loss, 3),
                number(crate::run::mean(&sizes), 1),
                number(nested.jaccard.unwrap_or(f64::NAN), 2),
                seconds(time),
            ]);
        }
    }
    Ok(String::from(
        "# What a score is worth\n\nGreedy search to 30 columns by leave-one-out, λ of eleven from 0.1 to 10000. Everything is \
         repeated in five outer folds; columns and the Jaccard index are means over these.\n\n",
    ) + &table.finish())
}

fn one(bench: &Bench<'_>, text: &str) -> Result<Record> {
    let (pipeline, _) = load(text, "pipeline", &[])?;
    let out = std::env::temp_dir().join(format!("vaglio-papers-{}", std::process::id()));
    let folder = std::path::absolute(&bench.folder).map_err(|e| Error::Shape(e.to_string()))?;
    let record = run(&pipeline, &RunOptions { folder, out: out.clone(), ..RunOptions::default() }, &mut Silent)
        .map(|outcome| outcome.record);
    let _ = std::fs::remove_dir_all(out);
    record
}
