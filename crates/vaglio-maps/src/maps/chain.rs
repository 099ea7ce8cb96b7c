//! Formulas of maps that are applied one after another.

use crate::target_maps::TargetUnits;
use std::collections::HashSet;
use vaglio_core::{ColumnFormula, MapFormulas, OutputUnit};

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

/// Source column of the column `name` after fitted maps, with the product of the divisors of the maps since. `None` if
/// there is no source, or if a map does more than shift and divide.
pub fn scaled_source(maps: &[MapFormulas], name: &str) -> Option<(String, f64)> {
    let (source, divisor) = source_and_divisor(maps, name);
    source.zip(divisor)
}

/// Weights of the column `name` after fitted maps, per unit of its source column and in units of each target. `None` if
/// its values have no unit.
pub fn original_weights(
    maps: &[MapFormulas],
    name: &str,
    weights: &[f64],
    units: Option<&[TargetUnits]>,
) -> Option<Vec<f64>> {
    let divisor = source_and_divisor(maps, name).1?;
    let scale = |output: usize| units.map_or(1.0, |units| units[output].scale.scale);
    Some(weights.iter().enumerate().map(|(output, weight)| weight * scale(output) / divisor).collect())
}

/// Source column, and the product of the divisors of the maps since the source or since a map that makes codes.
fn source_and_divisor(maps: &[MapFormulas], name: &str) -> (Option<String>, Option<f64>) {
    let (mut name, mut divisor) = (name.to_owned(), 1.0);
    for map in maps.iter().rev() {
        let Some(ColumnFormula { sources, unit, .. }) = map.get(&name) else { continue };
        match (unit, &sources[..]) {
            (OutputUnit::Divided(by), []) => return (None, Some(divisor * by)),
            (OutputUnit::Divided(by), [source]) => {
                divisor *= by;
                name.clone_from(source);
            }
            (OutputUnit::Code, _) => return (None, Some(divisor)),
            _ => return (None, None),
        }
    }
    (Some(name), Some(divisor))
}
