//! Serialized state of a condenser; a restored one continues with equal bits.

use super::{CellBlocks, Condenser};
use ndarray::{Array2, ShapeBuilder};

impl Condenser {
    /// Serializes the state for [`Condenser::of_state`].
    pub fn state(&self) -> Vec<u64> {
        let mut out = vec![self.height as u64, self.shifts.len() as u64, self.cells.len() as u64];
        let bits = |out: &mut Vec<u64>, values: &mut dyn Iterator<Item = f64>| out.extend(values.map(f64::to_bits));
        bits(&mut out, &mut self.shifts.iter().copied());
        for cell in &self.cells {
            let (rows, is_by_column) = match &cell.triangle {
                Some(triangle) => (triangle.nrows() as u64 + 1, !triangle.is_standard_layout()),
                None => (0, false),
            };
            let open = cell.open[0].len() as u64;
            out.extend([cell.count as u64, cell.weight.to_bits(), open, rows, u64::from(is_by_column)]);
            bits(&mut out, &mut cell.range.iter().flat_map(|(least, greatest)| [*least, *greatest]));
            bits(&mut out, &mut cell.open.iter().flatten().copied());
            bits(&mut out, &mut cell.triangle.iter().flatten().copied());
        }
        out
    }

    /// Restores a condenser from its state; `None` for invalid words.
    pub fn of_state(words: &[u64]) -> Option<Self> {
        let mut left = Words(words);
        let [height, columns, cells] = [left.count()?, left.count()?, left.count()?];
        let shifts = left.doubles(columns)?;
        let side = columns.checked_add(1)?;
        let cell = |left: &mut Words<'_>| {
            let (count, weight) = (left.count()?, left.doubles(1)?[0]);
            let [open, rows, is_by_column] = [left.count()?, left.count()?, left.count()?];
            let range = left.doubles(2 * columns)?.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
            let open = (0..side).map(|_| left.doubles(open)).collect::<Option<Vec<_>>>()?;
            let triangle = match rows.checked_sub(1) {
                None => None,
                Some(rows) => {
                    let entries = left.doubles(rows.checked_mul(side)?)?;
                    let plain = Array2::from_shape_vec((rows, side), entries).ok()?;
                    let mut by_column = Array2::zeros((rows, side).f());
                    by_column.assign(&plain);
                    Some(if is_by_column == 1 { by_column } else { plain })
                }
            };
            Some(CellBlocks { open, triangle, weight, count, range })
        };
        let all: Option<Vec<CellBlocks>> = (0..cells).map(|_| cell(&mut left)).collect();
        let made = Condenser { shifts, height, cells: all? };
        left.0.is_empty().then_some(made)
    }
}

/// Unread words.
struct Words<'w>(&'w [u64]);

impl Words<'_> {
    fn count(&mut self) -> Option<usize> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        usize::try_from(*first).ok()
    }

    fn doubles(&mut self, count: usize) -> Option<Vec<f64>> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first.iter().map(|word| f64::from_bits(*word)).collect())
    }
}
