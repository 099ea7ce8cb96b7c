//! Seeded normal random numbers.

use std::sync::LazyLock;

/// Layers of equal area under the normal density.
const LAYERS: usize = 128;
/// Start of the tail, and area of a layer.
const TAIL: f64 = 3.442_619_855_899;
const AREA: f64 = 9.912_563_035_262_17e-3;

/// Random number generator xoshiro256++ of D. Blackman and S. Vigna, *Scrambled linear pseudorandom number generators*,
/// ACM Transactions on Mathematical Software 47 (2021).
pub struct NormalRng([u64; 4]);

/// Right ends of the layers, from the lowest.
static LAYER_ENDS: LazyLock<[f64; LAYERS + 1]> = LazyLock::new(|| {
    let mut ends = [0.0; LAYERS + 1];
    let mut density = (-0.5 * TAIL * TAIL).exp();
    ends[0] = AREA / density;
    ends[1] = TAIL;
    for layer in 2..LAYERS {
        ends[layer] = (-2.0 * (AREA / ends[layer - 1] + density).ln()).sqrt();
        density = (-0.5 * ends[layer] * ends[layer]).exp();
    }
    ends
});

impl NormalRng {
    /// Seeds the generator; splitmix64 fills the state.
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        NormalRng([(); 4].map(|()| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let bits = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            bits ^ (bits >> 31)
        }))
    }

    fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.0;
        let bits = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        bits
    }

    /// A uniform number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        share(self.bits())
    }

    /// A number beyond the last layer.
    fn tail(&mut self) -> f64 {
        loop {
            let (x, y) = (-(1.0 - self.uniform()).ln() / TAIL, -(1.0 - self.uniform()).ln());
            if 2.0 * y >= x * x {
                return TAIL + x;
            }
        }
    }

    /// A standard normal number, by the ziggurat of G. Marsaglia and W. W. Tsang, *The ziggurat method for generating
    /// random variables*, Journal of Statistical Software 5 (2000), with separate bits for the layer and the position
    /// in it.
    pub fn normal(&mut self) -> f64 {
        let ends = &*LAYER_ENDS;
        loop {
            let bits = self.bits();
            let place = 2.0 * share(bits) - 1.0;
            let layer = (bits & (LAYERS as u64 - 1)) as usize;
            // The share of a layer below the next one's end needs no density.
            if place.abs() < ends[layer + 1] / ends[layer] {
                return place * ends[layer];
            }
            if layer == 0 {
                return self.tail().copysign(place);
            }
            let x = place * ends[layer];
            let below = (-0.5 * (ends[layer] * ends[layer] - x * x)).exp();
            let above = (-0.5 * (ends[layer + 1] * ends[layer + 1] - x * x)).exp();
            if above + self.uniform() * (below - above) < 1.0 {
                return x;
            }
        }
    }
}

/// A number in [0, 1) from the high bits.
fn share(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}
