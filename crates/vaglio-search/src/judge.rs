//! Scale of the losses that choose size and λ.

use vaglio_core::setting;

/// A scale of targets that are mapped.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Judge {
    /// The units of the data.
    #[default]
    Original,
    /// The mapped targets.
    Mapped,
}

impl Judge {
    pub(crate) fn is_original(&self) -> bool {
        *self == Judge::Original
    }

    /// The other scale.
    #[must_use]
    pub fn other(self) -> Self {
        if self.is_original() { Judge::Mapped } else { Judge::Original }
    }
}
