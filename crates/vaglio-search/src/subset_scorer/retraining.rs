//! Scores by the definition of a criterion, with errors that name it, and walks without scores.

use vaglio_core::{Action, CacheEffect, Criterion, Design, Error, Evaluator, Feature, Result, Score, SearchExtent};

/// Evaluator of every trial by the criterion's definition.
pub(crate) struct RetrainingEvaluator<'d> {
    pub criterion: &'d dyn Criterion,
    pub design: &'d Design,
}

impl Evaluator for RetrainingEvaluator<'_> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        let score = self.criterion.evaluate(self.design, subset);
        let no_number = || Error::Numerical("the score is not a number".into());
        let score = score.and_then(|score| if score.loss.is_nan() { Err(no_number()) } else { Ok(score) });
        score.map_err(|error| criterion_error(error, self.criterion, self.design.problem().names(), subset))
    }

    fn scores(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        let score = |&candidate: &Feature| {
            self.design.problem().sign().check()?;
            self.score(&change.apply_to(subset, candidate))
        };
        candidates.iter().map(score).collect()
    }

    fn trace(&self, _: Action) -> CacheEffect {
        CacheEffect::Nothing
    }
}

/// Evaluator of a walk whose only subset needs no score: every score is 0.
pub(crate) struct UnscoredEvaluator {
    lambda: Option<f64>,
}

impl UnscoredEvaluator {
    /// The evaluator of a walk with one subset that is judged on other rows, at a given λ; `None` for other walks.
    pub fn for_walk(design: &Design, extent: &SearchExtent) -> Option<Self> {
        match design.lambdas()[..] {
            [lambda] if extent.keeps_all() && design.run().skips_errors => Some(UnscoredEvaluator { lambda }),
            _ => None,
        }
    }
}

impl Evaluator for UnscoredEvaluator {
    fn score(&mut self, _: &[Feature]) -> Result<Score> {
        Ok(Score { loss: 0.0, lambda: self.lambda })
    }
}

/// Attributes an error to a criterion and the columns that it evaluated.
pub(crate) fn criterion_error(error: Error, criterion: &dyn Criterion, names: &[String], columns: &[Feature]) -> Error {
    let error = criterion.traits().loss.and_then(|loss| loss.failure()).unwrap_or(error);
    error.from_part(criterion).on(|| list_names(names, columns))
}

/// Maximum number of columns that a message names.
const NAMED: usize = 8;

/// Lists columns by name, for messages.
fn list_names(names: &[String], columns: &[Feature]) -> String {
    let name = |feature: &Feature| names.get(*feature).map_or_else(|| feature.to_string(), |name| format!("`{name}`"));
    let first: Vec<String> = columns.iter().take(NAMED).map(name).collect();
    match columns.len() {
        0 => "no columns".into(),
        count if count > NAMED => format!("{} and {} more columns", first.join(", "), count - NAMED),
        _ => first.join(", "),
    }
}
