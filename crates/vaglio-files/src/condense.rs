//! Condenses a table: a few weighted rows with the weights, sums and products of all rows, fold by fold.
//!
//! Rows [1 | X | Y], each times the root of its weight, are reduced to a triangle R by reflections, which keep RᵀR, the
//! sums of all products. R has q ≤ columns + 1 rows. One more reflection turns its first column into equal entries
//! √(W/q), with the weight W of the fold. Divided by these, R holds q rows [1 | X′ | Y′] of weight W/q each. Blocks of
//! tall matrices: J. Demmel, L. Grigori, M. Hoemmen, J. Langou, *Communication-optimal parallel and sequential QR and
//! LU factorizations*, SIAM J. Sci. Comput. 34(1), 2012.

use super::condensed::check_maps;
use super::data::prepare;
use super::series::count_codes;
use super::train_test::TrainTest;
use ndarray::{Array2, ArrayViewMut2};
use std::fmt;
use std::path::Path;
use vaglio_core::{Column, Error, Problem, Result, row_weights};
use vaglio_kernels::duplicates::first_equal;
use vaglio_kernels::parallel;
use vaglio_kernels::ridge::{append_rows, tile_of};
use vaglio_pipeline::pipeline::ValidPipeline;
use vaglio_pipeline::resampling::Sample;
use vaglio_search::{Event, Monitor};

/// A condensed table.
#[derive(Debug, Default)]
pub struct CondensedTable {
    /// Names of the columns, the targets last.
    pub names: Vec<String>,
    /// Entries of each column.
    pub columns: Vec<Vec<f64>>,
    /// Weight of each row.
    pub weights: Vec<f64>,
    /// Fold of each row.
    pub folds: Vec<u32>,
    /// Number of rows that each row stands for, unless that is its weight.
    pub counts: Option<Vec<f64>>,
    /// Training files.
    pub files: Vec<String>,
    /// Hash of the files.
    pub digest: String,
    /// Seed of the folds.
    pub seed: u64,
}

impl fmt::Display for CondensedTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.weights.len();
        let folds = self.fold_count();
        write!(f, "{rows} weighted rows in {folds} folds stand for {:.0} rows", self.all_rows())
    }
}

/// Condenses the training rows of a pipeline after its maps, and folds them like `choose` does: shuffled by the seed,
/// with groups together, or in blocks of time. Condensed tables keep their folds. Cost O(rows · columns²).
///
/// # Errors
/// Errors of reading and of maps; [`Error::Setting`] for classes, mapped targets, impossible folds and little memory.
pub fn condense(
    pipeline: &ValidPipeline,
    folder: &Path,
    folds: usize,
    monitor: &mut Monitor<'_>,
) -> Result<CondensedTable> {
    if pipeline.target_map.is_some() {
        return Err(Error::setting("target_map", "condensed targets are those of the table; leave it out"));
    }
    let prepared = prepare(pipeline, folder)?;
    if !prepared.is_regression() {
        let message = "classes cannot be condensed; `data.task: regression` takes them as numbers";
        return Err(Error::setting("data.target", message));
    }
    if prepared.train.labels().counts.is_some() {
        check_maps(pipeline)?;
    }
    let problem = prepared.train_in_units()?;
    let (folds, count) = fold_of_each_row(&prepared, folds, pipeline.seed)?;
    let rows = RowsOfFolds::new(&problem, folds, count);
    let remedy = "exclude columns, take fewer folds, or raise the limit";
    pipeline.limits.budget().need(rows.bytes(), format_args!("the sums of {count} folds"), remedy)?;
    let sums = rows.reduce(monitor)?;
    let files = pipeline.data.iter().flat_map(|data| data.train.iter().cloned()).collect();
    Ok(CondensedTable { files, digest: prepared.digest.wait()?, seed: pipeline.seed, ..rows.table(sums) })
}

/// Fold of each row, and the number of folds.
fn fold_of_each_row(prepared: &TrainTest, folds: usize, seed: u64) -> Result<(Vec<u32>, usize)> {
    let problem = &prepared.train;
    if problem.labels().counts.is_some() {
        let folds = problem.groups().unwrap_or_default().to_vec();
        let count = count_codes(&folds).len();
        return Ok((folds, count));
    }
    let sample = Sample::from_problem(problem.clone(), prepared.sample.ordered);
    let named = |error: Error| match error {
        Error::Setting { message, .. } => Error::setting("--folds", message),
        error => error,
    };
    Ok((sample.fold_assignment().folds(folds, seed).map_err(named)?, folds))
}

/// Rows of a problem with their folds.
struct RowsOfFolds<'p> {
    problem: &'p Problem,
    /// Distinct columns, then targets, and the place among them of every column and target.
    columns: Vec<Column<'p>>,
    places: Vec<usize>,
    folds: Vec<u32>,
    fold_count: usize,
}

/// Sums of one fold: a matrix R that has the products RᵀR of its rows [√w | √w·(x − shift)].
#[derive(Clone)]
struct FoldSums {
    shifts: Vec<f64>,
    triangle: Array2<f64>,
    weight: f64,
    count: f64,
}

impl<'p> RowsOfFolds<'p> {
    fn new(problem: &'p Problem, folds: Vec<u32>, fold_count: usize) -> Self {
        let all: Vec<Column<'p>> = problem.columns().iter().collect();
        let targets = problem.targets().rows().into_iter().filter_map(|target| target.to_slice());
        let first = first_equal(&all);
        let mut columns = Vec::new();
        let mut places: Vec<usize> = Vec::with_capacity(all.len());
        for (at, column) in all.into_iter().enumerate() {
            if first[at] == at {
                places.push(columns.len());
                columns.push(column);
            } else {
                places.push(places[first[at]]);
            }
        }
        for target in targets {
            places.push(columns.len());
            columns.push(Column::Double(target));
        }
        RowsOfFolds { problem, columns, places, folds, fold_count }
    }

    /// Side of the triangle of a fold, and number of rows per block.
    fn sizes(&self) -> (usize, usize) {
        let side = self.columns.len() + 1;
        (side, tile_of(side))
    }

    /// Estimated bytes of the sums of all folds, of their table, and of the blocks that threads reduce.
    fn bytes(&self) -> f64 {
        let (rows, (side, block)) = (self.problem.rows(), self.sizes());
        let gathered = rows.min(block * self.fold_count);
        let reduced = rows.min(rayon::current_num_threads().min(self.fold_count) * (2 * block + side));
        8.0 * side as f64 * (2 * rows.min(self.fold_count * side) + gathered + 3 * reduced) as f64
    }

    /// Sums of every fold, by blocks of rows in their order.
    fn reduce(&self, monitor: &mut Monitor<'_>) -> Result<Vec<FoldSums>> {
        let (rows, (side, block)) = (self.problem.rows(), self.sizes());
        let none = FoldSums { shifts: Vec::new(), triangle: Array2::zeros((0, side)), weight: 0.0, count: 0.0 };
        let mut sums = vec![none; self.fold_count];
        let step = block * self.fold_count.max(1);
        let blocks = rows.div_ceil(step);
        monitor.observer.observe(&Event::Stage { what: "condensing", pieces: blocks });
        for start in (0..rows).step_by(step) {
            monitor.stop.check()?;
            let mut of_folds = vec![Vec::new(); self.fold_count];
            (start..rows.min(start + step)).for_each(|row| of_folds[self.folds[row] as usize].push(row));
            // Each column is gathered once for all folds, since its entries are near each other.
            let order = of_folds.concat();
            let entries: Vec<Vec<f64>> = parallel::map_slice(&self.columns, |column| column.gather(&order));
            let done = parallel::map_mut(&mut sums, |fold, sums| {
                let first: usize = of_folds[..fold].iter().map(Vec::len).sum();
                of_folds[fold].chunks(2 * block).zip((first..).step_by(2 * block)).try_for_each(|(rows, first)| {
                    let entries: Vec<&[f64]> = entries.iter().map(|all| &all[first..first + rows.len()]).collect();
                    sums.add(self.problem, rows, &entries)
                })
            });
            done.into_iter().collect::<Result<()>>()?;
            monitor.observer.observe(&Event::Piece);
        }
        Ok(sums)
    }

    /// The condensed rows of all folds.
    fn table(&self, sums: Vec<FoldSums>) -> CondensedTable {
        let problem = self.problem;
        let has_counts = problem.weights() != problem.labels().counts.as_deref();
        let names = problem.names().iter().chain(problem.target_names()).cloned().collect();
        let mut table = CondensedTable {
            names,
            columns: vec![Vec::new(); self.places.len()],
            counts: has_counts.then(Vec::new),
            ..CondensedTable::default()
        };
        for (fold, sums) in sums.into_iter().enumerate().filter(|(_, sums)| sums.weight > 0.0) {
            let (weight, count, columns) = sums.into_rows();
            let rows = columns.first().map_or(0, Vec::len);
            for (all, place) in table.columns.iter_mut().zip(&self.places) {
                all.extend(&columns[*place]);
            }
            table.weights.extend(vec![weight; rows]);
            table.folds.extend(vec![fold as u32; rows]);
            table.counts.iter_mut().for_each(|counts| counts.extend(vec![count; rows]));
        }
        table
    }
}

impl FoldSums {
    /// Adds at least one row, given the entries of each column in these rows.
    fn add(&mut self, problem: &Problem, rows: &[usize], entries: &[&[f64]]) -> Result<()> {
        if self.shifts.is_empty() {
            // A column that is constant in the fold stays so to the bit.
            self.shifts = entries.iter().map(|column| column[0]).collect();
        }
        let labels = problem.labels();
        let weight = row_weights(problem.weights());
        let weights: Vec<f64> = rows.iter().map(|&row| weight(row)).collect();
        self.weight += weights.iter().sum::<f64>();
        self.count += rows.iter().map(|&row| labels.counts.as_ref().map_or(1.0, |all| all[row])).sum::<f64>();
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let write_rows = |mut to: ArrayViewMut2<f64>| {
            to.column_mut(0).iter_mut().zip(&roots).for_each(|(to, root)| *to = *root);
            for (k, (column, shift)) in entries.iter().zip(&self.shifts).enumerate() {
                let scaled = column.iter().zip(&roots).map(|(x, root)| root * (x - shift));
                to.column_mut(k + 1).iter_mut().zip(scaled).for_each(|(to, x)| *to = x);
            }
        };
        let overflow = |_| Error::Numerical("the products of two columns overflow; scale them".into());
        self.triangle = append_rows(&self.triangle, rows.len(), write_rows).map_err(overflow)?;
        Ok(())
    }

    /// Weight and count of each of the few rows, and their columns.
    fn into_rows(self) -> (f64, f64, Vec<Vec<f64>>) {
        let FoldSums { shifts, triangle: mut turned, weight, count } = self;
        let rows = turned.nrows() as f64;
        // The reflection I − 2uuᵀ/‖u‖² turns the first column into ±√(W/q); this sign cancels no digits of u.
        let root = -(weight / rows).sqrt().copysign(turned.column(0).sum());
        let along: Vec<f64> = turned.column(0).iter().map(|x| x - root).collect();
        let squares: f64 = along.iter().map(|u| u * u).sum();
        let column = |(k, shift): (usize, &f64)| {
            let mut column = turned.column_mut(k + 1);
            let product: f64 = column.iter().zip(&along).map(|(x, u)| x * u).sum();
            column.iter_mut().zip(&along).for_each(|(x, u)| *x -= 2.0 * product / squares * u);
            column.iter().map(|x| x / root + shift).collect()
        };
        let columns = shifts.iter().enumerate().map(column).collect();
        (weight / rows, count / rows, columns)
    }
}

impl CondensedTable {
    /// Number of rows that were condensed.
    pub(crate) fn all_rows(&self) -> f64 {
        self.counts.as_ref().unwrap_or(&self.weights).iter().sum()
    }

    /// Number of folds.
    pub(crate) fn fold_count(&self) -> usize {
        self.folds.chunk_by(|a, b| a == b).count()
    }
}
