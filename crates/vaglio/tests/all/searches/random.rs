//! Columns in an order that is drawn.

use super::common::{NEAR, by_definition, designs, fast, loss, named, refs};
use vaglio::core::{Action, Design, Feature, StopReason};
use vaglio::search::{Choose, Path, Polish, Random, Search, Silent};
use vaglio_testkit::data;

/// The columns that each repeat adds, in order.
fn orders(path: &Path) -> Vec<Vec<Feature>> {
    let mut orders = vec![Vec::new()];
    for step in &path.steps {
        match step.action {
            Action::Add => orders.last_mut().unwrap().extend([&[step.feature], &step.with[..]].concat()),
            Action::Remove => orders.push(Vec::new()),
        }
    }
    orders
}

fn seeded(seed: u64) -> Search {
    repeated(1, seed)
}

fn repeated(repeats: usize, seed: u64) -> Search {
    Random { repeats, seed: Some(seed) }.into()
}

fn drawn(seed: u64, design: &Design) -> Vec<Feature> {
    orders(&fast(&seeded(seed), design, &mut Silent)).remove(0)
}

#[test]
fn every_column_enters_once_whether_or_not_the_score_falls() {
    for design in designs() {
        let mut rises = 0;
        for seed in 0..8 {
            for path in [fast(&seeded(seed), &design, &mut Silent), by_definition(&seeded(seed), &design)] {
                let order = orders(&path).remove(0);
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, design.candidates());
                let mut before = path.empty.loss;
                for (k, (step, entry)) in path.steps.iter().zip(&path.entries).enumerate() {
                    let expected = loss(&design, &order[..=k]);
                    assert!(NEAR.holds(step.score.loss, expected), "{} {expected}", step.score.loss);
                    assert_eq!((&entry.subset[..], entry.score), (&order[..=k], step.score));
                    rises += usize::from(step.score.loss > before);
                    before = step.score.loss;
                }
                assert_eq!(path.entries.len(), order.len());
                let all = design.features() == order.len();
                assert_eq!(path.stop_reason, if all { StopReason::MaxFeatures } else { StopReason::NoCandidates });
            }
        }
        assert!(rises > 0);
    }
}

#[test]
fn the_path_keeps_the_best_of_every_size_over_repeats() {
    for design in designs() {
        let search = repeated(5, 3).max_features(4).choose(Choose::Best);
        for path in [fast(&search, &design, &mut Silent), by_definition(&search, &design)] {
            let orders = orders(&path);
            assert_eq!(orders.len(), 5);
            assert!(orders.iter().all(|order| order.len() == 4));
            assert!(orders.iter().any(|order| order != &orders[0]), "orders differ");
            assert_eq!(orders[0], drawn(3, &design)[..4]);
            for size in 1..=4 {
                let lowest = orders.iter().map(|order| loss(&design, &order[..size])).fold(f64::INFINITY, f64::min);
                let entry = &path.entries[size - 1];
                assert!(NEAR.holds(entry.score.loss, lowest), "{size}");
                assert!(orders.iter().any(|order| order[..size] == entry.subset[..]));
            }
            let best = path.entries.iter().map(|e| e.score.loss).fold(f64::INFINITY, f64::min);
            assert_eq!(path.result().unwrap().score.loss, best);
            assert_eq!(path.entries.len(), 4);
        }
    }
}

/// Not the values of the columns, nor what else is excluded, forced or constant.
#[test]
fn the_order_follows_from_the_seed_and_the_number_of_columns() {
    let design = data::regression(20, 9, 5).design(&[1.0], true);
    let order = drawn(7, &design);
    assert_eq!(drawn(7, &data::regression(30, 9, 6).weighted().design(&[0.1, 3.0], false)), order);
    assert_eq!(orders(&fast(&Random::new(9), &design, &mut Silent))[0], drawn(0, &design), "the context's seed");
    let limited = repeated(2, 7).excluded(refs(&[order[0]])).forced(refs(&[order[5]]));
    let path = fast(&limited, &design, &mut Silent);
    let rest: Vec<Feature> = order.iter().copied().filter(|f| *f != order[0] && *f != order[5]).collect();
    assert_eq!(orders(&path)[0], [&[order[5]], &rest[..]].concat());
    assert!(path.entries.iter().all(|entry| entry.subset[0] == order[5]), "what is forced stays");
    let firsts: Vec<Feature> = (0..900).map(|seed| drawn(seed, &design)[0]).collect();
    for column in 0..9 {
        let count = firsts.iter().filter(|&&f| f == column).count();
        assert!((65..=135).contains(&count), "column {column} came first {count} times of 900");
    }
}

#[test]
fn limits_blocks_and_repeats_are_kept() {
    let wide = data::regression(8, 12, 9).design(&[1.0], true);
    assert_eq!(drawn(1, &wide).len(), 8, "as many as there are rows");
    assert_eq!(fast(&Random::new(11), &wide, &mut Silent).entries.len(), 11);
    let blocks = seeded(2).blocks(named(&[("a", &[0, 1, 2]), ("b", &[4, 6])]));
    let path = fast(&blocks, &wide, &mut Silent);
    let together = path.steps.iter().filter(|step| !step.with.is_empty());
    together.for_each(|step| assert!([(0, vec![1, 2]), (4, vec![6])].contains(&(step.feature, step.with.clone()))));
    assert!(path.entries.iter().all(|entry| NEAR.holds(entry.score.loss, loss(&wide, &entry.subset))));
    // A patience ends a walk and not the others.
    let patient = repeated(6, 4).patience(1);
    let path = fast(&patient, &wide, &mut Silent);
    assert_eq!(orders(&path).len(), 6);
    assert!(orders(&path).iter().any(|order| order.len() < 8));
    let polished = Random::new(3).polish(Polish::Swaps);
    let (plain, polished) = (fast(&Random::new(3), &wide, &mut Silent), fast(&polished, &wide, &mut Silent));
    assert!(polished.entries[2].score.loss <= plain.entries[2].score.loss);
}

#[test]
fn settings_without_a_meaning_are_refused() {
    let (design, none) = (&designs()[0], repeated(0, 1));
    let refused = none.extent(design).unwrap_err().to_string();
    assert!(refused.contains("repeats") && refused.contains("1 is the least"), "{refused}");
}
