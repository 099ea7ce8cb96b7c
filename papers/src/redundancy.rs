//! Redundancy and accuracy of columns chosen on image and microarray data.

mod judge;
mod path;
mod times;

use crate::markdown::{MarkdownTable, number, seconds};
use crate::pair::{deviation, less};
use crate::picture::{self, Line, Panel};
use crate::run::{Bench, Judge, mean};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use vaglio::files::{TrainTest, prepare};
use vaglio::search::Silent;
use vaglio_core::{Error, Feature, Problem, Result, Task};
use vaglio_kernels::linalg;
use vaglio_pipeline::pipeline::{ValidPipeline, load};

/// Files and the redundancy that the paper's N³LARS reports.
const SETS: [(&str, &str, f64); 5] = [
    ("AR10P", "ar10p", 0.154),
    ("PIE10P", "pie10p", 0.124),
    ("PIX10P", "pix10p", 0.171),
    ("ORL10P", "orl10p", 0.182),
    ("TOX-171", "tox_171", 0.397),
];
/// A way to choose: its name, its criterion and its search.
type Way = (&'static str, &'static str, &'static str);
const LARS: &str = "kind: lars, choose: last";
const GREEDY: &str = "kind: greedy, choose: last";
/// Of criteria that weigh all columns: those with a weight, at most as many as are chosen.
const WEIGHED: &str = "kind: rank, choose: best";
const N3LARS: Way = ("N³LARS", "nhsic", LARS);
const MAXIMUM_RELEVANCE: Way = ("MR-NHSIC", "nhsic", "kind: rank, choose: last");
const HSIC_LASSO: Way = ("HSIC lasso", "{kind: nhsic, normalize: false}", LARS);
const BY_INFORMATION: Way = ("mRMR, information", "mrmr_information", GREEDY);
const BY_CORRELATION: Way = ("mRMR, correlation", "mrmr", GREEDY);
const QPFS: Way = ("QPFS, NHSIC", "{kind: qpfs, similarity: nhsic, nystrom: 200}", WEIGHED);
const SPAM: Way = ("SpAM", "spam", WEIGHED);
const HITON: Way = ("HITON-PC", "hiton_pc", WEIGHED);
const LASSO: Way = ("lasso", "loo", LARS);
const LEFT_OUT: Way = ("LOO greedy", "loo", GREEDY);
/// Those of the paper's table, and others.
const WAYS: [Way; 14] = [
    N3LARS,
    HSIC_LASSO,
    BY_INFORMATION,
    ("FOHSIC", "hsic", GREEDY),
    QPFS,
    SPAM,
    HITON,
    LASSO,
    ("NHSIC greedy", "nhsic", GREEDY),
    MAXIMUM_RELEVANCE,
    BY_CORRELATION,
    ("FCBF", "fcbf", WEIGHED),
    ("HSFS", "hsfs", WEIGHED),
    LEFT_OUT,
];
/// The ways whose accuracy is drawn against the number of columns.
const DRAWN: [Way; 5] = [N3LARS, HSIC_LASSO, BY_INFORMATION, QPFS, MAXIMUM_RELEVANCE];
/// The ways of the regression table: those that are made for numbers and take seconds on twenty thousand columns.
const WAYS_OF_NUMBERS: [Way; 8] = [N3LARS, HSIC_LASSO, BY_CORRELATION, LASSO, MAXIMUM_RELEVANCE, SPAM, HITON, LEFT_OUT];
/// Columns that are chosen, and how many of them a figure is of, the first ones.
const CHOSEN: usize = 50;
const SIZES: [usize; 5] = [10, 20, 30, 40, 50];

/// What one split gives, means over the sizes.
struct OnSplit {
    redundancy: f64,
    /// The same of all fifty, and of the order of entry.
    of_all: f64,
    of_entry: f64,
    /// Of classes; of numbers the squared error as a share of that of the mean. Mean over the sizes, and of each.
    accuracy: f64,
    by_size: Vec<f64>,
    columns: f64,
    seconds: f64,
}

/// The paper's table: redundancy as it is printed, and accuracy, for every set and way.
///
/// # Errors
/// Those of the runs.
pub fn tables(bench: &Bench<'_>) -> Result<String> {
    let mut text = format!(
        "# Redundancy of chosen columns\n\nM. Yamada et al., *N³LARS: minimum redundancy maximum relevance feature selection for \
         large and high-dimensional data*, Table 2: {} splits of 80 to 20, {CHOSEN} columns chosen on the larger part, figures of the \
         first m of them by |α| (in the order of entry where there is no α; all that there are where a way gives fewer), means over m = 10, 20, …, {CHOSEN}. RED is the sum of \
         |ρ| over pairs divided by m(m − 1), as the paper prints it: half of the mean over pairs. Accuracy is that of {}, on the smaller part. Differences to N³LARS are paired over the splits; p is that of \
         Wilcoxon's signed-rank test, exact and two-sided. On AR10P the paper's six other ways have RED from 0.196 to 0.350.\n\n",
        bench.seeds,
        match bench.judge {
            Judge::KernelRidge => "kernel ridge regression, its λ by leave-one-out",
            Judge::KernelLogistic => "kernel logistic regression, its width and λ by three folds",
        }
    );
    let head = [
        "data",
        "way",
        "paper's RED",
        "RED",
        "± splits",
        "by entry",
        "mean of pairs of 50",
        "columns",
        "accuracy",
        "± splits",
        "less N³LARS ± error",
        "p",
        "seconds",
    ];
    let mut table = MarkdownTable::new("Fifty columns", &head);
    let mut curves = Vec::new();
    let ways = asked(bench, &WAYS);
    for (name, file, paper) in SETS {
        if !bench.has(name, &[file]) {
            continue;
        }
        let found = over_splits(bench, name, (file, "multiclass"), &ways)?;
        let first: Vec<f64> = found[0].iter().map(|f| f.accuracy).collect();
        for (at, ((way, ..), found)) in ways.iter().zip(&found).enumerate() {
            let [redundancy, redundancy_spread, accuracy, spread, less, p, seconds] = cells(found, &first, at);
            let figures = |of: &dyn Fn(&OnSplit) -> f64| found.iter().map(of).collect::<Vec<f64>>();
            table.row(&[
                name.into(),
                (*way).into(),
                if at == 0 { number(paper, 3) } else { String::new() },
                redundancy,
                redundancy_spread,
                number(mean(&figures(&|f| f.of_entry)), 3),
                number(mean(&figures(&|f| f.of_all)), 3),
                number(mean(&figures(&|f| f.columns)), 0),
                accuracy,
                spread,
                less,
                p,
                seconds,
            ]);
        }
        curves.push(panel(format!("{name}: accuracy"), &ways, &found));
    }
    text += &table.finish();
    draw(bench, "n3lars-accuracy", curves)?;
    text += &regression(bench)?;
    text += &path::table(bench)?;
    text += &times::table(bench)?;
    Ok(text)
}

/// The first way, to which the others are compared, and those whose name contains what is asked for.
fn asked(bench: &Bench<'_>, ways: &[Way]) -> Vec<Way> {
    let is_asked = |name: &str| name.to_lowercase().contains(&bench.way.to_lowercase());
    ways.iter().enumerate().filter(|(at, way)| *at == 0 || is_asked(way.0)).map(|(_, way)| *way).collect()
}

/// What all tables have of a way: redundancy and accuracy, each with its spread, the difference to the first way with its p, and
/// seconds.
fn cells(found: &[OnSplit], first: &[f64], at: usize) -> [String; 7] {
    let figures = |of: &dyn Fn(&OnSplit) -> f64| found.iter().map(of).collect::<Vec<f64>>();
    let (redundancies, accuracies) = (figures(&|f| f.redundancy), figures(&|f| f.accuracy));
    let [less, p] = if at == 0 { Default::default() } else { less(&accuracies, first) };
    [
        number(mean(&redundancies), 3),
        number(deviation(&redundancies), 3),
        number(mean(&accuracies), 3),
        number(deviation(&accuracies), 3),
        less,
        p,
        seconds(mean(&figures(&|f| f.seconds))),
    ]
}

/// The figure at each size, means over splits, of the ways that are drawn.
fn panel(title: String, ways: &[Way], found: &[Vec<OnSplit>]) -> Panel {
    let line = |(color, way): (usize, &Way)| {
        let found = &found[ways.iter().position(|other| other.0 == way.0)?];
        let value = |at: usize| mean(&found.iter().map(|f| f.by_size[at]).collect::<Vec<f64>>());
        let points = SIZES.iter().enumerate().map(|(at, size)| (*size as f64, value(at)));
        Some(Line { name: way.0, color, points: points.filter(|(_, value)| value.is_finite()).collect() })
    };
    Panel { title, across: "columns", lines: DRAWN.iter().enumerate().filter_map(line).collect() }
}

/// Panels as a picture, if there are any.
fn draw(bench: &Bench<'_>, name: &str, panels: Vec<Panel>) -> Result<()> {
    if panels.is_empty() { Ok(()) } else { bench.picture(name, || picture::draw(&panels)) }
}

/// The redundancy that the paper's figure has of N³LARS, HSIC lasso, mRMR and the lasso on TRIM32, in this order.
const PAPER_OF_NUMBERS: [f64; 4] = [0.42, 0.45, 0.39, 0.43];

/// The rats' TRIM32: redundancy and squared error of columns chosen for a number.
fn regression(bench: &Bench<'_>) -> Result<String> {
    if !bench.has("TRIM32", &["trim32_rat"]) {
        return Ok(String::new());
    }
    let head =
        ["way", "paper's RED", "RED", "± splits", "squared error", "± splits", "less N³LARS ± error", "p", "seconds"];
    let mut table =
        MarkdownTable::new("TRIM32: squared error of kernel ridge regression, as a share of that of the mean", &head);
    let ways = asked(bench, &WAYS_OF_NUMBERS);
    let found = over_splits(bench, "TRIM32", ("trim32_rat", "regression"), &ways)?;
    let first: Vec<f64> = found[0].iter().map(|f| f.accuracy).collect();
    for (at, (way, found)) in ways.iter().zip(&found).enumerate() {
        let place = WAYS_OF_NUMBERS.iter().position(|other| other == way).unwrap_or(usize::MAX);
        let paper = PAPER_OF_NUMBERS.get(place).map_or_else(String::new, |paper| number(*paper, 2));
        table.row(&[&[way.0.to_owned(), paper][..], &cells(found, &first, at)].concat());
    }
    draw(bench, "n3lars-trim32", vec![panel("TRIM32: squared error".into(), &ways, &found)])?;
    Ok(table.finish())
}

/// What each way finds on every split, which is read once for all of them.
fn over_splits(bench: &Bench<'_>, name: &str, data: (&str, &str), ways: &[Way]) -> Result<Vec<Vec<OnSplit>>> {
    let mut found: Vec<Vec<OnSplit>> = ways.iter().map(|_| Vec::new()).collect();
    for seed in 1..=bench.seeds {
        (bench.note)(&format!("{name}: split {seed} of {}", bench.seeds));
        let split = prepare(&pipeline(data, ways[0], seed)?, &bench.folder)?;
        for (found, way) in found.iter_mut().zip(ways) {
            found.push(choose(&split, &pipeline(data, *way, seed)?, bench.judge)?);
        }
    }
    Ok(found)
}

/// A way on a split of a file, by its task.
fn pipeline((file, task): (&str, &str), (_, criterion, search): Way, seed: u64) -> Result<ValidPipeline> {
    let text = format!(
        "version: 1\nseed: {seed}\ndata: {{train: {file}.parquet, target: target, task: {task}, test_fraction: 0.2}}\n\
         preprocess: [standardize]\nlearner: {{kind: rls, lambda: 1.0}}\ncriterion: {criterion}\n\
         search: {{{search}, max_features: {CHOSEN}}}\n"
    );
    load(&text, "pipeline", &[]).map(|(pipeline, _)| pipeline)
}

/// One selection on one split.
fn choose(split: &TrainTest, pipeline: &ValidPipeline, judge: Judge) -> Result<OnSplit> {
    let selection = pipeline.selector().select(&split.train, &mut Silent)?;
    let subset = selection.path.subset();
    let ordered = match &selection.alpha {
        Some(alpha) => by_magnitude(subset, alpha),
        None => subset.to_vec(),
    };
    let (train, test) = (&split.train, split.test.as_ref());
    let test = test.ok_or_else(|| Error::Shape("there are no test rows".into()))?;
    let at_sizes = |f: &dyn Fn(usize) -> Result<f64>| -> Result<Vec<f64>> {
        SIZES.iter().map(|&size| f(size.min(subset.len()))).collect()
    };
    let over_sizes = |f: &dyn Fn(usize) -> Result<f64>| at_sizes(f).map(|values| mean(&values));
    let by_size = at_sizes(&|size| match judge {
        Judge::KernelLogistic if *test.task() != Task::Regression => judge::accuracy(train, test, &ordered[..size]),
        _ => accuracy(train, test, &ordered[..size]),
    })?;
    Ok(OnSplit {
        redundancy: over_sizes(&|size| Ok(redundancy(train, &ordered[..size]) / 2.0))?,
        of_entry: over_sizes(&|size| Ok(redundancy(train, &subset[..size]) / 2.0))?,
        of_all: redundancy(train, subset),
        accuracy: mean(&by_size),
        by_size,
        columns: subset.len() as f64,
        seconds: selection.search_seconds,
    })
}

/// The features by the size of their coefficients, the largest first.
fn by_magnitude(subset: &[Feature], alpha: &[f64]) -> Vec<Feature> {
    let mut order: Vec<usize> = (0..subset.len()).collect();
    order.sort_by(|&a, &b| alpha[b].abs().total_cmp(&alpha[a].abs()).then(a.cmp(&b)));
    order.into_iter().map(|k| subset[k]).collect()
}

/// The mean of |ρ| over pairs of different columns, which are standardized; 0 where there is no pair.
fn redundancy(problem: &Problem, subset: &[Feature]) -> f64 {
    let rows = problem.rows() as f64;
    let columns: Vec<_> = subset.iter().map(|&f| problem.columns().column(f).values().into_owned()).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / rows;
    let size = columns.len() as f64;
    let pairs = columns.iter().enumerate();
    let sum: f64 = pairs.map(|(k, a)| columns[..k].iter().map(|b| product(a, b).abs()).sum::<f64>()).sum();
    if columns.len() < 2 { 0.0 } else { 2.0 * sum / (size * (size - 1.0)) }
}

/// The share of test rows whose class kernel ridge regression finds, or its squared error as a share of that of the mean: a Gaussian kernel as wide as
/// the median distance, the λ of lowest squared leave-one-out error, and targets about their mean.
fn accuracy(train: &Problem, test: &Problem, subset: &[Feature]) -> Result<f64> {
    let failed = |failure: linalg::FactorizationError| Error::Numerical(format!("kernel ridge: {failure}"));
    let (x, held) = (train.columns().matrix(subset), test.columns().matrix(subset));
    let (own, other) = (distances(x.view(), x.view()), distances(held.view(), x.view()));
    let width = 2.0 * median(&own);
    let means = train.targets().mean_axis(Axis(1)).unwrap_or_default();
    let y = &train.targets().t() - &means;
    let mut best: Option<(f64, Array2<f64>)> = None;
    for lambda in [1e-4, 1e-3, 1e-2, 1e-1, 1.0] {
        let mut kernel = own.mapv(|d| (-d / width).exp());
        kernel.diag_mut().mapv_inplace(|k| k + lambda);
        let inverse = linalg::inverse(kernel.view()).map_err(failed)?;
        let alpha = inverse.dot(&y);
        let left_out: f64 = alpha.rows().into_iter().zip(inverse.diag()).map(|(a, g)| a.dot(&a) / (g * g)).sum();
        if best.as_ref().is_none_or(|(least, _)| left_out < *least) {
            best = Some((left_out, alpha));
        }
    }
    let alpha = best.map(|(_, alpha)| alpha).unwrap_or_default();
    let predicted = other.mapv(|d| (-d / width).exp()).dot(&alpha) + &means;
    if *test.task() == Task::Regression {
        let targets = &**test.targets();
        let squares = |errors: Array2<f64>| errors.mapv(|e| e * e).sum();
        return Ok(squares(&predicted.t() - targets) / squares(targets - &means.insert_axis(Axis(1))));
    }
    let right = predicted
        .rows()
        .into_iter()
        .zip(test.targets().columns())
        .filter(|(p, y)| largest(p.view()) == largest(y.view()));
    Ok(right.count() as f64 / test.rows() as f64)
}

/// The output that is largest.
fn largest(values: ArrayView1<'_, f64>) -> usize {
    values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(class, _)| class)
}

/// The median of squared distances of rows that differ; 1 where there are none.
fn median(distances: &Array2<f64>) -> f64 {
    let mut sorted: Vec<f64> = distances.iter().copied().filter(|d| *d > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(1.0)
}

/// Squared distances of rows.
fn distances(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
    Array2::from_shape_fn((a.nrows(), b.nrows()), |(i, j)| {
        a.index_axis(Axis(0), i).iter().zip(b.index_axis(Axis(0), j)).map(|(a, b)| (a - b) * (a - b)).sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_ordered_by_the_size_of_their_coefficients() {
        assert_eq!(by_magnitude(&[7, 3, 5], &[0.1, -2.0, 0.5]), [3, 5, 7]);
    }
}
