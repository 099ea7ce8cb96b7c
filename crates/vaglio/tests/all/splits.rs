//! Rows held out by `splits`: a validation set, and folds several times over.

use vaglio::Selector;
use vaglio::core::{
    Absolute, Auc, BalancedError, BalancedSquared, Classes, Criterion, Design, Error, Feature, HeldOut, Learner, Loss,
    Measure, Part, PerFoldPreprocessing, Problem, Resampling, Round, RowLabels, Split, Squared, ZeroOne,
};
use vaglio::criteria::{Engine, KFold};
use vaglio::learners::Rls;
use vaglio::search::{Backward, Exhaustive, Greedy, Search};
use vaglio::splits::{Given, MonteCarlo, Repeated};
use vaglio_testkit::{CriterionLaws, LawResult, check_criterion, data};

fn given() -> KFold {
    KFold::with_splits(Given { column: "part".into() })
}

fn repeated(folds: usize, repeats: usize) -> KFold {
    KFold::with_splits(Repeated { folds, repeats })
}

/// Problem with a given number of each row.
fn assigned(problem: &Problem, numbers: Vec<u32>) -> Problem {
    let labels = RowLabels { assignment: Some(numbers.into()), ..problem.labels().clone() };
    problem.clone().with_labels(labels).unwrap()
}

/// Problem with every third row for validation.
fn parted(problem: &Problem) -> Problem {
    assigned(problem, (0..problem.rows()).map(|row| u32::from(row % 3 == 1)).collect())
}

fn design(recipe: &data::Recipe, lambdas: &[f64], intercept: bool) -> Design {
    let plain = recipe.design(lambdas, intercept);
    Design::identity(&parted(&recipe.problem()).with_seed(4), plain.readout().unwrap().clone())
}

#[test]
fn every_engine_and_loss_keeps_the_laws() -> LawResult {
    crate::on_one_thread(|| {
        for (loss, engine) in [
            (Part::<dyn Loss>::from(Squared), Engine::Moments),
            (Squared.into(), Engine::RowsHeldOut),
            (Absolute.into(), Engine::Auto),
            (ZeroOne.into(), Engine::Auto),
            (BalancedError.into(), Engine::Auto),
            (BalancedSquared.into(), Engine::Moments),
            (BalancedSquared.into(), Engine::RowsHeldOut),
            (Auc.into(), Engine::Auto),
        ] {
            for (criterion, intercept) in [(given(), true), (given(), false), (repeated(3, 2), true)] {
                let criterion = KFold { loss: loss.clone(), engine, ..criterion };
                let recipe = match loss.traits().measure {
                    Measure::Squared | Measure::Absolute => data::regression(24, 6, 3).outputs(2).weighted(),
                    _ => data::binary(24, 6, 4).weighted(),
                };
                let design = design(&recipe, &[0.3, 3.0], intercept);
                let name = format!("{criterion:?}");
                // The definition itself, where no engine serves.
                let is_slow = loss.traits().measure == Measure::Auc
                    && criterion.splits.as_ref().is_some_and(|splits| splits.kind() == "repeated");
                match is_slow {
                    true => CriterionLaws::new(&criterion, &design, 1e-9).additions(),
                    false => check_criterion(&criterion, &design, 1e-9),
                }
                .map_err(|broken| broken.within(&name))?;
            }
        }
        Ok(())
    })
}

#[test]
fn balanced_readouts_and_columns_standardized_in_folds_keep_the_definition() -> LawResult {
    let balanced = design(&data::binary(30, 5, 6).balanced(), &[0.5], true);
    let readout = balanced.readout().unwrap().clone().balanced();
    let balanced = Design::identity(&parted(&data::binary(30, 5, 6).problem()), readout);
    let recipe = data::regression(24, 6, 7).weighted().condition(1e3).bytes();
    let anew = design(&recipe, &[0.5, 5.0], true)
        .with_problem(|problem| problem.with_preprocessing(PerFoldPreprocessing::standardize()));
    for design in [balanced, anew] {
        for criterion in [given(), KFold { loss: Absolute.into(), ..given() }, repeated(4, 3)] {
            CriterionLaws::new(&criterion, &design, 1e-9).additions()?;
            CriterionLaws::new(&criterion, &design, 1e-9).removals()?;
            CriterionLaws::new(&criterion, &design, 1e-9).walk(60, 3)?;
            CriterionLaws::new(&criterion, &design, 1e-9).forks()?;
        }
    }
    Ok(())
}

/// A score of repeated folds is the mean of those of shuffled ones, and the first of them is `shuffle: true`.
#[test]
fn repeats_are_pooled() {
    let design =
        data::regression(31, 6, 8).weighted().design(&[0.7], true).with_problem(|problem| problem.with_seed(9));
    let HeldOut::Folds(rounds) = repeated(4, 3).folds(&design).unwrap() else { panic!("folds") };
    let shuffled = KFold { folds: Some(4), shuffle: true, ..KFold::default() };
    assert_eq!(shuffled.folds(&design).unwrap(), HeldOut::Folds(rounds[..1].to_vec()));
    assert!(rounds[0] != rounds[1] && rounds[1] != rounds[2]);
    let of_round = |round: &Round| {
        let numbers = round.fold_of_rows().iter().map(|fold| fold.unwrap()).collect();
        let problem = assigned(&data::regression(31, 6, 8).weighted().problem(), numbers);
        let design = Design::identity(&problem, design.readout().unwrap().clone());
        let criterion = KFold { assignment: Some("fold".into()), ..KFold::default() };
        criterion.evaluate(&design, &[0, 3]).unwrap().loss
    };
    let expected = rounds.iter().map(of_round).sum::<f64>() / 3.0;
    let found = repeated(4, 3).evaluate(&design, &[0, 3]).unwrap().loss;
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} is not {expected}");
}

#[test]
fn groups_stay_together_in_every_repeat() {
    let design = data::regression(40, 4, 2).groups(9).design(&[1.0], true);
    let HeldOut::Folds(rounds) = repeated(3, 4).folds(&design).unwrap() else { panic!("folds") };
    let groups = design.problem().groups().unwrap();
    for round in rounds {
        for (a, b) in (0..40).flat_map(|a| (0..a).map(move |b| (a, b))) {
            assert!(groups[a] != groups[b] || round.fold_of_rows()[a] == round.fold_of_rows()[b]);
        }
    }
}

#[test]
fn splits_that_cannot_be_are_refused() {
    let refused = |criterion: &KFold, design: &Design| match criterion.check(design) {
        Err(Error::Setting { field, message, .. }) => format!("{field}: {message}"),
        other => panic!("{criterion:?} gives {other:?}"),
    };
    let plain = data::regression(12, 4, 1).design(&[1.0], true);
    assert!(refused(&given(), &plain).starts_with("splits.column: the data have no column `part`"));
    let all = |word: u32| {
        let problem = assigned(&data::regression(12, 4, 1).problem(), vec![word; 12]);
        Design::identity(&problem, plain.readout().unwrap().clone())
    };
    assert_eq!(refused(&given(), &all(0)), "splits.column: no row is `validation`");
    assert_eq!(refused(&given(), &all(1)), "splits.column: no row is `train`");
    assert!(refused(&repeated(1, 3), &plain).starts_with("splits.folds: at least 2 folds"));
    assert!(refused(&repeated(13, 3), &plain).starts_with("splits.folds: 13 folds of 12 rows"));
    assert!(refused(&repeated(3, 0), &plain).starts_with("splits.repeats: 0 is not between"));
    let both = KFold { folds: Some(3), ..repeated(3, 2) };
    assert!(refused(&both, &plain).contains("it cannot be combined with `splits`"));
}

/// Squared loss on rows `held` of the ridge readout that is trained on rows `training`, by elimination.
fn validated(problem: &Problem, training: &[usize], held: &[usize], subset: &[Feature], lambda: f64) -> f64 {
    let y = problem.targets().row(0).to_owned();
    let mean =
        |values: &dyn Fn(usize) -> f64| training.iter().map(|&row| values(row)).sum::<f64>() / training.len() as f64;
    let entry = |feature: Feature, row: usize| problem.columns().column(feature).get(row);
    let means: Vec<f64> = subset.iter().map(|&feature| mean(&|row| entry(feature, row))).collect();
    let level = mean(&|row| y[row]);
    let size = subset.len();
    let centered = |k: usize, row: usize| entry(subset[k], row) - means[k];
    let product = |f: &dyn Fn(usize) -> f64| training.iter().map(|&row| f(row)).sum::<f64>();
    let mut system: Vec<Vec<f64>> = (0..size)
        .map(|i| {
            let mut row: Vec<f64> = (0..size).map(|j| product(&|r| centered(i, r) * centered(j, r))).collect();
            row[i] += lambda;
            row.push(product(&|r| centered(i, r) * (y[r] - level)));
            row
        })
        .collect();
    for pivot in 0..size {
        for other in (0..size).filter(|&other| other != pivot) {
            let factor = system[other][pivot] / system[pivot][pivot];
            let row = system[pivot].clone();
            system[other].iter_mut().zip(row).for_each(|(to, from)| *to -= factor * from);
        }
    }
    let weights: Vec<f64> = (0..size).map(|k| system[k][size] / system[k][k]).collect();
    let error = |row: usize| y[row] - level - (0..size).map(|k| weights[k] * centered(k, row)).sum::<f64>();
    held.iter().map(|&row| error(row).powi(2)).sum::<f64>() / held.len() as f64
}

/// The best subset of every size, from the empty one on, with the lowest of them: what the lecture's loops return.
struct Loops {
    of_sizes: Vec<(Vec<Feature>, f64)>,
}

impl Loops {
    fn best(&self) -> &(Vec<Feature>, f64) {
        self.of_sizes.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
    }
}

fn lowest(subsets: Vec<Vec<Feature>>, loss: &dyn Fn(&[Feature]) -> f64) -> (Vec<Feature>, f64) {
    let scored = subsets.into_iter().map(|subset| (loss(&subset), subset));
    scored.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(loss, subset)| (subset, loss)).unwrap()
}

/// For every size: train every subset of that size on the training data, take the best on the validation data.
fn subset_selection(count: usize, most: usize, loss: &dyn Fn(&[Feature]) -> f64) -> Loops {
    let of_size = |size: usize| {
        let subsets = (0_u32..1 << count).filter(|bits| bits.count_ones() as usize == size);
        lowest(subsets.map(|bits| (0..count).filter(|f| bits >> f & 1 == 1).collect()).collect(), loss)
    };
    Loops { of_sizes: (0..=most).map(of_size).collect() }
}

fn forward_selection(count: usize, most: usize, loss: &dyn Fn(&[Feature]) -> f64) -> Loops {
    let mut of_sizes = vec![(Vec::new(), loss(&[]))];
    while of_sizes.len() <= most {
        let solution = of_sizes.last().unwrap().0.clone();
        let larger = |f: Feature| solution.iter().copied().chain([f]).collect::<Vec<_>>();
        of_sizes.push(lowest((0..count).filter(|f| !solution.contains(f)).map(larger).collect(), loss));
    }
    Loops { of_sizes }
}

fn backward_selection(count: usize, loss: &dyn Fn(&[Feature]) -> f64) -> Loops {
    let all: Vec<Feature> = (0..count).collect();
    let mut of_sizes = vec![(all.clone(), loss(&all))];
    while of_sizes.last().unwrap().0.len() > 1 {
        let solution = of_sizes.last().unwrap().0.clone();
        let without = |gone: &Feature| solution.iter().copied().filter(|f| f != gone).collect::<Vec<_>>();
        of_sizes.push(lowest(solution.iter().map(without).collect(), loss));
    }
    of_sizes.push((Vec::new(), loss(&[])));
    of_sizes.reverse();
    Loops { of_sizes }
}

/// Subset, forward and backward selection with validation data, as the lecture writes them.
#[test]
fn selection_with_validation_data_is_that_of_plain_loops() {
    for seed in 0..8 {
        let problem = parted(&data::regression(36, 8, 40 + seed).problem());
        let rows = |word: u32| -> Vec<usize> {
            (0..36).filter(|&row| problem.labels().assignment.as_ref().unwrap()[row] == word).collect()
        };
        let (training, held, lambda) = (rows(0), rows(1), 0.4);
        let loss = |subset: &[Feature]| validated(&problem, &training, &held, subset, lambda);
        use vaglio::search::Choose::Best;
        let learner = Rls { lambda: vaglio::core::Lambda::from(lambda), ..Rls::default() };
        let greedy = Greedy::new(5).choose(Best).patience(100);
        let searches: [(Search, Loops); 3] = [
            (Search::new(Exhaustive::default()).choose(Best).max_features(4), subset_selection(8, 4, &loss)),
            (greedy, forward_selection(8, 5, &loss)),
            (Search::new(Backward::default()).choose(Best), backward_selection(8, &loss)),
        ];
        for (search, expected) in searches {
            let name = format!("{search:?}, seed {seed}");
            let selector = Selector::params(
                std::sync::Arc::new(given()),
                search,
                std::sync::Arc::new(learner.clone()) as std::sync::Arc<dyn Learner>,
            );
            let valid = linfa::ParamGuard::check(selector).unwrap();
            let path = valid.select(&problem, &mut vaglio::search::Silent).unwrap().path;
            for entry in &path.entries {
                let (subset, loss) = &expected.of_sizes[entry.subset.len()];
                let mut found = entry.subset.clone();
                found.sort_unstable();
                let mut subset = subset.clone();
                subset.sort_unstable();
                assert_eq!(found, subset, "{name}");
                assert!((entry.score.loss / loss - 1.0).abs() < 1e-10, "{name}: {entry:?} is not {loss}");
            }
            let (best, _) = expected.best();
            assert_eq!(path.result().map_or(0, |entry| entry.subset.len()), best.len(), "{name}");
        }
    }
}

/// Rows are dealt twice, each time into folds that hold out every row from all others.
#[vaglio::core::saved(Resampling, "dealt_twice")]
struct DealtTwice {}

impl Resampling for DealtTwice {
    fn splits(&self, problem: &Problem, _: Option<&Classes>) -> vaglio::core::Result<Vec<Split>> {
        let rows = |is_held_out: &dyn Fn(usize) -> bool| (0..problem.rows()).filter(|&row| is_held_out(row)).collect();
        let first = (0..3).map(|fold| rows(&|row| row % 3 == fold));
        let second = (0..2).map(|fold| rows(&|row| row % 2 == fold));
        Ok(first.chain(second).map(Split::holding_out).collect())
    }
}

/// Predictions are averaged over rows, so each has to have one, whatever the splits are called.
#[test]
fn splits_of_decisions_hold_out_every_row_from_all_others() -> LawResult {
    let recipe = data::binary(24, 5, 3).weighted();
    let decided = recipe.clone().deciding(3).design(&[0.3], true);
    let units = decided.problem().labels().units.clone();
    let design = design(&recipe, &[0.3, 3.0], true).with_problem(|problem| {
        let labels = RowLabels { units, ..problem.labels().clone() };
        problem.with_labels(labels).unwrap()
    });
    let twice = KFold::with_splits(DealtTwice {});
    CriterionLaws::new(&twice, &design, 1e-9).additions()?;
    CriterionLaws::new(&twice, &design, 1e-9).removals()?;
    for criterion in [given(), KFold::with_splits(MonteCarlo::default())] {
        let error = criterion.check(&design).unwrap_err();
        let expected = "`splits`: it does not hold out every row from all others";
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    Ok(())
}
