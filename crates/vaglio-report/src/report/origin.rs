//! Where figures of rows that a selection had not seen come from.

/// Where a figure comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Outer folds, in which everything was repeated.
    Nested,
    /// The cross-validated search that chose size and λ.
    Cross,
    /// Test rows.
    Test,
}

impl Origin {
    /// The word before a figure.
    pub fn title(self) -> &'static str {
        match self {
            Origin::Nested => "nested",
            Origin::Cross => "cross-validated",
            Origin::Test => "test",
        }
    }

    /// The class in the style sheet.
    pub fn class(self) -> &'static str {
        match self {
            Origin::Nested => "nested",
            Origin::Cross => "cross",
            Origin::Test => "test",
        }
    }
}
