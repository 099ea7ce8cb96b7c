//! Direct decoding of plain numeric Parquet columns: from pages into stored numbers, without arrays between.
//!
//! Columns that are not plain, or look damaged, are left to the array reader, which reports faults.

use super::columns::append;
use super::guard::guarded;
use super::pages::CheckedPages;
use super::{ASK, ColumnarFile, LESS};
use crate::read::column_builder::{ColumnBuilder, NumberColumn};
use arrow_schema::DataType;
use parquet::basic::Type;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{DataType as Physical, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use std::collections::HashSet;
use std::ops::{BitOr, RangeInclusive};
use std::sync::Arc;
use vaglio_core::{Error, Result};

/// Rows decoded at a time: they stay in the first-level cache.
const STEP: usize = 1 << 11;
/// Range in which whole numbers are exact doubles; others are not read here.
const EXACT: RangeInclusive<i64> = -(1 << 53)..=1 << 53;

impl ColumnarFile {
    /// Reads the columns that can be read directly; `None` for others. Cost O(entries).
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] at `limits.memory`.
    pub(super) fn direct(
        &self,
        metadata: &ParquetMetaData,
        indices: &[usize],
        singles: &HashSet<usize>,
    ) -> Result<Vec<Option<ColumnBuilder>>> {
        let mut taken = 0;
        let mut ask = |bytes: usize| {
            taken += bytes;
            if taken <= ASK {
                return Ok(());
            }
            let what = format!("{}, while it is read,", self.path.display());
            self.budget.need(std::mem::take(&mut taken) as f64, what, LESS)
        };
        let pages = Arc::new(CheckedPages::new(&self.path, &self.kept, self.budget));
        let read = |&index: &usize| {
            let (Some(leaf), Ok(mut column)) = (plain_leaf(metadata, index), self.empty(index, singles)) else {
                return Ok(None);
            };
            let mut left = self.sample.unwrap_or(usize::MAX);
            for group in metadata.row_groups() {
                let rows = usize::try_from(group.num_rows()).unwrap_or(0).min(left);
                left -= rows;
                let chunk = Chunk { pages: &pages, group, leaf, rows, ask: &mut ask };
                match guarded(&self.path, || chunk.append(&mut column, self.schema.field(index).data_type())) {
                    Ok(true) => {}
                    Err(error) if error.field().is_some() => return Err(error),
                    _ => return Ok(None),
                }
            }
            // Stores a mostly zero column sparse before the others are read.
            Ok(Some(column.thinned()))
        };
        indices.iter().map(read).collect()
    }
}

/// The leaf of a column, unless it is nested.
fn plain_leaf(metadata: &ParquetMetaData, index: usize) -> Option<usize> {
    let schema = metadata.file_metadata().schema_descr();
    // The root is the leaf, unless nested ones precede it.
    let leaf = (index..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == index)?;
    let column = schema.column(leaf);
    let is_nested = column.max_def_level() > 1 || column.max_rep_level() > 0 || column.path().parts().len() != 1;
    (!is_nested).then_some(leaf)
}

/// Pages of a column in a row group.
struct Chunk<'k> {
    pages: &'k Arc<CheckedPages>,
    group: &'k RowGroupMetaData,
    leaf: usize,
    /// Number of its first rows to read.
    rows: usize,
    /// Checks the memory limit for this many bytes.
    ask: &'k mut dyn FnMut(usize) -> Result<()>,
}

impl Chunk<'_> {
    /// Appends the rows to a column of this type; `false` if they are no plain numbers, or not as claimed.
    fn append(self, column: &mut ColumnBuilder, data_type: &DataType) -> Result<bool> {
        let ColumnBuilder::Numbers(cells) = column else { return Ok(false) };
        let (physical, width) = (self.group.column(self.leaf).column_type(), cells.width());
        let range = match data_type {
            DataType::Int8 => i8::MIN.into()..=i8::MAX.into(),
            DataType::Int16 => i16::MIN.into()..=i16::MAX.into(),
            DataType::UInt8 => 0..=u8::MAX.into(),
            DataType::UInt16 => 0..=u16::MAX.into(),
            // Larger ones have the bits of negative numbers.
            DataType::UInt64 => 0..=*EXACT.end(),
            _ => EXACT,
        };
        match (physical, data_type) {
            (Type::DOUBLE, DataType::Float64) => {
                self.read::<DoubleType>(width, |levels, values| floats(cells, levels, values))
            }
            (Type::FLOAT, DataType::Float32) => self.read::<FloatType>(width, |levels, values| {
                floats(cells, levels, &values.iter().map(|&value| value.into()).collect::<Vec<f64>>())
            }),
            (Type::INT32, DataType::UInt32) => self.read::<Int32Type>(width, |levels, values| {
                wholes(cells, levels, values, &EXACT, |value| i64::from(value as u32))
            }),
            (Type::INT32, DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16) => {
                self.read::<Int32Type>(width, |levels, values| wholes(cells, levels, values, &range, i64::from))
            }
            (Type::INT64, DataType::Int64 | DataType::UInt64) => {
                self.read::<Int64Type>(width, |levels, values| wholes(cells, levels, values, &range, |value| value))
            }
            _ => Ok(false),
        }
    }

    /// Passes the present values to `take`, some rows of `width` bytes at a time, with the levels of all rows if some are
    /// missing.
    fn read<T: Physical>(self, width: usize, mut take: impl FnMut(&[i16], &[T::T]) -> bool) -> Result<bool> {
        // The reader used instead reports the fault.
        let damaged = |error: ParquetError| Error::failed("a column chunk", error);
        let (chunk, all) = (self.group.column(self.leaf), usize::try_from(self.group.num_rows()).unwrap_or(0));
        let pages = SerializedPageReader::new(Arc::clone(self.pages), chunk, all, None).map_err(damaged)?;
        let mut reader = ColumnReaderImpl::<T>::new(chunk.column_descr_ptr(), Box::new(pages));
        let (mut levels, mut values) = (Vec::with_capacity(STEP), Vec::with_capacity(STEP));
        let mut left = self.rows;
        while left > 0 {
            levels.clear();
            values.clear();
            let read = reader.read_records(left.min(STEP), Some(&mut levels), None, &mut values);
            let (rows, present, _) = read.map_err(damaged)?;
            (self.ask)(width * rows)?;
            let of_missing = if present < rows { &levels[..] } else { &[] };
            if rows == 0 || !take(of_missing, &values) {
                return Ok(false);
            }
            left -= rows;
        }
        // Rows beyond those that the footer claims have no known place.
        levels.clear();
        Ok(self.rows < all || reader.read_records(1, Some(&mut levels), None, &mut values).map_err(damaged)?.0 == 0)
    }
}

/// Appends doubles.
fn floats(cells: &mut NumberColumn, levels: &[i16], values: &[f64]) -> bool {
    if !levels.is_empty() {
        let mut values = values.iter().copied();
        append(cells, levels.iter().map(|&level| if level > 0 { values.next() } else { None }));
    } else if !cells.extend_finite(values) {
        append(cells, values.iter().copied().map(Some));
    }
    true
}

/// Appends whole numbers; returns `false` and appends none if some are out of range or not exact doubles.
fn wholes<V: Copy + Default + BitOr<Output = V>>(
    cells: &mut NumberColumn,
    levels: &[i16],
    values: &[V],
    range: &RangeInclusive<i64>,
    wide: impl Fn(V) -> i64,
) -> bool {
    // No value exceeds the bitwise OR of all, and none is negative if that is not.
    let all = wide(values.iter().fold(V::default(), |all, &value| all | value));
    if levels.is_empty() && (0..=u8::MAX.into()).contains(&all) && range.contains(&all) {
        cells.extend_bytes(values.iter().map(|&value| wide(value) as u8));
        return true;
    }
    let (mut least, mut most) = (i64::MAX, i64::MIN);
    for &value in values {
        (least, most) = (least.min(wide(value)), most.max(wide(value)));
    }
    let is_in = |range: &RangeInclusive<i64>| values.is_empty() || (range.contains(&least) && range.contains(&most));
    if !is_in(range) || !is_in(&EXACT) {
        return false;
    }
    floats(cells, levels, &values.iter().map(|&value| wide(value) as f64).collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests;
