//! Seconds of greedy RLS beside the wrappers and the low-rank updates.

use super::select;
use crate::baselines::{low_rank, wrapper};
use crate::markdown::{MarkdownTable, number, seconds};
use crate::picture::{self, Line, Panel};
use crate::run::Bench;
use linfa::ParamGuard;
use std::time::Instant;
use vaglio::Selector;
use vaglio::criteria::Loo;
use vaglio::learners::Rls;
use vaglio::search::Choose;
use vaglio::search::Greedy;
use vaglio_core::{Columns, Feature, Lambda, Problem, Result, Task};
use vaglio_testkit::SplitMix64;

/// Rows of the timed comparison, the most for which each of the others is run, and of the curve of greedy alone.
const TIMED: [usize; 6] = [500, 1000, 2000, 3000, 4000, 5000];
const MOST_OF_WRAPPER: usize = 5000;
const MOST_OF_LOW_RANK: usize = 5000;
const CURVE: [usize; 6] = [1000, 2000, 5000, 10_000, 20_000, 50_000];
const COLUMNS: usize = 1000;
const CHOSEN: usize = 50;

/// Seconds of greedy RLS beside the wrappers and the low-rank updates.
pub fn scaling(bench: &Bench<'_>) -> Result<String> {
    if !"runtime".contains(&bench.only) {
        return Ok(String::new());
    }
    let head = [
        "rows",
        "wrapper, rows refitted",
        "wrapper",
        "low-rank LS-SVM",
        "vaglio",
        "wrapper / vaglio",
        "low-rank / vaglio",
    ];
    let mut table = MarkdownTable::new(&format!("Seconds to choose {CHOSEN} of {COLUMNS} columns"), &head);
    let mut timed = Vec::new();
    let lambda = 1.0;
    let time = |what: &dyn Fn() -> Result<Vec<Feature>>| {
        let start = Instant::now();
        what().map(|chosen| (chosen, start.elapsed().as_secs_f64()))
    };
    for rows in TIMED {
        (bench.note)(&format!("runtime: {rows} rows"));
        let problem = synthetic(rows, COLUMNS)?;
        let greedy = || chosen(&problem, lambda, CHOSEN);
        let _ = greedy()?;
        let (ours, fast) = time(&greedy)?;
        let plain = (rows <= MOST_OF_WRAPPER).then(|| time(&|| wrapper(&problem, lambda, CHOSEN))).transpose()?;
        let low = (rows <= MOST_OF_LOW_RANK).then(|| time(&|| Ok(low_rank(&problem, lambda, CHOSEN)))).transpose()?;
        let same = plain.iter().chain(&low).all(|(chosen, _)| *chosen == ours);
        let seconds_of = |run: &Option<(Vec<Feature>, f64)>| run.as_ref().map_or(f64::NAN, |(_, time)| *time);
        let (slow, medium) = (seconds_of(&plain), seconds_of(&low));
        let all = refitted(&problem, lambda, CHOSEN)?;
        timed.push((rows as f64, [all, slow, medium, fast]));
        let shown = |value: f64| if value.is_finite() { seconds(value) } else { "–".into() };
        table.row(&[
            format!("{rows}{}", if same { "" } else { " (other columns)" }),
            format!("{all:.1e}"),
            shown(slow),
            shown(medium),
            seconds(fast),
            number(slow / fast, 0),
            number(medium / fast, 0),
        ]);
    }
    bench.picture("greedy-seconds", || picture::draw(&panels(&timed)))?;
    let mut curve = MarkdownTable::new("Greedy alone", &["rows", "seconds"]);
    let mut points = Vec::new();
    for rows in CURVE {
        (bench.note)(&format!("runtime: greedy on {rows} rows"));
        let problem = synthetic(rows, COLUMNS)?;
        let (_, time) = time(&|| chosen(&problem, lambda, CHOSEN))?;
        curve.row(&[rows.to_string(), seconds(time)]);
        points.push(((rows as f64).ln(), time.ln()));
    }
    Ok(table.finish()
        + &format!(
            "The first wrapper trains anew for every row left out; its seconds are those of one candidate beside half of the columns, times \
             the candidates of all steps. The second takes leave-one-out from leverages.\n\n{}Time grows with rows to the power of {:.2}. \
             Paper, 50000 rows: under 12 minutes (2.4 GHz Core 2).\n\n",
            curve.finish(),
            slope(&points)
        ))
}

/// The seconds of the algorithms over rows: of all of them as powers, and of those two that the paper compares.
fn panels(timed: &[(f64, [f64; 4])]) -> [Panel; 2] {
    let line = |name, color, k: usize| {
        let points = timed.iter().map(|(rows, seconds)| (*rows, seconds[k]));
        Line { name, color, points: points.filter(|(_, value)| value.is_finite()).collect() }
    };
    let low_rank = |color| line("low-rank LS-SVM", color, 2);
    let lines = vec![line("rows refitted", 3, 0), line("wrapper", 2, 1), low_rank(1), line("vaglio", 0, 3)];
    [
        Panel { title: "seconds of all, as powers".into(), across: "rows", lines },
        Panel { title: "seconds".into(), across: "rows", lines: vec![low_rank(1), line("vaglio", 0, 3)] },
    ]
}

/// Seconds that a wrapper would take that trains for every row left out, from one candidate beside half of the columns.
fn refitted(problem: &Problem, lambda: f64, count: usize) -> Result<f64> {
    let subset: Vec<Feature> = (0..count / 2).collect();
    let learner = Rls { lambda: Lambda::from(lambda), intercept: false };
    let design = Selector::params(Loo::default(), Greedy::new(1), learner).check()?.design(problem)?;
    let rows = problem.rows();
    let some = rows.min(20);
    let start = Instant::now();
    for left_out in 0..some {
        let others: Vec<usize> = (0..rows).filter(|&row| row != left_out).collect();
        design.retrain(&others, &[left_out], &subset, None)?;
    }
    let trials: usize = (0..count).map(|size| problem.columns().len() - size).sum();
    Ok(start.elapsed().as_secs_f64() / some as f64 * rows as f64 * trials as f64)
}

/// The slope of the line of least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let along: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    along / points.iter().map(|point| (point.0 - x) * (point.0 - x)).sum::<f64>()
}

fn chosen(problem: &Problem, lambda: f64, count: usize) -> Result<Vec<Feature>> {
    let learner = Rls { lambda: Lambda::from(lambda), intercept: false };
    let greedy = Greedy::new(count).choose(Choose::Last);
    let found = select(problem, Selector::params(Loo::default(), greedy, learner))?;
    Ok(found.path.steps.iter().map(|step| step.feature).collect())
}

/// Two overlapping classes, of which half of the columns tell something.
fn synthetic(rows: usize, columns: usize) -> Result<Problem> {
    let mut random = SplitMix64::new(7);
    let y: Vec<f64> = (0..rows).map(|row| if row % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let mut x = Columns::new(rows);
    for k in 0..columns {
        let shift = if k % 2 == 0 { 0.3 / (1.0 + k as f64).sqrt() } else { 0.0 };
        x.push(y.iter().map(|y| shift * y + random.normal()).collect::<Vec<_>>());
    }
    let names = (0..columns).map(|k| format!("x{k}")).collect();
    let task = Task::Binary { negative: Some("-1".into()), positive: "1".into() };
    let targets = ndarray::Array2::from_shape_fn((1, rows), |(_, row)| y[row]);
    Problem::new(x, names, targets, vec!["y".into()], task)
}
