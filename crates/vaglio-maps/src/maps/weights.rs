//! Weighted statistics: a row of weight 2 counts like two rows, a row of weight 0 is ignored.

/// Values with positive weight that are not missing, as (weight, value), with weights divided by a power of two.
pub fn counting(values: &[f64], weights: Option<&[f64]>) -> Vec<(f64, f64)> {
    let weight_unit = unit(weights.unwrap_or(&[1.0]).iter().copied());
    let weight = |row: usize| weights.map_or(1.0, |w| w.get(row).copied().unwrap_or(0.0) / weight_unit);
    let counts = |(w, x): &(f64, f64)| *w > 0.0 && !x.is_nan();
    values.iter().enumerate().map(|(row, &x)| (weight(row), x)).filter(counts).collect()
}

/// Like [`counting`], sorted by value. Cost O(rows · log rows).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_weight_two_is_that_row_twice() {
        let values = [3.0, f64::NAN, 1.0, 2.0, 100.0, 2.0];
        let weights = [2.0, 5.0, 1.0, 3.0, 0.0, 1.0];
        let (by_weight, by_rows) =
            (in_order(&values, Some(&weights)), in_order(&[3.0, 3.0, 1.0, 2.0, 2.0, 2.0, 2.0], None));
        assert_eq!(mean(&by_weight), mean(&by_rows));
        for share in [0.0, 1.0 / 7.0, 0.25, 0.5, 5.0 / 7.0, 0.9, 1.0] {
            assert_eq!(quantile(&by_weight, share), quantile(&by_rows, share), "{share}");
        }
    }

    #[test]
    fn medians_are_the_middle_or_between_two() {
        let median = |values: &[f64]| quantile(&in_order(values, None), 0.5);
        assert_eq!(median(&[5.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[5.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(median(&[f64::NAN]), None);
        assert_eq!(quantile(&in_order(&[1.0, 2.0, 3.0], None), 0.0), Some(1.0));
        assert_eq!(quantile(&in_order(&[1.0, 2.0, 3.0], None), 1.0), Some(3.0));
    }

    #[test]
    fn the_first_of_the_most_frequent_wins() {
        let of = |values: &[&'static str]| most_frequent(values.iter().map(|value| (1.0, *value)));
        assert_eq!(of(&["a", "b", "b", "c", "c"]), Some("b"));
        assert_eq!(of(&[]), None);
        assert_eq!(most_frequent([(1.0, 1), (0.5, 2), (0.75, 2)].into_iter()), Some(2));
    }

    #[test]
    fn means_of_large_and_equal_values_are_theirs() {
        assert_eq!(mean(&counting(&[f64::MAX, f64::MAX], None)), Some(f64::MAX));
        assert_eq!(mean(&counting(&[0.1, 0.1, 0.1], None)), Some(0.1));
        assert_eq!(mean(&counting(&[1e308, -1e308, 1e308, -1e308], None)), Some(0.0));
        assert_eq!(mean(&[]), None);
    }
}
