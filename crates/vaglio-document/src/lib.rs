//! Configuration text as a tree of values with their places, read into typed settings.
//!
//! The only crate that names a YAML crate.

mod compared_searches;
mod label;
mod node;
mod reader;
mod setting_path;
mod type_mismatch;
#[cfg(feature = "yaml")]
mod yaml;

pub use label::{LABEL, Label};
pub use node::Node;
pub use setting_path::key_path;
pub use type_mismatch::explain_duplicate;
#[cfg(feature = "yaml")]
pub use yaml::{LARGEST, to_yaml};

use node::NodeValue;
use vaglio_core::{Error, SourceLocation};

impl Node {
    /// The value at a dotted path; the empty path names the value itself.
    pub fn get(&self, path: &str) -> Option<&Node> {
        let (node, _, is_whole) = self.follow(path)?;
        is_whole.then_some(node)
    }

    /// The last value on a dotted path, the place of its name, if any, and whether the path ends there.
    fn follow(&self, path: &str) -> Option<(&Node, Option<&SourceLocation>, bool)> {
        let segments = setting_path::segments(path).ok()?;
        let (mut node, mut named_at, mut rest) = (self, None, &segments[..]);
        while let Some((place, child, taken)) = node.descend(rest) {
            (node, named_at, rest) = (child, Some(place), &rest[taken..]);
        }
        Some((node, named_at, rest.is_empty()))
    }

    /// The `kind` of the component at a dotted path, with its place. A bare word is its own `kind`, and a list of
    /// searches has the kind `chain`.
    pub fn kind(&self, path: &str) -> Option<(&str, SourceLocation)> {
        let node = self.get(path)?;
        let is_search = path == "search" || path.starts_with("tune.search[");
        if is_search && matches!(node.value, NodeValue::List(_)) {
            return Some(("chain", node.place.clone()));
        }
        let (_, kind) = node.child("kind")?;
        Some((kind.word()?, kind.place.clone()))
    }

    /// Adds to an error the place of its setting, or the note that the file does not have the setting.
    pub fn locate(&self, mut error: Error) -> Error {
        if error.place().is_some() {
            return error;
        }
        let place = error.field().and_then(|field| self.location(field));
        let is_absent = error.field().is_some_and(|field| !field.starts_with('-') && self.get(field).is_none());
        if let (Error::Setting { message, .. }, true) = (&mut error, is_absent) {
            *message = message.clone().reword(|message| format!("{message} (not in the file)"));
        }
        error.at(place)
    }

    /// Place of the value at a dotted path; if absent, of the nearest key above it, or else of the file.
    pub fn location(&self, path: &str) -> Option<SourceLocation> {
        let (node, named_at, is_whole) = self.follow(path)?;
        if is_whole {
            Some(node.place.clone())
        } else {
            named_at.cloned().or_else(|| Some(SourceLocation::whole(&*self.place.file)))
        }
    }
}
