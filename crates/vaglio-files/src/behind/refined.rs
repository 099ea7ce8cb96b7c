//! One step of refinement of the final fit, by residuals of the rows themselves.
//!
//! Rows that stand for others are rounded beside the largest of these, so weights of columns that nearly depend on each other
//! lose as many digits as the step between them is smaller than the columns: of two that differ by 1e-6 at 1000, ten of
//! seventeen. With residuals r of the rows, (XᵀX + λI) δ = Xᵀr − λw takes back all but the square of that, by the triangle of
//! the rows that stand for them: Å. Björck, *Stability analysis of the method of semi-normal equations for linear least squares
//! problems*, Linear Algebra and its Applications 88/89, 1987.

use crate::Prepared;
use ndarray::{Array2, s};
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Coefficients, Design, EntryFit, Error, Feature, Model, Result, Trained};
use vaglio_kernels::linalg;
use vaglio_pipeline::resample::along::Held;
use vaglio_pipeline::resample::behind::{AffineModels, Judge, Probes, RowLabels};
use vaglio_pipeline::selector::Selection;

/// The final fit with sums over the rows.
pub(super) struct Refinement {
    subset: Vec<Feature>,
    lambda: f64,
    coefficients: Coefficients,
    /// The means of the columns, which are taken off where there is an intercept.
    means: Vec<f64>,
    models: Option<AffineModels>,
    sums: ResidualSums,
}

/// Of the weights w, the columns x less their means, and the residuals r of the rows.
struct ResidualSums {
    weight: f64,
    columns: Vec<f64>,
    residuals: Vec<f64>,
    /// Σ w x r, columns × outputs: of columns that are nearly alike their differences are what tells these apart.
    products: Array2<ExactSum>,
}

/// A sum with what its rounding has left out.
#[derive(Clone, Copy, Default)]
struct ExactSum {
    sum: f64,
    left: f64,
}

impl ExactSum {
    fn add(&mut self, x: f64) {
        let next = self.sum + x;
        self.left += if self.sum.abs() >= x.abs() { (self.sum - next) + x } else { (x - next) + self.sum };
        self.sum = next;
    }
}

impl Refinement {
    /// `None` where the final fit is no ridge readout of columns as they are, at one λ, of rows that count alike.
    ///
    /// # Errors
    /// Those of the maps.
    pub fn new((prepared, design): (&Prepared, &Design), selection: &Selection) -> Result<Option<Self>> {
        let Some(readout) = design.readout().filter(|readout| !readout.balanced) else { return Ok(None) };
        let entry = selection.path.result().filter(|entry| entry.fit == EntryFit::Readout && !entry.subset.is_empty());
        let is_plain = selection.final_model.is_none() && design.of_outputs().is_none();
        let known = selection.model.coefficients().zip(selection.model.lambda()).filter(|_| is_plain);
        let (Some(entry), Some((coefficients, lambda))) = (entry, known) else { return Ok(None) };
        if !design.is_of(&prepared.train) || coefficients.weights.nrows() != entry.subset.len() {
            return Ok(None);
        }
        let fitted = prepared.sample.fitted()?;
        let probes = Probes::new(&prepared.sample, (&fitted.maps, fitted.problem.names()), &entry.subset)?;
        let held = Held::new(&probes.problem, prepared.target_units.as_deref(), &prepared.train);
        let mut all = vec![held.predicted(&selection.model)?];
        all.extend(entry.subset.iter().map(|&feature| probes.column(feature)));
        let (columns, outputs) = (entry.subset.len(), design.targets().nrows());
        let sums = ResidualSums {
            weight: 0.0,
            columns: vec![0.0; columns],
            residuals: vec![0.0; outputs],
            products: Array2::from_elem((columns, outputs), ExactSum::default()),
        };
        let weight = |row: usize| design.weights().map_or(1.0, |weights| weights[row]);
        let total: f64 = (0..design.rows()).map(weight).sum();
        let mean = |feature: &Feature| {
            let column = design.column(*feature);
            (0..design.rows()).map(|row| weight(row) / total * column.get(row)).sum::<f64>()
        };
        Ok(Some(Refinement {
            means: match readout.intercept {
                true => entry.subset.iter().map(mean).collect(),
                false => vec![0.0; columns],
            },
            subset: entry.subset.clone(),
            lambda,
            coefficients: coefficients.clone(),
            models: Some(probes.models(&all)),
            sums,
        }))
    }

    /// What sums over the rows of all cells.
    pub fn judge<'j>(&'j mut self, cells: Vec<u32>, prepared: &Prepared, labels: &'j RowLabels) -> Option<Judge<'j>> {
        let units: Vec<f64> = (0..labels.targets.nrows()).map(|output| prepared.target_scale(output)).collect();
        let Refinement { means, sums, models, .. } = self;
        let take = move |rows: &[usize], predictions: &[Array2<f64>]| {
            let [fitted, columns @ ..] = predictions else { return };
            for (at, &row) in rows.iter().enumerate() {
                let weight = labels.weight(row);
                sums.weight += weight;
                for (output, unit) in units.iter().enumerate() {
                    let residual = weight * (labels.targets[[output, row]] - fitted[[output, at]]) / unit;
                    sums.residuals[output] += residual;
                    for (k, column) in columns.iter().enumerate() {
                        sums.products[[k, output]].add(residual * (column[[0, at]] - means[k]));
                    }
                }
                columns.iter().enumerate().for_each(|(k, x)| sums.columns[k] += weight * (x[[0, at]] - means[k]));
            }
        };
        models.take().map(|models| Judge { cells, models, take: Box::new(take) })
    }

    /// The model with the step taken.
    ///
    /// # Errors
    /// [`Error::Numerical`] for numbers that overflow.
    pub fn model(self, design: &Design) -> Result<Model> {
        let Refinement { subset, lambda, mut coefficients, means, sums, .. } = self;
        let has_intercept = design.readout().is_some_and(|readout| readout.intercept);
        let failed = |failure| Error::Numerical(format!("the final fit cannot be refined: {failure}"));
        let (rows, columns) = (design.rows(), subset.len());
        let mut stacked = Array2::zeros((rows + columns, columns));
        for (k, &feature) in subset.iter().enumerate() {
            let column = design.column(feature);
            let root = |row: usize| design.weights().map_or(1.0, |weights| weights[row].sqrt());
            (0..rows).for_each(|row| stacked[[row, k]] = root(row) * (column.get(row) - means[k]));
            stacked[[rows + k, k]] = lambda.sqrt();
        }
        let triangle = linalg::triangle(stacked.view()).map_err(failed)?;
        for output in 0..coefficients.intercept.len() {
            let share = if has_intercept { sums.residuals[output] / sums.weight } else { 0.0 };
            let gradient = |k: usize| {
                let ExactSum { sum, left } = sums.products[[k, output]];
                sum + left - share * sums.columns[k] - lambda * coefficients.weights[[k, output]]
            };
            let step = solved(&triangle, (0..columns).map(gradient).collect());
            if step.iter().any(|step| !step.is_finite()) {
                continue;
            }
            for (k, step) in step.iter().enumerate() {
                coefficients.weights[[k, output]] += step;
                if has_intercept {
                    coefficients.intercept[output] -= step * (means[k] + sums.columns[k] / sums.weight);
                }
            }
            coefficients.intercept[output] += share;
        }
        design.model(&subset, Trained { lambda, coefficients })
    }
}

/// x with RᵀR x = b.
fn solved(triangle: &Array2<f64>, mut x: Vec<f64>) -> Vec<f64> {
    for k in 0..x.len() {
        let before = triangle.slice(s![..k, k]).iter().zip(&x).map(|(r, x)| r * x).sum::<f64>();
        x[k] = (x[k] - before) / triangle[[k, k]];
    }
    for k in (0..x.len()).rev() {
        let behind = triangle.slice(s![k, k + 1..]).iter().zip(&x[k + 1..]).map(|(r, x)| r * x).sum::<f64>();
        x[k] = (x[k] - behind) / triangle[[k, k]];
    }
    x
}
