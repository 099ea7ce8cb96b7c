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
//!
//! Paths are least-angle paths, whatever the search. With correlated columns, they confirm fewer false ones than forward
//! selection, which may add a neighbor first.

mod dummy_path;
mod rates;
mod rivals;

use crate::jobs::StageMonitor;
use crate::selector::ValidSelector;
use dummy_path::{DummyPath, NormalRng};
use ndarray::Array2;
use rates::{VotingLevel, at_rate, is_beyond, rates, share, voting_levels};
use rayon::prelude::*;
use vaglio_core::shuffle::stream;
use vaglio_core::{
    Columns, Criterion, Design, Error, Feature, Problem, Readout, Result, standardize, standardize_column,
    standardize_outputs,
};
use vaglio_kernels::sums::dot;
use vaglio_kernels::tolerance::SAME_COLUMN;
use vaglio_report::record::{ColumnVerdict, FalseDiscoveries, Verdict};
use vaglio_search::{least_angle_order, plan_geometry};

/// Number of experiments.
pub const EXPERIMENTS: usize = 20;
/// Dummies per column if they are virtual, and their largest number if they are stored.
pub const DUMMIES: usize = 10;

/// Number of the random stream that seeds the dummies.
const DUMMY: u64 = 6;
/// Largest number of stored values of an experiment's dummies; at least one dummy per column is stored regardless.
const MOST_STORED: usize = 1 << 22;
/// Largest number of dummies of a path on a criterion's own geometry.
const MOST_ON_GEOMETRY: u32 = 100;
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
            "dummies are drawn row by row, and rows of a series or in an order of time depend on each other; `stability` keeps stretches of time whole",
        );
    }
    if design.rows() < 4 {
        return refused("it needs four rows at least");
    }
    Ok(())
}

/// Verdicts on all columns at a rate, from experiments with the candidates. Returns `None` if stopped.
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

/// Experiments for one selection.
struct Experiments<'a> {
    criterion: &'a dyn Criterion,
    design: &'a Design,
    seed: u64,
    /// Candidate columns scaled to mean 0 and norm 1; empty for other columns and for those that equal another.
    columns: Vec<Vec<f64>>,
    /// Targets scaled to mean 0 and norm 1, unless they are constant.
    targets: Vec<Vec<f64>>,
    /// Columns that equal another up to scale and shift, with the first of their group.
    equal: Vec<(Feature, Feature)>,
    /// Whether columns are compared by correlation.
    is_linear: bool,
    /// Dummies of each experiment.
    dummies: usize,
    /// Whether dummies are stored rather than virtual.
    stored: bool,
}

/// Result of the experiments.
struct Votes {
    /// Columns taken at each voting level, by the number of dummies from 1.
    by_dummies: Vec<Vec<VotingLevel>>,
    /// Share of experiments that voted for each column.
    shares: Vec<f64>,
}

impl<'a> Experiments<'a> {
    /// Experiments on the candidates. Memory O(rows · columns).
    fn new(selector: &'a ValidSelector, design: &'a Design) -> Self {
        let mut columns = vec![Vec::new(); design.features()];
        for feature in design.candidates() {
            columns[feature] = standardize_column(design, feature);
        }
        let targets = standardize_outputs(design).into_iter().filter(|y| !y.is_empty()).collect();
        let equal = equal(&columns);
        for (feature, _) in &equal {
            columns[*feature].clear();
        }
        let criterion = &*selector.criterion;
        let is_linear = plan_geometry(criterion, design).is_linear();
        let count = columns.iter().filter(|column| !column.is_empty()).count();
        let stored = !is_linear || design.weights().is_some_and(|w| w.iter().any(|weight| *weight != w[0]));
        let times = if stored { (MOST_STORED / (design.rows() * count).max(1)).clamp(1, DUMMIES) } else { DUMMIES };
        let (seed, dummies) = (selector.seed, times * count);
        Experiments { criterion, design, seed, columns, targets, equal, is_linear, dummies, stored }
    }

    /// Adds one dummy at a time until the strictest level exceeds the rate. `None` if stopped.
    fn vote(&self, most: f64, watcher: &StageMonitor<'_>) -> Result<Option<Votes>> {
        let (last, features) = (self.last(most), self.design.features());
        watcher.stage("fdr", last as usize);
        let linear = if self.is_linear { EXPERIMENTS } else { 0 };
        let (stored, unstored) = if self.stored { (self.dummies, 0) } else { (0, self.dummies) };
        let scaled = |values: Vec<f64>| standardize(&values, self.design.weights());
        let drawn: Vec<Vec<Vec<f64>>> =
            (0..linear).map(|number| self.draw(number, stored).map(scaled).collect()).collect();
        let targets: Vec<&[f64]> = self.targets.iter().map(Vec::as_slice).collect();
        let columns: Vec<Vec<&[f64]>> =
            drawn.iter().map(|dummies| self.columns.iter().chain(dummies).map(Vec::as_slice).collect()).collect();
        let path = |number: usize| {
            DummyPath::new(&columns[number], features, &targets, unstored, self.experiment_seed(number))
        };
        let mut paths: Vec<DummyPath<'_>> = (0..linear).into_par_iter().map(path).collect();
        let on_geometry = |number: usize| self.on_geometry(number, last, watcher);
        let others: Vec<Vec<Option<u32>>> =
            (linear..EXPERIMENTS).into_par_iter().map(on_geometry).collect::<Result<_>>()?;
        let mut by_dummies = Vec::new();
        for number in 1..=last {
            paths.par_iter_mut().for_each(|path| path.until(number, &|| watcher.stop.reason().is_some()));
            if watcher.check_stop().is_some() {
                return Ok(None);
            }
            watcher.end_piece(number as usize - 1);
            let levels = voting_levels(&dummies_before(&paths, &others), self.dummies, number);
            let ends = is_beyond(&levels, most);
            by_dummies.push(levels);
            if ends {
                break;
            }
        }
        let entered = dummies_before(&paths, &others);
        let shares = (0..features).map(|column| share(&entered, column, by_dummies.len() as u32)).collect();
        Ok(Some(Votes { by_dummies, shares }))
    }

    /// Largest number of dummies that a path can need, at most half of the rows. It is the number expected to enter if
    /// every column were taken and a share `most` of them were false.
    fn last(&self, most: f64) -> u32 {
        let expected = self.dummies as f64 * most / (1.0 - most).max(0.5) + EXPERIMENTS as f64;
        let last = (expected as usize).min(self.design.rows().div_ceil(2)) as u32;
        match (self.dummies, self.is_linear) {
            (0, _) => 0,
            (_, true) => last,
            (_, false) => last.min(MOST_ON_GEOMETRY),
        }
    }

    fn experiment_seed(&self, number: usize) -> u64 {
        stream(self.seed, DUMMY, number as u64)
    }

    /// Draws the first `count` dummies of an experiment, one vector each.
    fn draw(&self, number: usize, count: usize) -> impl Iterator<Item = Vec<f64>> {
        let (mut random, rows) = (NormalRng::new(self.experiment_seed(number)), self.design.rows());
        (0..count).map(move |_| (0..rows).map(|_| random.normal()).collect())
    }

    /// Number of dummies that entered before each column, on a least-angle path in the criterion's own geometry.
    fn on_geometry(&self, number: usize, last: u32, watcher: &StageMonitor<'_>) -> Result<Vec<Option<u32>>> {
        let (features, dummies) = (self.design.features(), self.dummies);
        let mut columns = Columns::clone(self.design.problem().columns());
        self.draw(number, dummies).for_each(|values| columns.push(values));
        let mut names = self.design.problem().names().to_vec();
        names.extend((0..dummies).map(|dummy| format!("\u{0}dummy {dummy}")));
        let targets: Array2<f64> = self.design.targets().to_owned();
        let target_names = (0..targets.nrows()).map(|output| format!("target {output}")).collect();
        let problem = Problem::new(columns, names, targets, target_names, self.design.problem().task().clone())?;
        let problem = match self.design.weights() {
            Some(weights) => problem.with_weights(weights.to_vec())?,
            None => problem,
        };
        let design = Design::identity(&problem, Readout::new(vec![1.0], true)?).with_sign(watcher.stop.clone());
        let geometry = plan_geometry(self.criterion, &design);
        let open =
            (0..features + dummies).map(|column| self.columns.get(column).is_none_or(|column| !column.is_empty()));
        let relevance = geometry.relevances()?.into_iter().next().unwrap_or_default();
        let gram = |feature: Feature| geometry.gram(feature);
        let mut order = least_angle_order(relevance, open.collect(), !geometry.is_linear(), gram);
        let (mut entered, mut before) = (vec![None; features], 0);
        let mut seen = vec![false; dummies];
        while before < last && watcher.stop.reason().is_none() {
            let Some(feature) = order.next().transpose()? else { break };
            match feature.checked_sub(features) {
                None => {
                    entered[feature].get_or_insert(before);
                }
                Some(dummy) => before += u32::from(!std::mem::replace(&mut seen[dummy], true)),
            }
        }
        Ok(entered)
    }
}

/// Number of dummies that entered before each column, by path on correlations or on the criterion's own geometry.
fn dummies_before<'w>(paths: &'w [DummyPath<'_>], others: &'w [Vec<Option<u32>>]) -> Vec<&'w [Option<u32>]> {
    paths.iter().map(DummyPath::entered).chain(others.iter().map(Vec::as_slice)).collect()
}

/// Columns that equal an earlier one or its negative. Only columns with equal products with a random vector are
/// compared. Cost O(rows · columns + columns · log columns) if few are equal.
fn equal(columns: &[Vec<f64>]) -> Vec<(Feature, Feature)> {
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let mut random = NormalRng::new(0);
    let probe: Vec<f64> = (0..rows).map(|_| random.uniform() - 0.5).collect();
    let present = columns.iter().enumerate().filter(|(_, column)| !column.is_empty());
    let mut products: Vec<(f64, Feature)> =
        present.map(|(feature, column)| (dot(column, &probe).abs(), feature)).collect();
    products.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // ‖probe‖ ≤ √rows/2, and two equal columns are at most √(2·SAME_COLUMN) apart.
    let near = (rows as f64 * SAME_COLUMN).sqrt();
    let mut first: Vec<Feature> = (0..columns.len()).collect();
    for (place, &(product, feature)) in products.iter().enumerate() {
        for &(_, before) in products[..place].iter().rev().take_while(|(other, _)| product - other <= near) {
            if 1.0 - dot(&columns[feature], &columns[before]).abs() <= SAME_COLUMN {
                let (low, high) = (first[feature].min(first[before]), first[feature].max(first[before]));
                first.iter_mut().filter(|step| **step == high).for_each(|step| *step = low);
                break;
            }
        }
    }
    first.into_iter().enumerate().filter(|(feature, first)| feature != first).collect()
}
