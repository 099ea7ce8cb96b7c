//! Moments of subsets of the rows from shared cells. A cell lies in a single fold of every subset, or outside of it.

use super::settings::{FoldBy, KFold};
use crate::balance;
use crate::fits::failed;
use crate::kernel::are_equal;
use crate::session::Session;
use vaglio_core::{Column, Criterion, Design, Feature, FoldLineage, Result, number_labels, row_weights};
use vaglio_kernels::Folds;
use vaglio_kernels::kfold::{FoldedRows, GroupSums, Moments};

/// Largest memory of cells, in bytes.
const MOST: usize = 1 << 30;
/// Smallest average number of rows of a cell, since products are summed for eight rows at a time.
const LEAST_ROWS: usize = 8;

/// The moments of a design that is a subset of another or has subsets; `None` if its folds do not consist of cells.
///
/// # Errors
/// [`vaglio_core::Error::Numerical`] when products overflow.
pub(super) fn moments(criterion: &KFold, design: &Design, rows: &FoldedRows<'_>) -> Result<Option<Moments>> {
    if rows.scores_classes_alike() || design.problem().in_folds().missing().is_some() {
        // Cells count rows alike, and imputed values differ between a subset and the root.
        return Ok(None);
    }
    let every: Vec<usize>;
    let (whole, own) = match &design.run().lineage {
        FoldLineage::Subset(part) => (&part.0, &part.1[..]),
        _ => {
            every = (0..design.rows()).collect();
            (design, &every[..])
        }
    };
    let Some(of_row) = criterion.cells(whole) else { return Ok(None) };
    let Some(folds) = folds(&of_row, own, &rows.folds).filter(|_| rows.folds.is_of_others()) else {
        return Ok(None);
    };
    if !are_alike(design, whole, own) {
        return Ok(None);
    }
    let cells = Session::for_design(whole).cells.get_or_try_make(
        |known| known.1 == of_row,
        || Ok((GroupSums::new(&balance::rows_of(whole, Folds::new(&of_row))?), of_row.clone())),
    )?;
    Moments::from_cells(rows, &cells.0, &folds).map_err(failed)
}

impl KFold {
    /// The cell of each row of a design with subsets, counted from 0. Rows of a cell are in the same subsets, and there
    /// in the same fold by the user's assignment or groups. `None` if every subset assigns its folds anew.
    fn cells(&self, design: &Design) -> Option<Vec<u32>> {
        let given = match (self.traits().assignment.is_some(), self.by) {
            (true, _) => design.problem().assignment()?,
            (false, Some(FoldBy::Groups)) => design.problem().groups()?,
            (false, None) => return None,
        };
        let FoldLineage::Root(labels) = &design.run().lineage else { return None };
        let (of_row, count) = number_labels(labels.iter().zip(given));
        let classes = balance::classes_of(design).map_or(1, |classes| classes.names.len());
        let bytes = GroupSums::bytes(count, classes, design.candidates().len(), design.targets().nrows());
        (bytes <= MOST && count * LEAST_ROWS <= design.rows()).then_some(of_row)
    }
}

/// The fold of each cell in a subset; `None` for a cell in several folds, or one with only some rows in the subset.
fn folds(of_row: &[u32], own: &[usize], folds: &Folds) -> Option<Vec<Option<usize>>> {
    let count = of_row.iter().max().map_or(0, |&cell| cell as usize + 1);
    let (mut out, mut missing) = (vec![None; count], vec![0_usize; count]);
    of_row.iter().for_each(|&cell| missing[cell as usize] += 1);
    for fold in 0..folds.count() {
        for &row in folds.held_out(fold) {
            let cell = of_row[own[row]] as usize;
            missing[cell] -= 1;
            if *out[cell].get_or_insert(fold) != fold {
                return None;
            }
        }
    }
    out.iter().zip(missing).all(|(fold, missing)| fold.is_none() || missing == 0).then_some(out)
}

/// Whether columns, targets and weights of a subset equal those of the root in its rows, and the readout centers, scales
/// and weights them alike. Cost O(m·n).
fn are_alike(part: &Design, whole: &Design, own: &[usize]) -> bool {
    if std::ptr::eq(part, whole) {
        return true;
    }
    let column = |feature: Feature| match (part.column(feature), whole.column(feature)) {
        (Column::Double(x), Column::Double(all)) => are_equal(own, |at| x[at], |row| all[row]),
        (Column::Single(x), Column::Single(all)) => are_equal(own, |at| x[at], |row| all[row]),
        (Column::Byte(x), Column::Byte(all)) => are_equal(own, |at| x[at], |row| all[row]),
        (x, all) => are_equal(own, |at| x.get(at), |row| all.get(row)),
    };
    let (targets, all) = (part.targets(), whole.targets());
    let form = |design: &Design| {
        let readout = design.readout().map(|readout| (readout.intercept, readout.balanced));
        (readout, design.problem().in_folds().is_standardized(), design.features(), design.targets().nrows())
    };
    form(part) == form(whole)
        && (0..targets.nrows()).all(|output| are_equal(own, |at| targets[[output, at]], |row| all[[output, row]]))
        && are_equal(own, row_weights(part.weights()), row_weights(whole.weights()))
        && part.candidates().into_iter().all(column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kfold::Engine;
    use crate::round::RepeatFolds;
    use crate::splits::Given;
    use std::sync::Arc;
    use vaglio_core::{Action, PerFoldPreprocessing, Problem, Readout, RowLabels, SearchExtent};
    use vaglio_search::SubsetScorer;
    use vaglio_testkit::data::{binary, regression};

    fn design(problem: &Problem, intercept: bool, is_balanced: bool) -> Design {
        let readout = Readout::new(vec![1e-3, 1.0], intercept).unwrap();
        Design::identity(problem, if is_balanced { readout.balanced() } else { readout })
    }

    /// Every addition to a column, on each of three parts by groups, against refitting; whether each part had cells.
    fn have_cells(criterion: &KFold, whole: &Design, part: impl Fn(&[usize]) -> Design) -> Vec<bool> {
        let of_row: Vec<usize> = whole.problem().groups().unwrap().iter().map(|group| *group as usize % 3).collect();
        let labels = number_labels(&of_row).0;
        let whole = &whole.with_run(|run| run.lineage = FoldLineage::Root(labels.into()));
        let criterion = &KFold { engine: Engine::Moments, ..criterion.clone() };
        let one = |fold: usize| {
            let rows: Vec<usize> = (0..of_row.len()).filter(|&row| of_row[row] != fold).collect();
            let lineage = FoldLineage::Subset(Arc::new((whole.clone(), rows.clone())));
            let part = part(&rows);
            let part = match part.rows() == rows.len() {
                true => part.with_run(|run| run.lineage = lineage),
                false => part,
            };
            let round = RepeatFolds::new(&criterion.rounds_of(&part).unwrap()[0]);
            let found = moments(criterion, &part, &balance::rows_of(&part, round.folds).unwrap()).unwrap();
            let mut subset = SubsetScorer::open(criterion, &part, &SearchExtent::forward(part.features(), 3)).unwrap();
            assert_eq!(subset.engine().name, "moments");
            subset.add(2).unwrap();
            let candidates: Vec<Feature> = part.candidates().into_iter().filter(|&f| f != 2).collect();
            let scores = subset.scores(Action::Add, &candidates).unwrap();
            for (feature, score) in candidates.iter().zip(scores) {
                let expected = criterion.evaluate(&part, &[2, *feature]).unwrap();
                let error = (score.loss / expected.loss - 1.0).abs();
                assert!(error < 1e-10 && score.lambda == expected.lambda, "{feature}: {score:?}, not {expected:?}");
            }
            found.is_some()
        };
        (0..3).map(one).collect()
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
            let of = |problem: &Problem| {
                let design = design(problem, intercept, false);
                if anew {
                    design.with_problem(|problem| problem.with_preprocessing(PerFoldPreprocessing::standardize()))
                } else {
                    design
                }
            };
            for criterion in [&by_groups, &few, &given, &validation] {
                let found = have_cells(criterion, &of(&problem), |rows| of(&problem.select_rows(rows)));
                assert_eq!(found, [true; 3], "{criterion:?}");
            }
        }
    }

    #[test]
    fn classes_that_count_alike_do_in_cells() {
        let criterion = KFold { by: Some(FoldBy::Groups), ..KFold::default() };
        let problem = binary(200, 6, 5).groups(7).problem();
        let of = |problem: &Problem| design(problem, true, true);
        assert_eq!(have_cells(&criterion, &of(&problem), |rows| of(&problem.select_rows(rows))), [true; 3]);
    }

    #[test]
    fn parts_that_are_not_made_of_cells_read_their_rows() {
        let of = |problem: &Problem| design(problem, true, false);
        let by_groups = KFold { by: Some(FoldBy::Groups), ..KFold::default() };
        let problem = regression(120, 6, 7).groups(6).problem();
        // Folds are dealt anew in every part.
        let anew = have_cells(&KFold::default(), &of(&problem), |rows| of(&problem.select_rows(rows)));
        assert_eq!(anew, [false; 3]);
        // Targets are scaled in every part.
        let scaled = |rows: &[usize]| {
            let part = problem.select_rows(rows);
            of(&part.with_targets(part.targets().mapv(|y| 3.0 * y)).unwrap())
        };
        assert_eq!(have_cells(&by_groups, &of(&problem), scaled), [false; 3]);
        // A part of a part lacks rows of a cell.
        let fewer = |rows: &[usize]| of(&problem.select_rows(&rows[1..]));
        assert_eq!(have_cells(&by_groups, &of(&problem), fewer), [false; 3]);
    }

    #[test]
    fn columns_equal_in_a_part_alone_tie() {
        let problem = regression(120, 5, 9).groups(6).problem();
        let groups = problem.groups().unwrap().to_vec();
        let mut columns = problem.columns().as_ref().clone();
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
        let lineage = FoldLineage::Subset(Arc::new((whole.clone(), rows.clone())));
        let part = design(&problem.select_rows(&rows), true, false).with_run(|run| run.lineage = lineage);
        let criterion = KFold { by: Some(FoldBy::Groups), engine: Engine::Moments, ..KFold::default() };
        let mut subset = SubsetScorer::open(&criterion, &part, &SearchExtent::forward(6, 3)).unwrap();
        let scores = subset.scores(Action::Add, &[0, 5]).unwrap();
        assert_eq!(scores[0], scores[1]);
        subset.add(3).unwrap();
        let scores = subset.scores(Action::Add, &[0, 5]).unwrap();
        assert_eq!(scores[0], scores[1]);
    }
}
