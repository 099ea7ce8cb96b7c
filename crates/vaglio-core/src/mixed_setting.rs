//! Settings with several forms in files: text, a number, a list or a map.

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A setting with several forms in files, read by `mixed_setting!`. A form without a function of its own is refused.
pub trait MixedSetting: Sized {
    /// The forms, for errors.
    const EXPECTED: &'static str;
    /// Name of the newtype that the document's reader handles specially; empty for none.
    const NEWTYPE: &'static str = "";

    /// An error that quotes an invalid value.
    fn refusal<E: Error>(found: impl fmt::Display) -> E {
        E::custom(format!("expected {}, found {found}", Self::EXPECTED))
    }

    /// Reads text.
    fn from_text<E: Error>(text: &str) -> Result<Self, E> {
        Err(E::invalid_type(Unexpected::Str(text), &Self::EXPECTED))
    }

    /// Reads a whole number.
    fn from_whole<E: Error>(number: i128) -> Result<Self, E> {
        Self::from_number(number as f64)
    }

    /// Reads a number.
    fn from_number<E: Error>(number: f64) -> Result<Self, E> {
        Err(E::invalid_type(Unexpected::Float(number), &Self::EXPECTED))
    }

    /// Reads a list.
    fn from_list<'de, A: SeqAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Seq, &Self::EXPECTED))
    }

    /// Reads a map.
    fn from_map<'de, A: MapAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Map, &Self::EXPECTED))
    }
}

/// Reads a setting in the form that it has.
pub fn read_mixed<'de, T: MixedSetting, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_newtype_struct(T::NEWTYPE, FormVisitor(PhantomData))
}

/// The first key of a map, if any, and a deserializer of the whole map.
pub fn first_key<'de, A: MapAccess<'de>>(
    mut map: A,
) -> Result<(Option<String>, impl Deserializer<'de, Error = A::Error>), A::Error> {
    let first: Option<String> = map.next_key()?;
    Ok((first.clone(), MapAccessDeserializer::new(FromKey { first, rest: map })))
}

/// Map access with the first key already read.
struct FromKey<A> {
    first: Option<String>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for FromKey<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.first.take() {
            Some(key) => seed.deserialize(key.into_deserializer()).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.rest.next_value_seed(seed)
    }
}

/// Implements `Deserialize` for a [`MixedSetting`](crate::MixedSetting).
#[macro_export]
macro_rules! mixed_setting {
    ($type:ty) => {
        impl<'de> $crate::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::read_mixed(deserializer)
            }
        }
    };
}

struct FormVisitor<T>(PhantomData<T>);

impl<'de, T: MixedSetting> Visitor<'de> for FormVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::from_text(text)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        T::from_whole(number.into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        T::from_whole(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        T::from_number(number)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::from_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::from_map(map)
    }
}
