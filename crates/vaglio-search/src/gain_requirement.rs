//! Test of whether columns explain more of the target than noise does.

use serde::{Serialize, Serializer, de};
use vaglio_core::MixedSetting;

/// Test that columns have to pass to be taken in place of none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RequireGain {
    /// The share of tables of pure noise from which columns may be taken.
    Level(f64),
    /// No test: the rule decides alone.
    Never,
}

impl Default for RequireGain {
    fn default() -> Self {
        RequireGain::Level(0.05)
    }
}

impl RequireGain {
    /// The lowest level; it needs 9999 shuffles.
    pub(crate) const LEAST: f64 = 0.001;

    /// The level of the test, if there is one.
    pub fn level(self) -> Option<f64> {
        if let RequireGain::Level(level) = self { Some(level) } else { None }
    }
}

impl Serialize for RequireGain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            RequireGain::Level(level) => serializer.serialize_f64(*level),
            RequireGain::Never => serializer.serialize_str("never"),
        }
    }
}

vaglio_core::mixed_setting!(RequireGain);

impl MixedSetting for RequireGain {
    const EXPECTED: &'static str = "a level such as 0.05, or `never`";

    fn from_text<E: de::Error>(word: &str) -> Result<Self, E> {
        match word {
            "never" => Ok(RequireGain::Never),
            // Words of the older setting `unless`.
            "auto" | "empty" => Ok(RequireGain::default()),
            _ => Err(E::custom(Self::EXPECTED)),
        }
    }

    fn from_number<E: de::Error>(level: f64) -> Result<Self, E> {
        Ok(RequireGain::Level(level))
    }
}

vaglio_core::schema!(RequireGain => {
    "description": "The share of tables of pure noise from which columns may be taken; `never` makes no test.",
    "anyOf": [
        {"type": "number", "minimum": RequireGain::LEAST, "maximum": 0.5},
        {"type": "string", "enum": ["never"]},
    ],
});
