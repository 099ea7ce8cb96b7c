//! Normalized Hilbert–Schmidt independence against its definition.

use vaglio::core::{Action, Columns, Criterion, Design, Problem, Readout, SearchExtent, Task};
use vaglio::criteria::{Approximation, Kernel, Nhsic, Output, OutputApproximation};
use vaglio::search::{SubsetScorer, plan_geometry};
use vaglio_testkit::{CriterionLaws, LawResult, SplitMix64, check_criterion, check_criterion_on_standard_data, data};

fn with(approximation: Approximation, output: Output, normalize: bool) -> Nhsic {
    Nhsic { kernel: Kernel { approximation, output, ..Kernel::default() }, normalize }
}

fn exact() -> Nhsic {
    with(Approximation::Exact, Output::Auto, true)
}

fn all_columns(design: &Design) -> SearchExtent {
    SearchExtent::forward(design.features(), design.features())
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
    let columns: Vec<&[f64]> = x.iter().map(Vec::as_slice).collect();
    let problem = data::given(&columns, &[&y], Task::Regression).unwrap();
    Design::identity(&problem, Readout::new(vec![1.0], true).unwrap())
}

fn greedy(criterion: &Nhsic, design: &Design, steps: usize) -> Vec<usize> {
    let mut evaluator = criterion.open_for(design);
    for _ in 0..steps {
        let free: Vec<usize> = design.candidates().into_iter().filter(|f| !evaluator.selected().contains(f)).collect();
        let winner = evaluator.best(Action::Add, &free).unwrap().unwrap();
        evaluator.add(winner.feature).unwrap();
    }
    evaluator.selected().to_vec()
}

trait Open {
    fn open_for<'d>(&'d self, design: &'d Design) -> SubsetScorer<'d>;
}

impl Open for Nhsic {
    fn open_for<'d>(&'d self, design: &'d Design) -> SubsetScorer<'d> {
        SubsetScorer::open(self, design, &all_columns(design)).unwrap()
    }
}

#[test]
fn the_laws_hold_on_standard_data() -> LawResult {
    crate::on_one_thread(|| {
        // `conformance.rs` has the default.
        for (approximation, normalize, tolerance) in [
            (Approximation::Auto, false, 1e-9),
            (Approximation::Nystrom, true, 1e-9),
            (Approximation::Nystrom, false, 1e-9),
            (Approximation::Levels, true, 1e-6),
            (Approximation::Levels, false, 1e-6),
        ] {
            let name = format!("{approximation:?}, normalize {normalize}");
            check_criterion_on_standard_data(&with(approximation, Output::Auto, normalize), tolerance)
                .map_err(|b| b.within(&name))?;
        }
        Ok(())
    })
}

#[test]
fn a_sampled_target_keeps_the_laws_and_is_near_the_exact_one() -> LawResult {
    for approximation in [Approximation::Exact, Approximation::Nystrom] {
        let exact = with(approximation, Output::Gaussian, true);
        let mut sampled = exact.clone();
        sampled.kernel.output_approximation = OutputApproximation::Nystrom;
        check_criterion_on_standard_data(&sampled, 1e-9)?;
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
fn threads_change_no_bit_of_any_kernel() -> LawResult {
    let design = data::regression(120, 40, 9).weighted().duplicates(3).design(&[1.0], true);
    CriterionLaws::new(&with(Approximation::Levels, Output::Auto, true), &design, 0.0).threads()?;
    CriterionLaws::new(&with(Approximation::Nystrom, Output::Auto, false), &design, 0.0).threads()
}

/// Both levels of a word are one kernel, which single precision must not take for two.
#[test]
fn by_levels_a_column_and_its_mirror_image_are_copies() {
    let mut random = SplitMix64::new(11);
    let is_one: Vec<f64> = (0..5000).map(|_| f64::from(u8::from(random.uniform() < 0.07))).collect();
    let other: Vec<f64> = is_one.iter().map(|x| 1.0 - x).collect();
    let third: Vec<f64> = (0..5000).map(|_| random.normal()).collect();
    let y: Vec<f64> = is_one.iter().zip(&third).map(|(a, b)| a + 0.1 * b).collect();
    let problem = data::given(&[&is_one, &third, &other], &[&y], Task::Regression).unwrap();
    let design = Design::identity(&problem, Readout::new(vec![1.0], true).unwrap());
    let criterion = with(Approximation::Levels, Output::Auto, true);
    let geometry = plan_geometry(&criterion, &design);
    let (first, last) = (geometry.gram(0).unwrap(), geometry.gram(2).unwrap());
    assert_eq!((first[2], last[0]), ((first[0] * last[2]).sqrt(), (first[0] * last[2]).sqrt()));
    assert!(first[1] < 0.1);
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

#[test]
fn a_weight_is_the_row_repeated() {
    let times: Vec<usize> = (0..20).map(|j| 1 + j % 3).collect();
    let repeated: Vec<usize> = (0..20).flat_map(|j| std::iter::repeat_n(j, times[j])).collect();
    let rows: Vec<usize> = (0..20).collect();
    for problem in [data::regression(20, 5, 3).problem(), data::multiclass(21, 5, 3, 4).problem().select_rows(&rows)] {
        let readout = || Readout::new(vec![1.0], true).unwrap();
        let weights: Vec<f64> = times.iter().map(|&t| t as f64).collect();
        let weighted = Design::identity(&problem.clone().with_weights(weights).unwrap(), readout());
        let plain = Design::identity(&problem.select_rows(&repeated), readout());
        for approximation in [Approximation::Exact, Approximation::Nystrom] {
            for normalize in [true, false] {
                let criterion = with(approximation, Output::Auto, normalize);
                let (mut a, mut b) = (criterion.open_for(&weighted), criterion.open_for(&plain));
                for subset in [&[][..], &[1], &[0, 3], &[4, 2, 1, 0, 3]] {
                    a.reset(subset).unwrap();
                    b.reset(subset).unwrap();
                    let (a, b) = (a.score().unwrap().loss, b.score().unwrap().loss);
                    assert!((a - b).abs() < 1e-11 * b.max(1e-3), "{a} is not {b}");
                }
            }
        }
    }
}

#[test]
fn least_angle_searches_get_the_inner_products_of_the_score() {
    let design = data::regression(30, 6, 2).constants(1).design(&[1.0], true);
    let criterion = exact();
    let geometry = plan_geometry(&criterion, &design);
    assert!(!geometry.is_linear());
    let c = geometry.relevances().unwrap().swap_remove(0);
    assert_eq!(c[6], 0.0);
    for i in 0..6 {
        // One column alone: α = c and the value is 1 − c².
        let score = criterion.evaluate(&design, &[i]).unwrap().loss;
        assert!((score - (1.0 - c[i] * c[i])).abs() < 1e-11);
        let q = geometry.gram(i).unwrap();
        assert_eq!((q[i], q[6]), (1.0, 0.0));
        for j in (0..6).filter(|j| *j != i) {
            // Two columns by Cramer's rule, where both enter.
            let (a, b, r) = (c[i], c[j], q[j]);
            if a > r * b && b > r * a {
                let two = 1.0 - (a * a - 2.0 * r * a * b + b * b) / (1.0 - r * r);
                assert!((criterion.evaluate(&design, &[i, j]).unwrap().loss - two).abs() < 1e-10);
            }
        }
    }
}

#[test]
fn coefficients_and_words_belong_to_the_subset() {
    let design = data::regression(30, 6, 2).design(&[1.0], true);
    let criterion = Nhsic::default();
    let mut evaluator = criterion.open_for(&design);
    evaluator.reset(&[3, 0, 5]).unwrap();
    let alpha = evaluator.minimizer(evaluator.selected()).unwrap().unwrap();
    assert!(alpha.len() == 3 && alpha.iter().all(|a| *a >= 0.0));
    assert_eq!(evaluator.approximation(), Some("exact"));
    let many = data::regression(401, 3, 2).design(&[1.0], true);
    assert_eq!(criterion.open_for(&many).approximation(), Some("levels"));
    let bound = criterion.open_for(&design).lend().unwrap().bound(&[], &[0, 1, 2, 3, 4, 5], 6).unwrap();
    let all = criterion.evaluate(&design, &[0, 1, 2, 3, 4, 5]).unwrap().loss;
    assert!(bound <= all && bound > all - 1e-9);
}

/// Beyond 256 values, with heavy tails: the scores and the choice of exact kernels.
#[test]
fn levels_choose_the_columns_of_exact_kernels() {
    let level = with(Approximation::Levels, Output::Auto, true);
    let design = synthetic(420, 12, 3, true);
    let mut random = SplitMix64::new(4);
    let heavy: Vec<Vec<f64>> = (0..8).map(|_| (0..420).map(|_| random.normal() / random.uniform()).collect()).collect();
    let y: Vec<f64> = (0..420).map(|j| heavy[2][j].abs().ln() + 0.5 * heavy[5][j].atan()).collect();
    let columns: Vec<&[f64]> = heavy.iter().map(Vec::as_slice).collect();
    let problem = data::given(&columns, &[&y], Task::Regression).unwrap();
    for design in [design, Design::identity(&problem, Readout::new(vec![1.0], true).unwrap())] {
        let chosen = greedy(&level, &design, 4);
        assert_eq!(chosen, greedy(&exact(), &design, 4));
        let mut evaluator = level.open_for(&design);
        evaluator.reset(&chosen).unwrap();
        let found = evaluator.score().unwrap().loss;
        assert!((found - level.evaluate(&design, &chosen).unwrap().loss).abs() < 1e-6);
        assert!((found - exact().evaluate(&design, &chosen).unwrap().loss).abs() < 1e-3);
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
    let schema = serde_json::to_string(&vaglio::core::schemars::schema_for!(Nhsic)).unwrap();
    assert!(schema.contains("\"normalise\"") && schema.contains("\"normalize\""), "{schema}");
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
            let mut evaluator = criterion.open_for(&design);
            evaluator.reset(&all).unwrap();
            let defined = criterion.evaluate(&design, &all).unwrap().loss;
            let found = evaluator.score().unwrap().loss;
            assert!((defined - found).abs() < tolerance * defined, "{found} is not {defined}");
        }
    }
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
    let given = |rows: usize, y: f64| {
        let mut columns = Columns::new(rows);
        columns.push((0..rows).map(|j| j as f64 + 0.5).collect::<Vec<_>>());
        let targets = ndarray::Array2::from_elem((1, rows), y);
        let problem = Problem::new(columns, vec!["x".into()], targets, vec!["y".into()], Task::Regression).unwrap();
        Design::identity(&problem, Readout::new(vec![1.0], true).unwrap())
    };
    assert_eq!(field(&Nhsic::default(), &given(1, 2.0)).as_deref(), Some("kind"));
    assert_eq!(field(&Nhsic::default(), &given(5, 2.0)).as_deref(), Some("kind"));
}
