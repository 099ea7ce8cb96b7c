//! Reservoir states against the literal recursion.

use super::{EchoStateNetwork, Network};
use std::ops::Range;
use vaglio_kernels::Level;
use vaglio_testkit::SplitMix64;

/// Draws a number in [−1, 1).
fn number(random: &mut SplitMix64) -> f64 {
    2.0 * random.uniform() - 1.0
}

fn draw(units: usize, inputs: usize, connectivity: f64) -> Network {
    let mut random = SplitMix64::new(units as u64 * 7 + 3);
    let (mut starts, mut sources, mut weights) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..units {
        for source in 0..units {
            if random.uniform() < connectivity {
                sources.push(source as u32);
                weights.push(number(&mut random) / (connectivity * units as f64).sqrt());
            }
        }
        starts.push(sources.len());
    }
    let input = (0..units * inputs).map(|_| number(&mut random)).collect();
    let bias = (0..units).map(|_| 0.1 * number(&mut random)).collect();
    Network { starts, sources, weights, input, bias }
}

/// Computes states by definition, units × rows.
fn naive(network: &Network, inputs: &[Vec<f64>], lengths: &[usize], leak: f64) -> Vec<Vec<f64>> {
    let units = network.bias.len();
    let mut dense = vec![vec![0.0; units]; units];
    for (unit, row) in dense.iter_mut().enumerate() {
        for at in network.starts[unit]..network.starts[unit + 1] {
            row[network.sources[at] as usize] = network.weights[at];
        }
    }
    let mut out = vec![Vec::new(); units];
    let mut row = 0;
    for &length in lengths {
        let mut x = vec![0.0; units];
        for _ in 0..length {
            let next: Vec<f64> = (0..units)
                .map(|i| {
                    let recurrent: f64 = dense[i].iter().zip(&x).map(|(w, x)| w * x).sum();
                    let driven: f64 =
                        inputs.iter().enumerate().map(|(k, u)| network.input[k * units + i] * u[row]).sum();
                    (1.0 - leak) * x[i] + leak * (recurrent + driven + network.bias[i]).tanh()
                })
                .collect();
            x = next;
            out.iter_mut().zip(&x).for_each(|(out, x)| out.push(*x));
            row += 1;
        }
    }
    out
}

fn columns(inputs: usize, rows: usize) -> Vec<Vec<f64>> {
    let mut random = SplitMix64::new(99);
    (0..inputs).map(|_| (0..rows).map(|_| number(&mut random)).collect()).collect()
}

fn series(lengths: &[usize]) -> Vec<Range<usize>> {
    let next = |end: &mut usize, length: &usize| {
        *end += length;
        Some(*end - length..*end)
    };
    lengths.iter().scan(0, next).collect()
}

fn slices(columns: &[Vec<f64>]) -> Vec<&[f64]> {
    columns.iter().map(Vec::as_slice).collect()
}

#[test]
fn states_are_those_of_the_recursion() {
    let lengths = [1, 9, 30, 8];
    for (units, inputs, connectivity, leak) in [
        (1, 1, 1.0, 1.0),
        (7, 2, 0.4, 0.3),
        (37, 3, 0.1, 0.7),
        (64, 0, 0.05, 1.0),
        (70, 2, 0.6, 0.5),
        (33, 1, 1.0, 1.0),
    ] {
        let network = draw(units, inputs, connectivity);
        let inputs = columns(inputs, 48);
        let expected = naive(&network, &inputs, &lengths, leak);
        let reservoir = EchoStateNetwork::new(&network, leak);
        let wanted: Vec<usize> = (0..units).rev().collect();
        let mut first = None;
        for level in Level::available() {
            level.within(|| {
                let states = reservoir.states(&slices(&inputs), &series(&lengths), &wanted);
                assert_eq!(states.len(), units);
                for (unit, column) in wanted.iter().zip(&states) {
                    for (a, b) in column.iter().zip(&expected[*unit]) {
                        assert!((a - b).abs() < 1e-12, "{units} units, unit {unit}: {a} is not {b}");
                    }
                }
                assert_eq!(*first.get_or_insert_with(|| states.clone()), states, "{}", level.name());
            });
        }
    }
}

#[test]
fn a_series_does_not_know_of_the_others() {
    let network = draw(50, 2, 0.2);
    let inputs = columns(2, 60);
    let reservoir = EchoStateNetwork::new(&network, 0.6);
    let all = reservoir.states(&slices(&inputs), &series(&[20, 25, 15]), &[4, 49]);
    let part: Vec<&[f64]> = inputs.iter().map(|column| &column[20..45]).collect();
    let alone = reservoir.states(&part, &series(&[25]), &[4, 49]);
    for (all, alone) in all.iter().zip(&alone) {
        assert_eq!(&all[20..45], &alone[..]);
    }
}

#[test]
fn threads_and_wanted_units_change_no_bit() {
    let network = draw(90, 3, 0.5);
    let inputs = columns(3, 200);
    let reservoir = EchoStateNetwork::new(&network, 0.9);
    let on = |threads: usize, wanted: &[usize]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| reservoir.states(&slices(&inputs), &series(&[50; 4]), wanted))
    };
    let all: Vec<usize> = (0..90).collect();
    let one = on(1, &all);
    assert_eq!(one, on(2, &all));
    assert_eq!(on(2, &[7, 80]), [one[7].clone(), one[80].clone()]);
    assert!(on(1, &[]).is_empty());
}
