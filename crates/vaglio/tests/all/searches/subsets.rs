//! The search of all subsets against plain enumeration.

use super::common::{NEAR, StopAt, by_definition, designs, fast, loss, named, refs};
use vaglio::core::{
    Action, Criterion, CriterionTraits, Design, Estimate, Evaluator, Feature, Plan, Result, Score, SearchExtent,
    StopReason, saved,
};
use vaglio::criteria::Loo;
use vaglio::search::{Exhaustive, Greedy, Observer, Path, Search, SearchContext, Silent, SubsetScorer};
use vaglio_testkit::data;

/// The subsets of `features`, in lexicographic order within each size.
fn subsets(features: &[Feature], size: usize) -> Vec<Vec<Feature>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let with_first = |at: usize| {
        let rest = subsets(&features[at + 1..], size - 1);
        rest.into_iter().map(move |rest| [&features[at..=at], &rest].concat())
    };
    (0..features.len()).flat_map(with_first).collect()
}

/// The first subset in lexicographic order of those with the lowest score.
fn best_of_size(design: &Design, size: usize) -> (Vec<Feature>, f64) {
    let mut best: Option<(Vec<Feature>, f64)> = None;
    for subset in subsets(&design.candidates(), size) {
        let loss = loss(design, &subset);
        if best.as_ref().is_none_or(|(_, least)| loss < least * (1.0 - 1e-12)) {
            best = Some((subset, loss));
        }
    }
    best.unwrap()
}

#[test]
fn exhaustive_is_plain_enumeration() {
    for design in designs() {
        let count = design.candidates().len();
        for path in [
            by_definition(&Search::new(Exhaustive::default()), &design),
            fast(&Search::new(Exhaustive::default()), &design, &mut Silent),
        ] {
            assert_eq!(path.entries.len(), count);
            for (entry, size) in path.entries.iter().zip(1..) {
                let (subset, loss) = best_of_size(&design, size);
                assert_eq!(entry.subset, subset);
                assert!(NEAR.holds(entry.score.loss, loss));
            }
            let certificate = path.certificate.unwrap();
            assert!(certificate.optimal && certificate.gap == Some(0.0) && path.steps.is_empty());
            assert_eq!(certificate.visited + certificate.pruned, (1 << count) - 1);
            assert_eq!(path.stop_reason, StopReason::AllSubsets);
        }
        let two = Exhaustive::new(2).min_features(2);
        let path = fast(&two, &design, &mut Silent);
        assert_eq!(path.entries.len(), 1);
        assert_eq!(path.entries[0].subset, best_of_size(&design, 2).0);
        let certificate = path.certificate.unwrap();
        assert_eq!(certificate.visited + certificate.pruned, (count * (count - 1) / 2) as u64);
    }
}

#[test]
fn exhaustive_keeps_forced_columns_and_blocks() {
    let design = data::regression(14, 6, 35).design(&[0.5], true);
    let search = Exhaustive::new(4).forced(refs(&[5])).blocks(named(&[("pair", &[3, 0]), ("own", &[5])]));
    let path = fast(&search, &design, &mut Silent);
    let allowed = |s: &Vec<Feature>| s.contains(&5) && s.contains(&0) == s.contains(&3);
    for entry in &path.entries {
        let size = entry.subset.len();
        let best = subsets(&[0, 1, 2, 3, 4, 5], size)
            .into_iter()
            .filter(allowed)
            .min_by(|a, b| loss(&design, a).total_cmp(&loss(&design, b)));
        assert_eq!(Some(&entry.subset), best.as_ref());
    }
    assert_eq!(path.entries.len(), 4);
    let certificate = path.certificate.unwrap();
    let count: usize = (1..=4).map(|s| subsets(&[0, 1, 2, 3, 4, 5], s).iter().filter(|s| allowed(s)).count()).sum();
    assert_eq!(certificate.visited + certificate.pruned, count as u64);
}

/// Leave-one-out by its definition, with bounds that are as tight as they can be.
#[saved(Criterion, "bounding")]
struct Bounding;

impl Criterion for Bounding {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        Loo::default().evaluate(design, subset)
    }

    fn traits(&self) -> CriterionTraits {
        Loo::default().traits()
    }

    fn plan<'d>(&'d self, design: &'d Design, _: &SearchExtent) -> Plan<'d> {
        Plan::by_engine(Estimate::unknown("bounding", "a test"), move || Ok(TightBounds(design)))
    }
}

struct TightBounds<'d>(&'d Design);

impl Evaluator for TightBounds<'_> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        Loo::default().evaluate(self.0, subset)
    }

    fn scores(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        assert_eq!(change, Action::Add, "nothing is removed in a search of all subsets");
        candidates.iter().map(|&candidate| self.score(&change.apply_to(subset, candidate))).collect()
    }

    fn bound(&mut self, subset: &[Feature], later: &[Feature], most: usize) -> Result<f64> {
        assert!(later.iter().all(|f| !subset.contains(f)));
        let larger = (1..=later.len().min(most)).flat_map(|more| subsets(later, more));
        let losses = larger.map(|more| loss(self.0, &[subset, &more].concat()));
        Ok(losses.fold(f64::INFINITY, f64::min))
    }
}

fn bounded(search: &Search, design: &Design, observer: &mut dyn Observer) -> Path {
    let subset = SubsetScorer::open(&Bounding, design, &search.extent(design).unwrap()).unwrap();
    search.run(&mut SearchContext::new(subset, &mut *observer, 0)).unwrap()
}

#[test]
fn bounds_leave_out_subtrees_and_change_nothing() {
    let mut pruned = 0;
    for design in designs() {
        let count = design.candidates().len();
        for search in [Search::new(Exhaustive::default()), Exhaustive::new(3), Exhaustive::new(3).min_features(3)] {
            let plain = by_definition(&search, &design);
            let path = bounded(&search, &design, &mut Silent);
            assert_eq!(path.entries, plain.entries);
            let (certificate, all) = (path.certificate.unwrap(), plain.certificate.unwrap());
            assert!(certificate.optimal && certificate.gap == Some(0.0) && all.pruned == 0);
            assert_eq!(certificate.visited + certificate.pruned, all.visited);
            assert!(all.visited < 1 << count);
            pruned += certificate.pruned;
        }
        let joined = Search::new(Exhaustive::default()).blocks(named(&[("b", &[4, 1]), ("c", &[0, 3])]));
        assert_eq!(bounded(&joined, &design, &mut Silent).entries, by_definition(&joined, &design).entries);
    }
    assert!(pruned > 50, "{pruned}");
}

/// Where the greedy start is not the best, what is better is not left out.
#[test]
fn bounds_keep_what_is_better_than_the_greedy_start() {
    let mut better = 0;
    for seed in 50..90 {
        let design = data::regression(12, 7, seed).collinear(0.3).design(&[0.2], true);
        let search = Exhaustive::new(3).min_features(3);
        let path = bounded(&search, &design, &mut Silent);
        let greedy = fast(&Greedy::new(3), &design, &mut Silent);
        let (subset, loss) = best_of_size(&design, 3);
        assert_eq!(path.entries[0].subset, subset);
        better += usize::from(loss < greedy.entries[2].score.loss * (1.0 - 1e-9));
    }
    assert!(better > 3, "{better}");
}

#[test]
fn a_stop_leaves_a_gap_that_holds() {
    let (mut gaps, mut late) = (0, 0);
    for design in designs() {
        let whole = fast(&Search::new(Exhaustive::default()), &design, &mut Silent);
        let best = whole.result().unwrap().score.loss;
        for after in 1..14 {
            let path = bounded(&Search::new(Exhaustive::default()), &design, &mut StopAt(after));
            let certificate = path.certificate.as_ref().unwrap();
            let Some(found) = path.result().map(|entry| entry.score.loss) else { continue };
            if path.stop_reason == StopReason::AllSubsets {
                continue;
            }
            assert!(!certificate.optimal);
            let gap = certificate.gap.unwrap();
            assert!(found - gap <= best * (1.0 + 1e-9), "{found} {gap} {best}");
            gaps += usize::from(gap > 0.0);
            late += usize::from(certificate.visited > 0);
        }
    }
    assert!(gaps > 0 && late > 0);
}
