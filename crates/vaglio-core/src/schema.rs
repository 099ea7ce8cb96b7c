//! JSON Schemas of settings that are not derived.

/// Gives a type a JSON Schema, in builds that have them.
///
/// `schema!(Margin, count: Count => {"anyOf": [count, {"type": "string"}]})` uses the schema of `Count`.
#[cfg(feature = "schema")]
#[macro_export]
macro_rules! schema {
    ($type:ident $(, $name:ident: $of:ty)* => $schema:tt) => {
        impl $crate::schemars::JsonSchema for $type {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_generator: &mut $crate::schemars::SchemaGenerator) -> $crate::schemars::Schema {
                $(let $name = _generator.subschema_for::<$of>();)*
                $crate::schemars::json_schema!($schema)
            }
        }
    };
}

/// Does nothing, in a build without JSON Schemas.
#[cfg(not(feature = "schema"))]
#[macro_export]
macro_rules! schema {
    ($($any:tt)*) => {};
}
