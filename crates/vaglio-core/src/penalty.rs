//! How the penalty of a ridge readout is given.

use crate::shown::number;
use crate::{Error, Result};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

/// The penalty λ: one value, or several of which the criterion takes the best for every subset.
#[derive(Debug, Clone, PartialEq)]
pub enum Lambda {
    /// One value.
    Fixed(f64),
    /// `points` values in geometric progression, both ends included.
    Grid {
        /// The smallest.
        from: f64,
        /// The largest.
        to: f64,
        /// How many, at least 2.
        points: usize,
        /// For what one of them is taken.
        per: Option<Per>,
    },
    /// These values.
    Values {
        /// In any order.
        values: Vec<f64>,
        /// For what one of them is taken.
        per: Option<Per>,
    },
    /// Any value in between, found for every subset by Brent's method.
    Search {
        /// The smallest.
        from: f64,
        /// The largest.
        to: f64,
    },
    /// One of these for each output, by the criterion, for every subset: never of a [`Lambda::Fixed`] or of itself.
    EachOutput(Box<Lambda>),
}

/// For what one λ of several is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// For a whole walk, which is repeated for each λ.
    Path,
    /// For every subset, by its score.
    Subset,
}

impl Default for Lambda {
    fn default() -> Self {
        Lambda::Fixed(1.0)
    }
}

impl From<f64> for Lambda {
    fn from(value: f64) -> Self {
        Lambda::Fixed(value)
    }
}

impl Lambda {
    /// `points` values in geometric progression from `from` to `to`.
    pub fn grid(from: f64, to: f64, points: usize) -> Self {
        Lambda::Grid { from, to, points, per: None }
    }

    /// One of these values.
    pub fn one_of(values: Vec<f64>) -> Self {
        Lambda::Values { values, per: None }
    }

    /// For what one of several values is taken, where that was said.
    pub fn per(&self) -> Option<Per> {
        match self {
            Lambda::Grid { per, .. } | Lambda::Values { per, .. } => *per,
            Lambda::EachOutput(_) => Some(Per::Subset),
            Lambda::Fixed(_) | Lambda::Search { .. } => None,
        }
    }

    /// The values, in increasing order; for a search those from which it starts, two for each power of ten.
    ///
    /// # Errors
    /// [`Error::Setting`] on `lambda` for a value that is not positive and finite, or a grid without extent.
    pub fn values(&self) -> Result<Vec<f64>> {
        let positive = |field: &str, value: f64| {
            if value.is_finite() && value > 0.0 {
                return Ok(value);
            }
            Err(Error::setting(field, format!("{} is not a positive finite number", number(value))))
        };
        match self {
            Lambda::EachOutput(of) => of.values(),
            Lambda::Fixed(value) => Ok(vec![positive("lambda", *value)?]),
            Lambda::Values { values, .. } => {
                if values.is_empty() {
                    return Err(Error::setting("lambda.values", "at least one value is needed"));
                }
                let numbered = values.iter().enumerate();
                let mut values: Vec<f64> =
                    numbered.map(|(k, &v)| positive(&format!("lambda.values[{k}]"), v)).collect::<Result<_>>()?;
                values.sort_by(f64::total_cmp);
                values.dedup();
                Ok(values)
            }
            Lambda::Grid { from, to, points, .. } => {
                let (from, to) = (positive("lambda.grid.from", *from)?, positive("lambda.grid.to", *to)?);
                increasing("lambda.grid", from, to)?;
                if !(2..=100_000).contains(points) {
                    return Err(Error::setting("lambda.grid.points", format!("{points} is not between 2 and 100000")));
                }
                Ok(geometric(from, to, *points))
            }
            Lambda::Search { from, to } => {
                let (from, to) = (positive("lambda.search.from", *from)?, positive("lambda.search.to", *to)?);
                increasing("lambda.search", from, to)?;
                Ok(geometric(from, to, 2 * (to.log10() - from.log10()).ceil().max(1.0) as usize + 1))
            }
        }
    }

    /// Whether λ between the values are searched as well.
    pub fn is_search(&self) -> bool {
        match self {
            Lambda::EachOutput(of) => of.is_search(),
            Lambda::Fixed(_) | Lambda::Grid { .. } | Lambda::Values { .. } => false,
            Lambda::Search { .. } => true,
        }
    }

    /// Whether each output has its own.
    pub fn is_of_each_output(&self) -> bool {
        matches!(self, Lambda::EachOutput(_))
    }
}

fn increasing(field: &str, from: f64, to: f64) -> Result<()> {
    if from < to {
        return Ok(());
    }
    Err(Error::setting(field, format!("from is {from} and to is {to}; from must be smaller")))
}

/// `points` values in geometric progression, both ends included.
fn geometric(from: f64, to: f64, points: usize) -> Vec<f64> {
    let last = points - 1;
    // In powers of ten, so that round ends give round values.
    let (low, high) = (from.log10(), to.log10());
    let value = |k: usize| match k {
        0 => from,
        k if k == last => to,
        k => 10f64.powf(low + (high - low) * k as f64 / last as f64),
    };
    (0..points).map(value).collect()
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Grid {
    from: f64,
    to: f64,
    points: usize,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Range {
    from: f64,
    to: f64,
}

/// The forms with settings: exactly one of `grid`, `values` and `search`.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Several {
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<Grid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per: Option<Per>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<Outputs>,
}

/// Whether outputs share λ.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Outputs {
    Shared,
    Each,
}

impl From<&Lambda> for Several {
    fn from(lambda: &Lambda) -> Self {
        let none = Several::default();
        match lambda {
            Lambda::Fixed(value) => Several { values: Some(vec![*value]), ..none },
            Lambda::Values { values, per } => Several { values: Some(values.clone()), per: *per, ..none },
            Lambda::Grid { from, to, points, per } => {
                Several { grid: Some(Grid { from: *from, to: *to, points: *points }), per: *per, ..none }
            }
            Lambda::Search { from, to } => Several { search: Some(Range { from: *from, to: *to }), ..none },
            Lambda::EachOutput(of) => Several { outputs: Some(Outputs::Each), ..Several::from(&**of) },
        }
    }
}

impl Serialize for Lambda {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Lambda::Fixed(value) => serializer.serialize_f64(*value),
            _ => Several::from(self).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Lambda {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(LambdaVisitor)
    }
}

struct LambdaVisitor;

impl<'de> Visitor<'de> for LambdaVisitor {
    type Value = Lambda;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number, {grid: {from, to, points}}, {values: [...]} or {search: {from, to}}")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> std::result::Result<Lambda, E> {
        Ok(Lambda::Fixed(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> std::result::Result<Lambda, E> {
        Ok(Lambda::Fixed(value as f64))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> std::result::Result<Lambda, E> {
        Ok(Lambda::Fixed(value as f64))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<Lambda, A::Error> {
        let several = Several::deserialize(MapAccessDeserializer::new(map))?;
        if several.outputs == Some(Outputs::Each) {
            if several.per == Some(Per::Path) {
                return Err(de::Error::custom("`outputs: each` takes lambda for every subset; leave `per: path` out"));
            }
            return several.lambda().map(|of| Lambda::EachOutput(Box::new(of)));
        }
        several.lambda()
    }
}

impl Several {
    /// What outputs share, or each has.
    fn lambda<E: de::Error>(self) -> std::result::Result<Lambda, E> {
        match self {
            Several { grid: Some(Grid { from, to, points }), values: None, search: None, per, .. } => {
                Ok(Lambda::Grid { from, to, points, per })
            }
            Several { grid: None, values: Some(values), search: None, per, .. } => Ok(Lambda::Values { values, per }),
            Several {
                grid: None,
                values: None,
                search: Some(Range { from, to }),
                per: None | Some(Per::Subset),
                ..
            } => Ok(Lambda::Search { from, to }),
            Several { search: Some(_), per: Some(Per::Path), grid: None, values: None, .. } => {
                Err(E::custom("`search` finds lambda for every subset; give a grid for `per: path`"))
            }
            _ => Err(E::custom("one of `grid`, `values` and `search` gives lambda")),
        }
    }
}

impl JsonSchema for Lambda {
    fn schema_name() -> Cow<'static, str> {
        "Lambda".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (grid, range) = (generator.subschema_for::<Grid>(), generator.subschema_for::<Range>());
        let (per, outputs) = (generator.subschema_for::<Per>(), generator.subschema_for::<Outputs>());
        json_schema!({
            "description": "The penalty: one positive number, or several: one is taken for a whole walk (`per: path`, by cross-validation of the search) or for every subset by the criterion (`per: subset`), then on demand for each output (`outputs: each`).",
            "oneOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "object", "properties": {"grid": grid, "per": per, "outputs": outputs}, "required": ["grid"], "additionalProperties": false},
                {"type": "object", "properties": {"search": range, "outputs": outputs}, "required": ["search"], "additionalProperties": false},
                {
                    "type": "object",
                    "properties": {"values": {"type": "array", "minItems": 1, "items": {"type": "number", "exclusiveMinimum": 0}}, "per": per, "outputs": outputs},
                    "required": ["values"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_geometric_with_both_ends() {
        let values = Lambda::grid(1e-3, 1e3, 7).values().unwrap();
        assert_eq!((values[0], values[6]), (1e-3, 1e3));
        assert_eq!(values[3], 1.0);
    }

    #[test]
    fn values_that_are_not_positive_are_refused_by_place() {
        let error = Lambda::one_of(vec![1.0, -2.0]).values().unwrap_err();
        assert_eq!(error.field(), Some("lambda.values[1]"));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Lambda::Fixed(bad).values().is_err());
        }
        assert!(Lambda::grid(2.0, 1.0, 3).values().is_err());
        assert_eq!(Lambda::Search { from: 2.0, to: 1.0 }.values().unwrap_err().field(), Some("lambda.search"));
    }

    #[test]
    fn a_search_starts_from_two_values_for_each_power_of_ten() {
        let values = Lambda::Search { from: 1e-2, to: 1e1 }.values().unwrap();
        assert_eq!((values.len(), values[0], values[6]), (7, 1e-2, 1e1));
    }

    #[test]
    fn every_form_reads_back() {
        for text in [
            "0.5",
            r#"{"grid":{"from":0.1,"to":10.0,"points":5}}"#,
            r#"{"grid":{"from":0.1,"to":10.0,"points":5},"per":"path"}"#,
            r#"{"values":[1.0,2.0]}"#,
            r#"{"values":[1.0,2.0],"per":"subset"}"#,
            r#"{"search":{"from":0.1,"to":10.0}}"#,
            r#"{"search":{"from":0.1,"to":10.0},"outputs":"each"}"#,
            r#"{"values":[1.0,2.0],"per":"subset","outputs":"each"}"#,
        ] {
            let lambda: Lambda = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&lambda).unwrap(), text);
        }
        for bad in [
            r#"{"search":{"from":1,"to":2,"points":3}}"#,
            r#"{"search":{"from":1,"to":2},"per":"path"}"#,
            r#"{"values":[1.0],"search":{"from":1,"to":2}}"#,
            r#"{"per":"path"}"#,
            r#"{"values":[1.0],"per":"path","outputs":"each"}"#,
        ] {
            assert!(serde_json::from_str::<Lambda>(bad).is_err(), "{bad}");
        }
    }
}
