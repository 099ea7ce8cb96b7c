//! Dependence by levels on a table of the size of the p53 mutants, which are not given away with it.

use crate::markdown::{MarkdownTable, number, seconds};
use crate::run::{Bench, mean};
use ndarray::Array2;
use std::path::PathBuf;
use std::time::Instant;
use vaglio::Selection;
use vaglio::files::prepare;
use vaglio::search::Silent;
use vaglio_core::{Columns, Feature, Problem, Result, Task};
use vaglio_pipeline::pipeline::load;
use vaglio_testkit::SplitMix64;

/// Rows and columns of the p53 mutants and of the part that the paper trains on, and how many columns are chosen.
const TABLES: [(usize, usize, usize); 2] = [(31_420, 5_408, 100), (26_120, 5_000, 100)];
/// Columns of a block, which share a part of their variance.
const BLOCK: usize = 52;
/// Blocks whose first column says something of the target.
const TELLING: usize = 10;
/// The share of rows of the rarer class.
const RARE: f64 = 0.005;
/// Rows of the tables on which all approximations are compared, and how many columns are chosen there.
const SUBSAMPLE: (usize, usize) = (500, 20);
/// Entries of a file beyond which exact kernels take gigabytes.
const MOST_ENTRIES: usize = 10_000_000;
/// Tables whose seconds say what an entry costs: rows, columns and how many are chosen.
const SIZES: [(usize, usize, usize); 3] = [(5_000, 1_000, 20), (10_000, 2_000, 20), (20_000, 2_000, 40)];
/// What that is extrapolated to, the last as large as those of the paper's cluster.
const FAR: [(usize, usize, usize); 3] = [(20_000, 20_000, 50), (31_420, 5_408, 100), (1_000_000, 10_000, 100)];
/// Ways to choose: their names, criterion and search.
const WAYS: [(&str, &str, &str); 3] =
    [("N³LARS", "nhsic", "lars"), ("MR-NHSIC", "nhsic", "rank"), ("mRMR, information", "mrmr_information", "greedy")];

/// Seconds and choices on such tables, what an approximation by levels changes, and a model of the cost.
///
/// # Errors
/// Those of the runs.
pub fn tables(bench: &Bench<'_>) -> Result<String> {
    let mut text = format!(
        "# A table of the size of the p53 mutants\n\nNormal columns in blocks of {BLOCK} with correlations of 0.64; the first \
         columns of {TELLING} blocks make a score, half of them by their sine, and the {} % of rows with the highest are the rarer \
         class.\n\n",
        100.0 * RARE
    );
    for (title, table) in [
        ("time", large as fn(&Bench<'_>) -> Result<String>),
        ("agreement", agreement),
        ("files", files),
        ("cost", cost),
    ] {
        if title.contains(&bench.only) {
            text += &table(bench)?;
        }
    }
    Ok(text)
}

fn large(bench: &Bench<'_>) -> Result<String> {
    let head = ["rows", "columns", "way", "chosen", "telling columns among the first ten", "seconds"];
    let mut table = MarkdownTable::new("Time", &head);
    for (rows, columns, size) in TABLES {
        let problem = problem(1, rows, columns)?;
        for (way, criterion, search) in WAYS {
            (bench.note)(&format!("{way}: {rows} rows, {columns} columns"));
            let (selection, taken) = selected(&problem, criterion, search, size)?;
            let chosen = selection.path.subset();
            let telling = chosen.iter().take(TELLING).filter(|f| tells(**f)).count();
            let cells = [rows, columns].map(|count| count.to_string());
            let [rows, columns] = cells;
            table.row(&[rows, columns, way.into(), chosen.len().to_string(), telling.to_string(), seconds(taken)]);
        }
    }
    Ok(table.finish())
}

/// Columns by levels beside those by exact kernels.
fn agreement(bench: &Bench<'_>) -> Result<String> {
    let (rows, size) = SUBSAMPLE;
    let (_, columns, _) = TABLES[0];
    let mut table = MarkdownTable::new(
        &format!("{size} of {columns} columns by levels, beside exact kernels: {rows} rows"),
        &["seed", "in both", "the same order up to"],
    );
    for seed in 1..=bench.seeds {
        (bench.note)(&format!("agreement: seed {seed}"));
        let problem = problem(seed, rows, columns)?;
        let Agreement { both, order, .. } = Agreement::of(&problem, size)?;
        table.row(&[seed.to_string(), both.to_string(), order.to_string()]);
    }
    Ok(table.finish())
}

/// The same on every file of the folder that exact kernels can do.
fn files(bench: &Bench<'_>) -> Result<String> {
    let (_, size) = SUBSAMPLE;
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&bench.folder)
        .map(|entries| entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect())
        .unwrap_or_default();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "parquet"));
    paths.sort();
    let head = ["file", "rows", "columns", "chosen", "in both", "the same order up to", "scores apart at most"];
    let mut table = MarkdownTable::new(&format!("{size} columns of each file by levels, beside exact kernels"), &head);
    for path in paths {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (bench.note)(&format!("files: {file}"));
        let text = text(&format!("{{train: {file}, target: target}}"), "nhsic", "lars", size);
        let (pipeline, _) = load(&format!("{text}preprocess: [{{kind: one_hot}}]\n"), "pipeline", &[])?;
        let problem = match prepare(&pipeline, &bench.folder) {
            Ok(prepared) => prepared.train,
            Err(error) => {
                (bench.note)(&format!("files: {file} is left out: {error}"));
                continue;
            }
        };
        let (rows, columns) = (problem.rows(), problem.columns().len());
        if rows * columns > MOST_ENTRIES {
            continue;
        }
        let Agreement { chosen, both, order, apart } = Agreement::of(&problem, size.min(columns))?;
        let counts = [rows, columns, chosen, both, order].map(|count| count.to_string());
        table.row(&[&[file][..], &counts, &[format!("{apart:.1e}")]].concat());
    }
    Ok(table.finish())
}

/// Seconds as rows × columns × (columns chosen + 2): a pass for the columns' levels, one for the target and one for each choice.
fn cost(bench: &Bench<'_>) -> Result<String> {
    let work = |(rows, columns, size): (usize, usize, usize)| rows as f64 * columns as f64 * (size + 2) as f64;
    let mut measured = Vec::new();
    for at @ (rows, columns, size) in SIZES {
        (bench.note)(&format!("cost: {rows} rows, {columns} columns"));
        measured.push((at, selected(&problem(1, rows, columns)?, "nhsic", "lars", size)?.1));
    }
    let each = mean(&measured.iter().map(|(at, seconds)| seconds / work(*at)).collect::<Vec<f64>>());
    let head = ["rows", "columns", "chosen", "seconds", "by the model", "ns of an entry and a pass"];
    let mut table = MarkdownTable::new("Cost of N³LARS by levels", &head);
    let mut row = |at: (usize, usize, usize), found: Option<f64>| {
        let (rows, columns, size) = at;
        let [rows, columns, size] = [rows, columns, size].map(|count| count.to_string());
        let cell = |of: &dyn Fn(f64) -> String| found.map_or_else(String::new, of);
        let own = cell(&|found| number(1e9 * found / work(at), 2));
        table.row(&[rows, columns, size, cell(&seconds), seconds(each * work(at)), own]);
    };
    measured.iter().for_each(|(at, found)| row(*at, Some(*found)));
    FAR.into_iter().for_each(|at| row(at, None));
    Ok(table.finish())
}

/// Whether the target is made of a column.
fn tells(feature: Feature) -> bool {
    feature.is_multiple_of(BLOCK) && feature / BLOCK < TELLING
}

/// A path by levels beside that by exact kernels.
struct Agreement {
    /// Columns that exact kernels choose, how many of them levels do, and up to which both enter in one order.
    chosen: usize,
    both: usize,
    order: usize,
    /// By how much scores of the same columns differ at most.
    apart: f64,
}

impl Agreement {
    fn of(problem: &Problem, size: usize) -> Result<Self> {
        let path = |approximation: &str| -> Result<Vec<(Vec<Feature>, f64)>> {
            let criterion = format!("{{kind: nhsic, kernel: {{approximation: {approximation}}}}}");
            let (selection, _) = selected(problem, &criterion, "lars", size)?;
            Ok(selection.path.entries.into_iter().map(|entry| (entry.subset, entry.score.loss)).collect())
        };
        let (exact, levels) = (path("exact")?, path("levels")?);
        let alike: Vec<_> = exact.iter().zip(&levels).take_while(|(a, b)| a.0 == b.0).collect();
        let [largest, others] = [&exact, &levels].map(|path| path.last().map_or(&[][..], |(subset, _)| subset));
        Ok(Agreement {
            chosen: largest.len(),
            both: largest.iter().filter(|f| others.contains(f)).count(),
            order: alike.len(),
            apart: alike.iter().map(|(a, b)| (a.1 - b.1).abs()).fold(0.0, f64::max),
        })
    }
}

/// What a criterion and a search select, and in how many seconds.
fn selected(problem: &Problem, criterion: &str, search: &str, size: usize) -> Result<(Selection, f64)> {
    let (pipeline, _) = load(&text("{train: none.csv, target: y}", criterion, search, size), "pipeline", &[])?;
    let begun = Instant::now();
    let selection = pipeline.selector().select(problem, &mut Silent)?;
    Ok((selection, begun.elapsed().as_secs_f64()))
}

fn text(data: &str, criterion: &str, search: &str, size: usize) -> String {
    format!(
        "version: 1\ndata: {data}\ncriterion: {criterion}\nlearner: {{kind: rls, lambda: 1.0}}\n\
         search: {{kind: {search}, max_features: {size}, choose: last}}\n"
    )
}

fn problem(seed: u64, rows: usize, columns: usize) -> Result<Problem> {
    let mut random = SplitMix64::new(seed);
    let mut x = Columns::new(rows);
    let (mut common, mut score) = (Vec::new(), vec![0.0; rows]);
    for feature in 0..columns {
        if feature.is_multiple_of(BLOCK) {
            common = (0..rows).map(|_| random.normal()).collect::<Vec<f64>>();
        }
        let column: Vec<f64> = common.iter().map(|c| 0.8 * c + 0.6 * random.normal()).collect();
        if tells(feature) {
            let is_sine = (feature / BLOCK).is_multiple_of(2);
            score.iter_mut().zip(&column).for_each(|(s, v)| *s += if is_sine { v.sin() } else { *v });
        }
        x.push(column);
    }
    score.iter_mut().for_each(|s| *s += random.normal());
    let mut sorted = score.clone();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let least = sorted[((RARE * rows as f64) as usize).max(1) - 1];
    let targets = Array2::from_shape_fn((1, rows), |(_, row)| if score[row] >= least { 1.0 } else { -1.0 });
    let names = (0..columns).map(|k| format!("x{k}")).collect();
    let task = Task::Binary { negative: Some("inactive".into()), positive: "active".into() };
    Problem::new(x, names, targets, vec!["y".into()], task)
}
