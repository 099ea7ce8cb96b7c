//! Ranking.

use super::common::{design, walk, watched};
use std::collections::BTreeMap;
use vaglio::core::{Criterion, Design, Feature, Readout, StopReason};
use vaglio::criteria::{KFold, Loo};
use vaglio::search::{Blocks, Event, FeatureRef, Observer, Path, Polish, Rank, Search};
use vaglio_testkit::data;

fn order(path: &Path) -> Vec<Feature> {
    path.steps.iter().flat_map(|step| std::iter::once(step.feature).chain(step.with.clone())).collect()
}

/// Columns by what each scores alone.
fn alone(criterion: &dyn Criterion, design: &Design) -> Vec<Feature> {
    let mut all = design.candidates();
    let loss = |f: Feature| criterion.evaluate(design, &[f]).unwrap().loss;
    all.sort_by(|a, b| loss(*a).total_cmp(&loss(*b)));
    all
}

#[test]
fn columns_enter_by_what_each_scores_alone() {
    let design = data::regression(30, 9, 3).weighted().constants(1).design(&[0.1, 1.0], true);
    for criterion in [&Loo::default() as &dyn Criterion, &KFold::default()] {
        let best = alone(criterion, &design);
        let path = walk(&Search::new(Rank {}), criterion, &design);
        assert_eq!((order(&path), path.stop_reason), (best.clone(), StopReason::NoCandidates));
        for (k, step) in path.steps.iter().enumerate() {
            let score = criterion.evaluate(&design, &best[..=k]).unwrap().loss;
            assert!((step.score.loss - score).abs() < 1e-9 * score && step.size == k + 1);
        }
        let part = walk(&Rank::new(4), criterion, &design);
        assert_eq!((order(&part), part.stop_reason), (best[..4].to_vec(), StopReason::MaxFeatures));
    }
}

#[test]
fn copies_follow_each_other_and_are_tied() {
    let design = data::regression(30, 4, 5).duplicates(4).design(&[1.0], true);
    let path = walk(&Search::new(Rank {}), &Loo::default(), &design);
    let order = order(&path);
    for pair in order.chunks(2) {
        assert_eq!((pair[0] < 4, pair[1]), (true, 7 - pair[0]), "{order:?}");
    }
    for (k, step) in path.steps.iter().enumerate() {
        assert_eq!(step.tied, if k % 2 == 0 { vec![order[k + 1]] } else { Vec::new() });
    }
}

#[test]
fn forced_excluded_blocks_and_limits() {
    let design = data::regression(30, 8, 7).design(&[1.0], true);
    let best = alone(&Loo::default(), &design);
    let index = |f: Feature| FeatureRef::Index(f);
    let search = Search::new(Rank {}).forced(vec![index(best[7])]).excluded(vec![index(best[0])]).max_features(4);
    let path = walk(&search, &Loo::default(), &design);
    assert_eq!(order(&path), [best[7], best[1], best[2], best[3]]);

    let together = BTreeMap::from([("pair".to_owned(), vec![index(best[6]), index(best[0])])]);
    let path = walk(&Rank::new(3).blocks(Some(Blocks::Named(together))), &Loo::default(), &design);
    let mut pair = [best[0], best[6]];
    pair.sort_unstable();
    assert_eq!((&order(&path)[..2], path.steps[0].with.len()), (&pair[..], 1));

    let patient = Search::new(Rank {}).tolerance(1e9).patience(1);
    assert_eq!(walk(&patient, &Loo::default(), &design).stop_reason, StopReason::Patience);
    let polished = Rank::new(3).polish(Polish::Swaps);
    let (polished, plain) = (walk(&polished, &Loo::default(), &design), walk(&Rank::new(3), &Loo::default(), &design));
    assert!(polished.result().unwrap().score.loss <= plain.result().unwrap().score.loss);
}

#[test]
fn an_observer_stops_it() {
    struct Two(usize);
    impl Observer for Two {
        fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
            self.0 += usize::from(matches!(event, Event::Step(_)));
            if self.0 == 2 { Some(StopReason::Limit) } else { None }
        }
    }
    let design = data::regression(30, 8, 7).design(&[1.0], true);
    let path = watched(&Search::new(Rank {}), &Loo::default(), &design, &mut Two(0)).unwrap();
    assert_eq!((path.steps.len(), path.stop_reason), (2, StopReason::Limit));
}

#[test]
fn several_outputs_are_fine() {
    let several = data::regression(20, 5, 2).outputs(3).problem();
    let several = Design::identity(&several, Readout::new(vec![1.0], true).unwrap());
    let path = walk(&Search::new(Rank {}), &Loo::default(), &several);
    assert_eq!(order(&path), alone(&Loo::default(), &several));
    assert!(
        walk(&Search::new(Rank {}), &Loo::default(), &design(&[&[1.0; 4]], &[1.0, 2.0, 0.0, 4.0])).steps.is_empty()
    );
}
