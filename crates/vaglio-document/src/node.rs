//! Tree of a parsed document.

use super::setting_path::{index, key_path};
use serde_json::Value;
use vaglio_core::{SourceLocation, clip};

/// Longest name or text quoted in a message, in characters.
pub const NAME: usize = 200;

/// A configuration, or a value in it, with its place.
#[derive(Debug, Clone)]
pub struct Node {
    /// Where the value starts.
    pub place: SourceLocation,
    /// The value.
    pub(crate) value: NodeValue,
}

/// Value of a [`Node`].
#[derive(Debug, Clone)]
pub enum NodeValue {
    /// A word, number or text.
    Scalar {
        /// The text, without quotes.
        text: String,
        /// Whether the scalar was quoted or a block of text, and so is always text.
        quoted: bool,
    },
    /// A list of values.
    List(Vec<Node>),
    /// Keys and values in the order of the text.
    Map(Vec<MappingEntry>),
}

/// A key with its value.
#[derive(Debug, Clone)]
pub struct MappingEntry {
    /// The key.
    pub key: String,
    /// Place of the key.
    pub key_place: SourceLocation,
    /// The value.
    pub node: Node,
}

/// Meaning of a scalar in the core schema of YAML 1.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Meaning<'a> {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number that is not whole.
    Float(f64),
    /// Text.
    Text(&'a str),
}

fn parse_whole(text: &str) -> Option<i128> {
    let digits = |text: &str, radix: u32| {
        text.chars().all(|c| c.is_digit(radix)).then(|| i128::from_str_radix(text, radix).ok()).flatten()
    };
    if let Some(octal) = text.strip_prefix("0o") {
        return digits(octal, 8);
    }
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return digits(hexadecimal, 16);
    }
    match text.strip_prefix('-') {
        Some(size) => digits(size, 10).map(|n| -n),
        None => digits(text.strip_prefix('+').unwrap_or(text), 10),
    }
}

fn parse_real(text: &str) -> Option<f64> {
    let size = text.strip_prefix(['-', '+']).unwrap_or(text);
    match size {
        ".inf" | ".Inf" | ".INF" if text.starts_with('-') => Some(f64::NEG_INFINITY),
        ".inf" | ".Inf" | ".INF" => Some(f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" if size == text => Some(f64::NAN),
        _ if size.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && size.chars().all(|c| c.is_ascii_digit() || ".eE+-".contains(c)) =>
        {
            text.parse().ok()
        }
        _ => None,
    }
}

impl Node {
    /// Meaning of a scalar; `None` for a list or a map.
    pub fn meaning(&self) -> Option<Meaning<'_>> {
        let NodeValue::Scalar { text, quoted } = &self.value else { return None };
        Some(match text.as_str() {
            text if *quoted => Meaning::Text(text),
            "" | "~" | "null" | "Null" | "NULL" => Meaning::Null,
            "true" | "True" | "TRUE" => Meaning::Bool(true),
            "false" | "False" | "FALSE" => Meaning::Bool(false),
            text => parse_whole(text)
                .map(Meaning::Int)
                .or_else(|| parse_real(text).map(Meaning::Float))
                .unwrap_or(Meaning::Text(text)),
        })
    }

    /// Copies a value without a text.
    pub fn from_value(value: &Value) -> Self {
        let place = SourceLocation::whole("");
        let entry = |(key, value): (&String, &Value)| MappingEntry {
            key: key.clone(),
            key_place: place.clone(),
            node: Node::from_value(value),
        };
        let value = match value {
            Value::Array(items) => NodeValue::List(items.iter().map(Node::from_value).collect()),
            Value::Object(entries) => NodeValue::Map(entries.iter().map(entry).collect()),
            Value::String(text) => NodeValue::Scalar { text: text.clone(), quoted: true },
            other => NodeValue::Scalar { text: other.to_string(), quoted: false },
        };
        Node { place, value }
    }

    /// A word; the empty one is a null.
    pub fn word_at(word: &str, place: SourceLocation) -> Self {
        Node { place, value: NodeValue::Scalar { text: word.to_owned(), quoted: false } }
    }

    /// The text of a scalar, without quotes; `None` for a list or a map.
    pub fn text(&self) -> Option<&str> {
        if let NodeValue::Scalar { text, .. } = &self.value { Some(text) } else { None }
    }

    /// The values in a list or a map.
    pub fn children(&self) -> Vec<&Node> {
        match &self.value {
            NodeValue::Scalar { .. } => Vec::new(),
            NodeValue::List(items) => items.iter().collect(),
            NodeValue::Map(entries) => entries.iter().map(|entry| &entry.node).collect(),
        }
    }

    /// Whether the value is `null`, `~` or empty.
    pub fn is_null(&self) -> bool {
        self.meaning() == Some(Meaning::Null)
    }

    /// The value as a word, if it is text.
    pub fn word(&self) -> Option<&str> {
        match self.meaning() {
            Some(Meaning::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Describes the value for messages.
    pub fn describe(&self) -> String {
        match &self.value {
            NodeValue::Scalar { text, quoted: true } => format!("the text {:?}", clip(text, NAME)),
            NodeValue::Scalar { text, .. } => match self.meaning() {
                None | Some(Meaning::Null) => "nothing".into(),
                Some(Meaning::Bool(_) | Meaning::Text(_)) => format!("`{}`", clip(text, NAME)),
                Some(Meaning::Int(_) | Meaning::Float(_)) => format!("the number {}", clip(text, NAME)),
            },
            NodeValue::List(_) => "a list".into(),
            NodeValue::Map(_) => "keys and values".into(),
        }
    }

    /// The child value, with the place of its name. A bare word is its own `kind`.
    pub fn child(&self, segment: &str) -> Option<(&SourceLocation, &Node)> {
        match &self.value {
            NodeValue::Map(entries) => {
                entries.iter().find(|entry| entry.key == segment).map(|entry| (&entry.key_place, &entry.node))
            }
            NodeValue::List(items) => items.get(index(segment)?).map(|item| (&item.place, item)),
            NodeValue::Scalar { .. } => (segment == "kind" && self.word().is_some()).then_some((&self.place, self)),
        }
    }

    /// The child value for the first of `segments`, or for a key of several. Returns the place of its name and the
    /// number of segments used.
    pub fn descend(&self, segments: &[&str]) -> Option<(&SourceLocation, &Node, usize)> {
        let (key, taken) = self.key(segments)?;
        self.child(&key).map(|(place, node)| (place, node, taken))
    }

    /// The key that the first of `segments` names, or one that contains the dots of several, such as `learner.lambda` in
    /// `tune.parameters`; with their number.
    pub fn key(&self, segments: &[&str]) -> Option<(String, usize)> {
        let mut key = String::new();
        for (segment, taken) in segments.iter().zip(1..) {
            key = key_path(&key, segment);
            if self.child(&key).is_some() {
                return Some((key, taken));
            }
        }
        None
    }

    /// The child value, created if absent; the error says why it cannot be created.
    pub fn child_or_new(&mut self, segment: &str, origin: &SourceLocation) -> Result<&mut Node, String> {
        let description = self.describe();
        if let Some(value) = self.container(segment) {
            self.value = value;
        }
        match &mut self.value {
            NodeValue::Map(entries) if !segment.starts_with('[') => {
                let at = entries.iter().position(|entry| entry.key == segment).unwrap_or(entries.len());
                if at == entries.len() {
                    let node = Node::word_at("", origin.clone());
                    entries.push(MappingEntry { key: segment.to_owned(), key_place: origin.clone(), node });
                }
                entries.get_mut(at).map(|entry| &mut entry.node).ok_or(description)
            }
            NodeValue::List(items) => {
                let count = items.len();
                let wrong = || format!("has no entry `{segment}`; it has {count}, counted from 0");
                let index = index(segment).ok_or_else(wrong)?;
                if index == count {
                    items.push(Node::word_at("", origin.clone()));
                }
                items.get_mut(index).ok_or_else(wrong)
            }
            _ => Err(format!("is {description} and has no `{segment}`")),
        }
    }

    /// The list or map that replaces a scalar so that a child can be added, if the scalar allows it.
    fn container(&self, segment: &str) -> Option<NodeValue> {
        match self.meaning()? {
            Meaning::Null if index(segment) == Some(0) => Some(NodeValue::List(Vec::new())),
            Meaning::Null => Some(NodeValue::Map(Vec::new())),
            Meaning::Text(_) if !segment.starts_with('[') => Some(NodeValue::Map(vec![MappingEntry {
                key: "kind".into(),
                key_place: self.place.clone(),
                node: self.clone(),
            }])),
            _ => None,
        }
    }
}
