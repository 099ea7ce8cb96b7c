//! Conversions from YAML text to the tree and from settings to YAML text.

use super::node::{MappingEntry, NAME, Node, NodeValue};
use super::setting_path::{DEEPEST, key_path, segments};
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
        let segments = segments(path.trim()).map_err(syntax)?;
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
            walked = key_path(&walked, &key);
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
