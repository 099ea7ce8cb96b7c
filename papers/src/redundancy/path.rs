//! The path of the paper's synthetic data: three columns make the target, and every column has a near-copy.

use crate::markdown::{MarkdownTable, number};
use crate::picture::{self, Line, Panel};
use crate::run::Bench;
use ndarray::Array2;
use vaglio::search::{Silent, Step};
use vaglio_core::{Action, Columns, Feature, Problem, Result, Task};
use vaglio_pipeline::pipeline::load;
use vaglio_testkit::SplitMix64;

const ROWS: usize = 300;
const COLUMNS: usize = 2000;
const CHOSEN: usize = 10;

/// y = x₁·exp(x₂) + x₃ + 0.1·e, and of each of the first half of the columns a copy with a tenth of noise in the second.
fn synthetic() -> Result<Problem> {
    let mut random = SplitMix64::new(1);
    let mut columns: Vec<Vec<f64>> = (0..COLUMNS / 2).map(|_| (0..ROWS).map(|_| random.normal()).collect()).collect();
    for k in 0..COLUMNS / 2 {
        let copy = columns[k].iter().map(|v| v + 0.1 * random.normal()).collect();
        columns.push(copy);
    }
    let y: Vec<f64> = (0..ROWS)
        .map(|row| columns[0][row] * columns[1][row].exp() + columns[2][row] + 0.1 * random.normal())
        .collect();
    let mut x = Columns::new(ROWS);
    columns.into_iter().for_each(|column| x.push(column));
    let name =
        |k: usize| if k < COLUMNS / 2 { format!("x{}", k + 1) } else { format!("copy of x{}", k + 1 - COLUMNS / 2) };
    let targets = Array2::from_shape_fn((1, ROWS), |(_, row)| y[row]);
    Problem::new(x, (0..COLUMNS).map(name).collect(), targets, vec!["y".into()], Task::Regression)
}

/// The coefficients at the knots of a path: for each, columns in the order of entry with theirs.
fn knots(steps: &[Step]) -> Vec<Vec<(Feature, f64)>> {
    let mut inside: Vec<Feature> = Vec::new();
    let at = |step: &Step| {
        match step.action {
            Action::Remove => inside.retain(|feature| *feature != step.feature),
            _ => inside.push(step.feature),
        }
        let alpha = step.knot.as_ref().map_or(&[][..], |knot| &knot.alpha);
        inside.iter().copied().zip(alpha.iter().copied()).collect()
    };
    steps.iter().map(at).collect()
}

/// Which columns enter, and how large the coefficients are when ten have: a table, and a picture of the path.
///
/// # Errors
/// Those of the search.
pub fn table(bench: &Bench<'_>) -> Result<String> {
    if !"path".contains(&bench.only) {
        return Ok(String::new());
    }
    (bench.note)("path of the synthetic data");
    let (pipeline, _) = load(
        &format!(
            "version: 1\ndata: {{train: none.csv, target: y}}\ncriterion: nhsic\n\
             search: {{kind: lars, max_features: {CHOSEN}, choose: last}}\n"
        ),
        "pipeline",
        &[],
    )?;
    let problem = synthetic()?;
    let selection = pipeline.selector().select(&problem, &mut Silent)?;
    let knots = knots(&selection.path.steps);
    let of = |knot: &[(Feature, f64)], is: &dyn Fn(Feature) -> bool| {
        knot.iter().filter(|(feature, _)| is(*feature)).map(|(_, alpha)| alpha.abs()).fold(0.0, f64::max)
    };
    let line = |name: &'static str, color: usize, is: &dyn Fn(Feature) -> bool| Line {
        name,
        color,
        points: knots.iter().enumerate().map(|(at, knot)| ((at + 1) as f64, of(knot, is))).collect(),
    };
    // A column or its near-copy.
    let is = |k: usize| move |feature: Feature| feature % (COLUMNS / 2) == k;
    let lines = vec![
        line("x1 or its copy", 0, &is(0)),
        line("x2 or its copy", 1, &is(1)),
        line("x3 or its copy", 3, &is(2)),
        line("the largest other", 2, &|feature| feature % (COLUMNS / 2) > 2),
    ];
    let title = format!("coefficients of the path, {ROWS} rows, {COLUMNS} columns");
    bench.picture("n3lars-path", || picture::draw(&[Panel { title, across: "event", lines }]))?;
    let mut table = MarkdownTable::new(
        &format!("Path of y = x₁·exp(x₂) + x₃ + 0.1·e, {ROWS} rows, {COLUMNS} columns, half of them near-copies"),
        &["event", "column", "coefficient at the end"],
    );
    let end = knots.last().map_or(&[][..], Vec::as_slice);
    let steps = selection.path.steps.iter().enumerate();
    for (at, step) in steps.filter(|(_, step)| step.action == Action::Add) {
        let last = end.iter().find(|(feature, _)| *feature == step.feature).map_or(0.0, |(_, alpha)| *alpha);
        table.row(&[(at + 1).to_string(), problem.names()[step.feature].clone(), number(last, 4)]);
    }
    Ok(table.finish())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use vaglio_core::Score;

    #[test]
    fn coefficients_follow_what_enters_and_leaves() {
        let step = |action, feature, alpha: &[f64]| {
            Step::new(action, feature, Score::new(0.0), 1).at_knot(0.0, alpha.to_vec())
        };
        let steps = [step(Action::Add, 4, &[0.1]), step(Action::Add, 2, &[0.0, 0.3]), step(Action::Remove, 4, &[0.5])];
        assert_eq!(knots(&steps), [vec![(4, 0.1)], vec![(4, 0.0), (2, 0.3)], vec![(2, 0.5)]]);
    }
}
