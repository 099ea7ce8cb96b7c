//! Selection of columns stored in single precision.

use super::TableSource;
use std::collections::HashSet;
use std::sync::Arc;

/// Columns stored in single precision while they are read: none, or all except some.
#[derive(Debug, Clone, Default)]
pub(super) struct Singles(Option<Arc<HashSet<String>>>);

impl Singles {
    /// All columns but these.
    fn all_but(names: &HashSet<String>) -> Self {
        Singles(Some(Arc::new(names.clone())))
    }

    /// Whether a column is stored in single precision.
    pub fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_some_and(|others| !others.contains(name))
    }
}

impl TableSource {
    /// Stores numbers in single precision while they are read, four bytes instead of eight; columns in `but` and sparse
    /// files stay in doubles.
    #[must_use]
    pub fn in_single(mut self, but: &HashSet<String>) -> Self {
        let singles = Singles::all_but(but);
        self.parts.iter_mut().for_each(|part| part.reader.store_in_single(&singles));
        self
    }
}
