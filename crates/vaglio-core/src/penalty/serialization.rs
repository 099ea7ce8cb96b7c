//! The penalty λ as written in pipeline files.

use super::{Lambda, LambdaChoice, LambdaScope};
use crate::MixedSetting;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, IntoDeserializer, MapAccess};
use serde::{Deserialize, Serialize};
use vaglio_macros::setting;

/// The values of a grid: explicit, or fitted to the design.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Grid {
    Auto(AutoGridKeyword),
    Ends(Ends),
}

vaglio_core::mixed_setting!(Grid);

impl MixedSetting for Grid {
    const EXPECTED: &'static str = "`auto` or {from, to, points}";

    fn from_text<E: de::Error>(word: &str) -> Result<Self, E> {
        AutoGridKeyword::deserialize(word.into_deserializer()).map(Grid::Auto)
    }

    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        Ends::deserialize(MapAccessDeserializer::new(map)).map(Grid::Ends)
    }
}

/// The word for a grid that is fitted to the design.
#[setting]
#[derive(PartialEq)]
pub(super) enum AutoGridKeyword {
    Auto,
}

#[setting]
#[derive(PartialEq)]
pub(super) struct Ends {
    pub from: f64,
    pub to: f64,
    pub points: usize,
}

#[setting]
#[derive(PartialEq)]
pub(super) struct Range {
    pub from: f64,
    pub to: f64,
}

/// Whether outputs share λ.
#[setting]
#[derive(Copy, PartialEq, Eq)]
pub(super) enum Outputs {
    Shared,
    Each,
}

vaglio_core::mixed_setting!(Lambda);

impl MixedSetting for Lambda {
    const EXPECTED: &'static str =
        "a number, {grid: auto}, {grid: {from, to, points}}, {values: [...]} or {search: {from, to}}";

    fn from_number<E: de::Error>(value: f64) -> Result<Self, E> {
        Ok(value.into())
    }

    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        LambdaChoice::deserialize(MapAccessDeserializer::new(map))?.normalize().map(Lambda::from)
    }
}

impl LambdaChoice {
    /// Refuses settings that exclude each other, and drops those without effect.
    fn normalize<E: de::Error>(mut self) -> Result<Self, E> {
        self.outputs = self.outputs.filter(|outputs| *outputs == Outputs::Each);
        let is_per_subset = matches!(self.per, None | Some(LambdaScope::Subset));
        let is_auto = matches!(self.grid, Some(Grid::Auto(_)));
        let ways = [self.grid.is_some(), self.values.is_some(), self.search.is_some()];
        if self.outputs.is_some() && !is_per_subset {
            return Err(E::custom("`outputs: each` takes lambda for every subset; leave `per` out"));
        }
        if !is_auto && (self.points.is_some() || self.extend.is_some()) {
            return Err(E::custom("`points` and `extend` need `grid: auto`"));
        }
        if ways.into_iter().filter(|way| *way).count() != 1 {
            return Err(E::custom("one of `grid`, `values` and `search` gives lambda"));
        }
        if self.search.is_some() {
            if !is_per_subset {
                return Err(E::custom(
                    "`search` finds lambda for every subset; give a grid for `per: path` and `per: all`",
                ));
            }
            self.per = None;
        }
        if is_auto {
            self.extend = self.extend.or(Some(true));
        }
        Ok(self)
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
