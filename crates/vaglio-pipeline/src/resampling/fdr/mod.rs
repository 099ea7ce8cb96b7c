//! Selection with a bounded false discovery rate, by random dummies added to the columns.
//!
//! Implements the T-Rex selector of J. Machkour, M. Muma, D. P. Palomar, *The terminating-random experiments selector:
//! fast high-dimensional variable selection with false discovery rate control*, Signal Processing 231 (2025). Each
//! experiment follows a path with dummies of its own until a given number of them has entered. It votes for the columns
//! that entered before. Dummies are virtual (arXiv 2604.07464) if the geometry is correlation and all rows have one
//! weight.
//!
//! Dummies do not represent columns that correlate with each other: a neighbor can replace a column of the model. So a
//! column is only taken if no rival explains its effect; see `rivals`.

mod dummy_path;
mod experiments;
mod rates;
mod rivals;

use crate::jobs::StageMonitor;
use crate::selector::ValidSelector;
pub use experiments::{DUMMIES, EXPERIMENTS};
use experiments::{Experiments, Votes};
use rates::{at_rate, rates};
use std::collections::HashSet;
use vaglio_core::{Design, Error, Feature, Result};
use vaglio_report::record::{ColumnVerdict, FalseDiscoveries, Verdict};

/// Rates are computed up to this multiple of the requested one.
const TENTATIVE: f64 = 2.0;

/// Refuses designs on which dummies do not behave like useless columns, such as rows ordered in time.
pub fn check_design(design: &Design, is_ordered: bool) -> Result<()> {
    let refused = |why: &str| Err(Error::setting("fdr", why));
    if design.problem().groups().is_some() {
        return refused(
            "dummies are drawn row by row, and rows of a group depend on each other; `stability` keeps groups whole",
        );
    }
    if is_ordered || design.problem().series().is_some() {
        return refused(
            "dummies are drawn row by row, and rows of a series or in an order of time depend on each other; `stability` \
             keeps stretches of time whole",
        );
    }
    if design.rows() < 4 {
        return refused("it needs four rows at least");
    }
    Ok(())
}

/// Columns that the search may add. Names that do not exist are left to the search's own check.
pub fn search_candidates(selector: &ValidSelector, design: &Design) -> Vec<Feature> {
    let excluded = selector.search.settings.excluded.iter();
    let excluded: HashSet<Feature> =
        excluded.filter_map(|key| key.resolve(design.problem().names(), "excluded").ok()).collect();
    design.candidates().into_iter().filter(|feature| !excluded.contains(feature)).collect()
}

/// Verdicts on all columns at a rate, from experiments with the [`search_candidates`]. Returns `None` if stopped.
pub fn discoveries(
    selector: &ValidSelector,
    design: &Design,
    rate: f64,
    watcher: &StageMonitor<'_>,
) -> Result<Option<FalseDiscoveries>> {
    let most = (TENTATIVE * rate).min(1.0);
    let experiments = Experiments::new(selector, design);
    let Some(Votes { by_dummies, shares }) = experiments.vote(most, watcher)? else { return Ok(None) };
    let Experiments { columns: scaled, targets, equal, is_linear, dummies, stored, .. } = experiments;
    let taken_at = rates(&by_dummies, design.features(), most);
    let taken = at_rate(&by_dummies, rate);
    let name = |feature: Feature| design.problem().names()[feature].clone();
    let column = |(index, votes): (Feature, f64)| {
        // Only correlations have a t test.
        let (least, nearest) = match taken_at[index] {
            Some(_) if is_linear => rivals::rivals(&scaled, &targets, taken, index),
            _ => (0.0, None),
        };
        let q = taken_at[index].map(|own| own.max(least)).filter(|q| *q <= most);
        let rival = nearest.filter(|_| least > rate).map(name);
        let verdict = match q {
            Some(q) if q <= rate => Verdict::Confirmed,
            q if q.is_some() || rival.is_some() => Verdict::Tentative,
            _ => Verdict::Rejected,
        };
        ColumnVerdict { index, name: name(index), verdict, q, votes, rival, same_as: None }
    };
    let mut columns: Vec<ColumnVerdict> = shares.into_iter().enumerate().map(column).collect();
    for (feature, first) in equal {
        // The verdict on the first of equal columns limits that on the others.
        if columns[first].verdict != Verdict::Rejected {
            columns[feature].verdict = Verdict::Tentative;
        }
        columns[feature].same_as = Some(name(first));
    }
    Ok(Some(FalseDiscoveries { rate, experiments: EXPERIMENTS, dummies, are_virtual: !stored, columns }))
}
