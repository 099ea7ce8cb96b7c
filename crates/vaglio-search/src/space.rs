//! Search space: groups of features, and the limits of the subsets.

use crate::feature_groups::FeatureGroups;
use crate::settings::{SearchSettings, refuse_conflicts};
use crate::{Choose, FeatureRef, PathEntry, Rules, SubsetScorer};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use vaglio_core::{Block, Column, Design, Error, Feature, Result, Score, SearchExtent, pluralize};
use vaglio_kernels::duplicates::first_equal;

/// Subsets of a design that the settings allow.
///
/// Features are added and removed in groups: single features, or all features of a block. A group is named by its first
/// feature.
#[derive(Debug)]
pub struct Space<'d> {
    /// Design that is searched.
    pub design: &'d Design,
    groups: Vec<Vec<Feature>>,
    /// Index in `groups` of the group that each feature names.
    places: Vec<Option<usize>>,
    /// Groups that are added first and never removed, in order.
    pub forced: Vec<Feature>,
    /// Maximum number of features of a subset.
    pub most: usize,
    /// Minimum number of features of the result, at most all that there are.
    pub least: Option<usize>,
    /// Shared settings of the search.
    pub settings: SearchSettings,
    /// Constraints, resolved to columns of the design.
    pub(crate) rules: Option<Rules>,
    /// First group with equal columns, of each group; computed on first use.
    originals: OnceCell<Vec<Feature>>,
}

impl<'d> Space<'d> {
    /// Resolves checked settings on a design. Cost O(features), and O(rows) for each constant feature.
    pub(crate) fn new(settings: SearchSettings, design: &'d Design) -> Result<Self> {
        let names = design.problem().names();
        let forced = FeatureRef::resolve_all(&settings.forced, names, "forced")?;
        let excluded = FeatureRef::resolve_all(&settings.excluded, names, "excluded")?;
        refuse_conflicts(&forced, &excluded, |feature| names[*feature].clone())?;
        let partition = FeatureGroups::new(settings.blocks.as_ref(), design)?;
        partition.refuse(&forced, &excluded, design)?;
        let (forced, excluded) = (partition.whole(&forced), partition.whole(&excluded));
        let most = most(&settings, names.len(), forced.len(), excluded.len())?;
        let groups = partition.groups(&excluded);
        let least = settings.min_features.map(|least| least.min(groups.iter().map(Vec::len).sum()));
        let rules = rules(&settings, design, &partition, &groups, &forced)?;
        let mut places = vec![None; design.features()];
        groups.iter().enumerate().for_each(|(place, group)| places[group[0]] = Some(place));
        // The first feature of a block stands for all.
        let forced = forced.into_iter().filter(|&first| places[first].is_some()).collect();
        Ok(Space { design, groups, places, forced, most, least, settings, rules, originals: OnceCell::new() })
    }

    /// Groups that may be selected, by first feature, each in increasing order.
    pub fn groups(&self) -> &[Vec<Feature>] {
        &self.groups
    }

    /// Features of a group; empty if `first` names none.
    pub fn group(&self, first: Feature) -> &[Feature] {
        self.places.get(first).copied().flatten().map_or(&[], |place| &self.groups[place])
    }

    /// Names of the groups, in order.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = Feature> {
        self.groups.iter().map(|group| group[0])
    }

    /// Number of features in all groups.
    pub fn features(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    /// Limits subsets to as many features as there are rows, unless `max_features` is given.
    pub fn limit_to_rows(&mut self) {
        if self.settings.max_features.is_none() {
            self.most = self.most.min(self.design.planned_rows().max(*self.allowed_sizes().start()));
        }
    }

    /// Size of the smallest nonempty subset within the limits.
    pub fn smallest(&self) -> usize {
        self.least.unwrap_or(1).max(1)
    }

    /// Size of the largest subset within the limits.
    pub fn largest(&self) -> usize {
        self.most.min(self.features())
    }

    /// Extent of additions one by one, from the empty subset to the largest.
    pub fn forward(&self) -> SearchExtent {
        SearchExtent::forward(self.features(), self.most)
    }

    /// Sizes that the result may have.
    pub fn allowed_sizes(&self) -> RangeInclusive<usize> {
        self.least.unwrap_or(0).max(self.forced_features().len())..=self.most
    }

    /// Entry that is the result of a walk that reached the entry `last` last.
    ///
    /// Returns `None` if the chosen entry scores +∞, or no entry lowers the score of the `empty` subset enough.
    /// `empty` is `None` if the empty subset cannot be the result or does not compare with others.
    pub fn result(&self, empty: Option<Score>, entries: &[PathEntry], last: usize) -> Option<usize> {
        let (choose, allowed) = (&self.settings.choose, self.allowed_sizes());
        let drop = self.settings.tolerance.unwrap_or(0.0);
        let none = empty.is_some_and(|empty| choose.takes_none(empty, entries, &allowed, drop));
        let is_allowed = |entry: &usize| !none && entries[*entry].score.loss < f64::INFINITY;
        choose.pick(entries, last, &allowed).filter(is_allowed)
    }

    /// Refuses a choice within one standard error if the score of the empty subset has none.
    pub(crate) fn check_choice(&self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        if self.settings.choose == Choose::OneSe && subset.standard_error()?.is_none() {
            let message = "`one_se` needs a standard error, and the score of this criterion has none; use `best`, or \
                           {rule: one_se, folds: 5}, which cross-validates the search";
            return Err(Error::setting("choose", message));
        }
        Ok(())
    }

    /// Features of the forced groups, group by group.
    pub fn forced_features(&self) -> Vec<Feature> {
        self.features_of(&self.forced)
    }

    /// Features of the groups that are not forced.
    pub(crate) fn free_features(&self) -> Vec<Feature> {
        self.features_of(&self.free())
    }

    /// Features of some groups, group by group.
    pub(crate) fn features_of(&self, groups: &[Feature]) -> Vec<Feature> {
        groups.iter().flat_map(|&group| self.group(group)).copied().collect()
    }

    /// Groups that are not forced.
    pub fn free(&self) -> Vec<Feature> {
        self.firsts().filter(|group| !self.forced.contains(group)).collect()
    }

    /// Groups inside or outside of a subset of whole groups, in order.
    pub(crate) fn members(&self, subset: &[Feature], is_in: bool) -> Vec<Feature> {
        let mut inside = vec![false; self.places.len()];
        subset.iter().for_each(|&feature| inside[feature] = true);
        self.firsts().filter(|&group| inside[group] == is_in).collect()
    }

    /// Whether a subset consists of whole groups, with every forced one. Cost O(features).
    pub fn has_whole_groups(&self, subset: &[Feature]) -> bool {
        let whole = self.features_of(&self.members(subset, true));
        whole.len() == subset.len()
            && whole.iter().all(|feature| subset.contains(feature))
            && self.forced.iter().all(|group| subset.contains(group))
    }

    /// First group with equal columns, bit for bit, of each group. Cost O(rows · features), once.
    pub fn originals(&self) -> &[Feature] {
        self.originals.get_or_init(|| originals(&self.groups, self.design))
    }
}

/// First group with equal columns, of each group. Cost O(rows · columns).
fn originals(groups: &[Vec<Feature>], design: &Design) -> Vec<Feature> {
    let columns: Vec<Column<'_>> = groups.iter().flatten().map(|&feature| design.column(feature)).collect();
    let first = first_equal(&columns);
    let (mut known, mut rest) = (HashMap::new(), &first[..]);
    let mut originals: Vec<Feature> = (0..design.features()).collect();
    for group in groups {
        let (own, others) = rest.split_at(group.len());
        rest = others;
        originals[group[0]] = *known.entry(own).or_insert(group[0]);
    }
    originals
}

/// Resolves the constraints on a design and refuses those that no subset can keep.
fn rules(
    settings: &SearchSettings,
    design: &Design,
    partition: &FeatureGroups,
    groups: &[Vec<Feature>],
    forced: &[Feature],
) -> Result<Option<Rules>> {
    let Some(constraints) = &settings.constraints else { return Ok(None) };
    let under = |error: Error| error.under("constraints");
    let rules = Rules::new(constraints, design, &partition.blocks).map_err(under)?;
    let moving = groups.iter().filter(|group| group.len() > 1);
    let named = |group: &Vec<Feature>| Some(Block { columns: group.clone(), ..partition.block(group[0])?.clone() });
    rules.refuse_split_blocks(&moving.filter_map(named).collect::<Vec<_>>()).map_err(under)?;
    rules.refuse_impossible(&groups.concat(), forced, design.problem().names())?;
    Ok(Some(rules))
}

/// Checks the settings that count features and returns the maximum subset size.
fn most(settings: &SearchSettings, features: usize, forced: usize, excluded: usize) -> Result<usize> {
    // A number above the number of features means all.
    let most = settings.max_features.unwrap_or(features).min(features);
    settings.check_sizes(forced, most)?;
    let least = settings.min_features.unwrap_or(1).max(forced);
    if let Choose::Size(size) = settings.choose
        && !(least..=most).contains(&size)
    {
        let asked = pluralize(size, "column");
        let message = format!("{asked} asked for, and there are {least} to {most} in the result");
        return Err(Error::setting("choose", message));
    }
    if excluded == features && features > 0 {
        return Err(Error::setting("excluded", "every column is excluded"));
    }
    Ok(most)
}
