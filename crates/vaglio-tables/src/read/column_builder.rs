//! Columns under construction.

mod sparse_conversion;

use super::cell::ColumnRules;
use vaglio_core::numerals::holds;
use vaglio_core::{Cells, Numbers, SingleNumbers, SparseNumbers, is_byte};

/// A column under construction: numbers while all cells are numbers, else the text of every cell.
pub(super) enum ColumnBuilder {
    /// Numbers, as long as all cells are.
    Numbers(NumberColumn),
    /// Sparse numbers, of a file that stores nonzero entries only.
    Sparse(SparseNumbers),
    /// Every cell as text.
    Raw(RawColumn),
    /// Seconds since 1970, and whether times of day have a zone.
    Dates(NumberColumn, Option<bool>),
}

/// A column of numbers: bytes until a value does not fit, NaN for cells without a finite number.
#[derive(Default)]
pub(super) struct NumberColumn {
    numbers: Numbers,
    /// Whether numbers that do not fit a byte are stored in single precision.
    is_single: bool,
    /// Expected number of rows, if known.
    expected: usize,
    pub missing: CountedCells,
    /// Infinite numbers of a file with column types.
    pub infinite: CountedCells,
    /// Whether a cell of a text file is no plain number: the column must be read as text.
    pub is_text: bool,
    /// Whether some number has leading zeros.
    pub zeros: bool,
    /// Whether some whole number exceeds double precision.
    pub beyond: bool,
    /// Whether 1 and 0 are booleans by the file's format.
    pub is_truth: bool,
}

/// Cells of one kind in a column, such as missing ones.
#[derive(Clone, Default)]
pub(super) struct CountedCells {
    pub count: usize,
    /// First row with such a cell, and how it is written.
    pub first: Option<(usize, String)>,
}

impl CountedCells {
    /// Adds the cell of a row.
    pub fn push(&mut self, row: usize, written: &str) {
        self.count += 1;
        self.first.get_or_insert_with(|| (row, written.to_owned()));
    }

    /// Adds the cells of another part of the column, which begins at a row.
    fn append(&mut self, part: CountedCells, start: usize) {
        self.count += part.count;
        self.first = self.first.take().or(part.first.map(|(row, written)| (start + row, written)));
    }
}

impl ColumnBuilder {
    /// Creates an empty column for cells of text.
    pub fn new(rules: &ColumnRules<'_>) -> Self {
        match rules.as_numbers {
            true => ColumnBuilder::Numbers(NumberColumn::new(0, rules.is_single)),
            false => ColumnBuilder::Raw(RawColumn::default()),
        }
    }

    /// Appends a cell of text.
    #[inline]
    pub fn push(&mut self, cell: &str, rules: &ColumnRules<'_>) {
        match self {
            ColumnBuilder::Numbers(column) => {
                let cell = trim_cell(cell);
                match rules.number(cell) {
                    Some(value) if value.is_nan() => column.push_missing(cell),
                    Some(value) => {
                        column.zeros |= matches!(cell.as_bytes(), [b'0', b'0'..=b'9', ..]);
                        column.beyond |= !holds(cell, value);
                        column.push(value);
                    }
                    None => {
                        column.is_text = true;
                        column.push(f64::NAN);
                    }
                }
            }
            ColumnBuilder::Raw(column) => column.push(cell),
            ColumnBuilder::Sparse(_) | ColumnBuilder::Dates(..) => unreachable!("text is read as numbers or as text"),
        }
    }

    /// Number of rows so far.
    pub fn rows(&self) -> usize {
        match self {
            ColumnBuilder::Numbers(column) | ColumnBuilder::Dates(column, _) => column.rows(),
            ColumnBuilder::Raw(column) => column.rows(),
            ColumnBuilder::Sparse(column) => column.view().len(),
        }
    }

    /// Bytes of the cells as separate strings if they are text, else 0.
    pub fn bytes_as_text(&self) -> f64 {
        let ColumnBuilder::Raw(column) = self else { return 0.0 };
        // A string, plus the minimum overhead of its allocation.
        (size_of::<String>() + 16) as f64 * column.rows() as f64 + column.bytes() as f64
    }

    /// Appends the rows of another part of the column; returns `false` if its cells are of another kind.
    #[must_use]
    pub fn append(&mut self, other: ColumnBuilder) -> bool {
        if let (ColumnBuilder::Sparse(own), ColumnBuilder::Sparse(other)) = (&*self, &other)
            && let Some(both) = own.append(other)
        {
            *self = ColumnBuilder::Sparse(both);
            return true;
        }
        if let ColumnBuilder::Sparse(own) = self {
            *self = ColumnBuilder::Numbers(NumberColumn::from(&*own));
        }
        match (self, other) {
            (ColumnBuilder::Numbers(all), ColumnBuilder::Sparse(part)) => all.append(NumberColumn::from(&part)),
            (ColumnBuilder::Numbers(all), ColumnBuilder::Numbers(part)) => all.append(part),
            (ColumnBuilder::Raw(all), ColumnBuilder::Raw(part)) if all.is_digits == part.is_digits => all.append(&part),
            (ColumnBuilder::Raw(all), ColumnBuilder::Numbers(part)) if all.is_digits => all.append(&part.digits()),
            (all @ ColumnBuilder::Numbers(_), ColumnBuilder::Raw(part)) if part.is_digits => {
                all.convert_to_digits().append(&part);
            }
            (ColumnBuilder::Dates(all, zoned), ColumnBuilder::Dates(part, other)) if *zoned == other => {
                all.append(part)
            }
            _ => return false,
        }
        true
    }

    /// Stores whole numbers as digits from now on, since one exceeds double precision.
    pub fn convert_to_digits(&mut self) -> &mut RawColumn {
        if let ColumnBuilder::Numbers(column) = self {
            *self = ColumnBuilder::Raw(std::mem::take(column).digits());
        }
        match self {
            ColumnBuilder::Raw(column) => column,
            _ => unreachable!("it was just made so"),
        }
    }
}

/// Trims a cell; most have no blanks.
#[inline]
fn trim_cell(cell: &str) -> &str {
    match cell.as_bytes() {
        [b'!'..=b'~'] | [b'!'..=b'~', .., b'!'..=b'~'] => cell,
        _ => cell.trim(),
    }
}

/// Writes out every row; NaN is a missing cell.
impl From<&SparseNumbers> for NumberColumn {
    fn from(column: &SparseNumbers) -> Self {
        let mut all = NumberColumn::default();
        for value in column.view().to_vec() {
            if value.is_nan() { all.push_missing("nan") } else { all.push(value) }
        }
        all
    }
}

impl NumberColumn {
    /// An empty column with an expected number of rows, 0 if unknown. Numbers that do not fit a byte may be stored in
    /// single precision.
    pub fn new(expected: usize, is_single: bool) -> Self {
        NumberColumn { expected, is_single, ..NumberColumn::default() }
    }

    /// Appends a finite number, or NaN for a cell without one.
    #[inline]
    pub fn push(&mut self, value: f64) {
        if let Numbers::Byte(bytes) = &mut self.numbers
            && is_byte(value)
        {
            return bytes.push(value as u8);
        }
        self.extend(std::iter::once(value));
    }

    /// Appends a missing value with its text.
    pub fn push_missing(&mut self, written: &str) {
        self.missing.push(self.rows(), written);
        self.push(f64::NAN);
    }

    /// Appends an infinite number.
    pub fn push_infinite(&mut self, value: f64) {
        self.infinite.push(self.rows(), &value.to_string());
        self.push(f64::NAN);
    }

    /// Appends numbers that may not fit a byte.
    #[inline]
    fn extend(&mut self, values: impl Iterator<Item = f64>) {
        match self.widen() {
            Numbers::Single(all) => values.for_each(|value| all.push(value)),
            Numbers::Double(all) => all.extend(values),
            _ => unreachable!("they were just made wider"),
        }
    }

    /// Switches from bytes to doubles or singles.
    fn widen(&mut self) -> &mut Numbers {
        if let Numbers::Byte(bytes) = &self.numbers {
            // Preallocation may fail for a file that claims too much; rows are allocated as they come.
            let rows = bytes.capacity().max(self.expected);
            let widened = bytes.iter().map(|&b| f64::from(b));
            self.numbers = if self.is_single {
                let mut singles = SingleNumbers::with_room(rows);
                widened.for_each(|value| singles.push(value));
                Numbers::Single(singles)
            } else {
                let mut doubles = Vec::new();
                let _ = doubles.try_reserve_exact(rows);
                doubles.extend(widened);
                Numbers::Double(doubles)
            };
        }
        &mut self.numbers
    }

    /// Appends numbers given as bytes.
    pub fn extend_bytes(&mut self, values: impl Iterator<Item = u8>) {
        match &mut self.numbers {
            Numbers::Byte(bytes) => bytes.extend(values),
            _ => self.extend(values.map(f64::from)),
        }
    }

    /// Appends numbers; returns `false` and appends none if some are not finite.
    pub fn extend_finite(&mut self, values: &[f64]) -> bool {
        // 0 times a non-finite number is NaN, which persists in a sum.
        let (lanes, rest) = values.as_chunks::<8>();
        let mut sums = [0.0; 8];
        lanes.iter().for_each(|lane| sums.iter_mut().zip(lane).for_each(|(sum, value)| *sum += value * 0.0));
        if !sums.iter().chain(rest).fold(0.0, |sum: f64, value| sum + value * 0.0).is_finite() {
            return false;
        }
        let bytes = match self.numbers {
            Numbers::Byte(_) => values.iter().take_while(|value| is_byte(**value)).count(),
            _ => 0,
        };
        if let Numbers::Byte(all) = &mut self.numbers {
            all.extend(values[..bytes].iter().map(|value| *value as u8));
        }
        if bytes < values.len() {
            self.extend(values[bytes..].iter().copied());
        }
        true
    }

    fn append(&mut self, part: NumberColumn) {
        let start = self.rows();
        self.missing.append(part.missing, start);
        self.infinite.append(part.infinite, start);
        self.is_text |= part.is_text;
        self.zeros |= part.zeros;
        self.beyond |= part.beyond;
        self.is_truth &= part.is_truth;
        match (&mut self.numbers, &part.numbers) {
            (Numbers::Byte(all), Numbers::Byte(part)) => all.extend_from_slice(part),
            (_, part) => match (self.widen(), part) {
                (Numbers::Single(all), Numbers::Single(part)) => all.append(part),
                _ => self.extend(part.view().values().iter().copied()),
            },
        }
    }

    /// Converts whole numbers to text, empty for missing cells.
    fn digits(self) -> RawColumn {
        let cells = Cells::Numbers(self.finish());
        let mut digits = RawColumn { is_digits: true, ..RawColumn::default() };
        (0..cells.len()).for_each(|row| digits.push(&cells.label(row)));
        digits
    }

    /// Number of rows so far.
    pub fn rows(&self) -> usize {
        self.numbers.view().len()
    }

    /// The numbers, in the smallest type that holds them.
    pub fn finish(mut self) -> Numbers {
        match &mut self.numbers {
            Numbers::Byte(bytes) => bytes.shrink_to_fit(),
            Numbers::Double(doubles) => doubles.shrink_to_fit(),
            Numbers::Single(singles) => singles.shrink_to_fit(),
            _ => {}
        }
        self.numbers
    }
}

/// Text of every cell, concatenated.
#[derive(Debug, Clone, Default)]
pub(super) struct RawColumn {
    text: String,
    ends: Vec<usize>,
    /// Whether the cells are whole numbers by the file's format, some beyond double precision.
    pub is_digits: bool,
}

impl RawColumn {
    /// Appends a cell.
    pub fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }

    /// Appends the cells of another part.
    pub fn append(&mut self, part: &RawColumn) {
        let before = self.text.len();
        self.text.push_str(&part.text);
        self.ends.extend(part.ends.iter().map(|end| before + end));
    }

    /// Bytes of the text.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// The cells in order, without blanks around them.
    pub fn trimmed_cells(&self) -> impl Iterator<Item = &str> + Clone {
        self.cells().map(str::trim)
    }

    /// The cells in order.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.ends.len()).map(|row| {
            let start = if row == 0 { 0 } else { self.ends[row - 1] };
            &self.text[start..self.ends[row]]
        })
    }
}
