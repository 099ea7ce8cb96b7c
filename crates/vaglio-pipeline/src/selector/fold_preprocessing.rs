//! Preprocessing that is refitted on the training rows of each fold.

use super::ValidSelector;
use vaglio_core::{Design, Error, Feature, HeldOut, PerFoldPreprocessing, Problem, Result};

/// Largest slowdown of the search that `scope: auto` accepts for refitting columns in each fold.
const MOST_TIMES: f64 = 3.0;

impl ValidSelector {
    /// Sets on the design which preprocessing is refitted in each fold, if the criterion supports it. Optional
    /// refitting is only done if it slows the search by at most [`MOST_TIMES`].
    pub(super) fn fitted_in_folds(&self, mut design: Design, problem: &Problem) -> Result<Design> {
        let wanted = problem.in_folds();
        if !wanted.is_by_formula() && !wanted.is_by_maps() {
            return Ok(design);
        }
        let folds = self.criterion.folds(&design);
        let folds = folds.map_err(|error| error.from_part(&*self.criterion))?;
        let is_own = design.problem().has_columns_of(problem);
        let others = "the learner makes columns of its own; use `kfold` with `rls`, or `scope: train`";
        let obstacle = match &folds {
            HeldOut::Folds(_) if is_own => None,
            HeldOut::Folds(_) => Some(others),
            _ => Some("the criterion has no folds; use `kfold` with `rls`, or `scope: train`"),
        };
        let refused = |part: &str, why: &str| {
            Err(Error::setting("preprocess", format!("`scope: fold`{part} cannot be had, since {why}")))
        };
        let PerFoldPreprocessing::Formulas { missing, standardize } = wanted else {
            return obstacle.map_or_else(|| Ok(with_preprocessing(&design, wanted.clone())), |why| refused("", why));
        };
        let (mut filled, mut imputed_once, mut standardized_once) = (None, None, None);
        if let Some(mask) = missing {
            let obstacle = obstacle.or_else(|| design.readout().is_none().then_some(others));
            let lacking = without_mean(&folds, wanted).map(|feature| {
                format!(
                    "a fold is trained on rows that have no value of `{}`; use `scope: train`, or add the column to data.exclude",
                    design.problem().names()[feature]
                )
            });
            if mask.is_required
                && let Some(why) = lacking.as_deref().or(obstacle)
            {
                return refused(" of impute", why);
            }
            if obstacle.is_none() {
                let in_folds = PerFoldPreprocessing::Formulas { missing: missing.clone(), standardize: None };
                let imputed = with_preprocessing(&design, in_folds);
                let why = match lacking {
                    None => self.cost_obstacle(mask.is_required, &imputed, &design)?,
                    lacking => lacking,
                };
                imputed_once = why.map(|why| format!("missing cells are filled by means of all training rows; {why}"));
                if imputed_once.is_none() {
                    (design, filled) = (imputed, missing.clone());
                }
            }
        }
        if let Some(is_required) = *standardize {
            let in_folds = PerFoldPreprocessing::Formulas { missing: filled, standardize: Some(is_required) };
            let standardized = with_preprocessing(&design, in_folds);
            if let Some(why) = obstacle {
                if is_required {
                    return refused(" of standardize", why);
                }
                // A criterion without folds may retrain on some rows; means and deviations then exclude the others.
                return Ok(if folds == HeldOut::Nothing && is_own { standardized } else { design });
            }
            let why = self.cost_obstacle(is_required, &standardized, &design)?;
            standardized_once = why.map(|why| format!("columns are standardized by all training rows; {why}"));
            if standardized_once.is_none() {
                design = standardized;
            }
        }
        Ok(design.with_run(|run| (run.imputed_once, run.standardized_once) = (imputed_once, standardized_once)))
    }

    /// The reason against an optional refit in each fold, if the search would take far longer by the criterion's
    /// estimate.
    fn cost_obstacle(&self, is_required: bool, design: &Design, other: &Design) -> Result<Option<String>> {
        if is_required {
            return Ok(None);
        }
        let flops = |design: &Design| -> Result<f64> {
            // Compared at one λ, so that a grid is treated like its values.
            let one = match design.readout() {
                Some(readout) if !readout.refine => design.at_lambda(Some(readout.lambdas[0])),
                _ => design.clone(),
            };
            let search_extent = self.search.extent(&one).map_err(|error| self.in_search(error))?;
            Ok(self.criterion.plan(&one, &search_extent).estimate.flops)
        };
        let times = flops(design)? / flops(other)?;
        let why = || format!("anew in each fold would take {times:.0} times as long; `scope: fold` does so");
        Ok((times > MOST_TIMES).then(why))
    }
}

fn with_preprocessing(design: &Design, in_folds: PerFoldPreprocessing) -> Design {
    design.with_problem(|problem| problem.with_preprocessing(in_folds))
}

/// The first column without any value in the training rows of a fold.
fn without_mean(folds: &HeldOut, wanted: &PerFoldPreprocessing) -> Option<Feature> {
    let (HeldOut::Folds(rounds), Some(mask)) = (folds, wanted.missing()) else { return None };
    let lacks = |feature: &Feature| {
        let Some(mask) = mask.mask(*feature) else { return false };
        let has_value = |row: usize| mask.get(row) == 0.0;
        rounds.iter().any(|round| match round.trainings() {
            Some(trainings) => trainings.iter().any(|training| !training.iter().any(|&row| has_value(row))),
            None => {
                let mut values = (0..mask.len()).filter(|&row| has_value(row)).map(|row| round.fold_of_rows()[row]);
                let first = values.next().flatten();
                first.is_some() && values.all(|fold| fold == first)
            }
        })
    };
    mask.features().iter().copied().find(lacks)
}
