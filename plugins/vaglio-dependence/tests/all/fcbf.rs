//! Predominant columns.

use crate::{design, regression, weights};
use std::collections::BTreeMap;
use vaglio_core::Criterion;
use vaglio_dependence::{Bins, Fcbf};
use vaglio_testkit::Tolerance;

pub const BINS: [Bins; 3] = [Bins::Deviation, Bins::Width(4), Bins::Frequency(3)];

pub fn kinds() -> impl Iterator<Item = Fcbf> {
    BINS.into_iter().flat_map(|bins| [0.0, 0.1].map(|threshold| Fcbf { bins, threshold }))
}

/// Computes the entropy of labels by counting.
fn entropy<T: Ord + Clone>(labels: &[T]) -> f64 {
    let mut counts = BTreeMap::new();
    labels.iter().for_each(|label| *counts.entry(label.clone()).or_insert(0.0) += 1.0);
    let rows = labels.len() as f64;
    -counts.values().map(|count: &f64| count / rows * (count / rows).ln()).sum::<f64>()
}

fn uncertainty(a: &[u8], b: &[u8]) -> f64 {
    let both: Vec<(u8, u8)> = a.iter().copied().zip(b.iter().copied()).collect();
    let (a, b) = (entropy(a), entropy(b));
    2.0 * (a + b - entropy(&both)) / (a + b)
}

/// The algorithm as printed: in a list in descending order, each predominant column removes its redundant peers.
fn printed(columns: &[Vec<u8>], y: &[u8], threshold: f64) -> Vec<f64> {
    let relevance: Vec<f64> = columns.iter().map(|x| uncertainty(x, y)).collect();
    let mut list: Vec<usize> = (0..columns.len()).filter(|&x| relevance[x] > threshold).collect();
    list.sort_by(|&a, &b| relevance[b].total_cmp(&relevance[a]));
    let mut place = 0;
    while place < list.len() {
        let best = list[place];
        let struck = |&q: &usize| uncertainty(&columns[best], &columns[q]) >= relevance[q] - 1e-10;
        let after = list.split_off(place + 1);
        list.extend(after.into_iter().filter(|q| !struck(q)));
        place += 1;
    }
    let mut weights = vec![0.0; columns.len()];
    list.iter().for_each(|&x| weights[x] = relevance[x]);
    weights
}

/// Integer columns, with equal-width bins that separate the integers.
#[test]
fn predominant_columns_are_those_of_the_printed_algorithm() {
    let mut kept = 0;
    for seed in 0..20 {
        let mut random = vaglio_testkit::SplitMix64::new(seed);
        let mut label = |source: u8, noise: f64| {
            if random.uniform() < noise { (random.uniform() * 3.0) as u8 } else { source }
        };
        let y: Vec<u8> = (0..60).map(|_| label(0, 1.0)).collect();
        let mut columns: Vec<Vec<u8>> = Vec::new();
        for noise in [0.3, 0.5, 0.7, 0.9, 1.0] {
            columns.push(y.iter().map(|y| label(*y, noise)).collect());
        }
        for source in 0..5 {
            columns.push(columns[source].clone().iter().map(|x| label(*x, 0.2)).collect());
        }
        columns.iter_mut().for_each(|x| (x[0], x[1], x[2]) = (0, 1, 2));
        let doubles: Vec<Vec<f64>> = columns.iter().map(|x| x.iter().map(|v| f64::from(*v)).collect()).collect();
        let target: Vec<f64> = y.iter().map(|v| f64::from(*v)).collect();
        let problem = regression(&doubles, &target);
        for threshold in [0.0, 0.05] {
            let expected = printed(&columns, &y, threshold);
            let found = weights(&Fcbf { bins: Bins::Width(3), threshold }, &problem);
            for (found, expected) in found.iter().zip(&expected) {
                Tolerance { tolerance: 1e-12, least: 1.0 }.assert(*expected, *found, "a weight");
            }
            kept += expected.iter().filter(|w| **w > 0.0).count();
        }
    }
    assert!((60..300).contains(&kept), "{kept} of 400 columns are predominant");
}

#[test]
fn equal_columns_weigh_the_same_and_what_cannot_be_is_refused() {
    let (x, other) = ([1., -1., 1., -1., 1., 1.], [0., 0., 1., 1., 1., 0.]);
    let problem = regression(&[other, x, x, [2.; 6]], &x);
    let found = weights(&Fcbf::default(), &problem);
    assert!(found[1] == 1.0 && found[2] == 1.0 && found[3] == 0.0, "{found:?}");
    let refused = Fcbf { threshold: 1.5, ..Fcbf::default() }.check(&design(&problem)).unwrap_err().to_string();
    assert!(refused.contains("`threshold`: 1.5 is not between 0 and 1"), "{refused}");
}
