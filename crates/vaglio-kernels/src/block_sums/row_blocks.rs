//! Rows that are a union of whole blocks.

use super::BlockSums;
use crate::sums::axpy;
use crate::tolerance::SHIFTED_SQUARES;
use crate::{ColumnEntries, Operand};
use std::sync::Arc;
use vaglio_columns::lock;

/// The blocks of [`BlockSums`] that make up a set of rows.
#[derive(Debug)]
pub(crate) struct RowBlocks {
    blocks: Arc<BlockSums>,
    included: Vec<usize>,
    rows: f64,
    /// Additional shift of each column.
    offsets: Vec<f64>,
    /// Additional shift of each target.
    targets: Vec<f64>,
}

impl RowBlocks {
    /// Returns `None` if: the rows of `entries` are not whole blocks; a shift removes much of a column; an `active`
    /// column has no sums.
    pub fn new(
        blocks: &Arc<BlockSums>,
        entries: &ColumnEntries<'_>,
        active: &[bool],
        targets: &[&[f64]],
    ) -> Option<Self> {
        let rows = entries.rows(targets.first()?.len());
        let mut counts = vec![0; blocks.blocks];
        for &row in rows.iter() {
            *counts.get_mut(*blocks.groups.of_row.get(row)? as usize)? += 1;
        }
        let is_whole = |(own, all): (&usize, &usize)| *own == 0 || own == all;
        let has_sums = active.iter().zip(&blocks.active).all(|(own, all)| *all || !own);
        if !counts.iter().zip(&blocks.groups.sizes).all(is_whole) || !has_sums || active.len() != blocks.active.len() {
            return None;
        }
        let included: Vec<usize> = (0..counts.len()).filter(|&block| counts[block] > 0).collect();
        let mut out = RowBlocks {
            blocks: Arc::clone(blocks),
            included,
            rows: rows.len() as f64,
            offsets: Vec::new(),
            targets: Vec::new(),
        };
        // All rows together are already shifted by their means, up to rounding; without an intercept none are.
        let by = if blocks.intercept && rows.len() < blocks.rows { 1.0 / out.rows } else { 0.0 };
        out.offsets = out.total(&blocks.sums[0]).into_iter().map(|sum| sum * by).collect();
        let squares = out.total(&blocks.sums[1]);
        let is_shifted = |offset: f64, square: f64| out.rows * offset * offset > SHIFTED_SQUARES * square;
        let of_included = |sums: &[f64]| out.included.iter().map(|&block| sums[block]).sum::<f64>();
        let targets = blocks.targets.iter().map(|[sums, squares]| (of_included(sums) * by, of_included(squares)));
        let columns = out.offsets.iter().copied().zip(squares).zip(active).filter(|(_, is_active)| **is_active);
        if columns.map(|(column, _)| column).chain(targets.clone()).any(|(offset, square)| is_shifted(offset, square)) {
            return None;
        }
        out.targets = targets.map(|(offset, _)| offset).collect();
        Some(out)
    }

    /// Shifts and squares of all columns; 0 for inactive ones.
    pub fn statistics(&self, active: &[bool]) -> (Vec<f64>, Vec<f64>) {
        let squares = self.total(&self.blocks.sums[1]).into_iter().zip(&self.offsets);
        let left = squares.map(|(square, offset)| square - self.rows * offset * offset);
        let shifts = self.blocks.columns.iter().zip(&self.offsets).map(|(column, offset)| column.shift + offset);
        let if_active = |(value, is_active): (f64, &bool)| if *is_active { value } else { 0.0 };
        (shifts.zip(active).map(if_active).collect(), left.zip(active).map(if_active).collect())
    }

    /// Products with a column or target, if the blocks have them.
    pub fn products(&self, operand: Operand) -> Option<Vec<f64>> {
        let offset = match operand {
            Operand::Column(column) => self.offsets[column],
            Operand::Target(output) => *self.targets.get(output)?,
        };
        let sums = lock(&self.blocks.known).get(&operand).cloned()?;
        let mut products = self.total(&sums);
        for (product, own) in products.iter_mut().zip(&self.offsets) {
            *product -= self.rows * own * offset;
        }
        Some(products)
    }

    /// Computes the blocks' products with some columns.
    pub fn read(&self, entries: &ColumnEntries<'_>, columns: &[usize]) {
        self.blocks.read(&entries.stored, columns);
    }

    /// Adds up blocks × columns over the included blocks.
    fn total(&self, sums: &[f64]) -> Vec<f64> {
        let columns = self.blocks.active.len();
        let mut total = vec![0.0; columns];
        self.included.iter().for_each(|block| axpy(1.0, &sums[block * columns..], &mut total));
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Data, GramCache, Level};
    use vaglio_columns::Columns;

    const ROWS: usize = 3100;

    fn number(seed: usize, j: usize) -> f64 {
        ((seed * ROWS + j * j) as f64).sin()
    }

    fn near(a: f64, b: f64, scale: f64) {
        assert!((a - b).abs() <= 1e-12 * scale, "{a} is not {b}");
    }

    /// Generates doubles, bytes, and a column far from 0.
    fn columns() -> Columns {
        let mut columns = Columns::new(ROWS);
        (0..6).for_each(|k| columns.push((0..ROWS).map(|j| 3.0 + number(k, j)).collect::<Vec<f64>>()));
        (0..3).for_each(|k| columns.push((0..ROWS).map(|j| ((j * (k + 5)) % 251) as f64).collect::<Vec<f64>>()));
        columns.push((0..ROWS).map(|j| 1e7 + number(7, j)).collect::<Vec<f64>>());
        columns
    }

    fn data<'d>(
        columns: &'d Columns,
        active: &[bool],
        y: &[f64],
        intercept: bool,
        gram: Option<Arc<GramCache>>,
    ) -> Data<'d> {
        Data::new(columns.into(), active.to_vec(), &[y], None, intercept, gram).unwrap()
    }

    #[test]
    fn rows_of_blocks_have_the_products_that_they_have_alone() {
        let columns = columns();
        let labels: Vec<u32> = (0..ROWS).map(|j| (j * j % 11 % 5) as u32).collect();
        let y: Vec<f64> = (0..ROWS).map(|j| 5.0 + number(8, j)).collect();
        let active: Vec<bool> = (0..10).map(|column| column != 4).collect();
        // Blocks of all rows, and of some of them.
        let some: Vec<usize> = (0..ROWS).filter(|j| j % 7 != 3).collect();
        for (base, intercept) in [(None, false), (None, true), (Some(&some), true)] {
            let of_base = base.map(|rows| columns.view_rows(rows));
            let whole = of_base.as_ref().unwrap_or(&columns);
            let at = |row: usize| base.map_or(row, |rows| rows[row]);
            let labels: Vec<u32> = (0..whole.rows()).map(|row| labels[at(row)]).collect();
            let targets: Vec<f64> = (0..whole.rows()).map(|row| y[at(row)]).collect();
            let entries = ColumnEntries::from(whole);
            let make = || BlockSums::new(&entries, &active, &labels, &[&targets], intercept).unwrap();
            let blocks = Arc::new(make());
            let all = GramCache::from_blocks(&blocks, &entries, &active, &[&targets]).unwrap();
            assert_eq!(all.shifts, data(whole, &active, &targets, intercept, None).gram.shifts);
            for is_own in [|_: u32| true, |label| label != 2, |label| label != 0] {
                let rows: Vec<usize> = (0..whole.rows()).filter(|&row| is_own(labels[row])).collect();
                let fold = whole.view_rows(&rows);
                let y: Vec<f64> = rows.iter().map(|&row| targets[row]).collect();
                let entries = ColumnEntries::from(&fold);
                let gram = GramCache::from_blocks(&blocks, &entries, &active, &[&y]);
                assert!(gram.is_some());
                let [shared, alone] = [gram, None].map(|gram| data(&fold, &active, &y, intercept, gram));
                let pairs = |data: &Data<'_>| {
                    let mut rows = data.with_columns(&[9, 1, 6], || vec![0, 8]);
                    rows.push(data.with_target(0));
                    // Repeated requests give equal bits.
                    assert_eq!(rows[..1], data.with_columns(&[9], Vec::new)[..]);
                    rows
                };
                let length = |column: usize| alone.squares(column).sqrt();
                let norms =
                    [length(9), length(1), length(6), alone.centered[0].iter().map(|y| y * y).sum::<f64>().sqrt()];
                for column in 0..10 {
                    near(shared.squares(column), alone.squares(column), alone.squares(column));
                    near(shared.column(column).1, alone.column(column).1, alone.column(column).1.abs());
                }
                for ((a, b), norm) in pairs(&shared).iter().zip(pairs(&alone)).zip(norms) {
                    (0..10).for_each(|column| near(a[column], b[column], norm * length(column)));
                }
            }
            // One row more or less than whole blocks.
            let rows: Vec<usize> = (1..whole.rows()).collect();
            let (fold, y) = (whole.view_rows(&rows), &targets[1..]);
            assert!(RowBlocks::new(&blocks, &ColumnEntries::from(&fold), &active, &[y]).is_none());
            // All instruction-set levels give equal bits.
            for level in Level::available() {
                level.within(|| {
                    assert_eq!((&make().sums, &make().targets), (&blocks.sums, &blocks.targets));
                });
            }
        }
    }

    #[test]
    fn rows_whose_products_would_lose_digits_are_read() {
        let mut columns = columns();
        columns.push((0..ROWS).map(|j| if j == 4 { 1e9 } else { number(11, j) }).collect::<Vec<f64>>());
        let labels: Vec<u32> = (0..ROWS).map(|j| (j % 5) as u32).collect();
        let y: Vec<f64> = (0..ROWS).map(|j| number(8, j)).collect();
        let far: Vec<f64> = (0..ROWS).map(|j| if j == 4 { 1e9 } else { y[j] }).collect();
        let rows: Vec<usize> = (0..ROWS).filter(|j| j % 5 != 4).collect();
        let fold = columns.view_rows(&rows);
        let is_made = |active: bool, y: &[f64], intercept: bool| {
            let active: Vec<bool> = (0..11).map(|column| column < 10 || active).collect();
            let blocks = BlockSums::new(&ColumnEntries::from(&columns), &active, &labels, &[y], intercept).unwrap();
            let own: Vec<f64> = rows.iter().map(|&row| y[row]).collect();
            RowBlocks::new(&Arc::new(blocks), &ColumnEntries::from(&fold), &active, &[&own]).is_some()
        };
        assert!(is_made(false, &y, true) && is_made(true, &far, false));
        assert!(!is_made(true, &y, true) && !is_made(false, &far, true));
    }

    #[test]
    fn many_blocks_and_numbers_that_overflow_have_none() {
        const ROWS: usize = 33 * 512;
        let mut columns = Columns::new(ROWS);
        columns.push((0..ROWS).map(|j| j as f64 + 0.5).collect::<Vec<f64>>());
        let y = vec![1.0; ROWS];
        let new = |columns: &Columns, rows: usize, blocks: usize| {
            let columns = columns.select_rows(&(0..rows).collect::<Vec<_>>());
            let labels: Vec<u32> = (0..rows).map(|j| (j % blocks) as u32).collect();
            let active = vec![true; columns.len()];
            BlockSums::new(&(&columns).into(), &active, &labels, &[&y[..rows]], false)
        };
        assert!(new(&columns, ROWS, 32).is_some() && new(&columns, ROWS, 33).is_none());
        assert!(new(&columns, 2560, 5).is_some() && new(&columns, 2559, 5).is_none());
        columns.push(vec![1e200; ROWS]);
        assert!(new(&columns, ROWS, 5).is_none());
    }
}
