//! Eight doubles as one value, in plain code that the compiler turns into vectors of any width.
//!
//! Every sum here has a fixed order over eight fixed lanes, on any number of threads and any instruction set. Products
//! of moments round a product and a sum once (`F64x8::mul_add`) at every level; all other kernels round twice. The
//! baseline of x86-64 has no fused instruction and calls the C library, some twenty times slower.
//!
//! Long kernels need vectors of an explicit width, since the compiler breaks `F64x8` into single doubles there.
//! Loops over single entries are written plainly, or reach their eights through `black_box`, which hides their address
//! and stride. Otherwise the compiler gathers across eights: a greedy search of 100 columns then takes 2.0 s instead of
//! 1.6 s (`objdump -d` of the program shows no `vgather`).

use std::ops::{Add, Div, Mul, Sub};

/// The number as a double.
#[inline(always)]
pub(crate) fn double(x: impl Into<f64>) -> f64 {
    x.into()
}

/// Vector of eight doubles; arithmetic is lane by lane.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub struct F64x8([f64; F64x8::WIDTH]);

macro_rules! lanewise {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for F64x8 {
            type Output = F64x8;
            #[inline(always)]
            fn $method(self, other: F64x8) -> F64x8 {
                F64x8(std::array::from_fn(|l| self.0[l] $op other.0[l]))
            }
        }
    };
}
lanewise!(Add, add, +);
lanewise!(Sub, sub, -);
lanewise!(Mul, mul, *);
lanewise!(Div, div, /);

/// Folds vectors of one length by eights, in order; lanes beyond the end are `pads`. The closure is inlined, so that it
/// is compiled for the level.
macro_rules! fold_eights {
    ($vectors:expr, $pads:expr, $start:expr, $($add:tt)+) => {
        $crate::f64x8::fold(
            $vectors,
            $pads,
            $start,
            #[inline(always)]
            $($add)+
        )
    };
}
pub(crate) use fold_eights;

/// See [`fold_eights`].
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "all vectors are read at one place")]
pub(crate) fn fold<A, const N: usize>(
    vectors: [&[f64]; N],
    pads: [f64; N],
    start: A,
    add: impl Fn(A, [F64x8; N]) -> A,
) -> A {
    let rows = vectors[0].len();
    let whole = vectors.map(|v| &v.as_chunks().0[..rows / F64x8::WIDTH]);
    let rest = vectors.map(|v| &v[rows - rows % F64x8::WIDTH..rows]);
    let mut out = start;
    for j in 0..rows / F64x8::WIDTH {
        out = add(out, std::array::from_fn(|k| F64x8::load(&whole[k][j])));
    }
    if rest[0].is_empty() { out } else { add(out, std::array::from_fn(|k| F64x8::part(rest[k], pads[k]))) }
}

impl F64x8 {
    /// Number of lanes.
    pub const WIDTH: usize = 8;
    /// 0 in every lane.
    pub const ZERO: F64x8 = F64x8([0.0; F64x8::WIDTH]);
    /// +∞ in every lane.
    pub const INFINITY: F64x8 = F64x8([f64::INFINITY; F64x8::WIDTH]);

    /// Fills all lanes with one value.
    #[inline(always)]
    pub fn splat(value: f64) -> F64x8 {
        F64x8([value; F64x8::WIDTH])
    }

    /// Loads the eight entries of a chunk.
    #[inline(always)]
    pub fn load<E: Copy + Into<f64>>(chunk: &[E; F64x8::WIDTH]) -> F64x8 {
        F64x8(std::array::from_fn(|l| double(chunk[l])))
    }

    /// Loads fewer than eight entries; the other lanes are `fill`.
    #[inline(always)]
    pub fn part<E: Copy + Into<f64>>(rest: &[E], fill: f64) -> F64x8 {
        F64x8(std::array::from_fn(|l| rest.get(l).map_or(fill, |entry| double(*entry))))
    }

    /// Stores the lanes in a chunk.
    #[inline(always)]
    pub fn store(self, chunk: &mut [f64; F64x8::WIDTH]) {
        *chunk = self.0;
    }

    /// self·by + to, rounded once.
    #[inline(always)]
    pub fn mul_add(self, by: F64x8, to: F64x8) -> F64x8 {
        F64x8(std::array::from_fn(|l| self.0[l].mul_add(by.0[l], to.0[l])))
    }

    /// The absolute value of each lane.
    #[inline(always)]
    pub fn abs(self) -> F64x8 {
        F64x8(self.0.map(f64::abs))
    }

    /// The smaller value of each lane.
    #[inline(always)]
    pub fn min(self, other: F64x8) -> F64x8 {
        F64x8(std::array::from_fn(|l| if self.0[l] < other.0[l] { self.0[l] } else { other.0[l] }))
    }

    /// Keeps the lanes where `a` is at most `b` and sets the others to 0.
    #[inline(always)]
    pub fn where_at_most(self, a: F64x8, b: F64x8) -> F64x8 {
        F64x8(std::array::from_fn(|l| if a.0[l] <= b.0[l] { self.0[l] } else { 0.0 }))
    }

    /// Replaces one lane by `f` of its value.
    #[inline(always)]
    pub fn update(&mut self, lane: usize, f: impl FnOnce(f64) -> f64) {
        self.0[lane] = f(self.0[lane]);
    }

    /// Returns one lane.
    #[inline(always)]
    pub fn lane(&self, lane: usize) -> f64 {
        self.0[lane]
    }

    /// Returns all lanes.
    #[inline(always)]
    pub fn doubles(&self) -> &[f64; F64x8::WIDTH] {
        &self.0
    }

    /// Sum of all lanes, in order.
    #[inline]
    pub fn sum(self) -> f64 {
        self.0.iter().sum()
    }

    /// The smallest lane.
    pub fn least(self) -> f64 {
        vaglio_columns::minimum(self.0)
    }
}
