//! Binning of columns, and mutual information of binned columns.

use crate::kernel_matrix::{shares, standardize};
use vaglio_core::{Design, Error, Feature, Result, argsort_by, setting};
use vaglio_kernels::parallel;
use vaglio_kernels::tolerance::{BIN_EDGE, ENTROPY_ROUNDING};

/// Binning of the entries of a column or a numeric target.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Bins {
    /// Three bins: at least one standard deviation below the mean, at least one above, and in between.
    #[default]
    Deviation,
    /// This many bins of equal width between the lowest and the highest entry.
    Width(usize),
    /// This many bins of equal weight; equal entries stay together, in the bin of their middle.
    Frequency(usize),
}

impl Bins {
    /// Rejects fewer than 2 bins, or more than 256.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub(crate) fn check(self) -> Result<()> {
        match self {
            Bins::Deviation => Ok(()),
            Bins::Width(count) => Error::unless_between("bins.width", count, 2..=256),
            Bins::Frequency(count) => Error::unless_between("bins.frequency", count, 2..=256),
        }
    }

    /// Bin of each row. Cost O(m), for equal weight O(m log m).
    fn assign(self, values: &[f64], weights: &[f64]) -> Vec<u32> {
        match self {
            Bins::Deviation => by_deviation(values, weights),
            Bins::Width(count) => by_width(values, count),
            Bins::Frequency(count) => by_frequency(values, weights, count),
        }
    }
}

fn by_deviation(values: &[f64], weights: &[f64]) -> Vec<u32> {
    let Some(units) = standardize(values, &shares(values.len(), Some(weights))) else { return vec![0; values.len()] };
    let bin = |u: &f64| match *u {
        u if u <= BIN_EDGE - 1.0 => 0,
        u if u >= 1.0 - BIN_EDGE => 2,
        _ => 1,
    };
    units.iter().map(bin).collect()
}

fn by_width(values: &[f64], count: usize) -> Vec<u32> {
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
    // Halves, whose difference does not overflow.
    let width = high / 2.0 - low / 2.0;
    let place = |v: &f64| if width > 0.0 { (v / 2.0 - low / 2.0) / width } else { 0.0 };
    values.iter().map(|v| ((place(v) * count as f64) as u32).min(count as u32 - 1)).collect()
}

fn by_frequency(values: &[f64], weights: &[f64], count: usize) -> Vec<u32> {
    let order = argsort_by(values.len(), |j, k| values[j].total_cmp(&values[k]));
    let (total, mut below, mut bins) = (weights.iter().sum::<f64>(), 0.0, vec![0; values.len()]);
    for equal in order.chunk_by(|&j, &k| values[j] == values[k]) {
        let own: f64 = equal.iter().map(|&j| weights[j]).sum();
        let place = (below + own / 2.0) / total * count as f64 + BIN_EDGE;
        equal.iter().for_each(|&j| bins[j] = (place as u32).min(count as u32 - 1));
        below += own;
    }
    bins
}

/// A binned column.
pub(crate) struct Binned {
    labels: Vec<u32>,
    /// Share of the rows in each bin.
    shares: Vec<f64>,
}

impl Binned {
    fn new(labels: Vec<u32>, weights: &[f64]) -> Self {
        let count = labels.iter().max().map_or(0, |last| *last as usize + 1);
        let mut shares = vec![0.0; count];
        labels.iter().zip(weights).for_each(|(bin, r)| shares[*bin as usize] += r);
        let total: f64 = weights.iter().sum();
        shares.iter_mut().for_each(|share| *share /= total);
        Binned { labels, shares }
    }

    /// −Σ p ln p. Cost O(bins).
    fn entropy(&self) -> f64 {
        -self.shares.iter().filter(|share| **share > 0.0).map(|share| share * share.ln()).sum::<f64>()
    }
}

/// Binned columns and targets.
pub(crate) struct BinnedData {
    pub columns: Vec<Binned>,
    /// The classes, or every numeric output by itself.
    pub targets: Vec<Binned>,
    weights: Vec<f64>,
    total: f64,
    /// Number of rows, whatever the sum of the weights.
    rows: f64,
}

impl BinnedData {
    /// Bins the columns `features` and the targets, with one bin per class. Cost O(m) each.
    pub fn new(bins: Bins, design: &Design, features: &[Feature]) -> Self {
        let weights = design.weights().map_or_else(|| vec![1.0; design.rows()], <[f64]>::to_vec);
        let binned = |values: &[f64]| Binned::new(bins.assign(values, &weights), &weights);
        let columns = parallel::map_slice(features, |&feature| binned(&design.column(feature).values()));
        let targets = match design.problem().classes() {
            Some(classes) => vec![Binned::new(classes.per_row.iter().map(|&class| class as u32).collect(), &weights)],
            None => design.targets().rows().into_iter().map(|y| binned(&y.to_vec())).collect(),
        };
        BinnedData { columns, targets, total: weights.iter().sum(), weights, rows: design.rows() as f64 }
    }

    /// Mutual information I = Σ p_ab ln(p_ab/(p_a p_b)) of two binned columns; a column's with itself is its entropy.
    /// Cost O(m) and O(bins²).
    pub fn information(&self, a: &Binned, b: &Binned) -> f64 {
        let width = b.shares.len();
        let mut table = vec![0.0; a.shares.len() * width];
        for ((a, b), r) in a.labels.iter().zip(&b.labels).zip(&self.weights) {
            table[*a as usize * width + *b as usize] += r;
        }
        let mut sum = 0.0;
        for (row, share_a) in table.chunks_exact(width.max(1)).zip(&a.shares) {
            for (both, share_b) in row.iter().zip(&b.shares).filter(|(both, _)| **both > 0.0) {
                let both = both / self.total;
                // A product of the shares of two bins may underflow.
                sum += both * (both / share_a / share_b).ln();
            }
        }
        sum.max(0.0)
    }

    /// G² = 2 Σ O ln(O/E) of two columns within each combination of the bins of `given`, and its degrees of freedom.
    /// Weights are divided by their mean.
    ///
    /// A combination has (rows − 1) × (columns − 1) degrees of freedom, over its non-empty bins. Returns `None` for
    /// fewer rows per cell than `least`. Cost O(m), and O(1) per cell.
    pub fn g_squared(&self, a: &Binned, b: &Binned, given: &[&Binned], least: f64) -> Option<(f64, f64)> {
        let (height, width) = (a.shares.len(), b.shares.len());
        let cells_per_stratum = height * width;
        let cells = given.iter().try_fold(cells_per_stratum, |cells, z| cells.checked_mul(z.shares.len()))?;
        if self.rows < least * cells as f64 {
            return None;
        }
        let mut table = vec![0.0; cells];
        for (row, r) in self.weights.iter().enumerate() {
            let stratum = given.iter().fold(0, |place, z| place * z.shares.len() + z.labels[row] as usize);
            table[stratum * cells_per_stratum + a.labels[row] as usize * width + b.labels[row] as usize] += r;
        }
        let (mut g_squared, mut freedom) = (0.0, 0.0);
        for stratum in table.chunks_exact(cells_per_stratum.max(1)) {
            let sums_a: Vec<f64> = stratum.chunks_exact(width).map(|row| row.iter().sum()).collect();
            let sums_b: Vec<f64> = (0..width).map(|k| stratum.iter().skip(k).step_by(width).sum()).collect();
            let total: f64 = sums_a.iter().sum();
            for (row, own) in stratum.chunks_exact(width).zip(&sums_a) {
                for (cell, other) in row.iter().zip(&sums_b).filter(|(cell, _)| **cell > 0.0) {
                    g_squared += 2.0 * cell * (cell / own * total / other).ln();
                }
            }
            let filled = |sums: &[f64]| sums.iter().filter(|sum| **sum > 0.0).count().saturating_sub(1);
            freedom += (filled(&sums_a) * filled(&sums_b)) as f64;
        }
        Some((g_squared.max(0.0) * (self.rows / self.total), freedom))
    }

    /// Symmetrical uncertainty 2·I/(H_a + H_b), from 0 to 1; 0 if both columns are constant. Cost O(m) and O(bins²).
    pub fn symmetrical_uncertainty(&self, a: &Binned, b: &Binned) -> f64 {
        let entropies = a.entropy() + b.entropy();
        if entropies > ENTROPY_ROUNDING { (2.0 * self.information(a, b) / entropies).min(1.0) } else { 0.0 }
    }

    /// Mean over outputs of a dependence of a column on the target.
    pub fn target_dependence(&self, column: &Binned, dependence: fn(&Self, &Binned, &Binned) -> f64) -> f64 {
        let dependences = self.targets.iter().map(|target| dependence(self, column, target));
        dependences.sum::<f64>() / self.targets.len().max(1) as f64
    }
}
