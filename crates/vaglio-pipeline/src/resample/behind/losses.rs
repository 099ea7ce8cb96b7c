//! Losses of the rows behind others, by the walks of all folds.

use super::{Judge, Probes, RowsBehind};
use crate::final_model::Judging;
use crate::resample::along::{Held, Reduced};
use crate::resample::lockstep::OfLambda;
use crate::resample::parting::Part;
use crate::resample::pool::in_turn;
use crate::resample::tally::{Compared, GrowingTally, Tally};
use crate::resample::validated::{Validation, said_of_fold};
use crate::resample::walks::Trail;
use ndarray::Array2;
use std::time::Instant;
use vaglio_core::engine::{EngineDesign, select_rows};
use vaglio_core::{Feature, PathEntry, Result, Score};

/// The piece of the journal that holds the walks with the losses of rows.
const KEY: &str = "choose/rows";
/// Clusters of one size at one λ that have sums of their own, at most, and at least; and those of all sizes at all λ in all folds.
const MOST_OF_SIZE: u32 = 1 << 12;
const LEAST_OF_SIZE: u32 = 1 << 9;
const MOST_OF_ALL: u32 = 1 << 22;

impl Validation<'_, '_> {
    /// Gives the walks at each λ what they lose on the rows behind those that they were judged on; `false` when it was stopped. The λ of a
    /// single walk stands for all that come of it.
    ///
    /// # Errors
    /// Those of the fits and of the pass.
    pub fn judged_behind(
        &self,
        lambdas: &[Option<f64>],
        walks: &mut Vec<OfLambda>,
        rows: &dyn RowsBehind,
    ) -> Result<bool> {
        let Validation { deals, sample, watcher, journal, selector, .. } = *self;
        let parts: Vec<(usize, &Part)> = deals.iter().flat_map(|parts| parts.iter().enumerate()).collect();
        let is_of_these =
            |known: &Vec<OfLambda>| known.len() == walks.len() && known.iter().all(|of| of.trails.len() == parts.len());
        if let Some(known) = journal.recall::<Vec<OfLambda>>(KEY).filter(is_of_these) {
            *walks = known;
            return Ok(true);
        }
        let begun = Instant::now();
        let loss = &*selector.loss(sample.task());
        let labels = rows.labels();
        let models = in_turn(parts.len(), |job| {
            let (number, part) = parts[job];
            let trails: Vec<&Trail> = walks.iter().map(|of| &of.trails[job]).collect();
            self.fold_models(job, (number, part), lambdas, &trails).map_err(|error| said_of_fold(error, number))
        })?;
        let known = |job: usize| walks.iter().flat_map(move |of| of.trails[job].tallies());
        let count: usize = (0..parts.len()).map(|job| known(job).count()).sum();
        // A power of two, so that clusters of sizes with fewer are joined of those with more.
        let most = (MOST_OF_ALL / count.max(1) as u32).max(1).ilog2();
        let most = (1 << most).clamp(LEAST_OF_SIZE, MOST_OF_SIZE);
        let empty = |job: usize| known(job).map(|tally| GrowingTally::like(tally, most));
        let mut tallies: Vec<Vec<GrowingTally>> = (0..parts.len()).map(|job| empty(job).collect()).collect();
        let mut judges: Vec<Judge<'_>> = Vec::with_capacity(parts.len());
        for (((_, part), models), tallies) in parts.iter().zip(models).zip(&mut tallies) {
            let take = move |rows: &[usize], predictions: &[Array2<f64>]| {
                let targets = select_rows(&*labels.targets, rows);
                let weights: Option<Vec<f64>> =
                    labels.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect());
                let clusters: Vec<u32> = rows.iter().map(|&row| labels.cluster(row)).collect();
                for (tally, predictions) in tallies.iter_mut().zip(predictions) {
                    let of = Compared {
                        targets: targets.view(),
                        predictions: predictions.view(),
                        weights: weights.as_deref(),
                        units: None,
                        clusters: Some(&clusters),
                    };
                    tally.take(loss, of);
                }
            };
            judges.push(Judge { cells: sample.cells(&part.held), models, take: Box::new(take) });
        }
        tracing::info!("the losses of rows in the folds of the search are read");
        if !rows.judged(&mut judges, &mut [], watcher.sign())? {
            return Ok(false);
        }
        drop(judges);
        for (job, tallies) in tallies.into_iter().enumerate() {
            let mut tallies = tallies.into_iter().map(GrowingTally::tally);
            walks.iter_mut().for_each(|of| of.trails[job].replace(&mut tallies));
        }
        journal.keep_worth(begun, KEY, walks);
        Ok(true)
    }

    /// The models of a fold's walks: at each λ that without columns, then that of every size.
    fn fold_models(
        &self,
        job: usize,
        (number, part): (usize, &Part),
        lambdas: &[Option<f64>],
        trails: &[&Trail],
    ) -> Result<super::AffineModels> {
        let (training, _) = self.anew((job, (number, part)), lambdas)?;
        let fitted = &training.fold.fitted;
        let entries: Vec<_> = trails.iter().map(|trail| trail.entries()).collect();
        let orders: Vec<Vec<Feature>> = entries
            .iter()
            .map(|(_, own)| crate::resample::along::order(own.iter().flat_map(|entry| &entry.subset)))
            .collect();
        let probes = Probes::new(self.sample, (&fitted.maps, fitted.problem.names()), &orders.concat())?;
        let walks: Vec<&[PathEntry]> = entries.iter().map(|(_, own)| &own[..]).collect();
        let reduced = Reduced::shared(&training.design, &walks)?;
        let by = Judging { known: &training.known, stop: self.watcher.sign(), reduced: reduced.as_ref() };
        let held = Held::new(&probes.problem, fitted.units.as_deref(), &fitted.problem);
        let mut all: Vec<Array2<f64>> = Vec::new();
        for (at, (empty, entries)) in entries.iter().enumerate() {
            let lambda = lambdas.get(at).or(lambdas.first()).copied().flatten();
            let design = self.selector.at_lambda_of_all(&training.design.at_lambda(lambda))?;
            self.selector.predictions(
                (&fitted.problem, &design),
                (entries, *empty),
                &held,
                by,
                |_, _, predictions| {
                    all.push(predictions);
                    Ok(())
                },
            )?;
        }
        Ok(probes.models(&all))
    }
}

impl Trail {
    /// The score of no columns, and the subset of every size.
    pub fn entries(&self) -> (Score, Vec<PathEntry>) {
        (self.walked.empty, self.sizes.iter().map(|(size, _)| self.entry(*size)).collect())
    }

    /// The loss of no columns, then that of every size.
    pub fn tallies(&self) -> impl Iterator<Item = &Tally> {
        std::iter::once(&self.empty).chain(self.sizes.iter().map(|(_, tally)| tally))
    }

    /// Takes others in the place of these.
    pub fn replace(&mut self, others: &mut impl Iterator<Item = Tally>) {
        std::iter::once(&mut self.empty)
            .chain(self.sizes.iter_mut().map(|(_, tally)| tally))
            .zip(others)
            .for_each(|(own, other)| *own = other);
    }
}
