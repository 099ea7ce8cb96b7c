//! A search: the settings that all searches share, with a strategy.

#[cfg(feature = "schema")]
pub(crate) mod schema;
mod serialization;

use crate::settings::{Blocks, Polish, SearchSettings};
use crate::space::Space;
use crate::{
    Chain, Choose, Constraints, Exhaustive, FeatureRef, Lars, Path, Penalties, Rules, SearchContext, SearchStrategy,
    chain, exhaustive, lars,
};
use std::any::Any;
use std::sync::Arc;
use vaglio_core::{Criterion, Design, NamedPart, Result, Role, SearchExtent, title};

/// A search: the settings that all searches share, and the strategy that walks.
///
/// In pipeline files both are in one map: `{kind: backward, min_features: 5, step: 0.1}`.
///
/// ```
/// use vaglio_search::{Backward, Greedy, Search};
///
/// let greedy = Greedy::new(10).tolerance(1e-6);
/// assert_eq!((greedy.kind(), greedy.settings.max_features), ("greedy", Some(10)));
/// let backward = Search::new(Backward { step: 0.1.into() }).min_features(5);
/// assert_eq!(backward.settings.min_features, Some(5));
/// ```
#[derive(Debug, Clone)]
pub struct Search {
    /// The settings that all searches share.
    pub settings: SearchSettings,
    /// The strategy, with settings of its own.
    pub strategy: Arc<dyn SearchStrategy>,
}

impl Search {
    /// Creates the search of a strategy with default settings.
    pub fn new(strategy: impl SearchStrategy + 'static) -> Self {
        Search::from_strategy(Arc::new(strategy))
    }

    fn from_strategy(strategy: Arc<dyn SearchStrategy>) -> Self {
        let tolerance = strategy.tolerance();
        Search { settings: SearchSettings { tolerance, ..SearchSettings::default() }, strategy }
    }

    /// The shared settings that can be given, by name: none to a chain, whose searches have their own.
    pub fn shared_settings(&self) -> &'static [&'static str] {
        if self.strategy_as::<Chain>().is_some() { &[] } else { &SearchSettings::NAMES }
    }

    /// The search's word in pipeline files.
    pub fn kind(&self) -> &'static str {
        self.strategy.typetag_name()
    }

    /// The search's name in reports.
    pub fn title(&self) -> &'static str {
        title(Role::Search, self.kind())
    }

    /// The stages of a chain; empty for other searches.
    pub fn stages(&self) -> &[Search] {
        self.strategy_as().map_or(&[][..], |chain: &Chain| &chain.stages[..])
    }

    /// The strategy, if it is of the type `S`.
    fn strategy_as<S: SearchStrategy>(&self) -> Option<&S> {
        let strategy: &dyn Any = &*self.strategy;
        strategy.downcast_ref()
    }

    /// The setting `choose`, the rule for the size of the result. A chain uses the setting of its last stage.
    pub fn size_choice(&self) -> Choose {
        self.stages().last().map_or_else(|| self.settings.choose.clone(), Search::size_choice)
    }

    /// Whether the final model uses λ; otherwise λ is not chosen.
    pub fn takes_lambda(&self) -> bool {
        let has_readout = self.strategy_as().is_none_or(|lars: &Lars| lars.has_refit());
        has_readout && self.stages().iter().all(Search::takes_lambda)
    }

    /// Checks the settings before any data are read.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] with the field's path inside this search.
    pub fn check_settings(&self) -> Result<()> {
        self.strategy.check_settings(&self.settings)?;
        self.settings.check()
    }

    /// The search space of a design under the settings.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] or [`vaglio_core::Error::UnknownName`] with the field's path inside this search.
    pub fn space<'d>(&self, design: &'d Design) -> Result<Space<'d>> {
        self.check_settings()?;
        let mut space = Space::new(self.settings.clone(), design)?;
        self.strategy.limit(&mut space);
        Ok(space)
    }

    /// The extent of the search on a design.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] or [`vaglio_core::Error::UnknownName`] with the field's path inside this search.
    pub fn extent(&self, design: &Design) -> Result<SearchExtent> {
        self.extent_in(&self.space(design)?)
    }

    fn extent_in(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let extent = self.strategy.extent(space)?;
        // No exchange improves the best of all subsets.
        Ok(if self.strategy_as::<Exhaustive>().is_some() { extent } else { space.with_polish(extent) })
    }

    /// Floating-point operations of the search and its peak memory in bytes, in addition to the scores of a criterion.
    /// The operations are a lower bound, since the rest depends on the data.
    ///
    /// # Errors
    /// See [`Search::extent`]; errors of the criterion.
    pub fn effort(&self, criterion: &dyn Criterion, design: &Design) -> Result<(f64, f64)> {
        if self.strategy_as::<Exhaustive>().is_some() {
            let space = self.space(design)?;
            return exhaustive::effort(&space, criterion, &self.extent_in(&space)?);
        }
        chain::effort(self.stages(), criterion, design)
    }

    /// The constraints on the columns of a design, if there are any. A chain uses the constraints of its last stage.
    ///
    /// # Errors
    /// See [`Search::extent`].
    pub fn rules(&self, design: &Design) -> Result<Option<Rules>> {
        match self.stages().split_last() {
            Some((last, before)) => last.rules(design).map_err(chain::in_stage(before.len())),
            None => Ok(self.space(design)?.rules),
        }
    }

    /// The search with its grid of penalties fitted to a design of all training rows. `None` unless its path is judged
    /// at penalties ([`Path::at_penalties`]).
    pub fn at_penalties(&self, criterion: &dyn Criterion, design: &Design) -> Result<Option<Search>> {
        if let Some((last, before)) = self.stages().split_last() {
            let fitted = last.at_penalties(criterion, design).map_err(chain::in_stage(before.len()))?;
            return Ok(fitted.map(|last| Search::new(Chain { stages: [before, &[last]].concat() })));
        }
        let Some(lars) = self.strategy_as::<Lars>() else { return Ok(None) };
        let Some(penalties) = &lars.penalties else { return Ok(None) };
        let values = penalties.values(lars::largest_correlation(&self.space(design)?, criterion)?);
        let fitted = |values| Lars { penalties: Some(Penalties::Values(values)), ..lars.clone() };
        let search = |lars| Search { strategy: Arc::new(lars), ..self.clone() };
        Ok(Some(values).filter(|values| !values.is_empty()).map(fitted).map(search))
    }

    /// Refuses settings and criteria that do not suit the search, before anything is computed.
    ///
    /// # Errors
    /// See [`Search::extent`]; [`vaglio_core::Error::Setting`] when the search cannot walk with this criterion.
    pub fn check(&self, criterion: &dyn Criterion, design: &Design) -> Result<()> {
        if let Some(chain) = self.strategy_as::<Chain>() {
            return chain::check(&chain.stages, criterion, design);
        }
        let space = self.space(design)?;
        let extent = self.extent_in(&space)?;
        if let Some(own) = self.strategy_as::<Exhaustive>() {
            exhaustive::check(&space, own.alternatives.is_some(), criterion, &extent)?;
        }
        self.strategy_as().map_or(Ok(()), |own: &Lars| lars::check(own, criterion, design))
    }

    /// Runs the search from the context's subset, which must be empty, and chooses the result.
    ///
    /// # Errors
    /// See [`Search::extent`]; errors of the criterion.
    pub fn run(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let space = self.space(context.subset.design)?;
        if self.stages().is_empty() {
            context.begin(self.extent_in(&space)?.steps);
        }
        self.strategy.run(&space, context)
    }

    /// Sets the features that are added first and never removed, by name or index.
    #[must_use]
    pub fn forced(mut self, features: impl IntoIterator<Item = impl Into<FeatureRef>>) -> Self {
        self.settings.forced = features.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the features that are never added, by name or index.
    #[must_use]
    pub fn excluded(mut self, features: impl IntoIterator<Item = impl Into<FeatureRef>>) -> Self {
        self.settings.excluded = features.into_iter().map(Into::into).collect();
        self
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $type:ty),* $(,)?) => {
        impl Search {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $field(mut self, $field: impl Into<$type>) -> Self {
                    self.settings.$field = $field.into();
                    self
                }
            )*
        }
    };
}
setters! {
    /// Sets the largest subset.
    max_features: Option<usize>,
    /// Sets the smallest subset that may be the result.
    min_features: Option<usize>,
    /// Sets the drop of the score that a step must reach; `None` never stops for it.
    tolerance: Option<f64>,
    /// Sets the number of consecutive steps without that drop before the search stops.
    patience: Option<usize>,
    /// Sets the rule for the size of the result.
    choose: Choose,
    /// Sets the features that are added and removed together.
    blocks: Option<Blocks>,
    /// Sets the improvement of the result after the search.
    polish: Polish,
    /// Sets the constraints on every subset, in addition to sizes.
    constraints: Option<Constraints>,
}

impl NamedPart for Search {
    const ROLE: Role = Role::Search;

    fn word(&self) -> &'static str {
        self.kind()
    }
}

impl<S: SearchStrategy + 'static> From<S> for Search {
    fn from(strategy: S) -> Self {
        Search::new(strategy)
    }
}
