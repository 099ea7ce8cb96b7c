use vaglio_core::{numerals::holds, numerals::numeral};

#[test]
fn whole_numbers_that_no_double_holds_are_known() {
    for (text, is_held) in [
        ("9007199254740992", true),
        ("9007199254740993", false),
        ("-9007199254740993", false),
        ("1500000000000000060", false),
        ("1152921504606846976", true),
        ("+001152921504606846976.00", true),
        ("100000000000000000000000", true),
        ("1.5", true),
        ("1e300", true),
        ("0.1", true),
    ] {
        assert_eq!(holds(text, text.parse().unwrap()), is_held, "{text}");
    }
    assert_eq!(numeral(1_152_921_504_606_846_976.0), "1152921504606846976");
    assert_eq!([numeral(-0.0), numeral(0.1), numeral(1e300)], ["0".to_owned(), "0.1".into(), 1e300.to_string()]);
}
