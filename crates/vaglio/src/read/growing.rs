//! Columns while they are read.

use vaglio_core::{Cells, Error, Numbers, Result};

/// A column of numbers: bytes until a value does not fit one, and missing values counted.
#[derive(Debug)]
pub(super) struct NumberColumn {
    numbers: Numbers,
    gaps: Gaps,
}

/// A column of text, in which an empty cell is a missing value.
#[derive(Debug, Default)]
pub(super) struct TextColumn {
    text: Vec<String>,
    gaps: Gaps,
}

/// The missing values of a column.
#[derive(Debug, Default)]
struct Gaps {
    rows: usize,
    first: Option<(usize, String)>,
    count: usize,
}

impl Gaps {
    fn add(&mut self, value: &str) {
        self.rows += 1;
        self.count += 1;
        self.first.get_or_insert_with(|| {
            (self.rows, if value.is_empty() { "an empty cell".to_owned() } else { value.to_owned() })
        });
    }

    fn check(self, column: &str) -> Result<()> {
        match self.first {
            Some((row, value)) => Err(Error::NonFinite {
                row,
                column: column.to_owned(),
                value,
                count: self.count,
                file: None,
                remedy: None,
            }),
            None => Ok(()),
        }
    }
}

impl Default for NumberColumn {
    fn default() -> Self {
        NumberColumn { numbers: Numbers::Byte(Vec::new()), gaps: Gaps::default() }
    }
}

impl NumberColumn {
    /// Appends a number; one that is not finite counts as missing.
    pub fn push(&mut self, value: f64) {
        if !value.is_finite() {
            return self.push_missing(&value.to_string());
        }
        self.gaps.rows += 1;
        if let Numbers::Byte(bytes) = &mut self.numbers {
            let byte = value as u8;
            if f64::from(byte).to_bits() == value.to_bits() {
                return bytes.push(byte);
            }
            let mut doubles = Vec::with_capacity(bytes.capacity());
            doubles.extend(bytes.iter().map(|&b| f64::from(b)));
            self.numbers = Numbers::Double(doubles);
        }
        if let Numbers::Double(doubles) = &mut self.numbers {
            doubles.push(value);
        }
    }

    /// Appends a missing value, as it was written.
    pub fn push_missing(&mut self, value: &str) {
        self.gaps.add(value);
    }

    /// Appends bytes.
    #[cfg(feature = "parquet")]
    pub fn extend_bytes(&mut self, values: &[u8]) {
        match &mut self.numbers {
            Numbers::Byte(bytes) => bytes.extend_from_slice(values),
            Numbers::Double(doubles) => doubles.extend(values.iter().map(|&b| f64::from(b))),
        }
        self.gaps.rows += values.len();
    }

    /// Number of rows so far.
    #[cfg(feature = "parquet")]
    pub fn rows(&self) -> usize {
        self.gaps.rows
    }

    /// The cells, when none is missing.
    pub fn finish(mut self, column: &str) -> Result<Cells> {
        self.gaps.check(column)?;
        match &mut self.numbers {
            Numbers::Byte(bytes) => bytes.shrink_to_fit(),
            Numbers::Double(doubles) => doubles.shrink_to_fit(),
        }
        Ok(Cells::Numbers(self.numbers))
    }
}

impl TextColumn {
    /// Appends a cell.
    pub fn push(&mut self, value: &str) {
        if value.is_empty() {
            return self.push_missing("");
        }
        self.gaps.rows += 1;
        self.text.push(value.to_owned());
    }

    /// Appends a missing value, as it was written.
    pub fn push_missing(&mut self, value: &str) {
        self.gaps.add(value);
    }

    /// The cells, when none is missing.
    pub fn finish(self, column: &str) -> Result<Cells> {
        self.gaps.check(column)?;
        Ok(Cells::Text(self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vaglio_core::Column;

    #[test]
    fn columns_are_stored_as_their_values_alone_say() {
        for values in [vec![0.0, 255.0], vec![0.0, 256.0], vec![1.0, -0.0], vec![3.0, 0.5, 7.0], vec![-1.0]] {
            let mut column = NumberColumn::default();
            values.iter().for_each(|&v| column.push(v));
            let cells = column.finish("x").unwrap();
            let expected = Numbers::from(values.clone());
            match (cells.numbers().unwrap(), expected.view()) {
                (Column::Byte(a), Column::Byte(b)) => assert_eq!(a, b),
                (Column::Double(a), Column::Double(b)) => {
                    assert!(a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()));
                }
                (found, expected) => panic!("{found:?} for {expected:?}"),
            }
        }
    }

    #[test]
    fn missing_values_are_counted_and_the_first_is_named() {
        let mut column = NumberColumn::default();
        [1.0, f64::NAN, 2.0, f64::NEG_INFINITY].into_iter().for_each(|v| column.push(v));
        let error = column.finish("x").unwrap_err().to_string();
        assert_eq!(error, "row 2, column `x`: NaN is not a finite number (2 such values in this column)");
        let mut column = TextColumn::default();
        ["a", ""].into_iter().for_each(|v| column.push(v));
        assert!(column.finish("x").unwrap_err().to_string().starts_with("row 2, column `x`: an empty cell"));
    }
}
