//! Columns that the settings of a search name.

use std::collections::BTreeSet;
use vaglio_core::{Design, Feature};
use vaglio_search::{Blocks, Search};

/// Columns of a design that the settings of a search or of its stages name, in increasing order.
pub(super) fn named_columns(search: &Search, design: &Design) -> Vec<Feature> {
    let (names, settings) = (design.problem().names(), &search.settings);
    let blocks = if let Some(Blocks::Named(named)) = &settings.blocks { Some(named) } else { None };
    let listed = settings.forced.iter().chain(&settings.excluded);
    let listed = listed.chain(blocks.into_iter().flat_map(|named| named.values().flatten()));
    let constraints = serde_json::to_string(&settings.constraints).unwrap_or_default();
    let is_constrained = |feature: &Feature| constraints.contains(&format!("{:?}", names[*feature]));
    let stages = search.stages().iter().flat_map(|stage| named_columns(stage, design));
    let all = listed.filter_map(|feature| feature.resolve(names, "").ok());
    let all: BTreeSet<Feature> = all.chain((0..names.len()).filter(is_constrained)).chain(stages).collect();
    all.into_iter().collect()
}
