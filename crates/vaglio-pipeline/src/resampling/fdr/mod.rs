//! Selection with a bounded false discovery rate, by random dummies added to the columns.
//!
//! Implements the T-Rex selector of J. Machkour, M. Muma, D. P. Palomar, *The terminating-random experiments selector:
//! fast high-dimensional variable selection with false discovery rate control*, Signal Processing 231 (2025). Each
//! experiment follows a path with dummies of its own until a given number of dummies has entered, and votes for the
//! columns that entered before. Dummies are virtual (arXiv 2604.07464) if the geometry is correlation and all rows have
//! one weight.
//!
//! Dummies do not represent columns that correlate with each other: a neighbor can replace a column of the model. So a
//! column is only taken if no rival explains its effect; see `rivals`.

mod experiments;
mod rates;
mod rivals;
#[cfg(test)]
mod tests;

use crate::jobs::StageMonitor;
use crate::selector::ValidSelector;
use experiments::Experiments;
pub use experiments::{DUMMIES, EXPERIMENTS};
use rates::{at_rate, rates};
use serde::{Deserialize, Serialize};
use vaglio_core::{Design, Error, Feature, Result};
use vaglio_search::FeatureRef;

/// Rates are computed up to this multiple of the requested one.
const TENTATIVE: f64 = 2.0;

/// False-discovery results of all columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Discoveries {
    /// The requested rate.
    pub rate: f64,
    /// Dummies of each experiment.
    pub dummies: usize,
    /// Whether dummies were stored rather than virtual.
    pub stored: bool,
    /// Columns with votes of experiments. No rate takes the others.
    pub columns: Vec<Discovery>,
    /// Columns that equal another, each with the first column of its group, which represents all.
    pub equal: Vec<(Feature, Feature)>,
}

/// A column with votes of experiments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Discovery {
    /// The column.
    pub feature: Feature,
    /// Smallest rate that takes the column, if at most twice the requested one.
    pub q: Option<f64>,
    /// Share of experiments in which the column entered before the last dummy.
    pub votes: f64,
    /// Other column that the data cannot distinguish from this one at the requested rate.
    pub rival: Option<Feature>,
}

impl Discoveries {
    /// Columns that the rate takes, sorted by q-value, then by more votes, then by position.
    pub fn confirmed(&self) -> Vec<Feature> {
        let is_taken = |of: &&Discovery| of.q.is_some_and(|q| q <= self.rate);
        let mut taken: Vec<&Discovery> = self.columns.iter().filter(is_taken).collect();
        taken.sort_by(|a, b| {
            a.q.partial_cmp(&b.q).unwrap_or(std::cmp::Ordering::Equal).then(b.votes.total_cmp(&a.votes))
        });
        taken.into_iter().map(|of| of.feature).collect()
    }
}

/// Refuses designs on which dummies do not behave like useless columns, such as rows ordered in time.
///
/// # Errors
/// [`Error::Setting`] with the reason.
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
pub fn among(selector: &ValidSelector, design: &Design) -> Vec<Feature> {
    let excluded = &selector.search.settings.excluded;
    let names = design.names();
    let is_excluded = |feature: Feature| {
        excluded.iter().any(|of| match of {
            FeatureRef::Index(index) => *index == feature,
            FeatureRef::Name(name) => *name == names[feature],
        })
    };
    design.candidates().into_iter().filter(|feature| !is_excluded(*feature)).collect()
}

/// Computes votes and q-values of the columns [`among`] which the search chooses, for rates up to twice `rate`. Returns
/// `None` if stopped.
///
/// # Errors
/// Returns the errors of [`Criterion::geometry`](vaglio_core::Criterion::geometry).
pub fn discoveries(
    selector: &ValidSelector,
    design: &Design,
    rate: f64,
    watcher: &StageMonitor<'_>,
) -> Result<Option<Discoveries>> {
    let most = (TENTATIVE * rate).min(1.0);
    let experiments = Experiments::new(selector, design)?;
    let Some((by_dummies, shares)) = experiments.vote(most, watcher)? else { return Ok(None) };
    let Experiments { columns: scaled, targets, equal, is_linear, dummies, stored, .. } = experiments;
    let taken_at = rates(&by_dummies, design.features(), most);
    let confirmed = at_rate(&by_dummies, rate);
    let mut columns = Vec::new();
    for (feature, &votes) in shares.iter().enumerate().filter(|(_, votes)| **votes > 0.0) {
        let own = taken_at[feature];
        // Only correlations have a t test.
        let (least, nearest) = match own {
            Some(_) if is_linear => rivals::rivals(&scaled, &targets, confirmed, feature),
            _ => (0.0, None),
        };
        let q = own.map(|own| own.max(least)).filter(|q| *q <= most);
        let rival = nearest.filter(|_| least > rate);
        columns.push(Discovery { feature, q, votes, rival });
    }
    Ok(Some(Discoveries { rate, dummies, stored, columns, equal }))
}
