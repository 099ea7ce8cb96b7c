//! Text columns under construction.

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
