//! What intervals hold, on tables whose risk is known.
//!
//! Tables of 80 rows and 20 columns, three of them in the model, are searched by the default pipeline. The expected squared error
//! of the model that is delivered follows from its weights and the law of the table, so that no fresh rows are drawn.

use crate::markdown::{MarkdownTable, number};
use crate::run::{mean, median};
use rayon::prelude::*;
use std::fmt::Write;
use vaglio::files::{RunOptions, run};
use vaglio::pipeline::load;
use vaglio::record::{Against, Record};
use vaglio_core::{Error, Result, Silent};
use vaglio_testkit::Random;

const ROWS: usize = 80;
const COLUMNS: usize = 20;
/// Columns of the model.
const MODEL: [usize; 3] = [0, 5, 10];
/// The level of all intervals.
const LEVEL: f64 = 0.95;

/// A law of tables: its name, the size of the three weights beside noise of variance 1, how neighbors correlate, whether noise
/// is Student's with three degrees of freedom, and whether the target is a class.
struct Law {
    name: &'static str,
    weight: f64,
    chain: f64,
    is_heavy: bool,
    is_class: bool,
}

const PLAIN: Law = Law { name: "", weight: 1.0, chain: 0.0, is_heavy: false, is_class: false };
const LAWS: [Law; 6] = [
    Law { name: "strong signals", ..PLAIN },
    Law { name: "weak signals", weight: 0.25, ..PLAIN },
    Law { name: "correlated columns", chain: 0.7, ..PLAIN },
    Law { name: "noise", weight: 0.0, ..PLAIN },
    Law { name: "heavy tails", is_heavy: true, ..PLAIN },
    Law { name: "two classes", is_class: true, ..PLAIN },
];

/// What one table says.
struct Said {
    chosen: Coverage,
    nested: Coverage,
    /// Of what the chosen columns lose less than none, where any were taken.
    paired: Option<Coverage>,
    taken: bool,
    /// Columns of the model that were taken, and that would be had the empty subset not been.
    found: usize,
    risk: f64,
}

/// An interval and plain errors beside the truth.
#[derive(Clone, Copy)]
struct Coverage {
    holds: bool,
    width: f64,
    plain: bool,
    plain_width: f64,
}

impl Coverage {
    fn new([low, high]: [f64; 2], (value, error): (f64, f64), truth: f64) -> Self {
        let plain = 1.96 * error;
        Coverage {
            holds: low <= truth && truth <= high,
            width: high - low,
            plain: (value - truth).abs() <= plain,
            plain_width: 2.0 * plain,
        }
    }
}

impl Law {
    fn covariance(&self, a: usize, b: usize) -> f64 {
        if a == b { 1.0 } else { self.chain.powi(a.abs_diff(b) as i32) }
    }

    /// The weights of the columns.
    fn weights(&self) -> [f64; COLUMNS] {
        let mut weights = [0.0; COLUMNS];
        MODEL.iter().for_each(|&column| weights[column] = self.weight);
        weights
    }

    /// Σ·w.
    fn spread(&self, weights: &[f64]) -> Vec<f64> {
        let of = |a: usize| weights.iter().enumerate().map(|(b, weight)| weight * self.covariance(a, b)).sum();
        (0..COLUMNS).map(of).collect()
    }

    /// A table as text, with its targets.
    fn table(&self, seed: u64) -> (String, Vec<f64>) {
        let mut random = Random::new(seed);
        let names: Vec<String> = (0..COLUMNS).map(|column| format!("x{column}")).collect();
        let mut text = names.join(",") + ",y\n";
        let (weights, mut targets) = (self.weights(), Vec::with_capacity(ROWS));
        for _ in 0..ROWS {
            let mut row = [0.0; COLUMNS];
            for column in 0..COLUMNS {
                let own = random.normal();
                let before = if column > 0 { self.chain * row[column - 1] } else { 0.0 };
                let scale = if column > 0 { (1.0 - self.chain * self.chain).sqrt() } else { 1.0 };
                row[column] = before + scale * own;
            }
            let mut noise = random.normal();
            if self.is_heavy {
                let chi: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
                // Of variance 1.
                noise /= chi.sqrt();
            }
            let signal: f64 = row.iter().zip(weights).map(|(x, w)| x * w).sum();
            let target = signal + noise;
            let target = if self.is_class { target.signum() } else { target };
            row.iter().for_each(|x| _ = write!(text, "{x},"));
            text += &match self.is_class {
                true => if target > 0.0 { "b\n" } else { "a\n" }.to_owned(),
                false => format!("{target}\n"),
            };
            targets.push(target);
        }
        (text, targets)
    }

    /// The expected squared error of a linear model on new rows.
    fn risk(&self, weights: &[f64], intercept: f64) -> f64 {
        let own = self.weights();
        let covariances = self.spread(&own);
        let variance: f64 = own.iter().zip(&covariances).map(|(w, c)| w * c).sum::<f64>() + 1.0;
        // A class is the sign of a normal variable, of mean 0 and variance 1.
        let (scale, total) =
            if self.is_class { ((2.0 / std::f64::consts::PI).sqrt() / variance.sqrt(), 1.0) } else { (1.0, variance) };
        let crossed: f64 = weights.iter().zip(&covariances).map(|(w, c)| w * c * scale).sum();
        let squared: f64 = weights.iter().zip(self.spread(weights)).map(|(w, c)| w * c).sum();
        total - 2.0 * crossed + squared + intercept * intercept
    }

    fn said(&self, seed: u64) -> Result<Said> {
        let (text, targets) = self.table(seed);
        let record = one(&text, seed)?;
        let mut weights = [0.0; COLUMNS];
        for column in &record.selected {
            let place = column.name[1..].parse::<usize>().map_err(|e| Error::Shape(e.to_string()))?;
            weights[place] = column.weight.as_ref().map_or(0.0, |weight| weight.values()[0]);
        }
        let intercept = record.intercept.as_ref().map_or(0.0, |intercept| intercept.values()[0]);
        let risk = self.risk(&weights, intercept);
        let empty = self.risk(&[0.0; COLUMNS], targets.iter().sum::<f64>() / ROWS as f64);
        let lacks = || Error::Shape(format!("{}: no interval", self.name));
        let chosen = &record.chosen;
        let nested = record.nested.as_ref().ok_or_else(lacks)?;
        let plain = |loss: Option<f64>, error: Option<f64>| (loss.unwrap_or(f64::NAN), error.unwrap_or(f64::NAN));
        let against = chosen.differences.iter().find(|of| of.against == Against::Empty);
        Ok(Said {
            chosen: Coverage::new(
                chosen.interval.ok_or_else(lacks)?,
                plain(chosen.cross_validated, chosen.standard_error),
                risk,
            ),
            nested: Coverage::new(
                nested.interval.ok_or_else(lacks)?,
                plain(Some(nested.loss), nested.standard_error),
                risk,
            ),
            paired: against.map(|of| Coverage::new(of.interval, (of.mean, f64::NAN), risk - empty)),
            taken: !record.selected.is_empty(),
            found: MODEL.iter().filter(|column| weights[**column] != 0.0).count(),
            risk,
        })
    }
}

fn one(text: &str, seed: u64) -> Result<Record> {
    let folder = std::env::temp_dir().join(format!("vaglio-coverage-{}-{seed}", std::process::id()));
    let failed = |e: std::io::Error| Error::Shape(e.to_string());
    std::fs::create_dir_all(&folder).map_err(failed)?;
    std::fs::write(folder.join("table.csv"), text).map_err(failed)?;
    let text = format!(
        "version: 1\nseed: {seed}\ndata: {{train: table.csv, target: y}}\ncriterion: loo\nsearch: greedy\nevaluate: {{nested: {{folds: 5}}}}\n"
    );
    let record = load(&text, "pipeline", &[]).and_then(|(pipeline, _)| {
        let options = RunOptions { folder: folder.clone(), out: folder.join("out"), ..RunOptions::default() };
        run(&pipeline, &options, &mut Silent).map(|outcome| outcome.record)
    });
    let _ = std::fs::remove_dir_all(folder);
    record
}

/// Of each law how often intervals hold the risk, and how wide they are.
///
/// # Errors
/// Those of the runs.
pub fn tables(count: u64, note: &(dyn Fn(&str) + Sync)) -> Result<String> {
    let head = [
        "tables of",
        "risk",
        "chosen",
        "width",
        "± 1.96 errors",
        "width",
        "nested",
        "width",
        "± 1.96 errors",
        "width",
        "less than none",
        "taken",
        "of the model",
    ];
    let title = format!("Share of {count} tables whose {} % interval holds the risk, and median widths", 100.0 * LEVEL);
    let mut table = MarkdownTable::new(&title, &head);
    for law in &LAWS {
        note(law.name);
        let said: Vec<Said> = (1..=count).into_par_iter().map(|seed| law.said(seed)).collect::<Result<_>>()?;
        let share =
            |of: &dyn Fn(&Said) -> bool| mean(&said.iter().map(|s| f64::from(u8::from(of(s)))).collect::<Vec<_>>());
        let width = |of: &dyn Fn(&Said) -> f64| median(said.iter().map(of).collect());
        let paired: Vec<f64> = said.iter().filter_map(|s| s.paired.map(|p| f64::from(u8::from(p.holds)))).collect();
        let found: Vec<f64> = said.iter().map(|s| s.found as f64 / MODEL.len() as f64).collect();
        table.row(&[
            law.name.into(),
            number(mean(&said.iter().map(|s| s.risk).collect::<Vec<_>>()), 3),
            number(share(&|s| s.chosen.holds), 3),
            number(width(&|s| s.chosen.width), 2),
            number(share(&|s| s.chosen.plain), 3),
            number(width(&|s| s.chosen.plain_width), 2),
            number(share(&|s| s.nested.holds), 3),
            number(width(&|s| s.nested.width), 2),
            number(share(&|s| s.nested.plain), 3),
            number(width(&|s| s.nested.plain_width), 2),
            if paired.is_empty() { "–".into() } else { format!("{} ({})", number(mean(&paired), 3), paired.len()) },
            number(share(&|s| s.taken), 3),
            number(mean(&found), 3),
        ]);
    }
    Ok(String::from(
        "# What intervals hold\n\n80 rows, 20 columns, three in the model, noise of variance 1; the default pipeline with five outer \
         folds. `less than none` is of what the chosen columns lose less than none, on the tables where any were taken; `of the model` \
         is the share of the model's columns that were taken.\n\n",
    ) + &table.finish())
}
