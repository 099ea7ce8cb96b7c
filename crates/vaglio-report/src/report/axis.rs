//! Axes: places on the page for values, and round numbers to label.

use super::number::significant;

/// An axis: from data to the page.
pub struct Axis {
    pub from: f64,
    pub to: f64,
    pub start: f64,
    pub length: f64,
    pub logarithmic: bool,
}

impl Axis {
    /// Where a value lies on the page; values beyond the axis lie at its end.
    pub fn at(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.log10() } else { value };
        self.start + self.length * ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
    }
}

/// Round numbers inside `low..=high`, about `wanted` of them.
pub fn ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
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

/// Powers of ten inside `low..=high`, and twice and five times those over a few decades.
pub fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = (last - first).max(1);
    let multiples: &[f64] = if decades <= 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let stride = (decades as usize).div_ceil(8).max(1);
    let powers = (first..=last).step_by(stride);
    let all = powers.flat_map(|e| multiples.iter().map(move |m| m * 10f64.powi(e)));
    all.filter(|t| (low..=high).contains(t)).collect()
}

/// Labels with as many decimals as the step between ticks needs.
pub fn tick_labels(ticks: &[f64], logarithmic: bool) -> Vec<String> {
    let largest = ticks.iter().fold(0.0, |m: f64, t| m.max(t.abs()));
    let step = ticks.windows(2).map(|w| (w[1] - w[0]).abs()).fold(f64::INFINITY, f64::min);
    if logarithmic || !(1e-3..1e6).contains(&largest) || !step.is_finite() {
        return ticks.iter().map(|t| significant(*t, 6)).collect();
    }
    let decimals =
        (0..12).find(|d| (step * 10f64.powi(*d) - (step * 10f64.powi(*d)).round()).abs() < 1e-6).unwrap_or(4);
    ticks.iter().map(|t| format!("{t:.*}", decimals as usize).replace('-', "−")).collect()
}

/// Round whole numbers from `first` to `last`, about `wanted` of them; every one when there are few.
pub fn whole_ticks(first: usize, last: usize, wanted: usize) -> Vec<usize> {
    let span = last.saturating_sub(first);
    if span <= wanted + 2 {
        return (first..=last).collect();
    }
    let raw = span / wanted.max(1);
    let step = (0..18).flat_map(|e| [1, 2, 5].map(|m| m * 10usize.pow(e))).find(|s| *s >= raw.max(1)).unwrap_or(raw);
    let mut out: Vec<usize> = (first.div_ceil(step)..=last / step).map(|k| k * step).collect();
    if out.first().is_none_or(|t| t - first > step / 2) {
        out.insert(0, first);
    }
    out
}

/// Powers of ten of whole numbers from `first` to `last`, and twice and five times those where there is room for them.
pub fn whole_log_ticks(first: usize, last: usize, wanted: usize) -> Vec<usize> {
    let inside = |multiples: &[usize]| -> Vec<usize> {
        let all = (0..18).flat_map(|e| multiples.iter().map(move |m| m * 10usize.pow(e)));
        all.filter(|t| (first..=last).contains(t)).collect()
    };
    Some(inside(&[1, 2, 5])).filter(|all| all.len() <= wanted).unwrap_or_else(|| inside(&[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(2890.0, 3840.0, 5), [3000.0, 3200.0, 3400.0, 3600.0, 3800.0]);
        assert_eq!(ticks(-0.1, 1.0, 6), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(log_ticks(5e-4, 2e3), [1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(whole_ticks(1, 3, 10), [1, 2, 3]);
        assert_eq!(whole_ticks(1, 100, 10)[..3], [1, 10, 20]);
        assert_eq!(whole_ticks(1, 1, 10), [1]);
        assert_eq!(whole_log_ticks(1, 5966, 12), [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]);
        assert_eq!(whole_log_ticks(1, 5966, 6), [1, 10, 100, 1000]);
    }

    #[test]
    fn labels_tell_ticks_apart() {
        assert_eq!(tick_labels(&[0.0, 0.25, 0.5], false), ["0.00", "0.25", "0.50"]);
        assert_eq!(tick_labels(&[1e-6, 1e3], true), ["10⁻⁶", "1000"]);
    }
}
