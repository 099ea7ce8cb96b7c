//! Seeded data are reproducible and match their recipe.

use vaglio_core::{Column, Task};
use vaglio_testkit::{data, design_copies};

fn norm(column: Column<'_>) -> f64 {
    column.values().iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[test]
fn equal_recipes_give_equal_bits() {
    let recipe = || data::regression(9, 4, 5).weighted().groups(3).outputs(2).problem();
    let (a, b) = (recipe(), recipe());
    assert_eq!(a.targets(), b.targets());
    assert_eq!(a.weights(), b.weights());
    assert_eq!(a.columns().column(3).values(), b.columns().column(3).values());
    // The first number is a constant of the generator: a change would alter every seeded test.
    assert_eq!(vaglio_testkit::SplitMix64::new(0).bits(), 0xe220_a839_7b1d_cdaf);
}

#[test]
fn copies_constants_and_bytes_are_there() {
    let design = data::regression(12, 5, 6).duplicates(2).constants(2).bytes().design(&[1.0], true);
    assert_eq!(data::duplicates(&design), [vec![0, 6], vec![1, 5]]);
    assert_eq!(design.problem().constant(), [7, 8]);
    assert!(matches!(design.column(1), Column::Byte(_)) && matches!(design.column(0), Column::Double(_)));
}

#[test]
fn condition_is_the_ratio_of_the_columns() {
    let design = data::regression(200, 5, 6).condition(1e12).design(&[1.0], true);
    let ratio = norm(design.column(0)) / norm(design.column(4));
    assert!((0.5e12..2e12).contains(&ratio), "{ratio:e}");
}

#[test]
fn collinear_columns_are_that_close() {
    let design = data::regression(200, 4, 6).collinear(1e-3).design(&[1.0], true);
    let (a, b) = (design.column(2), design.column(3));
    let distance = a.values().iter().zip(b.values().iter()).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    assert!((0.5e-3..2e-3).contains(&(distance / norm(a))), "{distance:e}");
}

#[test]
fn classes_and_groups_are_all_there() {
    let problem = data::multiclass(11, 3, 3, 7).groups(4).problem();
    assert!(matches!(problem.task(), Task::Multiclass { labels } if labels.len() == 3));
    for output in problem.targets().rows() {
        assert!(output.iter().filter(|y| **y == 1.0).count() >= 3);
        assert!(output.iter().all(|y| y.abs() == 1.0));
    }
    let groups = problem.groups().unwrap();
    assert!((0..4).all(|g| groups.contains(&g)));
}

#[test]
fn whole_weights_say_how_often_rows_are_repeated() {
    let (weighted, repeated) = design_copies::whole_weights(&data::binary(8, 3, 1).weighted().problem()).unwrap();
    assert_eq!(weighted.weights().unwrap().iter().sum::<f64>() as usize, repeated.rows());
    assert!(repeated.weights().is_none() && repeated.rows() > weighted.rows());
    assert_eq!(repeated.targets()[[0, repeated.rows() - 1]], weighted.targets()[[0, 7]]);
}

#[test]
fn few_rows_keep_every_class() {
    let problem = design_copies::wide(&data::multiclass(30, 8, 3, 2).problem());
    assert_eq!(problem.rows(), 4);
    assert!(problem.targets().rows().into_iter().all(|output| output.iter().any(|y| *y == 1.0)));
}
