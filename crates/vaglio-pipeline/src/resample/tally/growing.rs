//! Tallies of rows that are added up in place, since there are more of them than clusters or they come some at a time.

use super::{Compared, Tally, fewest};
use vaglio_core::{ClusterSum, Loss, Measure};

/// A [`Tally`] of rows that come some at a time, by a loss that is a mean over them.
pub struct GrowingTally {
    weight: f64,
    mean: f64,
    /// Weight and weighted loss of the rows of each cluster, whose numbers are taken modulo how many there are: a power of two.
    clusters: Vec<(f64, f64)>,
}

impl GrowingTally {
    /// Of no rows, with the clusters of another, and at most so many.
    pub fn like(other: &Tally, most: u32) -> Self {
        GrowingTally::new(fewest(&[other]).min(most))
    }

    fn new(most: u32) -> Self {
        GrowingTally { weight: 0.0, mean: 0.0, clusters: vec![(0.0, 0.0); most as usize] }
    }

    /// Of the rows of one read, of which there are more than clusters.
    pub(super) fn of_many(loss: &dyn Loss, of: Compared<'_>, most: u32) -> Tally {
        let mut all = GrowingTally::new(most);
        let (weight, sum) = all.units(loss, of);
        all.add(weight, sum);
        all.tally()
    }

    /// Takes in the rows that follow. Cost O(rows · outputs).
    pub fn take(&mut self, loss: &dyn Loss, of: Compared<'_>) {
        let (weight, sum) = self.squares(loss, of).unwrap_or_else(|| self.units(loss, of));
        self.add(weight, sum);
    }

    fn add(&mut self, weight: f64, sum: f64) {
        if weight > 0.0 {
            let share = if self.weight == 0.0 { 1.0 } else { weight / (self.weight + weight) };
            self.mean += (sum / weight - self.mean) * share;
            self.weight += weight;
        }
    }

    /// Adds the squared errors of one output of rows that count alike, and gives their number and sum; `None` of others. Many models
    /// meet many rows here: the squares are made some at a time, and only their sums by cluster wait for one another.
    fn squares(&mut self, loss: &dyn Loss, of: Compared<'_>) -> Option<(f64, f64)> {
        const AT_ONCE: usize = 64;
        let is_alone = of.targets.nrows() == 1 && of.weights.is_none() && of.units.is_none();
        let is_squared = is_alone && loss.measure() == Measure::Squared;
        let (targets, predictions) = of.targets.to_slice().zip(of.predictions.to_slice()).filter(|_| is_squared)?;
        let (places, last) = (of.clusters?, self.clusters.len() - 1);
        let mut sums = [0.0; 8];
        let chunks = targets.chunks(AT_ONCE).zip(predictions.chunks(AT_ONCE)).zip(places.chunks(AT_ONCE));
        for ((targets, predictions), places) in chunks {
            let mut squares = [0.0; AT_ONCE];
            for ((square, y), p) in squares.iter_mut().zip(targets).zip(predictions) {
                *square = (y - p).powi(2);
            }
            for eight in squares.chunks_exact(sums.len()) {
                sums.iter_mut().zip(eight).for_each(|(sum, square)| *sum += square);
            }
            for (place, square) in places.iter().zip(squares) {
                let of_cluster = &mut self.clusters[*place as usize & last];
                *of_cluster = (of_cluster.0 + 1.0, of_cluster.1 + square);
            }
        }
        Some((targets.len() as f64, sums.iter().sum()))
    }

    /// The same of any rows.
    fn units(&mut self, loss: &dyn Loss, of: Compared<'_>) -> (f64, f64) {
        let (mut weight, mut sum) = (0.0, 0.0);
        let last = self.clusters.len() - 1;
        let clusters = &mut self.clusters;
        of.each_unit(loss, |unit| {
            let lost = unit.weight * unit.loss;
            (weight, sum) = (weight + unit.weight, sum + lost);
            let cluster = of.clusters.map_or(unit.row, |clusters| clusters[unit.row] as usize);
            let of_cluster = &mut clusters[cluster & last];
            *of_cluster = (of_cluster.0 + unit.weight, of_cluster.1 + lost);
        });
        (weight, sum)
    }

    /// What was taken in.
    pub fn tally(self) -> Tally {
        let GrowingTally { weight, mean, clusters } = self;
        let most = clusters.len() as u32;
        let sums = (0..most).zip(clusters).filter(|(_, (weight, _))| *weight > 0.0);
        let clusters = sums.map(|(cluster, (weight, sum))| ClusterSum { cluster, weight, sum }).collect();
        Tally::Mean { weight, mean, most, clusters }
    }
}
