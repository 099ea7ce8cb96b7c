//! Direct decoding of plain numeric Parquet columns: from pages into stored numbers, without arrays between.
//!
//! Columns that are not plain, or look damaged, are left to the array reader, which reports faults.

use super::columns::{GrowingColumn, append};
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

/// A column that may be read directly, and the number of its leaf.
struct DirectColumn {
    leaf: usize,
    data_type: DataType,
    column: GrowingColumn,
}

impl ColumnarFile {
    /// Reads the columns that can be read directly, row group by row group in file order; `None` for others. Cost
    /// O(entries).
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] at `limits.memory`.
    pub(super) fn direct(
        &self,
        metadata: &ParquetMetaData,
        indices: &[usize],
        singles: &HashSet<usize>,
    ) -> Result<Vec<Option<GrowingColumn>>> {
        let mut columns: Vec<Option<DirectColumn>> =
            indices.iter().map(|&index| self.plain(metadata, index, singles)).collect();
        let (mut left, mut taken) = (self.sample.unwrap_or(usize::MAX), 0);
        let mut ask = |bytes: usize| {
            taken += bytes;
            if taken <= ASK {
                return Ok(());
            }
            let what = format!("{}, while it is read,", self.path.display());
            self.budget.need(std::mem::take(&mut taken) as f64, what, LESS)
        };
        let pages = Arc::new(CheckedPages::new(&self.path, &self.kept, self.budget));
        let groups = metadata.row_groups();
        for (at, group) in groups.iter().enumerate() {
            let rows = usize::try_from(group.num_rows()).unwrap_or(0).min(left);
            left -= rows;
            for place in &mut columns {
                let Some(direct) = place else { continue };
                match guarded(&self.path, || direct.read(&pages, group, rows, &mut ask)) {
                    // Stores a mostly zero column sparse before the others are read.
                    Ok(true) if at + 1 == groups.len() => direct.column.thin(),
                    Ok(true) => {}
                    Err(error) if error.field().is_some() => return Err(error),
                    _ => *place = None,
                }
            }
        }
        Ok(columns.into_iter().map(|direct| direct.map(|direct| direct.column)).collect())
    }

    /// An empty column, unless it is nested.
    fn plain(&self, metadata: &ParquetMetaData, index: usize, singles: &HashSet<usize>) -> Option<DirectColumn> {
        let schema = metadata.file_metadata().schema_descr();
        // The root is the leaf, unless nested ones precede it.
        let leaf = (index..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == index)?;
        let column = schema.column(leaf);
        if column.max_def_level() > 1 || column.max_rep_level() > 0 || column.path().parts().len() != 1 {
            return None;
        }
        let data_type = self.schema.field(index).data_type().clone();
        Some(DirectColumn { leaf, data_type, column: self.empty(index, singles).ok()? })
    }
}

impl DirectColumn {
    /// Appends the first rows of a row group; `false` if they are no plain numbers, or not as claimed.
    fn read(
        &mut self,
        pages: &Arc<CheckedPages>,
        group: &RowGroupMetaData,
        rows: usize,
        ask: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<bool> {
        let ColumnBuilder::Numbers(cells) = &mut self.column.cells else { return Ok(false) };
        let chunk = Chunk { pages, group, leaf: self.leaf, rows, width: cells.width(), ask };
        let range = match self.data_type {
            DataType::Int8 => i8::MIN.into()..=i8::MAX.into(),
            DataType::Int16 => i16::MIN.into()..=i16::MAX.into(),
            DataType::UInt8 => 0..=u8::MAX.into(),
            DataType::UInt16 => 0..=u16::MAX.into(),
            _ => EXACT,
        };
        match (group.column(self.leaf).column_type(), &self.data_type) {
            (Type::DOUBLE, DataType::Float64) => {
                chunk.read::<DoubleType>(|levels, values| floats(cells, levels, values))
            }
            (Type::FLOAT, DataType::Float32) => chunk.read::<FloatType>(|levels, values| {
                floats(cells, levels, &values.iter().map(|&value| value.into()).collect::<Vec<f64>>())
            }),
            (Type::INT32, DataType::UInt32) => chunk.read::<Int32Type>(|levels, values| {
                wholes(cells, levels, values, &EXACT, |value| i64::from(value as u32))
            }),
            (Type::INT32, DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16) => {
                chunk.read::<Int32Type>(|levels, values| wholes(cells, levels, values, &range, i64::from))
            }
            (Type::INT64, DataType::Int64) => {
                chunk.read::<Int64Type>(|levels, values| wholes(cells, levels, values, &EXACT, |value| value))
            }
            (Type::INT64, DataType::UInt64) => chunk.read::<Int64Type>(|levels, values| {
                wholes(cells, levels, values, &EXACT, |value| i64::try_from(value as u64).unwrap_or(i64::MAX))
            }),
            _ => Ok(false),
        }
    }
}

/// Pages of a column in a row group.
struct Chunk<'k> {
    pages: &'k Arc<CheckedPages>,
    group: &'k RowGroupMetaData,
    leaf: usize,
    rows: usize,
    /// Maximum bytes of a row.
    width: usize,
    /// Checks the memory limit for this many bytes.
    ask: &'k mut dyn FnMut(usize) -> Result<()>,
}

impl Chunk<'_> {
    /// Passes the present values to `take`, some rows at a time, with the levels of all rows if some are missing.
    fn read<T: Physical>(self, mut take: impl FnMut(&[i16], &[T::T]) -> bool) -> Result<bool> {
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
            (self.ask)(self.width * rows)?;
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
