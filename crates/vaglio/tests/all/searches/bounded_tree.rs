//! The search of all subsets by bounds from least squares fits, against enumeration.

use super::common::StopAt;
use vaglio::core::{Criterion, Design, Feature, Loss, Part, Squared, StopReason};
use vaglio::criteria::{KFold, Loo};
use vaglio::search::{Alternatives, Exhaustive, Observer, Path, Search, SearchContext, Silent, SubsetScorer};
use vaglio_testkit::data;

fn run(search: &Search, criterion: &dyn Criterion, design: &Design, observer: &mut dyn Observer) -> Path {
    search.check(criterion, design).unwrap();
    let subset = SubsetScorer::open(criterion, design, &search.extent(design).unwrap()).unwrap();
    search.run(&mut SearchContext::new(subset, observer, 0)).unwrap()
}

fn criteria() -> [Box<dyn Criterion>; 3] {
    let squared = || Part::<dyn Loss>::from(Squared);
    [
        Box::new(Loo { loss: squared(), ..Loo::default() }),
        Box::new(KFold { folds: Some(4), loss: squared(), ..KFold::default() }),
        Box::new(KFold { folds: Some(3), shuffle: true, loss: squared(), ..KFold::default() }),
    ]
}

/// Hard designs, of which some have bounds and others none.
fn design(seed: u64) -> Design {
    let recipe = data::regression(24, 7, seed);
    let recipe = match seed % 6 {
        0 => recipe,
        1 => recipe.weighted(),
        2 => recipe.outputs(2),
        3 => recipe.collinear(1e-3),
        4 => recipe.duplicates(1).constants(1),
        _ => recipe.weighted().collinear(0.3),
    };
    let lambdas: &[f64] = [&[1e-12][..], &[0.5], &[0.1, 10.0], &[5.0]][seed as usize / 6 % 4];
    recipe.design(lambdas, seed.is_multiple_of(2))
}

fn all_subsets(design: &Design, most: usize) -> Vec<Vec<Feature>> {
    let columns = design.candidates();
    let subset = |bits: usize| (0..columns.len()).filter(|k| bits >> k & 1 == 1).map(|k| columns[k]).collect();
    (1..1_usize << columns.len()).map(subset).filter(|subset: &Vec<Feature>| subset.len() <= most).collect()
}

#[test]
fn bounds_from_fits_change_no_result() {
    let (mut pruned, mut bounded) = (0, 0);
    for seed in 0..18 {
        let design = design(seed);
        for criterion in criteria() {
            let most = 3 + seed as usize % 4;
            let path = run(&Exhaustive::new(most), &*criterion, &design, &mut Silent);
            let all: Vec<(Vec<Feature>, f64)> = all_subsets(&design, most)
                .into_iter()
                .map(|subset| (subset.clone(), criterion.evaluate(&design, &subset).unwrap().loss))
                .collect();
            for entry in &path.entries {
                let same = all.iter().filter(|(subset, _)| subset.len() == entry.subset.len());
                let least = same.map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min);
                let loss = entry.score.loss;
                assert!(loss <= least * (1.0 + 1e-6) + 1e-12, "{seed} {}: {loss} {least}", entry.subset.len());
            }
            let certificate = path.certificate.unwrap();
            assert!(certificate.optimal && certificate.gap == Some(0.0));
            assert_eq!(certificate.visited + certificate.pruned, all.len() as u64, "{seed}");
            pruned += certificate.pruned;
            bounded += u64::from(certificate.bound.is_some());
        }
    }
    assert!(pruned > 1000 && bounded > 20, "{pruned} {bounded}");
}

#[test]
fn forced_columns_and_least_sizes_are_kept() {
    for criterion in criteria() {
        let design = design(0);
        let search = Exhaustive::new(4).forced(super::common::refs(&[5])).min_features(3);
        let path = run(&search, &*criterion, &design, &mut Silent);
        assert_eq!(path.entries.iter().map(|entry| entry.subset.len()).collect::<Vec<_>>(), [3, 4]);
        for entry in &path.entries {
            let same = all_subsets(&design, 4).into_iter().filter(|s| s.len() == entry.subset.len() && s.contains(&5));
            let losses = same.map(|subset| criterion.evaluate(&design, &subset).unwrap().loss);
            assert!(entry.score.loss <= losses.fold(f64::INFINITY, f64::min) * (1.0 + 1e-9));
        }
    }
}

#[test]
fn threads_change_neither_result_nor_certificate() {
    let design = data::regression(60, 16, 5).design(&[0.5], true);
    let search = Search::new(Exhaustive { alternatives: Some(Alternatives::default()) }).max_features(8);
    for criterion in criteria() {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&search, &*criterion, &design, &mut Silent))
        };
        assert_eq!(with(1), with(3));
    }
}

fn near_best(design: &Design, criterion: &dyn Criterion, asked: Alternatives, most: usize) -> Path {
    let search = Search::new(Exhaustive { alternatives: Some(asked) }).max_features(most);
    run(&search, criterion, design, &mut Silent)
}

/// `VAGLIO_PROBLEMS=200` tries so many.
#[test]
fn near_best_subsets_are_counted_as_enumeration_counts_them() {
    let count = std::env::var("VAGLIO_PROBLEMS").ok().and_then(|count| count.parse().ok()).unwrap_or(12);
    for seed in 0..count {
        let criterion = &criteria()[seed as usize % 3];
        let recipe = data::regression(22, 7, seed);
        let recipe = if seed.is_multiple_of(4) { recipe.weighted() } else { recipe };
        let design = recipe.design(&[[0.01, 1.0][seed as usize % 2]], true);
        let part = [0.02, 0.1, 0.4][seed as usize / 3 % 3];
        let asked = Alternatives { within: part.into(), count: 5 };
        let near = near_best(&design, &**criterion, asked, 5).alternatives.unwrap();
        let loss = |subset: &Vec<Feature>| criterion.evaluate(&design, subset).unwrap().loss;
        let all: Vec<(Vec<Feature>, f64)> =
            all_subsets(&design, 5).into_iter().map(|subset| (subset.clone(), loss(&subset))).collect();
        let lowest = all.iter().map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min);
        assert!((near.limit - lowest * (1.0 + part)).abs() <= 1e-9 * near.limit);
        let mut within: Vec<_> = all.iter().filter(|(_, loss)| *loss <= near.limit).collect();
        within.sort_by(|a, b| a.1.total_cmp(&b.1));
        assert_eq!(near.count, within.len() as u64, "{seed}");
        assert!(near.is_whole && near.subsets.len() == within.len().min(5));
        assert_eq!(near.subsets[0].0, within[0].0);
        let has = |f: &Feature| within.iter().filter(|(subset, _)| subset.contains(f)).count();
        let of = |wanted: usize| design.candidates().into_iter().filter(|f| has(f) == wanted).collect::<Vec<_>>();
        assert_eq!((&near.in_all, &near.in_none), (&of(within.len()), &of(0)));
    }
}

#[test]
fn alternatives_within_a_standard_error_and_what_is_refused() {
    let design = data::regression(22, 6, 3).design(&[1.0], true);
    let criterion = &criteria()[0];
    let asked = Alternatives::default().within_one_se();
    let near = near_best(&design, &**criterion, asked, 6).alternatives.unwrap();
    let best = run(&Exhaustive::new(6), &**criterion, &design, &mut Silent);
    let best = best.entries.iter().min_by(|a, b| a.score.loss.total_cmp(&b.score.loss)).unwrap().clone();
    assert_eq!(near.limit, best.score.loss + best.standard_error.unwrap());
    assert!(near.subsets.iter().any(|(subset, _)| *subset == best.subset));
    let refused = |asked: Alternatives, design: &Design| {
        let search = Search::new(Exhaustive { alternatives: Some(asked) }).max_features(3);
        let error = search.check_settings().and_then(|()| search.check(&**criterion, design)).unwrap_err();
        error.to_string()
    };
    assert!(refused(Alternatives { within: (-1.0).into(), count: 1 }, &design).contains("alternatives.within"));
    assert!(refused(Alternatives { count: 0, ..Alternatives::default() }, &design).contains("alternatives.count"));
    let equal = data::regression(22, 6, 3).duplicates(1).design(&[1.0], true);
    assert!(refused(Alternatives::default(), &equal).contains("depend on each other"));
}

#[test]
fn a_stop_leaves_what_was_found_with_its_gap() {
    let design = data::regression(40, 16, 7).design(&[1.0], true);
    let search = Exhaustive::new(8).min_features(7);
    for criterion in criteria() {
        let whole = run(&search, &*criterion, &design, &mut Silent);
        let best = whole.result().unwrap().score.loss;
        for after in 1..4 {
            let path = run(&search, &*criterion, &design, &mut StopAt(after));
            let certificate = path.certificate.as_ref().unwrap();
            let Some(found) = path.result().map(|entry| entry.score.loss) else { continue };
            let gap = if certificate.optimal { Some(0.0) } else { certificate.gap };
            assert!(gap.is_none_or(|gap| found - gap <= best * (1.0 + 1e-9)), "{found} {gap:?} {best}");
            assert!(certificate.optimal || path.stop_reason == StopReason::Interrupted);
        }
    }
}

#[test]
fn what_the_tree_takes_is_told_before_it_is_taken() {
    let design = data::regression(1200, 900, 1).design(&[1.0], true);
    let search = Exhaustive::new(3);
    let (flops, bytes) = search.effort(&*criteria()[0], &design).unwrap();
    let products = 8.0 * 900.0_f64.powi(2);
    assert!(bytes > 3.0 * products && bytes < 30.0 * products && flops > 1e9, "{flops} {bytes}");
    let absolute = Loo { loss: Part::<dyn Loss>::from(vaglio::core::Absolute), ..Loo::default() };
    assert_eq!(search.effort(&absolute, &design).unwrap(), (0.0, 0.0));
    let few = data::regression(60, 20, 1).design(&[1.0], true);
    assert_eq!(search.effort(&*criteria()[0], &few).unwrap(), (0.0, 0.0));
}
