//! Groups that are duplicates of each other.

use std::collections::BTreeMap;
use vaglio_core::{Column, Design, Feature};

/// For each group the first one whose columns are equal to its own. Cost O(rows · columns).
pub(crate) fn originals(groups: &[Vec<Feature>], design: &Design) -> Vec<usize> {
    let mut known: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
    let mut originals = Vec::with_capacity(groups.len());
    for (group, columns) in groups.iter().enumerate() {
        let alike = known.entry(columns.iter().map(|&f| fingerprint(design.column(f))).collect()).or_default();
        let same = |other: &usize| {
            let pairs = groups[*other].iter().zip(columns);
            pairs.into_iter().all(|(&a, &b)| design.column(a) == design.column(b))
        };
        let original = alike.iter().copied().find(same).unwrap_or(group);
        if original == group {
            alike.push(group);
        }
        originals.push(original);
    }
    originals
}

/// A number that equal columns share.
fn fingerprint(column: Column<'_>) -> u64 {
    let mix = |sum: u64, bits: u64| (sum.rotate_left(5) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    match column {
        // Adding 0 makes 0 of −0.
        Column::Double(values) => values.iter().fold(1, |sum, v| mix(sum, (v + 0.0).to_bits())),
        Column::Byte(values) => values.iter().fold(1, |sum, v| mix(sum, f64::from(*v).to_bits())),
    }
}
