//! Standard errors of scores between rows, where each round holds out rows of one model.

use crate::Prepared;
use ndarray::Array2;
use vaglio_core::engine::select_rows;
use vaglio_core::{Design, Path, Result};
use vaglio_pipeline::resample::behind::{AffineModels, Judge, RowLabels, of_round, rounds_of};
use vaglio_pipeline::selector::ValidSelector;

/// The losses of all entries of a path in every round.
pub(super) struct RoundErrors {
    models: Vec<(Vec<u32>, AffineModels)>,
    sums: Vec<Vec<LossSums>>,
}

/// Of the losses of rows that count.
#[derive(Clone, Copy, Default)]
struct LossSums {
    rows: usize,
    weight: f64,
    loss: f64,
    squares: f64,
}

impl LossSums {
    /// √(Σ r_j (ℓ_j − ℓ̄)² / Σ r_j / rows).
    fn error(&self) -> Option<f64> {
        let squares = self.squares - self.loss * self.loss / self.weight;
        let error = (squares.max(0.0) / self.weight / self.rows as f64).sqrt();
        (self.rows > 1 && error.is_finite()).then_some(error)
    }
}

impl RoundErrors {
    /// None where rounds have folds, between which errors are then: moments tell these.
    ///
    /// # Errors
    /// Those of the folds, the maps and the fits.
    pub fn new(selector: &ValidSelector, (prepared, design): (&Prepared, &Design), path: &Path) -> Result<Self> {
        let (mut of, rounds) = (RoundErrors { models: Vec::new(), sums: Vec::new() }, rounds_of(selector, design)?);
        let is_mean = selector.loss(prepared.train.task()).measure().is_of_rows();
        if !is_mean || rounds.iter().any(|round| round.count() != 1) {
            return Ok(of);
        }
        for round in &rounds {
            of.models.extend(of_round(selector, (&prepared.sample, design), round, &path.entries)?);
        }
        of.sums = vec![vec![LossSums::default(); path.entries.len()]; of.models.len()];
        Ok(of)
    }

    /// What takes the rows that each round holds out.
    pub fn judges<'j>(&'j mut self, prepared: &Prepared, labels: &'j RowLabels) -> Vec<Judge<'j>> {
        // Scores are in the units of the search.
        let units: Vec<f64> = (0..labels.targets.nrows()).map(|output| prepared.target_scale(output)).collect();
        let judge = |((cells, models), sums): ((Vec<u32>, AffineModels), &'j mut Vec<LossSums>)| {
            let units = units.clone();
            let take = move |rows: &[usize], predictions: &[Array2<f64>]| {
                let targets = select_rows(&*labels.targets, rows);
                for (sums, predictions) in sums.iter_mut().zip(predictions) {
                    for (at, &row) in rows.iter().enumerate() {
                        let square = |o: usize| ((targets[[o, at]] - predictions[[o, at]]) / units[o]).powi(2);
                        let loss = (0..units.len()).map(square).sum::<f64>() / units.len() as f64;
                        let weight = labels.weight(row);
                        sums.rows += 1;
                        sums.weight += weight;
                        sums.loss += weight * loss;
                        sums.squares += weight * loss * loss;
                    }
                }
            };
            Judge { cells, models, take: Box::new(take) }
        };
        std::mem::take(&mut self.models).into_iter().zip(&mut self.sums).map(judge).collect()
    }

    /// For each entry the mean over rounds.
    pub fn found(self) -> Option<Vec<Option<f64>>> {
        let entries = self.sums.first()?.len();
        let mean = |entry: usize| {
            let errors: Option<Vec<f64>> = self.sums.iter().map(|sums| sums[entry].error()).collect();
            errors.map(|errors| errors.iter().sum::<f64>() / errors.len() as f64)
        };
        Some((0..entries).map(mean).collect())
    }
}
