//! Axes: positions of values on the page, and ticks at round numbers.

use super::chart::ScaleKind;
use super::number::significant;

/// Ratio of the largest to the smallest value from which on [`ScaleKind::Auto`] shows logarithms.
const FAR_APART: f64 = 60.0;

/// Maps values to positions on the page.
pub struct Axis {
    /// Ends of the axis, or their logarithms.
    from: f64,
    to: f64,
    /// Position of the first end on the page, before the distance to the other end.
    pub start: f64,
    pub length: f64,
    pub is_logarithmic: bool,
    /// Values with their labels.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Creates an axis from `low` to `high` with about `wanted` ticks; `None` if an end is not finite.
    pub fn new(kind: ScaleKind, [low, high]: [f64; 2], wanted: usize) -> Option<Self> {
        let is_logarithmic = match kind {
            ScaleKind::Log => true,
            ScaleKind::Auto => low > 0.0 && high / low > FAR_APART,
            _ => false,
        };
        let [from, to] = if is_logarithmic { [low.log10(), high.log10()] } else { [low, high] };
        // Values that differ by less than rounding lie in the middle.
        let largest = from.abs().max(to.abs());
        let flat = if largest > 0.0 { 0.1 * largest } else { 1.0 };
        let span = if to - from > 1e-9 * largest { to - from } else { flat };
        let room = match kind {
            ScaleKind::Whole => (0.03 * span).max(0.5),
            _ => 0.06 * span,
        };
        let (from, to) = (from - room, to + room);
        if !(to > from && (to - from).is_finite()) {
            return None;
        }
        let labelled = |values: Vec<f64>| {
            let labels = tick_labels(&values, is_logarithmic);
            values.into_iter().zip(labels).collect()
        };
        let ticks = match kind {
            ScaleKind::Whole => labelled(whole_ticks(low, high, wanted)),
            _ if is_logarithmic => labelled(log_ticks(low, high, wanted)),
            _ => labelled(ticks(from, to, wanted).into_iter().filter(|tick| low < 0.0 || *tick >= 0.0).collect()),
        };
        Some(Axis { from, to, start: 0.0, length: 1.0, is_logarithmic, ticks })
    }

    /// Sets the position and length of the axis on the page.
    pub fn at_position(self, start: f64, length: f64) -> Self {
        Axis { start, length, ..self }
    }

    /// Position of a value on the page; values beyond the axis are clamped to its ends.
    pub fn at(&self, value: f64) -> f64 {
        let value = if self.is_logarithmic { value.log10() } else { value };
        self.start + self.length * ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
    }

    /// Whether a value lies on the axis.
    pub fn reaches(&self, value: f64) -> bool {
        let value = if self.is_logarithmic { value.log10() } else { value };
        (self.from..=self.to).contains(&value)
    }

    /// Number of characters of the longest label.
    pub fn longest_label(&self) -> usize {
        self.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0)
    }
}

/// Round numbers inside `low..=high`, about `wanted` of them.
fn ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let raw = (high - low) / wanted.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].iter().map(|m| m * power).find(|s| *s >= raw * 0.75).unwrap_or(raw);
    if !(step.is_finite() && step > 0.0) {
        return vec![low];
    }
    let first = (low / step).ceil();
    let inside = (0..40).map(|k| (first + f64::from(k)) * step).take_while(|t| *t <= high + step * 1e-9);
    inside.map(|t| if t.abs() < step * 1e-9 { 0.0 } else { t }).collect()
}

/// Powers of ten inside `low..=high`, with twice and five times each if there are few.
fn log_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let (low, high) = (low * (1.0 - 1e-9), high * (1.0 + 1e-9));
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let inside = |multiples: &[f64]| -> Vec<f64> {
        let all = powers.clone().flat_map(|e| multiples.iter().map(move |m| m * 10f64.powi(e)));
        all.filter(|t| (low..=high).contains(t)).collect()
    };
    let all = Some(inside(&[1.0, 2.0, 5.0])).filter(|all| all.len() <= wanted).unwrap_or_else(|| inside(&[1.0]));
    let stride = all.len().div_ceil(wanted).max(1);
    all.into_iter().step_by(stride).collect()
}

/// Round whole numbers, about `wanted` of them; all if they are few.
fn whole_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    if high - low <= wanted as f64 {
        return (low as i64..=high as i64).map(|k| k as f64).collect();
    }
    ticks(low, high, wanted).into_iter().filter(|tick| tick.fract() == 0.0).collect()
}

/// Labels with as many decimals as the step between ticks needs.
fn tick_labels(ticks: &[f64], is_logarithmic: bool) -> Vec<String> {
    let largest = vaglio_core::max_abs(ticks);
    let step = ticks.windows(2).map(|w| (w[1] - w[0]).abs()).fold(f64::INFINITY, f64::min);
    if is_logarithmic || !(1e-3..1e6).contains(&largest) || !step.is_finite() {
        return ticks.iter().map(|t| significant(*t, 6)).collect();
    }
    let decimals =
        (0..12).find(|d| (step * 10f64.powi(*d) - (step * 10f64.powi(*d)).round()).abs() < 1e-6).unwrap_or(4);
    ticks.iter().map(|t| format!("{t:.*}", decimals as usize).replace('-', "−")).collect()
}
