//! Loading of files: read once, checked for changes, decompressed, within the memory limit.

use super::binary_formats::decoder;
use super::bytes::{FileKind, kind};
use super::records::{RECORD, too_long};
use super::{SMALLER, read_error, unreadable};
use crate::budget::Budget;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;
use vaglio_core::{Cause, Result};

/// Bytes between checks of the memory limit.
const STEP: usize = 1 << 24;
/// Spare capacity in which a reader detects the end.
const SPARE: usize = 64;

/// Loads and decompresses a file, or a stream, which can be read once. Returns the bytes, and the hash of a stream.
///
/// # Errors
/// Fails if a file cannot be read, changes while it is read, or would exceed the memory limit.
pub(super) fn load(path: &Path, budget: Budget) -> Result<(Vec<u8>, Option<blake3::Hash>)> {
    let failed = read_error(path);
    let file = File::open(path).map_err(failed)?;
    let before = file.metadata().map_err(failed)?;
    let size = if before.is_file() { before.len() as usize } else { 0 };
    budget.need(size as f64, path.display(), SMALLER)?;
    let bytes = read_bytes(path, &file, size, budget, failed)?;
    let mut digest = None;
    if before.is_file() {
        check_unchanged(path, &before, &file.metadata().map_err(failed)?, bytes.len() as u64)?;
    } else {
        digest = Some(blake3::hash(&bytes));
    }
    let damaged = |error: std::io::Error| unreadable(path, Cause::after("it cannot be decompressed", error));
    let (plain, is_compressed) = decoder(&bytes[..]).map_err(damaged)?;
    let plain = is_compressed.then(|| read_bytes(path, plain, 0, budget, damaged)).transpose()?;
    Ok((plain.unwrap_or(bytes), digest))
}

/// Rejects a file that was modified while it was read.
///
/// # Errors
/// [`vaglio_core::Error::Unreadable`].
pub(super) fn check_unchanged(path: &Path, before: &Metadata, after: &Metadata, read: u64) -> Result<()> {
    let is_same =
        before.len() == after.len() && before.len() == read && before.modified().ok() == after.modified().ok();
    match is_same {
        true => Ok(()),
        false => Err(unreadable(path, "it was changed while it was read; try again when nothing writes to it")),
    }
}

/// Reads all bytes of a reader, given a first guess of their number.
pub(super) fn read_bytes(
    path: &Path,
    mut reader: impl Read,
    size: usize,
    budget: Budget,
    failed: impl Fn(std::io::Error) -> vaglio_core::Error,
) -> Result<Vec<u8>> {
    let what = || format!("{}, read or decompressed,", path.display());
    let mut bytes = Vec::new();
    reserve(&mut bytes, size, budget, &what)?;
    loop {
        if bytes.len() >= size {
            budget.need(STEP as f64, what(), SMALLER)?;
            reserve(&mut bytes, STEP, budget, &what)?;
        }
        let read = reader.by_ref().take(STEP as u64).read_to_end(&mut bytes).map_err(&failed)?;
        // A stream of zeros is a text whose first line never ends.
        let is_past = bytes.len() > RECORD && bytes.len() - read <= RECORD;
        let is_endless = || memchr::memchr2(b'\n', b'\r', &bytes[..RECORD]).is_none();
        if is_past && is_endless() && kind(path, &bytes).is_ok_and(|kind| kind == FileKind::Text) {
            return Err(unreadable(path, format!("line 1: {}", too_long())));
        }
        if read < STEP {
            return Ok(bytes);
        }
    }
}

/// Reserves capacity for more bytes, with some to spare if possible, so that growth does not copy often.
fn reserve(bytes: &mut Vec<u8>, more: usize, budget: Budget, what: &dyn Fn() -> String) -> Result<()> {
    if bytes.capacity() - bytes.len() >= more {
        return Ok(());
    }
    let spare = more.max(bytes.len() / 4).saturating_add(SPARE);
    let made = bytes.try_reserve_exact(spare).or_else(|_| bytes.try_reserve_exact(more.saturating_add(SPARE)));
    made.or_else(|_| budget.refuse(bytes.len() as f64 + more as f64, what(), SMALLER))
}
