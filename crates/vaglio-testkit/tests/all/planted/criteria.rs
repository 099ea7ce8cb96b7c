//! Mean squared error on the training rows, with possible faults.

use super::Planted;
use crate::common::TOLERANCE;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_core::{
    Criterion, CriterionTraits, Design, EngineEvaluator, Error, Estimate, Evaluator, Feature, HeldOut, Plan, Result,
    Score, SearchExtent, SubsetChange, saved,
};
use vaglio_search::SubsetScorer;
use vaglio_testkit::{check_criterion, data};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    NanOnEmpty,
    NanLate,
    SubsetOrder,
    HiddenState,
    Noise,
    Panics,
    Fails,
    WrongTrial,
    WrongRemoval,
    ResetAppends,
    RemoveDoesNothing,
    NegativeStandardError,
    IgnoresWeights,
    CountsRows,
}

const FAULTS: [(&str, Fault, &str); 14] = [
    ("NaN of no columns", Fault::NanOnEmpty, "never_nan"),
    ("NaN of many columns", Fault::NanLate, "never_nan"),
    ("a score that depends on the order of the subset", Fault::SubsetOrder, "any_order"),
    ("a score that depends on the subset before", Fault::HiddenState, "additions"),
    ("noise of 1e-13", Fault::Noise, "candidate_order"),
    ("a panic", Fault::Panics, "never_nan"),
    ("an error", Fault::Fails, "never_nan"),
    ("a trial that is wrong by 1e-6", Fault::WrongTrial, "additions"),
    ("a removal that is wrong", Fault::WrongRemoval, "removals"),
    ("a reset that appends", Fault::ResetAppends, "resets"),
    ("a removal that does nothing", Fault::RemoveDoesNothing, "removals"),
    ("a negative standard error", Fault::NegativeStandardError, "never_nan"),
    ("row weights that are ignored", Fault::IgnoresWeights, "row_weights"),
    ("a weighted loss over rows that are counted without weights", Fault::CountsRows, "row_weights"),
];

pub fn planted() -> Vec<Planted> {
    let design = data::regression(16, 6, 3).weighted().design(&[0.3], true);
    let tried = |fault| check_criterion(&Training { fault }, &design, TOLERANCE);
    let wrong = FAULTS.map(|(name, fault, law)| (name, Some(law), tried(fault)));
    wrong.into_iter().chain([("a right criterion", None, tried(Fault::None))]).collect()
}

#[saved(Criterion, "planted_training")]
struct Training {
    fault: Fault,
}

static CALLS: AtomicUsize = AtomicUsize::new(0);
static LAST: AtomicUsize = AtomicUsize::new(0);

impl Criterion for Training {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        match self.fault {
            Fault::NanOnEmpty if subset.is_empty() => return Ok(Score::new(f64::NAN)),
            Fault::NanLate if subset.len() > 4 => return Ok(Score::new(f64::NAN)),
            Fault::Panics if subset.len() == 2 => panic!("an index is out of bounds"),
            Fault::Fails if subset.len() == 2 => return Err(Error::Numerical("no factor".into())),
            _ => {}
        }
        let rows: Vec<usize> = (0..design.rows()).collect();
        design.best_lambda(|lambda| {
            let fitted = design.retrain(&rows, &rows, subset, lambda)?;
            let weight = |row: usize| design.weights().map_or(1.0, |w| w[row]);
            let error = |row: usize| (design.targets()[[0, row]] - fitted[[0, row]]).powi(2);
            let mean = match self.fault {
                Fault::IgnoresWeights => return Ok(unweighted(design, subset)),
                _ => {
                    rows.iter().map(|&r| weight(r) * error(r)).sum::<f64>()
                        / rows.iter().map(|&r| weight(r)).sum::<f64>()
                }
            };
            Ok(match self.fault {
                Fault::SubsetOrder => mean * (1.0 + 1e-6 * subset.first().map_or(0.0, |&f| f as f64)),
                Fault::CountsRows => mean / (1.0 - subset.len() as f64 / rows.len() as f64).powi(2),
                Fault::Noise => mean * (1.0 + 1e-13 * (CALLS.fetch_add(1, Ordering::SeqCst) % 7) as f64),
                Fault::HiddenState => mean + 1e-3 * LAST.swap(subset.len(), Ordering::SeqCst) as f64,
                _ => mean,
            })
        })
    }

    fn plan<'d>(&'d self, design: &'d Design, _: &SearchExtent) -> Plan<'d> {
        let wrong = [
            Fault::WrongTrial,
            Fault::WrongRemoval,
            Fault::ResetAppends,
            Fault::RemoveDoesNothing,
            Fault::NegativeStandardError,
        ];
        let evaluator = Walked { fault: self.fault, inner: SubsetScorer::by_definition(self, design) };
        let estimate = Estimate::unknown(if wrong.contains(&self.fault) { "walked" } else { "definition" }, "a test");
        match wrong.contains(&self.fault) {
            true => Plan::by_engine(estimate, move || Ok(EngineEvaluator::new("walked", evaluator))),
            false => Plan::by_definition(estimate),
        }
    }
}

/// One minus the mean squared correlation with the target, without weights.
fn unweighted(design: &Design, subset: &[Feature]) -> f64 {
    let y = design.targets().row(0).to_vec();
    let centered = |v: &[f64]| -> Vec<f64> { v.iter().map(|x| x - v.iter().sum::<f64>() / v.len() as f64).collect() };
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let strength = |&f: &Feature| {
        let (x, y) = (centered(&design.column(f).values()), centered(&y));
        product(&x, &y).powi(2) / (product(&x, &x) * product(&y, &y))
    };
    1.0 - subset.iter().map(strength).sum::<f64>() / subset.len().max(1) as f64
}

struct Walked<'d> {
    fault: Fault,
    inner: SubsetScorer<'d>,
}

impl Evaluator for Walked<'_> {
    fn score(&mut self, _: &[Feature]) -> Result<Score> {
        self.inner.score()
    }

    fn scores(
        &mut self,
        change: SubsetChange,
        _: &[Feature],
        candidates: &[Feature],
        scores: &mut [Score],
    ) -> Result<()> {
        match change {
            SubsetChange::Addition => self.inner.score_additions(candidates, scores)?,
            SubsetChange::Removal => self.inner.score_removals(candidates, scores)?,
        }
        match (change, self.fault) {
            (SubsetChange::Addition, Fault::WrongTrial) => scores.iter_mut().for_each(|score| score.loss *= 1.0 + 1e-6),
            (SubsetChange::Removal, Fault::WrongRemoval) => scores.iter_mut().for_each(|score| score.loss += 1.0),
            _ => {}
        }
        Ok(())
    }

    fn apply(&mut self, change: SubsetChange, _: &[Feature], feature: Feature) -> Result<()> {
        match change {
            SubsetChange::Addition => self.inner.add(feature),
            SubsetChange::Removal if self.fault == Fault::RemoveDoesNothing => Ok(()),
            SubsetChange::Removal => self.inner.remove(feature),
        }
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        let held = self.inner.selected().to_vec();
        let kept = subset.iter().filter(|f| self.fault == Fault::ResetAppends && !held.contains(f));
        let all: Vec<Feature> = held.iter().chain(kept).copied().collect();
        self.inner.reset(if self.fault == Fault::ResetAppends { &all } else { subset })
    }

    fn standard_error(&mut self, _: &[Feature]) -> Result<Option<f64>> {
        Ok((self.fault == Fault::NegativeStandardError).then_some(-1.0))
    }
}

/// A criterion that sorts the subset, for order invariance, sums copies of a column in another order.
#[test]
fn a_definition_that_sorts_its_subset_keeps_every_law() {
    #[saved(Criterion, "planted_sorted")]
    struct Sorted {}

    impl Criterion for Sorted {
        fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
            let mut sorted = subset.to_vec();
            sorted.sort_unstable();
            Training { fault: Fault::None }.evaluate(design, &sorted)
        }
    }
    let design = data::regression(16, 6, 3).duplicates(2).weighted().design(&[0.3], true);
    crate::common::holds(check_criterion(&Sorted {}, &design, TOLERANCE));
}

#[saved(Criterion, "planted_bic")]
struct Bic {
    by_weight: bool,
    holds_out: bool,
    says_so: bool,
}

impl Criterion for Bic {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let Score { loss, lambda } = Training { fault: Fault::None }.evaluate(design, subset)?;
        let total = design.weights().map_or(design.rows() as f64, |w| w.iter().sum());
        let n = if self.by_weight { total } else { design.rows() as f64 };
        Ok(Score { loss: n * loss.ln() + n.ln() * subset.len() as f64, lambda })
    }

    fn folds(&self, _: &Design) -> Result<HeldOut> {
        Ok(if self.holds_out { HeldOut::EachRow } else { HeldOut::Nothing })
    }

    fn traits(&self) -> CriterionTraits {
        CriterionTraits { counts_rows: self.says_so, ..CriterionTraits::default() }
    }
}

/// A criterion that counts rows declares it or holds rows out; the sum of weights is no row count.
#[test]
fn rows_are_counted_whatever_their_weights() {
    let design = data::regression(16, 6, 3).weighted().design(&[0.3], true);
    for (holds_out, says_so) in [(false, true), (true, false)] {
        crate::common::holds(check_criterion(&Bic { by_weight: false, holds_out, says_so }, &design, TOLERANCE));
        let broken = check_criterion(&Bic { by_weight: true, holds_out, says_so }, &design, TOLERANCE).unwrap_err();
        assert_eq!(broken.law, "row_weights");
        assert!(broken.expected.contains("times one factor"), "{broken}");
    }
    let silent = Bic { by_weight: false, holds_out: false, says_so: false };
    let broken = check_criterion(&silent, &design, TOLERANCE).unwrap_err();
    assert!(broken.law == "row_weights" && broken.expected.contains("`CriterionTraits::counts_rows`"), "{broken}");
}
