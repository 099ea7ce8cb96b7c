//! Backward and floating against walks by their rules, from scores by the definition.

use super::common::{NEAR, by_definition, deceptive, designs, fast, loss, refs};
use vaglio::core::{Action, Design, Feature, StopReason};
use vaglio::search::{Backward, Choose, Floating, Path, Search, Silent, Step};
use vaglio_testkit::data;

/// The walk by its rules, from scores by the definition: the subset after every step.
fn backward_by_hand(design: &Design) -> Vec<Vec<Feature>> {
    let mut subset = design.candidates();
    let mut walk = vec![subset.clone()];
    while subset.len() > 1 {
        let without = |f: Feature| subset.iter().copied().filter(|&g| g != f).collect::<Vec<_>>();
        let mut best = (f64::INFINITY, Vec::new());
        for rest in subset.iter().map(|&f| without(f)) {
            let loss = loss(design, &rest);
            if loss < best.0 * (1.0 - 1e-12) || best.1.is_empty() {
                best = (loss, rest);
            }
        }
        subset = best.1;
        walk.push(subset.clone());
    }
    walk
}

/// Additions of the best column, removals while the rise is at most half of the gain stored for the size.
fn floating_by_hand(design: &Design, most: usize, tolerance: f64) -> Vec<Vec<Feature>> {
    let all = design.candidates();
    let (mut subset, mut score, mut gain, mut walk) = (Vec::new(), loss(design, &[]), vec![0.0; 99], Vec::new());
    let lowest = |options: Vec<Vec<Feature>>| {
        let mut best = (f64::INFINITY, Vec::new());
        for option in options {
            let loss = loss(design, &option);
            if loss < best.0 * (1.0 - 1e-12) || best.1.is_empty() {
                best = (loss, option);
            }
        }
        best
    };
    loop {
        let outside = all.iter().filter(|f| !subset.contains(*f));
        let (new, larger) = lowest(outside.map(|&f| [&subset[..], &[f]].concat()).collect());
        if subset.len() == most || larger.is_empty() || score - new < tolerance {
            return walk;
        }
        gain[larger.len()] = score - new;
        (score, subset) = (new, larger);
        walk.push(subset.clone());
        while subset.len() > 1 {
            let mut inside = subset.clone();
            inside.sort_unstable();
            let without = |f: Feature| subset.iter().copied().filter(|&g| g != f).collect::<Vec<_>>();
            let (new, smaller) = lowest(inside.into_iter().map(without).collect());
            if new - score > 0.5 * gain[subset.len()] {
                break;
            }
            (score, subset) = (new, smaller);
            walk.push(subset.clone());
        }
    }
}

/// The subset after every step, in order of entry.
fn walked(path: &Path, start: &[Feature]) -> Vec<Vec<Feature>> {
    let mut subset = start.to_vec();
    let step = |step: &Step| {
        let moved: Vec<Feature> = [&[step.feature], &step.with[..]].concat();
        match step.action {
            Action::Add => subset.extend(moved),
            Action::Remove => subset.retain(|f| !moved.contains(f)),
        }
        subset.clone()
    };
    path.steps.iter().map(step).collect()
}

#[test]
fn backward_removes_what_is_missed_least() {
    for design in designs() {
        let expected = backward_by_hand(&design);
        for path in [
            by_definition(&Search::new(Backward::default()), &design),
            fast(&Search::new(Backward::default()), &design, &mut Silent),
        ] {
            assert_eq!(walked(&path, &expected[0]), expected[1..]);
            assert_eq!(path.stop_reason, StopReason::MinFeatures);
            let entries: Vec<Vec<Feature>> = path.entries.iter().rev().map(|e| e.subset.clone()).collect();
            assert_eq!(entries, expected);
            assert!(path.entries.iter().all(|e| NEAR.holds(e.score.loss, loss(&design, &e.subset))));
        }
    }
}

#[test]
fn backward_keeps_its_limits() {
    let design = data::regression(14, 6, 31).design(&[0.5, 5.0], true);
    let alone = fast(&Backward::new(6), &design, &mut Silent);
    assert!(alone.steps.is_empty() && alone.entries.len() == 1 && alone.chosen == Some(0));
    assert_eq!(alone.result().unwrap().subset, [0, 1, 2, 3, 4, 5]);
    assert!(NEAR.holds(alone.result().unwrap().score.loss, loss(&design, &[0, 1, 2, 3, 4, 5])));

    let small = Search::new(Backward::default()).max_features(3).choose(Choose::Best);
    let path = fast(&small, &design, &mut Silent);
    let best = (1..=3).map(|size| path.entries[size - 1].score.loss).fold(f64::INFINITY, f64::min);
    assert_eq!(path.result().unwrap().score.loss, best);
    assert!(path.result().unwrap().subset.len() <= 3 && path.entries.len() == 6);

    let kept = Search::new(Backward::default()).forced(refs(&[4, 1]));
    let path = fast(&kept, &design, &mut Silent);
    assert_eq!(path.entries[0].subset, [1, 4]);

    // No removal may raise the score by more than 0.01, twice in a row.
    let full = fast(&Search::new(Backward::default()), &design, &mut Silent);
    let scores: Vec<f64> = full.entries.iter().rev().map(|e| e.score.loss).collect();
    for patience in [None, Some(1)] {
        let search = Search::new(Backward::default()).tolerance(-0.01).patience(patience);
        let path = fast(&search, &design, &mut Silent);
        let (mut failures, mut taken) = (0, 0);
        for pair in scores.windows(2) {
            failures = if pair[1] - pair[0] > 0.01 { failures + 1 } else { 0 };
            if failures > patience.unwrap_or(0) {
                break;
            }
            taken += 1;
        }
        assert!(taken < 5, "the tolerance has something to stop");
        assert_eq!(path.steps, full.steps[..taken]);
        let reason = if patience.is_some() { StopReason::Patience } else { StopReason::Tolerance };
        assert_eq!(path.stop_reason, reason);
    }
}

#[test]
fn floating_follows_its_rules_and_takes_back() {
    let mut removals = 0;
    for design in designs().into_iter().chain([deceptive()]) {
        for (most, tolerance) in [(8, 1e-6), (3, 1e-6), (8, 0.05)] {
            let most = most.min(design.features());
            let expected = floating_by_hand(&design, most, tolerance);
            let search = Floating::new(most).tolerance(tolerance);
            for path in [by_definition(&search, &design), fast(&search, &design, &mut Silent)] {
                assert_eq!(walked(&path, &[]), expected, "{most} {tolerance}");
                removals += path.steps.iter().filter(|s| s.action == Action::Remove).count();
            }
        }
    }
    assert!(removals > 0);
    let path = fast(&Floating::new(3), &deceptive(), &mut Silent);
    assert_eq!(path.entries[1].subset, [1, 2], "{:?}", path.steps);
}

#[test]
fn floating_without_a_tolerance_ends() {
    for design in designs() {
        for patience in [None, Some(2)] {
            let search = Search::new(Floating {}).tolerance(None).patience(patience);
            let path = fast(&search, &design, &mut Silent);
            assert!(path.steps.len() <= search.extent(&design).unwrap().steps);
            if patience.is_none() {
                assert_eq!(path.entries.len(), design.candidates().len());
            }
        }
    }
}

/// Rounds of removals by their rules, from scores by the definition: the subset after every round.
fn rounds_by_hand(design: &Design, after: impl Fn(usize) -> usize, (least, most): (usize, usize)) -> Vec<Vec<Feature>> {
    let constant = design.problem().constant().len();
    let (mut subset, mut size, mut walk) = (design.candidates(), design.candidates().len() + constant, Vec::new());
    let is_copy =
        |a: Feature, b: Feature| (0..design.rows()).all(|j| design.column(a).get(j) == design.column(b).get(j));
    while size > least {
        let next = after(size).max(least);
        size = if size > most { next.max(most) } else { next };
        if size >= subset.len() {
            continue;
        }
        let without = |f: Feature| subset.iter().copied().filter(|&g| g != f).collect::<Vec<_>>();
        let first = |f: Feature| *subset.iter().find(|&&g| is_copy(f, g)).unwrap();
        let is_last = |f: Feature| first(f) != f && !subset.iter().any(|&g| g > f && is_copy(f, g));
        let mut ranked: Vec<(bool, f64, Feature)> =
            subset.iter().map(|&f| (is_last(f), loss(design, &without(first(f))), f)).collect();
        ranked.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let gone: Vec<Feature> = ranked[..subset.len() - size].iter().map(|(.., f)| *f).collect();
        subset.retain(|f| !gone.contains(f));
        walk.push(subset.clone());
    }
    walk
}

#[test]
fn several_columns_leave_in_a_round_of_trials() {
    type Leaving = fn(usize) -> usize;
    let steps: [(Backward, Leaving); 4] = [
        (Backward { step: 0.3.into() }, |size| (0.3 * size as f64) as usize),
        (Backward { step: 0.5.into() }, |size| (0.5 * size as f64) as usize),
        (Backward { step: 2.into() }, |_| 2),
        (Backward { step: 99.into() }, |_| 99),
    ];
    for design in designs() {
        for (backward, leaving) in &steps {
            for (min, max) in [(None, None), (Some(2), Some(4)), (Some(3), Some(3))] {
                let search = Search::new(backward.clone()).min_features(min).max_features(max);
                let limits = (min.unwrap_or(1), max.unwrap_or(99));
                let expected = rounds_by_hand(&design, |size| size.saturating_sub(leaving(size).max(1)), limits);
                for path in [by_definition(&search, &design), fast(&search, &design, &mut Silent)] {
                    let start = &path.entries.last().unwrap().subset;
                    assert_eq!(walked(&path, start), expected, "{search:?}");
                    let sizes: Vec<usize> = path.entries.iter().map(|entry| entry.subset.len()).collect();
                    assert!(min.is_none_or(|least| sizes[0] == least) && max.is_none_or(|most| sizes.contains(&most)));
                    assert!(path.entries.iter().all(|e| NEAR.holds(e.score.loss, loss(&design, &e.subset))));
                    let extent = search.extent(&design).unwrap();
                    assert!(extent.steps >= path.steps.len() && extent.trials < 40.0, "{extent:?}");
                }
            }
        }
    }
}

#[test]
fn rounds_take_blocks_whole_and_stop_where_the_tolerance_says() {
    let design = data::regression(20, 8, 37).design(&[0.5], true);
    let blocks = super::common::named(&[("a", &[0, 1, 2]), ("b", &[4, 6])]);
    let search = Search::new(Backward { step: 2.into() }).blocks(blocks);
    let path = fast(&search, &design, &mut Silent);
    for subset in walked(&path, &[0, 1, 2, 3, 4, 5, 6, 7]) {
        for block in [&[0, 1, 2][..], &[4, 6]] {
            let inside = block.iter().filter(|f| subset.contains(f)).count();
            assert!(inside == 0 || inside == block.len(), "{subset:?}");
        }
    }
    let backward = Backward { step: 0.25.into() };
    let whole = fast(&backward.clone().into(), &design, &mut Silent);
    let rise = |at: usize| {
        let before = if at == 0 { whole.entries.last().unwrap().score.loss } else { whole.steps[at - 1].score.loss };
        whole.steps[at].score.loss - before
    };
    let largest = (0..whole.steps.len()).max_by(|&a, &b| rise(a).total_cmp(&rise(b))).unwrap();
    let path = fast(&Search::new(backward).tolerance(Some(-0.999 * rise(largest))), &design, &mut Silent);
    assert_eq!(path.steps, whole.steps[..largest]);
    assert_eq!(path.stop_reason, StopReason::Tolerance);
    let bad = [
        Backward { step: 0.into() },
        Backward { step: 0.0.into() },
        Backward { step: 1.0.into() },
        Backward { step: f64::NAN.into() },
    ];
    for backward in bad {
        let error = Search::new(backward).check_settings().unwrap_err();
        assert_eq!(error.field(), Some("step"));
    }
}
