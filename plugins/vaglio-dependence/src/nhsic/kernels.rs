//! Kernel matrices of columns, as thin factors or by levels.

use super::settings::Nhsic;
use crate::kernel_matrix::{
    FactorRows, Landmarks, LevelColumn, LevelGrid, TOGETHER, ThinFactor, full_products, gaussian, row_shares,
    standardized_column,
};
use crate::target::TargetMatrix;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use vaglio_core::{Design, Error, Feature, Result, get_or_try_make};
use vaglio_kernels::parallel;

/// Lazily computed kernel matrices K̃ of columns: K̄, divided by its norm if `normalize` is set.
pub(crate) struct Kernels {
    nhsic: Nhsic,
    design: Design,
    features: Vec<Feature>,
    /// p_j of each row.
    pub shares: Vec<f64>,
    levels: Option<Arc<LevelGrid>>,
    landmarks: Option<Landmarks>,
    /// A factor of rank 0 for an ignored column, whose kernel matrix is 0.
    columns: Vec<OnceLock<ColumnKernel>>,
}

/// Kernel matrix of a column.
enum ColumnKernel {
    Thin(ThinFactor),
    /// Quantized column, whose matrix is K̄. Memory one or two bytes per entry.
    Levels(LevelColumn),
}

impl Kernels {
    /// Prepares the kernels of `features` without computing any.
    ///
    /// # Errors
    /// [`Error::Numerical`] if the points' kernel matrix cannot be decomposed.
    pub fn new(nhsic: &Nhsic, design: &Design, features: &[Feature]) -> Result<Self> {
        Ok(Kernels {
            levels: nhsic.levels(design.rows()),
            landmarks: nhsic.columns_landmarks(design.rows())?,
            nhsic: nhsic.clone(),
            design: design.clone(),
            features: features.to_vec(),
            shares: row_shares(design),
            columns: features.iter().map(|_| OnceLock::new()).collect(),
        })
    }

    /// Whether columns are quantized to levels.
    pub fn is_by_levels(&self) -> bool {
        self.levels.is_some()
    }

    /// Kernels of a range of columns; computes those that are missing. Cost O(m·rank²) each, by levels O(m).
    ///
    /// # Errors
    /// [`Error::Stopped`].
    fn kernels(&self, places: Range<usize>) -> Result<Vec<&ColumnKernel>> {
        let columns = self.columns[places.clone()].par_iter().zip(&self.features[places]);
        let made = columns.map(|(column, &feature)| {
            get_or_try_make(column, || -> Result<ColumnKernel> {
                self.design.problem().sign().check()?;
                let values = standardized_column(&self.design, feature, &self.shares);
                let kernel = values.and_then(|values| self.kernel(values));
                Ok(kernel.unwrap_or_else(|| ColumnKernel::Thin(ThinFactor::default())))
            })
        });
        made.collect()
    }

    /// Kernel of a column of standardized entries; `None` if its matrix is 0.
    fn kernel(&self, values: Vec<f64>) -> Option<ColumnKernel> {
        if let Some(levels) = &self.levels {
            let column = levels.column(&self.shares, &values);
            return (column.square() > 0.0 && column.square().is_finite()).then_some(ColumnKernel::Levels(column));
        }
        let factor = match &self.landmarks {
            Some(landmarks) => ThinFactor::from_features(&self.shares, landmarks.features(&values)),
            None => gaussian(&self.shares, &[values], self.nhsic.kernel.bandwidth, usize::MAX)?,
        };
        Some(ColumnKernel::Thin(self.normalize(factor)))
    }

    /// Divides K̄ by its norm if `normalize` is set.
    fn normalize(&self, factor: ThinFactor) -> ThinFactor {
        if self.nhsic.normalize { factor.normalize() } else { factor }
    }

    /// ‖K̃_i‖² of a range of columns, 0 for ignored ones. Cost O(m·rank²) each, by levels O(rank²).
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn own(&self, places: Range<usize>) -> Result<Vec<f64>> {
        let own = |column: &ColumnKernel| match column {
            ColumnKernel::Thin(factor) if factor.rank() == 0 => 0.0,
            _ if self.nhsic.normalize => 1.0,
            ColumnKernel::Thin(factor) => factor.inner(factor),
            ColumnKernel::Levels(column) => column.square(),
        };
        Ok(self.kernels(places)?.into_par_iter().map(own).collect())
    }

    /// <K̃_i, K̃_k> for k = `with` and each i in `others`, by place in the list. Cost O(m·rank²) each, by levels
    /// O(m·rank).
    ///
    /// # Errors
    /// [`Error::Stopped`], and [`Error::Numerical`] if a decomposition fails.
    pub fn products(&self, with: usize, others: Range<usize>) -> Result<Vec<f64>> {
        let own = self.kernels(with..with + 1)?[0];
        let others = self.kernels(others)?;
        match own {
            ColumnKernel::Thin(own) => Ok(thin_products(own, &others)),
            ColumnKernel::Levels(column) => {
                let name = &self.design.problem().names()[self.features[with]];
                let failed = |failure| Error::Numerical(format!("the kernel matrix of column `{name}`: {failure}"));
                let rows = column.factor_rows(&self.shares, self.nhsic.normalize).map_err(failed)?;
                self.level_products(&rows, &others)
            }
        }
    }

    /// <K̃_i, L̃> of the columns at `places`, and ‖L̃‖².
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn relevance(&self, target: &TargetMatrix<'_>, places: Range<usize>) -> Result<(Vec<f64>, f64)> {
        let columns = self.kernels(places)?;
        let (mut products, total) = match target {
            TargetMatrix::Thin(thin) if self.is_by_levels() => {
                (self.level_products(&FactorRows::from_factor(thin, &self.shares), &columns)?, thin.inner(thin))
            }
            TargetMatrix::Thin(thin) => (thin_products(thin, &columns), thin.inner(thin)),
            TargetMatrix::Full { coordinates, bandwidth } => self.full_products(coordinates, *bandwidth, &columns)?,
        };
        if !self.nhsic.normalize {
            return Ok((products, total));
        }
        let norm = total.sqrt();
        let is_there = norm > 0.0 && norm.is_finite();
        products.iter_mut().for_each(|product| *product = if is_there { *product / norm } else { 0.0 });
        Ok((products, f64::from(u8::from(is_there))))
    }

    /// Products of level columns with a factor's rows, in parallel blocks, each column's sums in one order.
    fn level_products(&self, rows: &FactorRows, columns: &[&ColumnKernel]) -> Result<Vec<f64>> {
        let there = columns.iter().enumerate().filter_map(|(place, column)| match column {
            ColumnKernel::Levels(column) => Some((place, column)),
            ColumnKernel::Thin(_) => None,
        });
        let there: Vec<(usize, &LevelColumn)> = there.collect();
        let block = |block: &[(usize, &LevelColumn)]| -> Result<Vec<f64>> {
            self.design.problem().sign().check()?;
            let columns: Vec<&LevelColumn> = block.iter().map(|(_, column)| *column).collect();
            Ok(rows.products(&columns))
        };
        let products = there.par_chunks(TOGETHER).map(block).collect::<Result<Vec<_>>>()?.concat();
        let mut out = vec![0.0; columns.len()];
        for ((place, column), product) in there.into_iter().zip(products) {
            out[place] = if self.nhsic.normalize { product / column.square().sqrt() } else { product };
        }
        Ok(out)
    }

    /// Products of columns with a full-rank matrix, by factors of some columns at a time, and its squared norm.
    fn full_products(
        &self,
        coordinates: &[Vec<f64>],
        bandwidth: f64,
        columns: &[&ColumnKernel],
    ) -> Result<(Vec<f64>, f64)> {
        let (mut products, mut total) = (Vec::new(), 0.0);
        for start in (0..columns.len().max(1)).step_by(FACTORS) {
            let some = &columns[start..columns.len().min(start + FACTORS)];
            let factors = parallel::map_slice(some, |column| match column {
                ColumnKernel::Thin(factor) => Cow::Borrowed(factor),
                ColumnKernel::Levels(column) => {
                    Cow::Owned(self.normalize(ThinFactor::from_features(&self.shares, column.features())))
                }
            });
            let sign = self.design.problem().sign();
            let (more, square) = full_products(&self.shares, coordinates, bandwidth, &factors, sign)?;
            products.extend(more);
            total = square;
        }
        Ok((products, total))
    }
}

/// Products of thin factors with one of them.
fn thin_products(factor: &ThinFactor, columns: &[&ColumnKernel]) -> Vec<f64> {
    parallel::map_slice(columns, |column| match column {
        ColumnKernel::Thin(other) => other.inner(factor),
        ColumnKernel::Levels(_) => 0.0,
    })
}

/// Columns whose factors are multiplied with a full-rank matrix together.
const FACTORS: usize = 256;
