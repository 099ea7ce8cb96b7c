//! Eight doubles in the vectors of one instruction set.
//!
//! In long kernels the compiler turns [`crate::f64x8::F64x8`] into vectors of mixed widths and single doubles. Here the
//! width is explicit; lanes and roundings are the same.

use crate::f64x8::F64x8;
use pulp::Simd;
use std::ops::{Add, Div, Mul, Sub};

/// Eight doubles in the first `PARTS` vectors of `parts`.
#[derive(Debug, Clone, Copy)]
pub struct SimdF64x8<S: Simd> {
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
lanewise!(Sub, sub, sub_f64s);
lanewise!(Mul, mul, mul_f64s);
lanewise!(Div, div, div_f64s);

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

    /// Absolute value of each lane.
    #[inline(always)]
    pub fn abs(mut self) -> Self {
        for k in 0..Self::PARTS {
            self.parts[k] = self.simd.abs_f64s(self.parts[k]);
        }
        self
    }

    /// The smaller value of each lane; `other`'s where either is not a number.
    #[inline(always)]
    pub fn min(mut self, other: Self) -> Self {
        for k in 0..Self::PARTS {
            let (simd, one, other) = (self.simd, self.parts[k], other.parts[k]);
            self.parts[k] = simd.select_f64s(simd.less_than_f64s(one, other), one, other);
        }
        self
    }

    /// Keeps the lanes where `a` is at most `b` and sets the others to 0.
    #[inline(always)]
    pub fn where_at_most(mut self, a: Self, b: Self) -> Self {
        let zero = self.simd.splat_f64s(0.0);
        for k in 0..Self::PARTS {
            let is_so = self.simd.less_than_or_equal_f64s(a.parts[k], b.parts[k]);
            self.parts[k] = self.simd.select_f64s(is_so, self.parts[k], zero);
        }
        self
    }

    /// Converts from plain lanes.
    #[inline(always)]
    pub fn from_wide(simd: S, wide: &F64x8) -> Self {
        Self::load(simd, wide.doubles())
    }

    /// Converts to plain lanes.
    #[inline(always)]
    pub fn wide(self) -> F64x8 {
        let mut lanes = [0.0; F64x8::WIDTH];
        self.store(&mut lanes);
        F64x8::load(&lanes)
    }
}
