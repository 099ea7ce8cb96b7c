//! Parts of exported text that formulas of any model rest on.

use crate::{formulas, numbers};
use vaglio_core::{Expression, LevelValues};
use vaglio_export::{CellKind, Formulas, InputColumn, Language};

fn text(language: Language, formulas: &Formulas) -> String {
    String::from_utf8(language.write(formulas).unwrap()).unwrap()
}

#[test]
fn columns_have_the_letters_of_a_sheet() {
    let name = |place: usize| format!("column {place}");
    let places = [0, 25, 26, 51, 52, 701, 702, 16_382];
    let sum = Expression::Sum(places.map(|place| Expression::column(name(place))).to_vec());
    let sheet = text(Language::Excel, &formulas(numbers((0..16_383).map(name)), sum));
    for letters in ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA", "XFC"] {
        assert!(sheet.contains(&format!("IF({letters}2=")), "{letters}");
    }
}

#[test]
fn identifiers_are_unlike_each_other_and_reserved_words() {
    let names = ["x", "a b", "a.b", "A B", "if", "1st", "", "\"; drop", "größe", "a_b_2"];
    let module = text(Language::Python, &formulas(numbers(names), Expression::column("x")));
    let lines = module.lines().skip_while(|line| !line.starts_with("def predict")).skip(1);
    let own: Vec<&str> = lines.take(names.len()).map(|line| line.trim().split(" = ").next().unwrap()).collect();
    assert_eq!(own, ["x", "a_b", "a_b_2", "a_b_3", "if_2", "x_1st", "x_2", "drop", "gr__e", "a_b_2_2"]);
}

/// Evaluates nested choices of PMML at a number x, NaN if missing.
fn evaluate<'t>(text: &mut &'t str, x: f64) -> f64 {
    let rest: &'t str = text;
    if let Some(rest) = rest.strip_prefix("<FieldRef field=\"x\"/>") {
        *text = rest;
        return x;
    }
    if let Some(rest) = rest.strip_prefix("<Constant dataType=\"double\">") {
        let (number, rest) = rest.split_once("</Constant>").unwrap();
        *text = rest;
        return number.parse().unwrap();
    }
    let (function, rest) = rest.strip_prefix("<Apply function=\"").unwrap().split_once("\">").unwrap();
    *text = rest;
    let mut arguments = Vec::new();
    while !text.starts_with("</Apply>") {
        arguments.push(evaluate(text, x));
    }
    *text = &text["</Apply>".len()..];
    match function {
        "isMissing" => f64::from(arguments[0].is_nan()),
        "lessThan" => f64::from(arguments[0] < arguments[1]),
        "if" if arguments[0] == 1.0 => arguments[1],
        "if" => arguments[2],
        other => panic!("{other}"),
    }
}

#[test]
fn numbers_find_their_levels() {
    let levels = (0..40).map(|k| (k.to_string(), f64::from(2 * k))).collect();
    let levels = LevelValues { of: Expression::column("x"), levels, missing: -1.0, other: -2.0 };
    let document = text(Language::Pmml, &formulas(numbers(["x"]), Expression::Level(Box::new(levels))));
    let (_, field) = document.split_once("<DerivedField ").unwrap();
    let (_, formula) = field.split_once('>').unwrap();
    let (formula, _) = formula.split_once("</DerivedField>").unwrap();
    assert!(formula.matches("<Apply").count() < 170, "{formula}");
    let cells = [(f64::NAN, -1.0), (-1.0, -2.0), (0.0, 0.0), (7.0, 14.0), (7.5, -2.0), (39.0, 78.0), (40.0, -2.0)];
    for (cell, expected) in cells {
        let mut rest = formula;
        assert_eq!((evaluate(&mut rest, cell), rest), (expected, ""), "{cell}");
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return value;
        }
    }
}

/// Returns the fields of a message of protocol buffers: number, integer or length, and content.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let (key, value) = (varint(&mut bytes), varint(&mut bytes));
        let (content, rest) = bytes.split_at(if key & 7 == 2 { value as usize } else { 0 });
        assert!([0, 2].contains(&(key & 7)), "an integer, or bytes");
        bytes = rest;
        fields.push((key >> 3, value, content));
    }
    fields
}

/// Returns the contents of a field in all messages.
fn contents<'m>(messages: &[&'m [u8]], number: u64) -> Vec<&'m [u8]> {
    let own = messages.iter().flat_map(|message| fields(message)).filter(|(field, ..)| *field == number);
    own.map(|(_, _, content)| content).collect()
}

/// A text of 149 levels or none: lengths and integers take one byte or two.
#[test]
fn fields_are_those_of_protocol_buffers() {
    let levels = (0..149).map(|k| (format!("level {k}"), f64::from(k))).collect();
    let levels = LevelValues { of: Expression::column("x"), levels, missing: -1.0, other: -2.0 };
    let inputs = vec![InputColumn { name: "x".into(), holds: CellKind::Text }];
    let model = Language::Onnx.write(&formulas(inputs, Expression::Level(Box::new(levels)))).unwrap();
    assert_eq!(contents(&[&model], 2), [b"vaglio"]);
    // The graph's nodes and their attributes; one of them is the number of levels.
    let attributes = contents(&contents(&contents(&[&model], 7), 1), 5);
    let counts = attributes.into_iter().map(fields).filter(|own| own[0].2 == b"default_int64");
    let counts: Vec<Vec<(u64, u64)>> = counts.map(|own| own[1..].iter().map(|(k, v, _)| (*k, *v)).collect()).collect();
    assert!(counts.contains(&vec![(3, 150), (20, 2)]), "{counts:?}");
}
