//! Memory that the allocator of the program keeps for later, which counts as the process's until it is given back.

use super::machine::resident;
use std::sync::OnceLock;

/// What gives back memory that the allocator of the program has kept.
static RELEASE: OnceLock<fn()> = OnceLock::new();

/// Says how memory that the allocator of the program keeps for later is given back, before a run ends for want of it. The first counts.
#[doc(hidden)]
pub fn released_by(release: fn()) {
    RELEASE.get_or_init(|| release);
}

/// Gives back what the allocator keeps for later: behind much that is not needed again.
#[doc(hidden)]
pub fn release() {
    RELEASE.get().iter().for_each(|release| release());
}

/// The bytes of the process that are in memory; where that is beyond a limit, once what is kept for later was given back.
#[doc(hidden)]
pub fn resident_within(limit: u64) -> Option<u64> {
    let held = resident()?;
    match RELEASE.get().filter(|_| held > limit) {
        Some(release) => {
            release();
            resident()
        }
        None => Some(held),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static GIVEN_BACK: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn what_is_kept_is_given_back_only_beyond_a_limit() {
        released_by(|| {
            GIVEN_BACK.fetch_add(1, Ordering::Relaxed);
        });
        released_by(|| unreachable!("the first counts"));
        assert!(resident_within(u64::MAX).is_some_and(|held| held > 0));
        assert_eq!(GIVEN_BACK.load(Ordering::Relaxed), 0);
        assert!(resident_within(0).is_some_and(|held| held > 0));
        assert_eq!(GIVEN_BACK.load(Ordering::Relaxed), 1);
    }
}
