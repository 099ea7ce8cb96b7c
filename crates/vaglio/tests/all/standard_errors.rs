//! Standard errors of losses against rows, or folds, that are left out of plain predictions.

use ndarray::{Array2, Axis};
use vaglio::criteria::{Engine, KFold, Loo};
use vaglio_core::{Auc, BalancedError, Criterion, Design, HeldOut, Loss, Part, SearchExtent};
use vaglio_search::SubsetScorer;
use vaglio_testkit::data;

fn found(criterion: &dyn Criterion, design: &Design, subset: &[usize]) -> f64 {
    let extent = SearchExtent::forward(design.features(), design.features());
    let mut evaluator = SubsetScorer::open(criterion, design, &extent).unwrap();
    evaluator.reset(subset).unwrap();
    evaluator.standard_error().unwrap().unwrap()
}

/// Every row predicted by a readout of the rows of other folds.
fn predictions(design: &Design, folds: &[Vec<usize>], subset: &[usize]) -> Array2<f64> {
    let mut all = Array2::zeros(design.targets().dim());
    for held_out in folds {
        let others: Vec<usize> = (0..design.rows()).filter(|row| !held_out.contains(row)).collect();
        let predicted = design.retrain(&others, held_out, subset, design.lambdas()[0]).unwrap();
        held_out.iter().zip(predicted.columns()).for_each(|(&row, of_row)| all.column_mut(row).assign(&of_row));
    }
    all
}

fn near(found: f64, expected: f64, what: &str) {
    assert!(expected > 0.0 && (found - expected).abs() <= 1e-9 * expected, "{what}: {found} is not {expected}");
}

#[test]
fn leaving_one_out_has_the_standard_error_of_its_predictions() {
    let two = data::binary(25, 5, 71).skewed();
    let three = data::multiclass(27, 5, 3, 72).skewed();
    for (recipe, is_binary) in
        [(two.clone(), true), (two.weighted(), true), (three.clone(), false), (three.weighted(), false)]
    {
        let design = recipe.design(&[0.3], true);
        let rows: Vec<Vec<usize>> = (0..design.rows()).map(|row| vec![row]).collect();
        let predicted = predictions(&design, &rows, &[0, 3]);
        for loss in crate::losses::of_classes(is_binary) {
            let expected = loss.standard_error(design.targets(), predicted.view(), design.weights(), None).unwrap();
            near(
                found(&Loo { loss: loss.clone(), ..Loo::default() }, &design, &[0, 3]),
                expected,
                &format!("{loss:?}"),
            );
        }
    }
}

#[test]
fn folds_have_the_jackknife_of_pooled_losses() {
    for recipe in [data::binary(25, 5, 73).skewed(), data::binary(26, 5, 74).weighted()] {
        let design = recipe.design(&[0.3], true);
        for loss in [Part::<dyn Loss>::from(BalancedError), Auc.into()] {
            for engine in [Engine::Auto, Engine::RowsHeldOut] {
                let criterion =
                    KFold { folds: Some(4), stratified: true, loss: loss.clone(), engine, ..KFold::default() };
                let HeldOut::Folds(rounds) = criterion.folds(&design).unwrap() else { panic!("folds") };
                let of_row = rounds[0].fold_of_rows();
                let members =
                    |fold: u32| (0..of_row.len()).filter(|&row| of_row[row] == Some(fold)).collect::<Vec<_>>();
                let folds: Vec<Vec<usize>> = (0..4).map(members).collect();
                let predicted = predictions(&design, &folds, &[1, 2]);
                let without = |gone: &Vec<usize>| {
                    let left: Vec<usize> = (0..design.rows()).filter(|row| !gone.contains(row)).collect();
                    let weights: Option<Vec<f64>> = design.weights().map(|w| left.iter().map(|&row| w[row]).collect());
                    let (targets, predicted) =
                        (design.targets().select(Axis(1), &left), predicted.select(Axis(1), &left));
                    loss.mean(targets.view(), predicted.view(), weights.as_deref())
                };
                let losses: Vec<f64> = folds.iter().map(without).collect();
                let mean = losses.iter().sum::<f64>() / 4.0;
                let expected = (0.75 * losses.iter().map(|l| (l - mean).powi(2)).sum::<f64>()).sqrt();
                near(found(&criterion, &design, &[1, 2]), expected, &format!("{loss:?} by {engine:?}"));
            }
        }
    }
}
