//! Training weights of balanced readouts, which change with the rows that are held out.

use vaglio_core::{Classes, Design};
use vaglio_kernels::kfold::Folds;

/// Rows that are predicted with the same training weights.
#[derive(Debug)]
pub(super) struct Part {
    /// Whether each row is one of them.
    pub rows: Vec<bool>,
    /// The weight of every row in training; a row that is held out alone may have any.
    pub weights: Vec<f64>,
}

/// The classes of a design whose readout balances them.
pub(super) fn classes_of(design: &Design) -> Option<Classes> {
    design.classes().filter(|_| design.readout().is_some_and(|readout| readout.balanced))
}

fn weight(design: &Design, row: usize) -> f64 {
    design.weights().map_or(1.0, |w| w[row])
}

/// r_j over the total of its class.
fn over_totals(design: &Design, classes: &Classes, totals: &[f64]) -> Vec<f64> {
    (0..design.rows()).map(|row| weight(design, row) / totals[classes.of_row[row]]).collect()
}

/// The parts of rows that are left out one by one: those of one class and weight r have the class totals n_c in common,
/// with n_c − r for their own class. `None` for more than `most` parts, or a class of one row.
pub(super) fn left_out(design: &Design, classes: &Classes, most: usize) -> Option<Vec<Part>> {
    let rows = 0..design.rows();
    let total = |class: usize, without: Option<usize>| -> f64 {
        let members = rows.clone().filter(|&j| classes.of_row[j] == class && Some(j) != without);
        members.map(|j| weight(design, j)).sum()
    };
    let totals: Vec<f64> = (0..classes.names.len()).map(|class| total(class, None)).collect();
    let mut kinds: Vec<(usize, u64)> = Vec::new();
    let mut parts: Vec<Part> = Vec::new();
    for row in rows.clone() {
        let class = classes.of_row[row];
        let kind = (class, weight(design, row).to_bits());
        let at = match kinds.iter().position(|k| *k == kind) {
            Some(at) => at,
            None => {
                let mut totals = totals.clone();
                totals[class] = total(class, Some(row));
                if kinds.len() == most || totals[class] <= 0.0 {
                    return None;
                }
                kinds.push(kind);
                parts.push(Part { rows: vec![false; design.rows()], weights: over_totals(design, classes, &totals) });
                kinds.len() - 1
            }
        };
        parts[at].rows[row] = true;
    }
    Some(parts)
}

/// The parts of rows that are held out in folds: folds whose training rows have the same class totals go together, each
/// part with its folds. `None` where the training rows of a fold lack a class that has rows.
pub(super) fn held_out(design: &Design, classes: &Classes, folds: &Folds) -> Option<Vec<(Part, Vec<usize>)>> {
    let mut parts: Vec<(Vec<u64>, Part, Vec<usize>)> = Vec::new();
    for fold in 0..folds.count() {
        let mut totals = vec![0.0; classes.names.len()];
        folds.training(fold).iter().for_each(|&row| totals[classes.of_row[row]] += weight(design, row));
        if classes.of_row.iter().any(|&class| totals[class] <= 0.0) {
            return None;
        }
        let bits: Vec<u64> = totals.iter().map(|total| total.to_bits()).collect();
        let at = match parts.iter().position(|(b, ..)| *b == bits) {
            Some(at) => at,
            None => {
                let weights = over_totals(design, classes, &totals);
                parts.push((bits, Part { rows: vec![false; design.rows()], weights }, Vec::new()));
                parts.len() - 1
            }
        };
        folds.held_out(fold).iter().for_each(|&row| parts[at].1.rows[row] = true);
        parts[at].2.push(fold);
    }
    Some(parts.into_iter().map(|(_, part, folds)| (part, folds)).collect())
}
