//! Features that are added and removed together.

use crate::FeatureRef;
use crate::settings::Blocks;
use vaglio_core::{Block, Design, Error, Feature, Result};

/// Partition of the features of a design into single features and blocks.
pub(crate) struct FeatureGroups {
    /// Named blocks of the partition.
    pub blocks: Vec<Block>,
    /// Index of the block of each feature, if it is in one.
    block_index: Vec<Option<usize>>,
    /// Whether each feature can be selected: it is not constant, and an earlier search took it, if there was one.
    usable: Vec<bool>,
}

impl FeatureGroups {
    pub fn new(blocks: Option<&Blocks>, design: &Design) -> Result<Self> {
        let mut blocks = resolved_blocks(blocks, design)?;
        let mut block_index: Vec<Option<usize>> = vec![None; design.features()];
        for (number, block) in blocks.iter().enumerate() {
            for (k, &feature) in block.columns.iter().enumerate() {
                let Some(other) = block_index[feature].replace(number) else { continue };
                let why = match other == number {
                    true => "listed twice".into(),
                    false => format!("in the block `{}` already", blocks[other].name),
                };
                let message = format!("`{}` is {why}", design.problem().names()[feature]);
                return Err(Error::setting(format!("blocks.{}[{k}]", block.name), message));
            }
        }
        blocks.iter_mut().for_each(|block| block.columns.sort_unstable());
        let mut usable = vec![false; design.features()];
        design.candidates().into_iter().for_each(|f| usable[f] = true);
        Ok(FeatureGroups { blocks, block_index, usable })
    }

    /// Block of a feature, if it is in one.
    pub fn block(&self, feature: Feature) -> Option<&Block> {
        self.block_index[feature].map(|block| &self.blocks[block])
    }

    /// The features that move with a feature, itself included.
    fn together<'f>(&'f self, feature: &'f Feature) -> &'f [Feature] {
        self.block(*feature).map_or(std::slice::from_ref(feature), |block| &block.columns)
    }

    /// Refuses an excluded feature in the block of a forced one, and a forced single feature that cannot be selected.
    pub fn refuse(&self, forced: &[Feature], excluded: &[Feature], design: &Design) -> Result<()> {
        let names = design.problem().names();
        for &out in excluded {
            let Some(block) = self.block(out) else { continue };
            if let Some(&inside) = forced.iter().find(|f| block.columns.contains(f)) {
                let (out, inside, block) = (&names[out], &names[inside], &block.name);
                let message = format!("`{out}` moves with `{inside}` in the block `{block}`, and `{inside}` is forced");
                return Err(Error::setting("excluded", message));
            }
        }
        match forced.iter().find(|f| !self.usable[**f] && self.block_index[**f].is_none()) {
            Some(&f) => {
                let why = if design.problem().constant().contains(&f) {
                    "is constant"
                } else {
                    "was not taken by the search before"
                };
                let message = format!("`{}` {why}, so it cannot be selected", names[f]);
                Err(Error::setting("forced", message))
            }
            None => Ok(()),
        }
    }

    /// Completes features to whole blocks, without block members that cannot be selected; in order, each once.
    pub fn whole(&self, features: &[Feature]) -> Vec<Feature> {
        let mut whole = Vec::new();
        let mut seen = vec![false; self.block_index.len()];
        for feature in features {
            let moving = self.together(feature).iter().filter(|f| self.block_index[**f].is_none() || self.usable[**f]);
            whole.extend(moving.filter(|f| !std::mem::replace(&mut seen[**f], true)));
        }
        whole
    }

    /// Groups of the features that can be selected and are not excluded, by first feature, each in increasing order.
    pub fn groups(&self, excluded: &[Feature]) -> Vec<Vec<Feature>> {
        let mut usable = self.usable.clone();
        excluded.iter().for_each(|&f| usable[f] = false);
        let mut groups = Vec::new();
        for feature in (0..usable.len()).filter(|&f| usable[f]) {
            let moving: Vec<Feature> = self.together(&feature).iter().copied().filter(|&f| usable[f]).collect();
            if moving[0] == feature {
                groups.push(moving);
            }
        }
        groups
    }
}

fn resolved_blocks(blocks: Option<&Blocks>, design: &Design) -> Result<Vec<Block>> {
    let one = |(name, columns): (&String, &Vec<FeatureRef>)| {
        let field = format!("blocks.{name}");
        if columns.is_empty() {
            return Err(Error::setting(field, "a block needs at least one column"));
        }
        Ok(Block { name: name.clone(), columns: FeatureRef::resolve_all(columns, design.problem().names(), &field)? })
    };
    match blocks {
        None => Ok(Vec::new()),
        Some(Blocks::OneHot) => Ok(design.problem().blocks().to_vec()),
        Some(Blocks::Named(named)) => named.iter().map(one).collect(),
    }
}
