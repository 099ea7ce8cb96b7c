//! Figures of two ways on the same splits: their difference, and how often chance alone would give it.

use crate::markdown::number;
use crate::run::mean;

/// Differences closer than this are equal, and one that is closer to 0 is none.
const SAME: f64 = 1e-9;

/// The standard deviation of some numbers.
pub fn deviation(values: &[f64]) -> f64 {
    let center = mean(values);
    let squares: f64 = values.iter().map(|v| (v - center) * (v - center)).sum();
    (squares / (values.len() as f64 - 1.0).max(1.0)).sqrt()
}

/// The mean of `own` less `first`, with its standard error, and the p-value of the signed-rank test, as cells of a table.
pub fn less(own: &[f64], first: &[f64]) -> [String; 2] {
    let less: Vec<f64> = own.iter().zip(first).map(|(own, first)| own - first).collect();
    let error = deviation(&less) / (less.len() as f64).sqrt();
    let p = match signed_rank(&less) {
        p if p < 0.001 => format!("{p:.0e}"),
        p => number(p, 3),
    };
    [format!("{} ± {}", number(mean(&less), 3), number(error, 3)), p]
}

/// The two-sided p-value of Wilcoxon's signed-rank test that differences lie about 0, exact.
///
/// Differences of 0 are left out. The others are ranked by size, equal ones at the middle of their ranks. Where every
/// difference is as likely to be positive as negative, each of the 2ⁿ choices of signs is equally likely; the number of those
/// that give a sum of positive ranks is counted rank by rank, for sums of twice the ranks, which are whole. The value is
/// twice the share of choices whose sum is at most the smaller of the two sums that were seen.
///
/// # Reference
/// F. Wilcoxon, *Individual comparisons by ranking methods*, Biometrics Bulletin 1(6), 1945.
pub fn signed_rank(differences: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = differences.iter().copied().filter(|d| d.abs() > SAME).collect();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let mut twice: Vec<usize> = Vec::with_capacity(sorted.len());
    for tied in sorted.chunk_by(|a, b| b.abs() - a.abs() <= SAME) {
        // Twice the middle of the ranks before + 1, …, before + tied.
        let middle = 2 * twice.len() + tied.len() + 1;
        twice.extend(std::iter::repeat_n(middle, tied.len()));
    }
    let total: usize = twice.iter().sum();
    let positive: usize = sorted.iter().zip(&twice).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    // The share of choices among the ranks so far that give each sum.
    let mut shares = vec![0.0; total + 1];
    shares[0] = 1.0;
    for &rank in &twice {
        for sum in (0..=total).rev() {
            let with = if sum >= rank { shares[sum - rank] } else { 0.0 };
            shares[sum] = 0.5 * (shares[sum] + with);
        }
    }
    let least = positive.min(total - positive);
    (2.0 * shares[..=least].iter().sum::<f64>()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of all choices of signs whose smaller sum of ranks is at most the one seen, one choice after the other.
    fn counted(differences: &[f64]) -> f64 {
        let kept: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
        let rank = |d: f64| {
            let below = kept.iter().filter(|o| o.abs() < d.abs()).count() as f64;
            below + (kept.iter().filter(|o| o.abs() == d.abs()).count() as f64 + 1.0) / 2.0
        };
        let ranks: Vec<f64> = kept.iter().map(|&d| rank(d)).collect();
        let total: f64 = ranks.iter().sum();
        let smaller = |positive: f64| positive.min(total - positive);
        let seen = smaller(ranks.iter().zip(&kept).filter(|(_, d)| **d > 0.0).map(|(rank, _)| rank).sum());
        let choices = 1usize << kept.len();
        let sum = |signs: usize| ranks.iter().enumerate().filter(|(k, _)| signs >> k & 1 == 1).map(|(_, r)| r).sum();
        (0..choices).filter(|&signs| smaller(sum(signs)) <= seen).count() as f64 / choices as f64
    }

    #[test]
    fn small_samples_have_the_values_that_are_counted_by_hand() {
        // All of one sign: the two choices of 2³.
        assert_eq!(signed_rank(&[1.0, 2.0, 3.0]), 0.25);
        // Positive ranks 1 of 1 … 4: sums of at most 1 come from {} and {1}, two of 16 on each side.
        assert_eq!(signed_rank(&[0.1, -2.0, -3.0, -4.0]), 0.25);
        // Ties at 1.5, 1.5, 3: positive sum 1.5, which {}, {1.5} and {1.5} do not exceed, three of 8 on each side.
        assert_eq!(signed_rank(&[1.0, -1.0, -2.0]), 0.75);
        // Zeros are left out, and nothing at all says nothing.
        assert_eq!((signed_rank(&[0.0, 1.0, 2.0, 3.0]), signed_rank(&[0.0; 4])), (0.25, 1.0));
        // The table of n = 10: sums of at most 8 come from 25 of 1024 choices.
        let ten = [1.0, -2.0, -3.0, -4.0, -5.0, -6.0, 7.0, -8.0, -9.0, -10.0];
        assert_eq!(signed_rank(&ten), 2.0 * 25.0 / 1024.0);
    }

    #[test]
    fn the_distribution_is_that_of_all_choices_of_signs() {
        let mut random = vaglio_testkit::SplitMix64::new(3);
        for count in 1..=12 {
            for _ in 0..5 {
                // Few values, so that many are tied and some are 0.
                let differences: Vec<f64> = (0..count).map(|_| (random.bits() % 9) as f64 - 4.0).collect();
                let (found, expected) = (signed_rank(&differences), counted(&differences));
                assert!((found - expected.min(1.0)).abs() < 1e-12, "{differences:?}: {found}, counted {expected}");
            }
        }
    }

    #[test]
    fn differences_are_paired() {
        assert_eq!(deviation(&[1.0, 3.0]), 2.0f64.sqrt());
        assert_eq!(less(&[2.0, 4.0], &[1.0, 1.0]), ["2.000 ± 1.000".to_owned(), "0.500".into()]);
    }
}
