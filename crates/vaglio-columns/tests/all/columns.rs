//! Columns and views of their rows.

use vaglio_columns::Columns;

#[test]
fn whole_numbers_to_255_take_a_byte() {
    for (values, bytes) in [(vec![0.0, 255.0], 2), (vec![0.0, 256.0], 16), (vec![1.0, -0.0], 16), (vec![0.5], 8)] {
        let mut columns = Columns::new(values.len());
        columns.push(values.clone());
        assert_eq!((columns.bytes(), &*columns.column(0).values()), (bytes, &values[..]));
    }
}

#[test]
fn rows_are_copied_when_a_column_is_read() {
    let mut columns = Columns::new(4);
    columns.push(vec![0.5, 1.5, 2.5, 3.5]);
    columns.push(vec![7.0, 7.0, 7.0, 9.0]);
    let view = columns.view_rows(&[3, 1, 0]);
    let reordered = view.view_rows(&[2, 1]);
    assert_eq!((view.rows(), view.bytes()), (3, 0));
    assert!(reordered.is_constant(1) && !view.is_constant(1) && !reordered.is_constant(0));
    assert_eq!(*reordered.column(0).values(), [0.5, 1.5]);
    assert_eq!((reordered.bytes(), view.bytes()), (16, 0));
    // Views keep the identity of their source rows, whether or not columns were copied.
    for (chosen_columns, rows) in
        [(&view, &[3, 1, 0][..]), (&reordered, &[0, 1]), (&view.copied().view_rows(&[2]), &[0])]
    {
        let (whole, chosen) = chosen_columns.shared_selection().unwrap();
        assert_eq!((chosen, whole[1]), (rows, columns.column(1)));
        let expected = columns.select_rows(rows);
        assert!(expected.shared_selection().is_none());
        (0..2).for_each(|c| assert_eq!(chosen_columns.column(c), expected.column(c)));
    }
    assert_eq!(view.bytes(), 3 * 9);
    let mut more = view.clone();
    more.push(vec![1.0; 3]);
    assert!(more.shared_selection().is_none() && Columns::new(3).shared_selection().is_none());
}
