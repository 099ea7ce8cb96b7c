//! Entries that another library holds.

use std::sync::Arc;
use vaglio_columns::{Column, Columns, Numbers};

#[test]
fn foreign_entries_stay_where_they_are_and_are_held() {
    let values: Arc<[f64]> = Arc::new([0.5, -1.0, 3.0]);
    let numbers = Numbers::from_owner(Arc::clone(&values));
    let mut columns = Columns::new(3);
    columns.push(numbers.clone());
    columns.push(Numbers::from(values.to_vec()));
    let Column::Double(view) = columns.column(0) else { panic!("it is of doubles") };
    assert!(std::ptr::eq(view, &*values) && columns.column(0) == columns.column(1));
    assert_eq!(columns.bytes(), 2 * 24);
    for rows in [columns.view_rows(&[2, 0]), columns.select_rows(&[2, 0])] {
        assert_eq!(*rows.column(0).values(), [3.0, 0.5]);
    }
    let single = |columns: &Columns, index: usize| columns.clone().in_single().column(index).values().into_owned();
    assert_eq!(single(&columns, 0), single(&columns, 1));
    assert!(matches!(numbers.clone().in_single(), Numbers::Single(_)));
    assert_eq!(numbers.map(|x| 2.0 * x).view(), Column::Double(&[1.0, -2.0, 6.0]));
    drop(columns);
    assert_eq!(Arc::strong_count(&values), 2);
    drop(numbers);
    assert_eq!(Arc::strong_count(&values), 1);
    let whole = Numbers::from_owner(vec![0.0, 255.0, 7.0]);
    assert!(matches!(whole, Numbers::Byte(_)), "{whole:?}");
    assert!(matches!(Numbers::from_owner(vec![7.0, -0.0]), Numbers::Foreign(_)));
}
