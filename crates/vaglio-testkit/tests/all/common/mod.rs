//! Correct implementations, small and slow, and data to test them on.

#![allow(dead_code, reason = "every test takes what it needs")]

use vaglio_core::{
    Action, Answer, Coefficients, Columns, Criterion, Design, Feature, Form, HeldOut, Learner, LinearForm, Loss, Model,
    ModelData, ModelParts, Path, PathEntry, Predictor, Problem, Readout, Result, Score, SearchExtent, Squared, Step,
    StopReason, part, ridge, saved,
};
use vaglio_search::{Choose, SearchContext, SearchStrategy, Space, StrategyTraits, SubsetScorer};
use vaglio_testkit::{LawViolation, data};

pub const TOLERANCE: f64 = 1e-9;

/// Builds a design with copies and constants, on which every law has cases to test.
pub fn design() -> Design {
    data::regression(14, 5, 3).weighted().duplicates(1).constants(1).design(&[0.3], true)
}

/// Returns the violated law; panics if all laws hold.
#[track_caller]
pub fn broken_law(outcome: std::result::Result<(), LawViolation>) -> &'static str {
    let broken = outcome.expect_err("a law fails on what is wrong");
    assert!(broken.to_string().contains(broken.law) && !broken.on.is_empty(), "{broken}");
    broken.law
}

#[track_caller]
pub fn holds(outcome: std::result::Result<(), LawViolation>) {
    if let Err(broken) = outcome {
        panic!("{broken}");
    }
}

/// Leave-one-out squared error by definition.
#[part(Criterion, "by_definition", summary = "leave-one-out")]
pub struct ByDefinition {}

impl Criterion for ByDefinition {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let mut best = Score::WORST;
        for lambda in design.lambdas() {
            let mut predictions = design.targets().to_owned();
            for row in 0..design.rows() {
                let others: Vec<usize> = (0..design.rows()).filter(|&r| r != row).collect();
                let one = design.retrain(&others, &[row], subset, lambda)?;
                predictions.column_mut(row).assign(&one.column(0));
            }
            let loss = Squared.mean(design.targets(), predictions.view(), design.weights());
            if loss < best.loss {
                best = Score { loss, lambda };
            }
        }
        Ok(best)
    }

    fn folds(&self, _: &Design) -> Result<HeldOut> {
        Ok(HeldOut::EachRow)
    }
}

/// Adds the best column until none is left.
#[part(SearchStrategy, "forward", summary = "adds the best column")]
pub struct Forward {}

impl SearchStrategy for Forward {
    fn run(&self, _: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        let empty = context.subset.score()?;
        let candidates = context.candidates().to_vec();
        let (mut steps, mut entries) = (Vec::new(), Vec::new());
        let stop_reason = loop {
            let free: Vec<Feature> =
                candidates.iter().copied().filter(|f| !context.subset.selected().contains(f)).collect();
            let Some(winner) = context.subset.best_addition(&free)? else { break StopReason::NoCandidates };
            context.subset.add(winner.feature)?;
            let (size, score) = (context.subset.selected().len(), winner.score);
            entries.push(PathEntry::new(context.subset.selected().to_vec(), score));
            let mut step = Step::new(Action::Add, winner.feature, score, size);
            step.tied = winner.tied;
            steps.push(step);
            if let Answer::Stop(reason) = context.observe(&steps[size - 1]) {
                break reason;
            }
        };
        Ok(finish(empty, steps, entries, stop_reason))
    }

    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        Ok(SearchExtent::forward(space.features(), space.features()))
    }

    fn traits(&self) -> StrategyTraits<'_> {
        StrategyTraits { settings: &[], ..StrategyTraits::default() }
    }
}

/// Removes the least harmful column until one is left.
#[saved(SearchStrategy, "shrink")]
#[derive(Default)]
pub struct Shrink {}

impl SearchStrategy for Shrink {
    fn run(&self, _: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        let empty = context.subset.score()?;
        let all = context.candidates().to_vec();
        if all.is_empty() {
            return Ok(finish(empty, Vec::new(), Vec::new(), StopReason::NoCandidates));
        }
        context.subset.reset(&all)?;
        let (mut steps, mut entries) = (Vec::new(), Vec::new());
        entries.push(PathEntry::new(all, context.subset.score()?));
        let stop_reason = loop {
            let inside = context.subset.selected().to_vec();
            if inside.len() == 1 {
                break StopReason::MaxFeatures;
            }
            let mut scores = vec![Score::WORST; inside.len()];
            context.subset.score_removals(&inside, &mut scores)?;
            let Some(winner) = vaglio_core::Winner::among(&inside, &scores) else { break StopReason::NoCandidates };
            context.subset.remove(winner.feature)?;
            let (size, score) = (inside.len() - 1, winner.score);
            entries.insert(0, PathEntry::new(context.subset.selected().to_vec(), score));
            let mut step = Step::new(Action::Remove, winner.feature, score, size);
            step.tied = winner.tied;
            let answer = context.observe(&step);
            steps.push(step);
            if let Answer::Stop(reason) = answer {
                break reason;
            }
        };
        Ok(finish(empty, steps, entries, stop_reason))
    }

    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        Ok(SearchExtent::backward(space.features(), 1))
    }

    fn traits(&self) -> StrategyTraits<'_> {
        StrategyTraits { settings: &[], ..StrategyTraits::default() }
    }
}

fn finish(empty: Score, steps: Vec<Step>, entries: Vec<PathEntry>, stop_reason: StopReason) -> Path {
    let chosen = Choose::Best.pick(&entries, entries.len().saturating_sub(1), &(0..=usize::MAX));
    let mut path = Path::stopped(empty, stop_reason);
    (path.steps, path.entries, path.chosen, path.allowed) = (steps, entries, chosen, 0..=usize::MAX);
    path
}

/// Ridge regression on the raw columns.
#[part(Learner, "plain", summary = "ridge regression", example = "learner: {kind: plain, lambda: 1.0}")]
pub struct Plain {
    #[default(1.0)]
    pub lambda: f64,
}

impl LinearForm for Plain {
    fn readout(&self) -> Result<Readout> {
        Readout::new(vec![self.lambda], true)
    }
}

impl Learner for Plain {
    fn form(&self) -> Form<'_> {
        Form::Linear(self)
    }

    fn fit(&self, problem: &Problem, subset: &[Feature], lambda: Option<f64>) -> Result<Model> {
        Model::new(Fitted::of(problem, subset, lambda.unwrap_or(self.lambda), problem.weights().map(|w| &w[..]))?)
    }
}

#[saved(ModelData, "fitted")]
#[derive(Clone)]
pub struct Fitted {
    pub inputs: Vec<Feature>,
    pub lambda: f64,
    pub coefficients: Coefficients,
}

impl Fitted {
    pub fn of(problem: &Problem, subset: &[Feature], lambda: f64, weights: Option<&[f64]>) -> Result<Self> {
        let x = entries(&problem.columns().select(subset));
        let coefficients = ridge::ridge(x.view(), problem.targets().view(), weights, lambda, true)?;
        Ok(Fitted { inputs: subset.to_vec(), lambda, coefficients })
    }
}

impl ModelData for Fitted {
    fn parts(&self) -> ModelParts<'_> {
        let Fitted { inputs, lambda, coefficients } = self;
        ModelParts { inputs, predictor: Predictor::Readout { lambda: *lambda, coefficients, map: None } }
    }
}

/// Features × rows.
fn entries(columns: &Columns) -> ndarray::Array2<f64> {
    ndarray::Array2::from_shape_fn((columns.len(), columns.rows()), |(k, row)| columns.column(k).get(row))
}

/// Scores one addition.
pub fn addition(subset: &mut SubsetScorer<'_>, feature: Feature) -> Result<Score> {
    let mut score = [Score::WORST];
    subset.score_additions(&[feature], &mut score)?;
    Ok(score[0])
}
