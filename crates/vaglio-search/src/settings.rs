//! The settings that all searches share.

use crate::{Choose, Constraints, FeatureRef};
use serde::Serialize;
use serde::de::MapAccess;
use std::collections::BTreeMap;
use vaglio_core::{Error, Result, setting};

/// Features that enter and leave together.
#[setting]
#[derive(PartialEq)]
#[serde(expecting = "expected `one_hot` or a map from names to lists of columns")]
pub enum Blocks {
    /// One-hot coding: a block holds the levels of a text column.
    OneHot,
    /// Features of each list, by name or index.
    #[serde(untagged)]
    Named(BTreeMap<String, Vec<FeatureRef>>),
}

/// Improvement of the result of a search.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Polish {
    /// Nothing.
    #[default]
    None,
    /// One feature (or block) is exchanged for another, the best exchange first, as long as that lowers the score.
    Swaps,
}

/// The settings that all searches share.
#[setting(schema)]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// The largest subset; all candidates by default.
    pub max_features: Option<usize>,
    /// The smallest subset that may be the result, and that no tolerance stops short of.
    pub min_features: Option<usize>,
    /// The drop of the score that a step must reach; `null` never stops for it.
    pub tolerance: Option<f64>,
    /// Steps in a row without that drop that are taken before the search stops.
    pub patience: Option<usize>,
    /// Features that enter first, in this order, and never leave, by name or index; the others of their blocks too.
    pub forced: Vec<FeatureRef>,
    /// Features that never enter, by name or index; the others of their blocks do not either.
    pub excluded: Vec<FeatureRef>,
    /// Which size is the result.
    pub choose: Choose,
    /// Features that enter and leave together: `one_hot`, or a map from names to lists of features.
    pub blocks: Option<Blocks>,
    /// `swaps` exchanges one feature of the result for another as long as that lowers the score.
    pub polish: Polish,
    /// Conditions on every subset: signs of weights, numbers of columns of a group, heredity of products, costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Constraints>,
}

/// Lists the settings in the order of files.
macro_rules! named_settings {
    ($($name:ident),*) => {
        impl SearchSettings {
            /// The names of all settings, in the order of files.
            pub const NAMES: [&str; 10] = [$(stringify!($name)),*];

            /// Reads the value of the setting with this name.
            pub(crate) fn read<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
                $(if name == stringify!($name) {
                    self.$name = map.next_value()?;
                })*
                Ok(())
            }

            /// Refuses settings that are given although they do not apply; `why` is the reason, with an alternative.
            ///
            /// # Errors
            /// [`Error::Setting`] on the first of `names` that is given.
            pub fn refuse(&self, names: &[&str], why: &str) -> Result<()> {
                let default = SearchSettings::default();
                $(if names.contains(&stringify!($name)) && self.$name != default.$name {
                    return Err(Error::setting(stringify!($name), why));
                })*
                Ok(())
            }
        }
    };
}
named_settings!(max_features, min_features, tolerance, patience, forced, excluded, choose, blocks, polish, constraints);

impl SearchSettings {
    /// Number of [`SearchSettings::NAMES`] that precede a strategy's own settings in files.
    pub(crate) const LEADING: usize = 2;

    /// Refuses settings that are invalid whatever the data.
    ///
    /// # Errors
    /// [`Error::Setting`] with the field's path.
    pub fn check(&self) -> Result<()> {
        if self.max_features == Some(0) {
            return Err(Error::setting("max_features", "0 features cannot be selected; 1 is the least"));
        }
        if self.tolerance.is_some_and(|t| !t.is_finite()) {
            return Err(Error::setting("tolerance", "it must be a finite number or null"));
        }
        refuse_conflicts(&self.forced, &self.excluded, |feature| match feature {
            FeatureRef::Index(index) => index.to_string(),
            FeatureRef::Name(name) => name.clone(),
        })?;
        if let Choose::CrossValidated(how) = &self.choose {
            how.check().map_err(|error| error.under("choose"))?;
        }
        if let Choose::FalseDiscoveries(rate) = self.choose {
            Error::unless_share("choose.fdr", rate)?;
            let why = "the confirmed columns are the result, whatever they are; leave it out, or choose otherwise";
            self.refuse(&["min_features", "forced", "blocks", "polish", "constraints"], why)?;
        }
        if let Some(constraints) = &self.constraints {
            constraints.check().map_err(|error| error.under("constraints"))?;
        }
        self.max_features.map_or(Ok(()), |most| self.check_sizes(self.forced.len(), most))
    }

    /// Refuses more forced features, or a larger minimum, than a subset may have.
    pub(crate) fn check_sizes(&self, forced: usize, most: usize) -> Result<()> {
        if forced > most {
            return Err(Error::setting("forced", format!("{forced} columns are forced and max_features is {most}")));
        }
        match self.min_features {
            Some(least) if least > most => {
                Err(Error::setting("min_features", format!("it is larger than max_features, which is {most}")))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses features that are forced twice, or forced and excluded.
pub(crate) fn refuse_conflicts<F: PartialEq>(forced: &[F], excluded: &[F], name: impl Fn(&F) -> String) -> Result<()> {
    for (position, feature) in forced.iter().enumerate() {
        if excluded.contains(feature) {
            return Err(Error::setting("excluded", format!("`{}` is forced as well", name(feature))));
        }
        if forced[..position].contains(feature) {
            return Err(Error::setting("forced", format!("`{}` is listed twice", name(feature))));
        }
    }
    Ok(())
}
