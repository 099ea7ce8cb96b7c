//! Quadratic programming feature selection.

mod program;
mod redundancy;
mod similarities;

use crate::bins::Bins;
use crate::target::{Output, check};
use crate::weighed::{Weighing, members, scored_by_weights};
use program::Program;
use similarities::{Similarities, kernels_of};
use vaglio_core::{Criterion, Design, Error, Estimate, Outline, Result, part, setting};

/// The identifier of the shortcut in `selection.json` and in plans.
const ENGINE: &str = "program";
/// Columns beyond which the matrix Q, 8n² bytes, is refused: 3.2 GB.
const MOST_COLUMNS: usize = 20_000;

/// What columns weigh in the program that sets the relevance of all against the redundancy among all.
///
/// min over x ≥ 0 with Σ x = 1 of ½(1 − α) xᵀQx − α Fᵀx, where Q_ij is the similarity of two columns and F_i that of a column
/// with the target; the score of a subset is −Σ x_i. Lower is better, and 0, the score of the empty subset, is that of columns
/// without weight. `search: rank` takes the columns by their weight. `alpha` is F's share, by default
/// q̄/(q̄ + f̄) with the means of all Q_ij and F_i, which makes both parts count alike.
///
/// | `similarity` | Q_ij and F_i |
/// |---|---|
/// | `mutual_information` | mutual information of columns in `bins`; of a column with itself its entropy |
/// | `correlation` | absolute correlation; with classes F_i is the mean over one against the rest, by the classes' shares |
/// | `nhsic` | inner product of centered and normalized Gaussian kernels, as in `nhsic`: exact up to 2000 rows, then by levels |
///
/// The program is solved until the conditions of Karush, Kuhn and Tucker hold to 10⁻¹² of its largest entry: no slope of a column is
/// further below that of a column with weight. Where Q is positive semidefinite, as with `nhsic`, this is the minimum. Matrices of
/// absolute correlations or mutual information need not be; then it is a point of rest, found from the best single column. Of columns that are alike
/// (Q_ii + Q_jj = 2Q_ij), one is in the program and all have its weight. Constant columns have none. A row of weight 2 equals
/// that row twice. The learner and λ play no part.
///
/// With `nystrom` Q is the approximation Q_nr Q_rr⁻¹ Q_rn by r of its columns, which is positive semidefinite, in O(nrm) and 8nr bytes in place of
/// O(n²m) and 8n²: the paper's way to many columns. Where the paper draws them at random, the next is that whose Q_ii is least
/// approximated, as in a Cholesky decomposition with pivots; then only copies are alike.
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
/// I. Rodriguez-Lujan, R. Huerta, C. Elkan and C. Santa Cruz, *Quadratic programming feature selection*, Journal of Machine
/// Learning Research 11, 2010. The exchanges are those of R.-E. Fan, P.-H. Chen and C.-J. Lin, *Working set selection using
/// second order information for training support vector machines*, Journal of Machine Learning Research 6, 2005.
#[part(
    Criterion,
    "qpfs",
    summary = "weights of a quadratic program of relevance and redundancy over all columns; with `search: rank`",
    example = "criterion: {kind: qpfs, similarity: mutual_information}\nsearch: {kind: rank, max_features: 10, choose: last}",
    title = "QPFS"
)]
#[derive(Copy, PartialEq)]
pub struct Qpfs {
    /// How two columns, and a column and the target, are compared.
    pub similarity: Similarity,
    /// The weight of relevance, from 0 to 1.
    pub alpha: Alpha,
    /// How columns are put into bins for mutual information.
    pub bins: Bins,
    /// How many columns Q is approximated by (Nyström); without a number it is exact.
    pub nystrom: Option<usize>,
}

vaglio_core::setters!(Qpfs { similarity: Similarity, alpha: Alpha, bins: Bins; nystrom: Option<usize>; });

/// How two columns, and a column and the target, are compared.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Similarity {
    /// Mutual information of columns in bins.
    #[default]
    MutualInformation,
    /// Absolute correlation.
    Correlation,
    /// Normalized Hilbert–Schmidt independence.
    Nhsic,
}

/// The weight of relevance.
#[setting]
#[derive(Copy, PartialEq)]
#[serde(untagged, expecting = "expected `auto` or a number from 0 to 1")]
pub enum Alpha {
    /// By a rule.
    Rule(AlphaRule),
    /// This number, from 0 to 1.
    Value(f64),
}

impl Default for Alpha {
    fn default() -> Self {
        Alpha::Rule(AlphaRule::Auto)
    }
}

/// A rule for the weight of relevance.
#[setting]
#[derive(Copy, PartialEq, Eq)]
pub enum AlphaRule {
    /// q̄/(q̄ + f̄), by which relevance and redundancy count alike.
    Auto,
}

impl Weighing for Qpfs {
    /// Cost O(n² m) and that of the program; with `columns` of r O(nrm).
    fn weights(&self, design: &Design) -> Result<Vec<f64>> {
        let members = members(design);
        let similarities = Similarities::new(self, design, &members)?;
        let alpha = match self.alpha {
            Alpha::Value(alpha) => alpha,
            Alpha::Rule(AlphaRule::Auto) => similarities.balance(),
        };
        let program = Program::new(similarities, alpha);
        let mut weights = vec![0.0; design.features()];
        members.into_iter().zip(program.solve()?).for_each(|(feature, x)| weights[feature] = x);
        Ok(weights)
    }
}

impl Criterion for Qpfs {
    scored_by_weights!(ENGINE);

    fn check(&self, design: &Design) -> Result<()> {
        self.bins.check()?;
        if let Alpha::Value(alpha) = self.alpha {
            Error::unless_between("alpha", alpha, 0.0..=1.0)?;
        }
        check(Output::Auto, design)?;
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

    /// The similarities of all pairs of columns, once; a trial is a sum.
    fn estimate(&self, design: &Design, outline: &Outline) -> Estimate {
        let (rows, columns) = (design.planned_rows() as f64, members(design).len() as f64);
        let (pair, column) = match self.similarity {
            Similarity::MutualInformation => (8.0, 4.0),
            Similarity::Correlation => (2.0, 8.0),
            // Thin factors of about 26 columns; by levels additions to memory, which take about as long as two flops.
            Similarity::Nhsic if kernels_of(design.planned_rows()).is_by_levels(design.planned_rows()) => {
                (8.0 * 26.0, 2.0)
            }
            Similarity::Nhsic => (2.0 * 26.0 * 26.0, 8.0 * 26.0),
        };
        let kept = self.nystrom.map_or(columns, |kept| columns.min(kept as f64));
        let others = if self.nystrom.is_some() { kept } else { columns / 2.0 };
        Estimate {
            engine: ENGINE,
            reason: "one quadratic program on the similarities of all columns gives every score".into(),
            flops: pair * rows * columns * others + 1000.0 * columns * kept + outline.trials,
            bytes: 12.0 * columns * kept + column * rows * columns,
        }
    }
}
