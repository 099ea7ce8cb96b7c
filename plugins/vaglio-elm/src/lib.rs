//! Extreme learning machines: a ridge readout of a random hidden layer, as a learner of [vaglio](vaglio_core).
//!
//! `use vaglio_elm as _;` in a program registers `learner: elm` for pipeline files; [`Elm`] is the learner.

mod hidden_layer;
mod model;

pub use hidden_layer::Activation;

use model::RandomLayer;
use std::collections::HashSet;
use std::sync::Arc;
use vaglio_core::{Error, Result, prelude::*};

/// An extreme learning machine: ridge on hidden units with random weights that are never trained.
///
/// Unit k of a row u is h_k(u) = g(w_kᵀu + b_k). Entries of w_k are uniform in ±`input_scaling`, and b_k is uniform in
/// ±`bias_scaling`. An `rbf` unit is exp(−|b_k|·‖u − w_k‖²) with center w_k. The search runs over the columns `unit1`,
/// `unit2`, … and, with `direct`, over the problem's own columns after them. Inputs should have similar scales:
/// standardize.
///
/// Each unit is drawn from its own random stream, bias first. So a smaller layer is a prefix of a larger one, and an
/// appended column changes no other weight. The hidden layer ignores row weights. Cost O(rows · inputs · units), in
/// parallel over rows; memory 8 · rows · units bytes.
///
/// # Example
/// ```
/// use vaglio_core::Learner;
/// use vaglio_elm::Elm;
/// let problem = vaglio_testkit::data::regression(30, 5, 1).problem();
/// let model = Elm { units: 10, ..Elm::default() }.fit(&problem, &[0, 7, 12], None)?;
/// assert_eq!(model.inputs(), [0, 1, 2, 3, 4]);
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// G.-B. Huang, Q.-Y. Zhu and C.-K. Siew, *Extreme learning machine: theory and applications*, Neurocomputing
/// 70(1–3):489–501, 2006; radial units: G.-B. Huang and C.-K. Siew, *Extreme learning machine with randomly assigned
/// RBF kernels*, International Journal of Information Technology 11(1), 2005; selection of units with direct inputs: P.
/// Buteneers, K. Caluwaerts, J. Dambre, D. Verstraeten and B. Schrauwen, *Optimized parameter search for large datasets
/// of the regularization parameter and feature selection for ridge regression*, Neural Processing Letters 2013, section
/// 5.4.
#[part(
    Learner,
    "elm",
    summary = "extreme learning machine: ridge on hidden units with random weights, and on the inputs themselves",
    example = "learner: {kind: elm, units: 100, activation: tanh, input_scaling: 1.0, direct: true, lambda: 1.0}"
)]
#[derive(PartialEq)]
pub struct Elm {
    /// Number of hidden units, from 1 to 1000000.
    #[default(100)]
    pub units: usize,
    /// Activation function g of the hidden units.
    #[default(Activation::Tanh)]
    pub activation: Activation,
    /// Weights are uniform between minus this and this; > 0.
    #[default(1.0)]
    pub input_scaling: f64,
    /// Biases are uniform between minus this and this; ≥ 0, and > 0 for `rbf`, whose width is 1/√|bias|.
    #[default(1.0)]
    pub bias_scaling: f64,
    /// Whether the search also covers the problem's own columns, after the units.
    #[default(true)]
    pub direct: bool,
    /// Seed of weights and biases; by default, the pipeline's.
    pub seed: Option<u64>,
    /// The penalty λ, or a list: the criterion picks the best value for each subset.
    pub lambda: Lambda,
    /// Whether to fit an intercept, without a penalty.
    #[default(true)]
    pub intercept: bool,
}

/// Largest allowed number of units.
const MOST_UNITS: usize = 1_000_000;

impl Learner for Elm {
    fn readout(&self) -> Result<Option<Readout>> {
        Readout::with_lambda(&self.lambda, self.intercept).map(Some)
    }

    fn design(&self, problem: &Problem, readout: Readout) -> Result<Design> {
        let seed = self.seed.unwrap_or(problem.seed());
        let inputs = problem.columns().len();
        let layer = RandomLayer {
            activation: self.activation,
            units: hidden_layer::draw(seed, self.units, inputs, self.input_scaling, self.bias_scaling),
            inputs,
            direct: self.direct,
        };
        let mut columns = hidden_layer::outputs(self.activation, &layer.units, problem.columns())?;
        let known: HashSet<&str> = problem.names().iter().map(String::as_str).collect();
        let unit = |k: usize| {
            let mut name = format!("unit{k}");
            while known.contains(name.as_str()) {
                name.push('_');
            }
            name
        };
        let mut names: Vec<String> = (1..=self.units).map(unit).collect();
        if self.direct {
            for (feature, name) in problem.names().iter().enumerate() {
                columns.push(problem.columns().column(feature));
                names.push(name.clone());
            }
        }
        Design::from_map(problem, columns, names, readout, Arc::new(layer))
    }

    fn check_settings(&self) -> Result<()> {
        Error::unless_between("units", self.units, 1..=MOST_UNITS)?;
        if !(self.input_scaling.is_finite() && self.input_scaling > 0.0) {
            return Err(Error::setting("input_scaling", format!("{} is not a positive number", self.input_scaling)));
        }
        if !(self.bias_scaling.is_finite() && self.bias_scaling >= 0.0) {
            return Err(Error::setting("bias_scaling", format!("{} is negative or not finite", self.bias_scaling)));
        }
        if self.activation == Activation::Rbf && self.bias_scaling == 0.0 {
            let message = "0 makes every `rbf` unit constant; its width comes from the bias, so give a positive number";
            return Err(Error::setting("bias_scaling", message));
        }
        self.readout().map(|_| ())
    }
}
