//! Weighted statistics: a row of weight 2 counts like two rows, a row of weight 0 is ignored.

/// Values with positive weight that are not missing, as (weight, value), with weights divided by a power of two.
pub fn counting(values: &[f64], weights: Option<&[f64]>) -> Vec<(f64, f64)> {
    let weight_unit = unit(weights.unwrap_or(&[1.0]).iter().copied());
    let weight = |row: usize| weights.map_or(1.0, |w| w.get(row).copied().unwrap_or(0.0) / weight_unit);
    let counts = |(w, x): &(f64, f64)| *w > 0.0 && !x.is_nan();
    values.iter().enumerate().map(|(row, &x)| (weight(row), x)).filter(counts).collect()
}

/// Values with positive weight that are not missing, as (weight, value), sorted by value. Weights are divided by a
/// power of two. Cost O(rows · log rows).
pub fn in_order(values: &[f64], weights: Option<&[f64]>) -> Vec<(f64, f64)> {
    let mut rows = counting(values, weights);
    rows.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    rows
}

/// Whether the row has positive weight.
pub fn counts(weights: Option<&[f64]>, row: usize) -> bool {
    weights.is_none_or(|weights| weights.get(row).is_some_and(|w| *w > 0.0))
}

/// Largest power of two at or below the largest magnitude, and at least the smallest normal double.
pub fn unit(values: impl Iterator<Item = f64>) -> f64 {
    let largest = values.map(f64::abs).fold(f64::MIN_POSITIVE, f64::max);
    f64::from_bits(largest.to_bits() & f64::INFINITY.to_bits())
}

/// Weighted mean of `value` over rows of positive weight.
pub fn mean_of(rows: &[(f64, f64)], value: impl Fn(f64) -> f64) -> f64 {
    rows.iter().map(|(w, x)| w * value(*x)).sum::<f64>() / total(rows)
}

fn total(rows: &[(f64, f64)]) -> f64 {
    rows.iter().map(|(w, _)| w).sum()
}

/// A power of two near the largest value, and the mean divided by it. Avoids over- and underflow; `extremes` are the
/// smallest and largest value.
pub fn center(rows: &[(f64, f64)], extremes: [f64; 2]) -> (f64, f64) {
    let unit = unit(extremes.into_iter());
    let rough = mean_of(rows, |x| x / unit);
    (unit, rough + mean_of(rows, |x| x / unit - rough))
}

/// Smallest and largest value; `None` without rows.
pub fn extremes(rows: &[(f64, f64)]) -> Option<[f64; 2]> {
    let (_, first) = *rows.first()?;
    Some(rows.iter().fold([first; 2], |[least, greatest], (_, x)| [least.min(*x), greatest.max(*x)]))
}

/// Weighted mean; exact for equal values.
pub fn mean(rows: &[(f64, f64)]) -> Option<f64> {
    let extremes = extremes(rows)?;
    if extremes[0] == extremes[1] {
        return Some(rows[0].1);
    }
    let (unit, center) = center(rows, extremes);
    Some(center * unit)
}

/// Quantile of rows sorted by value: the smallest value with at least the share `share` of the weight at or below it,
/// or the midpoint to the next value if the share is reached exactly. A half gives the median.
pub fn quantile(rows: &[(f64, f64)], share: f64) -> Option<f64> {
    let goal = share * total(rows);
    let mut below = 0.0;
    for (at, &(w, x)) in rows.iter().enumerate() {
        below += w;
        let reached = (below - goal).abs() <= 1e-12 * goal;
        match rows.get(at + 1) {
            Some(&(_, next)) if reached => return Some(x / 2.0 + next / 2.0),
            Some(_) if below < goal => {}
            _ => return Some(x),
        }
    }
    None
}

/// Value with the largest total weight; the first of ties. `values` are sorted.
pub fn most_frequent<T: PartialEq + Copy>(values: impl Iterator<Item = (f64, T)>) -> Option<T> {
    let mut best: Option<(f64, T)> = None;
    let mut run: Option<(f64, T)> = None;
    for (w, value) in values {
        let weight = w + run.filter(|(_, last)| *last == value).map_or(0.0, |(so_far, _)| so_far);
        run = Some((weight, value));
        if best.is_none_or(|(most, _)| weight > most) {
            best = run;
        }
    }
    best.map(|(_, value)| value)
}
