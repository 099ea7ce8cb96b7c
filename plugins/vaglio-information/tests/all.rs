//! The criterion keeps every law and matches its formulas.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what is wrong")]

use vaglio_core::{Criterion, Design, Feature, Readout, Score, SearchExtent};
use vaglio_information::{Information, InformationMeasure};
use vaglio_search::SubsetScorer;
use vaglio_testkit::{
    CriterionLaws, LawViolation, Tolerance, check_criterion, check_criterion_on_standard_data, data, on_one_thread,
    registry,
};

const MEASURES: [InformationMeasure; 6] = [
    InformationMeasure::Training,
    InformationMeasure::Gcv,
    InformationMeasure::Cp,
    InformationMeasure::Aic,
    InformationMeasure::Aicc,
    InformationMeasure::Bic,
];

fn information(measure: InformationMeasure) -> Information {
    // With few rows the full model has no variance estimate.
    Information { measure, variance: (measure == InformationMeasure::Cp).then_some(0.5) }
}

#[track_caller]
fn holds(measure: InformationMeasure, outcome: Result<(), LawViolation>) {
    if let Err(broken) = outcome {
        panic!("{}: {broken}", measure.word());
    }
}

#[test]
fn every_law_holds_on_the_standard_data() {
    let training = information(InformationMeasure::Training);
    holds(InformationMeasure::Training, on_one_thread(|| check_criterion_on_standard_data(&training, 1e-9)));
    for (measure, (_, design)) in
        MEASURES[1..].iter().flat_map(|&m| data::standard_designs().into_iter().map(move |d| (m, d)))
    {
        // The law needs finite scores, and AICc is infinite with too few rows.
        let is_short = measure == InformationMeasure::Aicc && design.rows() < design.features() + 4;
        if !is_short && information(measure).check(&design).is_ok() {
            holds(measure, on_one_thread(|| check_criterion(&information(measure), &design, 1e-9)));
        }
    }
}

#[test]
fn every_law_holds_on_columns_that_are_nearly_dependent() {
    for measure in MEASURES {
        let design = data::regression(30, 8, 1).weighted().condition(1e12).design(&[1e-6, 1.0], true);
        holds(measure, check_criterion(&information(measure), &design, 1e-9));
    }
}

/// Both indicator columns of two-level factors, which are redundant, plus others: standardized, or 0 and 1.
fn with_both_levels(is_standardized: bool, lambdas: &[f64]) -> Design {
    let problem = data::regression(40, 4, 9).problem();
    let mut columns: Vec<Vec<f64>> = problem.columns().iter().map(|column| column.values().into_owned()).collect();
    for step in [2, 3] {
        let level = |row: usize| f64::from(u8::from(row.is_multiple_of(step)));
        let own = |sign: f64| -> Vec<f64> {
            let (mean, one) = (40usize.div_ceil(step) as f64 / 40.0, if sign > 0.0 { 0.0 } else { 1.0 });
            let value = |row| if is_standardized { sign * (level(row) - mean) } else { one + sign * level(row) };
            (0..40).map(value).collect()
        };
        columns.extend([own(1.0), own(-1.0)]);
    }
    let views: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let targets: Vec<f64> =
        (0..40).map(|row| columns[0][row] + columns[4][row] + problem.targets()[[0, row]]).collect();
    let problem = data::given(&views, &[&targets], vaglio_core::Task::Regression).unwrap();
    Design::identity(&problem, Readout::new(lambdas.to_vec(), true).unwrap())
}

#[test]
fn dependent_columns_are_scored_and_bounded_as_by_the_definition() {
    for (measure, is_standardized) in MEASURES.iter().flat_map(|m| [(*m, true), (*m, false)]) {
        for lambda in [1e-8, 1e-4, 0.1] {
            let (criterion, design) = (information(measure), with_both_levels(is_standardized, &[lambda]));
            holds(measure, CriterionLaws::new(&criterion, &design, 1e-9).walk(60, 3));
            let extent = SearchExtent { start: 0, largest: 8, trials: 256.0, steps: 0 };
            let mut subset = SubsetScorer::open(&criterion, &design, &extent).unwrap();
            let all: Vec<Feature> = (0..8).collect();
            let bound = subset.lend().unwrap().bound(&[], &all, 8).unwrap();
            let score = |chosen: u32| {
                let members: Vec<Feature> = all.iter().copied().filter(|k| chosen >> k & 1 == 1).collect();
                criterion.evaluate(&design, &members).unwrap().loss
            };
            let lowest = (1..256).map(score).fold(f64::INFINITY, f64::min);
            assert!(bound <= lowest + 1e-9 * lowest.abs(), "{}: {bound} > {lowest}", measure.word());
            if measure == InformationMeasure::Training {
                // Without a penalty term the bound is nearly the error of all columns.
                assert!(bound > 0.9 * lowest, "{lambda}: {bound} and {lowest}");
            }
        }
    }
}

#[test]
fn long_walks_stay_on_the_definition() {
    for measure in MEASURES {
        let design = data::multiclass(30, 12, 3, 2).weighted().collinear(1e-3).design(&[0.01, 1.0], true);
        holds(measure, CriterionLaws::new(&information(measure), &design, 1e-9).walk(300, 3));
    }
}

#[test]
fn it_is_registered_and_written_as_it_is_read() {
    holds(InformationMeasure::Bic, registry::check_registry(&[]));
    let all = registry::every::<dyn Criterion>(&[]).unwrap();
    assert_eq!(all.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), ["information"]);
    assert_eq!(format!("{:?}", all[0].1), format!("{:?}", Information::default()));
}

/// The fit of one column without an intercept: w = Σ r x y/(Σ r x² + λ), d = Σ r x²/(Σ r x² + λ). N is 6, whatever the
/// sum of r.
#[test]
fn the_values_are_those_of_the_formulas() {
    let (x, y) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.2, 1.7, 3.3, 3.8, 5.1, 6.2]);
    for r in [[1.0; 6], [1.0, 2.0, 3.0, 1.0, 2.0, 3.0], [1e-3, 2e-3, 5e-4, 1e-3, 1e-3, 4e-3]] {
        let problem = data::given(&[&x], &[&y], vaglio_core::Task::Regression).unwrap();
        let problem = problem.with_weights(r.to_vec()).unwrap();
        let design = Design::identity(&problem, Readout::new(vec![2.0], false).unwrap());
        let sum = |term: &dyn Fn(usize) -> f64| (0..6).map(|j| r[j] * term(j)).sum::<f64>();
        let square = sum(&|j| x[j] * x[j]);
        let w = sum(&|j| x[j] * y[j]) / (square + 2.0);
        let error = sum(&|j| (y[j] - w * x[j]).powi(2)) / sum(&|_| 1.0);
        let d = square / (square + 2.0);
        let k = d + 1.0;
        for (measure, expected) in [
            (InformationMeasure::Training, error),
            (InformationMeasure::Gcv, error / (1.0 - d / 6.0).powi(2)),
            (InformationMeasure::Cp, error + 2.0 * 0.5 * d / 6.0),
            (InformationMeasure::Aic, 6.0 * error.ln() + 2.0 * k),
            (InformationMeasure::Aicc, 6.0 * error.ln() + 2.0 * k + 2.0 * k * (k + 1.0) / (6.0 - k - 1.0)),
            (InformationMeasure::Bic, 6.0 * error.ln() + k * 6f64.ln()),
        ] {
            let found = information(measure).evaluate(&design, &[0]).unwrap().loss;
            Tolerance { tolerance: 1e-13, least: 1e-3 }.assert(expected, found, measure.word());
        }
        // Without `variance`, Cp estimates it from the full model.
        let all = Information { measure: InformationMeasure::Cp, variance: None }.evaluate(&design, &[]).unwrap().loss;
        let empty = sum(&|j| y[j] * y[j]) / sum(&|_| 1.0);
        Tolerance { tolerance: 1e-13, least: 1e-3 }.assert(
            empty,
            all,
            "the empty subset, which has no degrees of freedom",
        );
    }
}

#[test]
fn what_a_measure_lacks_is_refused() {
    let design = data::regression(12, 30, 3).design(&[1e-9], true);
    let refused = |criterion: Information| criterion.check(&design).unwrap_err().to_string();
    let cp = Information { measure: InformationMeasure::Cp, variance: None };
    assert!(refused(cp).contains("30 columns leaves nothing of 12 rows"), "{}", refused(cp));
    assert!(
        refused(Information { measure: InformationMeasure::Bic, variance: Some(1.0) })
            .contains("`bic` needs no variance")
    );
    assert!(refused(Information { variance: Some(-1.0), ..cp }).contains("-1 is not a positive"));
}

/// A branch's bound is at most the score of each of its subsets.
#[test]
fn bounds_are_below_all_scores() {
    for (measure, rows, lambdas) in MEASURES.iter().flat_map(|m| [(*m, 20, [0.5, 8.0]), (*m, 5, [1e-3, 3.0])]) {
        let design = data::regression(rows, 7, 5).weighted().design(&lambdas, true);
        let criterion = information(measure);
        let extent = SearchExtent { start: 0, largest: 7, trials: 200.0, steps: 0 };
        let mut subset = SubsetScorer::open(&criterion, &design, &extent).unwrap();
        for (inside, later) in [(&[][..], &[0, 1, 2, 3, 4, 5, 6][..]), (&[2], &[3, 4, 6]), (&[1, 5], &[0, 6])] {
            subset.reset(inside).unwrap();
            let bound = subset.lend().unwrap().bound(inside, later, later.len()).unwrap();
            for chosen in 1..1u32 << later.len() {
                let with = |k: &usize| chosen >> k & 1 == 1;
                let members: Vec<Feature> =
                    inside.iter().copied().chain((0..later.len()).filter(with).map(|k| later[k])).collect();
                let Score { loss, .. } = criterion.evaluate(&design, &members).unwrap();
                assert!(bound <= loss + 1e-9 * loss.abs(), "{}: {bound} > {loss} of {members:?}", measure.word());
            }
        }
    }
}
