//! States of a leaky echo-state network.
//!
//! x(t) = (1 − a)·x(t−1) + a·tanh(b + W_in·u(t) + W·x(t−1)), with x = 0 before the first step of a series. A unit's sum
//! has a fixed order: bias, inputs, then source units, each in increasing order. It depends neither on the number of
//! threads nor on unconnected units.

use crate::network::Network;
use std::ops::Range;
use vaglio_core::{Columns, Error, Result, checkpoint};
use vaglio_kernels::elementary_functions::tanh;
use vaglio_kernels::f64x8::F64x8;
use vaglio_kernels::{parallel, vectorize};

/// A leaky echo-state network, laid out for fast steps.
struct EchoStateNetwork {
    /// Number of units, rounded up to whole blocks.
    padded: usize,
    leak: f64,
    bias: Vec<f64>,
    /// `padded` weights for each input, input by input.
    input: Vec<f64>,
    recurrent: Recurrent,
}

/// W in blocks of units; a step updates all units of a block at once.
enum Recurrent {
    /// Blocks of eight units, each with as many slots as its most connected unit has connections.
    Sparse { starts: Vec<usize>, slots: Vec<Slot> },
    /// Blocks of 32 units with a weight from every unit.
    Dense { units: usize, weights: Vec<[f64; DENSE]> },
}

/// One connection of each of eight units; weight 0 pads units with fewer.
struct Slot {
    sources: [u32; F64x8::WIDTH],
    weights: [f64; F64x8::WIDTH],
}

/// Units in a dense block: enough concurrent sums to hide the latency of additions.
const DENSE: usize = 4 * F64x8::WIDTH;
/// Steps buffered before they are written to the columns.
const TILE: usize = 8;
/// Series processed together; their output slices are held meanwhile.
const SERIES: usize = 1 << 10;

impl EchoStateNetwork {
    /// Lays out a network. Cost O(connections + units · inputs); memory at most eight times the connections.
    fn new(network: &Network, leak: f64) -> Self {
        let Network { input, bias, .. } = network;
        let units = bias.len();
        let recurrent = Recurrent::new(network);
        let block = match recurrent {
            Recurrent::Sparse { .. } => F64x8::WIDTH,
            Recurrent::Dense { .. } => DENSE,
        };
        let padded = units.next_multiple_of(block);
        let pad = |values: &[f64]| values.iter().copied().chain(std::iter::repeat_n(0.0, padded - units)).collect();
        let bias: Vec<f64> = pad(bias);
        let input = input.chunks(units.max(1)).flat_map(|weights| -> Vec<f64> { pad(weights) }).collect();
        EchoStateNetwork { padded, leak, bias, input, recurrent }
    }

    /// States of the units `wanted` over all rows, one column each.
    ///
    /// `inputs` are columns; `series` are the rows of consecutive series, which are processed in parallel. Cost
    /// O(rows · (connections + units · (inputs + 1))).
    fn states(&self, inputs: &[&[f64]], series: &[Range<usize>], wanted: &[usize]) -> Vec<Vec<f64>> {
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut columns = vec![vec![0.0; series.last().map_or(0, |rows| rows.end)]; wanted.len()];
        let mut rest: Vec<&mut [f64]> = columns.iter_mut().map(Vec::as_mut_slice).collect();
        for series in series.chunks(SERIES) {
            let mut own_rows = |rows: &Range<usize>| {
                let own: Vec<&mut [f64]> =
                    rest.iter_mut().filter_map(|rest| rest.split_off_mut(..rows.len())).collect();
                (rows.start, own)
            };
            let series: Vec<(usize, Vec<&mut [f64]>)> = series.iter().map(&mut own_rows).collect();
            parallel::map_vec(series, |(begin, own)| self.walk(inputs, begin, wanted, own));
        }
        columns
    }

    /// Computes the states of one series from row `begin` and writes them to its rows of each column.
    fn walk(&self, inputs: &[&[f64]], begin: usize, wanted: &[usize], mut columns: Vec<&mut [f64]>) {
        let length = columns.first().map_or(0, |column| column.len());
        let (mut state, mut next) = (vec![0.0; self.padded], vec![0.0; self.padded]);
        let mut recent = vec![0.0; TILE * self.padded];
        for step in 0..length {
            vectorize!(|| drive(self, inputs, begin + step, &state, &mut next));
            tanh(&mut next);
            // x = (1 − a)·x + a·tanh(…).
            vectorize!(|| {
                let (rate, kept) = (self.leak, 1.0 - self.leak);
                state.iter_mut().zip(&next).for_each(|(x, t)| *x = kept * *x + rate * t);
            });
            let place = step % TILE;
            recent[place * self.padded..(place + 1) * self.padded].copy_from_slice(&state);
            if place + 1 == TILE || step + 1 == length {
                checkpoint();
                for (column, &unit) in columns.iter_mut().zip(wanted) {
                    let to = &mut column[step - place..=step];
                    to.iter_mut().zip(recent[unit..].iter().step_by(self.padded)).for_each(|(to, x)| *to = *x);
                }
            }
        }
    }
}

impl Network {
    /// States of the nodes `wanted`, one column each; `series` are the rows of consecutive series.
    pub fn states(
        &self,
        leak: f64,
        inputs: &Columns,
        series: &[Range<usize>],
        wanted: &[usize],
    ) -> Result<Vec<Vec<f64>>> {
        let values: Vec<_> = inputs.iter().map(|column| column.values()).collect();
        let slices: Vec<&[f64]> = values.iter().map(|column| &column[..]).collect();
        let states = EchoStateNetwork::new(self, leak).states(&slices, series, wanted);
        if states.iter().flatten().all(|state| state.is_finite()) {
            return Ok(states);
        }
        Err(Error::Numerical("the sum at a node overflows; standardize the columns or lower input_scaling".into()))
    }
}

impl Recurrent {
    fn new(network: &Network) -> Self {
        let (Network { starts, sources, weights, .. }, units) = (network, network.nodes());
        let row = |unit: usize| starts[unit]..starts[unit + 1];
        let (mut begins, mut slots) = (vec![0], Vec::new());
        for block in (0..units).step_by(F64x8::WIDTH) {
            let rows: Vec<_> = (block..units.min(block + F64x8::WIDTH)).map(row).collect();
            for k in 0..rows.iter().map(ExactSizeIterator::len).max().unwrap_or(0) {
                let mut slot = Slot { sources: [0; F64x8::WIDTH], weights: [0.0; F64x8::WIDTH] };
                for (lane, row) in rows.iter().enumerate().filter(|(_, row)| k < row.len()) {
                    slot.sources[lane] = sources[row.start + k];
                    slot.weights[lane] = weights[row.start + k];
                }
                slots.push(slot);
            }
            begins.push(slots.len());
        }
        // A slot gathers states, which costs about as much as four entries of a dense block.
        if 32 * slots.len() < units * units || units < DENSE {
            return Recurrent::Sparse { starts: begins, slots };
        }
        let mut dense = vec![[0.0; DENSE]; units.div_ceil(DENSE) * units];
        for unit in 0..units {
            for at in row(unit) {
                dense[unit / DENSE * units + sources[at] as usize][unit % DENSE] = weights[at];
            }
        }
        Recurrent::Dense { units, weights: dense }
    }
}

/// `to` = b + W_in·u + W·x.
#[inline(always)]
fn drive(network: &EchoStateNetwork, inputs: &[&[f64]], row: usize, state: &[f64], to: &mut [f64]) {
    to.copy_from_slice(&network.bias);
    for (column, weights) in inputs.iter().zip(network.input.chunks_exact(network.padded)) {
        let value = column[row];
        to.iter_mut().zip(weights).for_each(|(to, weight)| *to += weight * value);
    }
    match &network.recurrent {
        Recurrent::Sparse { starts, slots } => {
            for (chunk, bounds) in to.as_chunks_mut::<{ F64x8::WIDTH }>().0.iter_mut().zip(starts.windows(2)) {
                let mut sum = F64x8::load(chunk);
                for slot in &slots[bounds[0]..bounds[1]] {
                    let states: [f64; F64x8::WIDTH] = std::array::from_fn(|l| state[slot.sources[l] as usize]);
                    sum = sum + F64x8::load(&slot.weights) * F64x8::load(&states);
                }
                sum.store(chunk);
            }
        }
        Recurrent::Dense { units, weights } => {
            for (chunk, weights) in to.as_chunks_mut::<DENSE>().0.iter_mut().zip(weights.chunks_exact(*units)) {
                let parts = chunk.as_chunks_mut::<{ F64x8::WIDTH }>().0;
                let mut sums: [F64x8; 4] = std::array::from_fn(|p| F64x8::load(&parts[p]));
                for (weights, x) in weights.iter().zip(state) {
                    let x = F64x8::splat(*x);
                    let weights = weights.as_chunks::<{ F64x8::WIDTH }>().0;
                    for (sum, weights) in sums.iter_mut().zip(weights) {
                        *sum = *sum + F64x8::load(weights) * x;
                    }
                }
                for (sum, part) in sums.into_iter().zip(parts) {
                    sum.store(part);
                }
            }
        }
    }
}
