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
