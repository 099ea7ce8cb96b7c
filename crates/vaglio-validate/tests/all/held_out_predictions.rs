//! Predictions of held-out rows, against plain retraining.

use ndarray::Array2;
use vaglio_core::{Criterion, Design, Feature, HeldOut, PerFoldPreprocessing};
use vaglio_testkit::data;
use vaglio_validate::splits::{Forward, Repeated};
use vaglio_validate::{KFold, predicted_held_out};

/// Predicts held-out rows by a plain loop over folds or rows.
fn by_hand(design: &Design, held_out: &HeldOut, subset: &[Feature], lambda: f64) -> (Vec<usize>, Array2<f64>) {
    let folds: Vec<(Vec<usize>, Vec<usize>)> = match held_out {
        HeldOut::Nothing => Vec::new(),
        HeldOut::EachRow => {
            let others = |row: usize| (0..design.rows()).filter(|&other| other != row).collect();
            (0..design.rows()).map(|row| (others(row), vec![row])).collect()
        }
        HeldOut::Folds(rounds) => {
            let split = |fold: usize| (rounds[0].training(fold), rounds[0].held_out(fold).collect());
            (0..rounds[0].count()).map(split).collect()
        }
    };
    let mut all: Vec<(usize, Vec<f64>)> = Vec::new();
    for (training, held) in folds {
        let predicted = design.retrain(&training, &held, subset, Some(lambda)).unwrap();
        all.extend(held.into_iter().zip(predicted.columns().into_iter().map(|column| column.to_vec())));
    }
    all.sort_by_key(|(row, _)| *row);
    let predictions = Array2::from_shape_fn((design.targets().nrows(), all.len()), |(o, at)| all[at].1[o]);
    (all.into_iter().map(|(row, _)| row).collect(), predictions)
}

fn check(design: &Design, held_out: &HeldOut) {
    for subset in [&[][..], &[4, 0, 2]] {
        let found = predicted_held_out(design, held_out, subset, Some(0.7)).unwrap().unwrap();
        let (rows, expected) = by_hand(design, held_out, subset, 0.7);
        assert_eq!(found.rows, rows);
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-10;
        assert!(found.predictions.iter().zip(&expected).all(is_near), "{} {expected}", found.predictions);
    }
}

#[test]
fn rows_left_out_are_predicted_as_by_plain_retraining() {
    let recipes = [
        data::regression(30, 6, 1).outputs(2),
        data::regression(30, 6, 2).weighted(),
        data::binary(30, 6, 3).weighted(),
        data::binary(30, 6, 4).weighted().balanced(),
    ];
    for recipe in recipes {
        for design in [recipe.design(&[0.7], true), recipe.design(&[0.7], false)] {
            check(&design, &HeldOut::EachRow);
        }
    }
}

#[test]
fn folds_are_predicted_as_by_a_plain_loop() {
    let recipes = [
        data::regression(30, 6, 1).outputs(2),
        data::binary(30, 6, 3).weighted(),
        data::binary(30, 6, 4).weighted().balanced(),
    ];
    let criteria = [
        KFold { folds: Some(4), shuffle: true, ..KFold::default() },
        KFold { folds: Some(15), shuffle: true, ..KFold::default() },
        KFold::with_splits(Repeated { folds: 3, repeats: 2 }),
        KFold::with_splits(Forward { folds: 3, ..Forward::default() }),
    ];
    for recipe in recipes {
        for standardize in [false, true] {
            let design = recipe.design(&[0.7], true);
            let is_balanced = design.readout().is_some_and(|readout| readout.balanced);
            let in_folds = if standardize && !is_balanced {
                PerFoldPreprocessing::standardize()
            } else {
                PerFoldPreprocessing::default()
            };
            let design = design.with_problem(|problem| problem.with_preprocessing(in_folds));
            for criterion in &criteria {
                // Folds that lack a class are refused.
                if let Ok(held_out) = criterion.folds(&design) {
                    check(&design, &held_out);
                }
            }
        }
    }
}
