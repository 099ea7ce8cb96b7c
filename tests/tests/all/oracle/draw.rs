//! Random problems: shapes, scales, searches, criteria and learners.

use std::sync::Arc;
use vaglio::core::{Columns, Criterion, Learner, Problem, Task};
use vaglio::search::Search;
use vaglio_testkit::SplitMix64;

/// A problem with the parts that are tried on it.
pub struct Drawn {
    pub problem: Problem,
    pub criterion: Arc<dyn Criterion>,
    pub search: Search,
    pub learner: Arc<dyn Learner>,
    /// The parts as a pipeline has them.
    pub words: String,
    /// Powers of two of columns, target, and weights with λ, by which the problem can be changed without a change of
    /// its result.
    pub powers: (i32, i32, i32),
    lambdas: Vec<f64>,
    intercept: bool,
    /// The identifier of the learner, and settings beside λ and intercept.
    kind: &'static str,
    settings: String,
}

impl Drawn {
    /// The problem that follows from a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let rows = 4 + random.below(22);
        let columns = 1 + random.below(7);
        let mut x: Vec<Vec<f64>> = (0..columns).map(|_| (0..rows).map(|_| random.normal()).collect()).collect();
        let noise = [0.0, 1e-6, 0.3, 0.3, 1.0][random.below(5)];
        let effects: Vec<f64> = (0..columns).map(|_| random.normal()).collect();
        let outputs = [1, 1, 1, 2][random.below(4)];
        let y: Vec<Vec<f64>> = (0..outputs)
            .map(|o| {
                let effect = |row: usize| (0..columns).map(|k| x[k][row] * effects[(k + o) % columns]).sum::<f64>();
                (0..rows).map(|row| effect(row) + noise * random.normal()).collect()
            })
            .collect();
        deform(&mut x, &mut random);
        let scale = if random.below(3) == 0 { 10f64.powi(random.below(25) as i32 - 12) } else { 1.0 };
        x.iter_mut().flatten().for_each(|value| *value *= scale);
        let is_binary = outputs == 1 && random.below(3) == 0;
        let y: Vec<Vec<f64>> = match is_binary {
            true => y.iter().map(|y| y.iter().map(|y| if *y > 0.0 { 1.0 } else { -1.0 }).collect()).collect(),
            false => y,
        };
        let square = x.iter().flatten().map(|value| value * value).sum::<f64>() / columns as f64;
        let square = if square > 0.0 { square } else { 1.0 };
        let lambda = match random.below(3) {
            0 => square * 0.1,
            _ => square * 10f64.powf(random.uniform() * 24.0 - 12.0),
        };
        let weights = match random.below(5) {
            0 => Some((0..rows).map(|_| 0.5 + random.uniform()).collect::<Vec<f64>>()),
            1 => Some((0..rows).map(|_| 10f64.powf(random.uniform() * 12.0 - 6.0)).collect()),
            _ => None,
        };
        // Of its own stream, so that problems stay those of their seeds.
        let mut more = SplitMix64::new(seed ^ 0x6c65_6172_6e65_7273);
        // Rows that weigh so unlike are retrained plainly, where a column of ones has no unit.
        let is_spread = more.below(12) == 0;
        let weights = match is_spread {
            true => Some((0..rows).map(|_| 10f64.powf(more.uniform() * 80.0 - 40.0)).collect()),
            false => weights,
        };
        let powers = match random.below(2) {
            0 => (0, 0, 0),
            _ => {
                let (a, b) = (power(&mut random, 400), power(&mut random, 400));
                // Penalties stay doubles.
                let most = 1000 - (2 * a + lambda.log2() as i32).abs();
                (a, b, power(&mut random, most.clamp(0, 200) as usize))
            }
        };
        let (kind, settings) = learner(&mut more, columns, is_binary);
        // What a map makes of columns has their unit no more, and is near 1.
        let is_mapped = !["rls", "crrr"].contains(&kind);
        let lambda = if is_mapped { lambda / square * rows as f64 } else { lambda };
        let lambdas = match more.below(4) {
            0 => [1e-3, 1.0, 1e2].iter().map(|factor| lambda * factor).collect(),
            _ => vec![lambda],
        };
        let powers = match is_mapped {
            _ if is_spread => (0, 0, 0),
            true => (0, powers.1, powers.2),
            false => powers,
        };
        let of_rows = criterion(&mut random, rows, is_binary, outputs);
        let criterion = if more.below(8) == 0 { from_json(r#"{"kind": "nhsic"}"#) } else { of_rows };
        let mut drawn = Drawn {
            problem: problem(&x, &y, is_binary, weights),
            criterion,
            search: search(&mut random, columns),
            learner: Arc::new(vaglio::learners::Rls::default()),
            words: String::new(),
            powers,
            lambdas,
            intercept: random.below(3) > 0,
            kind,
            settings,
        };
        (drawn.learner, drawn.words) = drawn.at(1.0);
        drawn
    }

    /// The learner with λ times a factor, and the parts in words.
    fn at(&self, factor: f64) -> (Arc<dyn Learner>, String) {
        let lambdas: Vec<String> = self.lambdas.iter().map(|lambda| format!("{:e}", lambda * factor)).collect();
        let Drawn { kind, settings, intercept, .. } = self;
        let lambda = format!(r#"{{"values": [{}]}}"#, lambdas.join(", "));
        let json = format!(r#"{{"kind": "{kind}"{settings}, "lambda": {lambda}, "intercept": {intercept}}}"#);
        let learner: Box<dyn Learner> = serde_json::from_str(&json).unwrap();
        let criterion = serde_json::to_string(&*self.criterion).unwrap();
        let search = serde_json::to_string(&self.search).unwrap();
        let words = format!("{criterion} {search} {json}");
        let words = words.replace("null", "").replace('"', "");
        (Arc::from(learner), words)
    }

    /// A copy in other units: columns times 2^a, targets times 2^b, weights and λ times 2^c.
    pub fn scaled(&self) -> Drawn {
        let (a, b, c) = self.powers;
        let (a, b, c) = (2f64.powi(a), 2f64.powi(b), 2f64.powi(c));
        let is_binary = *self.problem.task() != Task::Regression;
        let b = if is_binary { 1.0 } else { b };
        let of = |feature| self.problem.columns().column(feature).values().iter().map(|x| x * a).collect();
        let x: Vec<Vec<f64>> = (0..self.problem.columns().len()).map(of).collect();
        let y: Vec<Vec<f64>> =
            self.problem.targets().rows().into_iter().map(|y| y.iter().map(|y| y * b).collect()).collect();
        let rows = self.problem.rows();
        let weights = self.problem.weights().map_or_else(|| vec![1.0; rows], |weights| weights.to_vec());
        let weights: Vec<f64> = weights.iter().map(|weight| weight * c).collect();
        let weights = (self.problem.weights().is_some() || c != 1.0).then_some(weights);
        // Classes that weigh alike have no unit of weights.
        let of_weights = if self.kind == "crrr" { 1.0 } else { c };
        let (learner, words) = self.at(a * a * of_weights);
        Drawn {
            problem: problem(&x, &y, is_binary, weights),
            criterion: Arc::clone(&self.criterion),
            search: self.search.clone(),
            learner,
            words,
            lambdas: self.lambdas.clone(),
            settings: self.settings.clone(),
            ..*self
        }
    }
}

fn power(random: &mut SplitMix64, most: usize) -> i32 {
    random.below(2 * most + 1) as i32 - most as i32
}

fn problem(x: &[Vec<f64>], y: &[Vec<f64>], is_binary: bool, weights: Option<Vec<f64>>) -> Problem {
    let mut columns = Columns::new(y[0].len());
    x.iter().for_each(|column| columns.push(column.clone()));
    let names = (0..x.len()).map(|k| format!("x{k}")).collect();
    let targets = ndarray::Array2::from_shape_fn((y.len(), y[0].len()), |(o, row)| y[o][row]);
    let task = if is_binary { Task::Binary { negative: None, positive: "1".into() } } else { Task::Regression };
    let target_names = (0..y.len()).map(|o| format!("y{o}")).collect();
    let problem = Problem::new(columns, names, targets, target_names, task).unwrap();
    match weights {
        Some(weights) => problem.with_weights(weights).unwrap(),
        None => problem,
    }
}

/// Duplicates, near copies, constants, offsets, other units, whole numbers.
fn deform(x: &mut [Vec<f64>], random: &mut SplitMix64) {
    let columns = x.len();
    for k in 0..columns {
        let other = x[random.below(columns)].clone();
        match random.below(14) {
            0 => x[k] = other,
            1 => {
                let distance = 10f64.powf(-random.uniform() * 10.0);
                x[k] = other.iter().map(|value| value + distance * random.normal()).collect();
            }
            2 => x[k].fill([0.0, 1.0, 1e8][random.below(3)]),
            3 => {
                let offset = 10f64.powf(random.uniform() * 13.0);
                x[k].iter_mut().for_each(|value| *value += offset);
            }
            4 => {
                let unit = 10f64.powf(random.uniform() * 12.0 - 6.0);
                x[k].iter_mut().for_each(|value| *value *= unit);
            }
            5 => x[k].iter_mut().for_each(|value| *value = (*value * 2.0).round()),
            _ => {}
        }
    }
}

fn criterion(random: &mut SplitMix64, rows: usize, is_binary: bool, outputs: usize) -> Arc<dyn Criterion> {
    let loss = match (is_binary, random.below(4)) {
        (true, 0) if outputs == 1 => "zero_one",
        (true, 1) if outputs == 1 => "balanced_squared",
        (_, 2) => "absolute",
        _ => "squared",
    };
    let json = match random.below(2) {
        0 => format!(r#"{{"kind": "loo", "loss": "{loss}"}}"#),
        _ => {
            let engine = ["auto", "auto", "rows_held_out", "moments"]
                [random.below(if loss.ends_with("squared") { 4 } else { 3 })];
            let folds = 2 + random.below(rows.min(6) - 1);
            format!(r#"{{"kind": "kfold", "loss": "{loss}", "folds": {folds}, "engine": "{engine}"}}"#)
        }
    };
    from_json(&json)
}

fn from_json(json: &str) -> Arc<dyn Criterion> {
    let criterion: Box<dyn Criterion> = serde_json::from_str(json).unwrap();
    Arc::from(criterion)
}

/// A learner of as many features as there are columns; half of them are of the columns themselves.
fn learner(random: &mut SplitMix64, columns: usize, is_binary: bool) -> (&'static str, String) {
    match (random.below(10), is_binary) {
        (0..2, true) => ("crrr", String::new()),
        (2, _) => ("fs_ls_svm", format!(r#", "landmarks": {}"#, columns.max(2))),
        (3, _) => ("elm", format!(r#", "units": {columns}, "direct": false"#)),
        (4, _) => ("reservoir", format!(r#", "units": {columns}, "connectivity": 0.6"#)),
        _ => ("rls", String::new()),
    }
}

/// A search with random blocks, forced and excluded columns.
fn search(random: &mut SplitMix64, columns: usize) -> Search {
    let kind = ["greedy", "backward", "floating", "exhaustive"][random.below(4)];
    let order = random.order(columns);
    let mut fields = format!(r#""kind": "{kind}", "choose": "best""#);
    if kind == "floating" {
        // Its own is in the units of the score.
        fields += r#", "tolerance": 0.0"#;
    }
    let is_blocked = columns >= 3 && random.below(3) == 0;
    if is_blocked {
        let (first, second) = (&order[..2], &order[2..columns.min(2 + random.below(3))]);
        let list = |block: &[usize]| block.iter().map(|k| k.to_string()).collect::<Vec<_>>().join(",");
        fields += &format!(r#", "blocks": {{"p": [{}]"#, list(first));
        fields += &if second.is_empty() { "}".to_owned() } else { format!(r#", "q": [{}]}}"#, list(second)) };
    }
    if !is_blocked && columns >= 3 && random.below(3) == 0 {
        fields += &format!(r#", "excluded": [{}]"#, order[1]);
        if random.below(2) == 0 {
            fields += &format!(r#", "forced": [{}]"#, order[0]);
        }
    }
    if kind != "exhaustive" && random.below(4) == 0 {
        fields += r#", "polish": "swaps""#;
    }
    let json = format!("{{{fields}}}");
    serde_json::from_str(&json).unwrap()
}
