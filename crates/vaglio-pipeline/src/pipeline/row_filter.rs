//! Filters of rows by column values, and markers of test rows.

use crate::document::{LABEL, Label};
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use vaglio_core::{Error, Result};

/// Rows by the values of one column. A row with a missing cell does not pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowFilter {
    /// The column, which may be a feature or excluded.
    pub column: String,
    /// The smallest number or first date that passes.
    #[serde(default)]
    pub from: Option<Label>,
    /// The largest number or last date that passes; a day or year is included whole.
    #[serde(default)]
    pub to: Option<Label>,
    /// The value that passes, or a list of values.
    #[serde(default)]
    pub is: Option<Labels>,
}

/// A column that marks test rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestRows {
    /// The column; it is not a feature.
    pub column: String,
    /// The value of test rows, or a list of values.
    pub is: Labels,
}

/// One filter, or several that a row must pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RowFilters {
    /// A single filter.
    One(RowFilter),
    /// A list of filters.
    Several(Vec<RowFilter>),
}

/// One value, or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Labels {
    /// A single value.
    One(Label),
    /// A list of values.
    Several(Vec<Label>),
}

impl Labels {
    /// The values as a slice.
    pub fn all(&self) -> &[Label] {
        match self {
            Labels::One(label) => std::slice::from_ref(label),
            Labels::Several(labels) => labels,
        }
    }
}

impl RowFilter {
    /// Describes the filter in words.
    pub fn words(&self) -> String {
        let bound = |word: &str, bound: &Option<Label>| bound.as_ref().map(|bound| format!(" {word} {}", bound.0));
        let is = self.is.as_ref().map(|is| {
            let values: Vec<&str> = is.all().iter().map(|value| value.0.as_str()).collect();
            format!(" is {}", values.join(" or "))
        });
        let parts = [bound("from", &self.from), bound("to", &self.to), is];
        format!("{}{}", self.column, parts.into_iter().flatten().collect::<String>())
    }

    pub(super) fn check(&self, field: &str) -> Result<()> {
        match (self.from.is_some() || self.to.is_some(), self.is.as_ref().map(Labels::all)) {
            (false, None) => Err(Error::setting(field, "it names no rows; give `from`, `to` or `is`")),
            (true, Some(_)) => {
                Err(Error::setting(field, "`is` cannot be combined with `from` and `to`; give two filters"))
            }
            (false, Some([])) => Err(Error::setting(format!("{field}.is"), "at least one value is needed")),
            _ => Ok(()),
        }
    }
}

impl<'de> Deserialize<'de> for RowFilters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FiltersVisitor;
        impl<'de> Visitor<'de> for FiltersVisitor {
            type Value = RowFilters;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a filter such as {column: year, from: 1990}, or a list of filters")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RowFilters, A::Error> {
                RowFilter::deserialize(MapAccessDeserializer::new(map)).map(RowFilters::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, filters: A) -> Result<RowFilters, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(filters)).map(RowFilters::Several)
            }
        }
        deserializer.deserialize_any(FiltersVisitor)
    }
}

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LabelsVisitor;
        impl<'de> Visitor<'de> for LabelsVisitor {
            type Value = Labels;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a value, or a list of values")
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Labels, D::Error> {
                deserializer.deserialize_any(self)
            }

            fn visit_str<E>(self, value: &str) -> Result<Labels, E> {
                Ok(Labels::One(Label(value.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<Labels, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(values)).map(Labels::Several)
            }
        }
        deserializer.deserialize_newtype_struct(LABEL, LabelsVisitor)
    }
}
