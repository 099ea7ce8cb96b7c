//! Searches against plain enumeration, with scores by the definition.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use serde_json::json;
use std::collections::BTreeMap;
use vaglio::core::{
    Action, Answer, Choose, Criterion, Design, Feature, FeatureRef, Observer, Outline, Path, Refit, SearchContext,
    SearchStrategy, Silent, Step, StopReason,
};
use vaglio::criteria::Loo;
use vaglio::search::{Backward, Blocks, Exhaustive, Floating, Greedy, Origin, Polish};
use vaglio_testkit::{Broken, check_search, data, rebuild};

fn by_definition(search: &dyn SearchStrategy, design: &Design) -> Path {
    let criterion = Loo::default();
    search.search(&mut SearchContext::new(design, &mut Refit::new(&criterion, design), &mut Silent, 0)).unwrap()
}

fn fast(search: &dyn SearchStrategy, design: &Design, observer: &mut dyn Observer) -> Path {
    let criterion: &dyn Criterion = &Loo::default();
    search.check(design).unwrap();
    let mut evaluator = criterion.open(design, &search.outline(design)).unwrap();
    search.search(&mut SearchContext::new(design, &mut *evaluator, observer, 0)).unwrap()
}

fn loss(design: &Design, subset: &[Feature]) -> f64 {
    Loo::default().evaluate(design, subset).unwrap().loss
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

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

fn named(blocks: &[(&str, &[usize])]) -> Option<Blocks> {
    let list = |columns: &[usize]| columns.iter().map(|&c| FeatureRef::Index(c)).collect::<Vec<_>>();
    Some(Blocks::Named(blocks.iter().map(|(n, c)| (n.to_string(), list(c))).collect::<BTreeMap<_, _>>()))
}

fn refs(columns: &[usize]) -> Vec<FeatureRef> {
    columns.iter().map(|&c| FeatureRef::Index(c)).collect()
}

fn designs() -> Vec<Design> {
    vec![
        data::regression(14, 6, 31).weighted().design(&[0.5], true),
        data::regression(16, 5, 32).duplicates(2).constants(1).design(&[0.1, 2.0], true),
        data::regression(12, 8, 33).collinear(0.3).design(&[0.2], false),
    ]
}

fn searches() -> Vec<Box<dyn SearchStrategy>> {
    let kinds = ["greedy", "backward", "floating", "exhaustive"];
    kinds.iter().map(|kind| serde_json::from_value(json!({"kind": kind})).unwrap()).collect()
}

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
            assert!(path.entries.iter().all(|e| near(e.score.loss, loss(&design, &e.subset))));
        }
    }
}

#[test]
fn backward_keeps_its_limits() {
    let design = data::regression(14, 6, 31).design(&[0.5, 5.0], true);
    let alone = fast(&Backward::new(6), &design, &mut Silent);
    assert!(alone.steps.is_empty() && alone.entries.len() == 1 && alone.chosen == Some(0));
    assert_eq!(alone.result().unwrap().subset, [0, 1, 2, 3, 4, 5]);
    assert!(near(alone.result().unwrap().score.loss, loss(&design, &[0, 1, 2, 3, 4, 5])));

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

/// Column 0 is the best alone and superfluous beside 1 and 2, whose sum it nearly is.
fn deceptive() -> Design {
    let mut columns = vec![vec![0.0; 24]; 4];
    let mut target = vec![0.0; 24];
    for row in 0..24 {
        let (a, b) = ((row as f64 * 0.7).sin(), (row as f64 * 1.9).cos());
        let noise = (row as f64 * 2.3).sin();
        columns[1][row] = a;
        columns[2][row] = b;
        columns[0][row] = a + b + 0.3 * noise;
        columns[3][row] = (row as f64 * 3.1).cos();
        target[row] = a + b + 0.02 * (row as f64 * 5.3).cos();
    }
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let problem = data::given(&columns, &[&target], vaglio::core::Task::Regression).unwrap();
    Design::identity(&problem, vaglio::core::Readout::new(vec![1e-3], true).unwrap())
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
            assert!(path.steps.len() <= search.outline(&design).steps);
            if patience.is_none() {
                assert_eq!(path.entries.len(), design.candidates().len());
            }
        }
    }
}

#[test]
fn exhaustive_is_plain_enumeration() {
    for design in designs() {
        let count = design.candidates().len();
        for path in [by_definition(&Exhaustive::default(), &design), fast(&Exhaustive::default(), &design, &mut Silent)]
        {
            assert_eq!(path.entries.len(), count);
            for (entry, size) in path.entries.iter().zip(1..) {
                let (subset, loss) = best_of_size(&design, size);
                assert_eq!(entry.subset, subset);
                assert!(near(entry.score.loss, loss));
            }
            let certificate = path.certificate.unwrap();
            assert!(certificate.optimal && certificate.gap == Some(0.0) && path.steps.is_empty());
            assert_eq!(certificate.visited + certificate.pruned, (1 << count) - 1);
            assert_eq!(path.stop_reason, StopReason::AllSubsets);
        }
        let two = Exhaustive { min_features: Some(2), ..Exhaustive::new(2) };
        let path = fast(&two, &design, &mut Silent);
        assert_eq!(path.entries.len(), 1);
        assert_eq!(path.entries[0].subset, best_of_size(&design, 2).0);
        assert_eq!(path.certificate.unwrap().visited, (count * (count - 1) / 2) as u64);
    }
}

#[test]
fn exhaustive_keeps_forced_columns_and_blocks() {
    let design = data::regression(14, 6, 35).design(&[0.5], true);
    let search =
        Exhaustive { forced: refs(&[5]), blocks: named(&[("pair", &[3, 0]), ("own", &[5])]), ..Exhaustive::new(4) };
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
    assert_eq!(certificate.visited, count as u64);
}

#[test]
fn blocks_of_one_column_change_nothing() {
    let design = &designs()[1];
    let alone = named(&[("a", &[1]), ("b", &[4]), ("c", &[0])]);
    assert_eq!(
        fast(&Greedy { blocks: alone.clone(), ..Greedy::default() }, design, &mut Silent),
        fast(&Greedy::default(), design, &mut Silent)
    );
    assert_eq!(
        fast(&Backward { blocks: alone.clone(), ..Backward::default() }, design, &mut Silent),
        fast(&Backward::default(), design, &mut Silent)
    );
    assert_eq!(
        fast(&Floating { blocks: alone.clone(), ..Floating::default() }, design, &mut Silent),
        fast(&Floating::default(), design, &mut Silent)
    );
    assert_eq!(
        fast(&Exhaustive { blocks: alone, ..Exhaustive::default() }, design, &mut Silent),
        fast(&Exhaustive::default(), design, &mut Silent)
    );
}

#[test]
fn blocks_move_in_one_step() {
    let plain = data::regression(16, 7, 36).constants(1).design(&[0.3], true);
    // Columns 7 and 8 are copies of 0 and 1; 9 is constant.
    let design = rebuild::with_columns(&plain, &[0, 1, 2, 3, 4, 5, 6, 0, 1, 7]).unwrap();
    let blocks = named(&[("first", &[1, 0]), ("copies", &[7, 8, 9])]);
    let greedy = Greedy { blocks: blocks.clone(), ..Greedy::default() };
    for path in [fast(&greedy, &design, &mut Silent), by_definition(&greedy, &design)] {
        let first = path.steps.iter().find(|s| !s.with.is_empty()).unwrap();
        assert_eq!((first.feature, &first.with[..], &first.tied[..]), (0, &[1][..], &[7][..]));
        let mut size = 0;
        for step in &path.steps {
            size += 1 + step.with.len();
            assert_eq!(step.size, size);
        }
        assert_eq!(size, 9);
        for entry in &path.entries {
            assert!(near(entry.score.loss, loss(&design, &entry.subset)));
        }
    }
    for most in 1..=4 {
        let path = fast(&Greedy { max_features: Some(most), ..greedy.clone() }, &design, &mut Silent);
        assert!(path.entries.iter().all(|e| e.subset.len() <= most));
        assert_eq!(path.stop_reason, StopReason::MaxFeatures);
    }
    let path = fast(&Backward { blocks: blocks.clone(), ..Backward::default() }, &design, &mut Silent);
    let gone: Vec<&Step> = path.steps.iter().filter(|s| !s.with.is_empty()).collect();
    assert_eq!(gone[0].feature, 0, "{gone:?}");
    assert!(gone[0].with == [1] && gone[0].tied == [7]);

    let forced = Greedy { forced: refs(&[8]), blocks: blocks.clone(), ..Greedy::new(3) };
    let path = fast(&forced, &design, &mut Silent);
    assert_eq!((path.steps[0].feature, &path.steps[0].with[..], path.steps[0].size), (7, &[8][..], 2));
    let excluded = Greedy { excluded: refs(&[8]), blocks, ..Greedy::default() };
    let path = fast(&excluded, &design, &mut Silent);
    assert!(path.entries.iter().all(|e| !e.subset.contains(&7) && !e.subset.contains(&8)));
}

#[test]
fn blocks_of_the_design_are_taken_by_their_word() {
    let problem = data::regression(16, 6, 37).problem();
    let block = vaglio::core::Block { name: "colour".into(), columns: vec![1, 2, 4] };
    let readout = vaglio::core::Readout::new(vec![1.0], true).unwrap();
    let design = Design::identity(&problem.with_blocks(vec![block]), readout);
    let by_word = Greedy { blocks: Some(Blocks::Made(Origin::OneHot)), ..Greedy::default() };
    let by_name = Greedy { blocks: named(&[("colour", &[1, 2, 4])]), ..Greedy::default() };
    let path = fast(&by_word, &design, &mut Silent);
    assert_eq!(path, fast(&by_name, &design, &mut Silent));
    assert_eq!(path.steps.len(), 4);
}

#[test]
fn swaps_reach_a_subset_that_no_exchange_improves() {
    let mut helped = 0;
    for design in designs().into_iter().chain([deceptive()]) {
        let searches: [(Box<dyn SearchStrategy>, Box<dyn SearchStrategy>); 3] = [
            (
                Box::new(Greedy { choose: Choose::Last, ..Greedy::new(2) }),
                Box::new(Greedy { choose: Choose::Last, polish: Polish::Swaps, ..Greedy::new(2) }),
            ),
            (
                Box::new(Backward { choose: Choose::Last, ..Backward::new(3) }),
                Box::new(Backward { choose: Choose::Last, polish: Polish::Swaps, ..Backward::new(3) }),
            ),
            (
                Box::new(Backward { max_features: Some(3), ..Backward::default() }),
                Box::new(Backward { max_features: Some(3), polish: Polish::Swaps, ..Backward::default() }),
            ),
        ];
        for (plain, polished) in searches {
            let before = fast(&*plain, &design, &mut Silent);
            let after = fast(&*polished, &design, &mut Silent);
            let (old, new) = (before.result().unwrap(), after.result().unwrap());
            assert_eq!(old.subset.len(), new.subset.len());
            assert!(new.score.loss <= old.score.loss);
            helped += usize::from(new.score.loss < old.score.loss * (1.0 - 1e-6));
            assert_eq!(after.steps[..before.steps.len()], before.steps);
            assert_eq!(new.score.loss == old.score.loss, after.steps.len() == before.steps.len());
            let own = loss(&design, &new.subset);
            assert!(near(own, new.score.loss));
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
    let greedy = Greedy { choose: Choose::Last, ..Greedy::new(2) };
    let plain = fast(&greedy, &deceptive(), &mut Silent);
    assert!(plain.result().unwrap().subset.contains(&0));
    let polished = fast(&Greedy { polish: Polish::Swaps, ..greedy }, &deceptive(), &mut Silent);
    let mut subset = polished.result().unwrap().subset.clone();
    subset.sort_unstable();
    assert_eq!(subset, [1, 2]);
}

#[test]
fn swaps_leave_forced_columns() {
    let search = Greedy { forced: refs(&[0]), choose: Choose::Last, polish: Polish::Swaps, ..Greedy::new(2) };
    let path = fast(&search, &deceptive(), &mut Silent);
    assert!(path.result().unwrap().subset.contains(&0));
}

/// The laws hold with blocks and polishing as well.
#[test]
fn blocks_and_swaps_keep_the_laws() -> Result<(), Broken> {
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
                let search: Box<dyn SearchStrategy> = serde_json::from_value(settings.clone()).unwrap();
                check_search(&*search, &Loo::default(), design, 1e-9).map_err(|b| b.within(&settings.to_string()))?;
            }
        }
    }
    Ok(())
}

struct StopAt(usize);

impl Observer for StopAt {
    fn step(&mut self, _: &Step) -> Answer {
        self.visited(0.0, 0.0)
    }

    fn visited(&mut self, _: f64, _: f64) -> Answer {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { Answer::Stop(StopReason::Limit) } else { Answer::Continue }
    }
}

#[test]
fn every_search_stops_when_told_to() {
    let design = data::regression(20, 8, 43).design(&[0.4], true);
    for search in searches() {
        for after in 1..4 {
            let path = fast(&*search, &design, &mut StopAt(after));
            assert_eq!(path.stop_reason, StopReason::Limit);
            match path.certificate {
                None => assert_eq!(path.steps.len(), after),
                Some(certificate) => assert!(!certificate.optimal && certificate.gap.is_none()),
            }
        }
    }
    // After the first questions the greedy start has an entry of every size.
    let path = fast(&Exhaustive::default(), &design, &mut StopAt(10));
    assert_eq!(path.entries.len(), 8);
}

#[test]
fn settings_that_cannot_be_are_refused_in_words() {
    let design = data::regression(12, 40, 44).constants(1).design(&[1.0], true);
    let refused = |settings: serde_json::Value| {
        let search: Box<dyn SearchStrategy> = serde_json::from_value(settings).unwrap();
        search.check(&design).unwrap_err().to_string()
    };
    let cases = [
        (
            json!({"kind": "backward", "max_features": 0}),
            "`max_features`: 0 features cannot be selected; 1 is the least",
        ),
        (
            json!({"kind": "floating", "max_features": 50}),
            "`max_features`: 50 features are asked for and there are 41 candidate columns",
        ),
        (
            json!({"kind": "backward", "max_features": 2, "min_features": 3}),
            "`min_features`: it is larger than max_features, which is 2",
        ),
        (json!({"kind": "greedy", "forced": ["x40"]}), "`forced`: `x40` is constant, so it cannot be selected"),
        (json!({"kind": "backward", "forced": [1], "excluded": ["x1"]}), "`excluded`: `x1` is forced as well"),
        (
            json!({"kind": "greedy", "blocks": {"a": ["x1", "x2"]}, "forced": [1], "excluded": [2]}),
            "`excluded`: `x2` moves with `x1` in the block `a`, and `x1` is forced",
        ),
        (
            json!({"kind": "greedy", "blocks": {"a": [1, 2], "b": [3, 2]}}),
            "`blocks.b[1]`: `x2` is in the block `a` already",
        ),
        (json!({"kind": "greedy", "blocks": {"a": [1, 1]}}), "`blocks.a[1]`: `x1` stands twice"),
        (json!({"kind": "greedy", "blocks": {"a": []}}), "`blocks.a`: a block needs at least one column"),
        (
            json!({"kind": "greedy", "blocks": {"a": ["y1"]}}),
            "`blocks.a[0]`: there is no column `y1`; did you mean `x1`?",
        ),
        (
            json!({"kind": "greedy", "blocks": {"a": [1, 2, 3]}, "forced": [1], "max_features": 2}),
            "`forced`: 3 columns are forced and max_features is 2",
        ),
        (
            json!({"kind": "exhaustive", "tolerance": 0.1, "max_features": 2}),
            "`tolerance`: a search of all subsets has no steps to stop after; leave it out",
        ),
        (
            json!({"kind": "exhaustive"}),
            "`max_features`: there are 1099511627775 subsets of up to 40 columns and at most 2^30 are searched; take a \
             smaller max_features, or the search `floating` with `polish: swaps`",
        ),
    ];
    for (settings, message) in cases {
        assert_eq!(refused(settings), message);
    }
    let search = Exhaustive::new(6);
    search.check(&design).unwrap();
    let wide = data::regression(5, 3000, 1).design(&[1.0], true);
    let words = Exhaustive::default().check(&wide).unwrap_err().to_string();
    assert!(words.contains("subsets of up to 3000 columns"), "{words}");
}

#[test]
fn settings_read_back_as_they_are_written() {
    let text = json!({
        "kind": "floating", "max_features": 4, "min_features": null, "tolerance": null, "patience": 2,
        "forced": ["a"], "excluded": [3], "choose": "one_se", "blocks": {"b": ["a", 2]}, "polish": "swaps"
    });
    for kind in ["greedy", "backward", "floating", "exhaustive"] {
        let mut text = text.clone();
        text["kind"] = json!(kind);
        for blocks in [json!(null), json!("one_hot"), json!({"b": ["a", 2]})] {
            text["blocks"] = blocks;
            let search: Box<dyn SearchStrategy> = serde_json::from_value(text.clone()).unwrap();
            let written = serde_json::to_value(&*search).unwrap();
            assert_eq!(written, text);
            let keys: Vec<&String> = written.as_object().unwrap().keys().skip(1).collect();
            let shared = "max_features min_features tolerance patience forced excluded choose blocks polish";
            assert_eq!(keys, shared.split(' ').collect::<Vec<_>>());
        }
    }
    let wrong = json!({"kind": "greedy", "blocks": "all"});
    let words = serde_json::from_value::<Box<dyn SearchStrategy>>(wrong).unwrap_err().to_string();
    assert!(words.contains("expected `one_hot` or a map from names to lists of columns"), "{words}");
    assert_eq!(Floating::default().tolerance, Some(1e-6));
    let outline: Outline = Greedy::new(2).outline(&designs()[0]);
    assert_eq!((outline.steps, outline.trials), (2, 11.0));
}
