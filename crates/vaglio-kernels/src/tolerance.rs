//! Every tolerance of the numerics, named once with what it bounds.
//!
//! A flop rounds by 1.1e-16 of its result. What is a difference of nearly equal numbers loses digits to cancellation, so
//! most of these are shares: how little may be left of the numbers that were subtracted.

/// The conditioning of a loss, below which it is refitted: errors of its residuals are about 1e-15 over it of the targets,
/// so ten digits are left, fewer of residuals that are small beside the targets.
pub(crate) const UNRELIABLE: f64 = 1e-5;
/// The conditioning from which down the columns, as they entered one after the other, no longer serve for the score of rows
/// held out and for removals: these are then made from the rows.
pub(crate) const AS_ENTERED: f64 = 1e-3;
/// The share of itself to which H_ii, a diagonal of an inverse, may fall when another column leaves: the two were nearly
/// dependent, and H is made anew.
pub(crate) const FALLEN_INVERSE: f64 = 1e-4;
/// Likewise for moments, where H and the square of it in H·A_v·H fall: the conditioning times the share squared.
pub(crate) const FALLEN_MOMENTS: f64 = 1e-4;
/// λ as a part of the squares of all columns, below which XXᵀ + λI, with the squares of the condition, has fewer than eight
/// digits.
pub(crate) const SMALL_PENALTY: f64 = 1e-8;
/// The error of the least eigenvalue of a tridiagonal form, relative to the greatest.
pub(crate) const LEAST_EIGENVALUE: f64 = 1e-12;

/// Predictions of classes, coded ±1, that are closer than this are equal but for rounding, and a tie is wrong.
pub(crate) const TIED_PREDICTION: f64 = 1e-12;
/// The part of the sum of kernels by which exchanging a landmark must lower it: less is rounding.
pub(crate) const EXCHANGE_GAIN: f64 = 1e-9;

/// A part of the largest correlation of a least-angle path: differences below it count as none.
pub(crate) const EQUAL_CORRELATION: f64 = 1e-13;
/// The share of its square that a column must keep beside those on a least-angle path.
pub(crate) const DEPENDENT_COLUMN: f64 = 1e-12;
/// The share of a square below which the factor of a least-angle path is made anew before it is trusted.
pub(crate) const SUSPECT_COLUMN: f64 = 1e-8;
/// The part of the largest correlation below which a dependent column is the end of a path, where all correlations are 0.
pub(crate) const END_OF_PATH: f64 = 1e-9;
/// The part of its terms below which the rate at which a correlation nears the common one is rounding.
pub(crate) const RATE_ROUNDING: f64 = 1e-14;

/// What a pivoted Cholesky decomposition of a kernel matrix may leave of the trace, relative to a lower bound of ‖K̄‖_F.
pub(crate) const TRACE_LEFT: f64 = 1e-12;
/// What it may leave of a trace of 1 in any case: less is rounding.
pub(crate) const TRACE_ROUNDING: f64 = 4e-15;
/// The part of the largest eigenvalue of the kernel matrix of landmarks below which an eigenvalue is left out.
pub(crate) const SMALL_EIGENVALUE: f64 = 1e-10;
/// The gradient, beside ‖target‖·√Q_kk, that is too small for a non-negative coefficient to enter.
pub(crate) const FLAT_GRADIENT: f64 = 1e-14;
/// By how much Q_kk counts as larger: dependent columns then have one minimum, and the value moves by as little.
pub(crate) const QUADRATIC_RIDGE: f64 = 1e-14;
