//! Formulas of maps that are applied one after another.

use crate::target_maps::TargetUnits;
use std::collections::HashSet;
use vaglio_core::{ColumnFormula, MapFormulas, OutputUnit};

/// Scale of a column after maps.
pub struct ColumnScale {
    /// Source column in the data; `None` if there is none, or if a map does more than shift and divide.
    pub source: Option<String>,
    /// Product of the divisors of the maps since the source, or of the maps after one that makes codes. `None` if the
    /// values have no unit.
    pub divisor: Option<f64>,
}

/// Distinct columns before fitted maps from which the columns `names` are made.
pub fn source_columns(maps: &[MapFormulas], names: &[String]) -> Vec<String> {
    maps.iter().rev().fold(names.to_vec(), |names, map| {
        let mut seen = HashSet::new();
        let sources = names.iter().flat_map(|name| map.sources(name));
        sources.filter(|name| seen.insert(name.clone())).collect()
    })
}

/// Column before fitted maps whose block contains the column `name`, if there is one.
pub fn block_of(maps: &[MapFormulas], name: &str) -> Option<String> {
    let (mut source, mut is_block) = (name.to_owned(), false);
    for map in maps.iter().rev() {
        let Some(formula) = map.get(&source) else { continue };
        let [from] = &formula.sources[..] else { break };
        is_block |= formula.is_block && *from != source;
        source.clone_from(from);
    }
    is_block.then_some(source)
}

impl ColumnScale {
    /// Source and scale of the column `name` after fitted maps.
    pub fn new(maps: &[MapFormulas], name: &str) -> Self {
        let (mut name, mut divisor) = (name.to_owned(), 1.0);
        for map in maps.iter().rev() {
            let Some(ColumnFormula { sources, unit, .. }) = map.get(&name) else { continue };
            match (unit, &sources[..]) {
                (OutputUnit::Divided(by), []) => return ColumnScale { source: None, divisor: Some(divisor * by) },
                (OutputUnit::Divided(by), [source]) => {
                    divisor *= by;
                    name.clone_from(source);
                }
                (OutputUnit::Code, _) => return ColumnScale { source: None, divisor: Some(divisor) },
                _ => return ColumnScale { source: None, divisor: None },
            }
        }
        ColumnScale { source: Some(name), divisor: Some(divisor) }
    }

    /// Weights of the column per unit of its source column and in units of each target; `None` if it has no unit.
    pub fn original_weights(&self, weights: &[f64], units: Option<&[TargetUnits]>) -> Option<Vec<f64>> {
        let divisor = self.divisor?;
        let scale = |output: usize| units.map_or(1.0, |units| units[output].scale.scale);
        Some(weights.iter().enumerate().map(|(output, weight)| weight * scale(output) / divisor).collect())
    }
}
