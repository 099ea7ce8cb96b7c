//! Columns of Parquet and Arrow files under construction.

use super::failed;
use crate::budget::Budget;
use crate::read::column_builder::{ColumnBuilder, NumberColumn, RawColumn};
use crate::read::inference::codes::is_beyond;
use crate::read::unreadable;
use arrow_array::types::*;
use arrow_array::{AnyDictionaryArray, Array, ArrowPrimitiveType, PrimitiveArray, StringViewArray, cast::AsArray};
use arrow_schema::{DataType, Field, TimeUnit};
use arrow_select::take::take;
use std::path::Path;
use vaglio_core::Result;

/// Type of a field's cells, with dictionaries resolved.
pub(super) fn plain_type(field: &Field) -> &DataType {
    let mut data_type = field.data_type();
    while let DataType::Dictionary(_, values) = data_type {
        data_type = values;
    }
    data_type
}

/// A column of a Parquet or Arrow file under construction.
pub(super) struct GrowingColumn {
    name: String,
    /// Cells of the column.
    pub cells: ColumnBuilder,
}

impl GrowingColumn {
    /// An empty column for a field of numbers, booleans, text or dates, with an expected number of rows; numbers may be
    /// stored in single precision.
    pub fn new(path: &Path, field: &Field, rows: usize, is_single: bool) -> Result<Self> {
        let dates = || NumberColumn::expecting(rows);
        let numbers = || dates().in_single(is_single);
        let cells = match plain_type(field) {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ColumnBuilder::Raw(RawColumn::default()),
            DataType::Boolean => {
                let mut truth = numbers();
                truth.is_truth = true;
                ColumnBuilder::Numbers(truth)
            }
            DataType::Null => ColumnBuilder::Numbers(numbers()),
            DataType::Date32 | DataType::Date64 => ColumnBuilder::Dates(dates(), None),
            DataType::Timestamp(_, zone) => ColumnBuilder::Dates(dates(), Some(zone.is_some())),
            other if other.is_integer() || other.is_floating() || other.is_decimal() => {
                ColumnBuilder::Numbers(numbers())
            }
            other => {
                let (name, what) = (field.name(), other.to_string());
                let message = format!(
                    "column `{name}` is of type {}; expected numbers, truth values, text or dates; add it to data.exclude",
                    crate::read::shortened(&what)
                );
                return Err(unreadable(path, message));
            }
        };
        Ok(GrowingColumn { name: field.name().clone(), cells })
    }

    /// Converts the column to sparse if nearly all rows are 0.
    pub fn thin(&mut self) {
        let cells = std::mem::replace(&mut self.cells, ColumnBuilder::Raw(RawColumn::default()));
        self.cells = cells.thinned();
    }

    /// Appends an array.
    pub fn append(&mut self, path: &Path, array: &dyn Array, budget: Budget) -> Result<()> {
        let what = || format!("column `{}`", crate::read::shortened(&self.name));
        let width = if let ColumnBuilder::Numbers(column) = &self.cells { column.width() } else { size_of::<f64>() };
        budget.need(width as f64 * array.len() as f64, format_args!("reading {}", what()), LESS)?;
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            return match (&mut self.cells, dictionary.values().data_type()) {
                (ColumnBuilder::Raw(column), DataType::Utf8) => {
                    let values = dictionary.values().as_string::<i32>();
                    append_words(column, dictionary, |key| values.is_valid(key).then(|| values.value(key)), budget)
                }
                (ColumnBuilder::Raw(column), DataType::LargeUtf8) => {
                    let values = dictionary.values().as_string::<i64>();
                    append_words(column, dictionary, |key| values.is_valid(key).then(|| values.value(key)), budget)
                }
                (ColumnBuilder::Raw(column), DataType::Utf8View) => {
                    let values = dictionary.values().as_string_view();
                    append_words(column, dictionary, |key| values.is_valid(key).then(|| values.value(key)), budget)
                }
                _ => {
                    budget.need(WIDEST * array.len() as f64, format_args!("reading {}", what()), LESS)?;
                    let plain = take(dictionary.values(), dictionary.keys(), None).map_err(failed(path))?;
                    self.append(path, &plain, budget)
                }
            };
        }
        match &mut self.cells {
            ColumnBuilder::Raw(column) if column.is_digits => append_digits(column, array),
            ColumnBuilder::Raw(column) => match array.data_type() {
                DataType::Utf8 => append_text(column, array.as_string::<i32>().iter()),
                DataType::LargeUtf8 => append_text(column, array.as_string::<i64>().iter()),
                _ => append_views(column, array.as_string_view(), budget)?,
            },
            ColumnBuilder::Dates(column, _) => append_dates(column, array),
            // An Arrow column never begins as sparse.
            ColumnBuilder::Sparse(_) => {
                return Err(unreadable(path, format!("column `{}` is of another type than before", self.name)));
            }
            ColumnBuilder::Numbers(column) if are_doubles(array) => append_numbers(column, array),
            ColumnBuilder::Numbers(_) => append_digits(self.cells.convert_to_digits(), array),
        }
        Ok(())
    }
}

/// Remedy for a file that is too large.
pub(super) const LESS: &str = "leave columns out by data.exclude, take fewer rows, or raise the limit";
/// Maximum bytes of a number.
const WIDEST: f64 = 32.0;

/// Appends words by their dictionary keys; a small dictionary may represent much text.
fn append_words<'a>(
    column: &mut RawColumn,
    dictionary: &dyn AnyDictionaryArray,
    word: impl Fn(usize) -> Option<&'a str>,
    budget: Budget,
) -> Result<()> {
    if dictionary.values().is_empty() {
        append_text(column, (0..dictionary.keys().len()).map(|_| None));
        return Ok(());
    }
    let keys = dictionary.normalized_keys();
    let cell = |(row, key): (usize, &usize)| if dictionary.keys().is_valid(row) { word(*key) } else { None };
    let bytes: usize = keys.iter().enumerate().map(cell).map(|cell| cell.map_or(0, str::len)).sum();
    budget.need(bytes as f64, "the text of a dictionary, written out,", LESS)?;
    append_text(column, keys.iter().enumerate().map(cell));
    Ok(())
}

/// Appends views, several of which may refer to the same bytes.
fn append_views(column: &mut RawColumn, views: &StringViewArray, budget: Budget) -> Result<()> {
    let bytes: usize = views.iter().map(|cell| cell.map_or(0, str::len)).sum();
    budget.need(bytes as f64, "text that views of it show, written out,", LESS)?;
    append_text(column, views.iter());
    Ok(())
}

/// Appends text; a null becomes an empty cell, as in a text file.
fn append_text<'a>(column: &mut RawColumn, cells: impl Iterator<Item = Option<&'a str>>) {
    cells.for_each(|cell| column.push(cell.unwrap_or_default()));
}

/// Appends dates as seconds; moments with a time zone are in UTC.
fn append_dates(column: &mut NumberColumn, array: &dyn Array) {
    const DAY: f64 = 86400.0;
    match array.data_type() {
        DataType::Date32 => {
            append(column, array.as_primitive::<Date32Type>().iter().map(|c| c.map(|v| f64::from(v) * DAY)))
        }
        DataType::Date64 => append_scaled::<Date64Type>(column, array, 1e3),
        DataType::Timestamp(TimeUnit::Second, _) => append_scaled::<TimestampSecondType>(column, array, 1.0),
        DataType::Timestamp(TimeUnit::Millisecond, _) => append_scaled::<TimestampMillisecondType>(column, array, 1e3),
        DataType::Timestamp(TimeUnit::Microsecond, _) => append_scaled::<TimestampMicrosecondType>(column, array, 1e6),
        _ => append_scaled::<TimestampNanosecondType>(column, array, 1e9),
    }
}

fn append_scaled<T: ArrowPrimitiveType<Native = i64>>(column: &mut NumberColumn, array: &dyn Array, unit: f64) {
    append(column, array.as_primitive::<T>().iter().map(|cell| cell.map(|value| value as f64 / unit)));
}

/// Appends numbers that are all exact doubles.
fn append_numbers(column: &mut NumberColumn, array: &dyn Array) {
    match array.data_type() {
        DataType::UInt8 if array.null_count() == 0 => {
            column.extend_bytes(array.as_primitive::<UInt8Type>().values().iter().copied())
        }
        DataType::UInt8 => append_exact::<UInt8Type>(column, array),
        DataType::UInt16 => append_exact::<UInt16Type>(column, array),
        DataType::UInt32 => append_exact::<UInt32Type>(column, array),
        DataType::Int8 => append_exact::<Int8Type>(column, array),
        DataType::Int16 => append_exact::<Int16Type>(column, array),
        DataType::Int32 => append_exact::<Int32Type>(column, array),
        DataType::Float16 => append_exact::<Float16Type>(column, array),
        DataType::Float32 => append_exact::<Float32Type>(column, array),
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>();
            if values.null_count() > 0 || !column.extend_finite(values.values()) {
                append_exact::<Float64Type>(column, array);
            }
        }
        DataType::UInt64 => append_wide::<UInt64Type>(column, array),
        DataType::Int64 => append_wide::<Int64Type>(column, array),
        other if other.is_decimal() => {
            append(column, texts(array).map(|cell| cell.map(|cell| cell.parse().unwrap_or(f64::NAN))))
        }
        DataType::Null => append(column, (0..array.len()).map(|_| None)),
        _ => append(column, array.as_boolean().iter().map(|cell| cell.map(|b| f64::from(u8::from(b))))),
    }
}

/// Whether all whole numbers of an array are exact doubles.
fn are_doubles(array: &dyn Array) -> bool {
    fn all<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &dyn Array) -> bool {
        array.as_primitive::<T>().iter().flatten().map(Into::into).all(|value| (value as f64) as i128 == value)
    }
    match array.data_type() {
        DataType::UInt64 => all::<UInt64Type>(array),
        DataType::Int64 => all::<Int64Type>(array),
        DataType::Decimal32(digits, _)
        | DataType::Decimal64(digits, _)
        | DataType::Decimal128(digits, _)
        | DataType::Decimal256(digits, _)
            if *digits <= 15 =>
        {
            true
        }
        other if other.is_decimal() => {
            texts(array).all(|cell| cell.is_none_or(|cell| cell.parse().is_ok_and(|value| !is_beyond(&cell, value))))
        }
        _ => true,
    }
}

/// Appends whole numbers and decimals as text.
fn append_digits(column: &mut RawColumn, array: &dyn Array) {
    texts(array).for_each(|cell| column.push(&cell.unwrap_or_default()));
}

/// Numbers of an array of whole numbers or decimals as text.
fn texts(array: &dyn Array) -> Box<dyn Iterator<Item = Option<String>> + '_> {
    fn written<'a, T: ArrowPrimitiveType>(
        array: &'a dyn Array,
        text: impl Fn(&PrimitiveArray<T>, usize) -> String + 'a,
    ) -> Box<dyn Iterator<Item = Option<String>> + 'a> {
        let array = array.as_primitive::<T>();
        Box::new((0..array.len()).map(move |row| array.is_valid(row).then(|| text(array, row))))
    }
    match array.data_type() {
        DataType::UInt64 => written::<UInt64Type>(array, |array, row| array.value(row).to_string()),
        DataType::Int64 => written::<Int64Type>(array, |array, row| array.value(row).to_string()),
        DataType::Decimal32(..) => written::<Decimal32Type>(array, PrimitiveArray::value_as_string),
        DataType::Decimal64(..) => written::<Decimal64Type>(array, PrimitiveArray::value_as_string),
        DataType::Decimal128(..) => written::<Decimal128Type>(array, PrimitiveArray::value_as_string),
        _ => written::<Decimal256Type>(array, PrimitiveArray::value_as_string),
    }
}

/// Appends cells that may be missing or not finite.
pub(super) fn append(column: &mut NumberColumn, cells: impl Iterator<Item = Option<f64>>) {
    for cell in cells {
        match cell {
            Some(value) if value.is_finite() => column.push(value),
            Some(value) if value.is_nan() => column.push_missing("NaN"),
            Some(value) => column.push_odd(&value.to_string()),
            None => column.push_missing("a null"),
        }
    }
}

fn append_exact<T: ArrowPrimitiveType<Native: Into<f64>>>(column: &mut NumberColumn, array: &dyn Array) {
    append(column, array.as_primitive::<T>().iter().map(|cell| cell.map(Into::into)));
}

fn append_wide<T: ArrowPrimitiveType<Native: Into<i128>>>(column: &mut NumberColumn, array: &dyn Array) {
    append(column, array.as_primitive::<T>().iter().map(|cell| cell.map(|value| value.into() as f64)));
}
