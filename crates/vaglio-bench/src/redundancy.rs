//! Redundancy and accuracy of columns chosen on image and microarray data.

use crate::markdown::{MarkdownTable, number, seconds};
use crate::pair::{deviation, less};
use crate::run::{Bench, mean};
use ndarray::{Array2, ArrayView2, Axis};
use vaglio::files::{Prepared, prepare};
use vaglio::pipeline::{ValidPipeline, load};
use vaglio_core::{Columns, Error, Feature, Problem, Result, Silent, Task};
use vaglio_kernels::linalg;

/// Files and the redundancy that the paper's N³LARS reports.
const SETS: [(&str, &str, f64); 5] = [
    ("AR10P", "ar10p", 0.154),
    ("PIE10P", "pie10p", 0.124),
    ("PIX10P", "pix10p", 0.171),
    ("ORL10P", "orl10p", 0.182),
    ("TOX-171", "tox_171", 0.397),
];
/// The name of a way to choose, its criterion and its search.
const WAYS: [(&str, &str, &str); 8] = [
    ("N³LARS", "nhsic", "lars"),
    ("NHSIC greedy", "nhsic", "greedy"),
    ("MR-NHSIC", "nhsic", "rank"),
    ("HSIC lasso", "{kind: nhsic, normalize: false}", "lars"),
    ("FOHSIC", "hsic", "greedy"),
    ("mRMR, correlation", "mrmr", "greedy"),
    ("mRMR, information", "mrmr_information", "greedy"),
    ("LOO greedy", "loo", "greedy"),
];
/// Columns that are chosen, and how many of them a figure is of, the first ones.
const CHOSEN: usize = 50;
const SIZES: [usize; 5] = [10, 20, 30, 40, 50];

/// What one split gives, means over the sizes.
struct Found {
    redundancy: f64,
    /// The same of all fifty, and of the order of entry.
    of_all: f64,
    of_entry: f64,
    /// Of classes; of numbers the squared error as a share of that of the mean.
    accuracy: f64,
    seconds: f64,
}

/// The paper's table: redundancy as it is printed, and accuracy, for every set and way.
///
/// # Errors
/// Those of the runs.
pub fn tables(bench: &Bench<'_>) -> Result<String> {
    let mut text = format!(
        "# Redundancy of chosen columns\n\nM. Yamada et al., *N³LARS: minimum redundancy maximum relevance feature selection for \
         large and high-dimensional data*, MarkdownTable 2: {} splits of 80 to 20, {CHOSEN} columns chosen on the larger part, figures of the \
         first m of them by |α| (in the order of entry where there is no α), means over m = 10, 20, …, {CHOSEN}. RED is the sum of \
         |ρ| over pairs divided by m(m − 1), as the paper prints it: half of the mean over pairs. Accuracy is that of kernel ridge \
         regression, its λ by leave-one-out, on the smaller part. Differences to N³LARS are paired over the splits; p is that of \
         Wilcoxon's signed-rank test, exact and two-sided.\n\n",
        bench.seeds
    );
    let head = [
        "data",
        "way",
        "paper's RED",
        "RED",
        "± splits",
        "by entry",
        "mean of pairs of 50",
        "accuracy",
        "± splits",
        "less N³LARS ± error",
        "p",
        "seconds",
    ];
    let mut table = MarkdownTable::new("Fifty columns", &head);
    for (name, file, paper) in SETS {
        if !bench.has(name, &[file]) {
            continue;
        }
        let found = over_splits(bench, name, (file, "multiclass"), &WAYS)?;
        let first: Vec<f64> = found[0].iter().map(|f| f.accuracy).collect();
        for (at, ((way, ..), found)) in WAYS.iter().zip(&found).enumerate() {
            let figures = |of: &dyn Fn(&Found) -> f64| found.iter().map(of).collect::<Vec<f64>>();
            let accuracies = figures(&|f| f.accuracy);
            let [less, p] = if at == 0 { Default::default() } else { less(&accuracies, &first) };
            table.row(&[
                name.into(),
                (*way).into(),
                if at == 0 { number(paper, 3) } else { String::new() },
                number(mean(&figures(&|f| f.redundancy)), 3),
                number(deviation(&figures(&|f| f.redundancy)), 3),
                number(mean(&figures(&|f| f.of_entry)), 3),
                number(mean(&figures(&|f| f.of_all)), 3),
                number(mean(&accuracies), 3),
                number(deviation(&accuracies), 3),
                less,
                p,
                seconds(mean(&figures(&|f| f.seconds))),
            ]);
        }
    }
    text += &table.finish();
    text += &regression(bench)?;
    text += &times(bench)?;
    Ok(text)
}

/// The ways of the regression table: those that are made for numbers and take seconds on twenty thousand columns.
const WAYS_OF_NUMBERS: [usize; 4] = [0, 2, 5, 7];

/// The rats' TRIM32: redundancy and squared error of columns chosen for a number.
fn regression(bench: &Bench<'_>) -> Result<String> {
    if !bench.has("TRIM32", &["trim32_rat"]) {
        return Ok(String::new());
    }
    let head = ["way", "RED", "± splits", "squared error", "± splits", "less N³LARS ± error", "p", "seconds"];
    let mut table =
        MarkdownTable::new("TRIM32: squared error of kernel ridge regression, as a share of that of the mean", &head);
    let ways = WAYS_OF_NUMBERS.map(|at| WAYS[at]);
    let found = over_splits(bench, "TRIM32", ("trim32_rat", "regression"), &ways)?;
    let first: Vec<f64> = found[0].iter().map(|f| f.accuracy).collect();
    for (at, ((way, ..), found)) in ways.iter().zip(&found).enumerate() {
        let figures = |of: &dyn Fn(&Found) -> f64| found.iter().map(of).collect::<Vec<f64>>();
        let errors = figures(&|f| f.accuracy);
        let [less, p] = if at == 0 { Default::default() } else { less(&errors, &first) };
        table.row(&[
            (*way).into(),
            number(mean(&figures(&|f| f.redundancy)), 3),
            number(deviation(&figures(&|f| f.redundancy)), 3),
            number(mean(&errors), 3),
            number(deviation(&errors), 3),
            less,
            p,
            seconds(mean(&figures(&|f| f.seconds))),
        ]);
    }
    Ok(table.finish())
}

/// Rows and columns of the timed paths.
const ROWS: [usize; 3] = [100, 300, 1000];
const COLUMNS: [usize; 3] = [500, 2000, 8000];

/// Seconds of the path over rows and columns, exact and by Nyström's approximation.
fn times(bench: &Bench<'_>) -> Result<String> {
    if !"runtime".contains(&bench.only) {
        return Ok(String::new());
    }
    let mut table = MarkdownTable::new(
        "Seconds to choose 10 columns by N³LARS",
        &["rows", "columns", "exact", "Nyström, 20 points"],
    );
    for (rows, columns) in ROWS.into_iter().flat_map(|rows| COLUMNS.map(|columns| (rows, columns))) {
        (bench.note)(&format!("runtime: {rows} rows, {columns} columns"));
        let (columns_of, y) = vaglio_testkit::data::sparse_linear(7, rows, columns, 10, 0.5);
        let mut x = Columns::new(rows);
        columns_of.into_iter().for_each(|column| x.push(column));
        let names = (0..columns).map(|k| format!("x{k}")).collect();
        let targets = Array2::from_shape_fn((1, rows), |(_, row)| y[row]);
        let problem = Problem::new(x, names, targets, vec!["y".into()], Task::Regression)?;
        let time = |approximation: &str| -> Result<f64> {
            let (pipeline, _) = load(
                &format!(
                    "version: 1\ndata: {{train: none.csv, target: y}}\ncriterion: {{kind: nhsic, kernel: {{approximation: {approximation}}}}}\n\
                     search: {{kind: lars, max_features: 10, choose: last}}\n"
                ),
                "pipeline",
                &[],
            )?;
            Ok(pipeline.selector().select(&problem, &mut Silent)?.search_seconds)
        };
        table.row(&[rows.to_string(), columns.to_string(), seconds(time("exact")?), seconds(time("nystrom")?)]);
    }
    Ok(table.finish())
}

/// A name, a criterion and a search.
type Ways<'w> = [(&'w str, &'w str, &'w str)];

/// What each way finds on every split, which is read once for all of them.
fn over_splits(bench: &Bench<'_>, name: &str, data: (&str, &str), ways: &Ways<'_>) -> Result<Vec<Vec<Found>>> {
    let mut found: Vec<Vec<Found>> = ways.iter().map(|_| Vec::new()).collect();
    for seed in 1..=bench.seeds {
        (bench.note)(&format!("{name}: split {seed} of {}", bench.seeds));
        let split = prepare(&pipeline(data, ways[0], seed)?, &bench.folder)?;
        for (found, way) in found.iter_mut().zip(ways) {
            found.push(choose(&split, &pipeline(data, *way, seed)?)?);
        }
    }
    Ok(found)
}

/// A way on a split of a file, by its task.
fn pipeline(
    (file, task): (&str, &str),
    (_, criterion, search): (&str, &str, &str),
    seed: u64,
) -> Result<ValidPipeline> {
    let text = format!(
        "version: 1\nseed: {seed}\ndata: {{train: {file}.parquet, target: target, task: {task}, test_fraction: 0.2}}\n\
         preprocess: [standardize]\nlearner: {{kind: rls, lambda: 1.0}}\ncriterion: {criterion}\n\
         search: {{kind: {search}, max_features: {CHOSEN}, choose: last}}\n"
    );
    load(&text, "pipeline", &[]).map(|(pipeline, _)| pipeline)
}

/// One selection on one split.
fn choose(split: &Prepared, pipeline: &ValidPipeline) -> Result<Found> {
    let selection = pipeline.selector().select(&split.train, &mut Silent)?;
    let subset = selection.path.result().map_or(&[][..], |entry| &entry.subset);
    let ordered = match &selection.alpha {
        Some(alpha) => by_magnitude(subset, alpha),
        None => subset.to_vec(),
    };
    let (train, test) = (&split.train, split.test.as_ref());
    let test = test.ok_or_else(|| Error::Shape("there are no test rows".into()))?;
    let over_sizes = |f: &dyn Fn(usize) -> Result<f64>| -> Result<f64> {
        let sizes = SIZES.iter().map(|&size| f(size.min(subset.len())));
        Ok(mean(&sizes.collect::<Result<Vec<f64>>>()?))
    };
    Ok(Found {
        redundancy: over_sizes(&|size| Ok(redundancy(train, &ordered[..size]) / 2.0))?,
        of_entry: over_sizes(&|size| Ok(redundancy(train, &subset[..size]) / 2.0))?,
        of_all: redundancy(train, subset),
        accuracy: over_sizes(&|size| accuracy(train, test, &ordered[..size]))?,
        seconds: selection.search_seconds,
    })
}

/// The features by the size of their coefficients, the largest first.
fn by_magnitude(subset: &[Feature], alpha: &[f64]) -> Vec<Feature> {
    let mut order: Vec<usize> = (0..subset.len()).collect();
    order.sort_by(|&a, &b| alpha[b].abs().total_cmp(&alpha[a].abs()).then(a.cmp(&b)));
    order.into_iter().map(|k| subset[k]).collect()
}

/// The mean of |ρ| over pairs of different columns, which are standardized.
fn redundancy(problem: &Problem, subset: &[Feature]) -> f64 {
    let rows = problem.rows() as f64;
    let columns: Vec<_> = subset.iter().map(|&f| problem.columns().column(f).values().into_owned()).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / rows;
    let size = columns.len() as f64;
    let pairs = columns.iter().enumerate();
    let sum: f64 = pairs.map(|(k, a)| columns[..k].iter().map(|b| product(a, b).abs()).sum::<f64>()).sum();
    2.0 * sum / (size * (size - 1.0))
}

/// The share of test rows whose class kernel ridge regression finds, or its squared error as a share of that of the mean: a Gaussian kernel as wide as
/// the median distance, the λ of lowest squared leave-one-out error, and targets about their mean.
fn accuracy(train: &Problem, test: &Problem, subset: &[Feature]) -> Result<f64> {
    let failed = |failure: linalg::Failure| Error::Numerical(format!("kernel ridge: {failure}"));
    let (x, held) = (train.columns().matrix(subset), test.columns().matrix(subset));
    let (own, other) = (distances(x.view(), x.view()), distances(held.view(), x.view()));
    let mut sorted: Vec<f64> = own.iter().copied().filter(|d| *d > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let width = 2.0 * sorted.get(sorted.len() / 2).copied().unwrap_or(1.0);
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
    let largest = |values: ndarray::ArrayView1<'_, f64>| {
        values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(class, _)| class)
    };
    let right = predicted
        .rows()
        .into_iter()
        .zip(test.targets().columns())
        .filter(|(p, y)| largest(p.view()) == largest(y.view()));
    Ok(right.count() as f64 / test.rows() as f64)
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
