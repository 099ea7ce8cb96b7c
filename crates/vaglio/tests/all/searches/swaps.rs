//! Exchanges after a search.

use super::common::{NEAR, deceptive, designs, fast, loss, refs};
use serde_json::json;
use vaglio::core::Feature;
use vaglio::criteria::Loo;
use vaglio::search::{Backward, Choose, Greedy, Polish, Search, Silent};
use vaglio_testkit::{LawViolation, check_search, data};

#[test]
fn swaps_reach_a_subset_that_no_exchange_improves() {
    let mut helped = 0;
    for design in designs().into_iter().chain([deceptive()]) {
        let searches: [(Search, Search); 3] = [
            (Greedy::new(2).choose(Choose::Last), Greedy::new(2).choose(Choose::Last).polish(Polish::Swaps)),
            (Backward::new(3).choose(Choose::Last), Backward::new(3).choose(Choose::Last).polish(Polish::Swaps)),
            (
                Search::new(Backward::default()).max_features(3),
                Search::new(Backward::default()).max_features(3).polish(Polish::Swaps),
            ),
        ];
        for (plain, polished) in searches {
            let before = fast(&plain, &design, &mut Silent);
            let after = fast(&polished, &design, &mut Silent);
            let (old, new) = (before.result().unwrap(), after.result().unwrap());
            assert_eq!(old.subset.len(), new.subset.len());
            assert!(new.score.loss <= old.score.loss);
            helped += usize::from(new.score.loss < old.score.loss * (1.0 - 1e-6));
            assert_eq!(after.steps[..before.steps.len()], before.steps);
            assert_eq!(new.score.loss == old.score.loss, after.steps.len() == before.steps.len());
            let own = loss(&design, &new.subset);
            assert!(NEAR.holds(own, new.score.loss));
            for out in new.subset.iter().copied() {
                for other in design.candidates().into_iter().filter(|f| !new.subset.contains(f)) {
                    let exchanged: Vec<Feature> =
                        new.subset.iter().map(|&f| if f == out { other } else { f }).collect();
                    assert!(loss(&design, &exchanged) >= own * (1.0 - 1e-9), "{out} for {other}");
                }
            }
        }
    }
    assert!(helped > 0);
    let greedy = Greedy::new(2).choose(Choose::Last);
    let plain = fast(&greedy, &deceptive(), &mut Silent);
    assert!(plain.result().unwrap().subset.contains(&0));
    let polished = fast(&greedy.polish(Polish::Swaps), &deceptive(), &mut Silent);
    let mut subset = polished.result().unwrap().subset.clone();
    subset.sort_unstable();
    assert_eq!(subset, [1, 2]);
}

#[test]
fn swaps_leave_forced_columns() {
    let search = Greedy::new(2).forced(refs(&[0])).choose(Choose::Last).polish(Polish::Swaps);
    let path = fast(&search, &deceptive(), &mut Silent);
    assert!(path.result().unwrap().subset.contains(&0));
}

/// The laws hold with blocks and polishing as well.
#[test]
fn blocks_and_swaps_keep_the_laws() -> Result<(), LawViolation> {
    crate::on_one_thread(|| {
        let designs = [
            data::regression(16, 6, 41).weighted().design(&[0.4], true),
            data::regression(16, 6, 42).collinear(0.2).constants(1).design(&[0.01, 1.0], true),
            deceptive(),
        ];
        for kind in ["greedy", "backward", "floating", "exhaustive"] {
            for (design, block) in designs.iter().zip([[5, 3], [2, 4], [3, 2]]) {
                for (choose, blocks) in [
                    ("best", json!({"b": block})),
                    ("last", json!({})),
                    ("one_se", json!(null)),
                    ("best", json!("one_hot")),
                ] {
                    let settings =
                        json!({"kind": kind, "blocks": blocks, "polish": "swaps", "choose": choose, "max_features": 3});
                    let search: Search = serde_json::from_value(settings.clone()).unwrap();
                    check_search(&search, &Loo::default(), design, 1e-9)
                        .map_err(|b| b.within(&settings.to_string()))?;
                }
            }
        }
        Ok(())
    })
}
