//! Run-time choice of the instruction set.
//!
//! Kernels are written once over fixed lanes and compiled for AVX-512, AVX2 and the target's baseline. Every level
//! gives the same bits: a product and a sum are rounded once where a kernel asks for it (`F64x8::mul_add`), and twice
//! elsewhere. The baseline of x86-64 has no fused instruction and calls the C library. Builds with debug assertions
//! leave AVX-512 out, which saves a fifth of this crate's compile time.

use pulp::{Arch, NullaryFnOnce};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use vaglio_columns::{get_or_make, lock};

/// An instruction set that kernels run on.
#[derive(Debug, Clone, Copy)]
pub struct Level(Arch);

/// The available levels, and the index of the one that all kernels of the process run on.
static LEVELS: OnceLock<(Vec<Level>, AtomicUsize)> = OnceLock::new();

impl Level {
    /// The level of all kernels: the widest of this processor, unless the environment variable `VAGLIO_CPU` names a
    /// lower one (`baseline`, `avx2`, `avx512`) when the first kernel runs.
    #[inline]
    pub fn current() -> Self {
        let (available, used) = get_or_make(&LEVELS, levels);
        available[used.load(Ordering::Relaxed)]
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

    /// Runs a kernel compiled for the current level; see [`vectorize!`](crate::vectorize).
    ///
    /// The bound is not `FnOnce`: the compiler calls that through a function that is not compiled for the level.
    #[doc(hidden)]
    #[inline(always)]
    pub fn run<R>(kernel: impl FnMut() -> R) -> R {
        let kernel = ClosureKernel(kernel);
        match Level::current().0 {
            #[cfg(all(target_arch = "x86_64", debug_assertions))]
            Arch::V3(v3) => pulp::Simd::vectorize(v3, kernel),
            #[cfg(all(target_arch = "x86_64", debug_assertions))]
            _ => pulp::Simd::vectorize(pulp::Scalar::new(), kernel),
            #[cfg(not(all(target_arch = "x86_64", debug_assertions)))]
            level => level.dispatch(kernel),
        }
    }

    /// Calls `work` with all kernels of the process on this level, for tests of equal bits. Not to be nested.
    pub fn within<R>(self, work: impl FnOnce() -> R) -> R {
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = lock(&ALONE);
        let (available, used) = get_or_make(&LEVELS, levels);
        let own = available.iter().position(|level| level.name() == self.name()).unwrap_or_default();
        let before = used.swap(own, Ordering::Relaxed);
        let out = work();
        used.store(before, Ordering::Relaxed);
        out
    }
}

/// The value of [`LEVELS`]; cold, so that [`Level::current`] stays short where it is inlined.
#[cold]
fn levels() -> (Vec<Level>, AtomicUsize) {
    let available = Level::available();
    let named = std::env::var("VAGLIO_CPU").ok();
    let place = named.and_then(|name| available.iter().position(|level| level.name() == name));
    let used = AtomicUsize::new(place.unwrap_or(available.len() - 1));
    (available, used)
}

/// Runs a closure compiled for the current [`Level`].
#[macro_export]
macro_rules! vectorize {
    ($($kernel:tt)+) => {
        $crate::Level::run(
            #[inline(always)]
            $($kernel)+
        )
    };
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
