//! Release of memory that the program's allocator caches, which counts as used until then.

use super::machine::resident;
use std::sync::OnceLock;

/// Function that releases cached memory.
static RELEASE: OnceLock<fn()> = OnceLock::new();

/// Registers the function that releases the allocator's cached memory, so that a run does not fail for lack of it. The
/// first registration counts.
pub fn released_by(release: fn()) {
    RELEASE.get_or_init(|| release);
}

/// Releases the allocator's cached memory, after large data were freed.
pub fn release() {
    RELEASE.get().iter().for_each(|release| release());
}

/// Resident bytes of the process; if above a limit, measured after cached memory was released.
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
