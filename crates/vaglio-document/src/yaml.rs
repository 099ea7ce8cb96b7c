//! Conversions from YAML text to the tree and from settings to YAML text.

use super::node::{MappingEntry, NAME, Node, NodeValue};
use super::route::{self, DEEPEST};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, StrInput};

use std::collections::HashSet;
use vaglio_core::{Cause, Error, Result, SourceLocation, clip};

/// Largest size of a configuration, in bytes.
pub const LARGEST: usize = 1 << 24;

/// Largest number of keys and values of a configuration.
const MOST: usize = 500_000;

/// An error of the syntax at a place.
fn refuse(place: SourceLocation, message: impl Into<String>) -> Error {
    Error::Syntax { message: message.into().into(), place: None }.at(Some(place))
}

impl Node {
    /// Reads the text of a YAML file.
    ///
    /// # Errors
    /// [`Error::Syntax`] with its place for malformed YAML, an anchor, a tag, a duplicate key or a second document.
    pub fn parse(text: &str, file_name: &str) -> Result<Self> {
        let place = |marker: &Marker| SourceLocation {
            file: file_name.to_owned(),
            line: marker.line().max(1),
            column: marker.col() + 1,
        };
        parse(text, &place)
    }

    /// Applies `--set path=value`. The value is YAML; missing maps on the path are created.
    ///
    /// A bare word on the path becomes a map with that `kind`. An index one past the end of a list appends to it.
    ///
    /// # Errors
    /// * [`Error::Syntax`] if the text is no assignment.
    /// * [`Error::Setting`] if the path leads through a number.
    pub fn set(&mut self, assignment: &str) -> Result<()> {
        let origin = SourceLocation::whole(format!("--set {assignment}"));
        let syntax = |message: String| Error::Syntax { message: message.into(), place: Some(origin.clone()) };
        let Some((path, text)) = assignment.split_once('=') else {
            return Err(syntax("expected path=value, as in search.max_features=5".into()));
        };
        let segments = route::segments(path.trim()).map_err(syntax)?;
        let value = parse(text, &|_| origin.clone())?;
        let mut walked = String::new();
        let mut node = self;
        let mut rest = &segments[..];
        while let Some(first) = rest.first() {
            let (key, taken) = node.key(rest).unwrap_or_else(|| ((*first).to_owned(), 1));
            rest = &rest[taken..];
            node = node
                .child_or_new(&key, &origin)
                .map_err(|message| Error::setting(&walked, message).at(Some(origin.clone())))?;
            walked = route::key_path(&walked, &key);
        }
        *node = value;
        Ok(())
    }
}

/// Parses one YAML document; an empty text is a null. `place` locates a part of the text.
fn parse(text: &str, place: &dyn Fn(&Marker) -> SourceLocation) -> Result<Node> {
    if text.len() > LARGEST {
        let message = format!("more than {LARGEST} bytes are too many for a configuration");
        return Err(refuse(place(&Marker::new(0, 1, 0)), message));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut tree = YamlTreeBuilder { events: Parser::new_from_str(text), place, depth: 0, values: 0 };
    let mut root = None;
    loop {
        let (event, span) = tree.next()?;
        match event {
            Event::StreamEnd => break,
            Event::DocumentStart(_) if root.is_some() => {
                let message = "a second document starts here; a configuration is one document";
                return Err(refuse(place(&span.start), message));
            }
            Event::DocumentStart(_) => {
                let (event, span) = tree.next()?;
                root = Some(tree.node(event, span)?);
            }
            _ => {}
        }
    }
    Ok(root.unwrap_or_else(|| Node::word_at("", place(&Marker::new(0, 1, 0)))))
}

struct YamlTreeBuilder<'a> {
    events: Parser<'a, StrInput<'a>>,
    place: &'a dyn Fn(&Marker) -> SourceLocation,
    depth: usize,
    values: usize,
}

impl<'a> YamlTreeBuilder<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span)> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(refuse((self.place)(error.marker()), error.info())),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span) -> Result<Node> {
        let place = (self.place)(&span.start);
        let refuse = |message: &str| Err(refuse(place.clone(), message));
        let (anchor, tag) = match &event {
            Event::Scalar(_, _, anchor, tag) | Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => {
                (*anchor, tag.is_some())
            }
            Event::Alias(_) => return refuse("aliases (`*name`) are not read here; write the value out"),
            _ => return refuse("expected a value"),
        };
        if tag {
            return refuse("tags (`!name`) are not read here; put text that starts with `!` in quotes");
        }
        if anchor != 0 {
            return refuse("anchors (`&name`) are not read here; put text that starts with `&` in quotes");
        }
        self.values += 1;
        if self.values > MOST {
            return refuse(&format!("a configuration has at most {MOST} keys and values, and here is one more"));
        }
        if let Event::Scalar(text, style, ..) = event {
            let value = NodeValue::Scalar { text: text.into_owned(), quoted: style != ScalarStyle::Plain };
            return Ok(Node { place, value });
        }
        if self.depth == DEEPEST {
            return refuse(&format!("values are nested deeper than {DEEPEST}"));
        }
        self.depth += 1;
        let value = if matches!(event, Event::SequenceStart(..)) { self.list()? } else { self.map()? };
        self.depth -= 1;
        Ok(Node { place, value })
    }

    fn list(&mut self) -> Result<NodeValue> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(NodeValue::List(items)),
                (event, span) => items.push(self.node(event, span)?),
            }
        }
    }

    fn map(&mut self) -> Result<NodeValue> {
        let (mut entries, mut keys): (Vec<MappingEntry>, HashSet<String>) = Default::default();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(NodeValue::Map(entries));
            }
            let Node { place: key_place, value: NodeValue::Scalar { text: key, .. } } = self.node(event, span)? else {
                return Err(refuse((self.place)(&span.start), "a key must be a single word or text"));
            };
            if !keys.insert(key.clone()) {
                let message = format!("the key `{}` stands here a second time", clip(&key, NAME));
                return Err(refuse((self.place)(&span.start), message));
            }
            let (event, span) = self.next()?;
            let mut node = self.node(event, span)?;
            if matches!(&node.value, NodeValue::Scalar { text, quoted: false } if text.is_empty()) {
                node.place = key_place.clone();
            }
            entries.push(MappingEntry { key, key_place, node });
        }
    }
}

/// Writes settings as YAML that reads back equal: shortest exact floats, and quotes around ambiguous text.
///
/// # Errors
/// [`Error::Syntax`] for a value that YAML cannot hold, such as a map with keys that are not text.
pub fn to_yaml(value: &dyn erased_serde::Serialize) -> Result<String> {
    serde_saphyr::to_string(&value).map_err(|error| Error::Syntax { message: Cause::from_error(error), place: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Meaning;
    use serde::{Deserialize, Serialize};
    use std::collections::BTreeMap;
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
            let NodeValue::Scalar { text: number, .. } = &written.get(&format!("numbers[{k}]")).unwrap().value else {
                panic!("{text}")
            };
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
            assert!(matches!(document.get(key).unwrap().meaning(), Some(Meaning::Float(_))), "{text}");
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
}
