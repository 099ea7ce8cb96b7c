//! Memory of the program: what is large is asked for on large pages, or lies in a file while scratch space is open.
//!
//! A table of 60000 x 780 is 91 000 pages of 4 KB. The system clears and maps each at its first use: a quarter of a
//! whole run. Linux gives pages of 2 MB if a program asks for them (`madvise`, the setting of most distributions).
//! glibc's allocator asks only if an environment variable says so. So it is set to grow by 64 MB instead of mapping
//! each column, and large pages are requested here.

mod file_heap;

use file_heap::{FILE_HEAP, round_to_units};
use std::alloc::{GlobalAlloc, Layout, System};

#[global_allocator]
static MEMORY: LargePageAllocator = LargePageAllocator;

/// System allocator that requests large pages for [large](LARGE) allocations.
struct LargePageAllocator;

/// Minimum size of an allocation for large pages, in bytes; less is a small part of one page.
const LARGE: usize = 128 << 10;

/// Minimum size of an allocation that the allocator maps separately, in bytes.
const MAPPED: usize = 32 << 20;

/// Growth step of the allocator, in bytes.
const GROWTH: usize = 64 << 20;

const LARGE_PAGE: usize = 2 << 20;

/// Makes the allocator grow in steps of many large pages, in one arena for all threads: per-thread arenas grow only by
/// the size requested. Call it before any large allocation.
pub fn grow_by_large_pages() {
    set(libc::M_ARENA_MAX, 1);
    keep_memory();
}

/// Lets this process keep freed memory for later use, as suits one that does one job after another. Dask starts its
/// workers with `MALLOC_TRIM_THRESHOLD_` of 64 KB: every search would map all its pages again.
pub fn keep_memory() {
    set(libc::M_MMAP_THRESHOLD, MAPPED);
    set(libc::M_TOP_PAD, GROWTH);
    set(libc::M_TRIM_THRESHOLD, 8 * GROWTH);
    vaglio::files::register_release(give_back);
}

/// Lets runs in this process use scratch space.
pub fn offer_scratch_space() {
    vaglio::files::allocate_by(&FILE_HEAP);
}

/// Returns free memory to the system.
fn give_back() {
    // SAFETY: only unmaps pages that the allocator holds and nobody uses.
    unsafe { libc::malloc_trim(0) };
}

fn set(what: libc::c_int, number: usize) {
    // SAFETY: sets a parameter of the allocator, which rejects invalid values.
    unsafe { libc::mallopt(what, number as i32) };
}

// SAFETY: every call goes to the system's allocator as it came, or to the heap in a file, which tells its blocks by their
// addresses and are as long and as aligned as is asked; advice changes no byte and fails without harm.
unsafe impl GlobalAlloc for LargePageAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if let Some(block) = in_file(layout) {
            return block;
        }
        // SAFETY: the caller's guarantees are those that `System` requires; likewise below.
        advise_large_pages(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if let Some(block) = in_file(layout) {
            // SAFETY: the block is as long as that, and new.
            unsafe { block.write_bytes(0, layout.size()) };
            return block;
        }
        // SAFETY: see `alloc`.
        advise_large_pages(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let is_there = FILE_HEAP.holds(block);
        if is_there && round_to_units(size) == round_to_units(layout.size()) {
            return block;
        }
        // SAFETY: the size is one that the caller may ask for with this alignment.
        let grown = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if is_there || FILE_HEAP.takes(grown) {
            // SAFETY: both blocks are as long as what is copied, and the old one is not used again.
            unsafe {
                let new = self.alloc(grown);
                if !new.is_null() {
                    new.copy_from_nonoverlapping(block, size.min(layout.size()));
                    self.dealloc(block, layout);
                }
                return new;
            }
        }
        // SAFETY: see `alloc`.
        advise_large_pages(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if FILE_HEAP.holds(block) {
            return FILE_HEAP.dealloc(block, layout.size());
        }
        // SAFETY: see `alloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

/// A block in scratch space, where it is large and the space is open.
fn in_file(layout: Layout) -> Option<*mut u8> {
    FILE_HEAP.takes(layout).then(|| FILE_HEAP.alloc(layout.size()))?
}

/// Requests large pages from the page that `block` begins in, and for the following growth: the allocator writes around
/// a block before this call, and a page that begins small stays small.
fn advise_large_pages(block: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !block.is_null() {
        let before = block.addr() % LARGE_PAGE;
        let bytes = (before + size + if size < MAPPED { GROWTH } else { 0 }).next_multiple_of(LARGE_PAGE);
        // SAFETY: advice on mapping; it changes no byte and skips unmapped parts of the range.
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
