//! Products of columns with vectors.

use crate::sums::times;
use crate::sweep::{dense_products, virtual_products};
use crate::{Column, Data, linalg, sparse_sums};
use ndarray::Array2;
use std::borrow::Cow;

impl Data<'_> {
    /// √r_j·v_j of every row, expanded to all stored rows if `is_stored`.
    pub(super) fn with_roots<'v>(&self, v: &'v [f64], is_stored: bool) -> Cow<'v, [f64]> {
        let scaled: Cow<'v, [f64]> = self.root().map_or(v.into(), |root| times(v, root).into());
        if is_stored { self.entries.spread(&scaled).into_owned().into() } else { scaled }
    }

    /// DᵀY of orthonormal directions D, rows × directions, with the centered targets Y.
    pub(crate) fn along_targets(&self, directions: &Array2<f64>) -> Array2<f64> {
        let targets = Array2::from_shape_fn((self.rows(), self.outputs()), |(row, o)| self.centered[o][row]);
        linalg::gemm(directions.t(), targets.view())
    }

    /// Products Σ_j x_ij v_k[j] of the given columns, scaled and centered, with vectors, as columns × vectors.
    ///
    /// Reads the columns once; the vectors stay in cache by tiles of rows. A column's bits do not depend on the others.
    /// Cost O(m · columns · vectors).
    pub(crate) fn products(&self, columns: &[usize], vectors: &[impl AsRef<[f64]>]) -> Vec<f64> {
        self.products_with(columns, vectors, false)
    }

    /// Like [`Data::products`], but reads a view's stored rows in place instead of copying; suits most columns. The
    /// bits differ.
    pub(crate) fn products_of_most(&self, columns: &[usize], vectors: &[impl AsRef<[f64]>]) -> Vec<f64> {
        self.products_with(columns, vectors, self.entries.view.is_some())
    }

    fn products_with(&self, columns: &[usize], vectors: &[impl AsRef<[f64]>], is_stored: bool) -> Vec<f64> {
        let vectors: Vec<Cow<'_, [f64]>> = vectors.iter().map(|v| self.with_roots(v.as_ref(), is_stored)).collect();
        let vectors: Vec<&[f64]> = vectors.iter().map(|v| &**v).collect();
        // Columns of one type go together and share the read of the vectors.
        let (mut doubles, mut singles, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        let (mut sparse, mut virtual_columns) = (Vec::new(), Vec::new());
        for (place, &column) in columns.iter().enumerate() {
            let entries = if is_stored { self.entries.stored[column] } else { self.entries.column(column) };
            match entries {
                Column::Double(x) => doubles.push((place, x, self.gram.shifts[column])),
                Column::Single(x) => singles.push((place, x, self.gram.shifts[column])),
                Column::Byte(x) => bytes.push((place, x, self.gram.shifts[column])),
                Column::Sparse(x) => sparse.push((place, x, self.gram.shifts[column])),
                Column::Product(x) => virtual_columns.push((place, x, self.gram.shifts[column])),
            }
        }
        let mut out = vec![0.0; columns.len() * vectors.len()];
        let sparse = sparse_sums::products(&sparse, &vectors);
        let dense = [
            dense_products(&vectors, &doubles),
            dense_products(&vectors, &singles),
            dense_products(&vectors, &bytes),
            virtual_products(&vectors, &virtual_columns),
        ];
        for (place, sums) in dense.into_iter().flatten().chain(sparse) {
            out[place * vectors.len()..][..vectors.len()].copy_from_slice(&sums);
        }
        out
    }
}
