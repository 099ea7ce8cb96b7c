//! Collection of near-best subsets.

use crate::NearBest;
use vaglio_core::Feature;

/// Maximum number of subsets that are counted.
const MOST: u64 = 100_000;

/// Near-best subsets found so far.
pub(crate) struct NearBestCount {
    pub limit: f64,
    listed: usize,
    count: u64,
    /// Number of subsets that contain each column.
    with: std::collections::BTreeMap<Feature, u64>,
    subsets: Vec<(Vec<Feature>, f64)>,
}

impl NearBestCount {
    pub fn new(limit: f64, listed: usize) -> Self {
        NearBestCount { limit, listed, count: 0, with: Default::default(), subsets: Vec::new() }
    }

    pub fn is_full(&self) -> bool {
        self.count >= MOST
    }

    /// Counts a subset, sorted in increasing order, if its score is within the limit.
    pub fn offer(&mut self, features: Vec<Feature>, loss: f64) {
        if loss > self.limit || self.is_full() {
            return;
        }
        self.count += 1;
        features.iter().for_each(|&feature| *self.with.entry(feature).or_default() += 1);
        self.subsets.push((features, loss));
        if self.subsets.len() > 2 * self.listed.max(1000) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.subsets.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
        self.subsets.truncate(self.listed);
    }

    pub fn near_best(mut self, columns: &[Feature], is_whole: bool) -> NearBest {
        self.cut();
        let NearBestCount { limit, count, with, subsets, .. } = self;
        let features_in =
            |wanted: u64| columns.iter().copied().filter(|f| with.get(f).copied().unwrap_or(0) == wanted).collect();
        NearBest { limit, count, is_whole, in_all: features_in(count), in_none: features_in(0), subsets }
    }
}
