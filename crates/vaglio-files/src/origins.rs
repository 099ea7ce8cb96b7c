//! Source columns of candidates that maps made.

use super::evaluations::Run;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::slice::from_ref;
use vaglio_core::{MapFormulas, number_labels, rows_by_label};
use vaglio_pipeline::maps::source_columns;
use vaglio_report::record::{Frequency, MadeColumns};

impl<'r> Run<'r> {
    /// The maps, if they made candidates under new names and the learner makes no features of its own. Cost
    /// O(candidates · maps).
    fn renaming_maps(self) -> Option<&'r [MapFormulas]> {
        let maps = &self.prepared.maps[..];
        let is_made = |name: &String| source_columns(maps, from_ref(name)) != [&**name];
        let may_be_made = !maps.is_empty() && self.design.problem().has_columns_of(&self.prepared.train);
        (may_be_made && self.design.problem().names().iter().any(is_made)).then_some(maps)
    }

    /// Groups of candidates with the same sources, except single unchanged columns, in the order of the first.
    pub fn columns_by_sources(self) -> Vec<MadeColumns> {
        let (Some(maps), names) = (self.renaming_maps(), self.design.problem().names()) else { return Vec::new() };
        let sources = |index: usize| source_columns(maps, from_ref(&names[index]));
        let (numbers, _) = number_labels((0..names.len()).map(sources));
        let made = rows_by_label(&numbers).into_iter().map(|columns| MadeColumns { of: sources(columns[0]), columns });
        let is_itself = |made: &MadeColumns| made.columns.len() == 1 && made.of == [&*names[made.columns[0]]];
        made.filter(|made| !made.of.is_empty() && !is_itself(made)).collect()
    }

    /// Selection frequency of each candidate over the sets.
    pub fn frequency(self, sets: &[HashSet<String>]) -> Vec<Frequency> {
        frequency(sets, self.design.problem().names())
    }

    /// Selection frequency of each data column over the sets; empty if candidates are data columns.
    pub fn source_frequency(self, sets: &[HashSet<String>]) -> Vec<Frequency> {
        let Some(maps) = self.renaming_maps() else { return Vec::new() };
        let set_sources =
            |set: &HashSet<String>| set.iter().flat_map(|name| source_columns(maps, from_ref(name))).collect();
        let source_sets: Vec<HashSet<String>> = sets.iter().map(set_sources).collect();
        frequency(&source_sets, &source_columns(maps, self.design.problem().names()))
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
    counted.sort_by_key(|&(count, index, name)| (Reverse(count), index.unwrap_or(usize::MAX), name));
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
        let shares: Vec<(&str, f64)> = counted.iter().map(|f| (f.name.as_str(), f.share)).collect();
        assert_eq!(shares, [("b", 1.0), ("a", 0.5), ("c", 0.5)]);
        assert_eq!(counted[0].index, Some(1));
    }
}
