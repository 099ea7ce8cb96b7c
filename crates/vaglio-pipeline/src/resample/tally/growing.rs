//! Loss sums accumulated in place, for more rows than clusters or rows that arrive in batches.

use super::{Compared, Tally, fewest};
use vaglio_core::{ClusterSum, Loss, Measure};

/// An accumulator of a [`Tally`] for a mean loss, over batches of rows.
pub struct GrowingTally {
    weight: f64,
    mean: f64,
    /// Weight and weighted loss by cluster; cluster numbers are taken modulo the length, a power of two.
    clusters: Vec<(f64, f64)>,
}

impl GrowingTally {
    /// An empty accumulator with the clusters of `other`, at most `most`.
    pub fn like(other: &Tally, most: u32) -> Self {
        GrowingTally::new(fewest(&[other]).min(most))
    }

    fn new(most: u32) -> Self {
        GrowingTally { weight: 0.0, mean: 0.0, clusters: vec![(0.0, 0.0); most as usize] }
    }

    /// Sums of one batch with more rows than clusters.
    pub(super) fn of_many(loss: &dyn Loss, of: Compared<'_>, most: u32) -> Tally {
        let mut all = GrowingTally::new(most);
        let (weight, sum) = all.units(loss, of);
        all.add(weight, sum);
        all.tally()
    }

    /// Adds the next rows. Cost O(rows · outputs).
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

    /// Adds the squared errors of one output of equally weighted rows. Returns their number and sum, or `None` for
    /// other rows. Many models meet many rows here: squares are vectorized in chunks, so that only the sums by cluster
    /// are sequential.
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

    /// Adds any rows. Returns their weight and weighted loss.
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

    /// The accumulated sums.
    pub fn tally(self) -> Tally {
        let GrowingTally { weight, mean, clusters } = self;
        let most = clusters.len() as u32;
        let sums = (0..most).zip(clusters).filter(|(_, (weight, _))| *weight > 0.0);
        let clusters = sums.map(|(cluster, (weight, sum))| ClusterSum { cluster, weight, sum }).collect();
        Tally::Mean { weight, mean, most, clusters }
    }
}
