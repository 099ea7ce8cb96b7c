//! Memory of a program with the allocator of the system, which neither grows by large pages nor has scratch space.

pub fn grow_by_large_pages() {}

/// Lets this process keep freed memory for later use, if its allocator supports that.
pub fn keep_memory() {}

/// Lets runs in this process use scratch space, where its allocator has some.
pub fn offer_scratch_space() {}
