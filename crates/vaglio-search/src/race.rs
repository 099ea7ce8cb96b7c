//! Race: several searches are cross-validated on the same folds, and the best is taken.

use crate::{All, Greedy, Moves, Search, SearchStrategy, Space, StrategyTraits};
use schemars::{Schema, SchemaGenerator, json_schema};
use vaglio_core::{Choose, Criterion, Design, Error, Outline, Path, Result, SearchContext, part};

/// Cross-validates searches on the same folds and at the same λ, and takes the one with the lowest held-out loss.
///
/// The first of the list is taken unless another loses less by more than one standard error of their paired difference, since
/// the lowest of many is lowest partly by luck. Rules that prefer few columns (`one_se`, `within`) take the fewest columns of
/// any contestant within the rule's distance of the lowest loss. The result holds the cross-validated curve of each
/// contestant, and the frontier of error against number of columns. `nested` repeats the race in every outer fold. Without
/// cross-validation only the first search runs.
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
    #[default(vec![Greedy {}.into(), All {}.into()])]
    #[schemars(schema_with = "contestants")]
    pub of: Vec<Search>,
}

/// Schema of a list of searches.
fn contestants(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "minItems": 1, "items": {
        "if": {"type": "array"}, "then": {"minItems": 1, "items": {"$ref": "#/$defs/Search"}}, "else": {"$ref": "#/$defs/Search"}
    }})
}

impl Race {
    /// Creates a race that begins with this search.
    pub fn new(first: impl Into<Search>) -> Self {
        Race { of: vec![first.into()] }
    }

    /// Adds a contestant.
    #[must_use]
    pub fn against(mut self, other: impl Into<Search>) -> Self {
        self.of.push(other.into());
        self
    }

    fn check_contestants(&self) -> Result<()> {
        first(&self.of)?;
        each(&self.of, |search| {
            if !search.contestants().is_empty() {
                return Err(Error::setting("", "a race in a race is one race; put its searches into this list"));
            }
            if search.size_choice() != Choose::Auto {
                return Err(Error::setting(
                    "choose",
                    "the race takes the size, of all its searches; give `choose` to the race",
                ));
            }
            search.check_settings()
        })
        .map(drop)
    }
}

pub(crate) fn first(contestants: &[Search]) -> Result<&Search> {
    contestants.first().ok_or_else(|| Error::setting("of", "it names no search; two make a race"))
}

fn each<T>(contestants: &[Search], of: impl Fn(&Search) -> Result<T>) -> Result<Vec<T>> {
    let one = |(place, search)| of(search).map_err(|error| error.under(&format!("of[{place}]")));
    contestants.iter().enumerate().map(one).collect()
}

/// Checks every contestant.
pub(crate) fn check(contestants: &[Search], criterion: &dyn Criterion, design: &Design) -> Result<()> {
    each(contestants, |search| search.check(criterion, design)).map(drop)
}

/// Refuses a size rule other than cross-validation.
pub(crate) fn check_choice(choose: &Choose) -> Result<()> {
    if matches!(choose, Choose::Auto | Choose::CrossValidated(_)) {
        return Ok(());
    }
    let message = "searches compete by cross-validation; leave it out, or give its folds, as in {folds: 10}";
    Err(Error::setting("choose", message))
}

impl SearchStrategy for Race {
    /// Walks the first search.
    fn run(&self, _: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        first(&self.of)?.run(context)
    }

    fn extent(&self, space: &Space<'_>) -> Result<Outline> {
        first(&self.of)?;
        let all = each(&self.of, |search| search.outline(space.design))?;
        let sum = |a: Outline, b: &Outline| Outline {
            start: a.start.min(b.start),
            largest: a.largest.max(b.largest),
            trials: a.trials + b.trials,
            steps: a.steps + b.steps,
        };
        let none = Outline { start: usize::MAX, largest: 0, trials: 0.0, steps: 0 };
        Ok(all.iter().fold(none, sum))
    }

    fn traits(&self) -> StrategyTraits<'_> {
        let check = self.check_contestants();
        StrategyTraits { moves: Moves::Race(&self.of), settings: &["choose"], check, ..StrategyTraits::default() }
    }
}
