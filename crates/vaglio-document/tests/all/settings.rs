//! Settings read from a document, and messages with their places.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vaglio_core::{Criterion, Design, Error, Feature, Result, Score, part, saved};
use vaglio_document::{LARGEST, Label, Node, explain_duplicate};

#[saved(Criterion, "test_loss")]
struct TestLoss {
    #[serde(default)]
    lambda: f64,
    #[serde(default)]
    weights: Vec<f64>,
    #[serde(default)]
    engine: SampleEngine,
    folds: usize,
}

impl Criterion for TestLoss {
    fn evaluate(&self, _: &Design, _: &[Feature]) -> Result<Score> {
        Ok(Score::new(self.lambda))
    }
}

#[saved(Criterion, "test_plain")]
struct TestPlain {}

impl Criterion for TestPlain {
    fn evaluate(&self, _: &Design, _: &[Feature]) -> Result<Score> {
        Ok(Score::new(0.0))
    }
}

#[part(Criterion, "test_twin", summary = "one")]
struct OneTwin {}

#[part(Criterion, "test_twin", summary = "the other")]
struct OtherTwin {}

impl Criterion for OneTwin {
    fn evaluate(&self, _: &Design, _: &[Feature]) -> Result<Score> {
        Ok(Score::new(0.0))
    }
}

impl Criterion for OtherTwin {
    fn evaluate(&self, _: &Design, _: &[Feature]) -> Result<Score> {
        Ok(Score::new(0.0))
    }
}

#[test]
fn a_word_of_two_parts_names_the_packages_of_both() {
    let document = Node::parse("criterion: test_twin", "p.yaml").unwrap();
    #[derive(Debug, Deserialize)]
    struct OneCriterion {
        #[expect(dead_code, reason = "it cannot be read")]
        criterion: Box<dyn Criterion>,
    }
    let error = document.read::<OneCriterion>().unwrap_err().to_string();
    let package = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
    let expected = format!("several parts `test_twin`: of {package} and of {package}; link it with one of them");
    assert!(error.starts_with("p.yaml:1:12: `criterion.kind`") && error.ends_with(&expected), "{error}");
    // The error is the one reported for a model file.
    let error = serde_json::from_str::<Box<dyn Criterion>>(r#"{"kind": "test_twin"}"#).unwrap_err().to_string();
    assert!(explain_duplicate(&error).is_some_and(|told| told.ends_with(&expected)), "{error}");
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SampleEngine {
    #[default]
    Auto,
    Primal,
    Grid {
        points: usize,
    },
    Values(Vec<f64>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Either {
    Index(usize),
    Name(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SampleSettings {
    version: u8,
    #[serde(default)]
    positive: Option<Label>,
    #[serde(default)]
    shuffle: bool,
    #[serde(default)]
    target: Option<String>,
    #[serde(default)]
    forced: Vec<Either>,
    #[serde(default)]
    map: BTreeMap<String, f64>,
    criterion: Option<Box<dyn Criterion>>,
    #[serde(default)]
    preprocess: Vec<Box<dyn Criterion>>,
}

fn document(text: &str) -> Node {
    Node::parse(text, "p.yaml").unwrap()
}

fn error(text: &str) -> String {
    match Node::parse(text, "p.yaml").and_then(|d| d.read::<SampleSettings>()) {
        Ok(settings) => panic!("read as {settings:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn settings_are_read_with_kind_at_any_position() {
    let text = "version: 1\ncriterion: {lambda: 1, engine: {grid: {points: 3}}, folds: 0x10, kind: test_loss}\n\
                preprocess:\n  - test_plain\n  - weights: [1e-6, .5, -3]\n    folds: 2\n    kind: test_loss\n";
    let settings: SampleSettings = document(text).read().unwrap();
    let criterion = format!("{:?}", settings.criterion.unwrap());
    assert_eq!(criterion, "TestLoss { lambda: 1.0, weights: [], engine: Grid { points: 3 }, folds: 16 }");
    assert!(format!("{:?}", settings.preprocess).contains("weights: [1e-6, 0.5, -3.0]"));
    assert_eq!(settings.version, 1);
    let settings: SampleSettings = document("version: 1\ntarget: \"5\"\nforced: [3, a]").read().unwrap();
    assert_eq!(settings.target.as_deref(), Some("5"));
    assert!(matches!(settings.forced.as_slice(), [Either::Index(3), Either::Name(name)] if name == "a"));
}

#[test]
fn labels_read_numbers_words_and_text() {
    for (text, label) in [
        ("5", "5"),
        ("\"5\"", "5"),
        ("5.0", "5"),
        ("1e-7", "0.0000001"),
        ("True", "True"),
        ("yes", "yes"),
        ("'a b'", "a b"),
    ] {
        let settings: SampleSettings = document(&format!("version: 1\npositive: {text}")).read().unwrap();
        assert_eq!(settings.positive, Some(Label(label.into())), "{text}");
    }
    for number in ["5", "5.0"] {
        assert_eq!(serde_json::from_str::<Label>(number).unwrap(), Label("5".into()));
    }
    assert!(document("version: 1\npositive: ~").read::<SampleSettings>().unwrap().positive.is_none());
    assert!(error("version: 1\npositive: [a]").contains("p.yaml:2:11: `positive`: expected a label: text or a number"));
}

#[test]
fn unknown_keys_and_kinds_name_their_place_and_suggest() {
    let cases = [
        ("version: 1\nversoin: 2", "p.yaml:2:1: `versoin`: there is no key `versoin`; did you mean `version`?"),
        (
            "version: 1\ncriterion:\n  lamda: 2\n  folds: 3\n  kind: test_loss",
            "p.yaml:3:3: `criterion.lamda`: there is no key `lamda`; did you mean `lambda`?",
        ),
        (
            "version: 1\ncriterion: {kind: tets_loss}",
            "p.yaml:2:19: `criterion.kind`: there is no criterion `tets_loss`; did you mean `test_loss`?",
        ),
        (
            "version: 1\ncriterion: test_plian",
            "p.yaml:2:12: `criterion.kind`: there is no criterion `test_plian`; did you mean",
        ),
        (
            "version: 1\npreprocess:\n- test_plan",
            "p.yaml:3:3: `preprocess[0].kind`: there is no map `test_plan`; did you mean",
        ),
        (
            "version: 1\npreprocess: [test_plain, {kind: test_plain, x: 1}]",
            "p.yaml:2:45: `preprocess[1].x`: there is no key `x`",
        ),
        (
            "version: 1\ncriterion: {kind: test_loss, folds: 1, engine: prmal}",
            "p.yaml:2:48: `criterion.engine`: there is no value `prmal`; did you mean `primal`?",
        ),
        (
            "version: 1\ncriterion: {kind: test_loss, folds: 1, engine: {grid: {point: 3}}}",
            "p.yaml:2:56: `criterion.engine.grid.point`: there is no key `point`; did you mean `points`?",
        ),
    ];
    for (text, expected) in cases {
        let found = error(text);
        assert!(found.starts_with(expected), "{text}\nfound    {found}\nexpected {expected}");
    }
}

#[test]
fn values_that_do_not_fit_name_their_place_and_what_was_expected() {
    let cases = [
        ("version: 3.0", "p.yaml:1:10: `version`: expected a whole number from 0 to 255, found the number 3.0"),
        ("version: -3", "p.yaml:1:10: `version`: expected a whole number from 0 to 255, found the number -3"),
        ("version: \"3\"", "p.yaml:1:10: `version`: expected a whole number from 0 to 255, found the text \"3\""),
        ("shuffle: true", "p.yaml: `version`: is required and missing"),
        ("version: 1\nshuffle: yes", "p.yaml:2:10: `shuffle`: expected `true` or `false`, found `yes`"),
        (
            "version: 1\ntarget: 5",
            "p.yaml:2:9: `target`: expected text, found the number 5; put it in quotes to make it text",
        ),
        ("version: 1\nmap: {a: 1, b: x}", "p.yaml:2:16: `map.b`: expected a number, found `x`"),
        (
            "version: 1\nforced: [a, 1.5]",
            "p.yaml:2:13: `forced[1]`: the number 1.5 is of none of the forms that this setting has",
        ),
        ("version: 1\nforced: a", "p.yaml:2:9: `forced`: expected a list, found `a`"),
        (
            "version: 1\ncriterion:\n  kind: test_loss\n  folds: 1\n  lambda: \"1\"",
            "p.yaml:5:11: `criterion.lambda`: expected a number, found the text \"1\"",
        ),
        (
            "version: 1\ncriterion: {kind: test_loss, folds: 3, weights: [1, é, x]}",
            "p.yaml:2:53: `criterion.weights[1]`: expected a number, found `é`",
        ),
        ("version: 1\ncriterion: {é: 1, folds: x, kind: test_loss}", "p.yaml:2:13: `criterion.é`: there is no key `é`"),
        ("version: 1\ncriterion: test_loss", "p.yaml:2:1: `criterion.folds`: is required and missing"),
        (
            "version: 1\npreprocess:\n  - {kind: test_loss}",
            "p.yaml:3:5: `preprocess[0].folds`: is required and missing",
        ),
        ("version: 1\ncriterion: {folds: 3}", "p.yaml:2:1: `criterion.kind`: is required and missing"),
        (
            "version: 1\ncriterion: [3]",
            "p.yaml:2:12: `criterion`: expected a criterion: its word, or keys and values with that as `kind`, found a list",
        ),
        ("version: 1\ncriterion: {kind: 3}", "p.yaml:2:19: `criterion.kind`: expected a word, found the number 3"),
        (
            "version: 1\ncriterion: {kind: test_loss, folds: 1, engine: 3}",
            "p.yaml:2:48: `criterion.engine`: expected one of auto, primal, grid, values, found the number 3",
        ),
        (
            "version: 1\ncriterion: {kind: test_loss, folds: 1, engine: {values: [x]}}",
            "p.yaml:2:58: `criterion.engine.values[0]`: expected a number, found `x`",
        ),
        (
            "version: 1\ncriterion: {kind: test_loss, folds: 1, engine: grid}",
            "p.yaml:2:48: `criterion.engine`: `grid` needs its settings: {grid: …}",
        ),
        ("", "p.yaml:1:1: expected keys and values, found nothing"),
        ("- a", "p.yaml:1:1: expected keys and values, found a list"),
    ];
    for (text, expected) in cases {
        let found = error(text);
        assert!(found.starts_with(expected), "{text}\nfound    {found}\nexpected {expected}");
    }
}

#[test]
fn text_that_is_not_this_yaml_is_refused_with_its_place() {
    let deep = format!("version: {}{}", "[".repeat(65), "]".repeat(65));
    let cases = [
        ("a: 1\nb: &x 2", "p.yaml:2:", "anchors"),
        ("a: &x 1\nb: *x", "p.yaml:1:", "anchors"),
        ("a: !!str 1", "p.yaml:1:4: ", "tags"),
        ("a: 1\nb: 2\na: 3", "p.yaml:3:1: ", "the key `a` stands here a second time"),
        ("a: 1\n---\nb: 2", "p.yaml:2:1: ", "a second document"),
        ("a: [1\nb: 2", "p.yaml:2:", ""),
        ("a: 1\n b: 2", "p.yaml:2:", ""),
        ("a:\n\t- 1", "p.yaml:2:", ""),
        ("[a, b]: 1", "p.yaml:1:1: ", "a key must be a single word or text"),
        (deep.as_str(), "p.yaml:1:", "nested deeper than 64"),
    ];
    for (text, place, message) in cases {
        let error = Node::parse(text, "p.yaml").unwrap_err();
        assert!(matches!(error, Error::Syntax { .. }), "{error:?}");
        let found = error.to_string();
        assert!(found.starts_with(place) && found.contains(message), "{text}: {found}");
    }
    let large = format!("a: {}", "x".repeat(LARGEST));
    assert!(Node::parse(&large, "p.yaml").unwrap_err().to_string().contains("bytes are too many"));
    let many = format!("a:\n{}", "- 1\n".repeat(500_000));
    let found = Node::parse(&many, "p.yaml").unwrap_err().to_string();
    assert!(found.starts_with("p.yaml:499999:3: ") && found.contains("at most 500000"), "{found}");
}

#[test]
fn assignments_change_and_create_values() {
    let mut document = document("version: 1\ncriterion: test_plain\npreprocess: [test_plain]\nmap:\n");
    for assignment in [
        "criterion.folds=4",
        "criterion.kind=test_loss",
        "preprocess.0.folds=2",
        "preprocess[0].kind=test_loss",
        "preprocess.1={kind: test_loss, folds: 7}",
        "map.a.b=1",
        "map.a=1e-3",
        "positive=5",
        "shuffle=true",
    ] {
        document.set(assignment).unwrap();
    }
    let settings: SampleSettings = document.read().unwrap();
    assert!(format!("{:?}", settings.criterion).contains("folds: 4"));
    let preprocess = format!("{:?}", settings.preprocess);
    assert!(preprocess.contains("folds: 2") && preprocess.contains("folds: 7"), "{preprocess}");
    assert_eq!(settings.map["a"], 1e-3);
    assert!(settings.shuffle);
}

#[test]
fn assignments_are_the_place_of_their_errors() {
    for (assignment, expected) in [
        ("criterion.flds=4", "--set criterion.flds=4: `criterion.flds`: there is no key `flds`"),
        ("version=x", "--set version=x: `version`: expected a whole number from 0 to 255, found `x`"),
        ("version", "--set version: expected path=value"),
        ("=3", "--set =3: "),
        ("a..b=3", "--set a..b=3: `a..b` is not a path of keys"),
        ("version.x=3", "--set version.x=3: `version`: is the number 1 and has no `x`"),
        (
            "criterion.weights[2]=3",
            "--set criterion.weights[2]=3: `criterion.weights`: has no entry `[2]`; it has 1, counted from 0",
        ),
        ("shuffle=[", "--set shuffle=[: "),
    ] {
        let mut document = document("version: 1\ncriterion: {kind: test_loss, folds: 1, weights: [1]}\n");
        let result = document.set(assignment).and_then(|()| document.read::<SampleSettings>());
        let found = result.unwrap_err().to_string();
        assert!(found.starts_with(expected), "{assignment}: {found}");
    }
}

#[test]
fn places_of_paths_are_those_of_the_nearest_value() {
    let document = document("version: 1\nsearch:\n  kind: greedy\n  forced: [a, b]\ncriterion: loo\n");
    let at = |path: &str| document.location(path).map(|p| (p.line, p.column)).unwrap();
    assert_eq!(at("search.kind"), (3, 9));
    assert_eq!(at("search.forced[1]"), (4, 15));
    assert_eq!(at("search.forced.1"), (4, 15));
    assert_eq!(at("search.max_features"), (2, 1));
    assert_eq!(at("criterion.kind"), (5, 12));
    assert_eq!(at("criterion.loss"), (5, 1));
    // A missing path has no line.
    assert_eq!(at("data.train"), (0, 0));
    assert_eq!(document.get("search.kind").unwrap().text(), Some("greedy"));
    assert!(document.get("search.x").is_none());
}

#[test]
fn paths_are_split_at_dots_and_brackets() {
    let text = "- a\n- b\n- preprocess: [x, {a: [7, 8]}]\n";
    let document = Node::parse(text, "p.yaml").unwrap();
    let word = |path: &str| document.get(path).map(Node::describe);
    assert_eq!(word("[2].preprocess[1].a.0").as_deref(), Some("the number 7"));
    assert_eq!((word("[1]").as_deref(), word("").as_deref()), (Some("`b`"), Some("a list")));
}

#[test]
fn what_is_no_path_is_refused() {
    let refusal = |path: &str| document("version: 1").set(&format!("{path}=1")).unwrap_err().to_string();
    for path in [".", "a.", ".a", "a..b", "a[", "a[x]", "a[1]b", "a.[1]", "a]["] {
        let found = refusal(path);
        assert!(found.contains(&format!("`{path}` is not a path of keys")), "{found}");
    }
    let found = refusal(&vec!["a"; 65].join("."));
    assert!(found.contains("a path has at most 64 keys"), "{found}");
}
