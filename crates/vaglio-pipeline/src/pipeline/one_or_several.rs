//! Settings that are one value or a list.

use crate::document::{LABEL, Label};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeOwned, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, value};
use serde::{Deserialize, Deserializer, Serialize};
use std::ops::{Deref, DerefMut};
use vaglio_core::{MixedSetting, read_mixed, setting};

/// One value, or several.
#[setting(schema)]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum OneOrSeveral<T> {
    /// A single value.
    One(T),
    /// A list of values.
    Several(Vec<T>),
}

/// A type of values in [`OneOrSeveral`].
pub trait ListItem: DeserializeOwned {
    /// Description of both forms.
    const EXPECTED: &'static str;
    /// See [`MixedSetting::NEWTYPE`].
    const NEWTYPE: &'static str = "";
}

impl ListItem for String {
    const EXPECTED: &'static str = "a name, or a list of names";
}

impl ListItem for Label {
    const EXPECTED: &'static str = "a value, or a list of values";
    const NEWTYPE: &'static str = LABEL;
}

impl<T> Deref for OneOrSeveral<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            OneOrSeveral::One(one) => std::slice::from_ref(one),
            OneOrSeveral::Several(several) => several,
        }
    }
}

impl<T> DerefMut for OneOrSeveral<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            OneOrSeveral::One(one) => std::slice::from_mut(one),
            OneOrSeveral::Several(several) => several,
        }
    }
}

impl<'de, T: ListItem> Deserialize<'de> for OneOrSeveral<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_mixed(deserializer)
    }
}

impl<T: ListItem> MixedSetting for OneOrSeveral<T> {
    const EXPECTED: &'static str = T::EXPECTED;
    const NEWTYPE: &'static str = T::NEWTYPE;

    fn from_text<E: Error>(word: &str) -> Result<Self, E> {
        let one = T::deserialize(IntoDeserializer::<value::Error>::into_deserializer(word));
        one.map(OneOrSeveral::One).map_err(|_| E::invalid_type(Unexpected::Str(word), &T::EXPECTED))
    }

    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(OneOrSeveral::One)
    }

    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(OneOrSeveral::Several)
    }
}
