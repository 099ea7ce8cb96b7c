//! `lambda: {…, outputs: each}`: every output has its own λ, on one subset.

use vaglio::Selector;
use vaglio::core::{
    Absolute, Action, Criterion, Design, Error, Lambda, Learner, Measure, Problem, Readout, Task, ZeroOne,
    single_outputs,
};
use vaglio::criteria::{Engine, FoldBy, KFold, Loo};
use vaglio::learners::{Crrr, Rls};
use vaglio::search::{Backward, Exhaustive, Floating, Greedy, Search, Silent, SubsetScorer};
use vaglio::splits::Repeated;
use vaglio_testkit::{CriterionLaws, LawResult, check_criterion, data};

const LAMBDAS: [f64; 4] = [1e-3, 0.1, 2.0, 30.0];

fn design(recipe: &data::Recipe, intercept: bool, refine: bool) -> Design {
    let readout = Readout::new(LAMBDAS.to_vec(), intercept).unwrap();
    Design::identity(&recipe.problem().with_seed(3), Readout { refine, each_output: true, ..readout })
}

fn criteria() -> Vec<Box<dyn Criterion>> {
    let kfold = |engine| KFold { folds: Some(4), engine, ..KFold::default() };
    vec![
        Box::new(Loo::default()),
        Box::new(Loo { loss: Absolute.into(), ..Loo::default() }),
        Box::new(kfold(Engine::Moments)),
        Box::new(kfold(Engine::RowsHeldOut)),
        Box::new(KFold { by: Some(FoldBy::Groups), loss: Absolute.into(), ..KFold::default() }),
        Box::new(KFold::with_splits(Repeated { folds: 3, repeats: 2 })),
    ]
}

/// Criteria meet every other design in turn; with `VAGLIO_CASES=all`, all.
#[test]
fn every_criterion_of_held_out_rows_keeps_the_laws() -> LawResult {
    crate::on_one_thread(|| {
        for (turn, criterion) in criteria().into_iter().enumerate() {
            let name = format!("{criterion:?}");
            let designs = [
                design(&data::regression(24, 6, 3).outputs(3).weighted().groups(6), true, false),
                design(&data::regression(24, 6, 4).outputs(2).groups(5).duplicates(1), false, false),
                design(&data::multiclass(24, 5, 3, 5).groups(6), true, false),
            ];
            let step = crate::stride(2);
            for design in designs.into_iter().skip(turn % step).step_by(step) {
                check_criterion(&*criterion, &design, 1e-9).map_err(|broken| broken.within(&name))?;
            }
            // A search of λ stops within the rounding of a loss that has corners.
            if criterion.traits().loss.is_some_and(|loss| loss.traits().measure != Measure::Squared) {
                continue;
            }
            let searched = design(&data::regression(20, 5, 6).outputs(2).groups(5), true, true);
            CriterionLaws::new(&*criterion, &searched, 1e-9).additions().map_err(|broken| broken.within(&name))?;
            CriterionLaws::new(&*criterion, &searched, 1e-9).removals().map_err(|broken| broken.within(&name))?;
        }
        Ok(())
    })
}

/// Scores and λ are those of runs of single outputs, to the last bit; so are the models.
#[test]
fn scores_and_models_are_those_of_single_outputs() {
    let problem = data::regression(30, 7, 8).outputs(3).weighted().groups(6).problem();
    let alone = |output: usize| {
        let targets = problem.targets().slice(ndarray::s![output..output + 1, ..]).to_owned();
        let (columns, names) = (problem.columns().clone(), problem.names().to_vec());
        let one = Problem::new(columns, names, targets, vec!["y".into()], Task::Regression).unwrap();
        let one = one.with_groups(problem.groups().unwrap().to_vec()).unwrap();
        one.with_weights(problem.weights().unwrap().to_vec()).unwrap()
    };
    let learner = |each: bool| {
        let lambda = Lambda::one_of(LAMBDAS.to_vec());
        Rls { lambda: if each { lambda.for_each_output() } else { lambda }, ..Rls::default() }
    };
    use vaglio::search::Choose::Last;
    let searches: Vec<Box<dyn Fn() -> Search>> = vec![
        Box::new(move || Greedy::new(4).choose(Last)),
        Box::new(move || Search::new(Backward::default()).choose(Last)),
        Box::new(move || Search::new(Floating {}).choose(Last).max_features(4)),
        Box::new(move || Search::new(Exhaustive::default()).choose(Last).max_features(3)),
    ];
    let mut differ = 0;
    for criterion in criteria() {
        let criterion: std::sync::Arc<dyn Criterion> = criterion.into();
        for search in &searches {
            let shared: std::sync::Arc<dyn Learner> = std::sync::Arc::new(learner(true));
            let selector = Selector::params(criterion.clone(), search(), shared);
            let selection = linfa::ParamGuard::check(selector).unwrap().select(&problem, &mut Silent).unwrap();
            for entry in &selection.path.entries {
                let lambdas = entry.lambdas().unwrap();
                differ += usize::from(lambdas[0] != lambdas[1] || lambdas[1] != lambdas[2]);
                let losses: Vec<f64> = (0..3)
                    .map(|output| {
                        let design = Design::from_problem(&alone(output), std::sync::Arc::new(learner(false))).unwrap();
                        let extent = vaglio::core::SearchExtent::forward(7, entry.subset.len());
                        let mut subset = SubsetScorer::open(&*criterion, &design, &extent).unwrap();
                        entry.subset.iter().for_each(|&feature| subset.add(feature).unwrap());
                        let defined = criterion.evaluate(&design, &entry.subset).unwrap();
                        assert_eq!(defined.lambda, Some(lambdas[output]));
                        assert!((subset.score().unwrap().loss / defined.loss - 1.0).abs() < 1e-10);
                        defined.loss
                    })
                    .collect();
                let mean = losses.iter().sum::<f64>() / 3.0;
                assert!((entry.score.loss / mean - 1.0).abs() < 1e-10, "{criterion:?} {entry:?}");
            }
            let entry = selection.path.result().unwrap();
            let found = selection.model.coefficients().unwrap();
            for output in 0..3 {
                let design = Design::from_problem(&alone(output), std::sync::Arc::new(learner(false))).unwrap();
                let model = design.train(&entry.subset, Some(entry.lambdas().unwrap()[output])).unwrap();
                let own = model.coefficients().unwrap();
                for (a, b) in found.weights.column(output).iter().zip(own.weights.column(0)) {
                    assert!((a - b).abs() < 1e-10, "{a} is not {b}");
                }
                assert!((found.intercept[output] - own.intercept[0]).abs() < 1e-10);
            }
        }
    }
    assert!(differ > 20, "{differ}");
}

/// Trial scores with several outputs are the means of the scores with single outputs.
#[test]
fn trials_are_the_mean_of_those_of_single_outputs_to_the_last_bit() {
    let recipe = data::regression(30, 7, 9).outputs(3).groups(6);
    let together = design(&recipe, true, false);
    for criterion in criteria() {
        let extent = vaglio::core::SearchExtent::forward(7, 4);
        let mut subset = SubsetScorer::open(&*criterion, &together, &extent).unwrap();
        let mut alone: Vec<SubsetScorer<'_>> = single_outputs(&together)
            .unwrap()
            .iter()
            .map(|one| SubsetScorer::open(&*criterion, one, &extent).unwrap())
            .collect();
        for next in [5, 1, 3] {
            let left: Vec<usize> = (0..7).filter(|f| !subset.selected().contains(f)).collect();
            let scores = subset.scores(Action::Add, &left).unwrap();
            let mut sums = vec![0.0; left.len()];
            for one in &mut alone {
                let own = one.scores(Action::Add, &left).unwrap();
                sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own.loss);
                one.add(next).unwrap();
            }
            scores.iter().zip(sums).for_each(|(score, sum)| assert_eq!(score.loss, sum / 3.0));
            subset.add(next).unwrap();
        }
    }
}

#[test]
fn what_is_of_all_outputs_together_is_refused() {
    let problem = data::multiclass(30, 5, 3, 7).problem();
    let each = || Lambda::one_of(LAMBDAS.to_vec()).for_each_output();
    let rls = Rls { lambda: each(), ..Rls::default() };
    let greedy = Greedy::new(2);
    for (selector, words) in [
        (
            Selector::params(Loo { loss: ZeroOne.into(), ..Loo::default() }, greedy.clone(), rls.clone()),
            "`zero_one` is of",
        ),
        (Selector::params(Loo::default(), greedy.clone(), Crrr { lambda: each(), ..Crrr::default() }), "balances"),
        (Selector::params(vaglio::criteria::Nhsic::default(), greedy, rls), "use `loo` or `kfold`"),
    ] {
        match linfa::ParamGuard::check(selector).unwrap().design(&problem) {
            Err(Error::Setting { message, .. }) => assert!(message.to_string().contains(words), "{message}"),
            other => panic!("{other:?}"),
        }
    }
}
