//! Of which columns of the data candidates are made.

use super::Prepared;
use super::repetition::frequency;
use std::collections::{HashMap, HashSet};
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Design, FittedMap};
use vaglio_report::record::{Frequency, MadeColumns};

/// Candidates that maps made of columns under other names, with these; empty where the learner makes its own.
pub(super) struct Origins(HashMap<String, Vec<String>>);

impl Origins {
    /// Cost O(candidates · what maps made).
    pub fn new(prepared: &Prepared, design: &Design) -> Self {
        if prepared.maps.is_empty() || !design.is_of(&prepared.train) {
            return Origins(HashMap::new());
        }
        let of =
            |name: &String| Some((name.clone(), sources(&prepared.maps, name))).filter(|(name, of)| of != &[&**name]);
        Origins(design.names().iter().filter_map(of).collect())
    }

    /// The candidates that share their sources, where these are not one column alone, in the order of the first.
    pub fn made(&self, names: &[String]) -> Vec<MadeColumns> {
        let mut places: HashMap<&[String], usize> = HashMap::new();
        let mut made: Vec<MadeColumns> = Vec::new();
        for (index, name) in names.iter().enumerate().filter(|_| !self.0.is_empty()) {
            let of = self.of(name);
            let place = *places.entry(of).or_insert(made.len());
            match made.get_mut(place) {
                Some(known) => known.columns.push(index),
                None => made.push(MadeColumns { of: of.to_vec(), columns: vec![index] }),
            }
        }
        let tells = |made: &MadeColumns| {
            !made.of.is_empty() && (made.columns.len() > 1 || self.0.contains_key(&names[made.columns[0]]))
        };
        made.retain(tells);
        made
    }

    /// How often each column of the data has a part in the sets; empty where candidates are the columns of the data.
    pub fn frequency(&self, sets: &[HashSet<String>], names: &[String]) -> Vec<Frequency> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let of_set = |set: &HashSet<String>| set.iter().flat_map(|name| self.of(name)).cloned().collect();
        let sources: Vec<HashSet<String>> = sets.iter().map(of_set).collect();
        let mut order: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        names.iter().flat_map(|name| self.of(name)).for_each(|name| {
            if seen.insert(name) {
                order.push(name.clone());
            }
        });
        frequency(&sources, &order).into_iter().map(|frequency| Frequency { index: None, ..frequency }).collect()
    }

    fn of<'n>(&'n self, name: &'n String) -> &'n [String] {
        self.0.get(name).map_or(std::slice::from_ref(name), Vec::as_slice)
    }
}

/// The columns of the data that a column is made of.
pub(super) fn sources(maps: &[Box<dyn FittedMap>], name: &str) -> Vec<String> {
    let mut names = vec![name.to_owned()];
    for map in maps.iter().rev() {
        let mut before: Vec<String> = Vec::new();
        for name in names.iter().flat_map(|name| map.sources(name)) {
            if !before.contains(&name) {
                before.push(name);
            }
        }
        names = before;
    }
    names
}
