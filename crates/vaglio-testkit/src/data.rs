//! Seeded problems: equal recipes give equal bits on every machine.

use crate::SplitMix64;
pub use crate::tables::{gappy_table, mixed_table, series_table, table};
use ndarray::Array2;
use vaglio_core::{Result, RowLabels, argsort_by, prelude::*};

/// Settings of a synthetic problem, which [`Recipe::problem`] generates.
#[must_use]
#[derive(Debug, Clone, Default)]
pub struct Recipe {
    rows: usize,
    columns: usize,
    seed: u64,
    kind: TargetKind,
    outputs: usize,
    weighted: bool,
    groups: Option<usize>,
    duplicates: usize,
    constants: usize,
    collinear: Option<f64>,
    condition: Option<f64>,
    bytes: bool,
    balanced: bool,
    deciding: Option<usize>,
    skewed: bool,
}

#[derive(Debug, Clone, Copy, Default)]
enum TargetKind {
    #[default]
    Regression,
    Binary,
    Multiclass(usize),
}

/// Creates a regression on `rows` × `columns` normal numbers: four columns matter, plus noise.
pub fn regression(rows: usize, columns: usize, seed: u64) -> Recipe {
    Recipe { rows: rows.max(1), columns, seed, outputs: 1, ..Recipe::default() }
}

/// Creates a binary classification with half of the rows in each class.
pub fn binary(rows: usize, columns: usize, seed: u64) -> Recipe {
    Recipe { kind: TargetKind::Binary, ..regression(rows, columns, seed) }
}

/// Creates a classification with `classes` classes of equal size, one output each.
pub fn multiclass(rows: usize, columns: usize, classes: usize, seed: u64) -> Recipe {
    Recipe { kind: TargetKind::Multiclass(classes), ..regression(rows, columns, seed) }
}

impl Recipe {
    /// Adds row weights between 0.25 and 2.25.
    pub fn weighted(self) -> Self {
        Recipe { weighted: true, ..self }
    }

    /// Sets the number of targets; regression only.
    pub fn outputs(self, outputs: usize) -> Self {
        Recipe { outputs: outputs.max(1), ..self }
    }

    /// Splits rows into groups of unequal size.
    pub fn groups(self, groups: usize) -> Self {
        Recipe { groups: Some(groups.max(1)), ..self }
    }

    /// Appends copies of the first `duplicates` columns, in reverse order.
    pub fn duplicates(self, duplicates: usize) -> Self {
        Recipe { duplicates, ..self }
    }

    /// Appends constant columns, the first of them 0.
    pub fn constants(self, constants: usize) -> Self {
        Recipe { constants, ..self }
    }

    /// Makes every second column collinear: its predecessor plus `distance` times noise.
    pub fn collinear(self, distance: f64) -> Self {
        Recipe { collinear: Some(distance), ..self }
    }

    /// Scales columns so that the largest is `condition` times the smallest.
    pub fn condition(self, condition: f64) -> Self {
        Recipe { condition: Some(condition), ..self }
    }

    /// Makes every third column integers from 0 to 255, stored as bytes.
    pub fn bytes(self) -> Self {
        Recipe { bytes: true, ..self }
    }

    /// Balances the classes in training, for [`Recipe::design`].
    pub fn balanced(self) -> Self {
        Recipe { balanced: true, ..self }
    }

    /// Averages predictions over units of up to `most` rows with one target, for [`Recipe::design`].
    pub fn deciding(self, most: usize) -> Self {
        Recipe { deciding: Some(most.max(1)), ..self }
    }

    /// Makes class sizes unequal: each class has about half as many rows as the one before.
    pub fn skewed(self) -> Self {
        Recipe { skewed: true, ..self }
    }

    /// Generates the problem.
    #[expect(clippy::expect_used, reason = "a recipe makes finite columns of one length, with at least one row")]
    pub fn problem(&self) -> Problem {
        let mut random = SplitMix64::new(self.seed);
        let signals = self.signals(&mut random);
        let (targets, task) = self.targets(&signals, &mut random);
        let mut stored: Vec<Vec<f64>> = signals.into_iter().enumerate().map(|(j, v)| self.store(j, v)).collect();
        for copy in (0..self.duplicates.min(stored.len())).rev() {
            stored.push(stored[copy].clone());
        }
        stored.extend((0..self.constants).map(|k| vec![2.5 * k as f64; self.rows]));
        let mut problem = given(&slices(&stored), &slices(&targets), task).expect("the parts fit");
        if let Some(groups) = self.groups {
            let group = |row: usize| if row < groups { row } else { random.below(groups).min(random.below(groups)) };
            problem = problem.with_groups((0..self.rows).map(group).map(|g| g as u32).collect()).expect("one a row");
        }
        if self.weighted {
            let weights = (0..self.rows).map(|_| 0.25 + 2.0 * random.uniform()).collect();
            problem = problem.with_weights(weights).expect("positive, one a row");
        }
        problem
    }

    /// Generates a design: the problem's own columns with a ridge readout over `lambdas`.
    #[expect(clippy::expect_used, reason = "a test that gives a λ that is not positive is to stop here")]
    pub fn design(&self, lambdas: &[f64], intercept: bool) -> Design {
        let readout = Readout::new(lambdas.to_vec(), intercept).expect("every lambda is positive");
        let readout = if self.balanced { readout.balanced() } else { readout };
        let problem = self.problem();
        let Some(most) = self.deciding else { return Design::identity(&problem, readout) };
        let labels = RowLabels { units: Some(units(&problem, most).into()), ..problem.labels().clone() };
        Design::identity(&problem.with_labels(labels).expect("rows of a unit have one target"), readout)
    }

    /// Generates columns before scaling, with mean near 0 and standard deviation near 1.
    fn signals(&self, random: &mut SplitMix64) -> Vec<Vec<f64>> {
        let mut signals: Vec<Vec<f64>> = Vec::new();
        for j in 0..self.columns {
            let mut column: Vec<f64> = (0..self.rows).map(|_| random.normal()).collect();
            if let (Some(distance), 1) = (self.collinear, j % 2) {
                column.iter_mut().zip(&signals[j - 1]).for_each(|(v, before)| *v = before + distance * *v);
            }
            if self.is_byte(j) {
                column.iter_mut().for_each(|v| *v = ((128.0 + 40.0 * *v).clamp(0.0, 255.0).round() - 128.0) / 40.0);
            }
            signals.push(column);
        }
        signals
    }

    fn is_byte(&self, column: usize) -> bool {
        self.bytes && column % 3 == 1
    }

    fn store(&self, j: usize, mut column: Vec<f64>) -> Vec<f64> {
        if self.is_byte(j) {
            column.iter_mut().for_each(|v| *v = (40.0 * *v + 128.0).round());
        } else if let Some(condition) = self.condition {
            let scale = condition.powf(0.5 - j as f64 / (self.columns.max(2) - 1) as f64);
            column.iter_mut().for_each(|v| *v *= scale);
        }
        column
    }

    /// Assigns classes by rank, of equal size unless skewed.
    fn rank(&self, values: &[f64], classes: usize) -> Vec<usize> {
        let count = values.len();
        let order = argsort_by(count, |a, b| values[a].total_cmp(&values[b]));
        let rank_class = |rank: usize| {
            if !self.skewed {
                return rank * classes / count;
            }
            let (mut class, mut end) = (0, count.div_ceil(2));
            while class + 1 < classes && rank >= end {
                end += (count - end).div_ceil(2);
                class += 1;
            }
            class
        };
        let mut class = vec![0; count];
        order.iter().enumerate().for_each(|(rank, &row)| class[row] = rank_class(rank));
        class
    }

    /// One list per output.
    fn targets(&self, signals: &[Vec<f64>], random: &mut SplitMix64) -> (Vec<Vec<f64>>, Task) {
        let mut mixture = || -> Vec<f64> {
            let weights: Vec<f64> = signals.iter().take(4).map(|_| random.normal()).collect();
            let signal = |row: usize| -> f64 { weights.iter().zip(signals).map(|(w, x)| w * x[row]).sum() };
            (0..self.rows).map(|row| 0.5 + signal(row) + 0.4 * random.normal()).collect()
        };
        let coded = |class: &[usize], k: usize| -> Vec<f64> {
            class.iter().map(|own| if *own == k { 1.0 } else { -1.0 }).collect()
        };
        match self.kind {
            TargetKind::Regression => ((0..self.outputs).map(|_| mixture()).collect(), Task::Regression),
            TargetKind::Binary => {
                let class = self.rank(&mixture(), 2);
                (vec![coded(&class, 1)], Task::Binary { negative: Some("no".into()), positive: "yes".into() })
            }
            TargetKind::Multiclass(classes) => {
                let angle: Vec<f64> = mixture().iter().zip(mixture()).map(|(a, b)| turn(*a, b)).collect();
                let class = self.rank(&angle, classes);
                let labels = (0..classes).map(|k| format!("class {k}")).collect();
                ((0..classes).map(|k| coded(&class, k)).collect(), Task::Multiclass { labels })
            }
        }
    }
}

fn slices(lists: &[Vec<f64>]) -> Vec<&[f64]> {
    lists.iter().map(Vec::as_slice).collect()
}

/// Returns a number that grows with the angle of (a, b), without library functions.
fn turn(a: f64, b: f64) -> f64 {
    let part = b / (a.abs() + b.abs()).max(f64::MIN_POSITIVE);
    if a >= 0.0 { part } else { 2.0 - part }
}

/// Groups rows with equal targets, in table order, into units with sizes that cycle from 1 to `most`.
fn units(problem: &Problem, most: usize) -> Vec<u32> {
    let targets = problem.targets();
    let (mut open, mut count): (Vec<(usize, u32, usize)>, u32) = (Vec::new(), 0);
    let unit = |row: usize| {
        if let Some(place) = open.iter().position(|(like, ..)| targets.column(*like) == targets.column(row)) {
            let (_, unit, left) = &mut open[place];
            *left -= 1;
            let own = *unit;
            if *left == 0 {
                open.remove(place);
            }
            return own;
        }
        count += 1;
        let length = 1 + count as usize % most;
        if length > 1 {
            open.push((row, count, length - 1));
        }
        count
    };
    (0..problem.rows()).map(unit).collect()
}

/// Builds a problem from literal columns and targets (one list per output), named `x0`, … and `y0`, ….
///
/// # Errors
/// Returns the errors of [`Problem::new`].
pub fn given(columns: &[&[f64]], targets: &[&[f64]], task: Task) -> Result<Problem> {
    let rows = targets.first().map_or(0, |target| target.len());
    let mut stored = Columns::new(rows);
    columns.iter().for_each(|column| stored.push(column.to_vec()));
    let names = (0..columns.len()).map(|j| format!("x{j}")).collect();
    let target_names = (0..targets.len()).map(|o| format!("y{o}")).collect();
    let targets = Array2::from_shape_fn((targets.len(), rows), |(o, row)| targets[o][row]);
    Problem::new(stored, names, targets, target_names, task)
}

/// Generates unit-variance uniform columns with neighbour correlation 0.5, and a target: `effects` columns of
/// decreasing effect, plus noise. The NumPy programs of the benchmarks generate the same data.
pub fn sparse_linear(seed: u64, rows: usize, columns: usize, effects: usize, noise: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let unit = |random: &mut SplitMix64| (random.uniform() * 2.0 - 1.0) * 3f64.sqrt();
    let mut random = SplitMix64::new(seed);
    let mut x = vec![Vec::with_capacity(rows); columns];
    for _ in 0..rows {
        x.iter_mut().for_each(|column| column.push(unit(&mut random)));
    }
    for j in 1..columns {
        let (before, after) = x.split_at_mut(j);
        after[0].iter_mut().zip(&before[j - 1]).for_each(|(now, last)| *now = 0.5 * last + 0.75f64.sqrt() * *now);
    }
    let mut random = SplitMix64::new(seed + 1000);
    let mut y: Vec<f64> = (0..rows).map(|_| noise * unit(&mut random)).collect();
    for t in 0..effects.min(columns) {
        let effect = if t % 2 == 0 { 1.0 } else { -1.0 } / (1.0 + 0.1 * t as f64);
        y.iter_mut().zip(&x[(t * 37 + 5) % columns]).for_each(|(y, x)| *y += effect * x);
    }
    (x, y)
}

/// Returns the standard designs of criteria: one for each kind of data.
pub fn standard_designs() -> Vec<(&'static str, Design)> {
    let one = |recipe: Recipe| recipe.groups(5).design(&[0.7], true);
    vec![
        ("regression", one(regression(20, 7, 1))),
        ("regression without intercept", regression(20, 7, 2).groups(5).design(&[0.7], false)),
        ("weighted regression", one(regression(20, 7, 3).weighted())),
        ("two outputs and three lambdas", regression(18, 6, 4).outputs(2).groups(4).design(&[1e-3, 0.1, 10.0], true)),
        ("two classes", one(binary(24, 6, 5))),
        ("weighted classes", one(multiclass(24, 6, 3, 6).weighted())),
        ("duplicate and constant columns", one(regression(18, 5, 7).duplicates(2).constants(2))),
        ("columns collinear to 1e-3", regression(20, 6, 8).collinear(1e-3).groups(5).design(&[1e-3], true)),
        ("more columns than rows", one(regression(10, 14, 9))),
        ("bytes", one(regression(20, 7, 10).bytes())),
        ("columns of unlike scale", regression(20, 6, 11).condition(1e3).groups(5).design(&[1e-2], true)),
        ("balanced classes", one(binary(24, 6, 12).skewed().balanced())),
    ]
}

/// Returns the standard problems of learners.
pub fn standard_problems() -> Vec<(&'static str, Problem)> {
    vec![
        ("regression", regression(20, 6, 21).groups(4).problem()),
        ("weighted regression", regression(20, 6, 22).groups(4).weighted().problem()),
        ("two outputs", regression(20, 6, 23).groups(4).outputs(2).problem()),
        ("two classes", binary(20, 6, 24).groups(4).problem()),
        ("three classes", multiclass(24, 6, 3, 25).groups(4).problem()),
        ("bytes", regression(20, 6, 26).groups(4).bytes().problem()),
    ]
}

/// Returns sets of at least two candidate columns with equal bits, each in increasing order.
pub fn duplicates(design: &Design) -> Vec<Vec<Feature>> {
    let bits = |f: Feature| design.column(f).values().iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
    let mut sets: Vec<(Vec<u64>, Vec<Feature>)> = Vec::new();
    for feature in design.candidates() {
        let own = bits(feature);
        match sets.iter_mut().find(|(key, _)| *key == own) {
            Some((_, set)) => set.push(feature),
            None => sets.push((own, vec![feature])),
        }
    }
    sets.into_iter().map(|(_, set)| set).filter(|set| set.len() > 1).collect()
}
