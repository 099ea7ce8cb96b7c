//! Cross-validated losses by size and λ, and the choice between sizes, λ and searches.

use vaglio_core::{Error, Result, is_lower, join, pluralize, record, setting, short};
use vaglio_search::{CrossValidation, Rule};

/// Cross-validated loss of the selection with one size at one λ.
#[record]
#[derive(Copy)]
pub struct Cell {
    /// Number of columns.
    pub size: usize,
    /// Loss pooled over all held-out rows, in the units of the target.
    pub loss: f64,
    /// Standard error.
    pub standard_error: Option<f64>,
    /// Standard error of the difference to the lowest loss of the table, on the same rows.
    #[optional]
    pub difference_error: Option<f64>,
}

impl Cell {
    /// Whether the loss exceeds `lowest` by at most one standard error of the difference.
    pub fn is_near(&self, lowest: f64) -> bool {
        self.loss - lowest <= self.difference_error.unwrap_or(0.0)
    }
}

/// Cross-validated losses of the selection for each λ and size, in increasing order.
#[record]
#[derive(Default)]
pub struct LossTable {
    /// Values of λ with separate searches; one `None` if λ is chosen for each subset, or there is none.
    pub lambdas: Vec<Option<f64>>,
    /// Sizes that every fold reached, for each λ. Includes the empty subset if it may be the result.
    pub cells: Vec<Vec<Cell>>,
}

impl LossTable {
    /// Picks a cell, and returns it after the position of its λ:
    /// - [`Rule::Best`]: the lowest loss; of ties up to rounding, the fewest features, then the smallest λ.
    /// - [`Rule::OneSe`]: of the cells with [`Cell::is_near`], the fewest features, then the largest λ.
    /// - `within`: of the losses at most this share above the lowest, the fewest features, then the lowest loss.
    ///
    /// # Errors
    /// [`Error::Setting`] for `OneSe` without a standard error; [`Error::Shape`] if no cell has an allowed size.
    pub fn pick(&self, how: &CrossValidation) -> Result<(usize, Cell)> {
        let CrossValidation { rule, within, at_most, .. } = *how;
        let all = self.cells.iter().enumerate().flat_map(|(l, cells)| cells.iter().map(move |cell| (l, *cell)));
        // In increasing order of λ and size; the first of equal cells is taken.
        let all: Vec<(usize, Cell)> = all.filter(|(_, cell)| at_most.is_none_or(|most| cell.size <= most)).collect();
        let lowest = all.iter().min_by(|(_, a), (_, b)| a.loss.total_cmp(&b.loss).then(a.size.cmp(&b.size)));
        let lowest = lowest.ok_or_else(|| Error::Shape("no size was reached in every fold".into()))?;
        let equal = all.iter().filter(|(_, cell)| !is_lower(lowest.1.loss, cell.loss));
        let best = equal.min_by_key(|(_, cell)| cell.size).unwrap_or(lowest);
        let picked = match within {
            Some(within) => {
                let limit = best.1.loss + within * best.1.loss.abs();
                let near = all.iter().filter(|(_, cell)| cell.loss <= limit);
                near.min_by(|(_, a), (_, b)| a.size.cmp(&b.size).then(a.loss.total_cmp(&b.loss)))
            }
            None if rule == Rule::Best => Some(best),
            None if best.1.standard_error.is_none() => {
                let message = "`one_se` needs a standard error, and there are too few rows for one; use `best`";
                return Err(Error::setting("search.choose.rule", message));
            }
            None => all.iter().rev().filter(|(_, cell)| cell.is_near(best.1.loss)).min_by_key(|(_, cell)| cell.size),
        };
        Ok(*picked.unwrap_or(best))
    }

    /// Cells of the λ at a position; empty if the position does not exist.
    pub fn losses_at(&self, place: usize) -> &[Cell] {
        self.cells.get(place).map_or(&[], Vec::as_slice)
    }
}

/// Way in which the size was chosen.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum ChosenBy {
    /// Cross-validation of the search.
    CrossValidation,
    /// The criterion's score.
    #[default]
    Score,
    /// The user: a fixed number of columns, or the last size reached.
    Setting,
    /// Control of the false discovery rate.
    FalseDiscoveries,
}

/// Choice of the result from the path.
#[record]
#[derive(Default)]
pub struct ChosenRecord {
    /// Way in which the size was chosen.
    pub by: ChosenBy,
    /// Rule, if sizes were compared.
    pub rule: Option<Rule>,
    /// Number of columns.
    pub size: usize,
    /// λ of the search, or of the subset.
    pub lambda: Option<f64>,
    /// λ at which the model is taken from a least-angle path, if several were compared.
    #[optional]
    pub penalty: Option<f64>,
    /// Whether the losses are on the scale of the mapped target, not in the units of the data.
    #[optional]
    pub mapped: bool,
    /// Cross-validated loss of the selection, in the units of the target.
    pub cross_validated: Option<f64>,
    /// Standard error.
    pub standard_error: Option<f64>,
    /// Cross-validated loss without features.
    pub empty_loss: Option<f64>,
    /// Folds of the cross-validated search.
    pub folds: Option<usize>,
    /// Number of repeated fold assignments.
    pub repeats: Option<usize>,
    /// Description of the splits, if they are not plain folds.
    #[optional]
    pub splits: Option<String>,
    /// Confidence interval of the expected loss on new rows, selection included, at `level`.
    #[optional]
    pub interval: Option<[f64; 2]>,
    /// Confidence level of the intervals.
    #[optional]
    pub level: Option<f64>,
    /// Loss of the chosen columns minus that of others, on the same rows.
    #[optional]
    pub differences: Vec<LossDifference>,
    /// Columns that the rule picks, if they failed the test and none are chosen.
    #[optional]
    pub declined: Option<DeclinedColumns>,
    /// Test whether the columns predict better than none.
    #[optional]
    pub gain_test: Option<GainTest>,
    /// Variation of the size with the split into folds.
    #[optional]
    pub sizes: Option<SizeSpread>,
}

/// Columns that the chosen ones are compared with.
#[setting]
#[derive(Copy, PartialEq, Eq)]
pub enum ComparisonColumns {
    /// No column.
    Empty,
    /// The next smaller size.
    Fewer,
    /// The next larger size.
    More,
    /// All columns.
    All,
}

/// Loss of the chosen columns minus that of others, on the same rows.
#[record]
#[derive(Copy)]
pub struct LossDifference {
    /// Columns of comparison.
    pub against: ComparisonColumns,
    /// Number of columns of comparison.
    pub size: usize,
    /// Mean difference, below 0 if the chosen columns have the lower loss.
    pub mean: f64,
    /// Confidence interval of the difference.
    pub interval: [f64; 2],
}

impl LossDifference {
    /// Whether the interval contains 0.
    pub fn may_be_nothing(&self) -> bool {
        self.interval[0] <= 0.0 && self.interval[1] >= 0.0
    }
}

/// Smallest p-value from an interval; farther out the distribution of the losses is unknown.
pub const LEAST_P: f64 = 0.0001;

/// Result of a test whether columns predict better than none.
#[record]
#[derive(Copy)]
pub struct GainTest {
    /// P-value: probability that noise columns gain as much.
    pub p: f64,
    /// Significance level: largest `p` at which columns are chosen.
    pub level: f64,
    /// Number of shuffles of the target; `null` if the interval of paired losses decided.
    pub shuffles: Option<usize>,
}

impl GainTest {
    /// Whether `p` is at most the level, so that columns are chosen.
    pub fn passes(&self) -> bool {
        self.p <= self.level
    }

    /// The test in words: `p = 0.005, 199 shuffles of the target`.
    pub fn text(&self) -> String {
        let by = match self.shuffles {
            Some(count) => format!("{} of the target", pluralize(count, "shuffle")),
            None => "by paired losses".into(),
        };
        let bound = if self.shuffles.is_none() && self.p <= LEAST_P { " or less" } else { "" };
        format!("p = {}{bound}, {by}", short(self.p))
    }
}

/// Columns that were not chosen, since their gain over none failed the test.
#[record]
pub struct DeclinedColumns {
    /// Number of columns.
    pub size: usize,
    /// Names of the columns, in order of entry.
    pub columns: Vec<String>,
    /// Cross-validated loss with these columns.
    pub cross_validated: f64,
}

/// Sizes that subsets of the folds would have chosen.
#[record]
#[derive(Eq)]
pub struct SizeSpread {
    /// Subsets of the folds.
    pub over: SizeSpreadSource,
    /// Size that each subset of folds chooses.
    pub sizes: Vec<usize>,
}

/// Subsets of the folds that each choose a size.
#[setting]
#[derive(Copy, PartialEq, Eq)]
pub enum SizeSpreadSource {
    /// Each repeat alone.
    Repeats,
    /// All folds but one, in turn.
    Folds,
}

impl SizeSpread {
    /// Range of the sizes in words, including the size `chosen`.
    pub fn sentence(&self, chosen: usize) -> String {
        let (least, most) = self.sizes.iter().fold((chosen, chosen), |(l, m), &size| (l.min(size), m.max(size)));
        let each = match self.over {
            SizeSpreadSource::Repeats => "each repeat alone",
            SizeSpreadSource::Folds => "leaving out one fold at a time",
        };
        if least == most {
            format!("{each} chooses {} too", pluralize(chosen, "column"))
        } else {
            format!("{each} chooses {least} to {most} columns ({})", join(&self.sizes, ", "))
        }
    }
}

/// A search cross-validated on the same folds as others.
#[record]
pub struct ComparedSearch {
    /// Word of the search; of a chain, the words of its stages.
    pub search: String,
    /// Whether the result of this search is the result of the run.
    pub won: bool,
    /// Chosen number of columns.
    pub size: usize,
    /// Chosen λ, if any.
    pub lambda: Option<f64>,
    /// Loss pooled over all held-out rows.
    pub loss: f64,
    /// Standard error of the loss.
    pub standard_error: Option<f64>,
}

/// Point of the frontier of loss and cost of columns.
#[record]
pub struct FrontierPoint {
    /// Number of columns.
    pub size: usize,
    /// Loss pooled over all held-out rows if the search was cross-validated, else the score.
    pub loss: f64,
    /// Standard error.
    pub standard_error: Option<f64>,
    /// Word of the search.
    pub search: String,
    /// Total cost of the columns.
    pub cost: f64,
}
