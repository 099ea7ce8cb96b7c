//! Echo-state networks: a learner for [vaglio](vaglio_core), for time series.
//!
//! `use vaglio_reservoir as _;` in a program registers `learner: reservoir` for pipeline files; [`Reservoir`] is the
//! learner.

mod drawing;
mod echo_state;
mod model;
mod network;

pub use model::Decision;
use model::{States, series_rows};
use std::sync::Arc;
use vaglio_core::{Error, Result, RowLabels, gather, prelude::*};

/// A leaky echo-state network with a ridge readout; the search selects among its nodes.
///
/// With u(t) the columns of a row and x = 0 before the first row of each series, x(t) = (1 − a)·x(t−1) +
/// a·tanh(W·x(t−1) + W_in·u(t) + b). The readout minimizes Σ (y − wᵀx − v)² + λ‖w‖², and with `balanced` Σ (r/n_c) (y −
/// wᵀx − v)² + λ‖w‖², where n_c is the weight of the rows of the class of y. Each entry of W is nonzero with
/// probability `connectivity` and then normal; W is rescaled so that its largest |eigenvalue| is `spectral_radius`.
/// W_in and b are uniform in [−1, 1] times their scaling. All are drawn from the seed: W, row by row, for each entry
/// first whether it is nonzero; then b; then W_in, column by column.
///
/// Columns are `node1`, `node2`, …, and with `direct` the problem's own after these. Cost O(rows · connections) for the
/// states and O(units³) for the spectral radius; memory 8 bytes per row and unit.
///
/// # Example
/// ```
/// use vaglio_core::Design;
/// use vaglio_reservoir::Reservoir;
/// let problem = vaglio_testkit::data::regression(30, 2, 1).problem();
/// let learner = Reservoir { units: 20, connectivity: 0.3, ..Reservoir::default() };
/// let design = Design::from_problem(&problem, std::sync::Arc::new(learner))?;
/// assert_eq!((design.features(), design.problem().names()[0].as_str()), (20, "node1"));
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// H. Jaeger, *The "echo state" approach to analysing and training recurrent neural networks*, GMD report 148, 2001;
/// with leaks: H. Jaeger, M. Lukoševičius, D. Popovici and U. Siewert, *Optimization and applications of echo state
/// networks with leaky-integrator neurons*, Neural Networks 20(3), 2007, equation 2 without noise.
#[part(
    Learner,
    "reservoir",
    summary = "a ridge readout of the states of a leaky echo-state network, for time series",
    example = "learner: {kind: reservoir, units: 200, spectral_radius: 0.9, leak_rate: 1.0, lambda: 1.0}"
)]
#[derive(PartialEq)]
pub struct Reservoir {
    /// Number of nodes of the network, 1 to 20000.
    #[default(200)]
    pub units: usize,
    /// Largest |eigenvalue| of W, positive.
    #[default(0.9)]
    pub spectral_radius: f64,
    /// Probability of each connection, above 0 and at most 1.
    #[default(0.1)]
    pub connectivity: f64,
    /// Share a of the new state, above 0 and at most 1.
    #[default(1.0)]
    pub leak_rate: f64,
    /// Largest weight of an input.
    #[default(1.0)]
    pub input_scaling: f64,
    /// Largest bias.
    pub bias_scaling: f64,
    /// Number of rows at the start of each series that are not trained on.
    pub warmup: usize,
    /// Whether the problem's own columns are candidates in addition to the nodes.
    pub direct: bool,
    /// Whether each row is predicted by itself, or each series by the mean over its rows.
    #[default(Decision::Step)]
    pub decision: Decision,
    /// Whether classes have equal total weight in training: row j of class c weighs r_j divided by the training weight
    /// of class c, recomputed for every fold. λ then has another scale.
    pub balanced: bool,
    /// Seed of the network; by default the pipeline's.
    #[optional]
    pub seed: Option<u64>,
    /// Penalty λ, or several of which the criterion takes the best for every subset.
    pub lambda: Lambda,
    /// Whether there is an intercept; it is not penalized.
    #[default(true)]
    pub intercept: bool,
}

/// Maximum number of units.
const MOST_UNITS: usize = 20_000;

impl Reservoir {
    /// Rejects series that are too short or cannot be predicted as one.
    fn check_series(&self, problem: &Problem) -> Result<()> {
        let series = series_rows(problem.rows(), problem.series())?;
        if let Some(k) = series.iter().position(|rows| rows.len() <= self.warmup) {
            return Err(Error::setting(
                "warmup",
                format!(
                    "series {} in order of appearance has {} rows, and none is left after {} of warm-up; lower it or leave the series out",
                    k + 1,
                    series[k].len(),
                    self.warmup
                ),
            ));
        }
        if self.decision == Decision::Step {
            return Ok(());
        }
        if problem.series().is_none() {
            return Err(Error::setting(
                "decision",
                "`series` needs the series of each row; give data.series or use `step`",
            ));
        }
        let targets = problem.targets();
        for (k, rows) in series.iter().enumerate() {
            if rows.clone().any(|row| targets.column(row) != targets.column(rows.start)) {
                let message = format!(
                    "the rows of series {} in order of appearance have unlike targets and cannot be decided as one; use `step`",
                    k + 1
                );
                return Err(Error::setting("decision", message));
            }
        }
        Ok(())
    }
}

impl Learner for Reservoir {
    fn needs_order(&self) -> bool {
        true
    }

    fn readout(&self) -> Result<Option<Readout>> {
        let readout = Readout::with_lambda(&self.lambda, self.intercept)?;
        Ok(Some(if self.balanced { readout.balanced() } else { readout }))
    }

    fn design(&self, problem: &Problem, readout: Readout) -> Result<Design> {
        self.check_settings()?;
        self.check(problem)?;
        let columns = problem.columns();
        let series = series_rows(problem.rows(), problem.series())?;
        let (network, drawn_radius) = self.draw(columns.len(), self.seed.unwrap_or(problem.seed()))?;
        let kept: Vec<usize> = series.iter().flat_map(|rows| rows.start + self.warmup..rows.end).collect();
        let rows = if self.warmup == 0 { problem.clone() } else { problem.select_rows(&kept) };
        let wanted: Vec<usize> = (0..self.units).collect();
        let mut states = Columns::new(rows.rows());
        for column in network.states(self.leak_rate, columns, &series, &wanted)? {
            let column = if self.warmup == 0 { column } else { gather(&column, &kept) };
            states.push(column);
        }
        let mut names: Vec<String> = (1..=self.units).map(|node| format!("node{node}")).collect();
        if self.direct {
            for (k, name) in rows.names().iter().enumerate() {
                if names[..self.units].contains(name) {
                    let message = format!("the column `{name}` has the name of a node; rename it");
                    return Err(Error::setting("direct", message));
                }
                names.push(name.clone());
                states.push(rows.columns().column(k));
            }
        }
        let Reservoir { leak_rate, warmup, decision, .. } = *self;
        let map = States { network, drawn_radius, inputs: columns.len(), leak_rate, warmup, decision };
        let rows = match rows.labels().series.clone().filter(|_| decision == Decision::Series) {
            Some(series) => rows.clone().with_labels(RowLabels { units: Some(series), ..rows.labels().clone() })?,
            None => rows,
        };
        Design::from_map(&rows, states, names, readout, Arc::new(map))
    }

    fn check(&self, problem: &Problem) -> Result<()> {
        if self.balanced && *problem.task() == Task::Regression {
            return Err(Error::setting("balanced", "classes are balanced, and the task is regression; leave it out"));
        }
        self.check_series(problem)
    }

    fn check_settings(&self) -> Result<()> {
        Error::unless_between("units", self.units, 1..=MOST_UNITS)?;
        for (field, share) in [("connectivity", self.connectivity), ("leak_rate", self.leak_rate)] {
            if !(share > 0.0 && share <= 1.0) {
                return Err(Error::setting(field, format!("{share} is not above 0 and at most 1")));
            }
        }
        if !(self.spectral_radius > 0.0 && self.spectral_radius.is_finite()) {
            return Err(Error::setting(
                "spectral_radius",
                format!("{} is not a positive finite number", self.spectral_radius),
            ));
        }
        for (field, scaling) in [("input_scaling", self.input_scaling), ("bias_scaling", self.bias_scaling)] {
            if !(scaling >= 0.0 && scaling.is_finite()) {
                return Err(Error::setting(field, format!("{scaling} is not a finite number from 0")));
            }
        }
        self.readout().map(|_| ())
    }
}
