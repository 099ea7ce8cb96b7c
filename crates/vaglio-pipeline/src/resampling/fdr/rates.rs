//! Estimated share of false discoveries for each voting level and number of dummies, and the rates that follow.
//!
//! J. Machkour, M. Muma, D. P. Palomar, *The terminating-random experiments selector*, Signal Processing 231 (2025).
//! The relative occurrence Φ_T(j) is the share of experiments in which column j enters the path before the T-th dummy.
//! Each dummy that enters comes with an expected (p − ΣΦ_t)/(L − t + 1) columns by chance, which deflates the growth of
//! Φ at the t-th dummy: Φ′_T(j) = Σ_t (1 − (p − Σ_q Φ_t(q))/(L − t + 1)/Σ_{Φ_T(q) > ½} ΔΦ_t(q)) ΔΦ_t(j). At most an
//! expected Σ (1 − Φ′_T) of the columns with Φ_T > v are false.

use vaglio_kernels::tolerance::WHOLE_ROUNDING;

/// Columns taken at a voting level and a number of dummies.
pub struct VotingLevel {
    pub columns: Vec<usize>,
    /// Estimated share of false ones among them.
    pub false_share: f64,
}

/// Φ_T of a column, T = `dummies`: the share of experiments in which it entered before the T-th dummy. For each
/// experiment, `entered` holds the number of dummies before each column, or `None` if it did not enter.
pub fn share(entered: &[&[Option<u32>]], column: usize, dummies: u32) -> f64 {
    let count = entered.iter().filter(|experiment| experiment[column].is_some_and(|before| before < dummies)).count();
    count as f64 / entered.len() as f64
}

/// Columns taken at each voting level, the lowest first, from paths with the first `most` of `dummies` dummies.
pub fn voting_levels(entered: &[&[Option<u32>]], dummies: usize, most: u32) -> Vec<VotingLevel> {
    let features = entered.first().map_or(0, |entered| entered.len());
    let columns: Vec<usize> = (0..features).filter(|&column| share(entered, column, most) > 0.0).collect();
    let relative = |dummies: u32| -> Vec<f64> { columns.iter().map(|&k| share(entered, k, dummies)).collect() };
    let (last, mut before, mut deflated) = (relative(most), vec![0.0; columns.len()], vec![0.0; columns.len()]);
    for dummy in 1..=most {
        let at = relative(dummy);
        let grown: Vec<f64> = at.iter().zip(&before).map(|(at, before)| at - before).collect();
        let voted: f64 = grown.iter().zip(&last).filter(|(_, last)| **last > 0.5).map(|(grown, _)| grown).sum();
        let off_path = features as f64 - at.iter().sum::<f64>();
        let expected = off_path / (dummies as f64 - f64::from(dummy - 1)).max(1.0);
        for (deflated, grown) in deflated.iter_mut().zip(grown) {
            if grown > 0.0 && voted > 0.0 {
                *deflated += (1.0 - expected / voted) * grown;
            }
        }
        before = at;
    }
    let level = |step: u32| 0.5 + f64::from(step) / entered.len() as f64;
    let levels = (0..).map(level).take_while(|level| *level < 1.0 - WHOLE_ROUNDING);
    levels
        .map(|level| {
            let chosen: Vec<usize> = (0..columns.len()).filter(|&k| last[k] > level + WHOLE_ROUNDING).collect();
            let expected: f64 = chosen.iter().map(|&k| 1.0 - deflated[k]).sum();
            let false_share = (expected / chosen.len().max(1) as f64).max(0.0);
            VotingLevel { columns: chosen.into_iter().map(|k| columns[k]).collect(), false_share }
        })
        .collect()
}

/// Whether the strictest voting level exceeds a rate, so that further dummies add no columns at that rate.
pub fn is_beyond(levels: &[VotingLevel], rate: f64) -> bool {
    levels.last().is_some_and(|strictest| strictest.false_share > rate)
}

/// The largest set of columns that a rate takes; of equally large sets the one with the lowest share of false ones.
/// Covers all levels and numbers of dummies before the strictest level exceeds the rate.
pub fn at_rate(by_dummies: &[Vec<VotingLevel>], rate: f64) -> &[usize] {
    let levels = by_dummies.iter().take_while(|levels| !is_beyond(levels, rate)).flatten();
    let best = levels.filter(|taken| taken.false_share <= rate).reduce(|best, taken| {
        let (most, count) = (best.columns.len(), taken.columns.len());
        if count > most || count == most && taken.false_share < best.false_share { taken } else { best }
    });
    best.map_or(&[], |best| &best.columns)
}

/// Smallest rate, up to `most`, that takes each column.
pub fn rates(by_dummies: &[Vec<VotingLevel>], features: usize, most: f64) -> Vec<Option<f64>> {
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
