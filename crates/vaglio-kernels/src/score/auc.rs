//! Pairs of a row of each class in the wrong order (1 − AUC), by a radix sort of the predictions.
//!
//! A value v gets the key (v − least)·(2^b − 1)/(largest − least), rounded to a whole number. 2^b is at least four
//! times the squared number of rows, up to 2^22, so few keys are equal. Keys are sorted digit by digit. Rows of equal
//! keys are sorted by value: few by comparisons, many recursively with keys over their own range. P. McIlroy, K. Bostic
//! and M. D. McIlroy, *Engineering radix sort*, Computing Systems 6 (1993).

use super::Scorer;
use crate::f64x8::F64x8;
use crate::tolerance::TIED_PREDICTION;

impl Scorer {
    /// Share of pairs of a row of each class that predictions order wrongly, ties counted half; NaN if a prediction is
    /// NaN.
    ///
    /// Sums n·(P + p/2) over ties from the lowest. Their positives and negatives weigh p and n, the positives below P.
    /// A tie comprises all rows within [`TIED_PREDICTION`] of its lowest. Cost that of [`ascending`].
    pub(super) fn wrong_pairs(&self, predictions: &[f64]) -> f64 {
        let rows = ascending(predictions, &self.targets.scaled[0], TIED_PREDICTION);
        // NaN sorts first or last.
        if [rows.first(), rows.last()].into_iter().flatten().any(|row| predictions[row.row()].is_nan()) {
            return f64::NAN;
        }
        let (mut pairs, mut positives, mut negatives) = (0.0, 0.0, 0.0);
        let (mut plus, mut minus, mut limit) = (0.0, 0.0, f64::NEG_INFINITY);
        for row in rows {
            let (is_positive, row) = (f64::from(u8::from(row.is_marked())), row.row());
            if predictions[row] > limit {
                // Pairs of each negative with the positives below it.
                pairs += minus * (positives + 0.5 * plus);
                positives += plus;
                negatives += minus;
                (plus, minus, limit) = (0.0, 0.0, predictions[row] + TIED_PREDICTION);
            }
            // Without a branch, which would be unpredictable.
            let (weight, positive_weight) = (self.targets.weight(row), is_positive * self.targets.weight(row));
            plus += positive_weight;
            minus += weight - positive_weight;
        }
        pairs += minus * (positives + 0.5 * plus);
        pairs / ((positives + plus) * (negatives + minus))
    }
}

/// Maximum bits of a digit; a key has two. Counts of all digits stay in the first-level cache.
const DIGIT: u32 = 11;
const DIGITS: usize = 1 << DIGIT;

/// Number of rows that comparisons sort as fast.
const FEW: usize = 48;

/// Maximum recursion depth before comparisons sort the rest: each range is 2^22 times as narrow as the one before.
const NESTED: u32 = 4;

/// 2^52: doubles of this size are whole numbers.
const WHOLE: f64 = (1u64 << 52) as f64;

/// A row index in the lower bits, then its mark, and its key above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MarkedRow(u64);

const MARK: u32 = 64 - 2 * DIGIT - 1;
const KEY: u32 = MARK + 1;

impl MarkedRow {
    #[inline(always)]
    pub fn row(self) -> usize {
        (self.0 & ((1 << MARK) - 1)) as usize
    }

    #[inline(always)]
    pub fn is_marked(self) -> bool {
        self.0 >> MARK & 1 == 1
    }

    #[inline(always)]
    fn key(self) -> u64 {
        self.0 >> KEY
    }
}

/// Sorts rows by value as by [`f64::total_cmp`], except that zeros of both signs are equal; stable for equal values. A
/// row is marked if its mark is positive.
///
/// Groups of rows within `tied` of each other and farther from all others keep their order too. Cost O(m) unless values
/// crowd about many points, else O(m log m).
fn ascending(values: &[f64], marks: &[f64], tied: f64) -> Vec<MarkedRow> {
    let marked = |(row, mark): (usize, &f64)| MarkedRow(u64::from(*mark > 0.0) << MARK | row as u64);
    let mut rows: Vec<MarkedRow> = marks.iter().enumerate().map(marked).collect();
    sort(values, tied, 0, &mut rows, values);
    rows
}

/// Sorts all rows, or recursively, `nested` deep, rows of equal keys; `own` has their values in the given order.
fn sort(values: &[f64], tied: f64, nested: u32, rows: &mut [MarkedRow], own: &[f64]) {
    let (least, largest) = range(own);
    if rows.is_empty() || least == largest {
        return;
    }
    let bits = (rows.len().ilog2() + 2).min(DIGIT);
    let scale = ((1u64 << (2 * bits)) - 1) as f64 / (largest - least);
    // False if a value is not finite or the range overflows.
    let has_keys = scale.is_finite() && scale > 0.0 && rows.len() <= u32::MAX as usize;
    if !has_keys || rows.len() <= FEW || nested == NESTED {
        return rows.sort_by(|a, b| values[a.row()].total_cmp(&values[b.row()]));
    }
    for (row, value) in rows.iter_mut().zip(own) {
        let key = ((value - least) * scale + WHOLE).to_bits();
        row.0 = key << KEY | row.0 & ((1 << KEY) - 1);
    }
    by_keys(rows, bits);
    // Key distance that implies values more than `tied` apart.
    let distance = ((tied * scale) as u64).saturating_add(2);
    let (mut start, mut before) = (0, None);
    while start < rows.len() {
        let key = rows[start].key();
        let end = start + rows[start..].iter().take_while(|row| row.key() == key).count();
        if end > start + 1 {
            let far = |other: Option<u64>| other.is_none_or(|other| other.abs_diff(key) >= distance);
            let is_alone = nested == 0 && far(before) && far(rows.get(end).map(|row| row.key()));
            sort_equal_keys(values, tied, nested, &mut rows[start..end], is_alone);
        }
        (start, before) = (end, Some(key));
    }
}

/// Sorts rows of equal keys, unless they form an isolated tie.
fn sort_equal_keys(values: &[f64], tied: f64, nested: u32, rows: &mut [MarkedRow], is_alone: bool) {
    if let [a, b] = rows {
        if values[a.row()] > values[b.row()] {
            std::mem::swap(a, b);
        }
        return;
    }
    let own: Vec<f64> = rows.iter().map(|row| values[row.row()]).collect();
    let (least, largest) = range(&own);
    if !(is_alone && largest - least <= 0.5 * tied) {
        sort(values, tied, nested + 1, rows, &own);
    }
}

/// Least and largest value; the largest is NaN if a value is not finite.
fn range(values: &[f64]) -> (f64, f64) {
    // The largest value is the least of the negatives; a value that is not finite times 0 is NaN.
    let (mut least, mut negative, mut zero) = (F64x8::INFINITY, F64x8::INFINITY, F64x8::ZERO);
    let mut take = |value: F64x8| {
        least = value.min(least);
        negative = (F64x8::ZERO - value).min(negative);
        zero = zero + value * F64x8::ZERO;
    };
    let (eights, rest) = values.as_chunks();
    for eight in eights {
        take(F64x8::load(eight));
    }
    take(F64x8::part(rest, values.first().copied().unwrap_or(0.0)));
    (least.least(), zero.sum() - negative.least())
}

/// Stable sort of rows by their keys. Cost O(m + 2^bits).
fn by_keys(rows: &mut [MarkedRow], bits: u32) {
    let digit = |row: MarkedRow, which: u32| (row.key() >> (which * bits)) as usize & ((1 << bits) - 1) & (DIGITS - 1);
    let mut places = [[0u32; DIGITS]; 2];
    for &row in &*rows {
        places[0][digit(row, 0)] += 1;
        places[1][digit(row, 1)] += 1;
    }
    for places in &mut places {
        let mut before = 0;
        for place in &mut places[..1 << bits] {
            before += std::mem::replace(place, before);
        }
    }
    let mut space = vec![MarkedRow(0); rows.len()];
    let mut scatter = |from: &[MarkedRow], to: &mut [MarkedRow], which: u32| {
        let places = &mut places[which as usize];
        for &row in from {
            let place = &mut places[digit(row, which)];
            to[*place as usize] = row;
            *place += 1;
        }
    };
    scatter(rows, &mut space, 0);
    scatter(&space, rows, 1);
}
