//! False discoveries on tables whose true columns are known, at a rate of 0.1.

use crate::markdown::{MarkdownTable, number, seconds};
use crate::run::{Bench, mean};
use linfa::ParamGuard;
use ndarray::Array2;
use rayon::prelude::*;
use std::time::Instant;
use vaglio::criteria::Loo;
use vaglio::learners::Rls;
use vaglio::search::Choose;
use vaglio::search::{Greedy, Search, Silent};
use vaglio::{Selector, ValidSelector};
use vaglio_core::{Columns, Problem, Result, Task};
use vaglio_testkit::SplitMix64;

const RATE: f64 = 0.1;
/// Rows, columns, columns of the model, and the size of their weights beside noise of variance 1.
const SIZES: [(usize, usize, usize, f64); 2] = [(200, 1000, 10, 0.5), (100, 5000, 5, 1.0)];

/// How the columns of a table depend on each other, and what their tails are.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Null,
    Independent,
    /// Neighbors correlate by 0.9.
    Chain,
    /// Blocks of ten that correlate by 0.7, the last of which is a copy of the first in another unit.
    Copies,
    /// Student's t with three degrees of freedom, noise as well.
    Heavy,
}

const KINDS: [(&str, Kind); 5] = [
    ("global null", Kind::Null),
    ("independent", Kind::Independent),
    ("AR(0.9)", Kind::Chain),
    ("blocks with copies", Kind::Copies),
    ("heavy tails", Kind::Heavy),
];

/// A table with the columns that its model has, copies of them included.
struct Simulated {
    problem: Problem,
    is_true: Vec<bool>,
    /// Columns of the model, copies aside.
    signals: usize,
}

/// What was found on a table.
struct OnTable {
    false_share: f64,
    power: f64,
    taken: f64,
    seconds: f64,
}

/// The mean share of false columns and of those found, of every kind and size.
pub fn tables(bench: &Bench<'_>) -> Result<String> {
    let head = ["columns", "size", "false share", "±", "power", "taken", "seconds"];
    let title = format!("Confirmed at a rate of {RATE}, means of {} tables", bench.seeds);
    let mut table = MarkdownTable::new(&title, &head);
    for (name, kind) in KINDS {
        for (rows, columns, signals, weight) in SIZES {
            let size = format!("{rows} × {columns}");
            if !format!("{name} {size}").to_lowercase().contains(&bench.only.to_lowercase()) {
                continue;
            }
            let signals = if kind == Kind::Null { 0 } else { signals };
            (bench.note)(&format!("{name}, {size}"));
            let one = |seed: u64| Simulated::new(kind, (rows, columns), (signals, weight), seed)?.found(&selector()?);
            let found: Vec<OnTable> = (0..bench.seeds).into_par_iter().map(one).collect::<Result<_>>()?;
            let mean_of = |of: fn(&OnTable) -> f64| mean(&found.iter().map(of).collect::<Vec<_>>());
            let share = mean_of(|found| found.false_share);
            let squares = found.iter().map(|found| (found.false_share - share).powi(2)).sum::<f64>();
            let count = bench.seeds as f64;
            table.row(&[
                name.into(),
                size.clone(),
                number(share, 3),
                number((squares / (count - 1.0) / count).sqrt(), 3),
                if signals == 0 { "–".into() } else { number(mean_of(|found| found.power), 3) },
                number(mean_of(|found| found.taken), 2),
                seconds(mean_of(|found| found.seconds)),
            ]);
        }
    }
    Ok(format!(
        "# False discoveries\n\n`choose: {{fdr: {RATE}}}` on simulated tables; a copy of a column of the model counts as that \
         column. 200 × 1000 has ten columns of weight ±0.5 in the model, 100 × 5000 five of ±1.\n\n{}",
        table.finish()
    ))
}

fn selector() -> Result<ValidSelector> {
    let search = Search::new(Greedy {}).choose(Choose::FalseDiscoveries(RATE));
    Selector::params(Loo::default(), search, Rls::new(1.0)).check()
}

impl Simulated {
    fn new(kind: Kind, (rows, columns): (usize, usize), (signals, weight): (usize, f64), seed: u64) -> Result<Self> {
        let mut random = SplitMix64::new(seed.wrapping_mul(0x9e37_79b9).wrapping_add(columns as u64));
        let mut x: Vec<Vec<f64>> = Vec::new();
        let mut before: Vec<f64> = (0..rows).map(|_| random.normal()).collect();
        for column in 0..columns {
            let next = match kind {
                Kind::Null | Kind::Independent => (0..rows).map(|_| random.normal()).collect(),
                Kind::Heavy => (0..rows).map(|_| heavy(&mut random)).collect(),
                Kind::Chain => {
                    before.iter_mut().for_each(|v| *v = 0.9 * *v + 0.19_f64.sqrt() * random.normal());
                    before.clone()
                }
                Kind::Copies if column % 10 == 9 => x[column - 9].iter().map(|v| 3.0 * v + 1.0).collect(),
                Kind::Copies => {
                    if column % 10 == 0 {
                        before = (0..rows).map(|_| random.normal()).collect();
                    }
                    before.iter().map(|v| 0.7_f64.sqrt() * v + 0.3_f64.sqrt() * random.normal()).collect()
                }
            };
            x.push(next);
        }
        let is_copy = |column: usize| kind == Kind::Copies && column % 10 == 9;
        let order = random.order(columns).into_iter().filter(|column| !is_copy(*column)).take(signals);
        let mut is_true = vec![false; columns];
        let mut y: Vec<f64> =
            (0..rows).map(|_| if kind == Kind::Heavy { heavy(&mut random) } else { random.normal() }).collect();
        for column in order {
            let weight = if random.uniform() < 0.5 { -weight } else { weight };
            y.iter_mut().zip(&x[column]).for_each(|(y, x)| *y += weight * x);
            is_true[column] = true;
            if kind == Kind::Copies && column % 10 == 0 {
                is_true[column + 9] = true;
            }
        }
        let mut all = Columns::new(rows);
        x.into_iter().for_each(|column| all.push(column));
        let names = (0..columns).map(|column| format!("x{column}")).collect();
        let y = Array2::from_shape_vec((1, rows), y).map_err(|e| vaglio_core::Error::Shape(e.to_string()))?;
        let problem = Problem::new(all, names, y, vec!["y".into()], Task::Regression)?;
        Ok(Simulated { problem, is_true, signals })
    }

    fn found(&self, selector: &ValidSelector) -> Result<OnTable> {
        let start = Instant::now();
        let selection = selector.select(&self.problem, &mut Silent)?;
        let taken = selection.path.subset();
        let wrong = taken.iter().filter(|column| !self.is_true[**column]).count() as f64;
        let count = taken.len() as f64;
        Ok(OnTable {
            false_share: wrong / count.max(1.0),
            power: (count - wrong) / (self.signals as f64).max(1.0),
            taken: count,
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}

/// Student's t with three degrees of freedom.
fn heavy(random: &mut SplitMix64) -> f64 {
    let square: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
    random.normal() / (square / 3.0).sqrt()
}
