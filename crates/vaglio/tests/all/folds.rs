//! Which rows k-fold holds out together, and what it refuses.

use vaglio::core::{Absolute, Criterion, Design, Error, HeldOut, Loss, Part, Readout, RowLabels, Squared};
use vaglio::criteria::{FoldBy, KFold, Loo};
use vaglio_testkit::data;

fn folds(criterion: &KFold, design: &Design) -> Vec<u32> {
    match criterion.folds(design).unwrap() {
        HeldOut::Folds(rounds) => rounds[0].fold_of_rows().iter().map(|fold| fold.unwrap()).collect(),
        other => panic!("{criterion:?} holds out {other:?}"),
    }
}

fn sizes(folds: &[u32]) -> Vec<usize> {
    let count = folds.iter().max().map_or(0, |&f| f as usize + 1);
    (0..count).map(|k| folds.iter().filter(|&&f| f as usize == k).count()).collect()
}

fn refused(criterion: &KFold, design: &Design) -> String {
    match criterion.check(design) {
        Err(Error::Setting { field, message, .. }) => format!("{field}: {message}"),
        other => panic!("{criterion:?} gives {other:?}"),
    }
}

fn with(folds: usize) -> KFold {
    KFold { folds: Some(folds), ..KFold::default() }
}

fn regression(rows: usize) -> Design {
    data::regression(rows, 4, 1).design(&[1.0], true)
}

#[test]
fn contiguous_folds_come_first_with_one_row_more() {
    assert_eq!(folds(&with(3), &regression(8)), [0, 0, 0, 1, 1, 1, 2, 2]);
    assert_eq!(sizes(&folds(&KFold::default(), &regression(23))), [3, 3, 3, 2, 2, 2, 2, 2, 2, 2]);
    assert_eq!(folds(&with(4), &regression(4)), [0, 1, 2, 3]);
}

#[test]
fn shuffled_folds_follow_from_the_seed() {
    let shuffled = KFold { shuffle: true, ..with(5) };
    let seeded = |seed| regression(40).with_problem(|problem| problem.with_seed(seed));
    let (first, second) = (seeded(1), seeded(2));
    assert_eq!(folds(&shuffled, &first), folds(&shuffled, &first));
    assert_ne!(folds(&shuffled, &first), folds(&shuffled, &second));
    assert_eq!(sizes(&folds(&shuffled, &first)), [8; 5]);
    assert_ne!(folds(&shuffled, &first), folds(&with(5), &first));
}

#[test]
fn stratified_folds_have_every_class_in_equal_shares() {
    for shuffle in [false, true] {
        let design = data::multiclass(50, 4, 3, 3).design(&[1.0], true).with_problem(|problem| problem.with_seed(4));
        let stratified = KFold { stratified: true, shuffle, ..with(4) };
        let folds = folds(&stratified, &design);
        assert_eq!(sizes(&folds), [13, 13, 12, 12]);
        for class in 0..3 {
            let of_class =
                |fold: u32| (0..50).filter(|&row| folds[row] == fold && design.targets()[[class, row]] > 0.0).count();
            let counts: Vec<usize> = (0..4).map(of_class).collect();
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        }
    }
}

#[test]
fn groups_stay_together() {
    let design = data::regression(30, 4, 5).groups(6).design(&[1.0], true);
    let groups = design.problem().groups().unwrap();
    let one_each = KFold { by: Some(FoldBy::Groups), ..KFold::default() };
    let of_each = folds(&one_each, &design);
    assert_eq!(sizes(&of_each).len(), 6);
    for shuffle in [false, true] {
        let three = folds(&KFold { folds: Some(3), shuffle, ..one_each.clone() }, &design);
        assert_eq!(sizes(&three).len(), 3);
        for (a, b) in (0..30).flat_map(|a| (0..a).map(move |b| (a, b))).filter(|&(a, b)| groups[a] == groups[b]) {
            assert!(of_each[a] == of_each[b] && three[a] == three[b]);
        }
    }
    assert_eq!(
        refused(&one_each, &regression(8)),
        "by: the data have no groups; name their column in `data.groups`, or give them by `Rows::groups`"
    );
    let seven = KFold { folds: Some(7), ..one_each.clone() };
    assert_eq!(refused(&seven, &design), "folds: 7 folds of 6 groups leave fold 7 empty; use at most 6 folds");
}

#[test]
fn a_given_assignment_is_taken_as_it_is() {
    let given = |folds: [u32; 8]| RowLabels { assignment: Some(folds.into()), ..RowLabels::default() };
    let problem = data::regression(8, 4, 1).problem().with_labels(given([7, 7, 3, 3, 3, 9, 7, 9])).unwrap();
    let design = Design::identity(&problem, Readout::new(vec![1.0], true).unwrap());
    let criterion = KFold { assignment: Some("part".into()), ..KFold::default() };
    assert_eq!(folds(&criterion, &design), [0, 0, 1, 1, 1, 2, 0, 2]);
    let clash = KFold { shuffle: true, ..criterion.clone() };
    assert_eq!(
        refused(&clash, &design),
        "shuffle: it cannot be combined with `assignment`, which makes the folds; leave one of them out"
    );
    assert!(refused(&criterion, &regression(8)).contains("no column `part`"));
    let single = data::regression(8, 4, 1).problem().with_labels(given([4; 8])).unwrap();
    let single = Design::identity(&single, Readout::new(vec![1.0], true).unwrap());
    assert!(refused(&criterion, &single).contains("puts all rows into one fold"));
}

#[test]
fn folds_that_cannot_be_made_are_refused_with_fold_and_class() {
    assert_eq!(
        refused(&with(1), &regression(8)),
        "folds: at least 2 folds are needed, so that there are rows to train on"
    );
    assert_eq!(refused(&with(9), &regression(8)), "folds: 9 folds of 8 rows leave fold 9 empty; use at most 8 folds");
    let stratified = KFold { stratified: true, ..with(2) };
    assert!(refused(&stratified, &regression(8)).starts_with("stratified: the target is a number"));

    let sorted = |targets: &[f64]| {
        let task = vaglio::core::Task::Binary { negative: Some("healthy".into()), positive: "ill".into() };
        let x: Vec<f64> = (0..targets.len()).map(|j| (j * j % 7) as f64).collect();
        let problem = data::given(&[&x], &[targets], task).unwrap();
        Design::identity(&problem, Readout::new(vec![1.0], true).unwrap())
    };
    let design = sorted(&[-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0]);
    assert_eq!(
        refused(&with(4), &design),
        "folds: fold 1 holds rows of class `healthy` alone; use `stratified: true`, or fewer folds"
    );
    let design = sorted(&[-1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0, -1.0]);
    assert_eq!(
        refused(&with(2), &design),
        "folds: fold 1 holds rows of class `healthy` alone; use `stratified: true`, or fewer folds"
    );
    let design = sorted(&[-1.0, 1.0, 1.0, -1.0, -1.0, -1.0]);
    assert_eq!(
        refused(&with(2), &design),
        "folds: fold 1 holds every row of class `ill`, so none is left to train on; use `stratified: true`, or fewer folds"
    );
    let two = KFold { stratified: true, ..with(3) };
    assert_eq!(refused(&two, &design), "folds: fold 1 holds rows of class `healthy` alone; use fewer folds");
}

#[test]
fn one_row_a_fold_is_leave_one_out() {
    for recipe in [data::regression(12, 4, 7).weighted(), data::binary(12, 4, 8)] {
        for loss in [Part::<dyn Loss>::from(Squared), Absolute.into()] {
            let design = recipe.design(&[0.1, 1.0], true);
            let folds = KFold { loss: loss.clone(), ..with(12) };
            let loo = Loo { loss: loss.clone(), ..Loo::default() };
            let (a, b) = (folds.evaluate(&design, &[2, 0]).unwrap(), loo.evaluate(&design, &[2, 0]).unwrap());
            assert!((a.loss - b.loss).abs() < 1e-12 * b.loss && a.lambda == b.lambda);
        }
    }
}
