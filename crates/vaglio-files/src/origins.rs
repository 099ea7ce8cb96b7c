//! Source columns of candidates that maps made.

use super::TrainTest;
use super::nested_validation::frequency;
use std::collections::{HashMap, HashSet};
use std::slice::from_ref;
use vaglio_core::Design;
use vaglio_pipeline::maps::MapChain;
use vaglio_report::record::{Frequency, MadeColumns};

/// Candidates of a run on all rows, and the maps that made them.
pub(super) struct Origins<'p> {
    pub names: &'p [String],
    /// `None` if no map made candidates under new names, or if the learner makes its own features.
    chain: Option<MapChain<'p>>,
}

impl<'p> Origins<'p> {
    /// Cost O(candidates · columns made by maps).
    pub fn new(prepared: &'p TrainTest, design: &'p Design) -> Self {
        let chain = MapChain(&prepared.maps);
        let is_made = |name: &String| chain.sources(from_ref(name)) != [&**name];
        let may_be_made = !prepared.maps.is_empty() && design.has_columns_of(&prepared.train);
        let is_made = may_be_made && design.names().iter().any(is_made);
        Origins { names: design.names(), chain: is_made.then_some(chain) }
    }

    /// Groups of candidates with the same sources, except single unchanged columns, in the order of the first.
    pub fn made(&self) -> Vec<MadeColumns> {
        let Some(chain) = self.chain else { return Vec::new() };
        // Sources are numbered, since there may be as many lists of them as candidates.
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut places: HashMap<Vec<usize>, usize> = HashMap::new();
        let mut made: Vec<MadeColumns> = Vec::new();
        for (index, name) in self.names.iter().enumerate() {
            let of = chain.sources(from_ref(name));
            let number = |source: &String| {
                let next = numbers.len();
                *numbers.entry(source.clone()).or_insert(next)
            };
            let place = *places.entry(of.iter().map(number).collect()).or_insert(made.len());
            match made.get_mut(place) {
                Some(known) => known.columns.push(index),
                None => made.push(MadeColumns { of, columns: vec![index] }),
            }
        }
        let is_itself = |made: &MadeColumns| made.of == std::slice::from_ref(&self.names[made.columns[0]]);
        made.retain(|made| !made.of.is_empty() && (made.columns.len() > 1 || !is_itself(made)));
        made
    }

    /// Selection frequency of each data column over the sets; empty if candidates are data columns.
    pub fn frequency(&self, sets: &[HashSet<String>]) -> Vec<Frequency> {
        let Some(chain) = self.chain else { return Vec::new() };
        let of_set = |set: &HashSet<String>| set.iter().flat_map(|name| chain.sources(from_ref(name))).collect();
        let of_sets: Vec<HashSet<String>> = sets.iter().map(of_set).collect();
        frequency(&of_sets, &chain.sources(self.names))
            .into_iter()
            .map(|frequency| Frequency { index: None, ..frequency })
            .collect()
    }
}
