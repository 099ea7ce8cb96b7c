//! Correlations of the selected columns over the training rows.

use super::column_diagnostics::span::unit_column;
use ndarray::{Array1, Array2, ArrayView1, ShapeBuilder};
use vaglio_core::{Design, Feature, rescale};
use vaglio_pipeline::final_fit::known_equations;
use vaglio_report::record::MOST_CORRELATED;

/// Budget of the correlations of a result, in multiply-adds.
const MOST_WORK: f64 = 3e10;

/// Largest number of columns if they outnumber the rows, so that the matrix is not much larger than its columns.
const MOST_BEYOND_ROWS: usize = 2048;

/// Redundancy of selected columns, and the lower triangle of their row-weighted correlations for a report: each column
/// with those before it.
///
/// Redundancy is RED, the mean of |ρ_kl| over pairs of different columns; `None` for fewer than two, and for too many to
/// compute within the budget. The triangle is empty for many columns. Computed from the products of the final fit or of
/// the search, if any, in O(columns²); else in O(rows · columns²).
///
/// Z. Zhao, L. Wang, H. Liu, *Efficient spectral feature selection with minimum redundancy*, AAAI 2010.
pub fn correlations(design: &Design, subset: &[Feature]) -> (Option<f64>, Vec<Vec<Option<f64>>>) {
    let rows = design.rows();
    if rows as f64 * (subset.len() as f64).powi(2) > MOST_WORK || subset.len() > rows.max(MOST_BEYOND_ROWS) {
        return (None, Vec::new());
    }
    let own = rescale(design).1;
    let known = known_equations(own, subset);
    let matrix = match known.and_then(|known| known.correlations(subset)) {
        Some(known) => known,
        None => {
            let mut scaled = Array2::zeros((rows, subset.len()).f());
            for (mut to, &feature) in scaled.columns_mut().into_iter().zip(subset) {
                to.assign(&Array1::from(unit_column(design, feature)));
            }
            vaglio_kernels::linalg::gram(scaled.view()).mapv(|r| r.clamp(-1.0, 1.0))
        }
    };
    let size = matrix.nrows() as f64;
    let pairs = matrix.indexed_iter().filter(|((k, l), _)| k != l);
    let sum = pairs.map(|(_, r)| r.abs()).sum::<f64>();
    let redundancy = (matrix.nrows() > 1).then(|| sum / (size * (size - 1.0)));
    if matrix.nrows() > MOST_CORRELATED {
        return (redundancy, Vec::new());
    }
    let finite = |r: &f64| Some(*r).filter(|r| r.is_finite());
    let before = |(k, row): (usize, ArrayView1<'_, f64>)| row.iter().take(k).map(finite).collect();
    (redundancy, matrix.rows().into_iter().enumerate().map(before).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vaglio_core::Readout;
    use vaglio_testkit::data::regression;

    #[test]
    fn more_columns_than_rows_have_the_same_redundancy() {
        let problem = regression(20, 600, 3).weighted().problem();
        let design = Design::identity(&problem, Readout::new(vec![1.0], true).unwrap());
        let all: Vec<Feature> = (0..600).collect();
        let (redundancy, shown) = correlations(&design, &all);
        assert!(shown.is_empty());
        let column = |f: usize| -> Vec<f64> {
            let (x, w) = (design.column(f).values().to_vec(), design.weights().unwrap());
            let mean = x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() / w.iter().sum::<f64>();
            let x: Vec<f64> = x.iter().zip(w).map(|(x, w)| (x - mean) * w.sqrt()).collect();
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.iter().map(|x| x / norm).collect()
        };
        let columns: Vec<Vec<f64>> = all.iter().map(|&f| column(f)).collect();
        let pair = |k: usize, l: usize| columns[k].iter().zip(&columns[l]).map(|(a, b)| a * b).sum::<f64>().abs();
        let sum: f64 = all.iter().map(|&k| all.iter().filter(|&&l| l != k).map(|&l| pair(k, l)).sum::<f64>()).sum();
        assert!((redundancy.unwrap() - sum / (600.0 * 599.0)).abs() < 1e-12);
    }
}
