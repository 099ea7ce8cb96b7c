//! Registration of trait implementations by word, for reading and writing them with their `kind`.
//!
//! [`part`](crate::part) and [`saved`](crate::saved) implement these traits; nothing else needs to.

use serde::de::DeserializeOwned;
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::marker::PhantomData;

/// The newtype name under which trait objects are read. A custom deserializer can recognize it and add words of its
/// own.
pub const WRITTEN: &str = "vaglio_core::registered";

/// Visitor that reads a trait object: a map with its `kind`, or a word for the `kind` alone.
struct PartVisitor<T: ?Sized> {
    noun: &'static str,
    object: PhantomData<Box<T>>,
}

impl<'de, T: ?Sized> de::Visitor<'de> for PartVisitor<T>
where
    Box<T>: DeserializeOwned,
{
    type Value = Box<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {}: its word, or keys and values with that as `kind`", self.noun)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
        Deserialize::deserialize(MapDeserializer::new([("kind", word)].into_iter()))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(map))
    }
}

/// Defines the registry of a trait: metadata of every implementation, and the reading and writing of objects.
macro_rules! registered {
    ($trait:ident, $noun:literal, $message:literal, $note:literal) => {
        #[typetag::serde(tag = "kind")]
        #[diagnostic::on_unimplemented(message = $message, label = "has no word", note = $note)]
        #[doc(hidden)]
        pub trait $trait: Send + Sync {
            fn part(self: Box<Self>) -> Box<dyn crate::$trait>;
        }

        impl dyn crate::$trait + '_ {
            /// The word in files, which is the `kind` there.
            pub fn kind(&self) -> &'static str {
                self.typetag_name()
            }
        }

        impl Serialize for dyn crate::$trait + '_ {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                (self as &dyn $trait).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for Box<dyn crate::$trait> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let written = PartVisitor { noun: $noun, object: PhantomData::<Box<dyn $trait>> };
                Ok(deserializer.deserialize_newtype_struct(WRITTEN, written)?.part())
            }
        }
    };
}

registered!(
    Criterion,
    "criterion",
    "`{Self}` is a criterion without a word in pipeline files",
    "put `#[vaglio_core::part(Criterion, \"its_word\")]` on the struct"
);
registered!(
    Learner,
    "learner",
    "`{Self}` is a learner without a word in pipeline files",
    "put `#[vaglio_core::part(Learner, \"its_word\")]` on the struct"
);
registered!(
    Map,
    "map",
    "`{Self}` is a map without a word in pipeline files",
    "put `#[vaglio_core::part(Map, \"its_word\")]` on the struct"
);
registered!(
    TargetMap,
    "target_map",
    "`{Self}` is a target map without a word in pipeline files",
    "put `#[vaglio_core::part(TargetMap, \"its_word\")]` on the struct"
);
registered!(
    Loss,
    "loss",
    "`{Self}` is a loss without a word in pipeline files",
    "put `#[vaglio_core::part(Loss, \"its_word\")]` on the struct"
);
registered!(
    Resampling,
    "resampling",
    "`{Self}` is a resampling without a word in pipeline files",
    "put `#[vaglio_core::part(Resampling, \"its_word\")]` on the struct"
);
registered!(
    ModelData,
    "model",
    "`{Self}` is a model without a word in saved files",
    "put `#[vaglio_core::saved(ModelData, \"its_word\")]` on the struct"
);
registered!(
    FittedTargetMap,
    "fitted target map",
    "`{Self}` is a fitted target map without a word in saved files",
    "put `#[vaglio_core::saved(FittedTargetMap, \"its_word\")]` on the struct"
);
registered!(
    FittedMap,
    "fitted map",
    "`{Self}` is a fitted map without a word in saved files",
    "put `#[vaglio_core::saved(FittedMap, \"its_word\")]` on the struct"
);
