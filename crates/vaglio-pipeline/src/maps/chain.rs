//! Formulas of maps that are applied one after another.

use std::collections::HashSet;
use vaglio_core::{ColumnFormula, MapFit, MapFormulas, OutputUnit, TargetUnits};

/// Fitted maps, in order.
#[derive(Debug, Clone, Copy)]
pub struct MapChain<'m>(pub &'m [MapFit]);

/// Scale of a column after maps.
pub struct ColumnScale {
    /// Source column in the data, `None` if the values depend on no column; or the index of the last map that does more
    /// than shift and divide.
    pub source: Result<Option<String>, usize>,
    /// Product of the divisors of the maps since the source; if `source` is an error, of the maps after that one.
    /// `None` if the values have no unit.
    pub divisor: Option<f64>,
}

impl<'m> MapChain<'m> {
    /// Formulas of the maps, from the last map to the first.
    fn backwards(self) -> impl Iterator<Item = &'m MapFormulas> {
        self.0.iter().rev().map(MapFit::formulas)
    }

    /// Distinct columns before the maps from which the columns `names` are made.
    pub fn sources(self, names: &[String]) -> Vec<String> {
        self.backwards().fold(names.to_vec(), |names, formulas| {
            let mut seen = HashSet::new();
            let sources = names.iter().flat_map(|name| formulas.sources(name));
            sources.filter(|name| seen.insert(name.clone())).collect()
        })
    }

    /// Source and scale of the column `name` after the maps.
    pub fn scaled(self, name: &str) -> ColumnScale {
        let (mut name, mut divisor) = (name.to_owned(), 1.0);
        for (place, map) in self.0.iter().enumerate().rev() {
            let Some(ColumnFormula { sources, unit, .. }) = map.formulas().get(&name) else { continue };
            match (unit, &sources[..]) {
                (OutputUnit::Divided(by), []) => return ColumnScale { source: Ok(None), divisor: Some(divisor * by) },
                (OutputUnit::Divided(by), [source]) => {
                    divisor *= by;
                    name.clone_from(source);
                }
                (OutputUnit::Code, _) => return ColumnScale { source: Err(place), divisor: Some(divisor) },
                _ => return ColumnScale { source: Err(place), divisor: None },
            }
        }
        ColumnScale { source: Ok(Some(name)), divisor: Some(divisor) }
    }

    /// Weights of the column `name` per unit of its source column and in units of each target; `None` if it has no unit.
    pub fn original_weights(self, name: &str, weights: &[f64], units: Option<&[TargetUnits]>) -> Option<Vec<f64>> {
        let divisor = self.scaled(name).divisor?;
        let scale = |output: usize| units.map_or(1.0, |units| units[output].scale.scale);
        Some(weights.iter().enumerate().map(|(output, weight)| weight * scale(output) / divisor).collect())
    }

    /// Column before the maps whose block contains the column `name`, if there is one.
    pub fn block_of(self, name: &str) -> Option<String> {
        let (mut source, mut is_block) = (name.to_owned(), false);
        for formulas in self.backwards() {
            let Some(formula) = formulas.get(&source) else { continue };
            let [from] = &formula.sources[..] else { break };
            is_block |= formula.is_block && *from != source;
            source.clone_from(from);
        }
        is_block.then_some(source)
    }
}
