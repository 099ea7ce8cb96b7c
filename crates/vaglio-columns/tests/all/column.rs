//! Equality of columns.

use vaglio_columns::Column;

#[test]
fn equal_entries_are_equal_columns_in_whichever_types() {
    let (bytes, doubles) = ([0, 7, 255], [-0.0, 7.0, 255.0]);
    assert_eq!(Column::Byte(&bytes), Column::Double(&doubles));
    assert_eq!(Column::Double(&doubles), Column::Double(&[0.0, 7.0, 255.0]));
    assert_ne!(Column::Byte(&bytes), Column::Double(&doubles[..2]));
    assert_ne!(Column::Double(&[0.5]), Column::Double(&[0.25]));
}
