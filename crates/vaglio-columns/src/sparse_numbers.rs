//! Sparse columns: most entries equal one number.

/// A column in which most rows have one number, the `fill`, and other rows a stored entry.
///
/// Rows of stored entries are kept in increasing order, four bytes each. Entries take no bytes if all equal one number.
/// Whole numbers from 0 to 255 take one byte each, others eight.
#[derive(Debug, Clone)]
pub struct SparseNumbers {
    len: usize,
    fill: f64,
    rows: Vec<u32>,
    values: StoredValues,
}

/// Stored entries, in the smallest type that holds them.
#[derive(Debug, Clone)]
enum StoredValues {
    Same(f64),
    Byte(Vec<u8>),
    Double(Vec<f64>),
}

/// View of some rows of a sparse column.
#[derive(Debug, Clone, Copy)]
pub struct SparseColumn<'a> {
    /// The whole column.
    numbers: &'a SparseNumbers,
    /// Row of the whole column that is the first row of the view.
    first: usize,
    len: usize,
    /// Positions of its stored entries.
    start: usize,
    end: usize,
}

impl From<Vec<f64>> for StoredValues {
    fn from(values: Vec<f64>) -> Self {
        let first = values.first().copied().unwrap_or(0.0);
        if values.iter().all(|v| v.to_bits() == first.to_bits()) {
            return StoredValues::Same(first);
        }
        to_bytes(&values).map_or(StoredValues::Double(values), StoredValues::Byte)
    }
}

/// Whether a byte holds the number exactly, including its sign.
#[inline]
pub fn is_byte(value: f64) -> bool {
    f64::from(value as u8).to_bits() == value.to_bits()
}

/// The numbers as bytes, if that is exact.
pub(crate) fn to_bytes(values: &[f64]) -> Option<Vec<u8>> {
    values.iter().all(|value| is_byte(*value)).then(|| values.iter().map(|value| *value as u8).collect())
}

/// Bytes of a row index.
const ROW: usize = size_of::<u32>();

impl SparseNumbers {
    /// Creates a column of `len` rows that is 0 except in `rows`, given in increasing order. Entries of 0 are dropped.
    /// Cost O(given rows).
    ///
    /// # Panics
    /// If rows and values differ in number, rows do not increase, or a row is not below `len`, which is at most 2³²; a
    /// caller with user data checks that first.
    pub fn new(len: usize, mut rows: Vec<u32>, mut values: Vec<f64>) -> Self {
        assert_eq!(rows.len(), values.len(), "every row has an entry");
        assert!(rows.is_sorted_by(|a, b| a < b), "rows increase");
        assert!(rows.last().is_none_or(|last| (*last as usize) < len), "rows are those of the column");
        if values.contains(&0.0) {
            let mut kept = values.iter().map(|v| *v != 0.0);
            rows.retain(|_| kept.next().unwrap_or(true));
            values.retain(|v| *v != 0.0);
        }
        rows.shrink_to_fit();
        values.shrink_to_fit();
        SparseNumbers { len, fill: 0.0, rows, values: values.into() }
    }

    /// Maximum number of stored entries of an automatic sparse column: one in 32 from 1000 rows on, `None` below.
    pub fn most_entries(len: usize) -> Option<usize> {
        (1000..=u32::MAX as usize).contains(&len).then_some(len / 32)
    }

    /// Whether the column takes at most half the bytes of a dense one.
    pub(crate) fn is_worth_it(&self) -> bool {
        let is_bytes = self.fill.to_bits() == 0
            && match self.values {
                StoredValues::Same(value) => to_bytes(&[value]).is_some(),
                StoredValues::Byte(_) => true,
                StoredValues::Double(_) => false,
            };
        2 * self.bytes() <= self.len * if is_bytes { 1 } else { size_of::<f64>() }
    }

    /// Bytes of rows and entries.
    pub fn bytes(&self) -> usize {
        let entry = match self.values {
            StoredValues::Same(_) => 0,
            StoredValues::Byte(_) => 1,
            StoredValues::Double(_) => size_of::<f64>(),
        };
        self.rows.len() * (ROW + entry)
    }

    /// A view of the entries.
    pub fn view(&self) -> SparseColumn<'_> {
        SparseColumn { numbers: self, first: 0, len: self.len, start: 0, end: self.rows.len() }
    }

    /// Applies a function to every entry and the fill. Cost O(entries).
    #[must_use]
    pub fn map(&self, function: impl Fn(f64) -> f64) -> Self {
        let values = match &self.values {
            StoredValues::Same(value) => StoredValues::Same(function(*value)),
            StoredValues::Byte(values) => values.iter().map(|&v| function(f64::from(v))).collect::<Vec<f64>>().into(),
            StoredValues::Double(values) => values.iter().map(|&v| function(v)).collect::<Vec<f64>>().into(),
        };
        SparseNumbers { len: self.len, fill: function(self.fill), rows: self.rows.clone(), values }
    }

    /// Appends the rows of another column; `None` if the fills differ.
    #[must_use]
    pub fn append(&self, other: &SparseNumbers) -> Option<Self> {
        (self.fill.to_bits() == other.fill.to_bits()).then(|| {
            let moved = other.rows.iter().map(|row| row + self.len as u32);
            let rows = self.rows.iter().copied().chain(moved).collect();
            let mut values = Vec::with_capacity(self.rows.len() + other.rows.len());
            for part in [self, other] {
                part.view().for_each(|_, value| values.push(value));
            }
            SparseNumbers { len: self.len + other.len, fill: self.fill, rows, values: values.into() }
        })
    }

    /// Copies the entries of `rows`, in that order. Cost O(rows), and only a scan of them if they do not decrease.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let (mut own, mut values) = (Vec::new(), Vec::new());
        if rows.is_sorted() {
            let mut from = 0;
            self.view().for_each(|row, value| {
                // Gallops: the next place is near if most rows are selected.
                let mut reach = 1;
                while rows.get(from + reach).is_some_and(|chosen| *chosen < row) {
                    reach *= 2;
                }
                let end = rows.len().min(from + reach);
                from += rows[from..end].partition_point(|chosen| *chosen < row);
                let same = rows[from..].iter().take_while(|chosen| **chosen == row).count();
                own.extend((from..from + same).map(|place| place as u32));
                values.extend(std::iter::repeat_n(value, same));
                from += same;
            });
        } else {
            let all = self.view().to_vec();
            for (place, value) in rows.iter().map(|&row| all[row]).enumerate().filter(|(_, value)| *value != self.fill)
            {
                own.push(place as u32);
                values.push(value);
            }
        }
        let values = match &self.values {
            StoredValues::Same(value) => StoredValues::Same(*value),
            _ => values.into(),
        };
        SparseNumbers { len: rows.len(), fill: self.fill, rows: own, values }
    }
}

impl<'a> SparseColumn<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Value of the rows without a stored entry.
    pub fn fill(&self) -> f64 {
        self.numbers.fill
    }

    /// Rows of the whole column with stored entries.
    fn stored_rows(&self) -> &'a [u32] {
        &self.numbers.rows[self.start..self.end]
    }

    /// Number of stored entries.
    pub fn count(&self) -> usize {
        self.end - self.start
    }

    /// Calls a function with each stored entry and its row, in increasing order.
    #[inline]
    pub fn for_each(&self, mut each: impl FnMut(usize, f64)) {
        let rows = self.stored_rows().iter().map(|&row| row as usize - self.first);
        let own = self.start..self.end;
        match &self.numbers.values {
            StoredValues::Same(value) => rows.for_each(|row| each(row, *value)),
            StoredValues::Byte(all) => rows.zip(&all[own]).for_each(|(row, &value)| each(row, f64::from(value))),
            StoredValues::Double(all) => rows.zip(&all[own]).for_each(|(row, &value)| each(row, value)),
        }
    }

    /// The entry of `row`. Cost O(log entries).
    ///
    /// # Panics
    /// If there is no such row.
    pub fn get(&self, row: usize) -> f64 {
        assert!(row < self.len, "row {row} of {}", self.len);
        let Ok(place) = self.stored_rows().binary_search(&((row + self.first) as u32)) else { return self.fill() };
        match &self.numbers.values {
            StoredValues::Same(value) => *value,
            StoredValues::Byte(values) => f64::from(values[self.start + place]),
            StoredValues::Double(values) => values[self.start + place],
        }
    }

    /// The rows `start..end`. Cost O(log entries).
    ///
    /// # Panics
    /// If there are no such rows.
    #[must_use]
    pub fn rows(&self, start: usize, end: usize) -> Self {
        assert!(start <= end && end <= self.len, "rows {start} to {end} of {}", self.len);
        let place =
            |row: usize| self.start + self.stored_rows().partition_point(|own| (*own as usize) < row + self.first);
        let (first, len) = (self.first + start, end - start);
        SparseColumn { numbers: self.numbers, first, len, start: place(start), end: place(end) }
    }

    /// All rows as doubles. Cost O(rows).
    pub fn to_vec(&self) -> Vec<f64> {
        let mut all = vec![self.fill(); self.len];
        self.for_each(|row, value| all[row] = value);
        all
    }

    /// Whether both are the same rows of the same column in memory.
    pub fn is_stored_with(&self, other: &SparseColumn<'_>) -> bool {
        std::ptr::eq(self.numbers, other.numbers) && self.first == other.first && self.len == other.len
    }

    /// See [`Column::rounding`](crate::Column::rounding).
    pub(crate) fn rounding(&self) -> f64 {
        if self.fill() == 0.0 && matches!(self.numbers.values, StoredValues::Byte(_)) {
            return 0.0;
        }
        16.0 * f64::EPSILON * crate::max_abs(&self.range())
    }

    /// Least and greatest entry; infinities without rows.
    pub fn range(&self) -> [f64; 2] {
        let mut range = if self.count() < self.len { [self.fill(); 2] } else { [f64::INFINITY, f64::NEG_INFINITY] };
        self.for_each(|_, value| range = [range[0].min(value), range[1].max(value)]);
        range
    }
}

impl From<SparseColumn<'_>> for SparseNumbers {
    fn from(column: SparseColumn<'_>) -> Self {
        let rows = column.stored_rows().iter().map(|&row| row - column.first as u32).collect();
        let own = column.start..column.end;
        let values = match &column.numbers.values {
            StoredValues::Same(value) => StoredValues::Same(*value),
            StoredValues::Byte(values) => StoredValues::Byte(values[own].to_vec()),
            StoredValues::Double(values) => StoredValues::Double(values[own].to_vec()),
        };
        SparseNumbers { len: column.len, fill: column.fill(), rows, values }
    }
}

impl PartialEq for SparseColumn<'_> {
    fn eq(&self, other: &Self) -> bool {
        if self.len != other.len || self.fill() != other.fill() {
            return self.len == other.len && self.to_vec() == other.to_vec();
        }
        let own = |column: &SparseColumn<'_>| -> Vec<(usize, f64)> {
            let mut entries = Vec::with_capacity(column.count());
            column.for_each(|row, value| entries.extend((value != column.fill()).then_some((row, value))));
            entries
        };
        own(self) == own(other)
    }
}
