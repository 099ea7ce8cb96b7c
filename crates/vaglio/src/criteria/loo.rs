//! Leave-one-out.

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use vaglio_core::{
    Column, Criterion, Design, Error, Estimate, Evaluator, Feature, Loss, Outline, Result, Score, Winner,
};
use vaglio_kernels::loo::{Basis, Bounded, Data, Full, Trial, Trouble, careful, careful_residuals, is_weak};
use vaglio_kernels::{Level, Measure, Scorer};

/// The mean loss of every row predicted from all others.
///
/// (1/Σ r_j) Σ_j r_j · loss(y_j, prediction of row j by the readout trained without row j); with a grid of λ the lowest
/// such mean over λ. A row of weight 2 counts as two equal rows that are left out together.
///
/// With a ridge readout every trial is exact and costs O(rows · outputs); no row is ever refitted.
///
/// # Reference
/// T. Pahikkala, A. Airola, T. Salakoski, *Feature selection for regularized least-squares: new computational
/// short-cuts and fast algorithmic implementations*, MLSP 2010.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Loo {
    /// What is averaged over the rows left out.
    pub loss: Loss,
    /// Tries every candidate at every step, even those that are proven worse; the result is the same.
    #[serde(skip)]
    pub full_pass: bool,
}

vaglio_core::describe!(
    Criterion,
    Loo,
    "loo",
    "mean loss of every row predicted from all others, exact and without refitting",
    "criterion: {kind: loo, loss: squared}"
);

#[typetag::serde(name = "loo")]
impl Criterion for Loo {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let (outputs, rows) = design.targets().dim();
        design.best_lambda(|lambda| {
            let mut predictions = Array2::zeros((outputs, rows));
            for row in 0..rows {
                predictions.column_mut(row).assign(&left_out(design, subset, row, lambda)?.column(0));
            }
            Ok(self.loss.mean(design.targets(), predictions.view(), design.weights()))
        })
    }

    fn accelerate<'d>(&'d self, design: &'d Design, _: &Outline) -> Result<Option<Box<dyn Evaluator + 'd>>> {
        let (Some(readout), Some(measure)) = (design.readout(), measure(self.loss)) else { return Ok(None) };
        let targets: Vec<Vec<f64>> = design.targets().rows().into_iter().map(|row| row.to_vec()).collect();
        let targets: Vec<&[f64]> = targets.iter().map(Vec::as_slice).collect();
        let mut active = vec![true; design.features()];
        for feature in design.constant() {
            active[feature] = false;
        }
        let columns = (0..design.features()).map(|f| kernel_column(design.column(f))).collect();
        let data = Data::new(Level::best(), columns, active, &targets, design.weights(), readout.intercept)
            .map_err(|trouble| explain(trouble, design.names()))?;
        let scorer = Scorer::new(Arc::clone(data.targets()), measure);
        let data = Arc::new(data);
        let start: Vec<Basis<'d>> = readout.lambdas.iter().map(|&l| Basis::new(Arc::clone(&data), l)).collect();
        let bounded = measure == Measure::Squared && !self.full_pass;
        let engine = LooEvaluator { design, data, scorer, bounded, states: States::Basis(start), selected: Vec::new() };
        Ok(Some(Box::new(engine)))
    }

    fn check(&self, design: &Design) -> Result<()> {
        self.loss.check(design.task())?;
        if self.loss == Loss::Auc {
            return Err(Error::NotAvailable {
                what: "the loss `auc` for leave-one-out".into(),
                instead: "use `balanced_error` or `squared`".into(),
                place: None,
            });
        }
        if design.rows() < 2 && design.readout().is_some_and(|r| r.intercept) {
            return Err(Error::setting(
                "kind",
                "leaving one row out of one leaves none to estimate the intercept from; give more rows or set learner.intercept to false",
            ));
        }
        Ok(())
    }

    fn loss(&self) -> Option<Loss> {
        Some(self.loss)
    }

    fn estimate(&self, design: &Design, outline: &Outline) -> Estimate {
        let Outline { largest, trials, .. } = *outline;
        let Some(readout) = design.readout() else {
            return Estimate {
                engine: "refit",
                reason: "the learner has no linear form, so every row of every subset is refitted".into(),
                flops: trials * (design.rows() * design.rows()) as f64 * (largest * largest) as f64,
                bytes: 0.0,
            };
        };
        let (rows, outputs) = (design.rows() as f64, design.targets().nrows() as f64);
        let active = (design.features() - design.constant().len()) as f64;
        let lambdas = readout.lambdas.len() as f64;
        let steps = largest as f64;
        if self.loss == Loss::Squared && !self.full_pass {
            return Estimate {
                engine: "dual",
                reason: "leave-one-out in closed form; squared loss, so candidates are bounded by one pass over the data and only those that could win are tried".into(),
                flops: lambdas * steps * rows * (active * (4.0 + 2.0 * outputs) + 8.0 * steps),
                bytes: lambdas * 8.0 * rows * (steps + active / 8.0 + 6.0 + 3.0 * outputs),
            };
        }
        Estimate {
            engine: "dual",
            reason: format!(
                "leave-one-out in closed form; every candidate is tried in one pass a step for the loss `{}`",
                self.loss.name()
            ),
            flops: lambdas * steps * rows * active * (4.0 + 6.0 * outputs),
            bytes: lambdas * 8.0 * rows * (active + 4.0 + 2.0 * outputs),
        }
    }
}

fn measure(loss: Loss) -> Option<Measure> {
    match loss {
        Loss::Squared => Some(Measure::Squared),
        Loss::Absolute => Some(Measure::Absolute),
        Loss::ZeroOne => Some(Measure::ZeroOne),
        Loss::BalancedError => Some(Measure::BalancedError),
        Loss::Auc => None,
    }
}

/// A column as the kernels take it.
pub(crate) fn kernel_column(column: Column<'_>) -> vaglio_kernels::Column<'_> {
    match column {
        Column::Double(values) => vaglio_kernels::Column::Double(values),
        Column::Byte(values) => vaglio_kernels::Column::Byte(values),
    }
}

fn explain(trouble: Trouble, names: &[String]) -> Error {
    let name = |column: usize| names.get(column).map_or("?", String::as_str);
    Error::Numerical(match trouble {
        Trouble::Overflow { column } => {
            format!("column `{}`: its sum of squares overflows; rescale or standardize it", name(column))
        }
        Trouble::Underflow { column } => {
            format!("column `{}`: its squares underflow to 0; rescale or standardize it", name(column))
        }
        Trouble::TargetOverflow => "the target's sum of squares overflows; rescale it".into(),
    })
}

fn left_out(design: &Design, subset: &[Feature], row: usize, lambda: Option<f64>) -> Result<Array2<f64>> {
    let others: Vec<usize> = (0..design.rows()).filter(|&r| r != row).collect();
    design.retrain(&others, &[row], subset, lambda)
}

/// What is kept of the columns that are not selected: nothing, bounds, or G x of each.
enum States<'d> {
    Basis(Vec<Basis<'d>>),
    Bounded(Vec<Bounded<'d>>),
    Full(Vec<Full<'d>>),
}

/// One state per λ; a subset's score is its lowest over λ.
struct LooEvaluator<'d> {
    design: &'d Design,
    data: Arc<Data<'d>>,
    scorer: Scorer,
    bounded: bool,
    states: States<'d>,
    selected: Vec<Feature>,
}

/// Candidates are tried in rounds of 1, 2, 4, … up to this many.
const ROUND: usize = 32;

impl<'d> LooEvaluator<'d> {
    fn bases(&self) -> Vec<&Basis<'d>> {
        match &self.states {
            States::Basis(all) => all.iter().collect(),
            States::Bounded(all) => all.iter().map(Bounded::basis).collect(),
            States::Full(all) => all.iter().map(Full::basis).collect(),
        }
    }

    fn take(&mut self) -> States<'d> {
        std::mem::replace(&mut self.states, States::Basis(Vec::new()))
    }

    /// Keeps G x of every column from here on.
    fn keep_all(&mut self) {
        self.states = States::Full(match self.take() {
            States::Basis(all) => all.into_iter().map(Full::new).collect(),
            States::Bounded(all) => all.into_iter().map(Bounded::into_full).collect(),
            States::Full(all) => all,
        });
    }

    /// The selected columns by the state of one subset, as if it had just been built.
    fn rebuilt(&self, subset: &[Feature]) -> Vec<Basis<'d>> {
        let build = |basis: &&Basis<'d>| {
            let mut built = Basis::new(Arc::clone(&self.data), basis.lambda());
            subset.iter().for_each(|&feature| built.add(feature));
            built
        };
        self.bases().iter().map(build).collect()
    }

    /// The scores of candidates (or of the subset alone) from their trials for each λ: those that have lost their
    /// digits are computed with care, then the lowest over λ is taken.
    fn settle(
        &self,
        bases: &[&Basis<'d>],
        mut trials: Vec<Vec<Trial>>,
        candidates: &[Option<Feature>],
    ) -> Result<Vec<Score>> {
        for (basis, trials) in bases.iter().zip(&mut trials) {
            let weak: Vec<usize> = (0..trials.len()).filter(|&k| is_weak(trials[k].low)).collect();
            let concerned: Vec<Option<Feature>> = weak.iter().map(|&k| candidates[k]).collect();
            for (k, loss) in weak.into_iter().zip(careful(basis, &self.scorer, &concerned)) {
                trials[k].loss = loss;
            }
        }
        let joint = |k: usize| {
            let mut best = Score::WORST;
            for (basis, trials) in bases.iter().zip(&trials) {
                let loss = trials[k].loss;
                if loss.is_nan() {
                    return Err(Error::Numerical(
                        "a leave-one-out score is not a number; rescale or standardize the columns".into(),
                    ));
                }
                if loss < best.loss {
                    best = Score { loss, lambda: Some(basis.lambda()) };
                }
            }
            Ok(best)
        };
        (0..candidates.len()).map(joint).collect()
    }

    /// The score of a subset that was just built.
    fn score_of(&self, bases: &[&Basis<'d>]) -> Result<Score> {
        let trials = bases.iter().map(|basis| vec![basis.score(&self.scorer)]).collect();
        Ok(self.settle(bases, trials, &[None])?[0])
    }

    /// The best addition by bounds; `None` when they tell too few candidates apart.
    fn best_by_bounds(&mut self, candidates: &[Feature]) -> Result<Option<Vec<(Feature, Score)>>> {
        let mut states = match self.take() {
            States::Basis(all) => all.into_iter().map(Bounded::new).collect(),
            States::Bounded(all) => all,
            full @ States::Full(_) => {
                self.states = full;
                return Ok(None);
            }
        };
        let bounds: Vec<Vec<f64>> = states.iter_mut().map(|s| s.bounds(&self.scorer)).collect();
        let features = states.first().map(|s| s.features().to_vec()).unwrap_or_default();
        self.states = States::Bounded(states);

        let mut wanted = vec![false; self.design.features()];
        candidates.iter().for_each(|&c| wanted[c] = true);
        let mut order: Vec<usize> = (0..features.len()).filter(|&p| wanted[features[p]]).collect();
        let lowest = |p: usize| bounds.iter().map(|b| b[p]).fold(f64::INFINITY, f64::min);
        order.sort_by(|&p, &q| lowest(p).total_cmp(&lowest(q)).then(p.cmp(&q)));

        let allowance = (order.len() / 4).max(ROUND);
        let mut scored: Vec<(Feature, Score)> = Vec::new();
        let (mut best, mut next, mut round) = (f64::INFINITY, 0, 1);
        while next < order.len() && lowest(order[next]) <= best {
            if next >= allowance {
                return Ok(None);
            }
            let batch: Vec<usize> =
                order[next..].iter().copied().take(round).take_while(|&p| lowest(p) <= best).collect();
            for (position, score) in batch.iter().zip(self.exact(&bounds, &batch, best, &features)?) {
                best = best.min(score.loss);
                scored.push((features[*position], score));
            }
            next += batch.len();
            round = (2 * round).min(ROUND);
        }
        tracing::trace!(tried = next, of = order.len(), "bounded step");
        Ok(Some(scored))
    }

    /// Exact scores of a batch; a λ whose bound is above `best` cannot win and is left out.
    fn exact(&mut self, bounds: &[Vec<f64>], batch: &[usize], best: f64, features: &[Feature]) -> Result<Vec<Score>> {
        let States::Bounded(states) = &mut self.states else { return Ok(Vec::new()) };
        let skipped = Trial { loss: f64::INFINITY, low: 1.0 };
        let mut trials = vec![vec![skipped; batch.len()]; states.len()];
        for (index, state) in states.iter_mut().enumerate() {
            let able: Vec<usize> = (0..batch.len()).filter(|&k| bounds[index][batch[k]] <= best).collect();
            let positions: Vec<usize> = able.iter().map(|&k| batch[k]).collect();
            for (k, trial) in able.into_iter().zip(state.trials(&self.scorer, &positions)) {
                trials[index][k] = trial;
            }
        }
        let candidates: Vec<Option<Feature>> = batch.iter().map(|&position| Some(features[position])).collect();
        self.settle(&self.bases(), trials, &candidates)
    }
}

impl Evaluator for LooEvaluator<'_> {
    fn selected(&self) -> &[Feature] {
        &self.selected
    }

    fn score(&mut self) -> Result<Score> {
        self.score_of(&self.bases())
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.states = States::Basis(self.rebuilt(subset));
        self.selected = subset.to_vec();
        Ok(())
    }

    fn score_additions(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        self.keep_all();
        let States::Full(states) = &mut self.states else { return Ok(()) };
        let trials: Vec<Vec<Trial>> = states.iter_mut().map(|s| s.trials(&self.scorer, candidates)).collect();
        let known: Vec<Option<Feature>> = candidates.iter().copied().map(Some).collect();
        scores.copy_from_slice(&self.settle(&self.bases(), trials, &known)?);
        // A constant column has no state of its own.
        for (candidate, score) in candidates.iter().zip(scores).filter(|(c, _)| !self.data.is_active(**c)) {
            let larger: Vec<Feature> = self.selected.iter().chain([candidate]).copied().collect();
            *score = self.score_of(&self.rebuilt(&larger).iter().collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn score_removals(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        for (candidate, score) in candidates.iter().zip(scores) {
            let rest: Vec<Feature> = self.selected.iter().copied().filter(|f| f != candidate).collect();
            *score = self.score_of(&self.rebuilt(&rest).iter().collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn add(&mut self, feature: Feature) -> Result<()> {
        match &mut self.states {
            States::Basis(all) => all.iter_mut().for_each(|s| s.add(feature)),
            States::Bounded(all) => all.iter_mut().for_each(|s| s.add(feature)),
            States::Full(all) => all.iter_mut().for_each(|s| s.add(feature)),
        }
        self.selected.push(feature);
        Ok(())
    }

    fn remove(&mut self, feature: Feature) -> Result<()> {
        let rest: Vec<Feature> = self.selected.iter().copied().filter(|f| *f != feature).collect();
        self.reset(&rest)
    }

    fn best_addition(&mut self, candidates: &[Feature]) -> Result<Option<Winner>> {
        if self.bounded
            && let Some(scored) = self.best_by_bounds(candidates)?
        {
            let (tried, scores): (Vec<Feature>, Vec<Score>) = scored.into_iter().unzip();
            return Ok(Winner::among(&tried, &scores));
        }
        let mut scores = vec![Score::WORST; candidates.len()];
        self.score_additions(candidates, &mut scores)?;
        Ok(Winner::among(candidates, &scores))
    }

    fn standard_error(&mut self) -> Result<Option<f64>> {
        let score = self.score()?;
        let bases = self.bases();
        let Some(basis) = bases.iter().find(|b| Some(b.lambda()) == score.lambda) else { return Ok(None) };
        let residuals = careful_residuals(basis, &[None]);
        Ok(residuals.first().map(|residuals| self.scorer.standard_error(residuals)))
    }

    fn engine(&self) -> &'static str {
        "dual"
    }
}
