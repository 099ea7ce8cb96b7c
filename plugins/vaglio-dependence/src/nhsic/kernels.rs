//! The columns' kernel matrices, thin or by levels.

use super::Nhsic;
use crate::target::TargetMatrix;
use rayon::prelude::*;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Design, Error, Feature, Result, StopSign};
use vaglio_kernels::Level;
use vaglio_kernels::hsic::{FactorRows, LevelColumn, TOGETHER, ThinFactor, WholeKernel, gaussian, standardized};

/// K̄ of every column, over its norm where the setting says so.
pub(crate) enum Kernels {
    Thin(Vec<ThinFactor>),
    Levels(LevelKernels),
}

/// Columns of levels; `None` of one that takes no part. Memory two bytes an entry.
pub(crate) struct LevelKernels {
    level: Level,
    shares: Vec<f64>,
    normalize: bool,
    columns: Vec<Option<LevelColumn>>,
    sign: StopSign,
}

impl Kernels {
    /// Cost O(d·m·rank²), by levels O(d·m).
    ///
    /// # Errors
    /// [`Error::Numerical`] when the points' kernel matrix cannot be decomposed, and [`Error::Stopped`].
    pub fn new(nhsic: &Nhsic, design: &Design, features: &[Feature], level: Level, shares: &[f64]) -> Result<Self> {
        let unit = |feature: Feature| -> Result<Option<Vec<f64>>> {
            design.sign().check()?;
            Ok(standardized(&design.column(feature).values(), shares))
        };
        if let Some(levels) = nhsic.levels(design.rows()) {
            let column = |&feature: &Feature| -> Result<Option<LevelColumn>> {
                let made = unit(feature)?.map(|values| levels.column(shares, &values));
                Ok(made.filter(|column| column.square() > 0.0 && column.square().is_finite()))
            };
            let columns = features.par_iter().map(column).collect::<Result<_>>()?;
            let (normalize, sign) = (nhsic.normalize, design.sign().clone());
            return Ok(Kernels::Levels(LevelKernels { level, shares: shares.to_vec(), normalize, columns, sign }));
        }
        let landmarks = nhsic.columns_landmarks(design.rows())?;
        let column = |&feature: &Feature| -> Result<ThinFactor> {
            let Some(values) = unit(feature)? else { return Ok(ThinFactor::default()) };
            let factor = match &landmarks {
                Some(landmarks) => landmarks.factor(level, shares, &values),
                None => gaussian(level, shares, &[values], nhsic.kernel.bandwidth),
            };
            Ok(if nhsic.normalize { factor.normalized(level) } else { factor })
        };
        Ok(Kernels::Thin(features.par_iter().map(column).collect::<Result<_>>()?))
    }

    /// ‖K̃_i‖², 0 of a column that takes no part. Cost O(m·rank²), by levels O(1).
    pub fn own(&self, i: usize, level: Level, normalize: bool) -> f64 {
        match self {
            Kernels::Thin(factors) if factors[i].rank() == 0 => 0.0,
            Kernels::Levels(levels) if levels.columns[i].is_none() => 0.0,
            _ if normalize => 1.0,
            Kernels::Thin(factors) => factors[i].inner(level, &factors[i]),
            Kernels::Levels(levels) => levels.columns[i].as_ref().map_or(0.0, LevelColumn::square),
        }
    }

    /// <K̃_i, K̃_k> of column k `with` and each of `others`. Cost O(m·rank²) each, by levels O(m·rank).
    ///
    /// # Errors
    /// [`Error::Stopped`], and [`Error::Numerical`] of a decomposition.
    pub fn products(&self, with: usize, others: std::ops::Range<usize>, level: Level) -> Result<Vec<f64>> {
        match self {
            Kernels::Thin(factors) => {
                let inner = |theirs: &ThinFactor| theirs.inner(level, &factors[with]);
                Ok(factors[others].par_iter().map(inner).collect())
            }
            Kernels::Levels(levels) => {
                let Some(column) = &levels.columns[with] else { return Ok(vec![0.0; others.len()]) };
                let failed = |failure| Error::Numerical(format!("the kernel matrix of column {}: {failure}", with + 1));
                levels.products(&column.factor_rows(&levels.shares, levels.normalize).map_err(failed)?, others)
            }
        }
    }

    /// <K̃_i, L̃> of all columns, and ‖L̃‖².
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn relevance(
        &self,
        target: &TargetMatrix<'_>,
        level: Level,
        design: &Design,
        normalize: bool,
    ) -> Result<(Vec<f64>, f64)> {
        match self {
            Kernels::Thin(factors) => target.products(level, design, factors, normalize),
            Kernels::Levels(levels) => {
                let (products, total) = match target {
                    TargetMatrix::Thin(thin) => {
                        let rows = FactorRows::of_factor(thin, &levels.shares);
                        (levels.products(&rows, 0..levels.columns.len())?, thin.inner(level, thin))
                    }
                    TargetMatrix::Whole(whole) => levels.beside(whole)?,
                };
                Ok(target.scaled(products, total, normalize))
            }
        }
    }
}

/// Columns of which factors are made together beside a whole matrix.
const FACTORS: usize = 256;

impl LevelKernels {
    /// Blocks of columns side by side, each column's sums in one order.
    fn products(&self, rows: &FactorRows, of: std::ops::Range<usize>) -> Result<Vec<f64>> {
        let mut out = vec![0.0; of.len()];
        out.par_chunks_mut(TOGETHER).zip(self.columns[of].par_chunks(TOGETHER)).try_for_each(|(out, columns)| {
            self.sign.check()?;
            let there: Vec<&LevelColumn> = columns.iter().flatten().collect();
            let mut products = vec![0.0; there.len()];
            rows.products(self.level, &there, &mut products);
            let mut products = products.into_iter();
            for (out, column) in out.iter_mut().zip(columns) {
                let Some(column) = column else { continue };
                let norm = if self.normalize { column.square().sqrt() } else { 1.0 };
                *out = products.next().map_or(0.0, |product| product / norm);
            }
            Result::Ok(())
        })?;
        Ok(out)
    }

    /// The same with a matrix of full rank, by factors of some columns at a time.
    fn beside(&self, whole: &WholeKernel<'_>) -> Result<(Vec<f64>, f64)> {
        let factor = |column: &Option<LevelColumn>| {
            let factor = column.as_ref().map_or_else(ThinFactor::default, |c| c.factor(self.level, &self.shares));
            if self.normalize { factor.normalized(self.level) } else { factor }
        };
        let (mut products, mut total) = (Vec::new(), 0.0);
        for columns in self.columns.chunks(FACTORS) {
            let factors: Vec<ThinFactor> = columns.par_iter().map(factor).collect();
            let (more, square) = whole.products(&factors, || self.sign.check())?;
            products.extend(more);
            total = square;
        }
        Ok((products, total))
    }
}
