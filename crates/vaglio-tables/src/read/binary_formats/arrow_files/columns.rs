//! Columns of Parquet and Arrow files under construction.

use super::file_bytes::FileBytes;
use super::file_error;
use crate::budget::Budget;
use crate::read::column_builder::{ColumnBuilder, NumberColumn, RawColumn};
use crate::read::unreadable;
use arrow_array::types::*;
use arrow_array::{AnyDictionaryArray, Array, ArrayAccessor, ArrowPrimitiveType, PrimitiveArray, cast::AsArray};
use arrow_schema::{DataType, Field, TimeUnit};
use arrow_select::take::take;
use std::ops::BitOr;
use std::path::Path;
use vaglio_core::Result;
use vaglio_core::numerals::holds;

/// Type of a field's cells, with dictionaries resolved.
pub(super) fn plain_type(field: &Field) -> &DataType {
    let mut data_type = field.data_type();
    while let DataType::Dictionary(_, values) = data_type {
        data_type = values;
    }
    data_type
}

/// Whether cells of this type are text.
pub(super) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// An empty column for a field of numbers, booleans, text or dates, with an expected number of rows; numbers may be
/// stored in single precision.
///
/// # Errors
/// Fails for a field of another type.
pub(super) fn empty_column(path: &Path, field: &Field, rows: usize, is_single: bool) -> Result<ColumnBuilder> {
    let dates = |zoned: Option<bool>| ColumnBuilder::Dates(NumberColumn::new(rows, false), zoned);
    Ok(match plain_type(field) {
        text if is_text(text) => ColumnBuilder::Raw(RawColumn::default()),
        DataType::Date32 | DataType::Date64 => dates(None),
        DataType::Timestamp(_, zone) => dates(Some(zone.is_some())),
        other if other.is_numeric() || matches!(other, DataType::Boolean | DataType::Null) => {
            let mut numbers = NumberColumn::new(rows, is_single);
            numbers.is_truth = *other == DataType::Boolean;
            ColumnBuilder::Numbers(numbers)
        }
        other => {
            let (name, what) = (field.name(), other.to_string());
            let message = format!(
                "column `{name}` is of type {}; expected numbers, truth values, text or dates; add it to data.exclude",
                crate::read::truncate_message(&what)
            );
            return Err(unreadable(path, message));
        }
    })
}

/// Appends an array to the column `name`.
///
/// # Errors
/// Fails at the memory limit, and for an array of another type than the column.
pub(super) fn append_array(cells: &mut ColumnBuilder, file: &FileBytes, name: &str, array: &dyn Array) -> Result<()> {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        return match (cells, words(dictionary.values())) {
            (ColumnBuilder::Raw(column), Some(word)) => append_words(column, dictionary, word, file.budget),
            (cells, _) => {
                let plain = take(dictionary.values(), dictionary.keys(), None).map_err(file_error(&file.path))?;
                append_array(cells, file, name, &plain)
            }
        };
    }
    match (cells, words(array)) {
        (ColumnBuilder::Raw(column), None) if column.is_digits => append_digits(column, array),
        (ColumnBuilder::Raw(column), Some(word)) => {
            // Several views may refer to the same bytes.
            if *array.data_type() == DataType::Utf8View {
                let bytes: usize = (0..array.len()).map(|row| word(row).len()).sum();
                file.budget.need(bytes as f64, "text that views of it show, written out,", LESS)?;
            }
            (0..array.len()).for_each(|row| column.push(word(row)));
        }
        (ColumnBuilder::Dates(column, _), _) => append_dates(column, array),
        (ColumnBuilder::Numbers(column), _) if are_doubles(array) => append_numbers(column, array),
        (numbers @ ColumnBuilder::Numbers(_), _) => append_digits(numbers.convert_to_digits(), array),
        _ => return Err(unreadable(&file.path, format!("column `{name}` is of another type than before"))),
    }
    Ok(())
}

/// Remedy for a file that is too large.
pub(super) const LESS: &str = "leave columns out by data.exclude, take fewer rows, or raise the limit";

/// Text of a cell by its row.
type Words<'a> = Box<dyn Fn(usize) -> &'a str + 'a>;

/// Cells of an array of text, empty for a null as in a text file; `None` for other arrays.
fn words(array: &dyn Array) -> Option<Words<'_>> {
    fn cells<'a>(array: impl ArrayAccessor<Item = &'a str> + 'a) -> Option<Words<'a>> {
        Some(Box::new(move |row| if array.is_valid(row) { array.value(row) } else { "" }))
    }
    match array.data_type() {
        DataType::Utf8 => cells(array.as_string::<i32>()),
        DataType::LargeUtf8 => cells(array.as_string::<i64>()),
        DataType::Utf8View => cells(array.as_string_view()),
        _ => None,
    }
}

/// Appends words by their dictionary keys; a small dictionary may represent much text.
fn append_words(
    column: &mut RawColumn,
    dictionary: &dyn AnyDictionaryArray,
    word: Words<'_>,
    budget: Budget,
) -> Result<()> {
    let rows = dictionary.keys().len();
    // Without words, all keys are null.
    let keys = if dictionary.values().is_empty() { vec![0; rows] } else { dictionary.normalized_keys() };
    let cell = |row: usize| if dictionary.keys().is_valid(row) { word(keys[row]) } else { "" };
    let bytes: usize = (0..rows).map(|row| cell(row).len()).sum();
    budget.need(bytes as f64, "the text of a dictionary, written out,", LESS)?;
    (0..rows).for_each(|row| column.push(cell(row)));
    Ok(())
}

/// Appends dates as seconds; moments with a time zone are in UTC.
fn append_dates(column: &mut NumberColumn, array: &dyn Array) {
    const DAY: f64 = 86400.0;
    match array.data_type() {
        DataType::Date32 => append_by::<Date32Type>(column, array, |days| f64::from(days) * DAY),
        DataType::Date64 => append_by::<Date64Type>(column, array, |value| value as f64 / 1e3),
        DataType::Timestamp(TimeUnit::Second, _) => {
            append_by::<TimestampSecondType>(column, array, |value| value as f64)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            append_by::<TimestampMillisecondType>(column, array, |value| value as f64 / 1e3)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            append_by::<TimestampMicrosecondType>(column, array, |value| value as f64 / 1e6)
        }
        _ => append_by::<TimestampNanosecondType>(column, array, |value| value as f64 / 1e9),
    }
}

/// Appends primitive cells, each converted to a double.
fn append_by<T: ArrowPrimitiveType>(column: &mut NumberColumn, array: &dyn Array, double: impl Fn(T::Native) -> f64) {
    let numbers = array.as_primitive::<T>();
    let doubles = || numbers.values().iter().map(|value| double(*value)).collect::<Vec<f64>>();
    if numbers.null_count() > 0 || !column.extend_finite(&doubles()) {
        append(column, numbers.iter().map(|cell| cell.map(&double)));
    }
}

/// Appends whole numbers, each converted to a double unless all fit a byte.
fn append_whole<T>(column: &mut NumberColumn, array: &dyn Array, double: impl Fn(T::Native) -> f64)
where
    T: ArrowPrimitiveType,
    T::Native: BitOr<Output = T::Native> + TryInto<u8>,
{
    let numbers = array.as_primitive::<T>();
    // No value exceeds the bitwise OR of all, and none is negative if that is not.
    let all = numbers.values().iter().fold(T::Native::default(), |all, value| all | *value);
    let byte = |value: T::Native| -> Option<u8> { value.try_into().ok() };
    if numbers.null_count() == 0 && byte(all).is_some() {
        column.extend_bytes(numbers.values().iter().map(|value| byte(*value).unwrap_or_default()));
    } else {
        append_by::<T>(column, array, double);
    }
}

/// Appends numbers that are all exact doubles.
fn append_numbers(column: &mut NumberColumn, array: &dyn Array) {
    match array.data_type() {
        DataType::UInt8 => append_whole::<UInt8Type>(column, array, f64::from),
        DataType::UInt16 => append_whole::<UInt16Type>(column, array, f64::from),
        DataType::UInt32 => append_whole::<UInt32Type>(column, array, f64::from),
        DataType::UInt64 => append_whole::<UInt64Type>(column, array, |value| value as f64),
        DataType::Int8 => append_whole::<Int8Type>(column, array, f64::from),
        DataType::Int16 => append_whole::<Int16Type>(column, array, f64::from),
        DataType::Int32 => append_whole::<Int32Type>(column, array, f64::from),
        DataType::Int64 => append_whole::<Int64Type>(column, array, |value| value as f64),
        DataType::Float16 => append_by::<Float16Type>(column, array, f64::from),
        DataType::Float32 => append_by::<Float32Type>(column, array, f64::from),
        DataType::Float64 => {
            let numbers = array.as_primitive::<Float64Type>();
            if numbers.null_count() > 0 || !column.extend_finite(numbers.values()) {
                append(column, numbers.iter());
            }
        }
        other if other.is_decimal() => {
            append(column, texts(array).map(|cell| cell.map(|cell| cell.parse().unwrap_or(f64::NAN))))
        }
        DataType::Null => append(column, (0..array.len()).map(|_| None)),
        _ => append(column, array.as_boolean().iter().map(|cell| cell.map(|b| f64::from(u8::from(b))))),
    }
}

/// Greatest number up to which all whole numbers are exact doubles.
const EXACT: u64 = 1 << 53;

/// Whether all whole numbers of an array are exact doubles.
fn are_doubles(array: &dyn Array) -> bool {
    fn all<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &dyn Array) -> bool {
        array.as_primitive::<T>().iter().flatten().map(Into::into).all(|value| (value as f64) as i128 == value)
    }
    match array.data_type() {
        // Nearly always, all are small: none exceeds the bitwise OR of all.
        DataType::UInt64 => {
            let values = array.as_primitive::<UInt64Type>().values();
            values.iter().fold(0, |all, value| all | value) <= EXACT || all::<UInt64Type>(array)
        }
        DataType::Int64 => {
            let values = array.as_primitive::<Int64Type>().values();
            values.iter().fold(0, |all, value| all | value.unsigned_abs()) <= EXACT || all::<Int64Type>(array)
        }
        DataType::Decimal32(digits, _)
        | DataType::Decimal64(digits, _)
        | DataType::Decimal128(digits, _)
        | DataType::Decimal256(digits, _)
            if *digits <= 15 =>
        {
            true
        }
        other if other.is_decimal() => {
            texts(array).all(|cell| cell.is_none_or(|cell| cell.parse().is_ok_and(|value| holds(&cell, value))))
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
    fn number_texts<'a, T: ArrowPrimitiveType>(
        array: &'a dyn Array,
        text: impl Fn(&PrimitiveArray<T>, usize) -> String + 'a,
    ) -> Box<dyn Iterator<Item = Option<String>> + 'a> {
        let array = array.as_primitive::<T>();
        Box::new((0..array.len()).map(move |row| array.is_valid(row).then(|| text(array, row))))
    }
    match array.data_type() {
        DataType::UInt64 => number_texts::<UInt64Type>(array, |array, row| array.value(row).to_string()),
        DataType::Int64 => number_texts::<Int64Type>(array, |array, row| array.value(row).to_string()),
        DataType::Decimal32(..) => number_texts::<Decimal32Type>(array, PrimitiveArray::value_as_string),
        DataType::Decimal64(..) => number_texts::<Decimal64Type>(array, PrimitiveArray::value_as_string),
        DataType::Decimal128(..) => number_texts::<Decimal128Type>(array, PrimitiveArray::value_as_string),
        _ => number_texts::<Decimal256Type>(array, PrimitiveArray::value_as_string),
    }
}

/// Appends cells that may be missing or not finite.
fn append(column: &mut NumberColumn, cells: impl Iterator<Item = Option<f64>>) {
    for cell in cells {
        match cell {
            Some(value) if value.is_finite() => column.push(value),
            Some(value) if value.is_nan() => column.push_missing("NaN"),
            Some(value) => column.push_infinite(value),
            None => column.push_missing("a null"),
        }
    }
}
