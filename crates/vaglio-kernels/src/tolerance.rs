//! Every tolerance of the numerics, named once with what it bounds.
//!
//! A flop rounds by 1.1e-16 of its result. What is a difference of nearly equal numbers loses digits to cancellation, so
//! most of these are shares: how little may be left of the numbers that were subtracted. Those that criteria and searches
//! judge scores by are public.

pub use vaglio_columns::{LOSS_ROUNDING, TIED_PREDICTION};

/// The conditioning of a loss, below which it is refitted: errors of its residuals are about 1e-15 over it of the targets,
/// so ten digits are left, fewer of residuals that are small beside the targets.
pub(crate) const UNRELIABLE: f64 = 1e-5;
/// The part of the targets, over the conditioning, down to which residuals have the digits of [`UNRELIABLE`].
pub(crate) const SMALL_RESIDUAL: f64 = 1e-8;
/// The conditioning of a row from which on its residual has all digits, however small it is beside its target.
pub(crate) const SOUND_ROW: f64 = 1e-2;
/// What may be wrong of residuals from an inverse of rows, as a part of them.
pub(crate) const INVERSE_ERROR: f64 = 1e-9;

// Leave-one-out: states and their bounds.

/// Of ‖x‖²: below this part cancellation in an updated xᵀG x counts, and it is computed again from the rows.
pub(crate) const CANCELLED_PRODUCT: f64 = 1e-3;
/// Of λ + ‖x‖²: where less is left of a column beside those selected, it is nearly dependent and becomes a direction of an
/// orthonormal basis.
pub(crate) const NEARLY_DEPENDENT: f64 = 1e-7;
/// Of λ + ‖x‖²: from this part of a column down, rounding of the state counts beside that of 1 − leverage.
pub(crate) const DIGITS_LEFT: f64 = 1e-4;
/// The largest λ + ‖x‖² over the least, beyond which a decomposition of all columns at once costs the digits of short ones.
pub(crate) const UNLIKE_SQUARES: f64 = 1e12;
/// The share of itself to which H_ii, a diagonal of an inverse, may fall when another column leaves: the two were nearly
/// dependent, and H is computed again from the rows.
pub(crate) const FALLEN_INVERSE: f64 = 1e-4;
/// By how much the targets of a class may differ, as a part of them: rounding of the scale of rows.
pub(crate) const EQUAL_TARGETS: f64 = 1e-14;
/// Of ‖C_b‖: beyond this, the lengths of its summands add up to so much that they cancel in their sum.
pub(crate) const CANCELLED_SUM: f64 = 30.0;
/// The part of its squares above which a round of orthogonalizing leaves a vector that needs no other.
pub(crate) const ORTHOGONALIZED: f64 = 0.5;
/// Of ‖x‖²: below this part of it, xᵀG x has too few digits for a lower bound.
pub(crate) const UNBOUNDED_COLUMN: f64 = 1e-6;
/// Of ‖x‖²: by how much xᵀG x may be wrong where it comes from inner products of columns, which bounds allow for.
pub(crate) const PRODUCT_DRIFT: f64 = 1e-12;
/// Of ‖x‖²: above this part, a cached G x is as good as one computed from x.
pub(crate) const SOUND_CACHE: f64 = 1e-2;
/// Of ‖x‖²: above this part, products with c of a rank-one update may be taken from x in place of G x.
pub(crate) const INDEPENDENT_COLUMN: f64 = 0.1;
/// Rounding that a lower bound may have, relative to the terms it is made of.
pub(crate) const BOUND_ROUNDING: f64 = 1e-9;
/// What rounding leaves of the lower end of an interval, by far.
pub(crate) const INTERVAL_LEFT: f64 = 1.0 - 1e-5;
/// Rounding of a difference of sums over rows, relative to its terms.
pub(crate) const WEIGHT_ROUNDING: f64 = 1e-12;
/// The condition number of a Gram matrix of columns of length 1, from which on a bound of a subtree claims nothing.
pub(crate) const ILL_CONDITIONED: f64 = 1e10;
/// Rounding of the residual sum of squares below a subtree at least, relative to ‖y‖².
pub(crate) const RSS_ROUNDING: f64 = 1e-13;
/// The same for each unit of the condition number, since what a dropped column costs is c_b²/(A⁻¹)_bb and both are off by
/// so much.
pub(crate) const RSS_ROUNDING_BY_CONDITION: f64 = 1e-15;
/// What 1 − leverage is at least taken for in tangents to losses of rows held out, which rise without bound towards 0; of rows that
/// are held out together, the pivot above which a tangent is taken.
pub(crate) const LEAST_COMPLEMENT: f64 = 1e-3;
/// The part of Σ(x_i − shift)² that another shift may take off before sums of row blocks lose digits.
pub(crate) const SHIFTED_SQUARES: f64 = 0.5;

// K-fold: moments and rows held out.

/// The conditioning from which down the columns, as they entered one after the other, no longer serve for the score of rows
/// held out and for removals: these are then made from the rows.
pub(crate) const AS_ENTERED: f64 = 1e-3;
/// As [`FALLEN_INVERSE`] for moments, where H and the square of it in H·A_v·H fall: the conditioning times the share squared.
pub(crate) const FALLEN_MOMENTS: f64 = 1e-4;
/// The share of a sum of squares below which one about the mean has lost digits.
pub(crate) const FEW_DIGITS: f64 = 1e-4;
/// The part of the weight of all rows, or of a class, that a fold is trained on, below which differences of sums over all
/// rows and over those held out have too few digits.
pub const LIGHT_TRAINING: f64 = 1e-4;

// Ridge solves and eigenvalues.

/// λ as a part of the squares of all columns, below which XXᵀ + λI, with the squares of the condition, has fewer than eight
/// digits.
pub(crate) const SMALL_PENALTY: f64 = 1e-8;
/// The part of the largest sum of squares of a column below which λ tells nothing of columns that depend on each other: its
/// root is what is left of nine digits.
pub const NO_PENALTY: f64 = 1e-18;
/// What is left of a column of length 1 beside the others, below which it depends on them.
pub const DEPENDENT_LENGTH: f64 = 1e-8;
/// The weights of rows beyond which their order counts in reflections, over the least.
pub(crate) const UNLIKE_WEIGHTS: f64 = 1e6;
/// How many times the least weight the greatest may be, beyond which sums over rows keep nothing of the others.
pub const LOST_WEIGHTS: f64 = 1e12;
/// What a correction of weights by residuals of the rows leaves of an error, over ε·κ: far above what random problems show.
pub(crate) const CORRECTION_LEFT: f64 = 16.0;
/// What a correction may leave of an error, as predicted and as seen.
pub(crate) const CORRECTION_MOST: f64 = 0.05;
/// The part of the rounding of reflections, ε·√κ, that may be left of an error after corrections.
pub(crate) const CORRECTION_BESIDE: f64 = 0.25;
/// How much better a ridge fit from singular values is conditioned than its bound says: measured errors are smaller.
pub(crate) const CONDITIONING_SPARE: f64 = 32.0;
/// What rounding may add to an eigenvalue, as a part of the largest.
pub const EIGENVALUE_ROUNDING: f64 = 4.0 * f64::EPSILON;
/// The part of the largest eigenvalue below which one has lost so many digits that it is made from the rows.
pub const EIGENVALUE_OF_ROWS: f64 = 1e-4;
/// The part of the largest eigenvalue below which another does not count for a grid of λ: closed forms lose half of their digits.
pub const COUNTED_EIGENVALUE: f64 = 1e-8;
/// The largest ‖x‖² over the least, beyond which eigenvalues of products lose the digits of short columns.
pub const UNLIKE_COLUMNS: f64 = 1e6;
/// The part of the largest λ below which none is tried: nothing would be left of the digits of a score.
pub const LEAST_PENALTY: f64 = 1e-13;
/// The error of the least eigenvalue of a tridiagonal form, relative to the greatest.
pub(crate) const LEAST_EIGENVALUE: f64 = 1e-12;

// Losses, and scores that criteria and searches compare.

/// The part of the weight of a class, or of all rows, below which what is left of it is rounding.
pub const WEIGHT_GONE: f64 = 1e-12;
/// The error of a squared loss times its conditioning, as a part of it and of the squares that it is a difference of: far
/// above the 1e-16 of each operation.
pub const LOSS_ERROR: f64 = 1e-11;
/// The error of a difference of squares times their conditioning, as a part of them: far above the 1e-16 of each operation.
pub const DIFFERENCE_ERROR: f64 = 1e-13;
/// The part of the squares of the targets, over the conditioning, that a reliable difference of them leaves.
pub const DIFFERENCE_LEFT: f64 = 1e-8;
/// The conditioning from which down a loss has no digits.
pub const NO_DIGITS: f64 = 1e-9;
/// The part of ‖y‖² that errors of a fit must keep for a difference of squares to have their digits.
pub const ERROR_LEFT: f64 = 1e-4;
/// The share of the fall that its slope promises which a step of Newton's method must reach.
pub const SUFFICIENT_FALL: f64 = 1e-4;
/// The part of the largest slope that may be left at the end of Newton's method: more is rounding, in which steps are lost.
pub const FLAT_SLOPE: f64 = 1e-6;
/// The part of a score by which an exchange of columns must lower it, well above rounding.
pub const SCORE_GAIN: f64 = 1e-10;
/// The part of a score by which two ways of computing it, or two searches that walk to it, may differ.
pub const SCORE_ROUNDING: f64 = 1e-9;

// Landmarks and least-angle paths.

/// The part of the sum of kernels by which exchanging a landmark must lower it: less is rounding.
pub(crate) const EXCHANGE_GAIN: f64 = 1e-9;
/// A part of the largest correlation of a least-angle path: differences below it count as none.
pub(crate) const EQUAL_CORRELATION: f64 = 1e-13;
/// The share of its square that a column must keep beside those on a least-angle path, or beside others by least squares.
pub const DEPENDENT_COLUMN: f64 = 1e-12;
/// The share of a square below which the factor of a least-angle path is computed again before it is trusted.
pub(crate) const SUSPECT_COLUMN: f64 = 1e-8;
/// The part of the largest correlation below which a dependent column is the end of a path, where all correlations are 0.
pub(crate) const END_OF_PATH: f64 = 1e-9;
/// By how much the squared length of a direction may miss 1 where rounding lets it come no nearer.
pub(crate) const UNIT_LENGTH: f64 = 1e-11;
/// The share of a step towards unit lengths below which none is taken.
pub(crate) const SHORT_STEP: f64 = 1e-6;
/// The part of its terms below which the rate at which a correlation nears the common one is rounding.
pub(crate) const RATE_ROUNDING: f64 = 1e-14;

// Kernel matrices and non-negative least squares.

/// What a pivoted Cholesky decomposition of a kernel matrix may leave of the trace, relative to a lower bound of ‖K̄‖_F.
pub(crate) const TRACE_LEFT: f64 = 1e-12;
/// What it may leave of a trace of 1 in any case: less is rounding.
pub(crate) const TRACE_ROUNDING: f64 = 4e-15;
/// What the factor of a kernel matrix on levels, of ones on the diagonal, may leave of its trace.
pub(crate) const LEVEL_TRACE: f64 = 1e-11;
/// The part of ‖K̄‖_F that the eigenvalues of a kernel on levels may have that are left out of products with others.
pub(crate) const LEVEL_EIGENVALUES: f64 = 1e-8;
/// The part of the largest eigenvalue of the kernel matrix of landmarks below which an eigenvalue is left out.
pub(crate) const SMALL_EIGENVALUE: f64 = 1e-10;
/// The gradient, beside ‖target‖·√Q_kk, that is too small for a non-negative coefficient to enter.
pub(crate) const FLAT_GRADIENT: f64 = 1e-14;
/// By how much Q_kk counts as larger: dependent columns then have one minimum, and the value moves by as little.
pub(crate) const QUADRATIC_RIDGE: f64 = 1e-14;
/// The weight of all rows beside the heaviest, from which down nothing is left of them in sums of all.
pub const OUTWEIGHED: f64 = 1e-9;
/// What rounding may add to the minimum of a quadratic form, relative to its value without columns.
pub const MINIMUM_ROUNDING: f64 = 1e-12;

// False discoveries: columns and those that are drawn.

/// What is left of the squared length of a column beside others, at which it depends on them.
pub const DEPENDENT_SQUARE: f64 = 1e-10;
/// The part of the length of a vector that is left outside of a span, below which none is.
pub(crate) const OUTSIDE_SPAN: f64 = 1e-10;
/// What is left of 1 after the squared product with a direction of a span, below which the direction is inside.
pub(crate) const INSIDE_SPAN: f64 = 1e-12;
/// 1 less the absolute correlation of columns that are one but for their units.
pub const SAME_COLUMN: f64 = 1e-10;

// Criteria, maps and checks above the kernels.

/// What rounding adds to a number that is whole, or to a share that ends where a part begins.
pub const WHOLE_ROUNDING: f64 = 1e-9;
/// Symmetrical uncertainties that differ by less are equal.
pub const EQUAL_UNCERTAINTY: f64 = 1e-10;
/// Of the length of a function of an additive model, what must be left of it beside those before it.
pub const DEPENDENT_FUNCTION: f64 = 1e-7;
/// How far functions of an additive model move in a round at most where they rest, in units of the target.
pub const AT_REST: f64 = 1e-13;
/// The part of the largest slope at the start at which an ascent ends.
pub const ASCENT_SLOPE: f64 = 1e-8;

/// A standardized number this near to the edge of a bin is on it.
pub const BIN_EDGE: f64 = 1e-9;
/// The part of the largest entry to which the conditions of an optimum of the quadratic program hold.
pub const OPTIMUM: f64 = 1e-12;
/// The part of Q_ii + Q_jj at which Q_ii + Q_jj − 2Q_ij makes two columns of a quadratic program equal.
pub const EQUAL_SIMILARITY: f64 = 1e-9;
/// The same of kernels by levels, whose products are sums in single precision.
pub const LEVEL_SIMILARITY: f64 = 1e-6;
/// What rounding may take from a training error, as a part of the squares of the targets.
pub const TRAINING_ROUNDING: f64 = 1e-9;
/// The part of the error of the empty subset below which rounding hides the error of a fit.
pub const HIDDEN_ERROR: f64 = 1e-12;
/// How many times the digits of a fit may be lost before it is computed from the rows.
pub const LOST_DIGITS: f64 = 1e4;
/// The part of the largest eigenvalue below which a component of a kernel matrix is rounding.
pub const COMPONENT_ROUNDING: f64 = 1e-12;
/// A sum of entropies below this is rounding.
pub const ENTROPY_ROUNDING: f64 = 1e-12;
/// The relative error of a score against plain retraining from which up a verified run ends.
pub const VERIFIED_ERROR: f64 = 1e-6;
/// Verified scores below this part of that of the empty subset are compared on its scale: they are what rounding leaves.
pub const VERIFIED_SCALE: f64 = 1e-10;
