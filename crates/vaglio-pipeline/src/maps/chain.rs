//! Formulas of maps that are applied one after another.

use std::collections::HashSet;
use vaglio_core::{ColumnFormula, FittedMap, MapFormulas, OutputUnit};

/// Formulas of fitted maps, in order.
#[derive(Debug, Default)]
pub struct MapChain(pub Vec<MapFormulas>);

/// Scale of a numeric column after maps.
pub struct ColumnScale {
    /// Source column in the data; `None` if the values depend on no column.
    pub source: Option<String>,
    /// Number that the values were divided by.
    pub divisor: f64,
}

impl MapChain {
    /// Collects the formulas of maps, in their order.
    pub fn new(maps: &[Box<dyn FittedMap>]) -> Self {
        MapChain(maps.iter().map(|map| map.formulas()).collect())
    }

    /// Distinct columns before the maps from which the columns `names` are made.
    pub fn sources(&self, names: &[String]) -> Vec<String> {
        self.0.iter().rev().fold(names.to_vec(), |names, formulas| {
            let mut seen = HashSet::new();
            let sources = names.iter().flat_map(|name| formulas.sources(name));
            sources.filter(|name| seen.insert(name.clone())).collect()
        })
    }

    /// Source and scale of the column `name` after the maps.
    ///
    /// # Errors
    /// The index of the last map that does more than shift and divide. If that map makes a code, also the divisor that
    /// later maps apply to it.
    pub fn scaled(&self, name: &str) -> Result<ColumnScale, (usize, Option<f64>)> {
        let (mut name, mut divisor) = (name.to_owned(), 1.0);
        for (place, formulas) in self.0.iter().enumerate().rev() {
            let Some(ColumnFormula { sources, unit, .. }) = formulas.get(&name) else { continue };
            match unit {
                OutputUnit::Divided(by) => divisor *= by,
                OutputUnit::Code => return Err((place, Some(divisor))),
                OutputUnit::Other => return Err((place, None)),
            }
            match &sources[..] {
                [] => return Ok(ColumnScale { source: None, divisor }),
                [source] => name.clone_from(source),
                _ => return Err((place, None)),
            }
        }
        Ok(ColumnScale { source: Some(name), divisor })
    }

    /// Column before the maps whose block contains the column `name`, if there is one.
    pub fn block_of(&self, name: &str) -> Option<String> {
        let (mut source, mut is_block) = (name.to_owned(), false);
        for formulas in self.0.iter().rev() {
            let Some(formula) = formulas.get(&source) else { continue };
            let [from] = &formula.sources[..] else { break };
            is_block |= formula.is_block && *from != source;
            source.clone_from(from);
        }
        is_block.then_some(source)
    }
}
