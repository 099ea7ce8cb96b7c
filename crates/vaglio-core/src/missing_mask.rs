//! Missing cells that were filled with the mean of their column.

use crate::{Column, Columns, Feature, row_weights};
use ndarray::Array2;

/// Positions of cells that were missing and were filled with the weighted column mean. Folds can then use the mean of
/// other rows.
#[derive(Debug, Clone)]
pub struct MissingMask {
    /// The columns, in increasing order.
    features: Vec<Feature>,
    /// 1 where a cell was missing, 0 elsewhere.
    masks: Columns,
    /// Whether criteria that cannot use the means of other rows are refused.
    pub is_required: bool,
}

impl MissingMask {
    /// Creates the mask of `rows` rows from columns with their missing rows.
    pub(crate) fn new(rows: usize, mut missing: Vec<(Feature, Vec<usize>)>, is_required: bool) -> Self {
        missing.sort_unstable();
        let (mut features, mut masks) = (Vec::new(), Columns::new(rows));
        for (feature, missing) in missing.into_iter().filter(|(_, missing)| !missing.is_empty()) {
            let mut mask = vec![0u8; rows];
            missing.into_iter().filter(|row| *row < rows).for_each(|row| mask[row] = 1);
            features.push(feature);
            masks.push(mask);
        }
        MissingMask { features, masks, is_required }
    }

    /// The columns with missing cells, in increasing order.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The indicator of missing cells of a column, 0 or 1; `None` for a column without any.
    pub fn mask(&self, feature: Feature) -> Option<Column<'_>> {
        self.features.binary_search(&feature).ok().map(|at| self.masks.column(at))
    }

    /// The mask of the columns `columns`, renumbered in their order.
    pub(crate) fn select_columns(&self, columns: &[Feature]) -> Self {
        let known =
            columns.iter().enumerate().filter_map(|(to, from)| Some((to, self.features.binary_search(from).ok()?)));
        let (features, places): (Vec<Feature>, Vec<usize>) = known.unzip();
        MissingMask { features, masks: self.masks.select(&places), ..*self }
    }

    /// The mask of the rows `rows`, in that order.
    pub(crate) fn select_rows(&self, rows: &[usize]) -> Self {
        MissingMask { features: self.features.clone(), masks: self.masks.select_rows(rows), ..*self }
    }

    /// Weighted means of the present cells of a subset in some rows, whose values are `x`, columns × rows. `None` for a
    /// column without missing cells, or without weight.
    pub(crate) fn means(
        &self,
        subset: &[Feature],
        rows: &[usize],
        x: &Array2<f64>,
        weights: Option<&[f64]>,
    ) -> Vec<Option<f64>> {
        let mean = |(k, &feature): (usize, &Feature)| {
            let mask = self.mask(feature)?;
            let (mut sum, mut total) = (0.0, 0.0);
            for (j, &row) in rows.iter().enumerate().filter(|(_, row)| mask.get(**row) == 0.0) {
                let weight = row_weights(weights)(row);
                sum += weight * x[[k, j]];
                total += weight;
            }
            (total > 0.0).then(|| sum / total)
        };
        subset.iter().enumerate().map(mean).collect()
    }

    /// Fills the missing cells of a subset in some rows with the means that are known.
    pub(crate) fn fill(&self, subset: &[Feature], rows: &[usize], x: &mut Array2<f64>, means: &[Option<f64>]) {
        for (k, (&feature, mean)) in subset.iter().zip(means).enumerate() {
            let (Some(mask), Some(mean)) = (self.mask(feature), mean) else { continue };
            for (j, _) in rows.iter().enumerate().filter(|(_, row)| mask.get(**row) != 0.0) {
                x[[k, j]] = *mean;
            }
        }
    }
}
