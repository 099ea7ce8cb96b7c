//! Datasets with sparse matrices as records, such as those of linfa's `CountVectorizer`.

use super::fitted_pipeline::FittedPipeline;
use super::rows::TableRecords;
use super::targets::TargetValue;
use linfa::dataset::{Records, TargetDim};
use linfa::traits::{Predict, PredictInplace};
use ndarray::Array;
use num_traits::ToPrimitive;
use sprs::CsMatView;
use std::sync::Arc;
use vaglio_core::{Cells, Numbers, SparseNumbers};

/// A sparse matrix as the records of a dataset, rows × columns; only nonzero entries are stored.
///
/// linfa does not accept sprs matrices as records, so a matrix is converted to this type first. Columns are stored like
/// those of a sparse file, and the search costs as much as their entries.
///
/// # Example
/// ```
/// use linfa::prelude::*;
/// use ndarray::array;
/// use sprs::TriMat;
/// use vaglio::SparseRecords;
/// use vaglio::prelude::*;
///
/// let mut counts = TriMat::new((6, 3));
/// for (row, column, count) in [(0, 0, 1usize), (1, 0, 2), (3, 0, 3), (2, 1, 1), (4, 2, 1), (5, 2, 2)] {
///     counts.add_triplet(row, column, count);
/// }
/// let counts = counts.to_csr::<usize>();
/// let records = SparseRecords::from(counts.view());
/// let dataset = DatasetBase::new(records, array![1.1, 1.9, 0.0, 3.1, 0.1, -0.1]);
/// let fitted = Selector::params(Loo::default(), Greedy::new(1), Rls::default()).fit(&dataset)?;
/// assert_eq!(fitted.selected(), ["feature-0"]);
/// assert_eq!(fitted.predict(&dataset).len(), 6);
/// # Ok::<(), vaglio::FitError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SparseRecords {
    rows: usize,
    columns: Vec<Arc<Numbers>>,
}

/// Converts either storage order. Cost O(entries + columns).
impl<N: Copy + ToPrimitive> From<CsMatView<'_, N>> for SparseRecords {
    fn from(matrix: CsMatView<'_, N>) -> Self {
        let mut columns = vec![(Vec::new(), Vec::new()); matrix.cols()];
        // Rows come in increasing order in either storage order.
        for (outer, entries) in matrix.outer_iterator().enumerate() {
            for (inner, value) in entries.iter() {
                let (row, column) = if matrix.is_csr() { (outer, inner) } else { (inner, outer) };
                columns[column].0.push(row as u32);
                columns[column].1.push(value.to_f64().unwrap_or(f64::NAN));
            }
        }
        let rows = matrix.rows();
        let numbers = |(own, values)| Arc::new(Numbers::from(SparseNumbers::new(rows, own, values)));
        SparseRecords { rows, columns: columns.into_iter().map(numbers).collect() }
    }
}

impl Records for SparseRecords {
    type Elem = f64;

    fn nsamples(&self) -> usize {
        self.rows
    }

    fn nfeatures(&self) -> usize {
        self.columns.len()
    }
}

impl TableRecords for SparseRecords {
    fn cells(&self, column: usize) -> Cells {
        Cells::Numbers(Numbers::Shared(Arc::clone(&self.columns[column])))
    }
}

impl<E: TargetValue, I: TargetDim> Predict<&SparseRecords, Array<E, I>> for FittedPipeline<E, I> {
    #[track_caller]
    fn predict(&self, records: &SparseRecords) -> Array<E, I> {
        let mut targets = self.default_target(records);
        self.predict_inplace(records, &mut targets);
        targets
    }
}
