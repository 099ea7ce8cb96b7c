//! Kernel matrices of columns, as thin factors or by levels.

use super::settings::Nhsic;
use crate::kernel_matrix::{
    CommonLevels, FactorRows, FullKernel, Landmarks, LevelColumn, TOGETHER, ThinFactor, gaussian, standardized,
};
use crate::target::TargetMatrix;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::OnceLock;
use vaglio_core::{Design, Error, Feature, Result};
use vaglio_kernels::parallel;

/// Lazily computed kernel matrices K̃ of columns: K̄, divided by its norm if `normalize` is set.
pub(crate) struct Kernels {
    nhsic: Nhsic,
    design: Design,
    features: Vec<Feature>,
    shares: Vec<f64>,
    columns: KernelColumns,
}

enum KernelColumns {
    Thin(Option<Landmarks>, Vec<OnceLock<ThinFactor>>),
    /// Quantized columns, `None` if constant. Memory one or two bytes per entry.
    Levels(CommonLevels, Vec<OnceLock<Option<LevelColumn>>>),
}

impl Kernels {
    /// Prepares the kernels of `features` without computing any; `shares` are the p_j.
    ///
    /// # Errors
    /// [`Error::Numerical`] if the points' kernel matrix cannot be decomposed.
    pub fn new(nhsic: &Nhsic, design: &Design, features: &[Feature], shares: &[f64]) -> Result<Self> {
        let columns = match nhsic.levels(design.rows()) {
            Some(levels) => KernelColumns::Levels(levels, features.iter().map(|_| OnceLock::new()).collect()),
            None => {
                let landmarks = nhsic.columns_landmarks(design.rows())?;
                KernelColumns::Thin(landmarks, features.iter().map(|_| OnceLock::new()).collect())
            }
        };
        let (nhsic, design, features, shares) = (nhsic.clone(), design.clone(), features.to_vec(), shares.to_vec());
        Ok(Kernels { nhsic, design, features, shares, columns })
    }

    /// Whether columns are quantized to levels.
    pub fn is_by_levels(&self) -> bool {
        matches!(self.columns, KernelColumns::Levels(..))
    }

    /// Computes the missing kernels of a range of columns. Cost O(m·rank²) each, by levels O(m).
    ///
    /// # Errors
    /// [`Error::Stopped`].
    fn make(&self, of: Range<usize>) -> Result<()> {
        match &self.columns {
            KernelColumns::Thin(landmarks, columns) => self.fill(columns, of, |values| {
                values.map(|values| self.thin(landmarks.as_ref(), values)).unwrap_or_default()
            }),
            KernelColumns::Levels(levels, columns) => self.fill(columns, of, |values| {
                let column = values.map(|values| levels.column(&self.shares, &values));
                column.filter(|column| column.square() > 0.0 && column.square().is_finite())
            }),
        }
    }

    /// Computes what is missing of a range of columns from their standardized entries, `None` if constant.
    fn fill<T: Send + Sync>(
        &self,
        columns: &[OnceLock<T>],
        of: Range<usize>,
        make: impl Fn(Option<Vec<f64>>) -> T + Sync,
    ) -> Result<()> {
        columns[of.clone()].par_iter().zip(&self.features[of]).try_for_each(|(own, &feature)| {
            if own.get().is_none() {
                self.design.problem().sign().check()?;
                let _ = own.set(make(standardized(&self.design.column(feature).values(), &self.shares)));
            }
            Ok(())
        })
    }

    fn thin(&self, landmarks: Option<&Landmarks>, values: Vec<f64>) -> ThinFactor {
        let factor = match landmarks {
            Some(landmarks) => ThinFactor::weighted(&self.shares, landmarks.features(&values)),
            None => gaussian(&self.shares, &[values], self.nhsic.kernel.bandwidth, usize::MAX).unwrap_or_default(),
        };
        if self.nhsic.normalize { factor.normalized() } else { factor }
    }

    /// ‖K̃_i‖², 0 for an ignored column. Cost O(m·rank²), by levels O(1).
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn own(&self, i: usize) -> Result<f64> {
        self.make(i..i + 1)?;
        let is_normal = self.nhsic.normalize;
        Ok(match &self.columns {
            KernelColumns::Thin(_, columns) => match columns[i].get().filter(|factor| factor.rank() > 0) {
                Some(factor) if !is_normal => factor.inner(factor),
                factor => f64::from(u8::from(factor.is_some())),
            },
            KernelColumns::Levels(_, columns) => match made(&columns[i]) {
                Some(column) if !is_normal => column.square(),
                column => f64::from(u8::from(column.is_some())),
            },
        })
    }

    /// <K̃_i, K̃_k> for k = `with` and each i in `others`, by place in the list. Cost O(m·rank²) each, by levels
    /// O(m·rank).
    ///
    /// # Errors
    /// [`Error::Stopped`], and [`Error::Numerical`] if a decomposition fails.
    pub fn products(&self, with: usize, others: Range<usize>) -> Result<Vec<f64>> {
        self.make(with..with + 1)?;
        self.make(others.clone())?;
        match &self.columns {
            KernelColumns::Thin(_, columns) => {
                let Some(own) = columns[with].get() else { return Ok(vec![0.0; others.len()]) };
                let inner = |of: &OnceLock<ThinFactor>| of.get().map_or(0.0, |theirs| theirs.inner(own));
                Ok(columns[others].par_iter().map(inner).collect())
            }
            KernelColumns::Levels(_, columns) => {
                let Some(column) = made(&columns[with]) else { return Ok(vec![0.0; others.len()]) };
                let name = &self.design.names()[self.features[with]];
                let failed = |failure| Error::Numerical(format!("the kernel matrix of column `{name}`: {failure}"));
                let rows = column.factor_rows(&self.shares, self.nhsic.normalize).map_err(failed)?;
                self.along(&rows, &columns[others])
            }
        }
    }

    /// <K̃_i, L̃> of the columns at the places `of`, and ‖L̃‖².
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn relevance(&self, target: &TargetMatrix<'_>, of: Range<usize>) -> Result<(Vec<f64>, f64)> {
        self.make(of.clone())?;
        let (mut products, total) = match (&self.columns, target) {
            (KernelColumns::Thin(_, columns), _) => {
                let factors: Vec<&ThinFactor> = columns[of].iter().filter_map(OnceLock::get).collect();
                match target {
                    TargetMatrix::Thin(thin) => (parallel::map_slice(&factors, |f| f.inner(thin)), thin.inner(thin)),
                    TargetMatrix::Whole(whole) => whole.products(&factors, self.design.problem().sign())?,
                }
            }
            (KernelColumns::Levels(_, columns), TargetMatrix::Thin(thin)) => {
                let rows = FactorRows::from_factor(thin, &self.shares);
                (self.along(&rows, &columns[of])?, thin.inner(thin))
            }
            (KernelColumns::Levels(_, columns), TargetMatrix::Whole(whole)) => self.beside(whole, &columns[of])?,
        };
        if !self.nhsic.normalize {
            return Ok((products, total));
        }
        let norm = total.sqrt();
        let is_there = norm > 0.0 && norm.is_finite();
        products.iter_mut().for_each(|product| *product = if is_there { *product / norm } else { 0.0 });
        Ok((products, f64::from(u8::from(is_there))))
    }

    /// Products of columns with a factor's rows, in parallel blocks, each column's sums in one order.
    fn along(&self, rows: &FactorRows, columns: &[OnceLock<Option<LevelColumn>>]) -> Result<Vec<f64>> {
        let there: Vec<(usize, &LevelColumn)> =
            columns.iter().enumerate().filter_map(|(place, column)| Some((place, made(column)?))).collect();
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

    /// Like [`Kernels::along`], but with a full-rank matrix, by factors of some columns at a time.
    fn beside(&self, whole: &FullKernel<'_>, columns: &[OnceLock<Option<LevelColumn>>]) -> Result<(Vec<f64>, f64)> {
        let factor = |column: &OnceLock<Option<LevelColumn>>| {
            let factor =
                made(column).map(|column| ThinFactor::weighted(&self.shares, column.features())).unwrap_or_default();
            if self.nhsic.normalize { factor.normalized() } else { factor }
        };
        let (mut products, mut total) = (Vec::new(), 0.0);
        for columns in columns.chunks(FACTORS) {
            let factors: Vec<ThinFactor> = parallel::map_slice(columns, factor);
            let factors: Vec<&ThinFactor> = factors.iter().collect();
            let (more, square) = whole.products(&factors, self.design.problem().sign())?;
            products.extend(more);
            total = square;
        }
        Ok((products, total))
    }
}

/// A column that was computed and is not ignored.
fn made(column: &OnceLock<Option<LevelColumn>>) -> Option<&LevelColumn> {
    column.get().and_then(Option::as_ref)
}

/// Columns whose factors are multiplied with a full-rank matrix together.
const FACTORS: usize = 256;
