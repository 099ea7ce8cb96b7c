//! What happens at a knot of a path.

use super::End;
use super::on_path::OnPath;

/// What happens at a knot; `T` is what is known of a column that enters.
#[derive(Debug)]
pub(super) enum Event<T> {
    /// A column comes in; the others that could at the same λ.
    Enter { feature: usize, tied: Vec<usize>, known: T },
    /// The column at a place leaves.
    Leave { place: usize },
    /// The path is over.
    End(End),
}

impl<T> Event<T> {
    /// The column that enters.
    pub fn entering(&self) -> Option<usize> {
        if let Event::Enter { feature, .. } = self { Some(*feature) } else { None }
    }

    /// The column on the path that leaves.
    pub fn leaving(&self, on: &OnPath) -> Option<usize> {
        if let Event::Leave { place } = self { Some(on.active[*place].feature) } else { None }
    }
}
