//! Estimated share of false discoveries for each voting level and number of dummies, and the rates that follow.
//!
//! J. Machkour, M. Muma, D. P. Palomar, *The terminating-random experiments selector*, Signal Processing 231 (2025).
//! The relative occurrence Φ_T(j) is the share of experiments in which column j enters the path before the T-th dummy.
//! Each dummy that enters comes with an expected (p − ΣΦ_t)/(L − t + 1) columns by chance, which deflates the growth of
//! Φ at the t-th dummy: Φ′_T(j) = Σ_t (1 − (p − Σ_q Φ_t(q))/(L − t + 1)/Σ_{Φ_T(q) > ½} ΔΦ_t(q)) ΔΦ_t(j). At most an
//! expected Σ (1 − Φ′_T) of the columns with Φ_T > v are false.

use vaglio_kernels::tolerance::WHOLE_ROUNDING;

/// Entry of columns into the paths of all experiments.
pub(crate) struct Occurrences<'a> {
    /// Number of dummies that entered before each column, by experiment; `None` if the column did not enter.
    pub entered: Vec<&'a [Option<u32>]>,
    /// Dummies of each experiment.
    pub dummies: usize,
}

/// Columns taken at a voting level and a number of dummies.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VotingLevel {
    pub columns: Vec<usize>,
    /// Estimated share of false ones among them.
    pub false_share: f64,
}

impl Occurrences<'_> {
    fn features(&self) -> usize {
        self.entered.first().map_or(0, |entered| entered.len())
    }

    /// Columns on any path, and their Φ_t for t = 1, …, `most`.
    fn relative(&self, most: u32) -> (Vec<usize>, Vec<Vec<f64>>) {
        let is_on = |&column: &usize| self.entered.iter().any(|of| of[column].is_some_and(|before| before < most));
        let columns: Vec<usize> = (0..self.features()).filter(is_on).collect();
        let at = |dummies| columns.iter().map(|&column| self.share(column, dummies)).collect();
        let relative = (1..=most).map(at).collect();
        (columns, relative)
    }

    /// Φ_T of every column, T = `dummies`: the share of experiments in which it entered before the T-th dummy.
    pub fn votes(&self, dummies: u32) -> Vec<f64> {
        (0..self.features()).map(|column| self.share(column, dummies)).collect()
    }

    fn share(&self, column: usize, dummies: u32) -> f64 {
        let count = self.entered.iter().filter(|of| of[column].is_some_and(|before| before < dummies)).count();
        count as f64 / self.entered.len() as f64
    }

    /// Columns taken at each voting level, the lowest first, from paths with `most` dummies.
    pub fn taken(&self, most: u32) -> Vec<VotingLevel> {
        let (columns, relative) = self.relative(most);
        let Some(last) = relative.last() else { return Vec::new() };
        let experiments = self.entered.len() as f64;
        let mut deflated = vec![0.0; columns.len()];
        for (place, at) in relative.iter().enumerate() {
            let before = |k: usize| if place == 0 { 0.0 } else { relative[place - 1][k] };
            let voted: f64 = (0..columns.len()).filter(|&k| last[k] > 0.5).map(|k| at[k] - before(k)).sum();
            let off_path = self.features() as f64 - at.iter().sum::<f64>();
            let expected = off_path / (self.dummies as f64 - place as f64).max(1.0);
            for (k, deflated) in deflated.iter_mut().enumerate() {
                let grown = at[k] - before(k);
                if grown > 0.0 && voted > 0.0 {
                    *deflated += (1.0 - expected / voted) * grown;
                }
            }
        }
        let levels =
            (0..).map(|step| 0.5 + f64::from(step) / experiments).take_while(|level| *level < 1.0 - WHOLE_ROUNDING);
        levels
            .map(|level| {
                let chosen: Vec<usize> = (0..columns.len()).filter(|&k| last[k] > level + WHOLE_ROUNDING).collect();
                let expected: f64 = chosen.iter().map(|&k| 1.0 - deflated[k]).sum();
                let false_share = (expected / chosen.len().max(1) as f64).max(0.0);
                VotingLevel { columns: chosen.into_iter().map(|k| columns[k]).collect(), false_share }
            })
            .collect()
    }
}

/// Whether the strictest voting level exceeds a rate, so that further dummies add no columns at that rate.
pub(crate) fn is_beyond(levels: &[VotingLevel], rate: f64) -> bool {
    levels.last().is_some_and(|strictest| strictest.false_share > rate)
}

/// The largest set of columns that a rate takes; of equally large sets the one with the lowest share of false ones.
/// Covers all levels and numbers of dummies before the strictest level exceeds the rate.
pub(crate) fn at_rate(by_dummies: &[Vec<VotingLevel>], rate: f64) -> &[usize] {
    let mut best: Option<&VotingLevel> = None;
    for levels in by_dummies.iter().take_while(|levels| !is_beyond(levels, rate)) {
        for taken in levels.iter().filter(|taken| taken.false_share <= rate) {
            let is_better = best.is_none_or(|best| {
                let (more, least) = (taken.columns.len(), best.columns.len());
                more > least || more == least && taken.false_share < best.false_share
            });
            if is_better {
                best = Some(taken);
            }
        }
    }
    best.map_or(&[], |best| &best.columns)
}

/// Smallest rate, up to `most`, that takes each column.
pub(crate) fn rates(by_dummies: &[Vec<VotingLevel>], features: usize, most: f64) -> Vec<Option<f64>> {
    let mut all: Vec<f64> = by_dummies.iter().flatten().map(|taken| taken.false_share).filter(|r| *r <= most).collect();
    all.sort_unstable_by(f64::total_cmp);
    all.dedup();
    let mut out = vec![None; features];
    for rate in all {
        for &column in at_rate(by_dummies, rate) {
            out[column].get_or_insert(rate);
        }
    }
    out
}
