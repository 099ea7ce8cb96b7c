//! Seconds from opening a file to a finished table.

use crate::markdown::{MarkdownTable, seconds};
use crate::run::Bench;
use std::time::Instant;
use vaglio_core::{Error, Result};
use vaglio_tables::read::{ReadRequest, TableSource};
use vaglio_tables::ReadSpec;

/// Every table of the folder whose name contains what is asked for: the least seconds of some readings, with and without the hash.
pub fn tables(bench: &Bench<'_>) -> Result<String> {
    let unreadable = |error: std::io::Error| Error::unreadable(&bench.folder, error);
    let entries = std::fs::read_dir(&bench.folder).map_err(unreadable)?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.to_string_lossy().contains(&bench.only) && path.is_file());
    paths.sort();
    let head = ["file", "bytes", "rows", "columns", "seconds", "with its hash"];
    let mut table = MarkdownTable::new("Reading", &head);
    for path in paths {
        let (mut least, mut hashed, mut shape, mut bytes) = (f64::INFINITY, f64::INFINITY, (0, 0), 0);
        for _ in 0..bench.seeds {
            let read = |with_hash: bool| -> Result<(f64, (usize, usize))> {
                let start = Instant::now();
                let source = TableSource::open(std::slice::from_ref(&path), &ReadSpec::default())?;
                let of_hash = || if with_hash { source.digest() } else { Ok(String::new()) };
                let (hash, read) = rayon::join(of_hash, || source.read(&ReadRequest::default()));
                std::hint::black_box(hash?);
                let (read, _) = read?;
                Ok((start.elapsed().as_secs_f64(), (read.rows(), read.columns().len())))
            };
            let (plain, found) = read(false)?;
            (least, shape) = (least.min(plain), found);
            hashed = hashed.min(read(true)?.0);
            bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        table.row(&[
            name,
            bytes.to_string(),
            shape.0.to_string(),
            shape.1.to_string(),
            seconds(least),
            seconds(hashed),
        ]);
    }
    Ok(table.finish())
}
