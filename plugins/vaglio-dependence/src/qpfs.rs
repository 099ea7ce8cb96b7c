//! Quadratic programming feature selection.

mod program;
mod redundancy;
mod similarities;

use crate::bins::Bins;
use crate::column_weights::{ColumnWeighting, members};
pub use similarities::Similarity;
use similarities::{MOST_EXACT, build_program};
use vaglio_core::{Error, Result, prelude::*};

/// Maximum number of columns; beyond, the matrix Q, 8n² bytes (3.2 GB), is refused.
const MOST_COLUMNS: usize = 20_000;

/// Quadratic programming feature selection: column weights that balance relevance against redundancy over all columns.
///
/// min over x ≥ 0 with Σ x = 1 of ½(1 − α) xᵀQx − α Fᵀx, where Q_ij is the similarity of two columns and F_i that of a
/// column with the target. The score of a subset is −Σ x_i. Lower is better; the empty subset, and columns without
/// weight, score 0. `search: rank` selects columns by their weight. `alpha` is the share of F, by default q̄/(q̄ + f̄)
/// with the means of all Q_ij and F_i, which balances both terms.
///
/// | `similarity` | Q_ij and F_i |
/// |---|---|
/// | `mutual_information` | mutual information of columns in `bins`; a column's with itself is its entropy |
/// | `correlation` | absolute correlation; with classes F_i is the mean over one against the rest, by the classes' shares |
/// | `nhsic` | inner product of centered and normalized Gaussian kernels, as in `nhsic`: exact up to 2000 rows, then by levels |
///
/// The program is solved until the Karush–Kuhn–Tucker conditions hold to 10⁻¹² of its largest entry. Then no column has
/// a slope further below that of a column with weight. If Q is positive semidefinite, as with `nhsic`, this is the
/// minimum. Matrices of absolute correlations or mutual information need not be; then it is a stationary point, found
/// from the best single column. Similar columns (Q_ii + Q_jj = 2Q_ij) have one variable in the program, and all get its
/// weight. Constant columns have weight 0. A row of weight 2 equals two such rows. The learner and λ are not used.
///
/// With `nystrom`, Q is approximated by Q_nr Q_rr⁻¹ Q_rn from r of its columns, the paper's method for many columns.
/// The approximation is positive semidefinite and takes O(nrm) and 8nr bytes instead of O(n²m) and 8n². The paper draws
/// the columns at random; here the next one has the Q_ii approximated worst, as in a pivoted Cholesky decomposition.
/// Only exact copies then count as similar.
///
/// # Example
/// ```
/// use vaglio_core::{Criterion, Design, Readout};
/// use vaglio_dependence::Qpfs;
/// let problem = vaglio_testkit::data::regression(30, 5, 1).problem();
/// let design = Design::identity(&problem, Readout::new(vec![1.0], true)?);
/// let all = Qpfs::default().evaluate(&design, &[0, 1, 2, 3, 4])?.loss;
/// assert!((all + 1.0).abs() < 1e-12);
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// I. Rodriguez-Lujan, R. Huerta, C. Elkan and C. Santa Cruz, *Quadratic programming feature selection*, Journal of
/// Machine Learning Research 11, 2010. The exchanges are those of R.-E. Fan, P.-H. Chen and C.-J. Lin, *Working set
/// selection using second order information for training support vector machines*, Journal of Machine Learning Research
/// 6, 2005.
#[part(
    Criterion,
    "qpfs",
    summary = "weights of a quadratic program of relevance and redundancy over all columns; with `search: rank`",
    example = "criterion: {kind: qpfs, similarity: mutual_information}\nsearch: {kind: rank, max_features: 10, choose: last}",
    title = "QPFS"
)]
#[derive(Copy, PartialEq)]
pub struct Qpfs {
    /// Similarity of two columns, and of a column and the target.
    pub similarity: Similarity,
    /// Weight of relevance, from 0 to 1.
    pub alpha: Alpha,
    /// Binning of columns for mutual information.
    pub bins: Bins,
    /// Number of columns in the Nyström approximation of Q; exact if absent.
    pub nystrom: Option<usize>,
}

/// Weight of relevance.
#[setting]
#[derive(Copy, PartialEq, Default)]
#[serde(expecting = "expected `auto` or a number from 0 to 1")]
pub enum Alpha {
    /// q̄/(q̄ + f̄), which balances relevance and redundancy.
    #[default]
    Auto,
    /// A number from 0 to 1.
    #[serde(untagged)]
    Value(f64),
}

impl ColumnWeighting for Qpfs {
    const COUNTS_COPIES: bool = true;

    /// Computes the weights. Cost O(n² m) plus the program; with `nystrom` of r columns O(nrm).
    fn weights(&self, design: &Design, columns: &[Feature]) -> Result<Vec<f64>> {
        let program = build_program(self, design, columns)?;
        let alpha = match self.alpha {
            Alpha::Value(alpha) => alpha,
            Alpha::Auto => program.balance(),
        };
        program.solve(alpha)
    }

    fn check_weighting(&self, design: &Design) -> Result<()> {
        self.bins.check()?;
        if let Alpha::Value(alpha) = self.alpha {
            Error::unless_between("alpha", alpha, 0.0..=1.0)?;
        }
        if self.nystrom == Some(0) {
            return Err(Error::setting("nystrom", "0 columns approximate nothing; 1 is the least"));
        }
        let columns = members(design).len();
        if columns > MOST_COLUMNS && self.nystrom.is_none() {
            let message = format!(
                "the program compares every column with every other, which is done for at most {MOST_COLUMNS} columns, and \
                 there are {columns}; give `nystrom: 500`, leave some out, or use `mrmr_information`"
            );
            return Err(Error::setting("kind", message));
        }
        Ok(())
    }

    /// Plans the similarities of all pairs of columns, once; a trial is a sum.
    fn estimate(&self, design: &Design, extent: &SearchExtent, columns: f64) -> Estimate {
        let rows = design.planned_rows() as f64;
        let (pair, column) = match self.similarity {
            Similarity::MutualInformation => (8.0, 4.0),
            Similarity::Correlation => (2.0, 8.0),
            // Thin factors of about 26 columns; additions to memory by levels take about as long as two flops.
            Similarity::Nhsic if design.planned_rows() > MOST_EXACT => (8.0 * 26.0, 2.0),
            Similarity::Nhsic => (2.0 * 26.0 * 26.0, 8.0 * 26.0),
        };
        let kept = self.nystrom.map_or(columns, |kept| columns.min(kept as f64));
        let others = if self.nystrom.is_some() { kept } else { columns / 2.0 };
        Estimate {
            engine: "program",
            reason: "one quadratic program on the similarities of all columns gives every score".into(),
            flops: pair * rows * columns * others + 1000.0 * columns * kept + extent.trials,
            bytes: 12.0 * columns * kept + column * rows * columns,
        }
    }
}
