//! Moments of the folds as a way to the scores.

use super::evaluator::failed;
use super::way::{Node, Spread, Tried, Way};
use std::sync::Arc;
use vaglio_core::{Feature, Result};
use vaglio_kernels::kfold::{Backward, Forward, Moments, Rows, Spectrum, Tree, Trials};

/// Moments, with the states that additions and removals need, each made when it is first asked for.
pub(super) struct Primal {
    moments: Arc<Moments>,
    lambdas: Vec<f64>,
    selected: Vec<Feature>,
    forward: Option<Forward>,
    backward: Option<Backward>,
    /// Of the current subset, where there is no other state of it.
    spectrum: Option<Spectrum>,
}

impl Primal {
    pub(super) fn new(rows: &Rows<'_>, lambdas: &[f64]) -> Result<Self> {
        let moments = Arc::new(Moments::new(rows).map_err(failed)?);
        let (lambdas, selected) = (lambdas.to_vec(), Vec::new());
        Ok(Primal { moments, lambdas, selected, forward: None, backward: None, spectrum: None })
    }

    fn trials(&self, trials: &Trials, candidates: &[Feature]) -> Vec<Vec<Tried>> {
        let of_lambda = |l: usize| {
            let trial = |candidate: &Feature| match trials.features.binary_search(candidate) {
                Ok(k) => tried(&self.moments, trials.losses[l][k], trials.low[l][k]),
                Err(_) => Tried::UNKNOWN,
            };
            candidates.iter().map(trial).collect()
        };
        (0..self.lambdas.len()).map(of_lambda).collect()
    }

    fn spectrum(&mut self) -> Result<&Spectrum> {
        let spectrum = match self.spectrum.take() {
            Some(spectrum) => spectrum,
            None => Spectrum::new(&self.moments, &self.selected).map_err(failed)?,
        };
        Ok(self.spectrum.insert(spectrum))
    }

    fn means(&self, sums: Vec<f64>, low: Vec<f64>) -> Vec<Tried> {
        sums.into_iter().zip(low).map(|(sum, low)| tried(&self.moments, sum, low)).collect()
    }
}

fn tried(moments: &Moments, sum: f64, low: f64) -> Tried {
    Tried::of_squares(moments.mean_of(sum), low, || moments.mean_of(moments.squares()))
}

impl Way for Primal {
    fn current(&mut self) -> Result<Vec<Tried>> {
        if let Some(forward) = &self.forward {
            return Ok(self.means(forward.losses(), forward.low()));
        }
        if let Some(backward) = &self.backward {
            return Ok(self.means(backward.losses(), backward.low()));
        }
        let lambdas = self.lambdas.clone();
        let spectrum = self.spectrum()?;
        let (sums, low) = (spectrum.losses(&lambdas), lambdas.iter().map(|&lambda| spectrum.low(lambda)).collect());
        Ok(self.means(sums, low))
    }

    fn additions(&mut self, candidates: &[Feature]) -> Result<Vec<Vec<Tried>>> {
        let start = || Forward::new(&self.moments, &self.lambdas, &self.selected);
        let trials = self.forward.get_or_insert_with(start).trials();
        Ok(self.trials(&trials, candidates))
    }

    fn removals(&mut self, candidates: &[Feature]) -> Result<Vec<Vec<Tried>>> {
        let start = || Backward::new(&self.moments, &self.lambdas, &self.selected);
        let trials = self.backward.get_or_insert_with(start).trials();
        Ok(self.trials(&trials, candidates))
    }

    fn add(&mut self, feature: Feature) -> Result<()> {
        self.selected.push(feature);
        (self.backward, self.spectrum) = (None, None);
        if let Some(forward) = &mut self.forward {
            forward.add(feature);
        }
        Ok(())
    }

    fn remove(&mut self, feature: Feature) -> Result<()> {
        self.selected.retain(|&f| f != feature);
        self.spectrum = None;
        if let Some(forward) = &mut self.forward {
            forward.remove(feature);
        }
        if let Some(backward) = &mut self.backward {
            backward.remove(feature);
        }
        Ok(())
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.selected = subset.to_vec();
        (self.forward, self.backward, self.spectrum) = (None, None, None);
        Ok(())
    }

    fn spread(&mut self, lambda: usize) -> Result<Spread> {
        Ok(Spread::Folds(match (&self.forward, &self.backward) {
            (Some(forward), _) => forward.of_folds(lambda),
            (None, Some(backward)) => backward.of_folds(lambda),
            (None, None) => {
                let lambda = self.lambdas[lambda];
                self.spectrum()?.of_folds(lambda)
            }
        }))
    }

    /// Columns that were selected before come first in the tree.
    fn tree(&mut self, later: &[Feature]) -> Result<Box<dyn Node + '_>> {
        let columns: Vec<Feature> = self.selected.iter().chain(later).copied().collect();
        let mut tree = Tree::new(&self.moments, &self.lambdas, &columns);
        for _ in 0..self.selected.len() {
            tree = tree.child(0);
        }
        Ok(Box::new(TreeNode { moments: &self.moments, tree, lambdas: self.lambdas.len() }))
    }
}

/// A node of the tree of subsets: it knows the columns that may follow.
struct TreeNode<'m> {
    moments: &'m Moments,
    tree: Tree,
    lambdas: usize,
}

impl Node for TreeNode<'_> {
    fn current(&mut self) -> Result<Vec<Tried>> {
        let low = self.tree.low();
        Ok(self.tree.losses().into_iter().zip(low).map(|(sum, low)| tried(self.moments, sum, low)).collect())
    }

    fn additions(&mut self, places: &[usize]) -> Result<Vec<Vec<Tried>>> {
        let (losses, low) = self.tree.trials();
        let count = losses.len() / self.lambdas.max(1);
        let trial = |l: usize, place: usize| tried(self.moments, losses[l * count + place], low[l * count + place]);
        Ok((0..self.lambdas).map(|l| places.iter().map(|&place| trial(l, place)).collect()).collect())
    }

    fn child(&mut self, place: usize) -> Result<Box<dyn Node + '_>> {
        Ok(Box::new(TreeNode { moments: self.moments, tree: self.tree.child(place), lambdas: self.lambdas }))
    }
}
