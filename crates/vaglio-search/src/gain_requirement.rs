//! Test of whether columns explain more of the target than noise does.

use serde::{Serialize, Serializer, de};
use vaglio_core::MixedSetting;

/// The share of tables of pure noise from which columns may be taken in place of none; `None` makes no test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequireGain(Option<f64>);

impl Default for RequireGain {
    fn default() -> Self {
        RequireGain(Some(0.05))
    }
}

impl From<Option<f64>> for RequireGain {
    fn from(level: Option<f64>) -> Self {
        RequireGain(level)
    }
}

impl RequireGain {
    /// The lowest level; it needs 9999 shuffles.
    pub(crate) const LEAST: f64 = 0.001;

    /// The level of the test, if there is one.
    pub fn level(self) -> Option<f64> {
        self.0
    }
}

impl Serialize for RequireGain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(level) => serializer.serialize_f64(level),
            None => serializer.serialize_str("never"),
        }
    }
}

vaglio_core::mixed_setting!(RequireGain);

impl MixedSetting for RequireGain {
    const EXPECTED: &'static str = "a level such as 0.05, or `never`";

    fn from_text<E: de::Error>(word: &str) -> Result<Self, E> {
        match word {
            "never" => Ok(RequireGain(None)),
            // Words of the older setting `unless`.
            "auto" | "empty" => Ok(RequireGain::default()),
            _ => Err(E::custom(Self::EXPECTED)),
        }
    }

    fn from_number<E: de::Error>(level: f64) -> Result<Self, E> {
        Ok(RequireGain(Some(level)))
    }
}

vaglio_core::schema!(RequireGain => {
    "description": "The share of tables of pure noise from which columns may be taken; `never` makes no test.",
    "anyOf": [
        {"type": "number", "minimum": RequireGain::LEAST, "maximum": 0.5},
        {"type": "string", "enum": ["never"]},
    ],
});
