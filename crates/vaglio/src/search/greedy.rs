//! Forward selection.

use serde::{Deserialize, Serialize};
use vaglio_core::{
    Action, Answer, Choose, Design, Error, Feature, FeatureRef, Outline, Path, PathEntry, Result, Score, SearchContext,
    SearchStrategy, Step, StopReason,
};

/// Adds the column that lowers the score most, again and again.
///
/// # Reference
/// T. Pahikkala, A. Airola, T. Salakoski, *Linear time feature selection for regularized least-squares*,
/// arXiv:1003.3570, algorithm 3.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Greedy {
    /// The largest subset; all candidates by default.
    pub max_features: Option<usize>,
    /// The smallest subset that may be the result, and that no tolerance stops short of.
    pub min_features: Option<usize>,
    /// The drop of the best score so far that a step must reach; `null` never stops for it.
    pub tolerance: Option<f64>,
    /// Steps in a row without that drop that are taken before the search stops.
    pub patience: Option<usize>,
    /// Columns that enter first, in this order, by name or index.
    pub forced: Vec<FeatureRef>,
    /// Columns that never enter, by name or index.
    pub excluded: Vec<FeatureRef>,
    /// Which size is the result.
    pub choose: Choose,
}

vaglio_core::describe!(
    Search,
    Greedy,
    "greedy",
    "forward selection: add the column that lowers the score most, again and again",
    "search: {kind: greedy, max_features: 10, choose: best}"
);

impl Greedy {
    /// Up to `max_features` columns, otherwise as by default.
    pub fn new(max_features: usize) -> Self {
        Greedy { max_features: Some(max_features), ..Greedy::default() }
    }

    fn resolve(&self, names: &[String]) -> Result<(Vec<Feature>, Vec<Feature>)> {
        let all = |references: &[FeatureRef], field: &str| -> Result<Vec<Feature>> {
            references.iter().enumerate().map(|(k, r)| r.resolve(names, &format!("{field}[{k}]"))).collect()
        };
        let (forced, excluded) = (all(&self.forced, "forced")?, all(&self.excluded, "excluded")?);
        for (position, feature) in forced.iter().enumerate() {
            if excluded.contains(feature) {
                return Err(Error::setting("excluded", format!("`{}` is forced as well", names[*feature])));
            }
            if forced[..position].contains(feature) {
                return Err(Error::setting("forced", format!("`{}` stands twice", names[*feature])));
            }
        }
        Ok((forced, excluded))
    }
}

/// The walk so far.
struct Walk {
    steps: Vec<Step>,
    entries: Vec<PathEntry>,
}

impl Walk {
    /// Adds a column, records it, and asks the observer.
    fn take(
        &mut self,
        context: &mut SearchContext<'_>,
        feature: Feature,
        score: Score,
        tied: Vec<Feature>,
    ) -> Result<Answer> {
        context.evaluator.add(feature)?;
        let subset = context.evaluator.selected().to_vec();
        let step = Step { action: Action::Add, feature, with: Vec::new(), score, size: subset.len(), tied };
        self.entries.push(PathEntry { subset, score, standard_error: context.evaluator.standard_error()? });
        let answer = context.observe(&step);
        self.steps.push(step);
        Ok(answer)
    }
}

#[typetag::serde(name = "greedy")]
impl SearchStrategy for Greedy {
    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        self.check(context.design())?;
        let (forced, excluded) = self.resolve(context.names())?;
        if let Some(constant) = forced.iter().find(|f| !context.candidates().contains(f)) {
            let name = &context.names()[*constant];
            return Err(Error::setting("forced", format!("`{name}` is constant, so it cannot be selected")));
        }
        let mut open: Vec<Feature> = context.candidates().to_vec();
        open.retain(|f| !excluded.contains(f) && !forced.contains(f));
        let usable = open.len() + forced.len();
        let most = self.max_features.unwrap_or(context.names().len());
        context.begin(most.min(usable));

        let empty = context.evaluator.score()?;
        let mut walk = Walk { steps: Vec::new(), entries: Vec::new() };
        let mut stopped = None;
        for &feature in &forced {
            let mut score = [Score::WORST];
            context.evaluator.score_additions(&[feature], &mut score)?;
            if let Answer::Stop(reason) = walk.take(context, feature, score[0], Vec::new())? {
                stopped = Some(reason);
                break;
            }
        }
        let stop_reason = match stopped {
            Some(reason) => reason,
            None => self.walk(context, &mut walk, open, most, empty)?,
        };
        let last = walk.entries.len().saturating_sub(1);
        let chosen = self.choose.pick(&walk.entries, last, self.min_features.unwrap_or(0).max(forced.len()));
        Ok(Path { empty, steps: walk.steps, entries: walk.entries, chosen, stop_reason, certificate: None })
    }

    fn check(&self, design: &Design) -> Result<()> {
        let names = design.names();
        let (forced, excluded) = self.resolve(names)?;
        let most = self.max_features.unwrap_or(names.len());
        if self.max_features == Some(0) {
            return Err(Error::setting("max_features", "0 features cannot be selected; 1 is the least"));
        }
        if most > names.len() {
            return Err(Error::setting(
                "max_features",
                format!("{most} features are asked for and there are {} candidate columns", names.len()),
            ));
        }
        if forced.len() > most {
            return Err(Error::setting(
                "forced",
                format!("{} columns are forced and max_features is {most}", forced.len()),
            ));
        }
        if self.min_features.is_some_and(|least| least > most) {
            return Err(Error::setting("min_features", format!("it is larger than max_features, which is {most}")));
        }
        if excluded.len() == names.len() && !names.is_empty() {
            return Err(Error::setting("excluded", "every column is excluded"));
        }
        if self.tolerance.is_some_and(|t| !t.is_finite()) {
            return Err(Error::setting("tolerance", "it must be a finite number or null"));
        }
        Ok(())
    }

    fn outline(&self, design: &Design) -> Outline {
        let usable = design.candidates().len().saturating_sub(self.excluded.len());
        Outline::forward(usable, self.max_features.unwrap_or(usable))
    }
}

impl Greedy {
    fn walk(
        &self,
        context: &mut SearchContext<'_>,
        walk: &mut Walk,
        mut open: Vec<Feature>,
        most: usize,
        empty: Score,
    ) -> Result<StopReason> {
        let stops = self.tolerance.is_some() || self.patience.is_some();
        let mut best = walk.entries.iter().map(|e| e.score.loss).fold(empty.loss, f64::min);
        let mut failures = 0;
        loop {
            if walk.entries.len() >= most {
                return Ok(StopReason::MaxFeatures);
            }
            let Some(winner) = context.evaluator.best_addition(&open)? else { return Ok(StopReason::NoCandidates) };
            let drop = best - winner.score.loss;
            let reached = self.tolerance.map_or(drop > 0.0, |tolerance| drop >= tolerance);
            if stops && !reached && walk.entries.len() >= self.min_features.unwrap_or(0) {
                failures += 1;
                if failures > self.patience.unwrap_or(0) {
                    return Ok(if self.patience.is_some() { StopReason::Patience } else { StopReason::Tolerance });
                }
            } else {
                failures = 0;
            }
            best = best.min(winner.score.loss);
            open.retain(|&f| f != winner.feature);
            if let Answer::Stop(reason) = walk.take(context, winner.feature, winner.score, winner.tied)? {
                return Ok(reason);
            }
        }
    }
}
