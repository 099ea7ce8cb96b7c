//! The stretch of values that a plot shows.

use super::{Plot, Series};

/// Values further apart than this, as a ratio, are shown as powers.
const WIDE: f64 = 60.0;

impl Plot {
    /// Every finite value of the lines.
    pub(super) fn shown(&self) -> impl Iterator<Item = f64> + '_ {
        self.series.iter().flat_map(|s| s.values.iter().flatten().copied()).filter(|v| v.is_finite())
    }

    /// Whether the vertical axis shows powers.
    pub(super) fn is_logarithmic(&self) -> bool {
        let (low, high) =
            self.shown().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), v| (low.min(v), high.max(v)));
        self.logarithmic || (low > 0.0 && low.is_finite() && high / low > WIDE)
    }

    /// The values to show, with room above and below.
    pub(super) fn range(&self, logarithmic: bool) -> Option<(f64, f64)> {
        let (low, high) = self.extremes(logarithmic)?;
        let levels = self.levels.iter().map(|l| l.value).filter(|l| reaches(low, high, *l));
        let (low, high) = levels.fold((low, high), |(low, high), level| (low.min(level), high.max(level)));
        if logarithmic {
            let room = 10f64.powf(0.06 * (high / low).log10().max(1.0));
            return Some((low / room, high * room)).filter(|(l, h)| *l > 0.0 && (h / l).is_finite());
        }
        // A flat line lies in the middle; below 1e-9 of the value it counts as flat.
        let largest = low.abs().max(high.abs());
        let flat = if largest > 0.0 { 0.1 * largest } else { 1.0 };
        let span = if high - low > 1e-9 * largest { high - low } else { flat };
        Some((low - 0.06 * span, high + 0.06 * span)).filter(|(l, h)| h > l && (h - l).is_finite())
    }

    /// The lowest and the highest point of the lines and the bands.
    fn extremes(&self, logarithmic: bool) -> Option<(f64, f64)> {
        let edges = |s: &Series| -> Vec<f64> {
            let banded = s.values.iter().zip(&s.band).filter_map(|(v, b)| v.zip(*b));
            banded.flat_map(|(v, b)| [v - b, v + b]).collect()
        };
        let bands = self.series.iter().flat_map(edges);
        let seen = |v: &f64| v.is_finite() && (!logarithmic || *v > 0.0);
        let lowest = self.shown().filter(seen).fold(f64::INFINITY, f64::min);
        // A band that reaches down to nothing does not stretch an axis of powers.
        let kept = |v: &f64| seen(v) && (!logarithmic || *v > lowest / 4.0);
        self.shown().chain(bands).filter(kept).fold(None, |range: Option<(f64, f64)>, v| {
            Some(range.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
        })
    }
}

/// Whether a level is near enough to the lines to be drawn without flattening them.
fn reaches(low: f64, high: f64, level: f64) -> bool {
    let away = (low - level).max(level - high);
    away <= 2.0 * (high - low) || high - low <= 1e-9 * level.abs()
}
