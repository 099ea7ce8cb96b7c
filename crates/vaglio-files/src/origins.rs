//! Source columns of candidates that maps made.

use super::train_test::TrainTest;
use std::collections::{HashMap, HashSet};
use std::slice::from_ref;
use vaglio_core::{Design, MapFit, numbered, rows_by_label};
use vaglio_pipeline::maps::source_columns;
use vaglio_report::record::{Frequency, MadeColumns};

/// Candidates of a run on all rows, and the maps that made them.
pub(super) struct Origins<'p> {
    names: &'p [String],
    /// `None` if no map made candidates under new names, or if the learner makes its own features.
    maps: Option<&'p [MapFit]>,
}

impl<'p> Origins<'p> {
    /// Cost O(candidates · columns made by maps).
    pub fn new(prepared: &'p TrainTest, design: &'p Design) -> Self {
        let maps = &prepared.maps[..];
        let is_made = |name: &String| source_columns(maps, from_ref(name)) != [&**name];
        let may_be_made = !prepared.maps.is_empty() && design.has_columns_of(&prepared.train);
        let is_made = may_be_made && design.names().iter().any(is_made);
        Origins { names: design.names(), maps: is_made.then_some(maps) }
    }

    /// Groups of candidates with the same sources, except single unchanged columns, in the order of the first.
    pub fn made(&self) -> Vec<MadeColumns> {
        let Some(maps) = self.maps else { return Vec::new() };
        let sources = |index: usize| source_columns(maps, from_ref(&self.names[index]));
        let (numbers, _) = numbered((0..self.names.len()).map(sources));
        let made = rows_by_label(&numbers).into_iter().map(|columns| MadeColumns { of: sources(columns[0]), columns });
        let is_itself = |made: &MadeColumns| made.columns.len() == 1 && made.of == [&*self.names[made.columns[0]]];
        made.filter(|made| !made.of.is_empty() && !is_itself(made)).collect()
    }

    /// Selection frequency of each candidate over the sets.
    pub fn frequency(&self, sets: &[HashSet<String>]) -> Vec<Frequency> {
        frequency(sets, self.names)
    }

    /// Selection frequency of each data column over the sets; empty if candidates are data columns.
    pub fn source_frequency(&self, sets: &[HashSet<String>]) -> Vec<Frequency> {
        let Some(maps) = self.maps else { return Vec::new() };
        let of_set = |set: &HashSet<String>| set.iter().flat_map(|name| source_columns(maps, from_ref(name))).collect();
        let of_sets: Vec<HashSet<String>> = sets.iter().map(of_set).collect();
        frequency(&of_sets, &source_columns(maps, self.names))
            .into_iter()
            .map(|frequency| Frequency { index: None, ..frequency })
            .collect()
    }
}

/// Selection frequency of each name over the sets, most frequent first, then in candidate order.
fn frequency(sets: &[HashSet<String>], names: &[String]) -> Vec<Frequency> {
    let places: HashMap<&String, usize> = names.iter().enumerate().map(|(place, name)| (name, place)).collect();
    let mut counts: HashMap<&String, usize> = HashMap::new();
    sets.iter().flatten().for_each(|name| *counts.entry(name).or_default() += 1);
    let mut counted: Vec<(usize, Option<usize>, &String)> =
        counts.into_iter().map(|(name, count)| (count, places.get(name).copied(), name)).collect();
    counted.sort_by(|a, b| {
        b.0.cmp(&a.0).then(a.1.unwrap_or(usize::MAX).cmp(&b.1.unwrap_or(usize::MAX))).then(a.2.cmp(b.2))
    });
    let frequency = |(count, index, name): (usize, Option<usize>, &String)| Frequency {
        index,
        name: name.clone(),
        share: count as f64 / sets.len() as f64,
    };
    counted.into_iter().map(frequency).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_the_most_frequent_first() {
        let set = |names: [&str; 2]| names.map(str::to_owned).into_iter().collect::<HashSet<String>>();
        let names = ["a", "b", "c"].map(str::to_owned);
        let counted = frequency(&[set(["c", "b"]), set(["b", "a"])], &names);
        let told: Vec<(&str, f64)> = counted.iter().map(|f| (f.name.as_str(), f.share)).collect();
        assert_eq!(told, [("b", 1.0), ("a", 0.5), ("c", 0.5)]);
        assert_eq!(counted[0].index, Some(1));
    }
}
