//! Random orders, determined by a seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Permutation of 0, …, `count` − 1, determined by the seed; the same on every machine.
pub fn random_order(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for last in (1..count).rev() {
        let at = ((u128::from(random.next_u64()) * (last as u128 + 1)) >> 64) as usize;
        order.swap(last, at);
    }
    order
}

/// Seed of the repetition `number` of a purpose, different from all others.
pub fn stream(seed: u64, purpose: u64, number: u64) -> u64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(purpose << 32 | number);
    random.next_u64()
}
