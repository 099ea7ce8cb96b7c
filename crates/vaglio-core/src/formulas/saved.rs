//! Fitted maps in files.

use super::{ColumnFormula, LearnedLevels, MapFormulas};
use crate::{Expression, FittedMap, Result, saved};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Formulas of a map as files hold them.
#[saved(FittedMap, "formulas")]
struct SavedFormulas {
    /// Word of the map.
    map: String,
    made: Vec<ColumnFormula>,
    #[optional]
    are_added: bool,
    levels: Vec<LearnedLevels>,
    domain: String,
}

impl Serialize for MapFormulas {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(map) = &self.by_rows {
            return map.serialize(serializer);
        }
        let saved = SavedFormulas {
            map: self.kind.to_string(),
            made: self.made.clone(),
            are_added: self.are_added,
            levels: self.levels.clone(),
            domain: self.domain.to_string(),
        };
        (&saved as &dyn FittedMap).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for MapFormulas {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let formulas = Box::<dyn FittedMap>::deserialize(deserializer).map(MapFormulas::from)?;
        match formulas.made.iter().find(|formula| !formulas.can_evaluate(formula)) {
            Some(formula) => Err(D::Error::custom(format!("the map has no levels or source for `{}`", formula.name))),
            None => Ok(formulas),
        }
    }
}

impl MapFormulas {
    /// Whether the map has the levels and the one source that a formula needs.
    fn can_evaluate(&self, formula: &ColumnFormula) -> bool {
        let known = self.levels_of(formula.source());
        let has_source = formula.sources.len() == 1;
        match &formula.expression {
            None => true,
            Some(Expression::Level(values)) => {
                let is_known =
                    |known: &LearnedLevels| values.levels.iter().all(|(level, _)| known.places.contains_key(level));
                !self.are_added && has_source && known.is_some_and(is_known)
            }
            Some(_) => self.are_added || has_source && known.is_none(),
        }
    }
}

/// Reads the expression of a formula; a map that reads other rows saves itself instead of formulas.
pub(super) fn read_expression<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Expression>, D::Error> {
    Expression::deserialize(deserializer).map(Some)
}

impl FittedMap for SavedFormulas {
    fn formulas(&self) -> MapFormulas {
        let made = self.made.iter().map(|made| {
            let sources = made.expression.as_ref().map_or_else(Vec::new, Expression::sources);
            ColumnFormula { sources, ..made.clone() }
        });
        let levels = self.levels.iter();
        let levels =
            levels.map(|known| LearnedLevels::new(&known.column, known.levels.iter().cloned(), known.refusal.clone()));
        MapFormulas {
            kind: self.map.clone().into(),
            are_added: self.are_added,
            levels: levels.collect(),
            domain: self.domain.clone().into(),
            ..made.collect()
        }
    }
}

impl From<Box<dyn FittedMap>> for MapFormulas {
    fn from(map: Box<dyn FittedMap>) -> Self {
        let mut formulas = map.formulas();
        if formulas.kind.is_empty() {
            formulas.kind = map.kind().into();
        }
        formulas.by_rows = Some(map).filter(|_| !formulas.takes_rows_alone());
        formulas
    }
}

impl<M: FittedMap + 'static> From<M> for MapFormulas {
    fn from(map: M) -> Self {
        MapFormulas::from(Box::new(map) as Box<dyn FittedMap>)
    }
}
