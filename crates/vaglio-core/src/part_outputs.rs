//! Values that parts report besides scores and models.

use crate::{Cause, Error, Result};
use serde::Serialize;
use serde_json::{Map, Value};

/// Values that a part reports, by name; any serializable values.
///
/// `selection.json` has them under `found`. The report shows numbers, lists, curves and tables of them. A list of
/// numbers is a curve. A list of records (structs or maps) is a table with their keys as header. Everything else is
/// shown as serialized. Names are in snake case. Numbers that are not finite become null.
///
/// # Example
/// ```
/// use vaglio_core::PartOutputs;
///
/// #[derive(serde::Serialize)]
/// struct Swap {
///     row: usize,
///     entropy: f64,
/// }
///
/// let found = PartOutputs::new("entropy", 1.25).and("swaps", vec![Swap { row: 3, entropy: 1.0 }]);
/// assert_eq!(found.to_json()?["swaps"][0]["row"], 3);
/// # Ok::<(), vaglio_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct PartOutputs(Vec<(&'static str, Result<Value>)>);

impl PartOutputs {
    /// Creates a set with one named value.
    pub fn new(name: &'static str, value: impl Serialize) -> Self {
        PartOutputs::default().and(name, value)
    }

    /// Adds a value; replaces an earlier one of the same name.
    #[must_use]
    pub fn and(mut self, name: &'static str, value: impl Serialize) -> Self {
        self.put(name, value);
        self
    }

    /// Adds a value in place; replaces an earlier one of the same name.
    pub fn put(&mut self, name: &'static str, value: impl Serialize) {
        let fault = |error| Error::setting("found", Cause::after(&format!("`{name}` cannot be written"), error));
        self.0.retain(|(other, _)| *other != name);
        self.0.push((name, serde_json::to_value(value).map_err(fault)));
    }

    /// The values as JSON.
    ///
    /// # Errors
    /// Returns [`Error::Setting`] with the name of a value that cannot be serialized, such as a map whose keys are not
    /// text.
    pub fn to_json(&self) -> Result<Map<String, Value>> {
        self.0.iter().map(|(name, value)| Ok(((*name).to_owned(), value.clone()?))).collect()
    }
}
