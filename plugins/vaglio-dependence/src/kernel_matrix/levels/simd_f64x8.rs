//! Eight doubles in the vectors of one instruction set.
//!
//! In long kernels the compiler turns [`F64x8`] into vectors of mixed widths and single doubles. Here the
//! width is explicit; lanes and roundings are the same.

use pulp::Simd;
use std::ops::{Add, Mul};
use vaglio_kernels::f64x8::F64x8;

/// Eight doubles in the first `PARTS` vectors of `parts`.
#[derive(Debug, Clone, Copy)]
pub(super) struct SimdF64x8<S: Simd> {
    simd: S,
    parts: [S::f64s; F64x8::WIDTH],
}

macro_rules! lanewise {
    ($trait:ident, $method:ident, $of_parts:ident) => {
        impl<S: Simd> $trait for SimdF64x8<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(mut self, other: Self) -> Self {
                for k in 0..Self::PARTS {
                    self.parts[k] = self.simd.$of_parts(self.parts[k], other.parts[k]);
                }
                self
            }
        }
    };
}
lanewise!(Add, add, add_f64s);
lanewise!(Mul, mul, mul_f64s);

impl<S: Simd> SimdF64x8<S> {
    const PARTS: usize = F64x8::WIDTH / S::F64_LANES;

    /// Fills all lanes with one value.
    #[inline(always)]
    pub fn splat(simd: S, value: f64) -> Self {
        SimdF64x8 { simd, parts: [simd.splat_f64s(value); F64x8::WIDTH] }
    }

    /// Loads the eight doubles of a chunk.
    #[inline(always)]
    pub fn load(simd: S, chunk: &[f64; F64x8::WIDTH]) -> Self {
        let mut eight = Self::splat(simd, 0.0);
        eight.parts[..Self::PARTS].copy_from_slice(S::as_simd_f64s(chunk).0);
        eight
    }

    /// Stores the lanes in a chunk.
    #[inline(always)]
    pub fn store(self, chunk: &mut [f64; F64x8::WIDTH]) {
        S::as_mut_simd_f64s(chunk).0.copy_from_slice(&self.parts[..Self::PARTS]);
    }

    /// Converts to plain lanes.
    #[inline(always)]
    pub fn wide(self) -> F64x8 {
        let mut lanes = [0.0; F64x8::WIDTH];
        self.store(&mut lanes);
        F64x8::load(&lanes)
    }
}
