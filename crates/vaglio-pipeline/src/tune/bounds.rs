//! Bounds of a tuned parameter.

use serde_json::{Value, json};
use vaglio_core::{Error, Result, setting};

/// Whole numbers up to this are exact.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Where a parameter is searched.
#[setting]
#[derive(Copy, PartialEq)]
pub struct Bounds {
    /// The smallest value.
    pub from: f64,
    /// The largest value.
    pub to: f64,
    /// Scale of an even search: the value or its logarithm.
    #[serde(default)]
    pub scale: Scale,
    /// Whether values are whole numbers.
    #[serde(default)]
    pub integer: bool,
}

/// Scale of an even search.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// The value.
    #[default]
    Linear,
    /// Logarithm.
    Log,
}

impl Bounds {
    /// Between two values, evenly.
    pub fn linear(from: f64, to: f64) -> Self {
        Bounds { from, to, scale: Scale::Linear, integer: false }
    }

    /// Between two positive values, evenly in the logarithm.
    pub fn log(from: f64, to: f64) -> Self {
        Bounds { from, to, scale: Scale::Log, integer: false }
    }

    /// Restricts the bounds to whole numbers.
    #[must_use]
    pub fn integer(self) -> Self {
        Bounds { integer: true, ..self }
    }

    /// Rejects bounds without a range between them.
    pub fn check(&self) -> Result<()> {
        for (field, value) in [("from", self.from), ("to", self.to)] {
            if !value.is_finite() {
                return Err(Error::setting(field, format!("{value} is not a finite number")));
            }
            if self.integer && !(value.fract() == 0.0 && value.abs() <= LARGEST_WHOLE) {
                return Err(Error::setting(field, format!("{value} is not a whole number, and `integer` is true")));
            }
        }
        if self.from >= self.to {
            return Err(Error::setting(
                "to",
                format!("from is {} and to is {}; from must be smaller", self.from, self.to),
            ));
        }
        if self.scale == Scale::Log && self.from <= 0.0 {
            return Err(Error::setting("from", format!("{} is not positive, and the scale is `log`", self.from)));
        }
        Ok(())
    }

    /// Value at a position in \[0, 1\]; positions outside are clamped.
    pub fn at(&self, place: f64) -> f64 {
        // In powers of ten, so that round bounds give round values.
        let value = match (place, self.scale) {
            (u, _) if u <= 0.0 => self.from,
            (u, _) if u >= 1.0 => self.to,
            (u, Scale::Linear) => self.from * (1.0 - u) + self.to * u,
            (u, Scale::Log) => 10f64.powf(self.from.log10() * (1.0 - u) + self.to.log10() * u),
        };
        let value = if self.integer { value.round() } else { value };
        value.clamp(self.from, self.to)
    }

    /// Position of a value in \[0, 1\]; 0.5 for no value, or one outside the bounds.
    pub fn place(&self, value: Option<f64>) -> f64 {
        let Some(value) = value.filter(|v| (self.from..=self.to).contains(v)) else { return 0.5 };
        // Halves, so that a difference does not overflow.
        let share = |from: f64, to: f64, v: f64| (v / 2.0 - from / 2.0) / (to / 2.0 - from / 2.0);
        match self.scale {
            Scale::Linear => share(self.from, self.to, value),
            Scale::Log => share(self.from.log10(), self.to.log10(), value.log10()),
        }
    }

    /// Smallest distance of distinct positions; for whole numbers, one over their count.
    pub fn grain(&self) -> f64 {
        match (self.integer, self.scale) {
            (false, _) => 0.0,
            (true, Scale::Linear) => 1.0 / (self.to - self.from),
            (true, Scale::Log) => (1.0 + 1.0 / self.from).ln() / (self.to / self.from).ln(),
        }
    }

    /// Converts a value to JSON for the learner's settings.
    pub fn number(&self, value: f64) -> Value {
        if self.integer { json!(value as i64) } else { json!(value) }
    }
}
