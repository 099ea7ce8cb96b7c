//! Eight doubles that are worked on as one: written plainly, so that the compiler makes vectors of any width of them.
//!
//! Every sum has a fixed order, over eight fixed lanes, so that neither threads nor instruction sets change a bit. The products of
//! moments round a product and a sum once (`Wide::mul_add`) at every level; all other kernels round twice, and none leaves it to the
//! compiler. The baseline of x86-64 has no instruction for the first and calls the C library, some twenty times slower. Long kernels use
//! `Eight`, where the width is said, since the compiler makes single doubles of them otherwise. Loops that change each entry by itself are
//! written plainly, or reach their eights by `opaque`: of eights the compiler makes gathers across them, with which a greedy search of 100
//! columns took 2.0 s in place of 1.6 (`objdump -d` of the program shows no `vgather`).

use std::ops::{Add, Div, Mul, Sub};

/// An entry that becomes a double without rounding.
pub(crate) trait Entry: Copy {
    fn double(self) -> f64;
}

impl Entry for f64 {
    #[inline(always)]
    fn double(self) -> f64 {
        self
    }
}

impl Entry for f32 {
    #[inline(always)]
    fn double(self) -> f64 {
        f64::from(self)
    }
}

impl Entry for u8 {
    #[inline(always)]
    fn double(self) -> f64 {
        f64::from(self)
    }
}

/// A place of which the compiler is told nothing. Eights are vectors already; of loops over them, where it knows how the places
/// follow each other, it makes gathers across eights, which take several times as long.
#[inline(always)]
pub(crate) fn opaque<T>(place: &T) -> &T {
    std::hint::black_box(place)
}

/// Eight doubles.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Wide([f64; Wide::WIDTH]);

macro_rules! lanewise {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for Wide {
            type Output = Wide;
            #[inline(always)]
            fn $method(self, other: Wide) -> Wide {
                Wide(std::array::from_fn(|l| self.0[l] $op other.0[l]))
            }
        }
    };
}
lanewise!(Add, add, +);
lanewise!(Sub, sub, -);
lanewise!(Mul, mul, *);
lanewise!(Div, div, /);

impl Wide {
    pub const WIDTH: usize = 8;
    pub const ZERO: Wide = Wide([0.0; Wide::WIDTH]);
    pub const INFINITY: Wide = Wide([f64::INFINITY; Wide::WIDTH]);

    #[inline(always)]
    pub fn splat(value: f64) -> Wide {
        Wide([value; Wide::WIDTH])
    }

    /// The doubles of a chunk.
    #[inline(always)]
    pub fn load<E: Entry>(chunk: &[E; Wide::WIDTH]) -> Wide {
        Wide(std::array::from_fn(|l| chunk[l].double()))
    }

    /// Fewer than eight doubles, filled up.
    #[inline(always)]
    pub fn part<E: Entry>(rest: &[E], fill: f64) -> Wide {
        Wide(std::array::from_fn(|l| rest.get(l).map_or(fill, |entry| entry.double())))
    }

    #[inline(always)]
    pub fn store(self, chunk: &mut [f64; Wide::WIDTH]) {
        *chunk = self.0;
    }

    /// self·by + to, rounded once.
    #[inline(always)]
    pub fn mul_add(self, by: Wide, to: Wide) -> Wide {
        Wide(std::array::from_fn(|l| self.0[l].mul_add(by.0[l], to.0[l])))
    }

    /// The smaller of each lane.
    #[inline(always)]
    pub fn min(self, other: Wide) -> Wide {
        Wide(std::array::from_fn(|l| if self.0[l] < other.0[l] { self.0[l] } else { other.0[l] }))
    }

    /// The lanes where `a` is at most `b`, else 0.
    #[inline(always)]
    pub fn where_at_most(self, a: Wide, b: Wide) -> Wide {
        Wide(std::array::from_fn(|l| if a.0[l] <= b.0[l] { self.0[l] } else { 0.0 }))
    }

    /// Sets one lane to what `f` makes of it.
    #[inline(always)]
    pub fn update(&mut self, lane: usize, f: impl FnOnce(f64) -> f64) {
        self.0[lane] = f(self.0[lane]);
    }

    /// One lane.
    #[inline(always)]
    pub fn lane(&self, lane: usize) -> f64 {
        self.0[lane]
    }

    /// All lanes.
    #[inline(always)]
    pub fn doubles(&self) -> &[f64; Wide::WIDTH] {
        &self.0
    }

    /// All lanes added, in order.
    pub fn sum(self) -> f64 {
        self.0.iter().sum()
    }

    /// The smallest lane.
    pub fn least(self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }
}
