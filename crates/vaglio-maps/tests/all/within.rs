//! Columns within series.

use crate::{fit_map, numbers, table};
use vaglio_maps::maps::WithinSeries;

#[test]
fn memory_is_that_of_doubles_also_for_bytes() {
    let columns = [("bytes", 0.0), ("doubles", 0.5)].map(|(name, last)| (name, numbers(&[0.0, 1.0, 1.0, last])));
    let table = table(columns).with_series(vec![0, 0, 1, 1]).unwrap();
    let fitted = fit_map(&WithinSeries::default(), &table, None).unwrap();
    // The doubles take the memory of the column before.
    assert_eq!(fitted.growth(&table), 4.0 * 8.0);
}
