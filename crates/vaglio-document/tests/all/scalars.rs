//! Meanings of scalars.

use vaglio_core::SourceLocation;
use vaglio_document::Node;

#[test]
fn scalars_follow_the_core_schema() {
    let meaning = |text: &str| format!("{:?}", Node::word_at(text, SourceLocation::whole("")).meaning().unwrap());
    for (text, expected) in [
        ("1e-6", "Float(1e-6)"),
        (".5", "Float(0.5)"),
        ("5.", "Float(5.0)"),
        ("-3", "Int(-3)"),
        ("+3", "Int(3)"),
        ("0o17", "Int(15)"),
        ("-.inf", "Float(-inf)"),
        (".nan", "Float(NaN)"),
        ("18446744073709551615", "Int(18446744073709551615)"),
        ("nan", "Text(\"nan\")"),
        ("inf", "Text(\"inf\")"),
        ("1_000", "Text(\"1_000\")"),
        ("1e", "Text(\"1e\")"),
        (".", "Text(\".\")"),
        ("-", "Text(\"-\")"),
        ("--3", "Text(\"--3\")"),
        ("no", "Text(\"no\")"),
        ("~", "Null"),
        ("False", "Bool(false)"),
    ] {
        assert_eq!(meaning(text), expected);
    }
}
