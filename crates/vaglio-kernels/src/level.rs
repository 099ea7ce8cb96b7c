//! Run-time choice of the instruction set.
//!
//! Kernels are written once over fixed lanes and compiled for AVX-512, AVX2 and the target's baseline. Every level
//! gives the same bits: a product and a sum are rounded once where a kernel asks for it (`F64x8::mul_add`), and twice
//! elsewhere. The baseline of x86-64 has no fused instruction and calls the C library. Builds with debug assertions
//! leave AVX-512 out, which saves a fifth of this crate's compile time.

use pulp::{Arch, NullaryFnOnce, WithSimd};

/// The instruction set that kernels run on.
#[derive(Debug, Clone, Copy)]
pub struct Level(Arch);

impl Level {
    /// The widest level of this processor, unless the environment variable `VAGLIO_CPU` names a lower one (`baseline`,
    /// `avx2`, `avx512`).
    pub fn best() -> Self {
        let named = std::env::var("VAGLIO_CPU").ok();
        let levels = Self::available();
        *named.and_then(|name| levels.iter().find(|level| level.name() == name)).unwrap_or(&levels[levels.len() - 1])
    }

    /// Every level that this processor and this build have, from the baseline to the widest.
    pub fn available() -> Vec<Self> {
        let mut levels = vec![Level(Arch::Scalar)];
        #[cfg(target_arch = "x86_64")]
        levels.extend(pulp::x86::V3::try_new().map(|v3| Level(Arch::V3(v3))));
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        levels.extend(pulp::x86::V4::try_new().map(|v4| Level(Arch::V4(v4))));
        #[cfg(not(target_arch = "x86_64"))]
        levels.push(Level(Arch::new()));
        levels
    }

    /// Returns the identifier: `baseline`, `avx2`, `avx512`, or `other`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Arch::Scalar => "baseline",
            #[cfg(target_arch = "x86_64")]
            Arch::V3(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Arch::V4(_) => "avx512",
            #[allow(unreachable_patterns)]
            _ => "other",
        }
    }

    /// Runs a kernel, whose `call` or `with_simd` must be `#[inline(always)]`, compiled for this level.
    #[inline(always)]
    pub fn run<K: WithSimd>(self, kernel: K) -> K::Output {
        match self.0 {
            #[cfg(all(target_arch = "x86_64", debug_assertions))]
            Arch::V3(v3) => pulp::Simd::vectorize(v3, kernel),
            #[cfg(all(target_arch = "x86_64", debug_assertions))]
            _ => pulp::Simd::vectorize(pulp::Scalar::new(), kernel),
            #[cfg(not(all(target_arch = "x86_64", debug_assertions)))]
            level => level.dispatch(kernel),
        }
    }

    /// Like [`Level::run`], but for a closure, which must be `#[inline(always)]` too.
    ///
    /// The bound is not `FnOnce`: the compiler calls that through a function that is not compiled for the level.
    #[inline(always)]
    pub fn call<R>(self, kernel: impl FnMut() -> R) -> R {
        self.run(ClosureKernel(kernel))
    }
}

/// A closure wrapped as a kernel of pulp.
struct ClosureKernel<F>(F);

impl<R, F: FnMut() -> R> NullaryFnOnce for ClosureKernel<F> {
    type Output = R;

    #[inline(always)]
    fn call(mut self) -> R {
        (self.0)()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_from_the_baseline_to_the_widest_of_processor_and_build() {
        let (levels, processor) = (Level::available(), Level(Arch::new()).name());
        let widest = if cfg!(debug_assertions) && processor == "avx512" { "avx2" } else { processor };
        assert_eq!((levels[0].name(), levels[levels.len() - 1].name()), ("baseline", widest));
    }
}
