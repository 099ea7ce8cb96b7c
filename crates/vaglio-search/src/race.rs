//! Several searches on the same folds, of which the one is taken whose subsets hold up.

use crate::{All, Greedy};
use schemars::{Schema, SchemaGenerator, json_schema};
use std::sync::Arc;
use vaglio_core::{
    AnySearch, Choose, Criterion, Design, Effort, Error, Outline, Path, Result, SearchContext, SearchStrategy, part,
};

/// Lets searches compete: all are cross-validated on the same folds and at the same λ, and the result is that of the one
/// whose best size loses least on rows held out.
///
/// The first of the list is taken unless another loses less by more than one standard error of their paired difference, since
/// the lowest of many is lowest by luck. By the rules that prefer few columns (`one_se`, `within`), the fewest columns of any
/// contestant are taken that are as near to the lowest loss as the rule says. The result holds the cross-validated curve of every
/// contestant, and the frontier of error against number of columns. `nested` repeats the whole race in every outer fold. Where
/// nothing is cross-validated, the first search is walked alone.
///
/// Cost: the walks of all contestants; moments and folds are shared.
#[part(
    SearchStrategy,
    "race",
    summary = "searches that compete on the same folds: the one whose subsets hold up is taken",
    example = "search: {kind: race, of: [greedy, all]}",
    title = "race of searches"
)]
pub struct Race {
    /// The searches, or chains of searches.
    #[default(vec![Arc::new(Greedy::default()) as Arc<dyn SearchStrategy>, Arc::new(All::default())])]
    #[schemars(schema_with = "contestants")]
    pub of: Vec<Arc<dyn SearchStrategy>>,
    /// How folds are made, and which of the sizes of all searches is taken: `auto`, or the settings of cross-validation.
    pub choose: Choose,
}

/// A list of searches, as a pipeline file has them.
fn contestants(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "minItems": 1, "items": {
        "if": {"type": "array"}, "then": {"minItems": 1, "items": {"$ref": "#/$defs/Search"}}, "else": {"$ref": "#/$defs/Search"}
    }})
}

impl Race {
    /// A race of which this search is the first.
    pub fn new(first: impl Into<AnySearch>) -> Self {
        Race { of: vec![first.into().into()], choose: Choose::Auto }
    }

    /// The same with another contestant.
    #[must_use]
    pub fn against(mut self, other: impl Into<AnySearch>) -> Self {
        self.of.push(other.into().into());
        self
    }

    fn first(&self) -> Result<&dyn SearchStrategy> {
        self.of.first().map(|first| &**first).ok_or_else(|| Error::setting("of", "it names no search; two make a race"))
    }

    fn each<T>(&self, of: impl Fn(&dyn SearchStrategy) -> Result<T>) -> Result<Vec<T>> {
        let one = |(place, search): (usize, &Arc<dyn SearchStrategy>)| {
            of(&**search).map_err(|error| error.under(&format!("of[{place}]")))
        };
        self.of.iter().enumerate().map(one).collect()
    }
}

impl SearchStrategy for Race {
    fn contestants(&self) -> &[Arc<dyn SearchStrategy>] {
        &self.of
    }

    fn choose(&self) -> Choose {
        self.choose.clone()
    }

    fn takes_lambda(&self) -> bool {
        self.of.iter().any(|search| search.takes_lambda())
    }

    fn check_settings(&self) -> Result<()> {
        self.first()?;
        if !matches!(self.choose, Choose::Auto | Choose::CrossValidated(_)) {
            let message = "searches compete by cross-validation; leave it out, or give its folds, as in {folds: 10}";
            return Err(Error::setting("choose", message));
        }
        if let Choose::CrossValidated(how) = &self.choose {
            how.check().map_err(|error| error.under("choose"))?;
        }
        self.each(|search| {
            if !search.contestants().is_empty() {
                return Err(Error::setting("", "a race in a race is one race; put its searches into this list"));
            }
            if search.choose() != Choose::Auto {
                return Err(Error::setting(
                    "choose",
                    "the race takes the size, of all its searches; give `choose` to the race",
                ));
            }
            search.check_settings()
        })
        .map(drop)
    }

    fn outline(&self, design: &Design) -> Result<Outline> {
        self.first()?;
        let all = self.each(|search| search.outline(design))?;
        let sum = |a: Outline, b: &Outline| Outline {
            start: a.start.min(b.start),
            largest: a.largest.max(b.largest),
            trials: a.trials + b.trials,
            steps: a.steps + b.steps,
        };
        let none = Outline { start: usize::MAX, largest: 0, trials: 0.0, steps: 0 };
        Ok(all.iter().fold(none, sum))
    }

    fn effort(&self, criterion: &dyn Criterion, design: &Design) -> Result<Effort> {
        self.first()?.effort(criterion, design)
    }

    fn check(&self, criterion: &dyn Criterion, design: &Design) -> Result<()> {
        self.each(|search| search.check(criterion, design)).map(drop)
    }

    /// The walk of the first search.
    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        self.first()?.search(context)
    }
}
