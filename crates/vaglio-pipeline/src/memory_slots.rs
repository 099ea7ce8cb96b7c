//! Memory slots for concurrent repetitions of a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of repetitions of a search, each with its own rows and engine data, that fit in memory at once. All
/// repetitions share it; results do not depend on it.
#[derive(Debug, Default)]
pub struct MemorySlots {
    /// Number of free slots; `None` if unlimited.
    free: Option<Arc<AtomicUsize>>,
    /// Number of slots occupied here, which become free on drop.
    taken: usize,
}

impl MemorySlots {
    /// Slots for repetitions of `each` bytes in `bytes`.
    pub fn new(bytes: f64, each: f64) -> Self {
        let count = (bytes / each).max(0.0);
        let free = (count < 1e9).then(|| Arc::new(AtomicUsize::new(count as usize)));
        MemorySlots { free, taken: 0 }
    }

    /// Occupies `count` slots, or none if fewer are free.
    pub fn all(&self, count: usize) -> Option<MemorySlots> {
        let (_, slots) = self.some(count);
        (slots.taken == count).then_some(slots)
    }

    /// Occupies up to `count` slots; allows at least one repetition.
    pub fn some(&self, count: usize) -> (usize, MemorySlots) {
        let occupied = |taken: usize| MemorySlots { free: self.free.clone(), taken };
        let Some(free) = &self.free else { return (count, occupied(count)) };
        // The closure never fails.
        let left = free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left - left.min(count)));
        let taken = left.unwrap_or_default().min(count);
        (taken.max(1), occupied(taken))
    }
}

impl Clone for MemorySlots {
    fn clone(&self) -> Self {
        MemorySlots { free: self.free.clone(), taken: 0 }
    }
}

impl Drop for MemorySlots {
    fn drop(&mut self) {
        if let Some(free) = &self.free {
            free.fetch_add(self.taken, Ordering::Relaxed);
        }
    }
}
