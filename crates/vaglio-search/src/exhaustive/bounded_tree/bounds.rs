//! Bounds of scores from least squares fits.

use crate::exhaustive::best_subsets::{OpenSubtree, SearchOutcome, SubsetSquares};
use crate::exhaustive::order::TreeOrder;
use crate::{Rules, SubsetScorer};
use vaglio_core::{Feature, SquaresBound, gather};
use vaglio_kernels::parallel;

/// Largest number of columns with cached products.
pub(crate) const MOST_COLUMNS: usize = 4096;
/// Largest number of nodes per subtree if some size has no limit.
const PART_WITHOUT_LIMIT: usize = 1 << 12;
/// Number of bisection steps that convert a bound of a score into one of squares.
const HALVINGS: usize = 100;

/// The squares of the subsets of a search, and the bounds of scores that they imply.
pub(crate) struct SubsetBounds {
    pub squares: SubsetSquares,
    score: Box<dyn Fn(f64, usize, f64) -> f64 + Send + Sync>,
    /// Design columns in increasing order; `squares` numbers columns by their places here.
    pub columns: Vec<Feature>,
}

impl SubsetBounds {
    /// Bounds for the columns of an order, whose groups enter as a whole. `None` if the criterion has no such bounds or
    /// there are too many columns.
    pub fn new(order: &TreeOrder, subset: &SubsetScorer<'_>) -> Option<Self> {
        let mut columns: Vec<Feature> = order.forced.iter().chain(&order.features).copied().collect();
        columns.sort_unstable();
        if columns.len() > MOST_COLUMNS {
            return None;
        }
        let SquaresBound { columns: x, targets, held_out, score } = subset.squares(&columns)?;
        let squares = SubsetSquares::new(x, targets, held_out)?;
        let place = |feature: &Feature| columns.binary_search(feature).unwrap_or(0);
        let blocks: Vec<Vec<usize>> =
            (0..order.places()).map(|at| order.group(at).iter().map(place).collect()).collect();
        let squares = squares.with_blocks(blocks.iter().map(Vec::as_slice));
        Some(SubsetBounds { squares, score, columns })
    }

    /// The tree of all subsets of an order.
    pub fn root(&self, order: &TreeOrder) -> OpenSubtree {
        OpenSubtree::new(order.forced.iter().map(|&feature| self.place(feature)).collect())
    }

    /// The number of a column in `squares`.
    pub fn place(&self, feature: Feature) -> usize {
        self.columns.binary_search(&feature).unwrap_or(0)
    }

    /// Explores subtrees in parallel. Returns the subsets not ruled out, best bound first, and unexplored subtrees.
    pub fn explore(&self, next: &[OpenSubtree], limits: &[f64], rules: Option<&Rules>) -> SearchOutcome {
        // Every subset of a size without a limit is a candidate.
        let budget = if limits.contains(&f64::INFINITY) { PART_WITHOUT_LIMIT } else { self.squares.part() };
        let may = |fixed: &[usize], free: &[usize]| {
            let is_free = |f: Feature| self.columns.binary_search(&f).is_ok_and(|place| free.contains(&place));
            rules.is_none_or(|rules| rules.may_grow(&gather(&self.columns, fixed), is_free))
        };
        let mut all = SearchOutcome::default();
        for part in parallel::map_slice(next, |open| self.squares.explore(open, limits, budget, &may)) {
            all.candidates.extend(part.candidates);
            all.open.extend(part.open);
        }
        all.candidates.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        all
    }

    pub fn features(&self, places: &[usize]) -> Vec<Feature> {
        let mut features = gather(&self.columns, places);
        features.sort_unstable();
        features
    }

    /// Lower bound of the score of a subset, from squares with rounding errors.
    pub fn loss_of_squares(&self, squares: f64, size: usize) -> f64 {
        (self.score)(self.squares.lowest(squares), size, self.squares.least_eigenvalue())
    }

    /// Residual sum of squares above which every subset of a size scores above `threshold`; −∞ if all do.
    pub fn limit(&self, size: usize, threshold: f64) -> f64 {
        let is_below = |squares: f64| (self.score)(squares, size, self.squares.least_eigenvalue()) <= threshold;
        let (mut below, mut above) = (0.0, self.squares.total.max(f64::MIN_POSITIVE));
        if threshold == f64::INFINITY {
            return f64::INFINITY;
        }
        if !is_below(0.0) {
            return f64::NEG_INFINITY;
        }
        for _ in 0..HALVINGS {
            if !is_below(above) {
                break;
            }
            above *= 2.0;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (below + above);
            *(if is_below(middle) { &mut below } else { &mut above }) = middle;
        }
        above
    }
}
