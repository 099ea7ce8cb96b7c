//! Documents that are written read back.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vaglio_document::{Node, to_yaml};
use vaglio_testkit::SplitMix64;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EngineWord {
    Auto,
    Grid { points: usize },
    Values(Vec<f64>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct SampleDocument {
    whole: u64,
    signed: i64,
    number: f64,
    numbers: Vec<f64>,
    text: String,
    texts: Vec<String>,
    named: BTreeMap<String, String>,
    option: Option<String>,
    engine: EngineWord,
    engines: Vec<EngineWord>,
}

/// Whether a plain scalar is also a float in YAML 1.1: a decimal point, and a signed exponent.
fn is_float_of_yaml_1_1(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "+0"));
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    mantissa.split_once('.').is_some_and(|(whole, rest)| digits(whole) && digits(rest))
        && exponent.strip_prefix(['-', '+']).is_some_and(digits)
}

fn round_trip(value: &SampleDocument) {
    let text = to_yaml(value).unwrap();
    let written = Node::parse(&text, "w.yaml").unwrap();
    for k in 0..value.numbers.len() {
        let number = written.get(&format!("numbers[{k}]")).and_then(Node::text).unwrap();
        assert!(is_float_of_yaml_1_1(number), "{text}");
    }
    let read: SampleDocument =
        Node::parse(&text, "w.yaml").and_then(|d| d.read()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(&read, value, "{text}");
    for (a, b) in read.numbers.iter().zip(&value.numbers) {
        assert_eq!(a.to_bits(), b.to_bits(), "{text}");
    }
}

#[test]
fn floats_of_yaml_1_1_have_a_point_and_a_sign() {
    for text in ["0.001", "1.0e-7", "-1.5e+300", "0.0"] {
        assert!(is_float_of_yaml_1_1(text), "{text}");
    }
    for text in ["1e-3", "1.0e7", "1", ".", "1.", "1.0e+", "x.0"] {
        assert!(!is_float_of_yaml_1_1(text), "{text}");
    }
    assert_eq!(to_yaml(&[1e-3, 1e-7, 1e6]).unwrap(), "- 0.001\n- 1.0e-7\n- 1000000.0\n");
}

#[test]
fn what_is_written_reads_back() {
    let odd = [
        "",
        " ",
        "5",
        "5.0",
        "1e5",
        "0x1f",
        "0o7",
        "true",
        "True",
        "null",
        "~",
        "yes",
        "no",
        "on",
        "-",
        "- a",
        "a: b",
        "a #b",
        "#a",
        "&a",
        "*a",
        "!a",
        "@a",
        "`a",
        "%a",
        "[a]",
        "{a}",
        "a\nb",
        "a\n",
        "\na",
        "\ta",
        "'",
        "\"",
        "\\",
        ".inf",
        ".nan",
        "é",
        "2020-01-01",
        "1:2",
        "=",
        "<<",
        "?",
        "|",
        ">",
        "a ",
        "\u{0}",
        "\u{feff}a",
        "a\r\nb",
        "---",
        "...",
        "\u{85}",
        "\u{2028}",
    ];
    let long = "word ".repeat(60) + "\n" + &"x".repeat(300);
    let texts: Vec<String> = odd.iter().map(|&s| s.to_owned()).chain([long]).collect();
    round_trip(&SampleDocument {
        whole: u64::MAX,
        signed: i64::MIN,
        number: 1.0,
        numbers: vec![1e-6, 1e300, 1.0, -0.0, 0.1, 5e-324, f64::MAX, 123456789.0, 1e16, 1e22],
        text: "5".into(),
        named: texts.iter().map(|t| (t.clone(), t.clone())).collect(),
        texts,
        option: None,
        engine: EngineWord::Grid { points: 3 },
        engines: vec![EngineWord::Values(vec![]), EngineWord::Auto, EngineWord::Values(vec![2.0])],
    });
    let text = to_yaml(&BTreeMap::from([("x", 1.0), ("y", 1e300), ("z", 1e-6)])).unwrap();
    let document = Node::parse(&text, "w.yaml").unwrap();
    for key in ["x", "y", "z"] {
        assert!(document.get(key).unwrap().read::<serde_json::Value>().unwrap().is_f64(), "{text}");
    }
}

#[test]
fn any_settings_that_are_written_read_back() {
    let mut random = SplitMix64::new(17);
    let signs: Vec<char> = "-+0123456789.eExo_:~ #'\"\n".chars().collect();
    for _ in 0..256 {
        let number = |random: &mut SplitMix64| {
            std::iter::repeat_with(|| f64::from_bits(random.bits())).find(|x| x.is_finite()).unwrap()
        };
        let any = |random: &mut SplitMix64| -> String {
            let letters = [0x80, 0x250, 0x3000, 0x110000];
            let mut letter = || {
                let most = letters[random.below(letters.len())];
                char::from_u32(random.below(most) as u32)
            };
            (0..12).filter_map(|_| letter()).collect()
        };
        let numbers = (0..random.below(5)).map(|_| number(&mut random)).collect();
        let texts: Vec<String> = (0..random.below(5)).map(|_| any(&mut random)).collect();
        round_trip(&SampleDocument {
            whole: random.bits(),
            signed: random.bits() as i64,
            number: 0.5,
            numbers,
            text: (0..random.below(9)).map(|_| signs[random.below(signs.len())]).collect(),
            named: texts.iter().map(|t| (t.clone(), t.clone())).collect(),
            texts,
            option: Some(String::new()),
            engine: EngineWord::Auto,
            engines: vec![],
        });
    }
}
