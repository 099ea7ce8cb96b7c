//! Random experiments: paths over the columns and fresh dummies.

use super::rates::{Occurrences, VotingLevel, is_beyond};
use super::unit::UnitColumns;
use crate::resampling::StageMonitor;
use crate::selector::ValidSelector;
use ndarray::Array2;
use rayon::prelude::*;
use vaglio_core::{Columns, Criterion, Design, Feature, Problem, Readout, Result, Signs, standardized};
use vaglio_kernels::Level;
use vaglio_search::dummy_path::{DummyPath, NormalRng, PathData, Stepping};
use vaglio_search::least_angle::{LeastAngle, PathRules};
use vaglio_search::shuffle::stream;

/// Number of experiments.
pub const EXPERIMENTS: usize = 20;
/// Dummies per column if they are virtual, and their largest number if they are stored.
pub const DUMMIES: usize = 10;

/// Number of the random stream that seeds the dummies.
const DUMMY: u64 = 6;
/// Largest number of stored values of an experiment's dummies; at least one dummy per column is stored regardless.
const MOST_STORED: usize = 1 << 22;
/// Rule by which paths add columns, independent of the search. With correlated columns, least angles confirm fewer
/// false ones than forward selection, which may add a neighbor before the column of the model.
const STEPPING: Stepping = Stepping::LeastAngle;
/// Largest number of dummies of a path on a criterion's own geometry.
const MOST_ON_GEOMETRY: u32 = 100;

/// Experiments for one selection.
pub(super) struct Experiments<'a> {
    criterion: &'a dyn Criterion,
    design: &'a Design,
    unit: &'a UnitColumns,
    seed: u64,
    /// Whether paths use correlations.
    is_linear: bool,
    /// Number of candidate columns.
    columns: usize,
}

/// Result of all experiments.
pub(super) struct Voted {
    /// Columns taken at each voting level, by the number of dummies, from 1.
    pub by_dummies: Vec<Vec<VotingLevel>>,
    /// Share of experiments that voted for each column.
    pub votes: Vec<f64>,
    pub dummies: usize,
    pub stored: bool,
}

/// The path of one experiment.
enum ExperimentPath<'a> {
    Correlation(Box<DummyPath<'a>>),
    Geometry(Vec<Option<u32>>),
}

impl<'a> Experiments<'a> {
    /// Experiments on the columns `unit` of a design.
    ///
    /// # Errors
    /// Returns the errors of [`Criterion::geometry`].
    pub fn new(selector: &'a ValidSelector, design: &'a Design, unit: &'a UnitColumns) -> Result<Self> {
        let criterion = &*selector.criterion;
        let is_linear = criterion.geometry(design)?.is_linear();
        let columns = unit.columns.iter().filter(|column| !column.is_empty()).count();
        Ok(Experiments { criterion, design, unit, seed: selector.seed, is_linear, columns })
    }

    /// Whether columns are compared by correlation.
    pub fn is_linear(&self) -> bool {
        self.is_linear
    }

    /// Adds one dummy at a time until the strictest level exceeds the rate. Returns `None` if stopped.
    ///
    /// # Errors
    /// Returns the errors of [`Criterion::geometry`].
    pub fn voted(&self, most: f64, watcher: &StageMonitor<'_>) -> Result<Option<Voted>> {
        let rows = self.design.rows();
        let stored = !self.is_linear || self.design.weights().is_some_and(|w| w.iter().any(|weight| *weight != w[0]));
        let times = if stored { (MOST_STORED / (rows * self.columns).max(1)).clamp(1, DUMMIES) } else { DUMMIES };
        let dummies = times * self.columns;
        let last = self.last(dummies, most);
        watcher.stage("fdr", last as usize);
        let drawn: Vec<Vec<Vec<f64>>> = match stored && self.is_linear {
            true => (0..EXPERIMENTS).map(|number| self.stored(number, dummies)).collect(),
            false => vec![Vec::new(); EXPERIMENTS],
        };
        let targets: Vec<&[f64]> = self.unit.targets.iter().map(Vec::as_slice).collect();
        let columns: Vec<Vec<&[f64]>> = drawn.iter().map(|drawn| self.unit.with(drawn)).collect();
        let walks = (0..EXPERIMENTS).into_par_iter().map(|number| {
            if !self.is_linear {
                return self.on_geometry(number, dummies, last, watcher).map(ExperimentPath::Geometry);
            }
            let data = PathData {
                columns: &columns[number],
                features: self.unit.columns.len(),
                targets: &targets,
                dimensions: rows - 1,
            };
            let (unstored, seed) = (if stored { 0 } else { dummies }, self.seed_of(number));
            Ok(ExperimentPath::Correlation(Box::new(DummyPath::new(Level::best(), data, STEPPING, unstored, seed))))
        });
        let mut walks: Vec<ExperimentPath<'_>> = walks.collect::<Result<_>>()?;
        let mut by_dummies = Vec::new();
        for number in 1..=last {
            walks.par_iter_mut().for_each(|walk| {
                if let ExperimentPath::Correlation(path) = walk {
                    path.until(number, &|| watcher.stop.reason().is_some());
                }
            });
            if watcher.stopped().is_some() {
                return Ok(None);
            }
            watcher.piece();
            let levels = occurrences(&walks, dummies).taken(number);
            let ends = is_beyond(&levels, most);
            by_dummies.push(levels);
            if ends {
                break;
            }
        }
        let votes = occurrences(&walks, dummies).votes(by_dummies.len() as u32);
        Ok(Some(Voted { by_dummies, votes, dummies, stored }))
    }

    /// Largest number of dummies that a path can need: the smaller of half of the rows and the number expected to enter
    /// if every column were taken and a share `most` of them were false.
    fn last(&self, dummies: usize, most: f64) -> u32 {
        let expected = dummies as f64 * most / (1.0 - most).max(0.5) + EXPERIMENTS as f64;
        let last = (expected as usize).min(self.design.rows().div_ceil(2)) as u32;
        match (self.columns, self.is_linear) {
            (0, _) => 0,
            (_, true) => last,
            (_, false) => last.min(MOST_ON_GEOMETRY),
        }
    }

    fn seed_of(&self, number: usize) -> u64 {
        stream(self.seed, DUMMY, number as u64)
    }

    /// Dummies of an experiment, one vector each, with mean 0 and norm 1.
    fn stored(&self, number: usize, dummies: usize) -> Vec<Vec<f64>> {
        self.drawn(number, dummies).iter().map(|values| standardized(values, self.design.weights())).collect()
    }

    fn drawn(&self, number: usize, dummies: usize) -> Vec<Vec<f64>> {
        let mut random = NormalRng::new(self.seed_of(number));
        let rows = self.design.rows();
        (0..dummies).map(|_| (0..rows).map(|_| random.normal()).collect()).collect()
    }

    /// Number of dummies that entered before each column, on a least-angle path in the criterion's own geometry.
    fn on_geometry(
        &self,
        number: usize,
        dummies: usize,
        last: u32,
        watcher: &StageMonitor<'_>,
    ) -> Result<Vec<Option<u32>>> {
        let features = self.design.features();
        let mut columns = Columns::clone(self.design.columns());
        self.drawn(number, dummies).into_iter().for_each(|values| columns.push(values));
        let mut names = self.design.names().to_vec();
        names.extend((0..dummies).map(|dummy| format!("\u{0}dummy {dummy}")));
        let targets: Array2<f64> = self.design.targets().to_owned();
        let of_targets = (0..targets.nrows()).map(|output| format!("target {output}")).collect();
        let problem = Problem::new(columns, names, targets, of_targets, self.design.task().clone())?;
        let problem = match self.design.weights() {
            Some(weights) => problem.with_weights(weights.to_vec())?,
            None => problem,
        };
        let design = Design::identity(&problem, Readout::new(vec![1.0], true)?).stopping_at(watcher.stop.clone());
        let mut geometry = self.criterion.geometry(&design)?;
        let open =
            (0..features + dummies).map(|column| self.unit.columns.get(column).is_none_or(|column| !column.is_empty()));
        let non_negative = geometry.signs() == Signs::NonNegative;
        let rules = PathRules { non_negative, lasso: non_negative, most: usize::MAX };
        let mut path = LeastAngle::new(Level::best(), rules, geometry.relevance()?, open.collect());
        let (mut entered, mut before) = (vec![None; features], 0);
        let mut seen = vec![false; dummies];
        let mut gram = |feature: Feature| geometry.gram(feature);
        while before < last && watcher.stop.reason().is_none() {
            let Ok(knot) = path.advance(&mut gram)? else { break };
            match knot.feature.checked_sub(features) {
                None => {
                    entered[knot.feature].get_or_insert(before);
                }
                Some(dummy) => before += u32::from(!std::mem::replace(&mut seen[dummy], true)),
            }
        }
        Ok(entered)
    }
}

fn occurrences<'w>(walks: &'w [ExperimentPath<'_>], dummies: usize) -> Occurrences<'w> {
    let entered = walks.iter().map(|walk| match walk {
        ExperimentPath::Correlation(path) => path.entered(),
        ExperimentPath::Geometry(entered) => &entered[..],
    });
    Occurrences { entered: entered.collect(), dummies }
}
