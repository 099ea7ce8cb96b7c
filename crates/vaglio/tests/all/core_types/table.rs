use vaglio_core::{Cells, Numbers};

#[test]
fn dates_are_written_as_in_iso_8601() {
    let dates = Cells::Dates(vec![0.0, -86400.0, 951_782_400.0, 1e9 + 0.25, f64::NAN]);
    let labels: Vec<String> = (0..5).map(|row| dates.label(row)).collect();
    assert_eq!(labels, ["1970-01-01", "1969-12-31", "2000-02-29", "2001-09-09T01:46:40.250", ""]);
    assert_eq!(dates.missing(), Some((4, 1)));
}

#[test]
fn cells_that_are_missing_are_found() {
    let numbers = Cells::Numbers(Numbers::from(vec![1.0, f64::NAN, 2.0, f64::NAN]));
    assert_eq!(numbers.missing(), Some((1, 2)));
    assert_eq!((numbers.label(0), numbers.label(1)), ("1".into(), String::new()));
    assert_eq!(Cells::Text(vec!["a".into(), String::new()]).missing(), Some((1, 1)));
    assert_eq!(Cells::Numbers(Numbers::from(vec![1u8, 2])).missing(), None);
}
