//! Kernels of the target.

use crate::kernel_matrix::{PaddedColumn, RowPairs, ThinFactor, gaussian, row_shares, standardize};
use vaglio_core::{Design, Error, Result, Task, number, number_labels, setting};

/// The kernel of the target.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Output {
    /// `gaussian` for numbers, `delta` for classes.
    #[default]
    Auto,
    /// Gaussian on the standardized targets; classes count as numbers.
    Gaussian,
    /// 1 divided by the class's share of the rows within a class, 0 between classes.
    Delta,
    /// 1 within a class, 0 between classes.
    SameClass,
}

impl Output {
    /// Whether the kernel is Gaussian on the targets of a design.
    pub(crate) fn is_gaussian(self, design: &Design) -> bool {
        self == Output::Gaussian || *design.problem().task() == Task::Regression
    }
}

/// A target in the form its kernel needs.
pub(crate) enum Target {
    /// Standardized non-constant targets, and σ.
    Numbers(Vec<Vec<f64>>, f64),
    /// Class of each row, and the kernel value within each class.
    Classes(Vec<usize>, Vec<f64>),
}

/// Centered kernel matrix L̄ of a target.
pub(crate) enum TargetMatrix<'t> {
    Thin(ThinFactor),
    /// Gaussian kernel matrix of full rank, as in many dimensions, where a factor would cost O(m³).
    Full {
        coordinates: &'t [Vec<f64>],
        bandwidth: f64,
    },
}

/// Maximum rank of a factor for this many rows: beyond it, products with the matrix itself cost less.
pub(crate) fn thin(rows: usize) -> usize {
    LEAST_THIN.max(4 * rows.isqrt())
}

const LEAST_THIN: usize = 256;

impl Target {
    /// Prepares a target; classes are numbered like the outputs. Cost O(m).
    pub fn new(output: Output, bandwidth: f64, design: &Design) -> Self {
        let shares = row_shares(design);
        match (output, design.problem().classes()) {
            (Output::Auto | Output::Delta | Output::SameClass, Some(classes)) => {
                let class_of_row = classes.per_row;
                let mut inside = vec![0.0; class_of_row.iter().max().map_or(0, |last| last + 1)];
                class_of_row.iter().zip(&shares).for_each(|(class, share)| inside[*class] += share);
                let kernel = |share: &f64| if output == Output::SameClass { 1.0 } else { 1.0 / share };
                let inside = inside.iter().map(kernel).collect();
                Target::Classes(class_of_row, inside)
            }
            _ => {
                let rows = design.targets();
                let unit = |y: Vec<f64>| standardize(&y, &shares);
                Target::Numbers(rows.rows().into_iter().filter_map(|y| unit(y.to_vec())).collect(), bandwidth)
            }
        }
    }

    /// Numbers classes in order of appearance. Cost O(m).
    pub fn by_appearance(self) -> Self {
        let Target::Classes(known, inside) = self else { return self };
        let (numbers, count) = number_labels(&known);
        let mut renumbered = vec![0.0; count];
        numbers.iter().zip(&known).for_each(|(&class, &before)| renumbered[class as usize] = inside[before]);
        Target::Classes(numbers.into_iter().map(|class| class as usize).collect(), renumbered)
    }

    /// Centered kernel matrix: a thin factor if the rank is low, else the full matrix. Cost O(m·rank²).
    pub fn matrix(&self, shares: &[f64]) -> TargetMatrix<'_> {
        TargetMatrix::Thin(match self {
            Target::Numbers(targets, _) if targets.is_empty() => ThinFactor::default(),
            Target::Numbers(targets, bandwidth) => match gaussian(shares, targets, *bandwidth, thin(shares.len())) {
                Some(factor) => factor,
                None => return TargetMatrix::Full { coordinates: targets, bandwidth: *bandwidth },
            },
            Target::Classes(class, inside) => ThinFactor::from_classes(shares, class, inside.iter().any(|v| *v != 1.0)),
        })
    }

    /// Kernel L_jk of the targets of rows j and k. Cost O(outputs).
    pub fn kernel(&self, j: usize, k: usize) -> f64 {
        match self {
            Target::Numbers(targets, bandwidth) => {
                let distance: f64 = targets.iter().map(|y| (y[j] - y[k]) * (y[j] - y[k])).sum();
                (-distance / (2.0 * bandwidth * bandwidth)).exp()
            }
            Target::Classes(class, inside) if class[j] == class[k] => inside[class[j]],
            Target::Classes(..) => 0.0,
        }
    }

    /// Kernels of all pairs of rows. Cost O(m²).
    pub fn kernels(&self, rows: usize) -> RowPairs {
        let Target::Numbers(targets, bandwidth) = self else { return RowPairs::new(rows, |j, k| self.kernel(j, k)) };
        let mut distances = RowPairs::zeros(rows);
        targets.iter().for_each(|y| distances.add_distances(&PaddedColumn::new(y)));
        RowPairs::new(rows, |_, _| 1.0).times_exp(&distances, -0.5 / (bandwidth * bandwidth))
    }
}

/// Maximum bandwidth: wider kernels are constant up to rounding.
const WIDEST: f64 = 1e3;

/// Rejects a bandwidth that is not positive, or beyond the maximum.
pub(crate) fn check_bandwidth(bandwidth: f64) -> Result<()> {
    if bandwidth > 0.0 && bandwidth <= WIDEST {
        return Ok(());
    }
    Err(Error::setting("kernel.bandwidth", format!("{} is not a positive number up to {WIDEST}", number(bandwidth))))
}

/// Rejects constant targets, and class kernels for numeric targets.
pub(crate) fn check(output: Output, design: &Design) -> Result<()> {
    if let Some(bias) = design.problem().bias() {
        return Err(Error::without_spread(&design.problem().names()[bias]));
    }
    if matches!(output, Output::Delta | Output::SameClass) && *design.problem().task() == Task::Regression {
        return Err(Error::setting("kernel.output", "the target is numeric and has no classes; use `gaussian`"));
    }
    let targets = design.targets();
    if !targets.rows().into_iter().any(|y| y.iter().any(|v| Some(v) != y.first())) {
        return Err(Error::setting("kind", "the target has a single value, on which nothing can depend"));
    }
    Ok(())
}
