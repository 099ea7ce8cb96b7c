//! Memory of the program: what is large is asked for on large pages.
//!
//! A table of 60000 x 780 is 91 000 pages of 4 KB, and the system clears and maps each when it is first touched: a
//! quarter of a whole run. Linux gives pages of 2 MB where a program asks for them (`madvise`, the setting of most
//! distributions), and glibc's allocator asks only where an environment variable says so. So it is told to grow by 64 MB
//! in place of mapping each column by itself, and large pages are asked for here.

use std::alloc::{GlobalAlloc, Layout, System};

#[global_allocator]
static MEMORY: Memory = Memory;

/// The system's allocator, asked for large pages where an allocation is [large](LARGE).
struct Memory;

/// Bytes from which an allocation is asked for on large pages: less is a small part of one.
const LARGE: usize = 128 << 10;

/// Bytes from which the allocator maps an allocation by itself.
const MAPPED: usize = 32 << 20;

/// Bytes by which the allocator grows.
const GROWTH: usize = 64 << 20;

const LARGE_PAGE: usize = 2 << 20;

/// Tells the allocator to grow by steps that hold many large pages, for all threads in one place: those that it has for
/// each thread grow by no more than what is asked for. To be called before anything large is allocated.
pub(crate) fn grow_by_large_pages() {
    set(libc::M_ARENA_MAX, 1);
    keep_memory();
}

/// Tells the allocator to keep what is freed for what comes next, in a process that does one piece of work after another. Workers of
/// Dask are begun with `MALLOC_TRIM_THRESHOLD_` of 64 KB: every walk clears and maps all its pages again then.
pub(crate) fn keep_memory() {
    set(libc::M_MMAP_THRESHOLD, MAPPED);
    set(libc::M_TOP_PAD, GROWTH);
    set(libc::M_TRIM_THRESHOLD, 8 * GROWTH);
    vaglio::files::released_by(give_back);
}

/// Gives back to the system what is free.
fn give_back() {
    // SAFETY: it only unmaps pages that the allocator holds and nobody uses.
    unsafe { libc::malloc_trim(0) };
}

fn set(what: libc::c_int, number: usize) {
    // SAFETY: it sets a number of the allocator, and refuses one that it cannot take.
    unsafe { libc::mallopt(what, number as i32) };
}

// SAFETY: every call goes to the system's allocator as it came; advice changes no byte and fails without harm.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that `System` asks for; so they are below.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: see `alloc`.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: see `alloc`.
        advised(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: see `alloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Asks for large pages wherever `size` bytes from `block` lie on some of one, and for those that come next: the
/// allocator writes beside a block before it is told here, and a page begun small stays small.
fn advised(block: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !block.is_null() {
        let before = block.addr() % LARGE_PAGE;
        let bytes = (before + size + if size < MAPPED { GROWTH } else { 0 }).next_multiple_of(LARGE_PAGE);
        // SAFETY: advice on how to map; it changes no byte, and parts of the range that are not mapped are passed over.
        unsafe { libc::madvise(block.wrapping_sub(before).cast(), bytes, libc::MADV_HUGEPAGE) };
    }
    block
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_allocated_grown_and_freed_keeps_its_entries() {
        super::grow_by_large_pages();
        let mut blocks: Vec<Vec<u64>> = Vec::new();
        for size in [1, 16 << 10, 3 << 17, 5 << 20] {
            let zeroed = vec![0_u64; size];
            assert!(zeroed.iter().all(|&v| v == 0), "memory that was used before is cleared");
            let mut grown: Vec<u64> = (0..size as u64).collect();
            grown.reserve_exact(3 * size);
            grown.extend(size as u64..2 * size as u64);
            blocks.push(grown);
            drop(zeroed);
        }
        assert!(blocks.iter().flat_map(|b| b.iter().enumerate()).all(|(i, &v)| i as u64 == v));
    }
}
