//! Columns within series.

use crate::fit_map;
use vaglio_core::{Cells, Table};
use vaglio_maps::maps::WithinSeries;

#[test]
fn memory_is_that_of_doubles_also_for_bytes() {
    let column = |name: &str, last: f64| (name.to_owned(), Cells::Numbers(vec![0.0, 1.0, 1.0, last].into()));
    let table = Table::new(vec![column("bytes", 0.0), column("doubles", 0.5)]).unwrap();
    let table = table.with_series(vec![0, 0, 1, 1]).unwrap();
    let fitted = fit_map(&WithinSeries::default(), &table, None).unwrap();
    // The doubles take the memory of the column before.
    assert_eq!(fitted.growth(&table), 4.0 * 8.0);
}
