//! Keys of constraints: names of columns and blocks, and patterns.

use std::collections::{BTreeMap, HashMap};
use vaglio_core::{Block, Design, Error, Feature, Result};

/// Columns of a design by the names that keys may have.
pub(super) struct Keys<'d> {
    pub names: &'d [String],
    pub places: HashMap<&'d str, Feature>,
    blocks: Vec<&'d Block>,
}

impl<'d> Keys<'d> {
    pub fn new(design: &'d Design, blocks: &'d [Block]) -> Self {
        let names = design.problem().names();
        let places = names.iter().enumerate().rev().map(|(f, name)| (name.as_str(), f)).collect();
        Keys { names, places, blocks: blocks.iter().chain(design.problem().blocks()).collect() }
    }

    /// The block with this name.
    pub fn block(&self, key: &str) -> Option<&'d Block> {
        self.blocks.iter().copied().find(|block| block.name == key)
    }

    /// The columns that a key names.
    pub fn columns(&self, key: &str, field: &str) -> Result<Vec<Feature>> {
        if let Some(&feature) = self.places.get(key) {
            return Ok(vec![feature]);
        }
        if let Some(block) = self.block(key) {
            return Ok(block.columns.clone());
        }
        let fitting: Vec<Feature> = match key.contains('*') {
            true => (0..self.names.len()).filter(|&f| fits(key, &self.names[f])).collect(),
            false => Vec::new(),
        };
        if fitting.is_empty() {
            let known =
                self.names.iter().map(String::as_str).chain(self.blocks.iter().map(|block| block.name.as_str()));
            return Err(Error::unknown(field, "column", key, known));
        }
        Ok(fitting)
    }

    /// Factors of every column named like a product: `x*z`, `x^2`, or `x:z` if both are columns.
    pub fn factors(&self) -> BTreeMap<Feature, Vec<Option<Feature>>> {
        let find = |name: &str| self.places.get(name).copied();
        let base = |factor: &str| match factor.rsplit_once('^') {
            Some((base, power)) if power.parse::<u32>().is_ok_and(|power| power > 1) => {
                find(base).or_else(|| find(factor))
            }
            _ => find(factor),
        };
        let find_factors = |(feature, name): (Feature, &String)| {
            let parts: Vec<Option<Feature>> = name.split('*').map(base).collect();
            let is_own = parts.iter().all(|part| part.is_none_or(|part| part == feature));
            let colons: Vec<Option<Feature>> = name.split(':').map(find).collect();
            if !is_own && !name.split('*').any(str::is_empty) && parts.iter().any(Option::is_some) {
                return Some((feature, parts));
            }
            (colons.len() > 1 && colons.iter().all(Option::is_some)).then_some((feature, colons))
        };
        self.names.iter().enumerate().filter_map(find_factors).collect()
    }
}

/// Whether a name matches a pattern, with `*` as the wildcard.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(start) else { return false };
    let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
    ends.into_iter().any(|at| fits(rest, &name[at..]))
}
