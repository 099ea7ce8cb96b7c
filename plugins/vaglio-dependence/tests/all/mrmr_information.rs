//! Relevance and redundancy by mutual information.

use crate::fcbf::BINS;
use crate::{design, regression, score, two_classes};
use std::f64::consts::LN_2;
use vaglio_core::{Criterion, Problem};
use vaglio_dependence::{Bins, MrmrInformation, Scheme};
use vaglio_testkit::Tolerance;

const SCHEMES: [Scheme; 2] = [Scheme::Difference, Scheme::Quotient];

pub fn kinds() -> impl Iterator<Item = MrmrInformation> {
    SCHEMES.into_iter().flat_map(|scheme| BINS.map(|bins| MrmrInformation { scheme, bins }))
}

#[track_caller]
fn near(found: f64, expected: f64) {
    Tolerance { tolerance: 1e-13, least: 1.0 }.assert(expected, found, "a score");
}

/// Two independent binary columns, the second again with other values, and a constant one.
fn by_hand() -> Problem {
    let columns: [&[f64]; 4] = [&[1., -1., 1., -1.], &[1., 1., -1., -1.], &[5., 5., 9., 9.], &[4., 4., 4., 4.]];
    two_classes(&columns, &[1., 1., 1., -1.])
}

#[test]
fn the_values_are_those_worked_out_by_hand() {
    let problem = by_hand();
    // From cells ½, ¼, ¼ and marginals ½, ½ and ¾, ¼.
    let relevant = 0.5 * (0.5f64 / (0.5 * 0.75)).ln() + 0.25 * (0.25f64 / (0.5 * 0.75)).ln() + 0.25 * LN_2;
    for bins in BINS {
        let [difference, quotient] = SCHEMES.map(|scheme| MrmrInformation { scheme, bins });
        for (subset, relevance, redundancy) in [
            (&[0][..], relevant, LN_2),
            (&[0, 1], relevant, LN_2 / 2.0),
            (&[1, 2], relevant, LN_2),
            (&[2, 0, 1], relevant, 5.0 / 9.0 * LN_2),
            (&[1, 3], relevant / 2.0, LN_2 / 4.0),
        ] {
            near(score(&difference, &problem, subset), redundancy - relevance);
            near(score(&quotient, &problem, subset), -relevance / redundancy);
        }
        for criterion in [difference, quotient] {
            assert_eq!(score(&criterion, &problem, &[]), 0.0);
            assert_eq!(score(&criterion, &problem, &[3]), 0.0);
        }
    }
}

/// A column whose absolute value, not sign, determines the target has no correlation with it.
#[test]
fn what_is_not_monotone_is_seen() {
    let mut random = vaglio_testkit::SplitMix64::new(4);
    let mut draw = || (0..200).map(|_| random.normal()).collect::<Vec<f64>>();
    let (x, noise) = (draw(), draw());
    let y: Vec<f64> = x.iter().map(|x| (x.abs() - 1.0).signum()).collect();
    let problem = two_classes(&[noise, x], &y);
    let criterion = MrmrInformation { scheme: Scheme::Quotient, bins: Bins::Deviation };
    assert!(score(&criterion, &problem, &[1]) < 10.0 * score(&criterion, &problem, &[0]));
}

/// Two values always get two bins, whatever their shares.
#[test]
fn a_column_of_two_values_keeps_them_apart() {
    for ones in 1..20 {
        let x: Vec<f64> = (0..20).map(|j| f64::from(u8::from(j < ones))).collect();
        let problem = regression(&[&x], &x);
        for bins in [Bins::Deviation, Bins::Width(2), Bins::Width(10), Bins::Frequency(2), Bins::Frequency(10)] {
            // Relevance and redundancy of a copy of the target are both its entropy.
            let criterion = MrmrInformation { scheme: Scheme::Quotient, bins };
            near(score(&criterion, &problem, &[0]), -1.0);
        }
    }
}

#[test]
fn bins_that_cannot_be_are_refused() {
    let design = design(&by_hand());
    for (bins, words) in [(Bins::Width(1), "`bins.width`: 1 is not between 2 and 256"), (Bins::Frequency(300), "300")] {
        let found = MrmrInformation { bins, ..MrmrInformation::default() }.check(&design).unwrap_err().to_string();
        assert!(found.contains(words), "{found}");
    }
}
