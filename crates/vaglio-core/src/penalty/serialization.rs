//! The penalty λ as written in pipeline files.

use super::{AutoGrid, Lambda, LambdaScope};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use vaglio_macros::setting;

/// The values of a grid: explicit, or fitted to the design.
#[derive(Serialize)]
#[serde(untagged)]
enum Grid {
    Auto(AutoGridKeyword),
    Ends(Ends),
}

impl<'de> Deserialize<'de> for Grid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(GridVisitor)
    }
}

struct GridVisitor;

impl<'de> Visitor<'de> for GridVisitor {
    type Value = Grid;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("`auto` or {from, to, points}")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Grid, E> {
        AutoGridKeyword::deserialize(word.into_deserializer()).map(Grid::Auto)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Grid, A::Error> {
        Ends::deserialize(MapAccessDeserializer::new(map)).map(Grid::Ends)
    }
}

/// The word for a grid that is fitted to the design.
#[setting]
enum AutoGridKeyword {
    Auto,
}

#[setting]
struct Ends {
    from: f64,
    to: f64,
    points: usize,
}

#[setting]
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
    points: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extend: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per: Option<LambdaScope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<Outputs>,
}

/// Whether outputs share λ.
#[setting]
#[derive(Copy, PartialEq, Eq)]
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
                let ends = Ends { from: *from, to: *to, points: *points };
                Several { grid: Some(Grid::Ends(ends)), per: *per, ..none }
            }
            Lambda::Auto(AutoGrid { points, extend, per }) => {
                let grid = Some(Grid::Auto(AutoGridKeyword::Auto));
                Several { grid, points: *points, extend: Some(*extend), per: *per, ..none }
            }
            Lambda::Search { from, to } => Several { search: Some(Range { from: *from, to: *to }), ..none },
            Lambda::EachOutput(of) => Several { outputs: Some(Outputs::Each), ..Several::from(&**of) },
        }
    }
}

impl Serialize for Lambda {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Lambda::Fixed(value) => serializer.serialize_f64(*value),
            _ => Several::from(self).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Lambda {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LambdaVisitor)
    }
}

struct LambdaVisitor;

impl<'de> Visitor<'de> for LambdaVisitor {
    type Value = Lambda;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number, {grid: auto}, {grid: {from, to, points}}, {values: [...]} or {search: {from, to}}")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Lambda, E> {
        Ok(Lambda::Fixed(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Lambda, E> {
        Ok(Lambda::Fixed(value as f64))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Lambda, E> {
        Ok(Lambda::Fixed(value as f64))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Lambda, A::Error> {
        let several = Several::deserialize(MapAccessDeserializer::new(map))?;
        if several.outputs == Some(Outputs::Each) {
            if matches!(several.per, Some(LambdaScope::Path | LambdaScope::All)) {
                return Err(de::Error::custom("`outputs: each` takes lambda for every subset; leave `per` out"));
            }
            return several.lambda().map(|of| Lambda::EachOutput(Box::new(of)));
        }
        several.lambda()
    }
}

impl Several {
    /// The penalty that outputs share or that each has.
    fn lambda<E: de::Error>(self) -> Result<Lambda, E> {
        match self {
            Several { grid: Some(Grid::Auto(_)), values: None, search: None, points, extend, per, .. } => {
                Ok(Lambda::Auto(AutoGrid { points, extend: extend.unwrap_or(true), per }))
            }
            Several { points: Some(_), .. } | Several { extend: Some(_), .. } => {
                Err(E::custom("`points` and `extend` beside `grid` are those of `grid: auto`"))
            }
            Several { grid: Some(Grid::Ends(Ends { from, to, points })), values: None, search: None, per, .. } => {
                Ok(Lambda::Grid { from, to, points, per })
            }
            Several { grid: None, values: Some(values), search: None, per, .. } => Ok(Lambda::Values { values, per }),
            Several {
                grid: None,
                values: None,
                search: Some(Range { from, to }),
                per: None | Some(LambdaScope::Subset),
                ..
            } => Ok(Lambda::Search { from, to }),
            Several {
                search: Some(_),
                per: Some(LambdaScope::Path | LambdaScope::All),
                grid: None,
                values: None,
                ..
            } => Err(E::custom("`search` finds lambda for every subset; give a grid for `per: path` and `per: all`")),
            _ => Err(E::custom("one of `grid`, `values` and `search` gives lambda")),
        }
    }
}

vaglio_core::schema!(Lambda, auto: AutoGridKeyword, grid: Ends, range: Range, per: LambdaScope, outputs: Outputs => {
    "description": "The penalty: one positive number, or several: one is taken for a whole walk (`per: path`, by cross-validation of the search), by the criterion on all columns before the search (`per: all`) or for every subset by the criterion (`per: subset`), then on demand for each output (`outputs: each`).",
    "oneOf": [
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "object", "properties": {"grid": grid, "per": per, "outputs": outputs}, "required": ["grid"], "additionalProperties": false},
        {
            "type": "object",
            "properties": {
                "grid": auto,
                "points": {"description": "How many values; one or two for each power of ten where it is left out.", "type": "integer", "minimum": 2},
                "extend": {"description": "Whether an end at which the loss is lowest is extended until the loss stops falling.", "type": "boolean", "default": true},
                "per": per,
                "outputs": outputs
            },
            "required": ["grid"],
            "additionalProperties": false
        },
        {"type": "object", "properties": {"search": range, "outputs": outputs}, "required": ["search"], "additionalProperties": false},
        {
            "type": "object",
            "properties": {"values": {"type": "array", "minItems": 1, "items": {"type": "number", "exclusiveMinimum": 0}}, "per": per, "outputs": outputs},
            "required": ["values"],
            "additionalProperties": false
        }
    ]
});
