//! The settings that every search has, resolved against a design.

use super::frame::Frame;
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use vaglio_core::{Block, Choose, Design, Error, Feature, FeatureRef, Result};

/// Columns that enter and leave together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged, expecting = "expected `one_hot` or a map from names to lists of columns")]
pub enum Blocks {
    /// Those that preprocessing made of one column each.
    Made(Origin),
    /// Those of each list, by name or index.
    Named(BTreeMap<String, Vec<FeatureRef>>),
}

/// What made the columns of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// One-hot coding: a block holds the levels of a text column.
    OneHot,
}

/// What is done with the result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Polish {
    /// Nothing.
    #[default]
    None,
    /// One column (or block) is exchanged for another, the best exchange first, as long as that lowers the score.
    Swaps,
}

/// The fields of a search by the names that all searches share.
pub(super) struct Settings<'a> {
    pub max_features: Option<usize>,
    pub min_features: Option<usize>,
    pub tolerance: Option<f64>,
    pub patience: Option<usize>,
    pub forced: &'a [FeatureRef],
    pub excluded: &'a [FeatureRef],
    pub choose: Choose,
    pub blocks: Option<&'a Blocks>,
    pub polish: Polish,
}

/// The [`Settings`] of a search from its fields.
macro_rules! settings {
    ($search:expr) => {
        $crate::settings::Settings {
            max_features: $search.max_features,
            min_features: $search.min_features,
            tolerance: $search.tolerance,
            patience: $search.patience,
            forced: &$search.forced,
            excluded: &$search.excluded,
            choose: $search.choose,
            blocks: $search.blocks.as_ref(),
            polish: $search.polish,
        }
    };
}
pub(super) use settings;

impl Settings<'_> {
    /// What the settings say about a design.
    ///
    /// # Errors
    /// [`Error::Setting`] or [`Error::UnknownName`] with the field's path.
    pub fn frame(&self, design: &Design) -> Result<Frame> {
        let names = design.names();
        let forced = resolved(self.forced, "forced", names)?;
        let excluded = resolved(self.excluded, "excluded", names)?;
        for (position, feature) in forced.iter().enumerate() {
            if excluded.contains(feature) {
                return Err(Error::setting("excluded", format!("`{}` is forced as well", names[*feature])));
            }
            if forced[..position].contains(feature) {
                return Err(Error::setting("forced", format!("`{}` stands twice", names[*feature])));
            }
        }
        let groups = Groups::new(self.blocks(design)?, design)?;
        groups.refuse_mixed(&forced, &excluded, names)?;
        let (forced, excluded) = (groups.whole(&forced), groups.whole(&excluded));
        let most = self.range(names.len(), forced.len(), excluded.len())?;
        if let Some(constant) = forced.iter().find(|f| groups.constant[**f] && groups.of[**f].is_none()) {
            let name = &names[*constant];
            return Err(Error::setting("forced", format!("`{name}` is constant, so it cannot be selected")));
        }
        Ok(self.framed(&groups, &forced, &excluded, most))
    }

    fn framed(&self, groups: &Groups, forced: &[Feature], excluded: &[Feature], most: usize) -> Frame {
        let mut usable: Vec<bool> = groups.constant.iter().map(|constant| !constant).collect();
        excluded.iter().for_each(|&f| usable[f] = false);
        let units = groups.units(&usable);
        let mut unit_of = vec![None; usable.len()];
        for (unit, columns) in units.iter().enumerate() {
            columns.iter().for_each(|&f| unit_of[f] = Some(unit));
        }
        let mut entering: Vec<usize> = Vec::new();
        for unit in forced.iter().filter_map(|&f| unit_of[f]) {
            if !entering.contains(&unit) {
                entering.push(unit);
            }
        }
        let columns = units.iter().map(Vec::len).sum();
        let least = self.min_features.map(|least| least.min(columns));
        let Settings { tolerance, patience, choose, polish, .. } = *self;
        Frame {
            units,
            forced: entering,
            columns,
            most,
            least,
            tolerance,
            patience,
            choose,
            polish,
            originals: OnceCell::new(),
        }
    }

    /// The largest subset, after the checks of what counts columns.
    fn range(&self, columns: usize, forced: usize, excluded: usize) -> Result<usize> {
        let most = self.max_features.unwrap_or(columns);
        if self.max_features == Some(0) {
            return Err(Error::setting("max_features", "0 features cannot be selected; 1 is the least"));
        }
        if most > columns {
            return Err(Error::setting(
                "max_features",
                format!("{most} features are asked for and there are {columns} candidate columns"),
            ));
        }
        if forced > most {
            let message = format!("{forced} columns are forced and max_features is {most}");
            return Err(Error::setting("forced", message));
        }
        if self.min_features.is_some_and(|least| least > most) {
            return Err(Error::setting("min_features", format!("it is larger than max_features, which is {most}")));
        }
        if excluded == columns && columns > 0 {
            return Err(Error::setting("excluded", "every column is excluded"));
        }
        if self.tolerance.is_some_and(|t| !t.is_finite()) {
            return Err(Error::setting("tolerance", "it must be a finite number or null"));
        }
        Ok(most)
    }

    fn blocks(&self, design: &Design) -> Result<Vec<Block>> {
        let one = |(name, columns): (&String, &Vec<FeatureRef>)| {
            let field = format!("blocks.{name}");
            if columns.is_empty() {
                return Err(Error::setting(field, "a block needs at least one column"));
            }
            Ok(Block { name: name.clone(), columns: resolved(columns, &field, design.names())? })
        };
        match self.blocks {
            None => Ok(Vec::new()),
            Some(Blocks::Made(Origin::OneHot)) => Ok(design.blocks().to_vec()),
            Some(Blocks::Named(named)) => named.iter().map(one).collect(),
        }
    }
}

fn resolved(references: &[FeatureRef], field: &str, names: &[String]) -> Result<Vec<Feature>> {
    references.iter().enumerate().map(|(k, r)| r.resolve(names, &format!("{field}[{k}]"))).collect()
}

/// Which columns move together.
struct Groups {
    blocks: Vec<Block>,
    /// The block of each column, if it is in one.
    of: Vec<Option<usize>>,
    constant: Vec<bool>,
}

impl Groups {
    fn new(mut blocks: Vec<Block>, design: &Design) -> Result<Self> {
        let mut of: Vec<Option<usize>> = vec![None; design.features()];
        for (number, block) in blocks.iter().enumerate() {
            for (k, &feature) in block.columns.iter().enumerate() {
                let field = || format!("blocks.{}[{k}]", block.name);
                let column = &design.names()[feature];
                match of[feature].replace(number) {
                    Some(other) if other == number => {
                        return Err(Error::setting(field(), format!("`{column}` stands twice")));
                    }
                    Some(other) => {
                        let other = &blocks[other].name;
                        return Err(Error::setting(field(), format!("`{column}` is in the block `{other}` already")));
                    }
                    None => {}
                }
            }
        }
        blocks.iter_mut().for_each(|block| block.columns.sort_unstable());
        let constant = (0..design.features()).map(|f| design.column(f).is_constant()).collect();
        Ok(Groups { blocks, of, constant })
    }

    fn block(&self, feature: Feature) -> Option<&Block> {
        self.of[feature].map(|block| &self.blocks[block])
    }

    fn refuse_mixed(&self, forced: &[Feature], excluded: &[Feature], names: &[String]) -> Result<()> {
        for &out in excluded {
            let Some(block) = self.block(out) else { continue };
            if let Some(&inside) = forced.iter().find(|f| block.columns.contains(f)) {
                let (out, inside, block) = (&names[out], &names[inside], &block.name);
                let message = format!("`{out}` moves with `{inside}` in the block `{block}`, and `{inside}` is forced");
                return Err(Error::setting("excluded", message));
            }
        }
        Ok(())
    }

    /// The columns with all others of their blocks but constant ones, in order, each once.
    fn whole(&self, features: &[Feature]) -> Vec<Feature> {
        let mut seen = vec![false; self.of.len()];
        let mut whole = Vec::new();
        for &feature in features {
            let own = [feature];
            let together = self.block(feature).map_or(&own[..], |block| &block.columns);
            let varying = |f: &Feature| self.of[*f].is_none() || !self.constant[*f];
            for &f in together.iter().filter(|f| varying(f)) {
                if !std::mem::replace(&mut seen[f], true) {
                    whole.push(f);
                }
            }
        }
        whole
    }

    /// The usable columns as they move, by their first column.
    fn units(&self, usable: &[bool]) -> Vec<Vec<Feature>> {
        let mut units = Vec::new();
        for feature in (0..usable.len()).filter(|&f| usable[f]) {
            match self.block(feature) {
                None => units.push(vec![feature]),
                Some(block) => {
                    let moving: Vec<Feature> = block.columns.iter().copied().filter(|&f| usable[f]).collect();
                    if moving.first() == Some(&feature) {
                        units.push(moving);
                    }
                }
            }
        }
        units
    }
}
