//! Which sizes further deals of the rows into folds choose.

use super::parting::Part;
use super::pool::Watcher;
use super::sample::Sample;
use super::sizes::SomeFolds;
use super::validated::{Made, Validation, dealt, of_rows, parting};
use crate::selector::ValidSelector;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{CrossValidation, Design, ExitClass, Journal, Result};
use vaglio_report::record::{SizeSpread, SpreadOver};

/// The sizes that the rule takes at one λ by the folds of so many further deals of the rows: what other seeds would choose there.
/// `None` for losses of all rows together, where rows are in an order that deals keep, where a fold of them cannot be searched, and
/// where it was stopped.
///
/// Cost: the walks of as many repeats at one λ.
///
/// # Errors
/// Those of the maps, the designs, the search and the fits, on the training rows of a fold.
pub fn redealt(
    selector: &ValidSelector,
    sample: &Sample,
    design: &Design,
    (how, lambda, count): (&CrossValidation, f64, usize),
    watcher: &Watcher<'_>,
) -> Result<Option<SizeSpread>> {
    let loss = &*selector.loss(sample.task());
    if !loss.measure().is_of_rows() || count < 2 {
        return Ok(None);
    }
    let parting = parting(selector, sample, how, true)?;
    let deal = |number: usize| dealt(selector, sample, &parting, 1 + number);
    let deals: Vec<Vec<Part>> = (0..count).map(deal).collect::<Result<_>>()?;
    if deals[0] == deals[1] {
        return Ok(None);
    }
    let whole = &design.clone().parted(&of_rows(&parting, &deals, sample.rows()));
    let everything = selector.search().outline(whole).map_err(|error| error.under("search"))?.largest;
    let made: Vec<Made> = deals.iter().flatten().map(|_| Made::default()).collect();
    let (deals, made, patience, journal) = (&deals[..], &made[..], how.patience, &Journal::default());
    let competing = selector;
    let validation = Validation {
        selector,
        competing,
        sample,
        whole,
        deals,
        everything,
        patience,
        watcher,
        journal,
        made,
        path: None,
    };
    let found = match validation.at((&[Some(lambda)], &[]), &[], journal) {
        // Where a deal leaves a class out of a fold, say.
        Err(error) if error.class() != ExitClass::Numerical => return Ok(None),
        found => found?,
    };
    let Some(found) = found else { return Ok(None) };
    let folds = deals[0].len();
    let (matched, lambdas) = (&[found.walks[0].matched((everything, count))], &[Some(lambda)]);
    let of_deal = |deal: usize| {
        let kept: Vec<usize> = (deal * folds..(deal + 1) * folds).collect();
        SomeFolds { loss, how, matched, lambdas, kept: &kept }.size()
    };
    let sizes: Option<Vec<usize>> = (0..count).map(of_deal).collect::<Result<_>>()?;
    Ok(sizes.map(|sizes| SizeSpread { over: SpreadOver::Deals, sizes }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::choice::select;
    use super::super::sizes::tests::{COLUMNS, squares};
    use super::*;
    use crate::criteria::Loo;
    use crate::learners::Rls;
    use crate::search::Greedy;
    use crate::selector::Selector;
    use linfa::ParamGuard;
    use std::time::Instant;
    use vaglio_core::{Monitor, Silent};
    use vaglio_testkit::data;

    #[test]
    fn further_deals_choose_as_refits_do() {
        let mut differ = 0;
        for (seed, count) in [(1, 3), (2, 3), (3, 2), (1, 1)] {
            let selector =
                Selector::params(Loo::default(), Greedy::default(), Rls::default()).seed(seed).check().unwrap();
            let problem = data::regression(30, COLUMNS, seed).problem();
            let sample = Sample::plain(problem.clone(), false);
            let design = selector.design(&problem).unwrap();
            let picked = select(&selector, &sample, &design, Instant::now(), &mut Monitor::from(&mut Silent)).unwrap();
            let how = picked.chosen.folds.clone().unwrap();
            let parting = parting(&selector, &sample, &how, true).unwrap();
            let at = (&how, 1.0, count);
            let found = redealt(&selector, &sample, &design, at, &Watcher::new(&mut Silent)).unwrap();
            let Some(found) = found else {
                assert_eq!(count, 1);
                continue;
            };
            let expected: Vec<usize> = (1..=count)
                .map(|repeat| {
                    let parts = dealt(&selector, &sample, &parting, repeat).unwrap();
                    let squares: Vec<Vec<f64>> = parts.iter().map(|part| squares(&selector, &sample, part)).collect();
                    let sum = |size: usize| squares.iter().map(|squares| squares[size]).sum::<f64>();
                    (0..=COLUMNS).min_by(|a, b| sum(*a).total_cmp(&sum(*b))).unwrap()
                })
                .collect();
            assert_eq!(found, SizeSpread { over: SpreadOver::Deals, sizes: expected.clone() });
            differ += usize::from(expected.iter().any(|size| *size != picked.chosen.size));
        }
        assert!(differ > 0);
    }
}
