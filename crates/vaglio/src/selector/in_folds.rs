//! What a selection fits again on the training rows of each fold.

use super::ValidSelector;
use std::sync::Arc;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Design, Error, Feature, FoldFit, HeldOut, InFolds, MissingMask, Need, Problem, Result, Role};

/// How many times as long a search may take for columns that are fitted again in each fold, by `scope: auto`.
const MOST_TIMES: f64 = 3.0;

fn refused(of: &str, why: &str) -> Error {
    let message = format!("`scope: fold`{of} cannot be had, since {why}; use `kfold` with `rls`, or `scope: train`");
    Error::setting("preprocess", message)
}

/// The first column that has no value in the training rows of a fold.
fn without_mean(folds: &HeldOut, mask: &MissingMask) -> Option<Feature> {
    let HeldOut::Folds(rounds) = folds else { return None };
    let lacks = |feature: &Feature| {
        let Some(mask) = mask.mask(*feature) else { return false };
        let has_value = |row: usize| mask.get(row) == 0.0;
        rounds.iter().any(|round| match round.trainings() {
            Some(trainings) => trainings.iter().any(|training| !training.iter().any(|&row| has_value(row))),
            None => {
                let mut values = (0..mask.len()).filter(|&row| has_value(row)).map(|row| round.of_row()[row]);
                let first = values.next().flatten();
                first.is_some() && values.all(|fold| fold == first)
            }
        })
    };
    mask.features().iter().copied().find(lacks)
}

/// Why something cannot be fitted again in each fold of a criterion that holds out `folds`, if it cannot.
fn obstacle(design: &Design, problem: &Problem, folds: &HeldOut, fit: FoldFit) -> Option<&'static str> {
    // A learner without a readout is retrained on the problem's own columns.
    let is_refitted = design.readout().is_some() || !matches!(fit, FoldFit::Impute(_));
    match folds {
        HeldOut::Folds(_) if design.is_of(problem) && is_refitted => None,
        HeldOut::Folds(_) => Some("the learner makes columns of its own"),
        _ => Some("the criterion has no folds"),
    }
}

impl ValidSelector {
    /// The design with what the problem wants fitted again in each fold, where that can be had; where it need not be, in at
    /// most [`MOST_TIMES`] the time.
    ///
    /// # Errors
    /// [`Error::Setting`] for what has to be and cannot; those of the criterion's folds.
    pub(super) fn fitted_in_folds(&self, design: Design, problem: &Problem) -> Result<Design> {
        if let InFolds::Formulas { missing: None, standardize: None, .. } = problem.in_folds() {
            return Ok(design);
        }
        let folds = &self.folds(&design)?;
        match problem.in_folds() {
            by_maps @ InFolds::Maps(_) => match obstacle(&design, problem, folds, FoldFit::Maps) {
                None => Ok(design.fitted_in_folds(by_maps.clone())),
                Some(why) => Err(refused("", why)),
            },
            InFolds::Formulas { missing, standardize, .. } => {
                let design = match missing {
                    Some((need, mask)) => self.imputed(design, (problem, folds), *need, mask)?,
                    None => design,
                };
                match standardize {
                    Some(need) => self.standardized(design, (problem, folds), *need),
                    None => Ok(design),
                }
            }
        }
    }

    fn imputed(&self, design: Design, on: (&Problem, &HeldOut), need: Need, mask: &Arc<MissingMask>) -> Result<Design> {
        if let Some(feature) = without_mean(on.1, mask) {
            let name = &design.names()[feature];
            let message = format!(
                "`scope: fold` of impute cannot be had, since a fold is trained on rows that have no value of `{name}`; use `scope: train`, or add the column to data.exclude"
            );
            return if need == Need::Required { Err(Error::setting("preprocess", message)) } else { Ok(design) };
        }
        let in_folds = InFolds::Formulas { missing: Some((need, Arc::clone(mask))), standardize: None, left_out: None };
        Ok(match self.by_formula(&design, on, FoldFit::Impute(need), in_folds)? {
            Some((fitted, times)) if need == Need::Required || times <= MOST_TIMES => fitted,
            _ => design,
        })
    }

    fn standardized(&self, design: Design, on: (&Problem, &HeldOut), need: Need) -> Result<Design> {
        let missing = match design.in_folds() {
            InFolds::Formulas { missing, .. } => missing.clone(),
            InFolds::Maps(_) => None,
        };
        let with = |standardize, left_out| InFolds::Formulas { missing: missing.clone(), standardize, left_out };
        Ok(match self.by_formula(&design, on, FoldFit::Standardize(need), with(Some(need), None))? {
            Some((_, times)) if need == Need::Possible && times > MOST_TIMES => {
                design.fitted_in_folds(with(None, Some(times)))
            }
            Some((fitted, _)) => fitted,
            // What a criterion without folds of its own holds out by retraining is not learned from.
            None if *on.1 == HeldOut::Nothing && design.is_of(on.0) => design.fitted_in_folds(with(Some(need), None)),
            None => design,
        })
    }

    /// The design that fits something again in each fold, and how many times as long a search of it takes; `None` where
    /// that cannot be had and need not be.
    fn by_formula(
        &self,
        design: &Design,
        (problem, folds): (&Problem, &HeldOut),
        fit: FoldFit,
        in_folds: InFolds,
    ) -> Result<Option<(Design, f64)>> {
        if let Some(why) = obstacle(design, problem, folds, fit) {
            return match fit {
                FoldFit::Impute(Need::Required) => Err(refused(" of impute", why)),
                FoldFit::Standardize(Need::Required) => Err(refused(" of standardize", why)),
                _ => Ok(None),
            };
        }
        let fitted = design.clone().fitted_in_folds(in_folds);
        // At one λ, so that a grid and each of its values are treated alike.
        let one = |design: &Design| match design.readout() {
            Some(readout) if !readout.refine => design.at_lambda(Some(readout.lambdas[0])),
            _ => design.clone(),
        };
        let times = self.flops(&one(&fitted))? / self.flops(&one(design))?;
        Ok(Some((fitted, if times.is_nan() { 1.0 } else { times })))
    }

    /// The work of a search; NaN where the criterion says nothing of it.
    fn flops(&self, design: &Design) -> Result<f64> {
        let outline = self.search.outline(design).map_err(|error| self.of_search(error))?;
        Ok(self.criterion.estimate(design, &outline).flops)
    }

    /// The rows that the criterion holds out together.
    fn folds(&self, design: &Design) -> Result<HeldOut> {
        self.criterion.folds(design).map_err(|error| error.of(Role::Criterion, self.criterion.typetag_name()))
    }
}
