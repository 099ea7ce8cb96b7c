//! Starting subsets by a greedy search with exchanges.

use super::SubsetSquares;
use super::fit::SubsetFit;
use crate::checkpoint;

/// Maximum passes of exchanges over a subset.
const PASSES: usize = 20;

impl SubsetSquares {
    /// Finds for each size up to `most` a good subset that contains the fixed columns. Cost O(n·s²) for each exchange.
    pub fn start(&self, fixed: &[usize], most: usize) -> Vec<Vec<usize>> {
        let mut all = Vec::new();
        let mut subset = fixed.to_vec();
        while subset.len() < most.min(self.columns()) {
            let fit = self.fit(&subset);
            let Some(best) = self.best(&fit, &subset) else { break };
            subset.push(best.1);
            self.exchange(&mut subset, fixed.len(), best.0);
            all.push(subset.clone());
        }
        all
    }

    fn fit(&self, subset: &[usize]) -> SubsetFit {
        checkpoint();
        let mut fit = SubsetFit::new(&self.along, self.total);
        let mut levels = Vec::with_capacity(subset.len());
        subset.iter().for_each(|&column| fit.add(self, column, &mut levels));
        fit
    }

    /// The column whose addition to a subset gives the smallest residual sum of squares.
    fn best(&self, fit: &SubsetFit, subset: &[usize]) -> Option<(f64, usize)> {
        let others = (0..self.columns()).filter(|k| !subset.contains(k));
        others.map(|k| (fit.with(k), k)).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
    }

    /// Exchanges columns, except the first `kept`, while that lowers the residual sum of squares.
    fn exchange(&self, subset: &mut [usize], kept: usize, mut squares: f64) {
        for _ in 0..PASSES {
            let mut exchanged = false;
            for place in kept..subset.len() {
                let rest: Vec<usize> = subset.iter().copied().filter(|&k| k != subset[place]).collect();
                let fit = self.fit(&rest);
                let Some((least, column)) = self.best(&fit, &rest) else { continue };
                if least < squares - self.rounding * self.total && column != subset[place] {
                    (subset[place], squares, exchanged) = (column, least, true);
                }
            }
            if !exchanged {
                return;
            }
        }
    }
}
