//! The laws of the test kit, on every setting that changes the computation; `nhsic_scores` has those of `nhsic`.

use crate::{fcbf, hiton, hsic, mrmr_correlation, mrmr_information, qpfs};
use vaglio_core::Criterion;
use vaglio_dependence::{Hsfs, Spam};
use vaglio_testkit::{
    CriterionLaws, LawResult, check_criterion, check_criterion_on_standard_data, data, on_one_thread,
};

/// Checks laws of several settings of a criterion.
#[track_caller]
fn each<C: Criterion>(settings: impl IntoIterator<Item = C>, laws: impl Fn(&dyn Criterion) -> LawResult + Sync) {
    for criterion in settings {
        on_one_thread(|| laws(&criterion)).map_err(|broken| broken.within(&format!("{criterion:?}"))).unwrap();
    }
}

#[test]
fn every_law_holds_on_the_standard_data() {
    fn to(tolerance: f64) -> impl Fn(&dyn Criterion) -> LawResult {
        move |criterion| check_criterion_on_standard_data(criterion, tolerance)
    }
    each(fcbf::kinds(), to(1e-11));
    each(hiton::kinds(), to(1e-9));
    each([Hsfs::default()], to(1e-4));
    each(hsic::kinds(), to(1e-9));
    each(mrmr_correlation::SCHEMES, to(1e-11));
    each(mrmr_information::kinds(), to(1e-11));
    each(qpfs::kinds(), to(1e-7));
    each([Spam { penalties: 20, ..Spam::default() }, Spam { knots: 0, penalties: 12, least: 0.2 }], to(1e-5));
}

#[test]
fn every_law_holds_on_columns_of_very_unlike_scale() {
    let design = data::regression(30, 8, 1).weighted().condition(1e12).design(&[1.0], true);
    each(fcbf::kinds(), |fcbf| check_criterion(fcbf, &design, 1e-11));
    each(mrmr_correlation::SCHEMES, |mrmr| check_criterion(mrmr, &design, 1e-11));
    each(mrmr_information::kinds(), |mrmr| check_criterion(mrmr, &design, 1e-11));
    each(qpfs::kinds(), |qpfs| check_criterion(qpfs, &design, 1e-7));
}

#[test]
fn long_walks_stay_on_the_definition() {
    let design = data::multiclass(30, 12, 3, 2).weighted().collinear(1e-3).design(&[1.0], true);
    each(hsic::kinds(), |hsic| CriterionLaws::new(hsic, &design, 1e-9).walk(300, 3));
    each(mrmr_correlation::SCHEMES, |mrmr| CriterionLaws::new(mrmr, &design, 1e-11).walk(1000, 3));
    each(mrmr_information::kinds(), |mrmr| CriterionLaws::new(mrmr, &design, 1e-11).walk(1000, 3));
}
