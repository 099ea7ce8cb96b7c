//! Random hidden layer.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use vaglio_core::{Column, Columns, Error, Expression, Function, Result, checkpoint, saved, setting};
use vaglio_kernels::elementary_functions;
use vaglio_kernels::tile::{Tile, by_tiles};
use vaglio_kernels::vectors::Vectors;

/// Activation function of a hidden unit.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Activation {
    /// tanh(wᵀu + b).
    #[default]
    Tanh,
    /// 1/(1 + exp(−(wᵀu + b))).
    Sigmoid,
    /// max(0, wᵀu + b).
    Relu,
    /// exp(−|b|·‖u − w‖²).
    Rbf,
}

impl Activation {
    /// Applies the activation to a tile of wᵀu + b, or of ‖u − w‖² for `rbf`, one unit per column.
    fn apply(self, units: &[HiddenUnit], tile: &mut Tile) {
        match self {
            Activation::Tanh => elementary_functions::tanh(tile.entries()),
            Activation::Sigmoid => {
                tile.entries().iter_mut().for_each(|v| *v = -*v);
                elementary_functions::exp(tile.entries());
                tile.entries().iter_mut().for_each(|v| *v = 1.0 / (1.0 + *v));
            }
            Activation::Relu => tile.entries().iter_mut().for_each(|v| *v = if *v > 0.0 { *v } else { 0.0 }),
            Activation::Rbf => {
                tile.scale(|k| units.get(k).map_or(0.0, |unit| -unit.bias.abs()));
                elementary_functions::exp(tile.entries());
            }
        }
    }

    /// Output of a unit as an expression of its inputs.
    pub(crate) fn expression(self, unit: &HiddenUnit, inputs: &[Expression]) -> Expression {
        let terms = inputs.iter().zip(&unit.weights);
        let weighted = || {
            let products = terms.clone().map(|(input, weight)| Expression::from(*weight).times(input.clone()));
            Expression::Sum(std::iter::once(unit.bias.into()).chain(products).collect())
        };
        match self {
            Activation::Tanh => weighted().apply(Function::Tanh),
            Activation::Sigmoid => {
                let power = weighted().times(-1.0).apply(Function::Exp);
                Expression::from(1.0).over(Expression::from(1.0).plus(power))
            }
            Activation::Relu => weighted().if_above(0.0, weighted(), 0.0),
            Activation::Rbf => {
                let difference = |(input, center): (&Expression, &f64)| input.clone().plus(-center);
                let squares = terms.map(|term| difference(term).times(difference(term)));
                Expression::Sum(squares.collect()).times(-unit.bias.abs()).apply(Function::Exp)
            }
        }
    }
}

/// One hidden unit.
#[saved]
#[derive(Clone)]
pub(crate) struct HiddenUnit {
    pub bias: f64,
    /// One weight per input.
    pub weights: Vec<f64>,
}

/// Draws the first `count` units of a seed, each from its own stream. Cost O(count · inputs).
pub(crate) fn draw(seed: u64, count: usize, inputs: usize, input_scaling: f64, bias_scaling: f64) -> Vec<HiddenUnit> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let unit = |k: usize| {
        checkpoint();
        random.set_stream(k as u64);
        random.set_word_pos(0);
        let bias = bias_scaling * uniform(&mut random);
        HiddenUnit { bias, weights: (0..inputs).map(|_| input_scaling * uniform(&mut random)).collect() }
    };
    (0..count).map(unit).collect()
}

/// A uniform number in [−1, 1).
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Outputs of `units` on every row, one column per unit. Cost O(rows · inputs · units).
///
/// A row's outputs depend on its inputs and their unit alone, bit for bit.
///
/// # Errors
/// [`Error::Numerical`] if a sum overflows.
pub(crate) fn outputs(activation: Activation, units: &[HiddenUnit], inputs: &Columns) -> Result<Columns> {
    let mut made = Columns::new(inputs.rows());
    if units.is_empty() {
        return Ok(made);
    }
    checkpoint();
    let columns: Vec<Column<'_>> = inputs.iter().collect();
    let vectors = Vectors::new(units.len(), inputs.len(), |k, i| units[k].weights[i]);
    let biases: Vec<f64> = units.iter().map(|unit| unit.bias).collect();
    let outputs = by_tiles(inputs.rows(), units.len(), |rows| {
        let x = Tile::from_columns(&columns, rows);
        let mut tile = match activation {
            Activation::Rbf => vectors.squared_distances(&x),
            _ => vectors.products(&x, &biases),
        };
        if !tile.is_finite() {
            return Err(Error::Numerical("the input of a hidden unit overflows; standardize the columns".into()));
        }
        activation.apply(units, &mut tile);
        Ok(tile)
    })?;
    for column in outputs {
        checkpoint();
        made.push(column);
    }
    Ok(made)
}
