//! Folds of the rows.

use vaglio_kernels::Folds;

#[test]
fn rows_stand_fold_after_fold_and_train_the_others() {
    let folds = Folds::new(&[2, 0, 1, 0, 2]);
    assert_eq!((folds.count(), folds.rows()), (3, 5));
    assert_eq!(folds.order(), [1, 3, 2, 0, 4]);
    assert_eq!(folds.held_out(2), [0, 4]);
    assert_eq!(folds.training(1), [0, 1, 3, 4]);
    assert_eq!(Folds::new(&[1, 1]).held_out(0), [0usize; 0]);
}

#[test]
fn training_rows_that_are_set_are_those_of_the_fold() {
    // The second fold is predicted from the first, except its last row.
    let folds = Folds::new(&[2, 2, 0, 0, 1, 1]).training_on(&[vec![0, 1], vec![1, 2]]);
    assert_eq!((folds.training(0), folds.training(1)), (vec![0, 1], vec![1, 2]));
    assert_eq!((folds.held_out(0), folds.held_out(1)), (&[2, 3][..], &[4, 5][..]));
    assert!(!folds.train_on_all_others() && folds.training(2).is_empty());
}

#[test]
fn folds_that_are_not_held_out_are_trained_on() {
    let folds = Folds::new(&[1, 0, 2, 1]).holding_out(2);
    assert_eq!((folds.count(), folds.count_held_out(), folds.is_partition()), (3, 2, false));
    assert_eq!((folds.rows_held_out(), folds.least_training()), (vec![0, 1, 3], 2));
    let each: Vec<Folds> = folds.each_fold().collect();
    assert_eq!((each[0].held_out(0), each[1].held_out(0)), (&[1][..], &[0, 3][..]));
    assert!(each.iter().all(|alone| alone.count() == 2 && alone.count_held_out() == 1));
}
