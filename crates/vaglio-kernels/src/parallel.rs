//! Parallel loops with results in order, whichever thread finishes first.
//!
//! All of them share one instance of the thread pool's code; a loop adds only its body to the compile time. Cancelling
//! a thread's work cancels its loops.

use crate::{CancelToken, checkpoint};
use rayon::prelude::*;

/// A slice whose places are each accessed by one thread only.
struct DisjointSlice<T>(*mut T);

// SAFETY: the functions below access every place in one call alone, and `T: Send` may move to another thread.
unsafe impl<T: Send> Sync for DisjointSlice<T> {}

impl<T> DisjointSlice<T> {
    /// # Safety
    /// The place must be in bounds, and no other call may access it.
    unsafe fn at(&self, place: usize) -> *mut T {
        unsafe { self.0.add(place) }
    }
}

/// Calls `work` with every number below `count`.
fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    checkpoint();
    if count == 1 {
        return work(0);
    }
    let halt = CancelToken::current();
    (0..count).into_par_iter().for_each_init(
        || halt.enter(),
        |_, place| {
            halt.check();
            work(place);
        },
    );
}

/// Collects the result of every number below `count`.
pub fn map<T: Send>(count: usize, map_item: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut out: Vec<T> = Vec::with_capacity(count);
    let slots = DisjointSlice(out.as_mut_ptr());
    // SAFETY: places are below the capacity, and each is written once.
    each(count, &|place| unsafe { slots.at(place).write(map_item(place)) });
    // SAFETY: all places are written; a call that panics does not come here.
    unsafe { out.set_len(count) };
    out
}

/// Collects the result of every item.
pub fn map_slice<'i, I: Sync, T: Send>(items: &'i [I], map_item: impl Fn(&'i I) -> T + Sync) -> Vec<T> {
    map(items.len(), |place| map_item(&items[place]))
}

/// Collects the result of each chunk of `size` items; the last chunk may be shorter.
pub(crate) fn map_chunks<'i, I: Sync, T: Send>(
    items: &'i [I],
    size: usize,
    map_item: impl Fn(&'i [I]) -> T + Sync,
) -> Vec<T> {
    map(items.len().div_ceil(size), |at| map_item(&items[at * size..items.len().min((at + 1) * size)]))
}

/// Concatenates the results of each chunk of `size` items; the last chunk may be shorter.
pub fn flat_map_chunks<'i, I: Sync, T: IntoIterator + Send>(
    items: &'i [I],
    size: usize,
    map_item: impl Fn(&'i [I]) -> T + Sync,
) -> Vec<T::Item> {
    map_chunks(items, size, map_item).into_iter().flatten().collect()
}

/// Collects the result of every item, passed by value.
pub fn map_vec<I: Send, T: Send>(items: Vec<I>, map_item: impl Fn(I) -> T + Sync) -> Vec<T> {
    let mut items: Vec<Option<I>> = items.into_iter().map(Some).collect();
    map_mut(&mut items, |_, item| item.take().map(&map_item)).into_iter().flatten().collect()
}

/// Calls `work` with every item and its index.
pub fn each_mut<I: Send>(items: &mut [I], work: impl Fn(usize, &mut I) + Sync) {
    map_mut(items, work);
}

/// Calls `work` with each chunk of `size` items and its number; the last chunk may be shorter.
pub fn chunks_mut<I: Send>(items: &mut [I], size: usize, work: impl Fn(usize, &mut [I]) + Sync) {
    let mut chunks: Vec<&mut [I]> = items.chunks_mut(size).collect();
    each_mut(&mut chunks, |at, chunk| work(at, chunk));
}

/// Collects a result for each span of `size` entries of vectors of one length. `work` gets the number of the span and its
/// entries in every vector; the last span may be shorter.
pub(crate) fn map_spans<'s, T: Send>(
    vectors: impl IntoIterator<Item = &'s mut Vec<f64>>,
    length: usize,
    size: usize,
    work: impl Fn(usize, &mut [&'s mut [f64]]) -> T + Sync,
) -> Vec<T> {
    let mut spans: Vec<Vec<&mut [f64]>> = (0..length.div_ceil(size)).map(|_| Vec::new()).collect();
    for vector in vectors {
        spans.iter_mut().zip(vector.chunks_mut(size)).for_each(|(span, part)| span.push(part));
    }
    map_mut(&mut spans, |at, span| work(at, span))
}

/// Collects the result of every item and its index.
pub fn map_mut<I: Send, T: Send>(items: &mut [I], work: impl Fn(usize, &mut I) -> T + Sync) -> Vec<T> {
    let (count, slots) = (items.len(), DisjointSlice(items.as_mut_ptr()));
    // SAFETY: places are in bounds, and each is reached once.
    map(count, |place| work(place, unsafe { &mut *slots.at(place) }))
}
