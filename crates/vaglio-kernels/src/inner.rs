//! Inner products of columns, each computed once for all states of the same rows.

use crate::parts::{Parts, Union};
use crate::{Data, Entries};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Shifts and squares of columns, and the inner products of columns and targets with every column that were asked for.
///
/// None of it depends on λ. Memory 8·n bytes for each column asked for.
#[derive(Debug)]
pub struct Inner {
    pub(crate) shifts: Vec<f64>,
    pub(crate) squares: Vec<f64>,
    pub(crate) intercept: bool,
    known: Mutex<Known>,
    /// The parts that have products in common with other rows.
    union: Option<Union>,
}

#[derive(Debug, Default)]
struct Known {
    rows: HashMap<Of, Arc<[f64]>>,
    /// Columns that were asked for since columns were last read, that one included.
    served: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Of {
    Column(usize),
    Target(usize),
}

impl Inner {
    pub(crate) fn new(shifts: Vec<f64>, squares: Vec<f64>, intercept: bool) -> Self {
        Inner { shifts, squares, intercept, known: Mutex::default(), union: None }
    }

    /// Of the rows of `entries`, from sums over parts of which they are a union; `None` where they are none, or would lose
    /// digits. `targets` are those that the parts were made with. Cost O(n·parts).
    pub fn of_parts(
        parts: &Arc<Parts>,
        entries: &Entries<'_>,
        active: &[bool],
        targets: &[&[f64]],
    ) -> Option<Arc<Self>> {
        let union = Union::new(parts, entries, active, targets)?;
        let (shifts, squares) = union.statistics(active);
        Some(Arc::new(Inner { union: Some(union), ..Inner::new(shifts, squares, parts.has_intercept()) }))
    }

    /// Whether columns were centered.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    fn row(&self, of: Of) -> Option<Arc<[f64]>> {
        let known = self.known.lock().ok()?.rows.get(&of).cloned();
        known.or_else(|| self.row_of_union(of))
    }

    fn row_of_union(&self, of: Of) -> Option<Arc<[f64]>> {
        let mut products = self.union.as_ref()?.products(of)?;
        products.iter_mut().zip(&self.squares).filter(|(_, s)| **s == 0.0).for_each(|(product, _)| *product = 0.0);
        let row: Arc<[f64]> = products.into();
        self.known.lock().ok()?.rows.insert(of, Arc::clone(&row));
        Some(row)
    }

    /// Of how many columns a read that `needed` are waiting for is to make the products: twice those that the last one
    /// served.
    fn count(&self, needed: usize) -> usize {
        let served = self.known.lock().map_or(1, |known| known.served);
        needed.max((2 * served).clamp(LEAST, MOST))
    }

    fn has_served(&self, columns: usize, is_read: bool) {
        if let Ok(mut known) = self.known.lock() {
            known.served = columns + if is_read { 0 } else { known.served };
        }
    }

    /// Products by one read of the columns, kept for all states. The lock is not held meanwhile.
    fn read(&self, data: &Data<'_>, wanted: &[Of]) -> Vec<Arc<[f64]>> {
        if let Some(union) = &self.union {
            let column = |of: &Of| if let Of::Column(column) = *of { Some(column) } else { None };
            union.read(data.entries(), &wanted.iter().filter_map(column).collect::<Vec<_>>());
            if let Some(rows) = wanted.iter().map(|&of| self.row_of_union(of)).collect() {
                return rows;
            }
        }
        let vector = |of: &Of| match *of {
            Of::Column(column) => data.scaled_or_stored(column),
            Of::Target(output) => data.centered(output).into(),
        };
        let vectors: Vec<Cow<'_, [f64]>> = wanted.par_iter().map(vector).collect();
        let active: Vec<usize> = (0..data.columns()).filter(|&c| data.is_active(c)).collect();
        let slices: Vec<&[f64]> = vectors.iter().map(|v| &**v).collect();
        let products = data.products_of_most(&active, &slices);
        let mut rows = vec![vec![0.0; data.columns()]; wanted.len()];
        for (&column, products) in active.iter().zip(products.chunks(wanted.len())) {
            rows.iter_mut().zip(products).for_each(|(row, product)| row[column] = *product);
        }
        let rows: Vec<Arc<[f64]>> = rows.into_iter().map(Arc::from).collect();
        if let Ok(mut known) = self.known.lock() {
            known.rows.extend(wanted.iter().copied().zip(rows.iter().cloned()));
        }
        rows
    }
}

/// Columns that one read of the data makes the products of, at least and at most: memory bounds a read for the first few,
/// and beyond the last arithmetic counts more.
const LEAST: usize = 8;
const MOST: usize = 16;

impl Data<'_> {
    /// x_iᵀx_b for every column i and each of some columns b, scaled and centered; 0 for inactive i.
    ///
    /// One read of the data where one of them is not known, which serves columns that are `likely` to be asked for next as
    /// well, the more the more the last one served. Cost O(m·n) for each column once.
    pub(crate) fn with_columns(&self, columns: &[usize], likely: impl FnOnce() -> Vec<usize>) -> Vec<Arc<[f64]>> {
        let row = |&column: &usize| self.inner.row(Of::Column(column));
        let is_unknown = |column: &usize| row(column).is_none();
        let mut wanted: Vec<usize> = columns.iter().copied().filter(is_unknown).collect();
        let mut read = Vec::new();
        if !wanted.is_empty() {
            let more = self.inner.count(wanted.len()) - wanted.len();
            let is_new = |column: &usize| !columns.contains(column) && is_unknown(column);
            wanted.extend(likely().into_iter().filter(is_new).take(more));
            let of: Vec<Of> = wanted.iter().copied().map(Of::Column).collect();
            read = self.inner.read(self, &of);
        }
        self.inner.has_served(columns.len(), !read.is_empty());
        let place = |column| wanted.iter().position(|own| own == column);
        columns
            .iter()
            .filter_map(|column| place(column).map(|k| Arc::clone(&read[k])).or_else(|| row(column)))
            .collect()
    }

    /// Σ_b part_b·x_iᵀx_b for every column i, where all of these products are known. Cost O(n) for each b.
    pub(crate) fn with_sum(&self, parts: &[(usize, f64)]) -> Option<Arc<[f64]>> {
        let mut sums = vec![0.0; self.columns()];
        for &(column, part) in parts {
            let row = self.inner.row(Of::Column(column))?;
            sums.iter_mut().zip(row.iter()).for_each(|(sum, product)| *sum += part * product);
        }
        Some(sums.into())
    }

    /// x_iᵀy for every column i and the residuals of the empty subset. Cost O(m·n) once.
    pub(crate) fn with_target(&self, output: usize) -> Arc<[f64]> {
        let of = Of::Target(output);
        self.inner.row(of).unwrap_or_else(|| Arc::clone(&self.inner.read(self, &[of])[0]))
    }
}
