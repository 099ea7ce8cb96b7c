//! Every tolerance of the numerics, named once with the quantity it bounds.
//!
//! A flop rounds by 1.1e-16 of its result. A difference of nearly equal numbers loses digits to cancellation, so most
//! tolerances are relative: how little may remain of the numbers that were subtracted. Tolerances that criteria and
//! searches apply to scores are public.

pub use vaglio_columns::{LOSS_ROUNDING, TIED_PREDICTION};

/// Conditioning of a loss below which it is refitted. Errors of its residuals are about 1e-15 of the targets divided by
/// it. So ten digits remain, fewer for small residuals.
pub(crate) const UNRELIABLE: f64 = 1e-5;
/// Size of residuals relative to the targets, times the conditioning, down to which they have the digits of
/// [`UNRELIABLE`].
pub(crate) const SMALL_RESIDUAL: f64 = 1e-8;
/// Conditioning of a row above which its residual has all digits, however small relative to its target.
pub(crate) const SOUND_ROW: f64 = 1e-2;
/// Largest relative error of residuals computed from an inverse of rows.
pub(crate) const INVERSE_ERROR: f64 = 1e-9;

// Leave-one-out: states and their bounds.

/// Share of ‖x‖² below which cancellation in an updated xᵀG x matters, and it is recomputed from the rows.
pub(crate) const CANCELLED_PRODUCT: f64 = 1e-3;
/// Share of λ + ‖x‖² below which a column is nearly dependent on the selected ones. It then becomes an orthonormal
/// direction.
pub(crate) const NEARLY_DEPENDENT: f64 = 1e-7;
/// Share of λ + ‖x‖² remaining of a column below which rounding of the state adds to that of 1 − leverage.
pub(crate) const DIGITS_LEFT: f64 = 1e-4;
/// Largest ratio of the greatest λ + ‖x‖² to the least at which decomposing all columns keeps the digits of short ones.
pub(crate) const UNLIKE_SQUARES: f64 = 1e12;
/// Share to which H_ii, a diagonal entry of an inverse, may fall when another column is removed. Below it the two were
/// nearly dependent, and H is recomputed from the rows.
pub(crate) const FALLEN_INVERSE: f64 = 1e-4;
/// Relative difference up to which targets of a class are equal: rounding of the row scaling.
pub(crate) const EQUAL_TARGETS: f64 = 1e-14;
/// Sum of the summands' lengths relative to ‖C_b‖ above which they cancel.
pub(crate) const CANCELLED_SUM: f64 = 30.0;
/// Share of a vector's squares that a round of orthogonalization must leave for no further round to be needed.
pub(crate) const ORTHOGONALIZED: f64 = 0.5;
/// Share of ‖x‖² below which xᵀG x has too few digits for a lower bound.
pub(crate) const UNBOUNDED_COLUMN: f64 = 1e-6;
/// Error of xᵀG x relative to ‖x‖² when computed from inner products of columns; bounds allow for it.
pub(crate) const PRODUCT_DRIFT: f64 = 1e-12;
/// Share of ‖x‖² above which a cached G x is as accurate as one computed from x.
pub(crate) const SOUND_CACHE: f64 = 1e-2;
/// Share of ‖x‖² above which products with c of a rank-one update may use x instead of G x.
pub(crate) const INDEPENDENT_COLUMN: f64 = 0.1;
/// Rounding of a lower bound relative to its terms.
pub const BOUND_ROUNDING: f64 = 1e-9;
/// Factor on an interval's lower end that covers rounding by far.
pub(crate) const INTERVAL_LEFT: f64 = 1.0 - 1e-5;
/// Rounding of a difference of sums over rows, relative to its terms.
pub(crate) const WEIGHT_ROUNDING: f64 = 1e-12;
/// Condition number of a Gram matrix of unit columns above which a subtree bound is not used.
pub const ILL_CONDITIONED: f64 = 1e10;
/// Rounding of the residual sum of squares below a subtree, relative to ‖y‖²; the part independent of the condition
/// number.
pub const RSS_ROUNDING: f64 = 1e-13;
/// Rounding of the residual sum of squares below a subtree, relative to ‖y‖² and per unit of the condition number:
/// dropping a column costs c_b²/(A⁻¹)_bb, and both have that relative error.
pub const RSS_ROUNDING_BY_CONDITION: f64 = 1e-15;
/// Lower limit of 1 − leverage in tangents to held-out losses, which diverge towards 0; for rows held out together, of
/// the pivot.
pub const LEAST_COMPLEMENT: f64 = 1e-3;
/// Share of Σ(x_i − shift)² that a further shift may remove before sums of row blocks lose digits.
pub(crate) const SHIFTED_SQUARES: f64 = 0.5;

// K-fold: moments and held-out rows.

/// Conditioning below which the columns in order of entry no longer serve for held-out scores and removals; these are
/// then computed from the rows.
pub(crate) const AS_ENTERED: f64 = 1e-3;
/// Like [`FALLEN_INVERSE`] for moments, where H and the square of it in H·A_v·H fall: the conditioning times the
/// squared share.
pub(crate) const FALLEN_MOMENTS: f64 = 1e-4;
/// Share of a sum of squares below which the sum about the mean has lost digits.
pub(crate) const FEW_DIGITS: f64 = 1e-4;
/// Least share of the weight, of all rows or of a class, in a fold's training rows. Below it, differences of sums over
/// all and held-out rows have too few digits.
pub const LIGHT_TRAINING: f64 = 1e-4;

// Ridge solves and eigenvalues.

/// λ relative to the squares of all columns below which XXᵀ + λI has fewer than eight digits.
pub(crate) const SMALL_PENALTY: f64 = 1e-8;
/// λ relative to the largest sum of squares of a column below which it does not regularize dependent columns; the
/// square of nine digits.
pub const NO_PENALTY: f64 = 1e-18;
/// Remaining length of a unit column below which it depends on the others.
pub const DEPENDENT_LENGTH: f64 = 1e-8;
/// Ratio of the greatest to the least row weight above which the row order matters in reflections.
pub(crate) const UNLIKE_WEIGHTS: f64 = 1e6;
/// Ratio of the greatest to the least weight above which sums over rows lose the light rows.
pub const LOST_WEIGHTS: f64 = 1e12;
/// Factor on ε·κ by which a correction by residuals shrinks an error: far above what random problems show.
pub(crate) const CORRECTION_LEFT: f64 = 16.0;
/// Largest factor, predicted and observed, by which a correction may leave an error.
pub(crate) const CORRECTION_MOST: f64 = 0.05;
/// Share of the rounding of reflections, ε·√κ, that may remain after corrections.
pub(crate) const CORRECTION_BESIDE: f64 = 0.25;
/// Factor by which ridge fits from singular values are better conditioned than their bound: measured errors are
/// smaller.
pub(crate) const CONDITIONING_SPARE: f64 = 32.0;
/// Rounding of an eigenvalue relative to the largest.
pub const EIGENVALUE_ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Share of the largest eigenvalue below which one has lost digits and is recomputed from the rows.
pub const EIGENVALUE_OF_ROWS: f64 = 1e-4;
/// Share of the largest eigenvalue below which another does not count for a grid of λ: closed forms lose half of their
/// digits.
pub const COUNTED_EIGENVALUE: f64 = 1e-8;
/// Ratio of the largest to the least ‖x‖² above which eigenvalues of products lose the digits of short columns.
pub const UNLIKE_COLUMNS: f64 = 1e6;
/// Share of the largest λ below which none is tried: a score would have no digits left.
pub const LEAST_PENALTY: f64 = 1e-13;
/// Error of the least eigenvalue of a tridiagonal form, relative to the greatest.
pub(crate) const LEAST_EIGENVALUE: f64 = 1e-12;

// Losses, and scores that criteria and searches compare.

/// Relative error of a squared loss times its conditioning, and of the squares it is a difference of: far above the
/// 1e-16 of each operation.
pub(crate) const LOSS_ERROR: f64 = 1e-11;
/// Relative error of a difference of squares times its conditioning: far above the 1e-16 of each operation.
pub(crate) const DIFFERENCE_ERROR: f64 = 1e-13;
/// Share of the targets' squares, divided by the conditioning, that a reliable difference of them leaves.
pub(crate) const DIFFERENCE_LEFT: f64 = 1e-8;
/// Conditioning below which a loss has no digits.
pub(crate) const NO_DIGITS: f64 = 1e-9;
/// Share of ‖y‖² that squared errors of a fit must keep for a difference of squares to have their digits.
pub const ERROR_LEFT: f64 = 1e-4;
/// Share of the decrease predicted by the slope that a Newton step must achieve (Armijo's condition).
pub const SUFFICIENT_FALL: f64 = 1e-4;
/// Share of the largest slope that may remain when Newton's method ends: below it, steps are lost in rounding.
pub const FLAT_SLOPE: f64 = 1e-6;
/// Share of a score by which an exchange of columns must lower it, well above rounding.
pub const SCORE_GAIN: f64 = 1e-10;
/// Relative difference allowed between two ways of computing a score, or between two searches that reach it.
pub const SCORE_ROUNDING: f64 = 1e-9;

// Landmarks and least-angle paths.

/// Share of the sum of kernels by which an exchange of landmarks must lower it: less is rounding.
pub const EXCHANGE_GAIN: f64 = 1e-9;
/// Share of the largest correlation of a least-angle path below which differences count as none.
pub const EQUAL_CORRELATION: f64 = 1e-13;
/// Share of its square that a column must keep given those on a least-angle path, or others in least squares.
pub const DEPENDENT_COLUMN: f64 = 1e-12;
/// Share of a square below which the factor of a least-angle path is recomputed before it is trusted.
pub const SUSPECT_COLUMN: f64 = 1e-8;
/// Share of the largest correlation below which a dependent column ends a path, since all correlations are then 0.
pub const END_OF_PATH: f64 = 1e-9;
/// Deviation of a direction's squared length from 1 that is accepted if rounding prevents a smaller one.
pub const UNIT_LENGTH: f64 = 1e-11;
/// Share of a step towards unit lengths below which none is taken.
pub const SHORT_STEP: f64 = 1e-6;
/// Share of its terms below which the rate at which a correlation approaches the common one is rounding.
pub const RATE_ROUNDING: f64 = 1e-14;

// Kernel matrices and non-negative least squares.

/// Trace that a pivoted Cholesky decomposition of a kernel matrix may leave, relative to a lower bound of ‖K̄‖_F.
pub const TRACE_LEFT: f64 = 1e-12;
/// Remaining trace that is always accepted, for a trace of 1: less is rounding.
pub const TRACE_ROUNDING: f64 = 4e-15;
/// Share of the trace that the factor of a kernel matrix on levels, with a unit diagonal, may leave.
pub const LEVEL_TRACE: f64 = 1e-11;
/// Share of ‖K̄‖_F of the eigenvalues of a kernel on levels that may be omitted in products with others.
pub const LEVEL_EIGENVALUES: f64 = 1e-8;
/// Share of the largest eigenvalue of the landmarks' kernel matrix below which an eigenvalue is omitted.
pub const SMALL_EIGENVALUE: f64 = 1e-10;
/// Gradient relative to ‖target‖·√Q_kk below which a non-negative coefficient does not enter.
pub const FLAT_GRADIENT: f64 = 1e-14;
/// Relative ridge added to Q_kk so that dependent columns have one minimum; moves the value by as little.
pub const QUADRATIC_RIDGE: f64 = 1e-14;
/// Weight of all other rows relative to the heaviest below which sums over all rows lose them.
pub const OUTWEIGHED: f64 = 1e-9;
/// Rounding of the minimum of a quadratic form, relative to its value without columns.
pub const MINIMUM_ROUNDING: f64 = 1e-12;

// False discovery rate: columns and random dummies.

/// Remaining share of a column's squared length at which it depends on the others.
pub const DEPENDENT_SQUARE: f64 = 1e-10;
/// Share of a vector's length outside a span below which it lies inside.
pub const OUTSIDE_SPAN: f64 = 1e-10;
/// Remainder of 1 minus the squared product with a direction of a span below which a direction lies inside.
pub const INSIDE_SPAN: f64 = 1e-12;
/// 1 minus the absolute correlation at which columns are equal up to their units.
pub const SAME_COLUMN: f64 = 1e-10;

// Criteria, maps and checks above the kernels.

/// Rounding of a whole number, or of a share at the start of a block.
pub const WHOLE_ROUNDING: f64 = 1e-9;
/// Difference below which symmetrical uncertainties are equal.
pub const EQUAL_UNCERTAINTY: f64 = 1e-10;
/// Share of its length that a function of an additive model must keep beside those before it.
pub const DEPENDENT_FUNCTION: f64 = 1e-7;
/// Largest movement, in units of the target, of functions of an additive model in a round at convergence.
pub const AT_REST: f64 = 1e-13;
/// Share of the largest initial slope at which an ascent ends.
pub const ASCENT_SLOPE: f64 = 1e-8;

/// Distance from a bin's edge within which a standardized number is on it.
pub const BIN_EDGE: f64 = 1e-9;
/// Tolerance of the optimality conditions of the quadratic program, relative to the largest entry.
pub const OPTIMUM: f64 = 1e-12;
/// Share of Q_ii + Q_jj at which Q_ii + Q_jj − 2Q_ij makes two columns of a quadratic program equal.
pub const EQUAL_SIMILARITY: f64 = 1e-9;
/// Like [`EQUAL_SIMILARITY`], for kernels by levels, whose products are sums in single precision.
pub const LEVEL_SIMILARITY: f64 = 1e-6;
/// Rounding of a training error, relative to the squares of the targets.
pub const TRAINING_ROUNDING: f64 = 1e-9;
/// Share of the error of the empty subset below which rounding hides the error of a fit.
pub const HIDDEN_ERROR: f64 = 1e-12;
/// Factor of lost digits from which a fit is recomputed from the rows.
pub const LOST_DIGITS: f64 = 1e4;
/// Share of the largest eigenvalue below which a component of a kernel matrix is rounding.
pub const COMPONENT_ROUNDING: f64 = 1e-12;
/// Sum of entropies below which it is rounding.
pub const ENTROPY_ROUNDING: f64 = 1e-12;
/// Relative error of a score against plain retraining above which a verified run ends.
pub const VERIFIED_ERROR: f64 = 1e-6;
/// Share of the empty subset's score below which verified scores are compared on its scale: they are rounding.
pub const VERIFIED_SCALE: f64 = 1e-10;
