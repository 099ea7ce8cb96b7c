//! Parts by their word: as settings of other parts, and as objects that files hold.

use crate::{Role, title};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A part as a setting of another: in files a bare word, or its `kind` with its settings.
///
/// Two are equal if they are written alike. A function of `impl Into<Part<dyn Learner>>` accepts a learner,
/// `Box<dyn Learner>` and `Arc<dyn Learner>`.
pub struct Part<P: ?Sized>(pub(crate) Arc<P>);

/// A trait of parts that are settings of others.
pub trait NamedPart: fmt::Debug + Serialize {
    /// Place of the part in a pipeline.
    const ROLE: Role;

    /// Word in pipeline files.
    fn word(&self) -> &'static str;
}

/// Name of the newtype that objects of registered traits are read as; a reader recognizes them by it.
pub const WRITTEN: &str = "vaglio_core::registered";

/// Defines how objects of the traits are written and read.
macro_rules! registered_traits {
    ($($trait:ident $noun:literal)*) => {
        /// Registers objects of the traits by their words; [`part`](crate::part) and [`saved`](crate::saved)
        /// implement it.
        #[doc(hidden)]
        pub mod registered {
            $(
                #[typetag::serde(tag = "kind")]
                #[diagnostic::on_unimplemented(
                    message = "`{Self}` has no word in files",
                    label = "has no word",
                    note = "put `#[vaglio_core::part(Trait, \"its_word\")]` on the struct, or `saved` for fitted state"
                )]
                pub trait $trait: Send + Sync {
                    fn part(self: Box<Self>) -> Box<dyn super::$trait>;
                }
            )*
        }

        $(
            impl dyn $trait + '_ {
                /// Word in files, the `kind` there.
                pub fn kind(&self) -> &'static str {
                    self.typetag_name()
                }
            }

            impl serde::Serialize for dyn $trait + '_ {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serde::Serialize::serialize(self as &dyn registered::$trait, serializer)
                }
            }

            impl<'de> serde::Deserialize<'de> for Box<dyn $trait> {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    crate::read_mixed(deserializer)
                }
            }

            /// A map with its `kind`, or a word for the `kind` alone.
            impl crate::MixedSetting for Box<dyn $trait> {
                const EXPECTED: &'static str =
                    concat!("a ", $noun, ": its word, or keys and values with that as `kind`");
                const NEWTYPE: &'static str = crate::part_setting::WRITTEN;

                fn from_text<E: serde::de::Error>(word: &str) -> Result<Self, E> {
                    crate::MixedSetting::from_map(serde::de::value::MapDeserializer::new([("kind", word)].into_iter()))
                }

                fn from_map<'de, A: serde::de::MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
                    let map = serde::de::value::MapAccessDeserializer::new(map);
                    let part: Box<dyn registered::$trait> = serde::Deserialize::deserialize(map)?;
                    Ok(part.part())
                }
            }
        )*
    };
}
pub(crate) use registered_traits;

/// Lets parts of a trait be settings of others.
macro_rules! named_part {
    ($trait:ident) => {
        impl crate::NamedPart for dyn $trait + '_ {
            const ROLE: crate::Role = crate::Role::$trait;

            fn word(&self) -> &'static str {
                self.kind()
            }
        }

        impl<P: $trait + 'static> From<P> for crate::Part<dyn $trait> {
            fn from(part: P) -> Self {
                crate::Part(std::sync::Arc::new(part))
            }
        }

        impl<P: $trait + 'static> From<std::sync::Arc<P>> for crate::Part<dyn $trait> {
            fn from(part: std::sync::Arc<P>) -> Self {
                crate::Part(part)
            }
        }
    };
}
pub(crate) use named_part;

impl<P: ?Sized> From<Arc<P>> for Part<P> {
    fn from(part: Arc<P>) -> Self {
        Part(part)
    }
}

impl<P: ?Sized> From<Box<P>> for Part<P> {
    fn from(part: Box<P>) -> Self {
        Part(part.into())
    }
}

impl<P: ?Sized> From<Part<P>> for Arc<P> {
    fn from(setting: Part<P>) -> Self {
        setting.0
    }
}

impl<P: NamedPart + ?Sized> Part<P> {
    /// Name for people.
    pub fn title(&self) -> &'static str {
        title(P::ROLE, self.0.word())
    }

    fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(&*self.0).unwrap_or_default()
    }
}

impl<P: ?Sized> Clone for Part<P> {
    fn clone(&self) -> Self {
        Part(Arc::clone(&self.0))
    }
}

impl<P: ?Sized> Deref for Part<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.0
    }
}

impl<P: NamedPart + ?Sized> PartialEq for Part<P> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.to_json() == other.to_json()
    }
}

impl<P: NamedPart + ?Sized> fmt::Debug for Part<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<P: NamedPart + ?Sized> Serialize for Part<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.to_json().as_object() {
            Some(settings) if settings.len() > 1 => self.0.serialize(serializer),
            _ => serializer.serialize_str(self.0.word()),
        }
    }
}

impl<'de, P: NamedPart + ?Sized> Deserialize<'de> for Part<P>
where
    Box<P>: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::deserialize(deserializer).map(|part: Box<P>| Part(part.into()))
    }
}

#[cfg(feature = "schema")]
impl<P: NamedPart + ?Sized> schemars::JsonSchema for Part<P> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{:?}", P::ROLE).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"$ref": format!("#/$defs/{:?}", P::ROLE)})
    }
}
