use vaglio_core::{Round, Split};

#[test]
fn splits_that_share_no_row_are_one_round() {
    let folds = [vec![0, 1], vec![2], vec![1, 2], vec![0]].map(Split::holding_out);
    let rounds = Round::from_splits(3, folds.to_vec()).unwrap();
    let expected = [[Some(0), Some(0), Some(1)], [Some(1), Some(0), Some(0)]].map(|round| Round::new(round.to_vec()));
    assert_eq!(rounds, expected);
    assert_eq!(rounds[0].training(1), [0, 1]);
    assert_eq!(rounds[0].sizes(), [2, 1]);
}

#[test]
fn what_is_predicted_from_rows_of_its_own_is_a_round_by_itself() {
    let later = |row: usize| Split::holding_out(vec![row]).training_on((0..row).rev().collect());
    let rounds = Round::from_splits(4, vec![later(1), later(2), Split::holding_out(vec![0])]).unwrap();
    assert_eq!(rounds.len(), 2);
    assert_eq!(rounds[0].trainings().unwrap(), [vec![0], vec![0, 1]]);
    assert_eq!(rounds[0].fold_of_rows(), [None, Some(0), Some(1), None]);
    // All other rows.
    assert_eq!(Round::from_splits(4, vec![later(3)]).unwrap()[0].trainings(), None);
}

#[test]
fn splits_that_cannot_be_say_which_and_why() {
    let refused = |split: Split| Round::from_splits(3, vec![split]).unwrap_err().to_string();
    assert!(refused(Split::holding_out(vec![])).contains("split 1 holds out no row"));
    assert!(refused(Split::holding_out(vec![3])).contains("holds out row 4 of 3"));
    assert!(refused(Split::holding_out(vec![0, 1, 2])).contains("is trained on no row"));
    assert!(refused(Split::holding_out(vec![1]).training_on(vec![0, 1])).contains("row 2 and is trained on it"));
    assert!(refused(Split::holding_out(vec![1]).training_on(vec![])).contains("is trained on no row"));
    assert!(Round::from_splits(3, vec![]).unwrap_err().to_string().contains("no row is held out"));
}
