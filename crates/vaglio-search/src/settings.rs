//! The settings that searches share, and the macro that gives them to a search.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vaglio_core::{Choose, Constraints, Error, FeatureRef, Result};

/// Features that enter and leave together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged, expecting = "expected `one_hot` or a map from names to lists of columns")]
pub enum Blocks {
    /// Those that preprocessing made of one column each.
    Made(BlockOrigin),
    /// Those of each list, by name or index.
    Named(BTreeMap<String, Vec<FeatureRef>>),
}

/// What made the features of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Origin")]
pub enum BlockOrigin {
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
    /// One feature (or block) is exchanged for another, the best exchange first, as long as that lowers the score.
    Swaps,
}

/// The settings that searches share, as a search declared by [`settings!`](crate::settings) gives them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchSettings {
    /// The largest subset.
    pub max_features: Option<usize>,
    /// The smallest subset that may be the result.
    pub min_features: Option<usize>,
    /// The drop of the score that a step must reach.
    pub tolerance: Option<f64>,
    /// Steps in a row without that drop that are taken before the search stops.
    pub patience: Option<usize>,
    /// Features that are in every result.
    pub forced: Vec<FeatureRef>,
    /// Features that are in none.
    pub excluded: Vec<FeatureRef>,
    /// Which size is the result.
    pub choose: Choose,
    /// Features that enter and leave together.
    pub blocks: Option<Blocks>,
    /// What is done with the result.
    pub polish: Polish,
    /// What every subset keeps to beside that.
    pub constraints: Option<Constraints>,
}

impl SearchSettings {
    /// Refuses what no design can have.
    ///
    /// # Errors
    /// [`Error::Setting`] with the field's path.
    pub fn check(&self) -> Result<()> {
        let refused = |field: String, message: String| Err(Error::setting(field, message));
        let named = |feature: &FeatureRef| match feature {
            FeatureRef::Index(index) => index.to_string(),
            FeatureRef::Name(name) => name.clone(),
        };
        if self.max_features == Some(0) {
            return refused("max_features".into(), "0 features cannot be selected; 1 is the least".into());
        }
        if self.tolerance.is_some_and(|t| !t.is_finite()) {
            return refused("tolerance".into(), "it must be a finite number or null".into());
        }
        for (position, feature) in self.forced.iter().enumerate() {
            if self.excluded.contains(feature) {
                return refused("excluded".into(), format!("`{}` is forced as well", named(feature)));
            }
            if self.forced[..position].contains(feature) {
                return refused("forced".into(), format!("`{}` is listed twice", named(feature)));
            }
        }
        if let Choose::CrossValidated(how) = &self.choose {
            how.check().map_err(|error| error.under("choose"))?;
        }
        if let Choose::FalseDiscoveries(rate) = self.choose {
            if !(rate > 0.0 && rate < 1.0) {
                return refused("choose.fdr".into(), format!("{rate} does not lie between 0 and 1; 0.1 is usual"));
            }
            let why = "the confirmed columns are the result, whatever they are; leave it out, or choose otherwise";
            self.refuse(&["min_features", "forced", "blocks", "polish", "constraints"], why)?;
        }
        if let Some(constraints) = &self.constraints {
            constraints.check().map_err(|error| error.under("constraints"))?;
        }
        let Some(most) = self.max_features else { return Ok(()) };
        if self.forced.len() > most {
            let message = format!("{} columns are forced and max_features is {most}", self.forced.len());
            return refused("forced".into(), message);
        }
        if self.min_features.is_some_and(|least| least > most) {
            return refused("min_features".into(), format!("it is larger than max_features, which is {most}"));
        }
        Ok(())
    }

    /// Refuses those of the named settings that are given, for searches to which they mean nothing.
    ///
    /// # Errors
    /// [`Error::Setting`] that says why.
    pub fn refuse(&self, names: &[&str], why: &str) -> Result<()> {
        let given = [
            ("max_features", self.max_features.is_some()),
            ("min_features", self.min_features.is_some()),
            ("tolerance", self.tolerance.is_some()),
            ("patience", self.patience.is_some()),
            ("forced", !self.forced.is_empty()),
            ("excluded", !self.excluded.is_empty()),
            ("choose", self.choose != Choose::default()),
            ("blocks", self.blocks.is_some()),
            ("polish", self.polish != Polish::default()),
            ("constraints", self.constraints.is_some()),
        ];
        match given.iter().find(|(name, is_given)| *is_given && names.contains(name)) {
            Some((name, _)) => Err(Error::setting(*name, why)),
            None => Ok(()),
        }
    }
}

/// Declares a search: a struct of the shared settings, its own after `min_features`, each with its default, under the
/// attribute [`part`](vaglio_core::part).
///
/// A search whose default of a shared setting is another says so after `default`. The struct reads and writes itself
/// with the settings in one flat map, and `settings()` gives the shared ones as [`SearchSettings`].
///
/// ```
/// use vaglio_core::{Design, Outline, Path, Result, SearchContext, SearchStrategy, part};
/// use vaglio_search::Greedy;
///
/// vaglio_search::settings! {
///     /// Looks two steps ahead.
///     #[part(SearchStrategy, "far_sighted")]
///     pub struct FarSighted {
///         /// How far it looks.
///         steps: usize = 2,
///     }
///     default { tolerance: Some(1e-6) }
/// }
///
/// impl SearchStrategy for FarSighted {
///     fn outline(&self, design: &Design) -> Result<Outline> {
///         Greedy::default().outline(design)
///     }
///
///     fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
///         Greedy { max_features: self.max_features, ..Greedy::default() }.search(context)
///     }
/// }
///
/// let search = FarSighted { max_features: Some(5), ..FarSighted::default() };
/// assert_eq!(search, FarSighted::default().max_features(5));
/// assert_eq!((search.steps, search.settings().tolerance), (2, Some(1e-6)));
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[$about:meta])*
        pub struct $search:ident { $($(#[$own_about:meta])* $own:ident: $type:ty = $value:expr,)* }
        $(default { $($shared:ident: $default:expr),+ })?
    ) => {
        $(#[$about])*
        #[derive(PartialEq)]
        #[serde(default)]
        pub struct $search {
            /// The largest subset; all candidates by default.
            pub max_features: Option<usize>,
            /// The smallest subset that may be the result, and that no tolerance stops short of.
            pub min_features: Option<usize>,
            $($(#[$own_about])* pub $own: $type,)*
            /// The drop of the score that a step must reach; `null` never stops for it.
            pub tolerance: Option<f64>,
            /// Steps in a row without that drop that are taken before the search stops.
            pub patience: Option<usize>,
            /// Features that enter first, in this order, and never leave, by name or index; the others of their blocks too.
            pub forced: Vec<$crate::core::FeatureRef>,
            /// Features that never enter, by name or index; the others of their blocks do not either.
            pub excluded: Vec<$crate::core::FeatureRef>,
            /// Which size is the result.
            pub choose: $crate::core::Choose,
            /// Features that enter and leave together: `one_hot`, or a map from names to lists of features.
            pub blocks: Option<$crate::Blocks>,
            /// `swaps` exchanges one feature of the result for another as long as that lowers the score.
            pub polish: $crate::Polish,
            /// What every subset keeps to: signs of weights, numbers of columns of a group, heredity of products, costs.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub constraints: Option<$crate::core::Constraints>,
        }

        impl Default for $search {
            fn default() -> Self {
                let $crate::SearchSettings {
                    max_features, min_features, tolerance, patience, forced, excluded, choose, blocks, polish, constraints,
                } = $crate::SearchSettings { $($($shared: $default,)+)? ..$crate::SearchSettings::default() };
                $search {
                    max_features, min_features, $($own: $value,)* tolerance, patience, forced, excluded, choose, blocks,
                    polish, constraints,
                }
            }
        }

        $crate::core::setters!($search {
            $($own: $type,)*
            polish: $crate::Polish;
            max_features: Option<usize>,
            min_features: Option<usize>,
            tolerance: Option<f64>,
            patience: Option<usize>,
            choose: $crate::core::Choose,
            blocks: Option<$crate::Blocks>,
            constraints: Option<$crate::core::Constraints>;
            forced: [$crate::core::FeatureRef],
            excluded: [$crate::core::FeatureRef],
        });

        impl $search {
            /// The settings that it shares with other searches.
            pub fn settings(&self) -> $crate::SearchSettings {
                let $search {
                    max_features, min_features, tolerance, patience, forced, excluded, choose, blocks, polish, constraints, ..
                } = self.clone();
                $crate::SearchSettings {
                    max_features, min_features, tolerance, patience, forced, excluded, choose, blocks, polish, constraints,
                }
            }
        }
    };
}

/// The methods of a [`SearchStrategy`](vaglio_core::SearchStrategy) that follow from the settings which searches share: all of
/// them, or those that are named.
#[macro_export]
macro_rules! by_settings {
    () => {
        $crate::by_settings!(choose rules);

        fn check_settings(&self) -> $crate::core::Result<()> {
            self.settings().check()
        }
    };
    (choose rules) => {
        fn choose(&self) -> $crate::core::Choose {
            self.choose.clone()
        }

        fn rules(&self, design: &$crate::core::Design) -> $crate::core::Result<Option<$crate::core::Rules>> {
            Ok($crate::Space::new(self.settings(), design)?.into_rules())
        }
    };
}
