//! Columns in single precision.

use crate::gather;

/// Entries of a column rounded to single precision: four bytes per entry.
///
/// All computations use doubles, as if the data had the rounded entries.
#[derive(Debug, Clone)]
pub struct SingleNumbers {
    values: Vec<f32>,
    /// Largest rounding error of an entry.
    rounding: f64,
    /// Least and greatest entry before rounding.
    range: [f64; 2],
}

impl Default for SingleNumbers {
    fn default() -> Self {
        SingleNumbers { values: Vec::new(), rounding: 0.0, range: [f64::INFINITY, f64::NEG_INFINITY] }
    }
}

impl SingleNumbers {
    /// Creates an empty column and reserves memory for `rows` entries, as far as possible.
    pub fn with_room(rows: usize) -> Self {
        let mut values = Vec::new();
        // A failure shows again when entries are pushed.
        let _ = values.try_reserve_exact(rows);
        SingleNumbers { values, ..SingleNumbers::default() }
    }

    /// Appends an entry; NaN is a missing one.
    #[inline]
    pub fn push(&mut self, value: f64) {
        let rounded = self.round(value);
        self.values.push(rounded);
    }

    /// Appends the entries of another column.
    pub fn append(&mut self, other: &SingleNumbers) {
        self.values.extend_from_slice(&other.values);
        self.rounding = self.rounding.max(other.rounding);
        self.range = [self.range[0].min(other.range[0]), self.range[1].max(other.range[1])];
    }

    #[inline]
    fn round(&mut self, value: f64) -> f32 {
        let rounded = value as f32;
        let is_lost = rounded.is_infinite() || (value != 0.0 && rounded.abs() < f32::MIN_POSITIVE);
        let rounding = if is_lost { f64::INFINITY } else { (f64::from(rounded) - value).abs() };
        // `max` ignores NaN, a missing entry.
        self.rounding = self.rounding.max(rounding);
        self.range = [self.range[0].min(value), self.range[1].max(value)];
        // Keeps an entry that is too large finite; the column has a fault.
        if rounded.is_infinite() && value.is_finite() { f32::MAX.copysign(rounded) } else { rounded }
    }

    /// The entries.
    pub fn view(&self) -> &[f32] {
        &self.values
    }

    /// Largest rounding error of an entry; for selected rows, over all rows.
    pub fn rounding(&self) -> f64 {
        self.rounding
    }

    /// Reason to keep the column in doubles, if any, with a remedy.
    pub fn fault(&self) -> Option<&'static str> {
        let [least, greatest] = self.range;
        if self.rounding == f64::INFINITY {
            Some("single precision holds 0 and numbers from 1.2e-38 to 3.4e38 in size alone; rescale it")
        } else if least < greatest && least as f32 == greatest as f32 {
            Some(
                "its entries differ, and are one number in single precision, which has 7 digits; subtract a number near them",
            )
        } else {
            None
        }
    }

    /// Releases unused reserved memory.
    pub fn shrink_to_fit(&mut self) {
        self.values.shrink_to_fit();
    }

    /// Copies the entries of `rows`, in that order.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        SingleNumbers { values: gather(&self.values, rows), ..*self }
    }
}

impl FromIterator<f64> for SingleNumbers {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let values = values.into_iter();
        let mut single = SingleNumbers::with_room(values.size_hint().0);
        values.for_each(|value| single.push(value));
        single
    }
}
