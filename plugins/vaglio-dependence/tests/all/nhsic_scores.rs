//! Scores of normalized Hilbert–Schmidt independence against its definition and every support.

use crate::nhsic::noise;
use crate::{design, regression};
use ndarray::Array2;
use vaglio_core::{Action, Criterion, Design, SearchExtent};
use vaglio_dependence::{Approximation, Kernel, Nhsic, Output, OutputApproximation};
use vaglio_kernels::linalg::solve;
use vaglio_search::{SubsetScorer, plan_geometry};
use vaglio_testkit::{
    CriterionLaws, LawResult, SplitMix64, check_criterion, check_criterion_on_standard_data, data, on_one_thread,
    tries_all_cases,
};

fn with(approximation: Approximation, output: Output, normalize: bool) -> Nhsic {
    Nhsic { kernel: Kernel { approximation, output, ..Kernel::default() }, normalize }
}

fn exact() -> Nhsic {
    with(Approximation::Exact, Output::Auto, true)
}

pub fn kinds() -> impl Iterator<Item = Nhsic> {
    [Approximation::Exact, Approximation::Nystrom]
        .into_iter()
        .flat_map(|kind| [true, false].map(|normalize| with(kind, Output::Auto, normalize)))
}

fn open<'d>(nhsic: &'d Nhsic, design: &'d Design) -> SubsetScorer<'d> {
    SubsetScorer::open(nhsic, design, &SearchExtent::forward(design.features(), design.features())).unwrap()
}

/// Tries each approximation with normalization or without; with `VAGLIO_CASES=all`, with both.
#[test]
fn the_laws_hold_on_standard_data() -> LawResult {
    // The conformance tests of `vaglio` have the default.
    let cases = [
        (Approximation::Auto, false, 1e-9),
        (Approximation::Nystrom, true, 1e-9),
        (Approximation::Levels, false, 1e-6),
        (Approximation::Nystrom, false, 1e-9),
        (Approximation::Levels, true, 1e-6),
    ];
    for (approximation, normalize, tolerance) in cases.into_iter().take(if tries_all_cases() { 5 } else { 3 }) {
        let name = format!("{approximation:?}, normalize {normalize}");
        let criterion = with(approximation, Output::Auto, normalize);
        on_one_thread(|| check_criterion_on_standard_data(&criterion, tolerance)).map_err(|b| b.within(&name))?;
    }
    Ok(())
}

#[test]
fn a_sampled_target_keeps_the_laws_and_is_near_the_exact_one() -> LawResult {
    for approximation in [Approximation::Exact, Approximation::Nystrom] {
        let exact = with(approximation, Output::Gaussian, true);
        let mut sampled = exact.clone();
        sampled.kernel.output_approximation = OutputApproximation::Nystrom;
        on_one_thread(|| check_criterion_on_standard_data(&sampled, 1e-9))?;
        let design = data::binary(24, 6, 5).weighted().design(&[0.7], true);
        check_criterion(&sampled, &design, 1e-9)?;
        let design = synthetic(60, 8, 4, false);
        let score = |nhsic: &Nhsic| nhsic.evaluate(&design, &[0, 1, 2]).unwrap().loss;
        let apart = (score(&exact) - score(&sampled)).abs();
        assert!(apart > 0.0 && apart < 1e-4, "{apart}");
    }
    Ok(())
}

#[test]
fn every_output_kernel_keeps_the_laws() -> LawResult {
    for output in [Output::Gaussian, Output::Delta, Output::SameClass] {
        for normalize in [true, false] {
            let criterion = with(Approximation::Exact, output, normalize);
            let two = data::binary(24, 6, 5).weighted().design(&[0.7], true);
            let three = data::multiclass(24, 6, 3, 6).duplicates(1).constants(1).design(&[0.7], true);
            for design in [two, three] {
                check_criterion(&criterion, &design, 1e-9).map_err(|b| b.within(&format!("{output:?}")))?;
            }
        }
    }
    Ok(())
}

#[test]
fn narrow_and_wide_kernels_keep_the_definition() -> LawResult {
    for bandwidth in [0.05, 0.5, 5.0] {
        let kernel = Kernel { bandwidth, approximation: Approximation::Exact, ..Kernel::default() };
        let design = data::regression(30, 5, 6).weighted().design(&[1.0], true);
        check_criterion(&Nhsic { kernel, normalize: true }, &design, 1e-9)
            .map_err(|b| b.within(&format!("bandwidth {bandwidth}")))?;
    }
    Ok(())
}

#[test]
fn threads_change_no_bit_of_any_kernel() -> LawResult {
    let design = data::regression(120, 40, 9).weighted().duplicates(3).design(&[1.0], true);
    CriterionLaws::new(&with(Approximation::Levels, Output::Auto, true), &design, 0.0).threads()?;
    CriterionLaws::new(&with(Approximation::Nystrom, Output::Auto, false), &design, 0.0).threads()
}

/// Lowest 1 − 2cᵀα + αᵀQα with Qα = c over all supports where α ≥ 0.
fn lowest_over_supports(q: &[Vec<f64>], c: &[f64], subset: &[usize]) -> f64 {
    let mut best = 1.0;
    for support in 1u32..1 << subset.len() {
        let on: Vec<usize> =
            subset.iter().enumerate().filter(|(k, _)| support >> k & 1 == 1).map(|(_, x)| *x).collect();
        let part = Array2::from_shape_fn((on.len(), on.len()), |(i, j)| q[on[i]][on[j]]);
        let right = Array2::from_shape_fn((on.len(), 1), |(i, _)| c[on[i]]);
        let Ok(z) = solve(part.view(), right.view()) else { continue };
        if z.iter().all(|z| *z >= 0.0) {
            best = f64::min(best, 1.0 - 2.0 * (&right * &z).sum() + z.t().dot(&part).dot(&z)[[0, 0]]);
        }
    }
    best
}

#[test]
fn a_score_is_the_lowest_over_supports() {
    let nhsic = exact();
    let mut worst = 0.0f64;
    for seed in 0..60 {
        let count = 1 + seed as usize % 8;
        let mut columns: Vec<Vec<f64>> = (0..count).map(|k| noise(100 * seed + k as u64, 30)).collect();
        if seed % 3 == 1 && count > 2 {
            columns[1] = columns[0].iter().zip(&columns[2]).map(|(a, b)| a + 1e-3 * b).collect();
        }
        let y: Vec<f64> = (0..30).map(|j| columns.iter().map(|x| x[j].sin()).sum()).collect();
        let design = design(&regression(&columns, &y));
        let geometry = plan_geometry(&nhsic, &design);
        let q: Vec<Vec<f64>> = (0..count).map(|k| geometry.gram(k).unwrap()).collect();
        let c = geometry.relevances().unwrap().swap_remove(0);
        let mut subset = open(&nhsic, &design);
        let mut check = |subset: &mut SubsetScorer<'_>| {
            let expected = lowest_over_supports(&q, &c, subset.selected());
            worst = worst.max((subset.score().unwrap().loss - expected).abs());
        };
        for feature in 0..count {
            subset.add(feature).unwrap();
        }
        check(&mut subset);
        if count > 1 {
            subset.remove(1).unwrap();
            check(&mut subset);
        }
        let all: Vec<usize> = (0..count).collect();
        subset.reset(&all).unwrap();
        check(&mut subset);
    }
    assert!(worst < 1e-12, "{worst:e}");
}

/// A coefficient above 0 has a slope of 0, another none upwards: for a convex function the conditions of its minimum.
#[test]
fn the_conditions_of_a_minimum_hold_for_many_columns() {
    let nhsic = exact();
    let all: Vec<usize> = (0..40).collect();
    for seed in 0..10 {
        let design = data::regression(60, 40, seed).design(&[1.0], true);
        let geometry = plan_geometry(&nhsic, &design);
        let c = geometry.relevances().unwrap().swap_remove(0);
        let alpha = open(&nhsic, &design).minimizer(&all).unwrap().unwrap();
        assert!(alpha.iter().all(|a| *a >= 0.0) && alpha.iter().any(|a| *a > 0.0));
        for (k, a) in alpha.iter().enumerate() {
            let slope = c[k] - geometry.gram(k).unwrap().iter().zip(&alpha).map(|(q, a)| q * a).sum::<f64>();
            assert!(slope <= 1e-10 && (*a == 0.0 || slope >= -1e-10), "{slope:e} at {a}");
        }
    }
}

#[test]
fn copies_and_constant_columns_change_no_score() {
    let (x, y, constant) = (noise(1, 30), noise(2, 30), vec![3.0; 30]);
    let target: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x * x + y.sin()).collect();
    let design = design(&regression(&[x.clone(), y.clone(), x, constant, y], &target));
    let nhsic = exact();
    let mut subset = open(&nhsic, &design);
    subset.reset(&[0, 1]).unwrap();
    let expected = subset.score().unwrap().loss;
    for feature in [2, 3, 4] {
        subset.add(feature).unwrap();
        assert!((subset.score().unwrap().loss - expected).abs() < 1e-12, "with column {feature}");
    }
}

/// Products of the full matrix equal those of a factor, with and without weights.
#[test]
fn a_target_of_full_rank_is_taken_whole_and_scores_as_the_definition_says() {
    for recipe in [data::regression(280, 4, 3).outputs(9), data::regression(280, 4, 5).outputs(9).weighted()] {
        let (design, extent) = (recipe.design(&[1.0], true), SearchExtent::forward(4, 4));
        for normalize in [true, false] {
            let nhsic = Nhsic { normalize, ..Nhsic::default() };
            let reason = nhsic.plan(&design, &extent).estimate.reason;
            assert!(reason.contains("has full rank and is taken whole"), "{reason}");
            let mut subset = SubsetScorer::open(&nhsic, &design, &extent).unwrap();
            for feature in [2, 0, 3] {
                subset.add(feature).unwrap();
                let expected = nhsic.evaluate(&design, subset.selected()).unwrap().loss;
                assert!((subset.score().unwrap().loss - expected).abs() < 1e-12 * expected);
            }
        }
    }
}

/// More than 512 columns: a few are tried by single entries of Q, with the bits of whole columns.
#[test]
fn few_of_many_columns_are_tried_as_all_are() {
    let design = data::regression(20, 600, 3).design(&[1.0], true);
    let nhsic = Nhsic::default();
    let open = || SubsetScorer::open(&nhsic, &design, &SearchExtent::forward(design.features(), 4)).unwrap();
    let (mut few, mut all) = (open(), open());
    let every: Vec<usize> = (0..design.features()).collect();
    for feature in [7, 300, 599] {
        let scores = few.scores(Action::Add, &[11, 580]).unwrap();
        let all_scores = all.scores(Action::Add, &every).unwrap();
        assert_eq!(scores, [all_scores[11], all_scores[580]]);
        few.add(feature).unwrap();
        all.add(feature).unwrap();
        assert_eq!(few.score().unwrap(), all.score().unwrap());
    }
    let expected = nhsic.evaluate(&design, &[7, 300, 599]).unwrap().loss;
    assert!((few.score().unwrap().loss - expected).abs() < 1e-12 * expected);
}

/// Y = X₁·exp(X₂) + X₃ + 0.1·E; with `copies`, the second half of the columns are near-copies of the first.
fn synthetic(rows: usize, columns: usize, seed: u64, copies: bool) -> Design {
    let mut random = SplitMix64::new(seed);
    let mut x: Vec<Vec<f64>> =
        (0..if copies { columns / 2 } else { columns }).map(|_| (0..rows).map(|_| random.normal()).collect()).collect();
    for k in 0..if copies { columns / 2 } else { 0 } {
        let copy = x[k].iter().map(|v| v + 0.1 * random.normal()).collect();
        x.push(copy);
    }
    let y: Vec<f64> = (0..rows).map(|j| x[0][j] * x[1][j].exp() + x[2][j] + 0.1 * random.normal()).collect();
    design(&regression(&x, &y))
}

fn greedy(criterion: &Nhsic, design: &Design, steps: usize) -> Vec<usize> {
    let mut evaluator = open(criterion, design);
    for _ in 0..steps {
        let free: Vec<usize> = design.candidates().into_iter().filter(|f| !evaluator.selected().contains(f)).collect();
        let winner = evaluator.best(Action::Add, &free).unwrap().unwrap();
        evaluator.add(winner.feature).unwrap();
    }
    evaluator.selected().to_vec()
}

#[test]
fn it_finds_what_a_product_of_exponentials_depends_on() {
    for approximation in [Approximation::Exact, Approximation::Nystrom] {
        for copies in [false, true] {
            let design = synthetic(100, 200, 1, copies);
            let mut found = greedy(&with(approximation, Output::Auto, true), &design, 3);
            // A column or its near-copy, never both.
            found.iter_mut().filter(|f| copies && **f >= 100).for_each(|f| *f -= 100);
            found.sort_unstable();
            assert_eq!(found, [0, 1, 2], "{approximation:?}, copies {copies}");
        }
    }
}

/// Beyond 256 values, with heavy tails: the scores and the choice of exact kernels.
#[test]
fn levels_choose_the_columns_of_exact_kernels() {
    let level = with(Approximation::Levels, Output::Auto, true);
    let mut random = SplitMix64::new(4);
    let heavy: Vec<Vec<f64>> = (0..8).map(|_| (0..420).map(|_| random.normal() / random.uniform()).collect()).collect();
    let y: Vec<f64> = (0..420).map(|j| heavy[2][j].abs().ln() + 0.5 * heavy[5][j].atan()).collect();
    for design in [synthetic(420, 12, 3, true), design(&regression(&heavy, &y))] {
        let chosen = greedy(&level, &design, 4);
        assert_eq!(chosen, greedy(&exact(), &design, 4));
        let mut evaluator = open(&level, &design);
        evaluator.reset(&chosen).unwrap();
        let found = evaluator.score().unwrap().loss;
        assert!((found - level.evaluate(&design, &chosen).unwrap().loss).abs() < 1e-6);
        assert!((found - exact().evaluate(&design, &chosen).unwrap().loss).abs() < 1e-3);
    }
}

#[test]
fn coefficients_and_words_belong_to_the_subset() {
    let design = data::regression(30, 6, 2).design(&[1.0], true);
    let criterion = Nhsic::default();
    let mut evaluator = open(&criterion, &design);
    evaluator.reset(&[3, 0, 5]).unwrap();
    let alpha = evaluator.minimizer(evaluator.selected()).unwrap().unwrap();
    assert!(alpha.len() == 3 && alpha.iter().all(|a| *a >= 0.0));
    assert_eq!(evaluator.approximation(), Some("exact"));
    let many = data::regression(401, 3, 2).design(&[1.0], true);
    assert_eq!(open(&criterion, &many).approximation(), Some("levels"));
    let bound = open(&criterion, &design).lend().unwrap().bound(&[], &[0, 1, 2, 3, 4, 5], 6).unwrap();
    let all = criterion.evaluate(&design, &[0, 1, 2, 3, 4, 5]).unwrap().loss;
    assert!(bound <= all && bound > all - 1e-9);
}

#[test]
fn many_columns_reach_the_value_of_coordinate_descent() {
    for (recipe, tolerance) in
        [(data::regression(30, 20, 4), 1e-11), (data::regression(30, 20, 5).collinear(0.1), 1e-10)]
    {
        let design = recipe.duplicates(2).constants(1).design(&[1.0], true);
        let all: Vec<usize> = (0..design.features()).collect();
        for normalize in [true, false] {
            let criterion = with(Approximation::Exact, Output::Auto, normalize);
            let mut evaluator = open(&criterion, &design);
            evaluator.reset(&all).unwrap();
            let defined = criterion.evaluate(&design, &all).unwrap().loss;
            let found = evaluator.score().unwrap().loss;
            assert!((defined - found).abs() < tolerance * defined, "{found} is not {defined}");
        }
    }
}

#[test]
fn binned_is_the_old_word_of_levels() {
    for word in ["binned", "levels"] {
        let read: Nhsic = serde_json::from_str(&format!("{{\"kernel\": {{\"approximation\": \"{word}\"}}}}")).unwrap();
        assert_eq!(read.kernel.approximation, Approximation::Levels);
        assert!(serde_json::to_string(&read).unwrap().contains("\"approximation\":\"levels\""));
    }
}

#[test]
fn both_spellings_of_normalize_are_read() {
    for (spelling, value) in [("normalise", false), ("normalize", false), ("normalise", true)] {
        let read: Nhsic = serde_json::from_str(&format!("{{\"{spelling}\": {value}}}")).unwrap();
        assert_eq!(read.normalize, value, "{spelling}");
    }
    assert!(serde_json::from_str::<Nhsic>("{\"normalise\": true, \"normalize\": true}").is_err());
    let schema = serde_json::to_string(&vaglio_core::schemars::schema_for!(Nhsic)).unwrap();
    assert!(schema.contains("\"normalise\"") && schema.contains("\"normalize\""), "{schema}");
}

#[test]
fn what_has_no_meaning_is_refused() {
    let design = data::regression(20, 3, 2).design(&[1.0], true);
    let field = |criterion: &Nhsic, design: &Design| criterion.check(design).unwrap_err().field().map(str::to_owned);
    assert_eq!(field(&with(Approximation::Auto, Output::Delta, true), &design).as_deref(), Some("kernel.output"));
    for bandwidth in [0.0, -1.0, f64::NAN, 1e9] {
        let kernel = Kernel { bandwidth, ..Kernel::default() };
        assert_eq!(field(&Nhsic { kernel, normalize: true }, &design).as_deref(), Some("kernel.bandwidth"));
    }
    let kernel = Kernel { bandwidth: 0.4, approximation: Approximation::Levels, ..Kernel::default() };
    assert_eq!(field(&Nhsic { kernel, normalize: true }, &design).as_deref(), Some("kernel.bandwidth"));
    let mut sampled = Nhsic::default();
    sampled.kernel.output_approximation = OutputApproximation::Nystrom;
    for design in
        [data::binary(20, 3, 2).design(&[1.0], true), data::regression(20, 3, 2).outputs(2).design(&[1.0], true)]
    {
        assert_eq!(field(&sampled, &design).as_deref(), Some("kernel.output_approximation"));
    }
    for rows in [1, 5] {
        let x: Vec<f64> = (0..rows).map(|row| row as f64 + 0.5).collect();
        let constant = crate::design(&regression(&[x], &vec![2.0; rows]));
        assert_eq!(field(&Nhsic::default(), &constant).as_deref(), Some("kind"));
    }
}
