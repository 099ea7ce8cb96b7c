//! A heap in a mapped file, for large blocks while scratch space is open.
//!
//! Freed blocks are reused before the file grows. Disk space is reserved as the file grows: a full disk leads to blocks
//! of memory, not to a signal. The file is gone when the space is closed and no block of it is left, or with the
//! process.

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, remove_file};
use std::io::{Error, Result};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use vaglio::files::FileAllocator;

/// Smallest block in the file, in bytes; columns of small tables have a few kilobytes.
const LEAST: usize = 16 << 10;
/// Unit of the lengths and offsets of blocks, in bytes.
const UNIT: usize = 4 << 10;
/// Smallest growth of the file, in bytes.
const GROWTH: usize = 64 << 20;
/// Largest size of the file, in bytes, within the limits of file systems and address spaces.
const MOST: u64 = 1 << 43;

/// Heap of the program's scratch space.
pub struct FileHeap {
    heap: Mutex<Option<Heap>>,
    /// Whether new blocks are allocated.
    is_open: AtomicBool,
    /// First address of the mapped file, and `end` after its last; 0 without a file.
    start: AtomicUsize,
    end: AtomicUsize,
}

pub static FILE_HEAP: FileHeap = FileHeap {
    heap: Mutex::new(None),
    is_open: AtomicBool::new(false),
    start: AtomicUsize::new(0),
    end: AtomicUsize::new(0),
};

struct Heap {
    file: File,
    start: *mut u8,
    capacity: usize,
    /// Present size of the file, in bytes.
    size: usize,
    used: usize,
    /// Lengths of the free ranges by their offsets in the file; no two ranges touch.
    free: BTreeMap<usize, usize>,
    /// Number of users that have the space open.
    users: usize,
}

// SAFETY: the pointer is an address of a mapping that all threads share.
unsafe impl Send for Heap {}

impl FileHeap {
    fn lock(&self) -> MutexGuard<'_, Option<Heap>> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether new blocks of a layout are allocated in this heap.
    pub fn takes(&self, layout: Layout) -> bool {
        layout.size() >= LEAST && layout.align() <= UNIT && self.is_open.load(Ordering::Acquire)
    }

    /// Whether a block lies in this heap.
    pub fn holds(&self, block: *mut u8) -> bool {
        (self.start.load(Ordering::Acquire)..self.end.load(Ordering::Acquire)).contains(&block.addr())
    }

    /// Allocates a block; `None` if there is no space.
    pub fn alloc(&self, bytes: usize) -> Option<*mut u8> {
        let mut heap = self.lock();
        let heap = heap.as_mut()?;
        let offset = heap.take(round_to_units(bytes))?;
        Some(heap.start.wrapping_add(offset))
    }

    /// Frees a block that was allocated with this number of bytes.
    pub fn dealloc(&self, block: *mut u8, bytes: usize) {
        let mut slot = self.lock();
        if let Some(heap) = slot.as_mut() {
            heap.give(block.addr() - heap.start.addr(), round_to_units(bytes));
            heap.used -= round_to_units(bytes);
            self.end_if_unused(&mut slot);
        }
    }

    fn end_if_unused(&self, slot: &mut Option<Heap>) {
        if let Some(heap) = slot.take_if(|heap| heap.users == 0 && heap.used == 0) {
            self.start.store(0, Ordering::Release);
            self.end.store(0, Ordering::Release);
            // SAFETY: it is the whole mapping, of which no block is left.
            unsafe { libc::munmap(heap.start.cast(), heap.capacity) };
        }
    }
}

/// Rounds the size of a block up to a multiple of `UNIT`.
pub fn round_to_units(bytes: usize) -> usize {
    bytes.next_multiple_of(UNIT)
}

impl FileAllocator for FileHeap {
    fn open(&self, folder: &Path) -> Result<()> {
        let mut slot = self.lock();
        if slot.is_none() {
            let heap = slot.insert(Heap::new(folder)?);
            self.end.store(heap.start.addr() + heap.capacity, Ordering::Release);
            self.start.store(heap.start.addr(), Ordering::Release);
        }
        slot.iter_mut().for_each(|heap| heap.users += 1);
        self.is_open.store(true, Ordering::Release);
        Ok(())
    }

    fn close(&self) {
        let mut slot = self.lock();
        if let Some(heap) = slot.as_mut() {
            heap.users -= 1;
            self.is_open.store(heap.users > 0, Ordering::Release);
        }
        self.end_if_unused(&mut slot);
    }

    fn bytes(&self) -> Option<[u64; 2]> {
        let slot = self.lock();
        let heap = slot.as_ref().filter(|heap| heap.users > 0)?;
        let on_disk = free_on_disk(&heap.file).unwrap_or(0).min((heap.capacity - heap.size) as u64);
        Some([heap.used as u64, (heap.size - heap.used) as u64 + on_disk])
    }
}

impl Heap {
    /// Creates a file in a folder, and removes its name at once.
    fn new(folder: &Path) -> Result<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
        let path = folder.join(format!(".vaglio-{}-{now}.scratch", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        remove_file(&path)?;
        let capacity = (free_on_disk(&file)?.min(MOST) as usize / GROWTH * GROWTH).max(GROWTH);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, wherever the system puts it, touches none that is there.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), capacity, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        Ok(Heap { file, start: start.cast(), capacity, size: 0, used: 0, free: BTreeMap::new(), users: 0 })
    }

    /// Takes the first free range that is long enough, and returns its offset; grows the file if there is none.
    fn take(&mut self, bytes: usize) -> Option<usize> {
        let fits = |(_, length): &(&usize, &usize)| **length >= bytes;
        let (&offset, &length) = match self.free.iter().find(fits) {
            Some(range) => range,
            None => {
                self.grow(bytes)?;
                self.free.iter().find(fits)?
            }
        };
        self.free.remove(&offset);
        if length > bytes {
            self.free.insert(offset + bytes, length - bytes);
        }
        self.used += bytes;
        Some(offset)
    }

    /// Frees a range, and joins it with adjacent free ranges.
    fn give(&mut self, mut offset: usize, mut length: usize) {
        if let Some(after) = self.free.remove(&(offset + length)) {
            length += after;
        }
        if let Some((&before, &own)) = self.free.range(..offset).next_back()
            && before + own == offset
        {
            (offset, length) = (before, own + length);
        }
        self.free.insert(offset, length);
    }

    /// Grows the file by at least this number of bytes, and reserves them on the disk; `None` if there is no space.
    fn grow(&mut self, bytes: usize) -> Option<()> {
        let growth = bytes.max(GROWTH).min(self.capacity - self.size);
        if growth < bytes {
            return None;
        }
        // SAFETY: it asks for space in a file that is open, and changes no byte of it.
        let failure =
            unsafe { libc::posix_fallocate(self.file.as_raw_fd(), self.size as libc::off_t, growth as libc::off_t) };
        if failure != 0 {
            return None;
        }
        self.give(self.size, growth);
        self.size += growth;
        Some(())
    }
}

/// Bytes to use on the disk of a file: nine tenths of the free ones.
fn free_on_disk(file: &File) -> Result<u64> {
    // SAFETY: all-zero bytes are a value of this struct of numbers.
    let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: it writes into a struct that is there.
    match unsafe { libc::fstatvfs(file.as_raw_fd(), &mut found) } {
        0 => Ok(found.f_bavail * found.f_frsize / 10 * 9),
        _ => Err(Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_given_out_again_and_join() {
        let mut heap = Heap::new(&std::env::temp_dir()).unwrap();
        let blocks: Vec<usize> = (0..4).map(|_| heap.take(UNIT).unwrap()).collect();
        assert_eq!(blocks, [0, UNIT, 2 * UNIT, 3 * UNIT]);
        heap.give(UNIT, UNIT);
        heap.give(0, UNIT);
        assert_eq!(heap.take(2 * UNIT), Some(0));
        heap.give(3 * UNIT, UNIT);
        assert_eq!(heap.free, BTreeMap::from([(3 * UNIT, GROWTH - 3 * UNIT)]));
        assert_eq!(heap.take(heap.capacity + UNIT), None);
        assert!(heap.take(2 * GROWTH).is_some() && heap.size > 2 * GROWTH);
    }

    #[test]
    fn vectors_move_into_the_file_and_back() {
        let before: Vec<u64> = (0..1 << 16).collect();
        FILE_HEAP.open(&std::env::temp_dir()).unwrap();
        let mut there: Vec<u64> = (0..1 << 16).collect();
        assert!(FILE_HEAP.holds(there.as_mut_ptr().cast()) && there == before);
        (1 << 16..1 << 20).for_each(|v| there.push(v));
        assert!(vec![0_u64; 1 << 16].iter().all(|&v| v == 0), "space that was used before is cleared");
        FILE_HEAP.close();
        assert!(FILE_HEAP.bytes().is_none());
        let mut moved = there.clone();
        assert!(!FILE_HEAP.holds(moved.as_mut_ptr().cast()));
        there.truncate(1 << 16);
        there.shrink_to_fit();
        assert_eq!(there, before);
    }
}
