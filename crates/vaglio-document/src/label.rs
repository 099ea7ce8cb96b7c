//! Class labels, which may look like numbers.

use super::node::{Meaning, Node};
use serde::de::Error;
use std::borrow::Cow;
use vaglio_core::numerals::normalize_number;
use vaglio_core::{MixedSetting, setting};

/// A class label as text. Numbers are normalized like data cells, so that `5`, `5.0` and `"5"` are one label.
#[setting(schema)]
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct Label(pub String);

/// Newtype name that asks the document's reader for a scalar as it was written.
pub const LABEL: &str = "Label";

/// The label written as a scalar; `None` for a null, a list and a map.
pub fn label_text(node: &Node) -> Option<String> {
    let text = node.text()?;
    match node.meaning()? {
        Meaning::Null => None,
        Meaning::Int(number) => Some(number.to_string()),
        Meaning::Float(number) => Some(normalize_number(text).map_or_else(|| number.to_string(), Cow::into_owned)),
        Meaning::Bool(_) | Meaning::Text(_) => Some(text.to_owned()),
    }
}

vaglio_core::mixed_setting!(Label);

impl MixedSetting for Label {
    const EXPECTED: &'static str = "a label: text or a number";
    const NEWTYPE: &'static str = LABEL;

    fn from_text<E: Error>(text: &str) -> Result<Self, E> {
        Ok(Label(text.to_owned()))
    }

    fn from_whole<E: Error>(number: i128) -> Result<Self, E> {
        Ok(Label(number.to_string()))
    }

    fn from_number<E: Error>(number: f64) -> Result<Self, E> {
        Ok(Label(number.to_string()))
    }
}
