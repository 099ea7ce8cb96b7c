//! Duplicate groups.

use std::collections::HashMap;
use vaglio_core::{Column, Design, Feature};
use vaglio_kernels::duplicates::first_equal;

/// Index of the first group with equal columns, of each group. Cost O(rows · columns).
pub(crate) fn originals(groups: &[Vec<Feature>], design: &Design) -> Vec<usize> {
    let columns: Vec<Column<'_>> = groups.iter().flatten().map(|&feature| design.column(feature)).collect();
    let first = first_equal(&columns);
    let (mut known, mut rest) = (HashMap::new(), &first[..]);
    let original = |(group, columns): (usize, &Vec<Feature>)| {
        let (own, others) = rest.split_at(columns.len());
        rest = others;
        *known.entry(own).or_insert(group)
    };
    groups.iter().enumerate().map(original).collect()
}
