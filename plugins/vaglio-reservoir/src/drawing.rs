//! Random drawing of a network.

use crate::Reservoir;
use crate::network::Network;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use vaglio_core::{Error, Result, checkpoint};

/// A standard normal number, by Box and Muller from two uniform numbers.
fn normal(mut uniform: impl FnMut() -> f64) -> f64 {
    let (radius, angle) = (uniform(), uniform());
    (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

impl Reservoir {
    /// Draws a network: first W, row by row, then b, then W_in, input by input. Each entry of W is first drawn as zero
    /// or not, then its value.
    ///
    /// Also returns the spectral radius of W before rescaling, which costs O(units³).
    pub(crate) fn draw(&self, inputs: usize, seed: u64) -> Result<(Network, f64)> {
        let units = self.units;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // A number in [0, 1).
        let mut uniform = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let (mut starts, mut sources, mut weights) = (vec![0], Vec::new(), Vec::new());
        for _ in 0..units {
            checkpoint();
            for source in 0..units as u32 {
                if uniform() < self.connectivity {
                    sources.push(source);
                    weights.push(normal(&mut uniform));
                }
            }
            starts.push(sources.len());
        }
        let mut scaled = |scaling: f64| scaling * (2.0 * uniform() - 1.0);
        let bias = (0..units).map(|_| scaled(self.bias_scaling)).collect();
        let input = (0..inputs * units).map(|_| scaled(self.input_scaling)).collect();
        let mut network = Network { starts, sources, weights, input, bias };
        let radius = network.spectral_radius()?;
        let factor = self.spectral_radius / radius;
        if radius == 0.0 || !factor.is_finite() {
            return Err(Error::setting(
                "connectivity",
                format!(
                    "the {} connections that {} of {units} units draws make no cycle, so their spectral radius is 0; raise connectivity or units",
                    network.sources.len(),
                    self.connectivity
                ),
            ));
        }
        network.weights.iter_mut().for_each(|weight| *weight *= factor);
        Ok((network, radius))
    }
}
