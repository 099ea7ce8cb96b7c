//! Feature-major storage of columns, shared by vaglio's numerics and traits: one byte per entry where that is exact,
//! and sparse columns. Also helpers that both use: sums and order of lists, lazy cells, locks, and cancellation.

mod cancellation;
mod centering;
mod column;
mod lazy_cell;
mod lists;
mod measure;
mod mutex;
mod numbers;
mod product;
mod single_numbers;
mod sparse_numbers;

pub use cancellation::{CancelToken, checkpoint};
pub use centering::{center, row_weights};
pub use column::Column;
pub use lazy_cell::{get_or_make, get_or_try_make};
pub use lists::{accurate_sum_of_products, argsort_by, gather, max_abs, minimum, sum_of_products, sum_of_squares};
pub use measure::{LOSS_ROUNDING, Measure, TIED_PREDICTION, error_of_guess, tied_classes};
pub use mutex::lock;
use ndarray::{Array2, ShapeBuilder};
pub use numbers::Numbers;
use numbers::bytes_of;
pub use product::{ProductColumn, ProductNumbers};
use rayon::prelude::*;
pub use single_numbers::SingleNumbers;
pub use sparse_numbers::{SparseColumn, SparseNumbers, is_byte};
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// Columns of equal length, each stored contiguously in the smallest type that holds its values exactly.
///
/// Pixels, counts, ranks and indicators (whole numbers from 0 to 255) take one byte per entry. Other columns take
/// eight, or four if they were converted to [single precision](SingleNumbers). A [sparse](SparseNumbers) column, as
/// from readers of sparse files, stores no zeros if that halves its bytes. The choice depends on the values alone, so
/// it is the same for equal data.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    rows: usize,
    stores: Vec<RowView>,
}

/// Shared entries of a column, or a selection of its rows, so that selecting columns copies nothing.
#[derive(Debug, Clone)]
struct RowView {
    whole: Arc<Numbers>,
    rows: Option<Arc<RowCopy>>,
}

/// Selected rows of a column, copied when first read.
#[derive(Debug)]
struct RowCopy {
    chosen: Arc<[usize]>,
    copy: OnceLock<Numbers>,
}

impl RowView {
    fn numbers(&self) -> &Numbers {
        let Some(rows) = &self.rows else { return &self.whole };
        rows.copy.get_or_init(|| self.whole.select_rows(&rows.chosen))
    }

    /// Entries that were already copied or need no copy.
    fn copied(&self) -> Option<&Numbers> {
        self.rows.as_ref().map_or(Some(&self.whole), |rows| rows.copy.get())
    }

    fn is_constant(&self) -> bool {
        let Some(rows) = &self.rows else { return self.whole.view().is_constant() };
        if let Numbers::Sparse(sparse) = &*self.whole {
            return Column::Sparse(sparse.select_rows(&rows.chosen).view()).is_constant();
        }
        let whole = self.whole.view();
        rows.chosen.windows(2).all(|pair| whole.get(pair[0]) == whole.get(pair[1]))
    }
}

impl From<Numbers> for RowView {
    fn from(numbers: Numbers) -> Self {
        let whole = if let Numbers::Shared(shared) = numbers { shared } else { Arc::new(numbers) };
        RowView { whole, rows: None }
    }
}

impl Columns {
    /// Creates an empty set of columns with `rows` entries each.
    pub fn new(rows: usize) -> Self {
        Columns { rows, stores: Vec::new() }
    }

    /// Appends a column.
    ///
    /// # Panics
    /// If its length is not the number of rows; a caller with user data checks that first.
    pub fn push(&mut self, values: impl Into<Numbers>) {
        let numbers = values.into();
        assert_eq!(numbers.view().len(), self.rows, "every column has one entry a row");
        self.stores.push(numbers.into());
    }

    /// Number of entries in each column.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.stores.len()
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.stores.is_empty()
    }

    /// Column `index`, from 0.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column(&self, index: usize) -> Column<'_> {
        self.stores[index].numbers().view()
    }

    /// Whether all entries of column `index` are equal.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn is_constant(&self, index: usize) -> bool {
        self.stores[index].is_constant()
    }

    /// Iterates over the columns, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Column<'_>> {
        self.stores.iter().map(|store| store.numbers().view())
    }

    /// Selects the columns `indices`, in that order; entries are shared.
    pub fn select(&self, indices: &[usize]) -> Columns {
        Columns { rows: self.rows, stores: indices.iter().map(|&i| self.stores[i].clone()).collect() }
    }

    /// Copies the rows `rows`, in that order, of every column.
    pub fn select_rows(&self, rows: &[usize]) -> Columns {
        let select = |store: &RowView| store.numbers().select_rows(rows).into();
        Columns { rows: rows.len(), stores: self.stores.par_iter().map(select).collect() }
    }

    /// Like [`Columns::select_rows`], but copies a column only when it is first read. All of `self` stays in memory
    /// meanwhile.
    pub fn view_rows(&self, rows: &[usize]) -> Columns {
        if self.stores.is_empty() {
            return Columns::new(rows.len());
        }
        let all: Arc<[usize]> = rows.into();
        // Rows of rows are rows of the whole; columns selected together stay together.
        let (mut outer, mut inner) = (None, Arc::clone(&all));
        let mut own_rows = |store: &RowView| {
            let Some(own) = &store.rows else { return Arc::clone(&all) };
            if !outer.as_ref().is_some_and(|outer| Arc::ptr_eq(outer, &own.chosen)) {
                inner = rows.iter().map(|&row| own.chosen[row]).collect();
                outer = Some(Arc::clone(&own.chosen));
            }
            Arc::clone(&inner)
        };
        let view = |store: &RowView| {
            let rows = RowCopy { chosen: own_rows(store), copy: OnceLock::new() };
            RowView { whole: Arc::clone(&store.whole), rows: Some(Arc::new(rows)) }
        };
        Columns { rows: rows.len(), stores: self.stores.iter().map(view).collect() }
    }

    /// The longer columns and the selected rows, in their order, if all columns were selected
    /// [together](Columns::view_rows).
    pub fn shared_selection(&self) -> Option<(Vec<Column<'_>>, &[usize])> {
        let first = &self.stores.first()?.rows.as_ref()?.chosen;
        let is_first = |rows: &Arc<RowCopy>| Arc::ptr_eq(&rows.chosen, first);
        let are_first = self.stores.iter().all(|store| store.rows.as_ref().is_some_and(is_first));
        are_first.then(|| (self.stores.iter().map(|store| store.whole.view()).collect(), &**first))
    }

    /// Copies all selected rows not copied yet, in parallel.
    pub fn copied(&self) -> &Self {
        if self.stores.iter().any(|store| store.copied().is_none()) {
            self.stores.par_iter().for_each(|store| {
                store.numbers();
            });
        }
        self
    }

    /// The columns `indices` as a matrix of doubles: rows × columns, each column contiguous.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn matrix(&self, indices: &[usize]) -> Array2<f64> {
        let mut out = Array2::zeros((self.rows, indices.len()).f());
        for (mut to, &index) in out.columns_mut().into_iter().zip(indices) {
            to.iter_mut().zip(self.column(index).values().iter()).for_each(|(to, from)| *to = *from);
        }
        out
    }

    /// Converts every column of doubles to single precision. Cost O(entries), and memory for one column per thread
    /// unless columns are shared.
    #[must_use]
    pub fn in_single(self) -> Self {
        let single = |store: RowView| match store.numbers() {
            Numbers::Double(_) | Numbers::Foreign(_) if store.rows.is_some() => {
                store.numbers().clone().in_single().into()
            }
            Numbers::Double(_) | Numbers::Foreign(_) => Arc::unwrap_or_clone(store.whole).in_single().into(),
            _ => store,
        };
        Columns { rows: self.rows, stores: self.stores.into_par_iter().map(single).collect() }
    }

    /// The single-precision storage of column `index`; `None` for other columns.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn single(&self, index: usize) -> Option<&SingleNumbers> {
        if let Numbers::Single(single) = &*self.stores[index].whole { Some(single) } else { None }
    }

    /// Number of columns computed on reading; of selected rows, the number among the longer columns.
    pub fn count_products(&self) -> usize {
        self.stores.iter().filter(|store| matches!(store.whole.view(), Column::Product(_))).count()
    }

    /// Share of all entries that is stored, 1 without sparse columns; for selected rows, over the longer columns.
    pub fn share_stored(&self) -> f64 {
        let stored_share = |store: &RowView| store.whole.view().share_stored();
        self.stores.iter().map(stored_share).sum::<f64>() / self.stores.len().max(1) as f64
    }

    /// Bytes of the entries, without rows not copied yet.
    pub fn bytes(&self) -> usize {
        // Factors of products are counted once.
        let mut seen = HashSet::new();
        self.stores.iter().filter_map(RowView::copied).map(|numbers| bytes_of(numbers, &mut seen)).sum()
    }

    /// Bytes of `rows` rows once stored, estimated for selected rows from the longer columns.
    pub fn bytes_of_rows(&self, rows: usize) -> f64 {
        let all = self.stores.first().map_or(0, |store| store.whole.view().len());
        let mut seen = HashSet::new();
        let whole: usize = self.stores.iter().map(|store| bytes_of(&store.whole, &mut seen)).sum();
        whole as f64 * rows as f64 / all.max(1) as f64
    }
}
