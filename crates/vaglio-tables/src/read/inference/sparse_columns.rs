//! Columns of sparse files: always numbers.

use super::super::column_builder::MissingCells;
use super::{Hint, Outcome, as_text, done, kind_fault};
use crate::InferredType;
use vaglio_core::{Cells, Column, SparseNumbers};

/// Cells of a sparse column with their type; no cell is missing.
pub(super) fn settle_sparse(name: &str, column: SparseNumbers, hint: Hint) -> Outcome {
    let cells = Cells::Numbers(column.into());
    let cells = match hint {
        Hint::Date => return Err(kind_fault(&cells, "is a number")),
        _ if hint.wants_text() => as_text(&cells),
        _ => cells,
    };
    Ok(Some(done(name, cells, hint, MissingCells::default(), None)))
}

/// Inferred type of a sparse column. Cost O(entries).
pub(super) fn taken_sparse(column: &SparseNumbers) -> InferredType {
    match Column::Sparse(column.view()).is_constant() {
        true => InferredType::Constant,
        false => InferredType::Number,
    }
}
