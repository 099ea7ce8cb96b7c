//! Leave-one-out on random walks of additions and removals, against plain retraining.

use vaglio::core::{
    Absolute, Action, BalancedError, Criterion, Design, Feature, Loss, Part, Readout, SearchExtent, Squared, Task,
    Winner, ZeroOne,
};
use vaglio::criteria::Loo;
use vaglio::search::SubsetScorer;
use vaglio_testkit::data::{self, Recipe};
use vaglio_testkit::{CriterionLaws, LawViolation};

const STEPS: usize = 500;

/// Every λ with and without an intercept; half of them by bounds, half by the full pass.
fn walks(recipe: &Recipe, tolerance: impl Fn(f64) -> f64, loss: Part<dyn Loss>) -> Result<(), LawViolation> {
    for (k, lambda) in [1.0, 1e-3, 1e-6, 1e-9].into_iter().enumerate() {
        for intercept in [true, false] {
            let criterion = Loo { loss: loss.clone(), full_pass: (k % 2 == 0) == intercept };
            let design = recipe.design(&[lambda], intercept);
            CriterionLaws::new(&criterion, &design, tolerance(lambda))
                .walk(STEPS, 7 + k as u64)
                .map_err(|b| b.within(&format!("lambda {lambda:e}, intercept {intercept}")))?;
        }
    }
    Ok(())
}

fn plain(lambda: f64) -> f64 {
    if lambda <= 1e-6 { 1e-7 } else { 1e-9 }
}

#[test]
fn weights_and_a_duplicate() -> Result<(), LawViolation> {
    walks(&data::regression(24, 8, 51).weighted().duplicates(1), plain, Squared.into())
}

#[test]
fn collinear_columns() -> Result<(), LawViolation> {
    walks(&data::regression(24, 8, 52).collinear(1e-3), |_| 1e-6, Squared.into())
}

#[test]
fn several_outputs_and_bytes() -> Result<(), LawViolation> {
    walks(&data::regression(22, 7, 53).outputs(3).weighted().bytes(), plain, Absolute.into())
}

#[test]
fn more_columns_than_rows() -> Result<(), LawViolation> {
    walks(&data::regression(9, 14, 54), |_| 1e-6, Squared.into())
}

/// Three columns that are not 0 in one row alone: with tiny λ the rows have leverage 1 while those columns are selected.
#[test]
fn rows_that_carry_a_column_alone() -> Result<(), LawViolation> {
    let alone = |row: usize| (0..14).map(|j| if j == row { 1.5 } else { 0.0 }).collect::<Vec<f64>>();
    let wave = |k: usize| (0..14).map(|j| ((j * k) as f64).sin()).collect::<Vec<f64>>();
    let columns = [alone(0), alone(4), alone(8), wave(1), wave(2), wave(5)];
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let target: Vec<f64> = (0..14).map(|j| (f64::from(j) * 0.7).cos()).collect();
    let problem = data::given(&columns, &[&target], Task::Regression).unwrap();
    for lambda in [1e-12, 1e-9, 1e-6] {
        for intercept in [true, false] {
            let design = Design::identity(&problem, Readout::new(vec![lambda], intercept).unwrap());
            CriterionLaws::new(&Loo::default(), &design, 1e-7)
                .walk(200, 4)
                .map_err(|b| b.within(&format!("lambda {lambda:e}, intercept {intercept}")))?;
        }
    }
    Ok(())
}

#[test]
fn a_grid_of_lambda() -> Result<(), LawViolation> {
    let design = data::regression(24, 8, 55).weighted().design(&[1e-6, 1e-2, 10.0], true);
    CriterionLaws::new(&Loo::default() as &dyn Criterion, &design, 1e-7).walk(STEPS, 3)
}

#[test]
fn forks_with_every_loss() -> Result<(), LawViolation> {
    for loss in [Part::<dyn Loss>::from(Squared), Absolute.into(), ZeroOne.into(), BalancedError.into()] {
        let criterion = Loo { loss: loss.clone(), full_pass: false };
        for lambdas in [&[0.5][..], &[1e-9], &[1e-3, 0.1, 10.0]] {
            for intercept in [true, false] {
                let within =
                    |b: LawViolation| b.within(&format!("{loss:?}, lambda {lambdas:?}, intercept {intercept}"));
                let duplicates = data::binary(24, 6, 61).weighted().duplicates(1);
                CriterionLaws::new(&criterion, &duplicates.design(lambdas, intercept), 1e-8).forks().map_err(within)?;
                let classes = data::multiclass(24, 6, 3, 62).design(lambdas, intercept);
                CriterionLaws::new(&criterion, &classes, 1e-8).forks().map_err(within)?;
            }
        }
    }
    let wide = data::regression(8, 12, 63).design(&[1e-3], true);
    CriterionLaws::new(&Loo::default(), &wide, 1e-8).forks()?;
    let collinear = data::regression(24, 8, 64).collinear(1e-3).design(&[1e-6], true);
    CriterionLaws::new(&Loo::default(), &collinear, 1e-6).forks()
}

/// From all columns to none, the cheapest removal each time.
fn backward(design: &Design, tolerance: f64) {
    let criterion = Loo::default();
    let mut evaluator = SubsetScorer::open(&criterion, design, &SearchExtent::forward(1, 1)).unwrap();
    let all: Vec<Feature> = (0..design.features()).collect();
    evaluator.reset(&all).unwrap();
    while !evaluator.selected().is_empty() {
        let candidates = evaluator.selected().to_vec();
        let scores = evaluator.scores(Action::Remove, &candidates).unwrap();
        let winner = Winner::among(&candidates, &scores).unwrap();
        evaluator.remove(winner.feature).unwrap();
        let defined = criterion.evaluate(design, evaluator.selected()).unwrap().loss;
        for found in [winner.score.loss, evaluator.score().unwrap().loss] {
            let on = evaluator.selected();
            assert!((found - defined).abs() <= tolerance * defined, "{on:?}: {found} is not {defined}");
        }
    }
}

#[test]
fn backward_from_all_columns() {
    backward(&data::regression(60, 40, 91).weighted().design(&[0.01], true), 1e-9);
    for lambda in [1.0, 1e-3, 1e-9] {
        backward(&data::regression(12, 20, 92).design(&[lambda], true), 1e-7);
        backward(&data::regression(12, 20, 93).weighted().design(&[lambda], false), 1e-7);
    }
}

/// Two additions by bounds, then the cheapest removal, as floating searches do: the same as without bounds.
#[test]
fn bounds_go_on_after_removals() {
    let design = data::regression(60, 90, 94).weighted().duplicates(4).design(&[1e-3, 1.0], true);
    let open = |full_pass| Loo { loss: Squared.into(), full_pass };
    let (by_bounds, in_full) = (open(false), open(true));
    let mut states =
        [&by_bounds, &in_full].map(|c| SubsetScorer::open(c, &design, &SearchExtent::forward(1, 1)).unwrap());
    for step in 0..60 {
        let selected = states[0].selected().to_vec();
        let candidates: Vec<Feature> = (0..design.features()).filter(|f| !selected.contains(f)).collect();
        if step % 3 < 2 {
            let found = states.each_mut().map(|s| s.best(Action::Add, &candidates).unwrap().unwrap());
            assert_eq!((found[0].feature, &found[0].tied), (found[1].feature, &found[1].tied), "step {step}");
            assert!((found[0].score.loss - found[1].score.loss).abs() <= 1e-11 * found[1].score.loss);
            states.iter_mut().for_each(|s| s.add(found[0].feature).unwrap());
        } else {
            let scores = states[0].scores(Action::Remove, &selected).unwrap();
            let leaves = Winner::among(&selected, &scores).unwrap().feature;
            // The first column leaves now and then, so that what leaves is not only what just came.
            let leaves = if step % 2 == 0 { selected[0] } else { leaves };
            states.iter_mut().for_each(|s| s.remove(leaves).unwrap());
        }
        let defined = by_bounds.evaluate(&design, states[0].selected()).unwrap().loss;
        for state in &mut states {
            assert!((state.score().unwrap().loss - defined).abs() <= 1e-9 * defined, "step {step}");
        }
    }
}
