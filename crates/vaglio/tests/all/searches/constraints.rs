//! Searches under constraints, against enumeration.

use super::common::named;
use ndarray::Array2;
use std::collections::BTreeMap;
use vaglio::core::{
    Absolute, Columns, Criterion, Design, Feature, Loss, Part, Problem, Readout, Score, Squared, StopReason, Task,
};
use vaglio::criteria::{KFold, Loo};
use vaglio::search::{
    All, Alternatives, Backward, Chain, Constraints, Exhaustive, Floating, Greedy, Lars, Path, Polish,
    Random as RandomSearch, Rank, Search, SearchContext, Silent, SubsetScorer,
};
use vaglio_testkit::{SplitMix64, data};

const NAMES: [&str; 7] = ["a", "b", "c", "d", "a*b", "c*d", "a^2"];
const FACTORS: [&[&str]; 7] = [&[], &[], &[], &[], &["a", "b"], &["c", "d"], &["a"]];

fn design(random: &mut SplitMix64) -> Design {
    design_with_targets(1, random)
}

fn design_with_targets(count: usize, random: &mut SplitMix64) -> Design {
    let rows = 14 + random.below(12);
    let mut columns: Vec<Vec<f64>> = (0..4).map(|_| (0..rows).map(|_| random.normal()).collect()).collect();
    let share = random.uniform();
    columns[1] = columns[0].iter().zip(&columns[1]).map(|(a, b)| share * a + b).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).collect::<Vec<f64>>();
    columns.push(product(&columns[0], &columns[1]));
    columns.push(product(&columns[2], &columns[3]));
    columns.push(product(&columns[0], &columns[0]));
    let effects: Vec<f64> = columns.iter().map(|_| random.normal() * (random.below(3) as f64)).collect();
    let row = |row: usize| columns.iter().zip(&effects).map(|(x, effect)| x[row] * effect).sum::<f64>();
    let targets = (0..count).map(|k| (0..rows).map(|j| (1.0 - k as f64) * row(j) + 2.0 * random.normal()).collect());
    let targets: Vec<Vec<f64>> = targets.collect();
    let mut stored = Columns::new(rows);
    columns.iter().for_each(|column| stored.push(column.clone()));
    let names = NAMES.iter().map(|name| (*name).to_owned()).collect();
    let targets = Array2::from_shape_fn((count, rows), |(k, row)| targets[k][row]);
    let problem = Problem::new(stored, names, targets, (0..count).map(|k| format!("y{k}")).collect(), Task::Regression);
    let lambdas: &[f64] = [&[0.3][..], &[0.1, 10.0]][random.below(2)];
    Design::identity(&problem.unwrap(), Readout::new(lambdas.to_vec(), random.below(4) > 0).unwrap())
}

fn constraints(random: &mut SplitMix64) -> Constraints {
    let mut given = Constraints::default();
    if random.below(2) == 0 {
        for name in NAMES.iter().filter(|_| random.below(3) == 0).collect::<Vec<_>>() {
            given = if random.below(2) == 0 { given.positive(*name) } else { given.negative(*name) };
        }
    }
    if random.below(2) == 0 {
        given = given.at_most("a*", 1 + random.below(2));
        given = given.at_most_of("others", ["b", "c", "d"], 1 + random.below(2));
    }
    if random.below(2) == 0 {
        given = if random.below(2) == 0 { given.weak_heredity() } else { given.strong_heredity() };
    }
    if random.below(2) == 0 {
        let costs: Vec<f64> = NAMES.iter().map(|_| random.below(5) as f64 / 2.0).collect();
        given = NAMES.iter().zip(costs).fold(given, |given, (name, cost)| given.cost(*name, cost));
        given = given.budget(2.0 + random.below(5) as f64);
    }
    given
}

/// Whether a subset keeps constraints, by what they say in words.
fn keeps(given: &Constraints, design: &Design, subset: &[Feature], lambda: Option<f64>) -> bool {
    let names: Vec<&str> = subset.iter().map(|&f| NAMES[f]).collect();
    let has = |name: &str| names.contains(&name);
    let count = |of: &[&str]| of.iter().filter(|name| has(name)).count();
    let most: BTreeMap<&str, usize> = given
        .at_most
        .iter()
        .map(|(name, of)| {
            let of = serde_json::to_value(of).unwrap();
            (name.as_str(), of.as_u64().or(of["count"].as_u64()).unwrap() as usize)
        })
        .collect();
    // `a*` is the pattern of what begins with a.
    let in_groups = most.get("a*").is_none_or(|&most| count(&["a", "a*b", "a^2"]) <= most)
        && most.get("others").is_none_or(|&most| count(&["b", "c", "d"]) <= most);
    let is_heir =
        subset.iter().filter(|&&f| !FACTORS[f].is_empty()).all(|&f| match given.heredity.map(|rule| rule.word()) {
            None => true,
            Some("weak") => FACTORS[f].iter().any(|name| has(name)),
            Some(_) => FACTORS[f].iter().all(|name| has(name)),
        });
    let cost: f64 = names.iter().map(|name| given.costs.get(*name).copied().unwrap_or(0.0)).sum();
    let is_affordable = given.budget.is_none_or(|budget| cost <= budget);
    in_groups && is_heir && is_affordable && {
        let model = design.train(subset, lambda).unwrap();
        let weights = model.coefficients().unwrap().weights.column(0).to_vec();
        names.iter().zip(weights).all(|(name, weight)| match given.signs.get(*name).map(|sign| sign.word()) {
            Some("positive") => weight >= 0.0,
            Some(_) => weight <= 0.0,
            None => true,
        })
    }
}

fn run(search: &Search, criterion: &dyn Criterion, design: &Design) -> Option<Path> {
    search.check(criterion, design).ok()?;
    let subset = SubsetScorer::open(criterion, design, &search.extent(design).unwrap()).unwrap();
    Some(search.run(&mut SearchContext::new(subset, &mut Silent, 3)).unwrap())
}

fn criteria() -> [Box<dyn Criterion>; 3] {
    [
        Box::new(Loo { loss: Part::<dyn Loss>::from(Squared), ..Loo::default() }),
        Box::new(KFold { folds: Some(4), ..KFold::default() }),
        Box::new(Loo { loss: Part::<dyn Loss>::from(Absolute), ..Loo::default() }),
    ]
}

/// All subsets that keep the constraints, by plain retraining.
fn enumerated(given: &Constraints, criterion: &dyn Criterion, design: &Design) -> Vec<(Vec<Feature>, f64)> {
    let subset = |bits: usize| (0..NAMES.len()).filter(|k| bits >> k & 1 == 1).collect();
    let scored = |subset: Vec<Feature>| {
        let Score { loss, lambda } = criterion.evaluate(design, &subset).unwrap();
        keeps(given, design, &subset, lambda).then_some((subset, loss))
    };
    (1..1_usize << NAMES.len()).map(subset).filter_map(scored).collect()
}

/// The lowest score of every size.
fn best<'s>(all: impl Iterator<Item = &'s (Vec<Feature>, f64)>) -> BTreeMap<usize, f64> {
    let mut best = BTreeMap::new();
    for (subset, loss) in all {
        let least = best.entry(subset.len()).or_insert(f64::INFINITY);
        *least = loss.min(*least);
    }
    best
}

#[test]
fn a_search_of_all_subsets_finds_the_best_that_keeps_the_constraints() {
    crate::on_one_thread(|| {
        let (mut constrained, mut listed) = (0, 0);
        for seed in 0..200 {
            let mut random = SplitMix64::new(seed);
            let (design, given) = (design(&mut random), constraints(&mut random));
            let criteria = criteria();
            let criterion = &*criteria[seed as usize % 3];
            let blocks = (seed % 4 == 3 && given.at_most.is_empty()).then(|| named(&[("p", &[2, 3])]).unwrap());
            let search = Search::new(Exhaustive::default()).blocks(blocks.clone()).constraints(given.clone());
            let Some(path) = run(&search, criterion, &design) else { panic!("{seed}: {given:?}") };
            let all = enumerated(&given, criterion, &design);
            let is_whole =
                |(subset, _): &&(Vec<Feature>, f64)| blocks.is_none() || subset.contains(&2) == subset.contains(&3);
            let expected = best(all.iter().filter(is_whole));
            let found: BTreeMap<usize, f64> = path.entries.iter().map(|e| (e.subset.len(), e.score.loss)).collect();
            assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{seed}: {given:?}");
            for (size, loss) in &expected {
                assert!((found[size] - loss).abs() <= 1e-9 * loss.abs(), "{seed}, {size}: {} {loss}", found[size]);
            }
            for entry in &path.entries {
                assert!(keeps(&given, &design, &entry.subset, entry.score.lambda), "{seed}: {:?}", entry.subset);
            }
            let certificate = path.certificate.unwrap();
            assert!(certificate.optimal && certificate.gap == Some(0.0));
            constrained += usize::from(expected.len() < NAMES.len());
            let alternatives = Some(Alternatives { within: 0.2.into(), count: 200 });
            let search = Search::new(Exhaustive { alternatives }).blocks(blocks.clone()).constraints(given.clone());
            if let Some(near) = run(&search, criterion, &design).and_then(|path| path.alternatives) {
                let mut subsets: Vec<Vec<Feature>> = near.subsets.into_iter().map(|(subset, _)| subset).collect();
                subsets.sort();
                let within = all.iter().filter(is_whole).filter(|(_, loss)| *loss <= near.limit);
                let mut same: Vec<Vec<Feature>> = within.map(|(subset, _)| subset.clone()).collect();
                same.sort();
                assert_eq!(subsets, same, "{seed}: {given:?}");
                listed += 1;
            }
        }
        assert!(listed > 30 && constrained > 60, "{listed} {constrained}");
    });
}

fn rounds(step: usize) -> Search {
    Backward { step: step.into() }.into()
}

fn searches(given: &Constraints) -> Vec<Search> {
    let given = given.clone();
    vec![
        Search::new(Greedy {}).constraints(given.clone()),
        Greedy::new(4).polish(Polish::Swaps).constraints(given.clone()),
        Search::new(Backward::default()).constraints(given.clone()),
        Search::new(Backward::default()).polish(Polish::Swaps).constraints(given.clone()),
        rounds(2).constraints(given.clone()),
        Search::new(Backward { step: 0.4.into() }).constraints(given.clone()),
        rounds(99).forced(["d"]).constraints(given.clone()),
        Search::new(Floating {}).constraints(given.clone()),
        Search::new(Rank {}).constraints(given.clone()),
        Search::new(RandomSearch { repeats: 4, seed: None }).constraints(given.clone()),
        Search::new(Lars::default()).constraints(given.clone()),
        Search::new(Lars { lasso: false, ..Lars::default() }).constraints(given.clone()),
        Search::new(Greedy {}).forced(["c"]).constraints(given.clone()),
        Search::new(Backward::default()).forced(["c", "d"]).constraints(given.clone()),
        Chain::new(Rank::new(6)).then(Search::new(Greedy {}).constraints(given.clone())).into(),
    ]
}

/// The subsets that a path passes through, its start among them.
fn passed(path: &Path) -> Vec<(Vec<Feature>, Option<Score>)> {
    let mut subset = path.start();
    let mut all = vec![(subset.clone(), None)];
    for step in &path.steps {
        step.follow(&mut subset);
        all.push((subset.clone(), Some(step.score)));
    }
    all
}

#[test]
fn every_step_and_entry_of_every_search_keeps_the_constraints() {
    let (mut steps, mut ended) = (0, 0);
    for seed in 0..200 {
        let mut random = SplitMix64::new(seed);
        let (design, given) = (design(&mut random), constraints(&mut random));
        let criteria = criteria();
        let criterion = &*criteria[seed as usize % 3];
        let kept = |subset: &[Feature], score: Option<Score>| {
            let score = score.unwrap_or_else(|| criterion.evaluate(&design, subset).unwrap());
            subset.is_empty() || keeps(&given, &design, subset, score.lambda)
        };
        for search in searches(&given) {
            if search.check(criterion, &design).is_err() {
                continue;
            }
            let subset = SubsetScorer::open(criterion, &design, &search.extent(&design).unwrap()).unwrap();
            let path = search.run(&mut SearchContext::new(subset, &mut Silent, 3));
            let Ok(path) = path else {
                // Forced columns whose weights have the other sign are refused when that is seen.
                assert!(path.unwrap_err().to_string().contains("constraints.signs"), "{seed}: {search:?}");
                continue;
            };
            for (subset, score) in passed(&path) {
                assert!(kept(&subset, score), "{seed}: {subset:?} of {search:?}");
                steps += 1;
            }
            for entry in &path.entries {
                assert!(kept(&entry.subset, Some(entry.score)), "{seed}: {:?} of {search:?}", entry.subset);
            }
            ended += usize::from(path.stop_reason == StopReason::Constraints);
        }
    }
    assert!(steps > 4000 && ended > 200, "{steps} {ended}");
}

/// Signs belong to one output.
#[test]
fn paths_of_several_outputs_keep_the_constraints() {
    let (mut steps, mut ended) = (0, 0);
    for seed in 0..200 {
        let mut random = SplitMix64::new(seed);
        let (design, given) = (design_with_targets(2, &mut random), constraints(&mut random));
        let given = Constraints { signs: BTreeMap::default(), ..given };
        for lars in [Lars::default(), Lars::default().with_path_coefficients()] {
            let search = Search::new(lars).constraints(given.clone());
            let Some(path) = run(&search, &Loo::default(), &design) else { continue };
            for (subset, _) in passed(&path) {
                assert!(subset.is_empty() || keeps(&given, &design, &subset, None), "{seed}: {subset:?} of {search:?}");
                steps += 1;
            }
            ended += usize::from(path.stop_reason == StopReason::Constraints);
        }
    }
    assert!(steps > 500 && ended > 50, "{steps} {ended}");
}

fn refused(search: &Search, design: &Design) -> String {
    search.check(&Loo::default(), design).unwrap_err().to_string()
}

#[test]
fn what_no_subset_can_keep_is_refused_in_words() {
    let design = design(&mut SplitMix64::new(1));
    let greedy = |given: Constraints| Search::new(Greedy {}).constraints(given);
    let given = Constraints::default();
    let plain = data::regression(12, 4, 1).design(&[1.0], true);
    let outputs = data::regression(12, 4, 1).outputs(2).design(&[1.0], true);
    let blocks = |names: &[usize]| named(&[("both", names)]).unwrap();
    let said = [
        (refused(&greedy(given.clone().positive("aa")), &design), "constraints.signs.aa", "`aa`"),
        (refused(&greedy(given.clone().positive("x0")), &outputs), "constraints.signs.x0", "several outputs"),
        (refused(&greedy(given.clone().weak_heredity()), &plain), "constraints.heredity", "product"),
        (refused(&greedy(given.clone().budget(3.0)), &design), "constraints.budget", "costs"),
        (refused(&greedy(given.clone().cost("a", 1.0).budget(0.0)), &design), "constraints.budget", "buys no column"),
        (refused(&greedy(given.clone().cost("a", -1.0)), &design), "constraints.costs.a", "from 0 on"),
        (
            refused(&greedy(given.clone().cost("x*", 5.0).budget(1.0)), &plain),
            "constraints.budget",
            "every column costs more",
        ),
        (
            refused(&greedy(given.clone().at_most("a*", 1)).forced(["a", "a*b"]), &design),
            "forced",
            "constraints.at_most.a*",
        ),
        (refused(&greedy(given.clone().strong_heredity()).forced(["a*b", "a"]), &design), "forced", "without all"),
        (
            refused(&greedy(given.clone().at_most("a*", 1)).blocks(blocks(&[0, 1])), &design),
            "constraints.at_most.a*",
            "both",
        ),
        (
            refused(&greedy(given.clone().at_most("both", 1)).blocks(blocks(&[0, 1])), &design),
            "constraints.at_most.both",
            "2 columns",
        ),
        (
            refused(&Search::new(All {}).constraints(given.clone().at_most("a", 1)), &design),
            "constraints",
            "every column is kept",
        ),
        (
            refused(&Search::new(Lars::default().with_path_coefficients()).constraints(given.positive("a")), &design),
            "constraints.signs",
            "refit",
        ),
    ];
    for (message, field, words) in said {
        assert!(message.contains(field) && message.contains(words), "{field}, {words}: {message}");
    }
}

#[test]
fn a_product_costs_what_its_factors_do_and_what_several_need_is_paid_once() {
    let design = design(&mut SplitMix64::new(1));
    let cost = |given: &Constraints, subset: &[Feature]| {
        let search = Search::new(Greedy {}).constraints(given.clone());
        search.rules(&design).unwrap().unwrap().cost(subset)
    };
    let given = Constraints::default().cost("a", 1.0).cost("b", 2.0).cost("d", 4.0);
    assert_eq!([cost(&given, &[4]), cost(&given, &[0, 4]), cost(&given, &[0, 1, 4, 6])], [3.0, 3.0, 3.0]);
    assert_eq!([cost(&given, &[5]), cost(&given, &[2]), cost(&given, &[])], [4.0, 0.0, 0.0]);
    let own = given.cost("a*b", 0.5);
    assert_eq!([cost(&own, &[4]), cost(&own, &[0, 4])], [0.5, 1.5]);
    // A pattern names each column by itself, and a name overrules it.
    let pattern = Constraints::default().cost("a*", 1.0).cost("a*b", 3.0);
    assert_eq!([cost(&pattern, &[0, 6]), cost(&pattern, &[4])], [2.0, 3.0]);
}

#[test]
fn a_backward_search_begins_at_the_first_subset_that_keeps_the_constraints() {
    let design = design(&mut SplitMix64::new(4));
    let given = Constraints::default().at_most("a*", 1).strong_heredity();
    let path = run(&Search::new(Backward::default()).constraints(given.clone()), &Loo::default(), &design).unwrap();
    let start = path.start();
    assert!(keeps(&given, &design, &start, None) && start.len() < NAMES.len(), "{start:?}");
    assert!(path.steps.iter().all(|step| step.action == vaglio::core::Action::Remove));
    assert_eq!((path.entries.last().unwrap().subset.len(), path.stop_reason), (start.len(), StopReason::MinFeatures));
}

#[test]
fn rounds_of_removals_take_what_constraints_leave_them() {
    let (mut together, mut whole) = (0, 0);
    for seed in 0..100 {
        let design = design(&mut SplitMix64::new(seed));
        let path = |given: &Constraints| run(&rounds(3).constraints(given.clone()), &Loo::default(), &design).unwrap();
        // What never binds changes nothing.
        let free = path(&Constraints::default().at_most("a*", 3));
        assert_eq!(free, run(&rounds(3), &Loo::default(), &design).unwrap());
        assert_eq!(free.entries.iter().map(|entry| entry.subset.len()).collect::<Vec<_>>(), [1, 4, 7]);
        let heirs = path(&Constraints::default().strong_heredity());
        assert_eq!(heirs.start().len(), NAMES.len());
        assert!(heirs.entries.iter().any(|entry| entry.subset.len() == 1), "{seed}");
        together += heirs.steps.iter().filter(|step| !step.with.is_empty()).count();
        whole += heirs.steps.iter().filter(|step| step.with.len() == 2).count();
    }
    assert!(together > 100 && whole > 50, "{together} {whole}");
}

#[test]
fn threads_change_nothing_under_constraints() {
    let design = design(&mut SplitMix64::new(7));
    let given = Constraints::default().positive("a*").at_most_of("others", ["b", "c", "d"], 2);
    let search = Search::new(Exhaustive::default()).constraints(given);
    let paths: Vec<Path> = (1..=3)
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&search, &Loo::default(), &design)).unwrap()
        })
        .collect();
    assert!(paths.windows(2).all(|pair| pair[0] == pair[1]));
}
