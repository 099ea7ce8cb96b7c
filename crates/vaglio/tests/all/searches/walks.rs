//! Backward and floating against walks by their rules, from scores by the definition.

use super::common::{NEAR, by_definition, deceptive, designs, fast, loss, refs};
use vaglio::core::{Action, Choose, Design, Feature, Path, SearchStrategy, Silent, Step, StopReason};
use vaglio::search::{Backward, Floating};
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
        for path in [by_definition(&Backward::default(), &design), fast(&Backward::default(), &design, &mut Silent)] {
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

    let small = Backward { max_features: Some(3), choose: Choose::Best, ..Backward::default() };
    let path = fast(&small, &design, &mut Silent);
    let best = (1..=3).map(|size| path.entries[size - 1].score.loss).fold(f64::INFINITY, f64::min);
    assert_eq!(path.result().unwrap().score.loss, best);
    assert!(path.result().unwrap().subset.len() <= 3 && path.entries.len() == 6);

    let kept = Backward { forced: refs(&[4, 1]), ..Backward::default() };
    let path = fast(&kept, &design, &mut Silent);
    assert_eq!(path.entries[0].subset, [1, 4]);

    // No removal may raise the score by more than 0.01, twice in a row.
    let full = fast(&Backward::default(), &design, &mut Silent);
    let scores: Vec<f64> = full.entries.iter().rev().map(|e| e.score.loss).collect();
    for patience in [None, Some(1)] {
        let search = Backward { tolerance: Some(-0.01), patience, ..Backward::default() };
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
            let search = Floating { tolerance: Some(tolerance), ..Floating::new(most) };
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
            let search = Floating { tolerance: None, patience, ..Floating::default() };
            let path = fast(&search, &design, &mut Silent);
            assert!(path.steps.len() <= search.outline(&design).unwrap().steps);
            if patience.is_none() {
                assert_eq!(path.entries.len(), design.candidates().len());
            }
        }
    }
}
