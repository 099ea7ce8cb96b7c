//! The law of criteria that declare their held-out rows and their loss.

use super::CriterionLaws;
use crate::LawResult;
use crate::law_violation::{attempt, law, unless};
use crate::trial::{Subject, prefixes};
use ndarray::{Array2, Axis, concatenate};
use vaglio_core::{Design, Feature, HeldOut, Loss, Part, Result as Made, Round, Score, prediction_units, row_weights};

impl CriterionLaws<'_> {
    /// A criterion with [`vaglio_core::Criterion::folds`] and [`vaglio_core::CriterionTraits::loss`] equals plain
    /// retraining by [`Design::retrain`].
    ///
    /// * The score is the loss of all held-out rows, each predicted without its fold, at the λ with the lowest loss.
    /// * The standard error, if any, follows from the losses of the same predictions.
    /// * Rows of all rounds are pooled: a row held out in several rounds counts as often.
    ///
    /// Since the rows of a fold share a model, a standard error over several folds is accepted as well. Several rounds
    /// are averaged. A criterion without held-out rows or without a loss passes, and so does a
    /// score of +∞, which rejects a subset.
    pub fn held_out(self) -> LawResult {
        law("held_out", || {
            let subject = self.subject();
            let Subject { criterion, design, near } = subject;
            let asked = || Ok((criterion.folds(design)?, criterion.traits().loss));
            let (rounds, loss) = match attempt("the rows that are held out", asked)? {
                (HeldOut::Nothing, _) | (_, None) => return Ok(()),
                (HeldOut::EachRow, Some(loss)) => {
                    (vec![Round::new((0..design.rows() as u32).map(Some).collect())], loss)
                }
                (HeldOut::Folds(rounds), Some(loss)) => (rounds, loss),
            };
            let held = BruteForceHoldOut { design, rounds, loss };
            let each =
                criterion.traits().scores_each_output && design.readout().is_some_and(|readout| readout.each_output);
            let outputs: Vec<Option<usize>> =
                if each { (0..design.targets().nrows()).map(Some).collect() } else { vec![None] };
            let trail = subject.trail(3, 25)?;
            for subset in prefixes(&trail) {
                let on = format_args!("subset {subset:?}, `{}` of the rows held out", held.loss.kind());
                let scores =
                    attempt(on, || outputs.iter().map(|&output| held.score(subset, output)).collect::<Made<Vec<_>>>())?;
                let expected = scores.iter().map(|score| score.loss).sum::<f64>() / scores.len() as f64;
                let found = subject.evaluate(subset)?;
                if found.loss == f64::INFINITY {
                    // The criterion rejects this subset.
                    continue;
                }
                let retrained = "without their folds by `retrain`";
                let same = near.holds(expected, found.loss);
                unless(same, on, format!("{expected}, as of rows predicted {retrained}"), found.loss)?;
                let mut reset = subject.reset(subset)?;
                let Some(reported) = attempt(on, || reset.standard_error())? else { continue };
                let errors = attempt(on, || held.standard_errors(subset, &outputs, &scores))?;
                let same = errors.iter().any(|expected| near.loosely().holds(*expected, reported));
                let expected = errors.first().map_or("none".into(), f64::to_string);
                let what = format_args!("{on}, its standard error");
                unless(same, what, format!("{expected}, as of the rows predicted {retrained}"), reported)?;
            }
            Ok(())
        })
    }
}

/// Plain retraining of the held-out rows.
struct BruteForceHoldOut<'d> {
    design: &'d Design,
    rounds: Vec<Round>,
    loss: Part<dyn Loss>,
}

/// The items that a loss is computed over: held-out rows of a round, or units with averaged predictions.
struct LossItems {
    /// Outputs × items.
    targets: Array2<f64>,
    predictions: Array2<f64>,
    weights: Vec<f64>,
    /// Items of each fold, with the share of each item in the fold.
    folds: Vec<Vec<(usize, f64)>>,
}

impl BruteForceHoldOut<'_> {
    /// Predicts the items of every round at a λ, for all outputs or one.
    fn items(&self, subset: &[Feature], lambda: Option<f64>, output: Option<usize>) -> Made<Vec<LossItems>> {
        let round_items = |round: &Round| -> Made<LossItems> {
            let mut all = Array2::zeros(self.design.targets().dim());
            for fold in 0..round.count() {
                let held: Vec<usize> = round.held_out(fold).collect();
                let predicted = self.design.retrain(&round.training(fold), &held, subset, lambda)?;
                held.iter().zip(predicted.columns()).for_each(|(&row, own)| all.column_mut(row).assign(&own));
            }
            let mut items = self.unit_items(round, &all).unwrap_or_else(|| self.row_items(round, &all));
            items.folds.retain(|fold| !fold.is_empty());
            if let Some(output) = output {
                items.targets = items.targets.select(Axis(0), &[output]);
                items.predictions = items.predictions.select(Axis(0), &[output]);
            }
            Ok(items)
        };
        self.rounds.iter().map(round_items).collect()
    }

    fn row_items(&self, round: &Round, predictions: &Array2<f64>) -> LossItems {
        let rows: Vec<usize> =
            (0..round.fold_of_rows().len()).filter(|&row| round.fold_of_rows()[row].is_some()).collect();
        let place = |row: usize| rows.partition_point(|&other| other < row);
        LossItems {
            targets: self.design.targets().select(Axis(1), &rows),
            predictions: predictions.select(Axis(1), &rows),
            weights: rows.iter().map(|&row| row_weights(self.design.weights())(row)).collect(),
            folds: (0..round.count()).map(|f| round.held_out(f).map(|row| (place(row), 1.0)).collect()).collect(),
        }
    }

    /// Items of units with averaged predictions; `None` unless the design has units and the round holds out every row.
    fn unit_items(&self, round: &Round, predictions: &Array2<f64>) -> Option<LossItems> {
        let units = prediction_units(self.design).filter(|_| round.fold_of_rows().iter().all(Option::is_some))?;
        let mut decided = Array2::zeros(units.targets.dim());
        for (row, &unit) in units.per_row.iter().enumerate() {
            decided.column_mut(unit).scaled_add(units.shares[row], &predictions.column(row));
        }
        let share = |row: usize| (units.per_row[row], units.shares[row]);
        Some(LossItems {
            targets: units.targets.clone(),
            predictions: decided,
            weights: units.weights.clone().unwrap_or_else(|| vec![1.0; units.targets.ncols()]),
            folds: (0..round.count()).map(|fold| round.held_out(fold).map(share).collect()).collect(),
        })
    }

    /// Returns the lowest loss over λ.
    fn score(&self, subset: &[Feature], output: Option<usize>) -> Made<Score> {
        self.design.best_lambda(|lambda| Ok(self.pool(&self.items(subset, lambda, output)?)))
    }

    /// Computes the loss of all rounds' items together.
    fn pool(&self, rounds: &[LossItems]) -> f64 {
        let together = |array: &dyn Fn(&LossItems) -> &Array2<f64>| {
            concatenate(Axis(1), &rounds.iter().map(|items| array(items).view()).collect::<Vec<_>>())
        };
        let weights: Vec<f64> = rounds.iter().flat_map(|items| items.weights.iter().copied()).collect();
        let both = (together(&|items| &items.targets), together(&|items| &items.predictions));
        let (Ok(targets), Ok(predictions)) = both else { return f64::NAN };
        self.loss.mean(targets.view(), predictions.view(), self.design.weights().map(|_| &weights[..]))
    }

    /// Returns the accepted standard errors: over rows, and over folds, since the rows of a fold share a model. Both
    /// are averaged over rounds, and over outputs with their own λ.
    fn standard_errors(&self, subset: &[Feature], outputs: &[Option<usize>], scores: &[Score]) -> Made<Vec<f64>> {
        let (mut over_rows, mut over_folds) = (Vec::new(), Vec::new());
        for (&output, score) in outputs.iter().zip(scores) {
            for items in self.items(subset, score.lambda, output)? {
                let (targets, predictions) = (items.targets.view(), items.predictions.view());
                let weights = self.design.weights().map(|_| &items.weights[..]);
                let error = |parts| self.loss.standard_error(targets, predictions, weights, parts);
                over_rows.push(error(None));
                over_folds.push(error(Some(&items.folds[..]).filter(|folds| folds.len() > 1)));
            }
        }
        let mean = |errors: Vec<Option<f64>>| {
            let all: Option<Vec<f64>> = errors.into_iter().collect();
            all.filter(|all| !all.is_empty()).map(|all| all.iter().sum::<f64>() / all.len() as f64)
        };
        Ok([mean(over_rows), mean(over_folds)].into_iter().flatten().filter(|error| error.is_finite()).collect())
    }
}
