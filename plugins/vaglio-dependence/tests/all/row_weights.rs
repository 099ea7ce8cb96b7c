//! Weights of rows, more closely than the law of all criteria asks.

use crate::{fcbf, hiton, hsic, mrmr_correlation, mrmr_information, nhsic_scores, qpfs, score};
use vaglio_core::{Criterion, Feature, Problem};
use vaglio_dependence::{Estimator, Hsfs, Spam};
use vaglio_testkit::{Tolerance, data, design_copies};

const COLUMNS: [&[Feature]; 5] = [&[0], &[1], &[2], &[3], &[4]];
const SUBSETS: [&[Feature]; 3] = [&[0], &[4, 1], &[0, 1, 2, 3]];

/// Problems with whole weights, and each with its rows repeated instead.
fn with_rows_repeated(rows: usize) -> Vec<(Problem, Problem)> {
    let recipes = [data::regression(rows, 5, 4).outputs(2), data::multiclass(rows, 5, 3, 5), data::binary(rows, 5, 6)];
    recipes.into_iter().map(|recipe| design_copies::whole_weights(&recipe.problem()).unwrap()).collect()
}

/// Problems with whole weights, and each with its weights times 1000.
fn with_weights_scaled(rows: usize) -> Vec<(Problem, Problem)> {
    let scaled = |(weighted, _): (Problem, Problem)| {
        let times = weighted.weights().unwrap().iter().map(|weight| 1000.0 * weight).collect();
        (weighted.clone(), weighted.with_weights(times).unwrap())
    };
    with_rows_repeated(rows).into_iter().map(scaled).collect()
}

fn agree(criterion: &dyn Criterion, pairs: &[(Problem, Problem)], subsets: &[&[Feature]], tolerance: f64, least: f64) {
    for (weighted, other) in pairs {
        for subset in subsets {
            let (found, expected) = (score(criterion, weighted, subset), score(criterion, other, subset));
            Tolerance { tolerance, least }.assert(expected, found, format!("{criterion:?} of {subset:?}"));
        }
    }
}

#[test]
fn a_weight_of_two_is_the_row_twice() {
    let (pairs, longer) = (with_rows_repeated(15), with_rows_repeated(25));
    for hsic in hsic::kinds().iter().filter(|hsic| hsic.estimator == Estimator::Biased) {
        agree(hsic, &pairs, &SUBSETS, 1e-12, 1e-2);
    }
    nhsic_scores::kinds().for_each(|nhsic| agree(&nhsic, &pairs, &SUBSETS, 1e-9, 1e-2));
    mrmr_correlation::SCHEMES.iter().for_each(|mrmr| agree(mrmr, &pairs, &SUBSETS, 1e-14, 1.0));
    mrmr_information::kinds().for_each(|mrmr| agree(&mrmr, &pairs, &SUBSETS, 1e-13, 1.0));
    qpfs::kinds().for_each(|qpfs| agree(&qpfs, &pairs, &SUBSETS, 1e-9, 1.0));
    fcbf::kinds().for_each(|fcbf| agree(&fcbf, &pairs, &COLUMNS, 1e-12, 1.0));
    agree(&Hsfs::default(), &pairs, &COLUMNS, 1e-4, 1.0);
    agree(&Spam { least: 0.1, ..Spam::default() }, &longer, &COLUMNS, 1e-5, 1.0);
}

#[test]
fn only_ratios_of_weights_matter() {
    hiton::kinds().for_each(|hiton| agree(&hiton, &with_weights_scaled(20), &COLUMNS, 1e-9, 1.0));
    for hsic in hsic::kinds().iter().filter(|hsic| hsic.estimator == Estimator::Unbiased) {
        agree(hsic, &with_weights_scaled(15), &SUBSETS, 1e-12, 1e-2);
    }
}
