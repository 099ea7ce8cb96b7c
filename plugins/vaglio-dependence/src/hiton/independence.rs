//! Tests of independence: Fisher's z of partial correlations, and G² of binned columns.

use super::tail::ln_tail;
use crate::bins::{Binned, BinnedData};
use crate::mrmr::correlation::Correlations;
use std::collections::HashMap;
use std::sync::Mutex;
use vaglio_core::{Design, Feature, lock};
use vaglio_kernels::parallel;
use vaglio_kernels::sums::{axpy, dot};
use vaglio_kernels::tolerance::EQUAL_SIMILARITY;

/// Fisher's z test on standardized columns and outputs.
pub(super) struct FisherTest {
    /// Number of rows, whatever their weights.
    rows: f64,
    columns: Vec<Vec<f64>>,
    /// Correlations of each column with the outputs.
    with_outputs: Vec<Vec<f64>>,
    /// Cached correlations of two columns.
    known: Mutex<HashMap<(usize, usize), f64>>,
}

impl FisherTest {
    /// Standardizes columns and outputs. Cost O(m) per column and output.
    pub fn new(design: &Design, columns: &[Feature]) -> Self {
        let Correlations { columns, mut outputs } = Correlations::new(design, columns);
        outputs.retain(|y| !y.is_empty());
        let with_outputs = |x: &Vec<f64>| outputs.iter().map(|y| dot(x, y)).collect();
        let with_outputs = parallel::map_slice(&columns, with_outputs);
        FisherTest { rows: design.rows() as f64, columns, with_outputs, known: Mutex::default() }
    }

    /// Correlation of two columns, cached.
    fn between(&self, x: usize, z: usize) -> f64 {
        let pair = (x.min(z), x.max(z));
        let compute = || dot(&self.columns[pair.0], &self.columns[pair.1]);
        *lock(&self.known).entry(pair).or_insert_with(compute)
    }

    /// ln p of a column given others: the least over outputs, times their number. `None` if there are too few rows.
    pub fn ln_p(&self, x: usize, given: &[usize]) -> Option<f64> {
        let freedom = self.rows - given.len() as f64 - 3.0;
        if freedom <= 0.0 {
            return None;
        }
        // Order: the given columns, the column, the output.
        let order = [given, &[x]].concat();
        let mut among = vec![vec![1.0; order.len()]; order.len()];
        for (i, &a) in order.iter().enumerate() {
            for (k, &b) in order[..i].iter().enumerate() {
                among[i][k] = self.between(a, b);
                among[k][i] = among[i][k];
            }
        }
        let outputs = self.with_outputs[x].len();
        let output_correlation = |output: usize| {
            let with_output = |&a: &usize| self.with_outputs[a][output];
            let mut matrix = among.clone();
            matrix.iter_mut().zip(&order).for_each(|(row, a)| row.push(with_output(a)));
            matrix.push(order.iter().map(with_output).chain([1.0]).collect());
            partial(matrix).abs()
        };
        let largest = (0..outputs).map(output_correlation).fold(0.0, f64::max);
        let z = largest.min(1.0).atanh();
        Some((ln_tail(z * z * freedom, 1.0) + (outputs as f64).ln()).min(0.0))
    }
}

/// Partial correlation of the last two given those before, from their correlations; 0 if one of them depends on these.
fn partial(mut matrix: Vec<Vec<f64>>) -> f64 {
    let count = matrix.len() - 2;
    for pivot in 0..count {
        let own = matrix[pivot].clone();
        // A dependent variable adds no condition.
        if own[pivot] <= EQUAL_SIMILARITY {
            continue;
        }
        for row in matrix.iter_mut().skip(pivot + 1) {
            let by = row[pivot] / own[pivot];
            axpy(-by, &own[pivot..], &mut row[pivot..]);
        }
    }
    let (x, y) = (matrix[count][count], matrix[count + 1][count + 1]);
    if x <= EQUAL_SIMILARITY || y <= EQUAL_SIMILARITY { 0.0 } else { matrix[count][count + 1] / (x * y).sqrt() }
}

/// Minimum rows per cell of a test with conditions.
const ROWS_OF_CELL: f64 = 5.0;

impl BinnedData {
    /// ln p of a column given some others, least over the outputs; `None` if cells have few rows. Cost O(m) plus the
    /// number of cells.
    pub(super) fn ln_p(&self, x: usize, given: &[usize]) -> Option<f64> {
        let given: Vec<&Binned> = given.iter().map(|&z| &self.columns[z]).collect();
        let target_statistic = |target: &Binned| {
            let (g_squared, freedom) =
                self.g_squared(&self.columns[x], target, &given, if given.is_empty() { 0.0 } else { ROWS_OF_CELL })?;
            Some(ln_tail(g_squared, freedom))
        };
        let found: Option<Vec<f64>> = self.targets.iter().map(target_statistic).collect();
        let least = found?.into_iter().fold(0.0, f64::min);
        Some((least + (self.targets.len() as f64).ln()).min(0.0))
    }
}
