//! Moments of subsets of the rows from shared cells. A cell lies in a single fold of every subset, or outside of it.

use super::settings::{FoldBy, KFold};
use crate::fits::fit_error;
use crate::kernel::{are_equal, classes_of, folded_rows};
use vaglio_core::{Cache, Criterion, Design, Feature, FoldLineage, Result, number_labels, row_weights};
use vaglio_kernels::Folds;
use vaglio_kernels::kfold::{FoldedRows, GroupSums, Moments};

/// Largest memory of cells, in bytes.
const MOST: usize = 1 << 30;
/// Smallest average number of rows of a cell, since products are summed for eight rows at a time.
const LEAST_ROWS: usize = 8;

/// The moments of a design that is a subset of another or has subsets; `None` if its folds do not consist of cells.
pub(super) fn moments(criterion: &KFold, design: &Design, rows: &FoldedRows<'_>) -> Result<Option<Moments>> {
    if rows.balances_losses() || design.problem().in_folds().missing().is_some() {
        // Cells count rows alike, and imputed values differ between a subset and the root.
        return Ok(None);
    }
    let every: Vec<usize>;
    let (whole, own) = match &design.run().lineage {
        FoldLineage::Subset { whole, rows } => (&**whole, &rows[..]),
        _ => {
            every = (0..design.rows()).collect();
            (design, &every[..])
        }
    };
    let Some(row_cells) = criterion.cells(whole) else { return Ok(None) };
    let Some(folds) = folds(&row_cells, own, &rows.folds).filter(|_| rows.folds.train_on_all_others()) else {
        return Ok(None);
    };
    if !are_alike(design, whole, own) {
        return Ok(None);
    }
    let cells = whole.session::<Cache<(GroupSums, Vec<u32>)>>().get_or_try_make(
        |known| known.1 == row_cells,
        || Ok((GroupSums::new(&folded_rows(whole, Folds::new(&row_cells))?), row_cells.clone())),
    )?;
    Moments::from_cells(rows, &cells.0, &folds).map_err(fit_error)
}

impl KFold {
    /// The cell of each row of a design with subsets, counted from 0. Rows of a cell share their subsets, and their
    /// fold there by the user's assignment or groups. `None` if every subset assigns its folds anew.
    fn cells(&self, design: &Design) -> Option<Vec<u32>> {
        let given = match (self.traits().assignment.is_some(), self.by) {
            (true, _) => design.problem().labels().assignment.as_deref()?,
            (false, Some(FoldBy::Groups)) => design.problem().groups()?,
            (false, None) => return None,
        };
        let FoldLineage::Root(labels) = &design.run().lineage else { return None };
        let (row_cells, count) = number_labels(labels.iter().zip(given));
        let classes = classes_of(design).map_or(1, |classes| classes.names.len());
        let bytes = GroupSums::bytes(count, classes, design.candidates().len(), design.targets().nrows());
        (bytes <= MOST && count * LEAST_ROWS <= design.rows()).then_some(row_cells)
    }
}

/// The fold of each cell in a subset; `None` for a cell in several folds, or one with only some rows in the subset.
fn folds(row_cells: &[u32], own: &[usize], folds: &Folds) -> Option<Vec<Option<usize>>> {
    let count = row_cells.iter().max().map_or(0, |&cell| cell as usize + 1);
    let (mut out, mut missing) = (vec![None; count], vec![0_usize; count]);
    row_cells.iter().for_each(|&cell| missing[cell as usize] += 1);
    for fold in 0..folds.count() {
        for &row in folds.held_out(fold) {
            let cell = row_cells[own[row]] as usize;
            missing[cell] -= 1;
            if *out[cell].get_or_insert(fold) != fold {
                return None;
            }
        }
    }
    out.iter().zip(missing).all(|(fold, missing)| fold.is_none() || missing == 0).then_some(out)
}

/// Whether columns, targets and weights of a subset equal those of the root, treated alike by the readout. Cost O(m·n).
fn are_alike(part: &Design, whole: &Design, own: &[usize]) -> bool {
    if std::ptr::eq(part, whole) {
        return true;
    }
    let column = |feature: Feature| {
        let (x, all) = (part.column(feature), whole.column(feature));
        are_equal(own, |at| x.get(at), |row| all.get(row))
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
