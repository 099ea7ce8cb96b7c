//! Which columns are kept in single precision.

use super::Source;
use std::collections::HashSet;
use std::sync::Arc;

/// The columns whose numbers are kept in single precision while they are read: none, or all but some.
#[derive(Debug, Clone, Default)]
pub(super) struct Singles(Option<Arc<HashSet<String>>>);

impl Singles {
    /// All but these.
    pub fn all_but(names: &HashSet<String>) -> Self {
        Singles(Some(Arc::new(names.clone())))
    }

    /// Whether a column is one of them.
    pub fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_some_and(|others| !others.contains(name))
    }
}

impl Source {
    /// The same, of which numbers are kept in single precision while they are read, at four bytes in place of eight; those of the
    /// columns `but` stay doubles, and so do sparse files.
    #[must_use]
    pub fn in_single(mut self, but: &HashSet<String>) -> Self {
        let singles = Singles::all_but(but);
        self.parts.iter_mut().for_each(|part| part.keep_in_single(&singles));
        self
    }
}
