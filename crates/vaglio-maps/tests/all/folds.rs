//! Assignment of rows to folds.

use vaglio_maps::folds::{FoldAssignment, connected_groups};

fn counts(folds: &[u32], rows: impl Fn(usize) -> bool) -> Vec<usize> {
    (0..=folds.iter().copied().max().unwrap_or(0))
        .map(|fold| (0..folds.len()).filter(|&row| folds[row] == fold && rows(row)).count())
        .collect()
}

#[test]
fn rows_are_spread_evenly_class_by_class() {
    let classes: Vec<usize> = (0..23).map(|row| usize::from(row % 4 == 0)).collect();
    let fold_assignment = FoldAssignment::from_labels(&[], 23, Some(classes.clone()));
    let folds = fold_assignment.folds(5, 7).unwrap();
    for class in 0..2 {
        let counts = counts(&folds, |row| classes[row] == class);
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
    }
    assert_eq!(folds, fold_assignment.folds(5, 7).unwrap());
    assert_ne!(folds, fold_assignment.folds(5, 8).unwrap());
}

#[test]
fn groups_stay_whole_and_each_has_a_fold_when_there_are_as_many() {
    let groups: Vec<u32> = (0..40).map(|row| [7, 3, 9, 1][row * row % 4]).collect();
    let fold_assignment = FoldAssignment::from_labels(&[&groups], 40, Some((0..40).map(|row| row % 2).collect()));
    let count = fold_assignment.count;
    let folds = fold_assignment.folds(count, 3).unwrap();
    assert!(counts(&folds, |_| true).iter().all(|count| *count > 0));
    for (a, b) in (0..40).flat_map(|a| (0..a).map(move |b| (a, b))) {
        assert_eq!(groups[a] == groups[b], folds[a] == folds[b]);
    }
    assert!(fold_assignment.folds(count + 1, 3).is_err());
}

#[test]
fn rows_of_a_group_and_of_a_series_stay_together() {
    let (groups, series) = ([1, 1, 2, 2, 3, 3], [5, 6, 6, 7, 8, 9]);
    assert_eq!(connected_groups(&[&groups, &series], 6), (vec![0, 0, 0, 0, 1, 1], 2));
}

#[test]
fn rows_in_order_make_blocks() {
    assert_eq!(FoldAssignment::in_time((0..7).collect()).folds(3, 1).unwrap(), [0, 0, 0, 1, 1, 2, 2]);
    // Rows of one time stay together.
    let days = FoldAssignment::in_time(vec![0, 0, 0, 1, 2, 2, 3]);
    assert_eq!(days.folds(3, 1).unwrap(), [0, 0, 0, 0, 1, 1, 2]);
    assert!(days.folds(5, 1).unwrap_err().to_string().contains("5 are asked for, of 4 points in time"));
}
