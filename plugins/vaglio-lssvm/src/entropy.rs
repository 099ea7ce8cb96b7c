//! Selection of landmarks: few rows that represent many, by their quadratic Rényi entropy.

use crate::similarity::KernelFunction;
use vaglio_core::Column;
use vaglio_kernels::parallel;
use vaglio_kernels::tile::Tile;
use vaglio_kernels::tolerance::EXCHANGE_GAIN;
use vaglio_kernels::vectors::Vectors;

/// Maximum number of times every row is proposed.
const PASSES: usize = 3;
/// Rows per batch whose kernels with the landmarks are computed together.
const BATCH: usize = 64;
/// Rows of a batch per task.
const TASK: usize = 8;

/// Selected landmarks.
#[derive(Debug)]
pub(crate) struct LandmarkSelection {
    /// Rows that are landmarks.
    pub rows: Vec<usize>,
    /// Number of swaps.
    pub swaps: usize,
    /// Number of proposals; a row may be proposed several times.
    pub proposals: usize,
    /// Entropy −log(1/N² Σ_ij k(u_i, u_j)); +∞ if the sum is 0, NaN if it overflows.
    pub entropy: f64,
    /// Kernel matrix of the landmarks.
    pub gram: Vec<Vec<f64>>,
}

/// Selects `count` of the rows `order` by swaps so that the entropy −log(1/N² Σ_ij k(u_i, u_j)) is large.
///
/// Starts with the first `count` rows. The others are proposed in order, and again from the first. Each replaces the
/// landmark whose exchange lowers S = Σ_ij k(u_i, u_j) most, if S falls. Stops when every row was proposed in vain
/// since the last swap, or after three passes. With the row sums s_i = Σ_j k(u_i, u_j), a swap of r for c lowers S by
/// 2s_r − k_rr + 2k_cr − 2Σ_j k_cj − k_cc.
///
/// Cost O(N·n) for the kernels of a row and O(N) for its proposal; memory 8·N² bytes.
///
/// # Reference
/// J. A. K. Suykens, T. Van Gestel, J. De Brabanter, B. De Moor and J. Vandewalle, *Least squares support vector
/// machines*, World Scientific 2002, chapter 6: swaps at random, without row sums.
pub(crate) fn select_landmarks(
    kernel: KernelFunction,
    columns: &[Column<'_>],
    mut order: Vec<usize>,
    count: usize,
) -> LandmarkSelection {
    let mut others = order.split_off(count.min(order.len()));
    let mut set = LandmarkSwaps::new(kernel, columns, order);
    let (mut swaps, mut proposals, mut refused) = (0, 0, 0);
    'passes: for _ in 0..PASSES {
        set.sum();
        for start in (0..others.len()).step_by(BATCH) {
            let batch = start..others.len().min(start + BATCH);
            let mut proposed = set.compare(&others[batch.clone()]);
            for at in batch {
                let (before, later) = proposed.split_at_mut(at - start + 1);
                let row = &before[at - start];
                proposals += 1;
                if let Some(place) = set.exchangeable(row) {
                    swaps += 1;
                    others[at] = set.rows[place];
                    later.iter_mut().for_each(|l| l.kernels[place] = kernel.evaluate(&row.entries, &l.entries));
                    set.exchange(place, row);
                    refused = 0;
                } else {
                    refused += 1;
                    if refused >= others.len() {
                        break 'passes;
                    }
                }
            }
        }
    }
    set.sum();
    let size = set.rows.len() as f64;
    let entropy = -(set.total / (size * size)).ln();
    LandmarkSelection { rows: set.rows, swaps, proposals, entropy, gram: set.gram }
}

/// A proposed row c and its kernels with the landmarks.
struct Proposal {
    row: usize,
    entries: Vec<f64>,
    /// k_cj for every landmark j.
    kernels: Vec<f64>,
    /// k_cc.
    own: f64,
}

/// The current landmarks.
struct LandmarkSwaps<'k> {
    kernel: KernelFunction,
    columns: &'k [Column<'k>],
    rows: Vec<usize>,
    /// Entries of the landmarks.
    tile: Tile,
    /// k_ij.
    gram: Vec<Vec<f64>>,
    /// s_i = Σ_j k_ij.
    sums: Vec<f64>,
    /// Σ_i s_i.
    total: f64,
}

impl<'k> LandmarkSwaps<'k> {
    fn new(kernel: KernelFunction, columns: &'k [Column<'k>], rows: Vec<usize>) -> Self {
        let mut tile = Tile::new(rows.len(), columns.len());
        for (place, &row) in rows.iter().enumerate() {
            columns.iter().enumerate().for_each(|(i, column)| tile.set(place, i, column.get(row)));
        }
        let mut set = LandmarkSwaps { kernel, columns, rows, tile, gram: Vec::new(), sums: Vec::new(), total: 0.0 };
        set.gram = set.compare(&set.rows).into_iter().map(|row| row.kernels).collect();
        set
    }

    /// Computes the sums anew, so that rounding does not accumulate.
    fn sum(&mut self) {
        self.sums = self.gram.iter().map(|row| row.iter().sum()).collect();
        self.total = self.sums.iter().sum();
    }

    /// Kernels of `rows` with the landmarks, in parallel.
    fn compare(&self, rows: &[usize]) -> Vec<Proposal> {
        let some = |rows: &[usize]| -> Vec<Proposal> {
            let entries: Vec<Vec<f64>> =
                rows.iter().map(|&row| self.columns.iter().map(|column| column.get(row)).collect()).collect();
            let points = Vectors::new(rows.len(), self.columns.len(), |k, i| entries[k][i]);
            let kernels = self.kernel.matrix(&points, &self.tile);
            let one = |(k, entries): (usize, Vec<f64>)| Proposal {
                row: rows[k],
                own: self.kernel.evaluate(&entries, &entries),
                entries,
                kernels: kernels.column(k).collect(),
            };
            entries.into_iter().enumerate().map(one).collect()
        };
        parallel::flat_map_chunks(rows, TASK, some)
    }

    /// The landmark whose replacement by `row` lowers S most, the first among equals; `None` if S would not fall.
    fn exchangeable(&self, row: &Proposal) -> Option<usize> {
        let mut best = (None, f64::NEG_INFINITY);
        let mut shared = 0.0;
        for (place, ((sum, k), own)) in self.sums.iter().zip(&row.kernels).zip(&self.gram).enumerate() {
            shared += k;
            let lower = 2.0 * (sum + k) - own[place];
            if lower > best.1 {
                best = (Some(place), lower);
            }
        }
        // False for NaN, which overflowing kernels give.
        best.0.filter(|_| best.1 - 2.0 * shared - row.own > EXCHANGE_GAIN * self.total.abs())
    }

    fn exchange(&mut self, place: usize, row: &Proposal) {
        for (other, &k) in row.kernels.iter().enumerate() {
            self.sums[other] += k - self.gram[other][place];
            self.gram[other][place] = k;
        }
        self.gram[place].clone_from(&row.kernels);
        self.gram[place][place] = row.own;
        self.sums[place] = self.gram[place].iter().sum();
        self.total = self.sums.iter().sum();
        row.entries.iter().enumerate().for_each(|(i, &value)| self.tile.set(place, i, value));
        self.rows[place] = row.row;
    }
}
