//! Moments of subsets of the rows from shared cells, against refitting.

use std::sync::Arc;
use vaglio_core::{
    Action, Criterion, Design, Feature, FoldLineage, PerFoldPreprocessing, Problem, Readout, RowLabels, SearchExtent,
    number_labels,
};
use vaglio_search::SubsetScorer;
use vaglio_testkit::data::{binary, regression};
use vaglio_validate::splits::Given;
use vaglio_validate::{Engine, FoldBy, KFold};

fn design(problem: &Problem, intercept: bool, is_balanced: bool) -> Design {
    let readout = Readout::new(vec![1e-3, 1.0], intercept).unwrap();
    Design::identity(problem, if is_balanced { readout.balanced() } else { readout })
}

/// Every addition to a column, on each of three parts by groups, against refitting.
fn check(criterion: &KFold, whole: &Design, part: impl Fn(&[usize]) -> Design) {
    let groups: Vec<usize> = whole.problem().groups().unwrap().iter().map(|group| *group as usize % 3).collect();
    let labels = number_labels(&groups).0;
    let whole = &whole.with_run(|run| run.lineage = FoldLineage::Root(labels.into()));
    let criterion = &KFold { engine: Engine::Moments, ..criterion.clone() };
    for fold in 0..3 {
        let rows: Vec<usize> = (0..groups.len()).filter(|&row| groups[row] != fold).collect();
        let lineage = FoldLineage::Subset { whole: Arc::new(whole.clone()), rows: rows[..].into() };
        let part = part(&rows);
        let part = match part.rows() == rows.len() {
            true => part.with_run(|run| run.lineage = lineage),
            false => part,
        };
        let mut subset = SubsetScorer::open(criterion, &part, &SearchExtent::forward(part.features(), 3)).unwrap();
        assert_eq!(subset.engine(), "moments");
        subset.add(2).unwrap();
        let candidates: Vec<Feature> = part.candidates().into_iter().filter(|&f| f != 2).collect();
        let scores = subset.scores(Action::Add, &candidates).unwrap();
        for (feature, score) in candidates.iter().zip(scores) {
            let expected = criterion.evaluate(&part, &[2, *feature]).unwrap();
            let error = (score.loss / expected.loss - 1.0).abs();
            assert!(error < 1e-10 && score.lambda == expected.lambda, "{feature}: {score:?}, not {expected:?}");
        }
    }
}

#[test]
fn parts_have_the_moments_of_their_own_rows() {
    let by_groups = KFold { by: Some(FoldBy::Groups), ..KFold::default() };
    let few = KFold { folds: Some(3), ..by_groups.clone() };
    let given = KFold { assignment: Some("part".into()), ..KFold::default() };
    let validation = KFold { splits: Some(Given { column: "part".into() }.into()), ..KFold::default() };
    let recipe = regression(200, 7, 3).groups(8).outputs(2).duplicates(2).constants(1).bytes();
    let folds: Vec<u32> = (0..200).map(|row| row % 5).collect();
    for (weighted, intercept, anew) in (0..8).map(|k| (k & 1 > 0, k & 2 > 0, k & 4 > 0)) {
        let recipe = if weighted { recipe.clone().weighted() } else { recipe.clone() };
        let problem = recipe.problem();
        let labels = RowLabels { assignment: Some(folds.clone().into()), ..problem.labels().clone() };
        let problem = problem.with_labels(labels).unwrap();
        let design_of = |problem: &Problem| {
            let design = design(problem, intercept, false);
            if anew {
                design.with_problem(|problem| problem.with_preprocessing(PerFoldPreprocessing::standardize()))
            } else {
                design
            }
        };
        for criterion in [&by_groups, &few, &given, &validation] {
            check(criterion, &design_of(&problem), |rows| design_of(&problem.select_rows(rows)));
        }
    }
}

#[test]
fn classes_that_count_alike_do_in_cells() {
    let criterion = KFold { by: Some(FoldBy::Groups), ..KFold::default() };
    let problem = binary(200, 6, 5).groups(7).problem();
    let design_of = |problem: &Problem| design(problem, true, true);
    check(&criterion, &design_of(&problem), |rows| design_of(&problem.select_rows(rows)));
}

#[test]
fn parts_that_are_not_made_of_cells_read_their_rows() {
    let design_of = |problem: &Problem| design(problem, true, false);
    let by_groups = KFold { by: Some(FoldBy::Groups), ..KFold::default() };
    let problem = regression(120, 6, 7).groups(6).problem();
    // Every part assigns its folds anew.
    check(&KFold::default(), &design_of(&problem), |rows| design_of(&problem.select_rows(rows)));
    // Targets are scaled in every part.
    let scaled = |rows: &[usize]| {
        let part = problem.select_rows(rows);
        design_of(&part.with_targets(part.targets().mapv(|y| 3.0 * y)).unwrap())
    };
    check(&by_groups, &design_of(&problem), scaled);
    // A part of a part lacks rows of a cell.
    let fewer = |rows: &[usize]| design_of(&problem.select_rows(&rows[1..]));
    check(&by_groups, &design_of(&problem), fewer);
}

#[test]
fn columns_equal_in_a_part_alone_tie() {
    let problem = regression(120, 5, 9).groups(6).problem();
    let groups = problem.groups().unwrap().to_vec();
    let mut columns = problem.columns().clone();
    // Like the first column but where the last part is.
    let own = |row: usize| problem.columns().column(0).get(row) + if groups[row] % 3 == 2 { 7.3 } else { 0.0 };
    columns.push((0..120).map(own).collect::<Vec<f64>>());
    let names = (0..6).map(|k| format!("x{k}")).collect();
    let targets = problem.targets().as_ref().clone();
    let problem = Problem::new(columns, names, targets, vec!["y".into()], problem.task().clone()).unwrap();
    let problem = problem.with_groups(groups.to_vec()).unwrap();
    let rows: Vec<usize> = (0..120).filter(|&row| groups[row] % 3 != 2).collect();
    let labels = number_labels(groups.iter().map(|group| group % 3)).0;
    let whole = design(&problem, true, false).with_run(|run| run.lineage = FoldLineage::Root(labels.into()));
    let lineage = FoldLineage::Subset { whole: Arc::new(whole.clone()), rows: rows[..].into() };
    let part = design(&problem.select_rows(&rows), true, false).with_run(|run| run.lineage = lineage);
    let criterion = KFold { by: Some(FoldBy::Groups), engine: Engine::Moments, ..KFold::default() };
    let mut subset = SubsetScorer::open(&criterion, &part, &SearchExtent::forward(6, 3)).unwrap();
    let scores = subset.scores(Action::Add, &[0, 5]).unwrap();
    assert_eq!(scores[0], scores[1]);
    subset.add(3).unwrap();
    let scores = subset.scores(Action::Add, &[0, 5]).unwrap();
    assert_eq!(scores[0], scores[1]);
}
