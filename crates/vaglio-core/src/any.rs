//! Parts inside of parts, as settings.

use crate::{Criterion, Learner, Loss, Map, Resampling, Role, Squared, TargetMap, title};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A part as a setting of another part. Files hold a bare word, or `kind` and settings.
///
/// Two are equal if they serialize alike. An `impl Into<AnyLearner>` argument accepts a learner, `Box<dyn Learner>` and
/// `Arc<dyn Learner>`; likewise for every role.
pub struct Any<P: ?Sized>(Arc<P>);

/// A trait whose implementations are settings of others.
pub trait Inner: fmt::Debug + Serialize {
    /// Role of the trait's implementations.
    const ROLE: Role;

    /// The identifier in files.
    fn word(&self) -> &'static str;
}

/// Defines aliases of [`Any`] for traits of parts, with conversions from plain, boxed and shared parts.
macro_rules! any {
    ($($(#[$about:meta])* $any:ident = $trait:ident, $role:ident;)*) => {$(
        $(#[$about])*
        pub type $any = Any<dyn $trait>;

        impl Inner for dyn $trait {
            const ROLE: Role = Role::$role;

            fn word(&self) -> &'static str {
                self.kind()
            }
        }

        impl<P: $trait + 'static> From<P> for $any {
            fn from(part: P) -> Self {
                Any(Arc::new(part))
            }
        }

        impl<P: $trait + 'static> From<Arc<P>> for $any {
            fn from(part: Arc<P>) -> Self {
                Any(part)
            }
        }

        impl From<Arc<dyn $trait>> for $any {
            fn from(part: Arc<dyn $trait>) -> Self {
                Any(part)
            }
        }

        impl From<&Arc<dyn $trait>> for $any {
            fn from(part: &Arc<dyn $trait>) -> Self {
                Any(Arc::clone(part))
            }
        }

        impl From<Box<dyn $trait>> for $any {
            fn from(part: Box<dyn $trait>) -> Self {
                Any(part.into())
            }
        }

        impl From<$any> for Arc<dyn $trait> {
            fn from(any: $any) -> Self {
                any.0
            }
        }
    )*};
}

any! {
    /// Any criterion.
    AnyCriterion = Criterion, Criterion;
    /// Any learner.
    AnyLearner = Learner, Learner;
    /// Any map of columns.
    AnyMap = Map, Map;
    /// Any map of targets.
    AnyTargetMap = TargetMap, TargetMap;
    /// Any loss, by default [`Squared`].
    AnyLoss = Loss, Loss;
    /// Any way to hold rows out.
    AnyResampling = Resampling, Resampling;
}

impl Default for AnyLoss {
    fn default() -> Self {
        Squared.into()
    }
}

impl<P: Inner + ?Sized> Any<P> {
    /// Identifier of the part in pipeline files.
    pub fn name(&self) -> &'static str {
        self.0.word()
    }

    /// Name of the part for people.
    pub fn title(&self) -> &'static str {
        title(P::ROLE, self.name())
    }

    /// Serialized form of the part.
    fn written(&self) -> serde_json::Value {
        serde_json::to_value(&*self.0).unwrap_or_default()
    }
}

impl<P: ?Sized> Clone for Any<P> {
    fn clone(&self) -> Self {
        Any(Arc::clone(&self.0))
    }
}

impl<P: ?Sized> Deref for Any<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.0
    }
}

impl<P: Inner + ?Sized> PartialEq for Any<P> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.written() == other.written()
    }
}

impl<P: Inner + ?Sized> fmt::Debug for Any<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<P: Inner + ?Sized> Serialize for Any<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.written().as_object() {
            Some(settings) if settings.len() > 1 => self.0.serialize(serializer),
            _ => serializer.serialize_str(self.name()),
        }
    }
}

impl<'de, P: Inner + ?Sized> Deserialize<'de> for Any<P>
where
    Box<P>: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::deserialize(deserializer).map(|part: Box<P>| Any(part.into()))
    }
}

impl<P: Inner + ?Sized> schemars::JsonSchema for Any<P> {
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
