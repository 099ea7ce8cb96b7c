//! What is wrong with a cell.

/// A cell that a column cannot have.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Its row, from 0.
    pub row: usize,
    /// What stands there.
    pub value: String,
    /// How many such cells there are.
    pub count: usize,
    /// What is wrong with it.
    pub what: FaultKind,
}

/// What is wrong with a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum FaultKind {
    /// An infinity.
    NotFinite,
    /// Text where numbers are read.
    Text {
        /// What is wrong.
        wrong: String,
        /// What would mend it.
        remedy: String,
        /// Whether nearly all other cells are numbers.
        among_numbers: bool,
    },
}
