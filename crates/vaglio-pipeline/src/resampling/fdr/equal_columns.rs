//! Columns that equal each other up to scale and shift.

use vaglio_core::Feature;
use vaglio_kernels::sums::dot;
use vaglio_kernels::tolerance::SAME_COLUMN;
use vaglio_search::dummy_path::NormalRng;

/// Columns that equal an earlier one or its negative. Only columns with equal products with a random vector are
/// compared. Cost O(rows · columns + columns · log columns) if few are equal.
pub(super) fn equal(columns: &[Vec<f64>]) -> Vec<(Feature, Feature)> {
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let mut random = NormalRng::new(0);
    let probe: Vec<f64> = (0..rows).map(|_| random.uniform() - 0.5).collect();
    let present = columns.iter().enumerate().filter(|(_, column)| !column.is_empty());
    let mut products: Vec<(f64, Feature)> =
        present.map(|(feature, column)| (dot(column, &probe).abs(), feature)).collect();
    products.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // ‖probe‖ ≤ √rows/2, and two equal columns are at most √(2·SAME_COLUMN) apart.
    let near = (rows as f64 * SAME_COLUMN).sqrt();
    let mut first: Vec<Feature> = (0..columns.len()).collect();
    for (place, &(product, feature)) in products.iter().enumerate() {
        for &(_, before) in products[..place].iter().rev().take_while(|(other, _)| product - other <= near) {
            if 1.0 - dot(&columns[feature], &columns[before]).abs() <= SAME_COLUMN {
                let (low, high) = (first[feature].min(first[before]), first[feature].max(first[before]));
                first.iter_mut().filter(|of| **of == high).for_each(|of| *of = low);
                break;
            }
        }
    }
    first.into_iter().enumerate().filter(|(feature, first)| feature != first).collect()
}
