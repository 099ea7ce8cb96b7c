//! A bias: a constant column that is a candidate.

use super::common::{NEAR, refs};
use serde_json::{Value, json};
use vaglio::core::{Criterion, Design, Measure, Readout, Task};
use vaglio::criteria::Mrmr;
use vaglio::criteria::{KFold, Loo, Nhsic};
use vaglio::search::{Greedy, Lars, Path, Search, SearchContext, Silent, SubsetScorer};
use vaglio_testkit::{SearchLaws, SplitMix64, design_copies};

/// Five columns, the bias among them, and one other that is constant; targets that are far from 0.
fn design(seed: u64, lambdas: &[f64], weighted: bool, value: f64) -> Design {
    let mut random = SplitMix64::new(seed);
    let columns: Vec<Vec<f64>> = (0..4).map(|_| (0..24).map(|_| random.normal()).collect()).collect();
    let target: Vec<f64> = (0..24).map(|j| 3.0 + columns[1][j] - 0.5 * columns[3][j] + 0.4 * random.normal()).collect();
    let (bias, other) = (vec![value; 24], vec![2.0; 24]);
    let all: Vec<&[f64]> = vec![&columns[0], &columns[1], &bias, &columns[2], &other, &columns[3]];
    let mut problem = vaglio_testkit::data::given(&all, &[&target], Task::Regression).unwrap().with_bias(2).unwrap();
    if weighted {
        problem = problem.with_weights((0..24).map(|row| 0.5 + (row % 3) as f64).collect()).unwrap();
    }
    Design::identity(&problem, Readout::new(lambdas.to_vec(), false).unwrap())
}

fn walk(search: &Search, criterion: &dyn Criterion, design: &Design, fast: bool) -> Path {
    search.check(criterion, design).unwrap();
    let open = || SubsetScorer::open(criterion, design, &search.extent(design).unwrap()).unwrap();
    let subset = if fast { open() } else { SubsetScorer::by_definition(criterion, design) };
    search.run(&mut SearchContext::new(subset, &mut Silent, 0)).unwrap()
}

fn made<T: ?Sized>(value: Value) -> Box<T>
where
    Box<T>: serde::de::DeserializeOwned,
{
    serde_json::from_value(value).unwrap()
}

fn criteria() -> Vec<Box<dyn Criterion>> {
    vec![
        Box::new(Loo::default()),
        made(json!({"kind": "loo", "loss": "absolute"})),
        Box::new(KFold::default()),
        made(json!({"kind": "kfold", "folds": 4, "engine": "moments"})),
        made(json!({"kind": "kfold", "folds": 3, "shuffle": true, "engine": "rows_held_out", "loss": "absolute"})),
    ]
}

#[test]
fn every_score_with_a_bias_is_the_definitions() {
    for (seed, lambdas, weighted, value) in
        [(1, &[0.5][..], false, 1.0), (2, &[1e-3, 1.0, 40.0], true, 1.0), (3, &[0.2, 2.0], false, -7.5)]
    {
        let design = design(seed, lambdas, weighted, value);
        assert_eq!(
            (design.problem().bias(), design.problem().constant(), design.candidates()),
            (Some(2), vec![4], vec![0, 1, 2, 3, 5])
        );
        for criterion in criteria() {
            for kind in ["greedy", "floating", "backward", "exhaustive", "rank", "random", "all"] {
                let search = made::<Search>(json!({"kind": kind}));
                let (fast, plain) =
                    (walk(&search, &*criterion, &design, true), walk(&search, &*criterion, &design, false));
                for entry in &fast.entries {
                    let expected = criterion.evaluate(&design, &entry.subset).unwrap();
                    assert!(NEAR.holds(entry.score.loss, expected.loss), "{kind} {criterion:?} {:?}", entry.subset);
                    // Absolute losses are equal for many weights of a bias alone, whatever λ.
                    let is_smooth =
                        criterion.traits().loss.is_some_and(|loss| loss.traits().measure == Measure::Squared);
                    assert!(!is_smooth || entry.score.lambda == expected.lambda);
                    assert!(!entry.subset.contains(&4));
                }
                let subsets = |path: &Path| path.entries.iter().map(|e| e.subset.clone()).collect::<Vec<_>>();
                assert_eq!(subsets(&fast), subsets(&plain), "{kind} {criterion:?}");
                assert!(fast.result().unwrap().subset.contains(&2), "{kind}: the target is far from 0");
            }
        }
    }
}

#[test]
fn searches_keep_their_laws_beside_a_bias() {
    for criterion in criteria() {
        for kind in ["greedy", "floating", "backward", "exhaustive", "random"] {
            let search = made::<Search>(json!({"kind": kind}));
            let (search, criterion, design) = (&search, &*criterion, &design(4, &[0.3, 3.0], true, 1.0));
            // The other laws are about the design with other columns, of which none is a bias.
            let full = SearchLaws::new(search, criterion, design).unwrap();
            full.steps(1e-9).unwrap();
            full.entries(1e-9).unwrap();
            full.deterministic().unwrap();
            full.extent().unwrap();
            full.stops(1e-9).unwrap();
        }
    }
}

/// A large value is hardly penalized, so that the bias is an intercept.
#[test]
fn a_forced_bias_of_a_large_value_is_an_intercept() {
    let with_bias = design(5, &[1.0], true, 1e6);
    let readout = Readout::new(vec![1.0], true).unwrap();
    let problem = design_copies::problem_of(&with_bias).unwrap();
    assert_eq!(problem.bias(), None);
    let with_intercept = Design::identity(&problem, readout);
    for criterion in criteria() {
        let forced = Search::new(Greedy {}).forced(refs(&[2]));
        let biased = walk(&forced, &*criterion, &with_bias, true);
        let plain = walk(&Search::new(Greedy {}), &*criterion, &with_intercept, true);
        assert_eq!(biased.entries.len(), 1 + plain.entries.len());
        for (biased, plain) in biased.entries[1..].iter().zip(&plain.entries) {
            assert_eq!((biased.subset[0], &biased.subset[1..]), (2, &plain.subset[..]));
            assert!((biased.score.loss - plain.score.loss).abs() < 1e-6 * plain.score.loss, "{criterion:?}");
        }
    }
}

#[test]
fn what_goes_by_spread_refuses_a_bias() {
    let design = design(6, &[1.0], false, 1.0);
    for criterion in [&Nhsic::default() as &dyn Criterion, &Mrmr::default()] {
        let refused = criterion.check(&design).unwrap_err().to_string();
        assert!(refused.contains("the bias `x2` has no spread"), "{refused}");
    }
    let refused = Search::new(Lars::default()).check(&Loo::default(), &design).unwrap_err().to_string();
    assert!(refused.contains("the bias `x2` has no spread"), "{refused}");
    let excluding = Search::new(Lars::default()).excluded(refs(&[2]));
    let path = walk(&excluding, &Loo::default(), &design, true);
    assert!(!path.entries.is_empty() && path.entries.iter().all(|entry| !entry.subset.contains(&2)));
}
