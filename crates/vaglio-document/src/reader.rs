//! Reads the tree into types and notes each failure with its place.
//!
//! Trait objects are read through erased deserializers, which hand errors on as text. So an
//! [`InnermostError`] notes the innermost failure as it occurs, and the error that arrives at the top is ignored.
//!
//! Every map yields its `kind` first. Typetag then reads the other keys directly from the tree, and places stay exact.

use super::label::{LABEL, label_text};
use super::node::{Meaning, Node, NodeValue};
use super::setting_path::key_path;
use super::type_mismatch::{Outcome, TypeMismatch};
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use std::cell::{Cell, RefCell};
use vaglio_core::registered::WRITTEN;
use vaglio_core::{Error, SourceLocation};

/// Failures of reading a tree.
#[derive(Default)]
struct InnermostError {
    /// The innermost failure.
    error: RefCell<Option<Error>>,
    /// The null value of the key that failed, if any.
    null: Cell<Option<*const Node>>,
    /// Null values that are treated as absent.
    absent: RefCell<Vec<*const Node>>,
}

impl InnermostError {
    /// Passes a result on; records the first fault, located by `locate`.
    fn note<T>(&self, result: Outcome<T>, locate: impl Fn(&TypeMismatch) -> Error) -> Outcome<T> {
        if let Err(fault) = &result {
            self.error.borrow_mut().get_or_insert_with(|| locate(fault));
        }
        result
    }
}

impl Node {
    /// Reads the settings as a type. Null values of keys that cannot be null are treated as absent.
    ///
    /// # Errors
    /// * [`Error::UnknownName`] for a key or kind that does not exist.
    /// * [`Error::Setting`] for a value that does not fit, with its dotted path and place.
    pub fn read<T: DeserializeOwned>(&self) -> vaglio_core::Result<T> {
        let (failures, whole) = (InnermostError::default(), SourceLocation::whole(&*self.place.file));
        let reader =
            NodeDeserializer { node: self, named_at: &whole, path: String::new(), siblings: &[], failures: &failures };
        loop {
            let found = reader.note(T::deserialize(reader.clone()));
            let error = failures.error.take();
            match (found, failures.null.take()) {
                (Err(_), Some(null)) => failures.absent.borrow_mut().push(null),
                (found, _) => {
                    let locate = |fault: TypeMismatch| fault.locate("", &self.place, &self.describe());
                    return found.map_err(|fault| error.unwrap_or_else(|| locate(fault)));
                }
            }
        }
    }
}

/// Deserializer of one value.
#[derive(Clone)]
struct NodeDeserializer<'a> {
    node: &'a Node,
    /// Place of the value's key.
    named_at: &'a SourceLocation,
    path: String,
    /// Keys of the struct that holds the value, if known.
    siblings: &'static [&'static str],
    failures: &'a InnermostError,
}

impl<'a> NodeDeserializer<'a> {
    fn note<T>(&self, result: Outcome<T>) -> Outcome<T> {
        self.failures.note(result, |fault| {
            let place = match fault {
                TypeMismatch::UnknownKey(key, _) => {
                    self.entries().find(|(name, ..)| name == key).map(|(_, place, _)| place)
                }
                TypeMismatch::MissingKey(_) => Some(self.named_at),
                _ => None,
            };
            fault.locate(&self.path, place.unwrap_or(&self.node.place), &self.node.describe())
        })
    }

    /// Entries of a map that are not absent. A bare word is its own `kind`.
    fn entries(&self) -> impl Iterator<Item = (&'a str, &'a SourceLocation, &'a Node)> {
        let entries = match &self.node.value {
            NodeValue::Map(entries) => entries.as_slice(),
            _ => &[],
        };
        let word = self.node.word().map(|_| ("kind", &self.node.place, self.node));
        let absent = &self.failures.absent;
        let present = entries.iter().filter(move |entry| !absent.borrow().contains(&std::ptr::from_ref(&entry.node)));
        word.into_iter().chain(present.map(|entry| (entry.key.as_str(), &entry.key_place, &entry.node)))
    }

    fn visit_map<V: Visitor<'static>>(&self, fields: &'static [&'static str], visitor: V) -> Outcome<V::Value> {
        let mut rest: Vec<_> = self.entries().collect();
        if let Some(at) = rest.iter().position(|(key, ..)| *key == "kind") {
            let kind = rest.remove(at);
            rest.insert(0, kind);
        }
        let mut entries = MappingEntries { parent: self, fields, rest: rest.into_iter(), value: None };
        let value = visitor.visit_map(&mut entries)?;
        match entries.rest.next() {
            Some((key, ..)) => Err(TypeMismatch::unknown_field(key, fields)),
            None => Ok(value),
        }
    }

    fn visit_list<V: Visitor<'static>>(&self, list: &'a [Node], visitor: V) -> Outcome<V::Value> {
        let mut items = SequenceItems { parent: self, items: list.iter().enumerate() };
        let value = visitor.visit_seq(&mut items)?;
        match items.items.next() {
            Some((index, _)) => Err(TypeMismatch::Custom(format!("expected a list of {index}, found {}", list.len()))),
            None => Ok(value),
        }
    }
}

impl<'a> Deserializer<'static> for NodeDeserializer<'a> {
    type Error = TypeMismatch;

    fn deserialize_any<V: Visitor<'static>>(self, visitor: V) -> Outcome<V::Value> {
        let result = match (&self.node.value, self.node.meaning()) {
            (NodeValue::List(list), _) => self.visit_list(list, visitor),
            (NodeValue::Map(_), _) => self.visit_map(&[], visitor),
            (_, None | Some(Meaning::Null)) => visitor.visit_unit(),
            (_, Some(Meaning::Bool(value))) => visitor.visit_bool(value),
            (_, Some(Meaning::Float(value))) => visitor.visit_f64(value),
            (_, Some(Meaning::Text(text))) => visitor.visit_str(text),
            (_, Some(Meaning::Int(value))) => match (u64::try_from(value), i64::try_from(value)) {
                (Ok(value), _) => visitor.visit_u64(value),
                (_, Ok(value)) => visitor.visit_i64(value),
                _ => visitor.visit_f64(value as f64),
            },
        };
        self.note(result)
    }

    fn deserialize_option<V: Visitor<'static>>(self, visitor: V) -> Outcome<V::Value> {
        if self.node.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'static>>(self, name: &'static str, visitor: V) -> Outcome<V::Value> {
        match label_text(self.node).filter(|_| name == LABEL) {
            Some(label) => visitor.visit_string(label),
            None if name == WRITTEN => self.deserialize_map(visitor),
            None => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_map<V: Visitor<'static>>(self, visitor: V) -> Outcome<V::Value> {
        if self.node.word().is_some() { self.note(self.visit_map(&[], visitor)) } else { self.deserialize_any(visitor) }
    }

    fn deserialize_struct<V: Visitor<'static>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Outcome<V::Value> {
        let is_map = matches!(self.node.value, NodeValue::Map(_));
        let result = if is_map || (fields.contains(&"kind") && self.node.word().is_some()) {
            self.visit_map(fields, visitor)
        } else {
            Err(TypeMismatch::invalid_type(de::Unexpected::Other(""), &visitor))
        };
        self.note(result)
    }

    fn deserialize_enum<V: Visitor<'static>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Outcome<V::Value> {
        let chosen = match &self.node.value {
            NodeValue::Map(entries) => match entries.as_slice() {
                [entry] => Some(Variant {
                    parent: &self,
                    name: &entry.key,
                    place: &entry.key_place,
                    content: Some(&entry.node),
                }),
                _ => None,
            },
            _ => self.node.word().map(|name| Variant { parent: &self, name, place: &self.node.place, content: None }),
        };
        let result = match chosen {
            Some(variant) => visitor.visit_enum(variant),
            None => Err(TypeMismatch::Expected(format!("one of {}", variants.join(", ")))),
        };
        self.note(result)
    }

    /// Reports an unknown key as a user error instead of ignoring it.
    fn deserialize_ignored_any<V: Visitor<'static>>(self, _visitor: V) -> Outcome<V::Value> {
        let (owner, key) = self.path.rsplit_once('.').unwrap_or(("", &self.path));
        let fault = TypeMismatch::unknown_field(key, self.siblings);
        self.failures.note(Err(fault), |fault| fault.locate(owner, self.named_at, ""))
    }

    forward_to_deserialize_any! {
        <W: Visitor<'static>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct identifier
    }
}

/// Remaining entries of a map.
struct MappingEntries<'r, 'a> {
    parent: &'r NodeDeserializer<'a>,
    fields: &'static [&'static str],
    rest: std::vec::IntoIter<(&'a str, &'a SourceLocation, &'a Node)>,
    value: Option<NodeDeserializer<'a>>,
}

impl<'a> de::MapAccess<'static> for MappingEntries<'_, 'a> {
    type Error = TypeMismatch;

    fn next_key_seed<K: DeserializeSeed<'static>>(&mut self, seed: K) -> Outcome<Option<K::Value>> {
        let Some((key, named_at, node)) = self.rest.next() else { return Ok(None) };
        let path = key_path(&self.parent.path, key);
        self.value =
            Some(NodeDeserializer { node, named_at, path, siblings: self.fields, failures: self.parent.failures });
        seed.deserialize(KeyDeserializer { text: key, place: named_at, parent: self.parent }).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'static>>(&mut self, seed: V) -> Outcome<V::Value> {
        let value = self.value.take().ok_or_else(|| TypeMismatch::custom("a value was asked for before its key"))?;
        let read = value.note(seed.deserialize(value.clone()));
        let is_known = !matches!(&*self.parent.failures.error.borrow(), Some(Error::UnknownName { .. }));
        if read.is_err() && value.node.is_null() && is_known {
            self.parent.failures.null.set(Some(value.node));
        }
        read
    }
}

/// A key, or the word that chooses among the variants of an enum.
///
/// The failure is noted where the visitor returns it, since trait objects hand it on as text.
struct KeyDeserializer<'r, 'a> {
    text: &'r str,
    place: &'r SourceLocation,
    parent: &'r NodeDeserializer<'a>,
}

impl Deserializer<'static> for KeyDeserializer<'_, '_> {
    type Error = TypeMismatch;

    fn deserialize_any<V: Visitor<'static>>(self, visitor: V) -> Outcome<V::Value> {
        let KeyDeserializer { text, place, parent } = self;
        parent.failures.note(visitor.visit_str(text), |fault| fault.locate(&parent.path, place, &format!("`{text}`")))
    }

    forward_to_deserialize_any! {
        <W: Visitor<'static>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Remaining items of a list.
struct SequenceItems<'r, 'a> {
    parent: &'r NodeDeserializer<'a>,
    items: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
}

impl<'a> de::SeqAccess<'static> for SequenceItems<'_, 'a> {
    type Error = TypeMismatch;

    fn next_element_seed<T: DeserializeSeed<'static>>(&mut self, seed: T) -> Outcome<Option<T::Value>> {
        let Some((index, node)) = self.items.next() else { return Ok(None) };
        let path = format!("{}[{index}]", self.parent.path);
        let item =
            NodeDeserializer { node, named_at: &node.place, path, siblings: &[], failures: self.parent.failures };
        item.note(seed.deserialize(item.clone())).map(Some)
    }
}

/// A variant of an enum: a bare word, or the only key of a map with its content.
struct Variant<'r, 'a> {
    parent: &'r NodeDeserializer<'a>,
    name: &'a str,
    place: &'a SourceLocation,
    content: Option<&'a Node>,
}

impl<'a> Variant<'_, 'a> {
    fn content(&self) -> Outcome<NodeDeserializer<'a>> {
        let node = self
            .content
            .ok_or_else(|| TypeMismatch::Custom(format!("`{0}` needs its settings: {{{0}: …}}", self.name)))?;
        let path = key_path(&self.parent.path, self.name);
        Ok(NodeDeserializer { node, named_at: self.place, path, siblings: &[], failures: self.parent.failures })
    }
}

impl<'a> de::EnumAccess<'static> for Variant<'_, 'a> {
    type Error = TypeMismatch;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'static>>(self, seed: V) -> Outcome<(V::Value, Self)> {
        let name = KeyDeserializer { text: self.name, place: self.place, parent: self.parent };
        Ok((seed.deserialize(name)?, self))
    }
}

impl de::VariantAccess<'static> for Variant<'_, '_> {
    type Error = TypeMismatch;

    fn unit_variant(self) -> Outcome<()> {
        match self.content {
            Some(_) => Err(TypeMismatch::Custom(format!("`{}` is a bare word without settings", self.name))),
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'static>>(self, seed: T) -> Outcome<T::Value> {
        let content = self.content()?;
        content.note(seed.deserialize(content.clone()))
    }

    fn tuple_variant<V: Visitor<'static>>(self, _len: usize, visitor: V) -> Outcome<V::Value> {
        self.content()?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'static>>(self, fields: &'static [&'static str], visitor: V) -> Outcome<V::Value> {
        self.content()?.deserialize_struct("", fields, visitor)
    }
}
