//! Memory slots for concurrent repetitions of a search.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of repetitions of a search, each with its own rows and engine data, that fit in memory at once. All
/// repetitions share it; results do not depend on it.
#[derive(Clone, Default)]
pub struct MemorySlots(Option<Arc<AtomicUsize>>);

/// Occupied slots, released on drop.
pub struct OccupiedSlots(Option<(Arc<AtomicUsize>, usize)>);

impl MemorySlots {
    /// Slots for repetitions of `each` bytes in `bytes`.
    pub fn new(bytes: f64, each: f64) -> Self {
        let count = (bytes / each).max(0.0);
        if count < 1e9 { MemorySlots(Some(Arc::new(AtomicUsize::new(count as usize)))) } else { MemorySlots(None) }
    }

    /// Occupies `count` slots, or none if fewer are free.
    pub fn all(&self, count: usize) -> Option<OccupiedSlots> {
        let Some(left) = &self.0 else { return Some(OccupiedSlots(None)) };
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(count));
        taken.ok().map(|_| OccupiedSlots(Some((Arc::clone(left), count))))
    }

    /// Occupies up to `count` slots; allows at least one repetition.
    pub fn some(&self, count: usize) -> (usize, OccupiedSlots) {
        let Some(left) = &self.0 else { return (count, OccupiedSlots(None)) };
        let mut taken = 0;
        let take = |left: usize| {
            taken = left.min(count);
            Some(left - taken)
        };
        // The closure never fails.
        let _ = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        (taken.max(1), OccupiedSlots(Some((Arc::clone(left), taken))))
    }
}

impl Drop for OccupiedSlots {
    fn drop(&mut self) {
        if let Some((left, count)) = &self.0 {
            left.fetch_add(*count, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for MemorySlots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Room").field(&self.0.as_ref().map(|left| left.load(Ordering::Relaxed))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_occupied_is_given_back() {
        let room = MemorySlots::new(10.0, 3.0);
        let two = room.all(2).unwrap();
        assert!(room.all(2).is_none());
        let (some, one) = room.some(4);
        assert_eq!(some, 1);
        // One repetition continues even without a free slot.
        assert_eq!(room.some(4).0, 1);
        assert!(room.all(1).is_none());
        drop((two, one));
        assert!(room.all(3).is_some());
        assert_eq!(MemorySlots::default().some(7).0, 7);
        assert_eq!(MemorySlots::new(1e30, 1.0).some(7).0, 7);
        assert!(MemorySlots::new(f64::NAN, 1.0).all(1).is_none());
    }
}
