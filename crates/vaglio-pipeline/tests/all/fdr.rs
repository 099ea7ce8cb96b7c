//! Rates agree with a plain implementation of the paper's definition.

// Arithmetic that `fdr` alone uses, and that no result shows by itself.
#[path = "../../src/resampling/fdr/dummy_path/mod.rs"]
#[allow(dead_code, reason = "tests use less than experiments do")]
pub mod dummy_path;
#[path = "../../src/resampling/fdr/rates.rs"]
mod rates;
#[path = "../../src/resampling/fdr/rivals.rs"]
mod rivals;

use rates::{VotingLevel, at_rate, is_beyond, rates, voting_levels};
use vaglio_testkit::SplitMix64;

/// Random experiments with few columns: the number of dummies that entered before each.
fn experiments(random: &mut SplitMix64, count: usize, features: usize) -> Vec<Vec<Option<u32>>> {
    let early: Vec<bool> = (0..features).map(|_| random.uniform() < 0.4).collect();
    let one = |random: &mut SplitMix64, column: usize| {
        if early[column] {
            Some(random.below(2) as u32)
        } else {
            Some(random.below(30) as u32).filter(|_| random.uniform() < 0.5)
        }
    };
    (0..count).map(|_| (0..features).map(|column| one(random, column)).collect()).collect()
}

/// Columns taken at each voting level.
fn columns_by_level(all: &[Vec<Option<u32>>], dummies: usize, most: u32) -> Vec<VotingLevel> {
    voting_levels(&all.iter().map(Vec::as_slice).collect::<Vec<_>>(), dummies, most)
}

/// Φ_T, Φ′_T, the columns above a level and their estimated share of false ones, written as in the paper.
fn by_hand(entered: &[Vec<Option<u32>>], dummies: f64, most: u32, level: f64) -> (Vec<usize>, f64) {
    let (k, p) = (entered.len() as f64, entered[0].len());
    let phi = |t: u32, j: usize| {
        entered.iter().filter(|experiment| experiment[j].is_some_and(|before| before < t)).count() as f64 / k
    };
    let grown = |t: u32, j: usize| phi(t, j) - if t > 1 { phi(t - 1, j) } else { 0.0 };
    let half: Vec<usize> = (0..p).filter(|&j| phi(most, j) > 0.5).collect();
    let mut deflated = vec![0.0; p];
    for t in 1..=most {
        let off = p as f64 - (0..p).map(|j| phi(t, j)).sum::<f64>();
        let all: f64 = half.iter().map(|&j| grown(t, j)).sum();
        for (j, deflated) in deflated.iter_mut().enumerate() {
            if all > 0.0 {
                *deflated += (1.0 - off / (dummies - f64::from(t) + 1.0) / all) * grown(t, j);
            }
        }
    }
    let taken: Vec<usize> = (0..p).filter(|&j| phi(most, j) > level + 1e-9).collect();
    let expected: f64 = taken.iter().map(|&j| 1.0 - deflated[j]).sum();
    let share = if taken.is_empty() { 0.0 } else { (expected / taken.len() as f64).max(0.0) };
    (taken, share)
}

#[test]
fn the_share_of_false_discoveries_is_that_of_the_definition() {
    let mut random = SplitMix64::new(5);
    for _ in 0..20 {
        let all = experiments(&mut random, 10, 12);
        for most in [1, 2, 7, 25] {
            let levels = columns_by_level(&all, 120, most);
            assert_eq!(levels.len(), 5);
            for (step, taken) in levels.iter().enumerate() {
                let (columns, share) = by_hand(&all, 120.0, most, 0.5 + 0.1 * step as f64);
                assert_eq!(taken.columns, columns);
                assert!((taken.false_share - share).abs() < 1e-12, "{most} {step}: {} {share}", taken.false_share);
            }
        }
    }
}

#[test]
fn a_column_is_taken_from_its_smallest_rate_on() {
    let mut random = SplitMix64::new(6);
    let mut taken_at_all = 0;
    for _ in 0..20 {
        let all = experiments(&mut random, 20, 15);
        let by_dummies: Vec<_> = (1..=20).map(|most| columns_by_level(&all, 150, most)).collect();
        let found = rates(&by_dummies, 15, 0.9);
        for rate in [0.02, 0.1, 0.25, 0.5, 0.9] {
            // Every column taken at the rate has a q-value of at most that, and is taken at its own q-value.
            assert!(at_rate(&by_dummies, rate).iter().all(|&column| found[column].is_some_and(|own| own <= rate)));
        }
        for (column, own) in found.iter().enumerate().filter_map(|(column, own)| Some((column, (*own)?))) {
            taken_at_all += 1;
            assert!(at_rate(&by_dummies, own).contains(&column));
            assert!(!at_rate(&by_dummies, own * (1.0 - 1e-9) - 1e-12).contains(&column));
        }
    }
    assert!(taken_at_all > 20);
}

#[test]
fn nothing_is_taken_once_the_strictest_level_is_beyond_the_rate() {
    let all = vec![vec![Some(0), None, Some(3)]; 20];
    let by_dummies: Vec<_> = (1..=3).map(|most| columns_by_level(&all, 3, most)).collect();
    // Two columns compete with three dummies, so two thirds of a column are expected at the first dummy.
    assert!((by_dummies[0][0].false_share - 2.0 / 3.0).abs() < 1e-12);
    assert!(is_beyond(&by_dummies[0], 0.5) && at_rate(&by_dummies, 0.5).is_empty());
    assert_eq!(at_rate(&by_dummies, 0.7), [0]);
}

/// A column alone has four times the p-value of a t test of its correlation with the target, here of columns of norm 1.
#[test]
fn tails_are_those_of_the_tables() {
    let rate = |t: f64, degrees: usize| {
        let mut x = vec![0.0; degrees + 2];
        let mut y = x.clone();
        let correlation = (t * t / (t * t + degrees as f64)).sqrt();
        (x[0], y[0], y[1]) = (1.0, correlation, (1.0 - correlation * correlation).sqrt());
        rivals::rivals(&[x], &[y], &[], 0).0
    };
    // t(1) beyond 12.706, t(2) beyond 4.303, t(7) beyond 2.365, t(10) beyond 2.228, t(120) beyond 1.980: 0.05.
    for (t, degrees) in [(12.706_f64, 1), (4.303, 2), (3.182, 3), (2.365, 7), (2.228, 10), (1.980, 120)] {
        let p = rate(t, degrees) / 4.0;
        assert!((p - 0.05).abs() < 5e-5, "{degrees}: {p}");
    }
    let many_rows = rate(1.96, 100_000) / 4.0;
    assert!(many_rows > 0.05 && many_rows < 0.051, "{many_rows}");
}
