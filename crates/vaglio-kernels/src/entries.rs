//! Access to the entries of columns, with views of chosen rows.

use crate::Column;
use std::borrow::Cow;
use vaglio_columns::Columns;

/// Columns of some rows, either copied or as a view of longer columns.
///
/// A view reads all rows and gives weight 0 to the rows that were not chosen, so rows of folds need not be copied.
#[derive(Debug)]
pub struct ColumnEntries<'d> {
    /// Columns as stored, all rows included.
    pub(crate) stored: Vec<Column<'d>>,
    /// If only some stored rows are chosen: these rows, and the columns of these rows alone, copied when read.
    pub(crate) view: Option<(&'d [usize], &'d Columns)>,
}

/// Minimum share of chosen rows for a view; below it they are copied.
const MANY: f64 = 0.6;

impl<'d> FromIterator<Column<'d>> for ColumnEntries<'d> {
    fn from_iter<I: IntoIterator<Item = Column<'d>>>(columns: I) -> Self {
        ColumnEntries { stored: columns.into_iter().collect(), view: None }
    }
}

impl<'d> From<&'d Columns> for ColumnEntries<'d> {
    fn from(columns: &'d Columns) -> Self {
        match columns.chosen() {
            Some((stored, rows))
                if rows.is_sorted_by(|a, b| a < b) && rows.len() as f64 >= MANY * stored[0].len() as f64 =>
            {
                ColumnEntries { stored, view: Some((rows, columns)) }
            }
            _ => columns.copied().iter().collect(),
        }
    }
}

impl<'d> ColumnEntries<'d> {
    /// The chosen rows of a column.
    pub(crate) fn column(&self, index: usize) -> Column<'d> {
        self.view.map_or_else(|| self.stored[index], |(_, columns)| columns.column(index))
    }

    /// Indices of the `count` chosen rows among the stored rows.
    pub(crate) fn rows(&self, count: usize) -> Cow<'_, [usize]> {
        self.view.map_or_else(|| (0..count).collect::<Vec<_>>().into(), |(rows, _)| rows.into())
    }

    /// Whether both refer to the same columns in memory.
    pub fn are_stored_with(&self, other: &ColumnEntries<'_>) -> bool {
        let is_same = |(a, b): (&Column<'_>, &Column<'_>)| match (*a, *b) {
            (Column::Double(a), Column::Double(b)) => std::ptr::eq(a, b),
            (Column::Single(a), Column::Single(b)) => std::ptr::eq(a, b),
            (Column::Byte(a), Column::Byte(b)) => std::ptr::eq(a, b),
            (Column::Sparse(a), Column::Sparse(b)) => a.is_stored_with(&b),
            (Column::Product(a), Column::Product(b)) => {
                std::ptr::eq(a.numbers(), b.numbers()) && (a.start(), a.len()) == (b.start(), b.len())
            }
            _ => false,
        };
        self.stored.len() == other.stored.len() && self.stored.iter().zip(&other.stored).all(is_same)
    }

    /// Expands values of the chosen rows to all stored rows, with 0 for the others.
    pub(crate) fn spread<'v>(&self, values: &'v [f64]) -> Cow<'v, [f64]> {
        let Some((rows, _)) = self.view else { return values.into() };
        let mut all = vec![0.0; self.stored[0].len()];
        rows.iter().zip(values).for_each(|(&row, value)| all[row] = *value);
        all.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Data;

    #[test]
    fn rows_that_were_chosen_have_the_sums_of_copied_ones() {
        const ROWS: usize = 300;
        let number = |seed: usize, j: usize| ((seed * ROWS + j * j) as f64).sin();
        let mut columns = Columns::new(ROWS);
        (0..7).for_each(|k| columns.push((0..ROWS).map(|j| 3.0 + number(k, j)).collect::<Vec<f64>>()));
        (0..3).for_each(|k| columns.push((0..ROWS).map(|j| ((j * (k + 5)) % 251) as f64).collect::<Vec<f64>>()));
        columns.push(vec![1.0; ROWS]);
        let active: Vec<bool> = (0..11).map(|c| c != 4 && c != 10).collect();
        for (rows, is_view) in [
            ((0..ROWS).filter(|row| row % 5 != 2).collect::<Vec<usize>>(), true),
            ((0..ROWS).filter(|row| row % 2 == 0).collect(), false),
            ((0..ROWS).map(|row| row / 2).collect(), false),
        ] {
            let y: Vec<f64> = rows.iter().map(|&j| number(8, j)).collect();
            let w: Vec<f64> = rows.iter().map(|&j| 1.5 + number(9, j)).collect();
            for (weights, intercept) in [(None, false), (None, true), (Some(&w[..]), false), (Some(&w[..]), true)] {
                let (view, copied) = (columns.view_rows(&rows), columns.select_rows(&rows));
                let of = |entries| Data::new(entries, active.clone(), &[&y], weights, intercept, None);
                let (of_view, of_copied) = (of((&view).into()).unwrap(), of((&copied).into()).unwrap());
                let near = |a: f64, b: f64, scale: f64| assert!((a - b).abs() <= 1e-13 * scale, "{a} is not {b}");
                for column in 0..11 {
                    near(of_view.squares(column), of_copied.squares(column), of_copied.squares(column));
                }
                // Reads of all columns copy none.
                let all: Vec<usize> = (0..10).filter(|&c| c != 4).collect();
                let z = [&of_copied.centered[0][..], &of_copied.scaled(9)];
                let norms = z.map(|z| z.iter().map(|z| z * z).sum::<f64>());
                let all_near = |columns: &[usize], a: &[f64], b: &[f64]| {
                    for (place, (a, b)) in a.iter().zip(b).enumerate() {
                        near(*a, *b, (norms[place % 2] * of_copied.squares(columns[place / 2])).sqrt());
                    }
                };
                all_near(&all, &of_view.products_of_most(&all, &z), &of_copied.products_of_most(&all, &z));
                assert!(!is_view || view.bytes() == 0);
                // In a product with some columns, each column has the bits of a product of its own.
                let of = |columns: &[usize]| of_view.products(columns, &z);
                let some = of(&[3, 8, 0, 9, 5]);
                all_near(&[3, 8, 0, 9, 5], &some, &of_copied.products(&[3, 8, 0, 9, 5], &z));
                assert_eq!(some, [3, 8, 0, 9, 5].map(|column| of(&[column])).concat());
                assert!(!is_view || view.bytes() == rows.len() * (3 * 8 + 2));
                assert!(is_view || view.bytes() == copied.bytes());
                assert!((0..11).all(|c| of_view.column(c).0 == of_copied.column(c).0));
            }
        }
    }
}
