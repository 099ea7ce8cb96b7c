//! Losses that the kernels have no way of their own for: every engine that holds rows out takes them.

use ndarray::{Array2, ArrayView2};
use vaglio::core::{
    Absolute, Auc, BalancedError, BalancedSquared, Concordance, Criterion, Huber, LogLoss, Loss, LossTraits, Measure,
    Part, Pinball, RowLabels, SearchExtent, Squared, ZeroOne, part,
};
use vaglio::criteria::{Engine, KFold, Loo};
use vaglio::search::SubsetScorer;
use vaglio_testkit::data;
use vaglio_testkit::{LawViolation, check_criterion};

/// √ of the mean squared error: of all rows together.
#[part(Loss, "root_squared", summary = "root of the mean squared error")]
pub struct RootSquared {}

impl Loss for RootSquared {
    fn mean(&self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
        Squared.mean(targets, predictions, weights).sqrt()
    }

    fn traits(&self) -> LossTraits {
        LossTraits { measure: Measure::Whole, ..LossTraits::default() }
    }
}

/// Mean over rows of |e|³, added up over outputs.
#[part(Loss, "cubed", summary = "mean of cubed errors")]
struct Cubed {}

impl Loss for Cubed {
    fn row_loss(&self, targets: &[f64], predictions: &[f64]) -> f64 {
        targets.iter().zip(predictions).map(|(y, p)| (y - p).abs().powi(3)).sum()
    }
}

/// Losses of classes; `auc` is for two.
pub fn all() -> Vec<Part<dyn Loss>> {
    let known = [Squared.into(), Absolute.into(), ZeroOne.into(), BalancedError.into(), Auc.into()];
    let known = known.into_iter().chain([BalancedSquared.into()]);
    known.chain([Huber { delta: 0.5 }.into(), LogLoss::default().into(), RootSquared {}.into()]).collect()
}

/// Losses of two classes, or of more.
pub fn of_classes(are_two: bool) -> impl Iterator<Item = Part<dyn Loss>> {
    all().into_iter().filter(move |loss| are_two || loss.traits().measure != Measure::Auc)
}

fn number_losses() -> [Part<dyn Loss>; 5] {
    [
        Concordance.into(),
        Huber { delta: 0.3 }.into(),
        Pinball { quantile: 0.8 }.into(),
        Cubed {}.into(),
        RootSquared {}.into(),
    ]
}

/// Losses meet every other design in turn; with `VAGLIO_CASES=all`, all.
#[test]
fn engines_agree_with_the_definition() -> Result<(), LawViolation> {
    crate::on_one_thread(|| {
        let recipes = [
            data::regression(22, 6, 71),
            data::regression(22, 6, 72).weighted().outputs(2).bytes(),
            data::regression(9, 12, 73),
            data::regression(24, 6, 74).collinear(1e-4).duplicates(1),
        ];
        let cases = recipes.iter().flat_map(|recipe| number_losses().map(|loss| (recipe, loss)));
        for (recipe, loss) in cases.step_by(crate::stride(2)) {
            let within = |broken: LawViolation| broken.within(loss.kind());
            let design = recipe.design(&[1e-3, 1.0], true);
            check_criterion(&Loo { loss: loss.clone(), ..Loo::default() }, &design, 1e-9).map_err(within)?;
            for engine in [Engine::Auto, Engine::RowsHeldOut] {
                let folds = KFold { folds: Some(4), loss: loss.clone(), engine, ..KFold::default() };
                check_criterion(&folds, &design, 1e-9).map_err(within)?;
            }
        }
        Ok(())
    })
}

#[test]
fn targets_of_any_unit_are_seen_as_they_are() {
    for exponent in [-180, 180] {
        let unit = 2f64.powi(exponent);
        let problem = data::regression(20, 5, 75).weighted().problem();
        let problem = problem.with_targets(problem.targets().mapv(|y| y * unit)).unwrap();
        let design = vaglio::core::Design::identity(&problem, vaglio::core::Readout::new(vec![0.1], true).unwrap());
        for loss in [Part::<dyn Loss>::from(Huber { delta: 0.3 * unit }), RootSquared {}.into()] {
            let criteria: [&dyn Criterion; 2] =
                [&Loo { loss: loss.clone(), ..Loo::default() }, &KFold { folds: Some(4), loss, ..KFold::default() }];
            for criterion in criteria {
                let expected = by_hand(criterion, &design);
                let mut subset = SubsetScorer::open(criterion, &design, &SearchExtent::forward(5, 3)).unwrap();
                subset.add(1).unwrap();
                let found = subset.score().unwrap().loss;
                assert!((found / expected - 1.0).abs() < 1e-9, "{criterion:?}: {found:e}, not {expected:e}");
                assert!((criterion.evaluate(&design, &[1]).unwrap().loss / expected - 1.0).abs() < 1e-12);
            }
        }
    }
}

/// The loss of the second column by retraining in the units of the data.
fn by_hand(criterion: &dyn Criterion, design: &vaglio::core::Design) -> f64 {
    let rows = design.rows();
    let folds: Vec<Vec<usize>> = match criterion.folds(design).unwrap() {
        vaglio::core::HeldOut::Folds(rounds) => (0..4).map(|fold| rounds[0].held_out(fold).collect()).collect(),
        _ => (0..rows).map(|row| vec![row]).collect(),
    };
    let mut predictions = Array2::zeros((1, rows));
    for held_out in folds {
        let training: Vec<usize> = (0..rows).filter(|row| !held_out.contains(row)).collect();
        let predicted = design.retrain(&training, &held_out, &[1], None).unwrap();
        held_out.iter().zip(predicted.row(0)).for_each(|(&row, p)| predictions[[0, row]] = *p);
    }
    criterion.traits().loss.unwrap().mean(design.targets(), predictions.view(), design.weights())
}

#[test]
fn losses_are_written_as_they_are_read() {
    for text in ["\"squared\"", "\"auc\"", "{\"kind\":\"huber\",\"delta\":2.5}", "\"root_squared\""] {
        let loss: Part<dyn Loss> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&loss).unwrap(), text);
    }
    let huber: Part<dyn Loss> = serde_json::from_str("\"huber\"").unwrap();
    assert_eq!(huber, Huber::default().into());
    assert_ne!(huber, Huber { delta: 1.0 }.into());
    for (text, expected) in [
        ("\"hubber\"", "hubber"),
        ("{\"kind\":\"squared\",\"delta\":1.0}", "trailing"),
        ("{\"kind\":\"huber\",\"dleta\":1.0}", "dleta"),
        ("3", "a loss"),
    ] {
        let error = serde_json::from_str::<Part<dyn Loss>>(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

/// Designs have an intercept or none in turn; with `VAGLIO_CASES=all`, both.
#[test]
fn classes_count_alike_by_their_squares_in_every_engine() -> Result<(), LawViolation> {
    crate::on_one_thread(|| {
        let recipes = [
            data::binary(30, 6, 81).skewed(),
            data::binary(30, 6, 82).skewed().weighted().duplicates(1),
            data::binary(14, 18, 83).weighted(),
            data::multiclass(40, 6, 4, 84).skewed().weighted(),
            data::binary(30, 6, 85).skewed().weighted().balanced(),
            data::multiclass(45, 6, 3, 86).skewed().balanced(),
        ];
        for (turn, recipe) in recipes.into_iter().enumerate() {
            let step = crate::stride(2);
            for intercept in [true, false].into_iter().skip(turn % step).step_by(step) {
                let design = recipe.design(&[1e-3, 1.0], intercept);
                check_criterion(&Loo { loss: BalancedSquared.into(), ..Loo::default() }, &design, 1e-10)?;
                for engine in [Engine::Auto, Engine::Moments, Engine::RowsHeldOut] {
                    let folds = KFold { stratified: true, ..KFold::new(3).loss(BalancedSquared).engine(engine) };
                    check_criterion(&folds, &design, 1e-10).map_err(|broken| broken.within(&format!("{engine:?}")))?;
                }
            }
        }
        Ok(())
    })
}

/// A fold of one class alone, whose rows weigh in the mean of that class; the classes of all rows held out count.
#[test]
fn folds_may_lack_a_class() {
    let problem = data::binary(24, 5, 91).weighted().problem();
    let positive: Vec<bool> = problem.targets().row(0).iter().map(|y| *y > 0.0).collect();
    // The first fold holds rows of one class; both are trained on everywhere.
    let mut first = positive.iter().enumerate().filter(|(_, is)| **is).map(|(row, _)| row);
    let alone = [first.next().unwrap(), first.next().unwrap()];
    let folds: Vec<u32> = (0..24).map(|row| if alone.contains(&row) { 0 } else { 1 + row as u32 % 3 }).collect();
    let labels = RowLabels { assignment: Some(folds.clone().into()), ..problem.labels().clone() };
    let problem = problem.with_labels(labels).unwrap();
    let readout = vaglio::core::Readout::new(vec![0.5], true).unwrap();
    let design = vaglio::core::Design::identity(&problem, readout);
    let weight = |row: usize| problem.weights().map_or(1.0, |w| w[row]);
    let mut squares = [0.0; 2];
    let mut weights = [0.0; 2];
    for fold in 0..4 {
        let (held, training): (Vec<usize>, Vec<usize>) = (0..24).partition(|&row| folds[row] == fold);
        let predicted = design.retrain(&training, &held, &[1, 3], Some(0.5)).unwrap();
        for (&row, p) in held.iter().zip(predicted.row(0)) {
            let class = usize::from(positive[row]);
            squares[class] += weight(row) * (problem.targets()[[0, row]] - p).powi(2);
            weights[class] += weight(row);
        }
    }
    let expected = 0.5 * (squares[0] / weights[0] + squares[1] / weights[1]);
    for engine in [Engine::Moments, Engine::RowsHeldOut] {
        let criterion = KFold { assignment: Some("fold".into()), engine, ..KFold::default().loss(BalancedSquared) };
        criterion.check(&design).unwrap();
        let mut subset = SubsetScorer::open(&criterion, &design, &SearchExtent::forward(5, 3)).unwrap();
        [1, 3].into_iter().for_each(|feature| subset.add(feature).unwrap());
        let found = subset.score().unwrap().loss;
        assert!((found / expected - 1.0).abs() < 1e-10, "{engine:?}: {found}, not {expected}");
    }
    for loss in [BalancedSquared.into(), Part::<dyn Loss>::from(BalancedError)] {
        let regression = data::regression(20, 4, 5).design(&[1.0], true);
        let error = Loo { loss, ..Loo::default() }.check(&regression).unwrap_err();
        assert!(error.to_string().contains("the task is regression"), "{error}");
    }
}
