use vaglio_core::{clip, escape_controls, short, table_number};

#[test]
fn numbers_have_few_digits_and_are_never_zero() {
    let expected = [
        (8.480_07e-10, "8.4801e-10"),
        (-1e-5, "-1e-5"),
        (1e-4, "0.0001"),
        (0.000_123_456_78, "0.00012346"),
        (0.5, "0.5"),
        (2890.0, "2890"),
        (123_456.7, "123457"),
        (999_999.9, "1e6"),
        (5_924_024.0, "5.924e6"),
        (9_999_999.0, "1e7"),
        (1e200, "1e200"),
        (f64::MIN_POSITIVE, "2.2251e-308"),
        (0.0, "0"),
        (-0.0, "0"),
        (f64::INFINITY, "infinite"),
    ];
    expected.into_iter().for_each(|(value, text)| assert_eq!(short(value), text));
    assert_eq!([0.5, 1e-9, -13.2].map(table_number), ["0.50000", "1.0000e-9", "-13.200"]);
}

#[test]
fn what_acts_is_escaped_and_the_rest_stays() {
    for (text, expected) in [
        ("città 日本 👩‍👩‍👧 \\n", "città 日本 👩‍👩‍👧 \\n"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\u{1b}]0;x\u{7}\u{9b}", "\\u{1b}]0;x\\u{7}\\u{9b}"),
        ("\u{202e}cba\u{2069}", "\\u{202e}cba\\u{2069}"),
        ("", ""),
    ] {
        assert_eq!(escape_controls(text), expected);
    }
}

#[test]
fn text_is_cut_to_a_length_of_characters() {
    assert_eq!(clip("abcdef", 4), "abc…");
    assert_eq!(clip("äöüß", 4), "äöüß");
    assert_eq!(clip("", 0), "");
}
