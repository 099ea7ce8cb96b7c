//! Condensed rows: few weighted rows with the same sums of products as many, for ridge, standard deviations and
//! correlations.
//!
//! Rows [1 | X | Y], each scaled by the root of its weight, are reduced to a triangle R by Householder reflections,
//! which keep the sums of products RᵀR. One more reflection makes all entries of R's first column equal to √(W/q), with
//! total weight W and q ≤ columns + 1 rows of R. Division by these entries gives q rows [1 | X′ | Y′] of weight W/q
//! each.
//!
//! A block's triangle comes from its Gram matrix if that is well conditioned, else from reflections. Unlike sums of
//! products, R keeps the digits of the rows. This is QR of tall and skinny matrices in blocks: J. Demmel, L. Grigori,
//! M. Hoemmen, J. Langou, *Communication-optimal parallel and sequential QR and LU factorizations*, SIAM J. Sci.
//! Comput. 34(1), 2012.
//!
//! Equal columns stay equal to the bit, and constant ones constant.

mod state;

use crate::duplicates::first_equal;
use crate::linalg::{Failure, LowerFactor, gram, triangle};
use crate::parallel;
use crate::{Column, Level};
use ndarray::{Array2, ArrayView2, Axis, ShapeBuilder, concatenate};

/// Maximum mean variance inflation factor at which a Gram matrix is factored: the mean diagonal entry of the inverse
/// correlation matrix.
const MOST_INFLATION: f64 = 16.0;

/// A batch of rows, with the cell and weight of each row.
#[derive(Debug, Clone, Copy)]
pub struct RowBatch<'b> {
    /// Columns and targets.
    pub columns: &'b [Column<'b>],
    /// Cell of each row; rows of [`NO_CELL`] are left out.
    pub cells: &'b [u32],
    /// Weight of each row; all 1 if absent.
    pub weights: Option<&'b [f64]>,
}

/// Cell number of rows that are left out.
pub const NO_CELL: u32 = u32::MAX;

/// Condenses rows in batches, cell by cell.
///
/// The result depends only on the rows of each cell and their order, not on batches or threads. Memory 8·n·(h + n)
/// bytes per cell for blocks of h rows; cost O(m·n²).
#[derive(Debug)]
pub struct Condenser {
    /// Subtracted from the entries of each column, so that columns far from 0 keep their digits.
    shifts: Vec<f64>,
    height: usize,
    cells: Vec<CellBlocks>,
}

/// Condensed rows of a cell so far.
#[derive(Debug, Clone)]
struct CellBlocks {
    /// Rows of the unfinished block, by column; the first column has roots of weights.
    open: Vec<Vec<f64>>,
    triangle: Option<Array2<f64>>,
    weight: f64,
    count: usize,
    /// Least and greatest entry of each column.
    range: Vec<(f64, f64)>,
}

/// Condensed rows of a cell.
#[derive(Debug, Clone)]
pub struct CondensedCell {
    /// Number of original rows.
    pub count: usize,
    /// Weight of each condensed row.
    pub weights: Vec<f64>,
    /// Entries of each column, then of each target.
    pub columns: Vec<Vec<f64>>,
}

impl Condenser {
    /// Creates a condenser with `cells` cells and blocks of at least `height` rows; `shifts` has a number near the
    /// entries of each column and target.
    pub fn new(cells: usize, shifts: Vec<f64>, height: usize) -> Self {
        let side = shifts.len() + 1;
        let range = vec![(f64::INFINITY, f64::NEG_INFINITY); shifts.len()];
        let cell = CellBlocks { open: vec![Vec::new(); side], triangle: None, weight: 0.0, count: 0, range };
        Condenser { shifts, height: height.max(2 * side), cells: vec![cell; cells] }
    }

    /// Adds rows after the previous ones.
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] if products of entries overflow.
    pub fn push(&mut self, batch: RowBatch<'_>) -> Result<(), Failure> {
        let mut of_cells: Vec<Vec<usize>> = vec![Vec::new(); self.cells.len()];
        for (row, &cell) in batch.cells.iter().enumerate() {
            if let Some(rows) = of_cells.get_mut(cell as usize) {
                rows.push(row);
            }
        }
        // Rows of each cell, split at block ends.
        let mut pieces: Vec<(usize, &[usize])> = Vec::new();
        for (cell, rows) in of_cells.iter().enumerate() {
            let (first, rest) = rows.split_at(rows.len().min(self.height - self.cells[cell].open[0].len()));
            pieces.extend(std::iter::once(first).chain(rest.chunks(self.height)).map(|piece| (cell, piece)));
        }
        pieces.retain(|(_, rows)| !rows.is_empty());
        let gathered: Vec<Gathered> = parallel::map_slice(&pieces, |(_, rows)| self.gathered(&batch, rows));
        let mut full: Vec<(usize, Vec<Vec<f64>>)> = Vec::new();
        for ((cell, _), piece) in pieces.iter().zip(gathered) {
            full.extend(self.cells[*cell].take(piece, self.height).map(|block| (*cell, block)));
        }
        let triangles: Vec<Array2<f64>> = parallel::map_slice(&full, |(_, block)| reduced(matrix(block).view()))
            .into_iter()
            .collect::<Result<_, _>>()?;
        for ((cell, _), triangle) in full.iter().zip(triangles) {
            self.cells[*cell].stack(&triangle)?;
        }
        Ok(())
    }

    /// Appends a condenser of later rows, with equal cells and columns. Cost O(cells · columns³).
    ///
    /// # Errors
    /// Returns the errors of [`Condenser::push`].
    pub fn append(&mut self, other: Condenser) -> Result<(), Failure> {
        let (height, shifts) = (self.height, &self.shifts);
        let moves: Vec<f64> = other.shifts.iter().zip(shifts).map(|(theirs, own)| theirs - own).collect();
        let cells: Vec<_> = self.cells.iter_mut().zip(other.cells).collect();
        parallel::map_vec(cells, |(own, theirs)| own.append(theirs, &moves, height)).into_iter().collect()
    }

    /// Gathers rows of a batch, scaled and shifted.
    fn gathered(&self, batch: &RowBatch<'_>, rows: &[usize]) -> Gathered {
        let weights: Vec<f64> = rows.iter().map(|&row| batch.weights.map_or(1.0, |weights| weights[row])).collect();
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let mut range = Vec::with_capacity(self.shifts.len());
        let mut columns = vec![roots.clone()];
        for (column, shift) in batch.columns.iter().zip(&self.shifts) {
            let mut entries = column.gathered(rows);
            range.push(entries.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x))));
            entries.iter_mut().zip(&roots).for_each(|(x, root)| *x = root * (*x - shift));
            columns.push(entries);
        }
        Gathered { columns, weight: weights.iter().sum(), range }
    }

    /// Returns the condensed rows of each cell.
    ///
    /// # Errors
    /// Returns the errors of [`Condenser::push`].
    pub fn finish(self) -> Result<Vec<CondensedCell>, Failure> {
        let shifts = self.shifts;
        parallel::map_vec(self.cells, |cell| cell.finish(&shifts)).into_iter().collect()
    }
}

struct Gathered {
    columns: Vec<Vec<f64>>,
    weight: f64,
    range: Vec<(f64, f64)>,
}

impl CellBlocks {
    /// Adds rows; returns the block if they complete it.
    fn take(&mut self, piece: Gathered, height: usize) -> Option<Vec<Vec<f64>>> {
        self.weight += piece.weight;
        self.count += piece.columns[0].len();
        for (range, own) in self.range.iter_mut().zip(&piece.range) {
            *range = (range.0.min(own.0), range.1.max(own.1));
        }
        self.open.iter_mut().zip(piece.columns).for_each(|(open, more)| match open.is_empty() {
            true => *open = more,
            false => open.extend(more),
        });
        (self.open[0].len() >= height).then(|| self.open.iter_mut().map(std::mem::take).collect())
    }

    /// Appends a cell of later rows; its column shifts exceed the own ones by `moves`.
    fn append(&mut self, theirs: CellBlocks, moves: &[f64], height: usize) -> Result<(), Failure> {
        let CellBlocks { mut open, triangle, weight, count, range } = theirs;
        let (roots, columns) = open.split_at_mut(1);
        for (column, by) in columns.iter_mut().zip(moves) {
            column.iter_mut().zip(&roots[0]).for_each(|(x, root)| *x += by * root);
        }
        // Totals, which include rows already in triangles.
        let whole = (self.weight + weight, self.count + count);
        // Part of a block, which may complete the open one.
        let room = (height - self.open[0].len()).min(open[0].len());
        let rest: Vec<Vec<f64>> = open.iter_mut().map(|column| column.split_off(room)).collect();
        for columns in [open, rest] {
            if let Some(block) = self.take(Gathered { columns, weight: 0.0, range: range.clone() }, height) {
                self.stack(&reduced(matrix(&block).view())?)?;
            }
        }
        if let Some(mut triangle) = triangle {
            let root = triangle.column(0).to_owned();
            for (mut column, by) in triangle.columns_mut().into_iter().skip(1).zip(moves) {
                column.scaled_add(*by, &root);
            }
            self.stack(&triangle)?;
        }
        (self.weight, self.count) = whole;
        Ok(())
    }

    fn stack(&mut self, below: &Array2<f64>) -> Result<(), Failure> {
        let stacked = match self.triangle.take() {
            None => below.clone(),
            Some(above) => {
                let both = concatenate(Axis(0), &[above.view(), below.view()]).map_err(|_| Failure::NoConvergence)?;
                by_reflections(both.view())?
            }
        };
        self.triangle = Some(stacked);
        Ok(())
    }

    fn finish(mut self, shifts: &[f64]) -> Result<CondensedCell, Failure> {
        let side = shifts.len() + 1;
        let open = matrix(&std::mem::take(&mut self.open));
        if self.triangle.is_none() && open.nrows() <= side {
            // The cell has few rows anyway.
            let roots = open.column(0);
            let column =
                |k: usize| open.column(k + 1).iter().zip(roots).map(|(x, root)| x / root + shifts[k]).collect();
            let columns = (0..shifts.len()).map(column).collect();
            let weights = roots.iter().map(|root| root * root).collect();
            return Ok(self.exactly_constant(CondensedCell { count: self.count, weights, columns }));
        }
        if open.nrows() > 0 {
            self.stack(&reduced(open.view())?)?;
        }
        let triangle = self.triangle.take().unwrap_or_else(|| Array2::zeros((0, side)));
        let rows = triangle.nrows();
        let root = (self.weight / rows as f64).sqrt();
        // Reflection I − 2uuᵀ/‖u‖² to a first column of equal entries, with u the difference of both.
        let mut turned = triangle;
        let along: Vec<f64> = turned.column(0).iter().map(|x| x - root).collect();
        let squares: f64 = along.iter().map(|u| u * u).sum();
        let column = |mut column: ndarray::ArrayViewMut1<'_, f64>| {
            let product: f64 = column.iter().zip(&along).map(|(x, u)| x * u).sum();
            if squares > 0.0 {
                column.iter_mut().zip(&along).for_each(|(x, u)| *x -= 2.0 * product / squares * u);
            }
        };
        turned.columns_mut().into_iter().for_each(column);
        let column = |k: usize| turned.column(k + 1).iter().map(|x| x / root + shifts[k]).collect();
        let columns = (0..shifts.len()).map(column).collect();
        let weights = vec![self.weight / rows as f64; rows];
        Ok(self.exactly_constant(CondensedCell { count: self.count, weights, columns }))
    }

    /// Restores columns that were constant.
    fn exactly_constant(&self, mut cell: CondensedCell) -> CondensedCell {
        for (column, (least, greatest)) in cell.columns.iter_mut().zip(&self.range) {
            if least == greatest {
                column.fill(*least);
            }
        }
        cell
    }
}

/// Copies columns into a matrix.
fn matrix(columns: &[Vec<f64>]) -> Array2<f64> {
    let rows = columns.first().map_or(0, Vec::len);
    let mut out = Array2::zeros((rows, columns.len()).f());
    for (mut to, from) in out.columns_mut().into_iter().zip(columns) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
    out
}

/// Reduces a block of rows to its triangle, by its Gram matrix if that is well conditioned.
fn reduced(block: ArrayView2<'_, f64>) -> Result<Array2<f64>, Failure> {
    of_distinct(block, |distinct| match by_products(&gram(distinct)) {
        Some(triangle) => Ok(triangle),
        None => triangle(distinct),
    })
}

fn by_reflections(block: ArrayView2<'_, f64>) -> Result<Array2<f64>, Failure> {
    of_distinct(block, triangle)
}

/// Reduces the distinct nonzero columns, and copies the results to equal ones.
fn of_distinct(
    block: ArrayView2<'_, f64>,
    reduce: impl FnOnce(ArrayView2<'_, f64>) -> Result<Array2<f64>, Failure>,
) -> Result<Array2<f64>, Failure> {
    let copied: Vec<Vec<f64>> = block.columns().into_iter().map(|column| column.to_vec()).collect();
    let first = first_equal(&copied.iter().map(|column| Column::Double(column)).collect::<Vec<_>>());
    let is_zero = |k: usize| copied[k].iter().all(|x| *x == 0.0);
    let distinct: Vec<usize> = (0..copied.len()).filter(|&k| first[k] == k && !is_zero(k)).collect();
    let whole = distinct.len() == copied.len();
    let triangle = match (block.nrows() <= distinct.len(), whole) {
        (true, _) => return Ok(block.to_owned()),
        (false, true) => return checked(reduce(block)?),
        (false, false) => checked(reduce(block.select(Axis(1), &distinct).view())?)?,
    };
    let mut out = Array2::zeros((triangle.nrows(), copied.len()).f());
    for (place, &k) in distinct.iter().enumerate() {
        (k..copied.len())
            .filter(|&other| first[other] == k)
            .for_each(|other| out.column_mut(other).assign(&triangle.column(place)));
    }
    Ok(out)
}

fn checked(triangle: Array2<f64>) -> Result<Array2<f64>, Failure> {
    if triangle.iter().all(|x| x.is_finite()) { Ok(triangle) } else { Err(Failure::NoConvergence) }
}

/// Computes the triangle R with RᵀR = G by Cholesky decomposition with unit diagonal; `None` if ill-conditioned.
fn by_products(products: &Array2<f64>) -> Option<Array2<f64>> {
    let side = products.nrows();
    let scale: Vec<f64> = products.diag().iter().map(|x| x.sqrt()).collect();
    if !scale.iter().all(|x| x.is_normal()) {
        return None;
    }
    let scaled = |i: usize, j: usize| products[(i, j)] / (scale[i] * scale[j]);
    let mut factor = LowerFactor::new(Level::best());
    for i in 0..side {
        let (left, row) = factor.left_over(&(0..i).map(|j| scaled(i, j)).collect::<Vec<f64>>(), scaled(i, i));
        if left.is_nan() || left <= 0.0 {
            return None;
        }
        factor.push(left, row);
    }
    // The trace of (LLᵀ)⁻¹ is ‖L⁻¹‖².
    let unit = |k: usize| (0..side).map(|i| f64::from(u8::from(i == k))).collect::<Vec<f64>>();
    let trace: f64 = (0..side).flat_map(|k| factor.forward(&unit(k))).map(|x| x * x).sum();
    if trace > MOST_INFLATION * side as f64 {
        return None;
    }
    let lower = factor.matrix();
    Some(Array2::from_shape_fn((side, side).f(), |(j, i)| lower[(i, j)] * scale[i]))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
