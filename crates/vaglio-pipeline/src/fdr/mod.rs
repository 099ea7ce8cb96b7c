//! Which columns are no false discoveries: random dummies beside the columns say how soon chance enters a forward path.
//!
//! The T-Rex selector of J. Machkour, M. Muma, D. P. Palomar, *The terminating-random experiments selector: fast
//! high-dimensional variable selection with false discovery rate control*, Signal Processing 231 (2025): experiments with dummies of
//! their own, each a path that ends when so many dummies are on it, vote for the columns that entered before. Its dummies are
//! virtual (arXiv 2604.07464) where the geometry is that of correlation and rows have one weight.
//!
//! Dummies are no rivals of columns that correlate with each other, where a neighbor stands in for a column of the model. So a
//! column is taken at a rate only where no rival explains what it does: see `rivals`.

mod experiments;
mod rates;
mod rivals;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod unit;

use crate::resample::Watcher;
use crate::selector::ValidSelector;
use experiments::{Experiments, Voted};
use rates::{at_rate, rates};
use serde::{Deserialize, Serialize};
use unit::UnitColumns;
use vaglio_core::{Design, Error, Feature, FeatureRef, Result};

/// Experiments.
pub const EXPERIMENTS: usize = 20;
/// Dummies for each column, where they are virtual; of others at most.
pub const DUMMIES: usize = 10;
/// Rates are known up to so many times the one that is asked for.
const TENTATIVE: f64 = 2.0;

/// What is known of every column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Discoveries {
    /// The rate that is asked for.
    pub rate: f64,
    /// Dummies of each experiment.
    pub dummies: usize,
    /// Whether they were stored.
    pub stored: bool,
    /// The columns that some rate up to twice the one that is asked for takes, or that experiments voted for: the others are
    /// taken at none.
    pub columns: Vec<Discovery>,
    /// Columns that equal another, with the first of them, which stands for all.
    pub equal: Vec<(Feature, Feature)>,
}

/// A column that experiments voted for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Discovery {
    /// The column.
    pub feature: Feature,
    /// The smallest rate at which it is taken, of those up to twice the one that is asked for.
    pub q: Option<f64>,
    /// The share of experiments in which it entered before the dummies at which the rate takes its columns.
    pub votes: f64,
    /// The column from which it is not told apart at the rate that is asked for.
    pub rival: Option<Feature>,
}

impl Discoveries {
    /// The columns that the rate takes, by their q-values, of equals those with more votes, then the first.
    pub fn confirmed(&self) -> Vec<Feature> {
        let is_taken = |of: &&Discovery| of.q.is_some_and(|q| q <= self.rate);
        let mut taken: Vec<&Discovery> = self.columns.iter().filter(is_taken).collect();
        taken.sort_by(|a, b| {
            a.q.partial_cmp(&b.q).unwrap_or(std::cmp::Ordering::Equal).then(b.votes.total_cmp(&a.votes))
        });
        taken.into_iter().map(|of| of.feature).collect()
    }
}

/// Refuses rates that are none.
///
/// # Errors
/// [`Error::Setting`] with that field.
pub(crate) fn check_rate(rate: f64) -> Result<()> {
    match rate > 0.0 && rate < 1.0 {
        true => Ok(()),
        false => Err(Error::setting("fdr", format!("{rate} does not lie between 0 and 1; 0.1 is usual"))),
    }
}

/// Refuses designs, of rows in an order of time or not, on which dummies would not behave as columns of no use do.
///
/// # Errors
/// [`Error::Setting`] that says why.
pub fn check_design(design: &Design, is_ordered: bool) -> Result<()> {
    let refused = |why: &str| Err(Error::setting("fdr", why));
    if design.groups().is_some() {
        return refused(
            "dummies are drawn row by row, and rows of a group depend on each other; `stability` keeps groups whole",
        );
    }
    if is_ordered || design.series().is_some() {
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

/// The columns that a search may take.
///
/// The search refuses names that are not there.
pub fn among(selector: &ValidSelector, design: &Design) -> Vec<Feature> {
    let settings = serde_json::to_value(selector.search()).unwrap_or_default();
    let excluded: Vec<FeatureRef> =
        settings.get("excluded").and_then(|list| serde_json::from_value(list.clone()).ok()).unwrap_or_default();
    let names = design.names();
    let is_excluded = |feature: Feature| {
        excluded.iter().any(|of| match of {
            FeatureRef::Index(index) => *index == feature,
            FeatureRef::Name(name) => *name == names[feature],
        })
    };
    design.candidates().into_iter().filter(|feature| !is_excluded(*feature)).collect()
}

/// What each rate up to twice `rate` takes of the columns `among`; `None` when it was stopped.
///
/// # Errors
/// Those of the criterion's geometry.
pub fn discoveries(
    selector: &ValidSelector,
    design: &Design,
    rate: f64,
    among: &[Feature],
    watcher: &Watcher<'_>,
) -> Result<Option<Discoveries>> {
    let unit = UnitColumns::new(design, among);
    let most = (TENTATIVE * rate).min(1.0);
    let experiments = Experiments::new(selector, design, &unit)?;
    let is_linear = experiments.is_linear();
    let Some(Voted { by_dummies, votes, dummies, stored }) = experiments.voted(most, watcher)? else { return Ok(None) };
    let taken_at = rates(&by_dummies, design.features(), most);
    let confirmed = at_rate(&by_dummies, rate);
    let mut columns = Vec::new();
    for (feature, &votes) in votes.iter().enumerate().filter(|(_, votes)| **votes > 0.0) {
        let own = taken_at[feature];
        // What is no correlation has no t test.
        let rivals = own.filter(|_| is_linear).map(|_| rivals::of(&unit, confirmed, feature));
        let q = own.map(|own| rivals.map_or(own, |rivals| own.max(rivals.rate))).filter(|q| *q <= most);
        let rival = rivals.filter(|of| of.rate > rate).and_then(|of| of.nearest);
        columns.push(Discovery { feature, q, votes, rival });
    }
    Ok(Some(Discoveries { rate, dummies, stored, columns, equal: unit.equal }))
}
