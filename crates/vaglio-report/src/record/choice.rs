//! Losses of whole selections by size and λ, the pair that is taken, and by what.

use crate::infinity;
use serde::{Deserialize, Serialize};
use vaglio_core::{Error, Result, counted, is_lower, short};
use vaglio_search::{Rule, Wanted};

/// The cross-validated loss of one size at one λ of the walk.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The size that walks were cut at.
    pub size: usize,
    /// The loss, pooled over all rows held out, in the units of the target.
    #[serde(with = "crate::infinity")]
    pub loss: f64,
    /// Standard error.
    pub standard_error: Option<f64>,
    /// The standard error of what it and the lowest loss of all sizes and λ differ by, on the same rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference_error: Option<f64>,
}

impl Cell {
    /// Whether its loss is within one standard error of their difference of the lowest.
    pub fn is_near(&self, lowest: f64) -> bool {
        self.loss - lowest <= self.difference_error.unwrap_or(0.0)
    }
}

/// Cross-validated losses of a whole selection: for each λ of the walk by size, in increasing order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossTable {
    /// The λ of the walks; one `None` where λ is chosen for every subset, or there is none.
    pub lambdas: Vec<Option<f64>>,
    /// For each λ the sizes that every fold reached, the empty subset among them where it may be the result.
    pub cells: Vec<Vec<Cell>>,
}

impl LossTable {
    /// The place of the λ and the cell that a rule takes: the lowest loss, of equals to rounding the fewest features and then the
    /// smallest λ; of those whose difference to it is within one standard error of that difference the fewest features and
    /// then the largest λ; of those within a share of it the fewest features and then the lowest loss.
    ///
    /// # Errors
    /// [`Error::Setting`] for one standard error where there is none; [`Error::Shape`] for an empty table.
    pub fn pick(&self, wanted: impl Into<Wanted>) -> Result<(usize, Cell)> {
        let Wanted { rule, within, at_most } = wanted.into();
        let fits = move |cell: &&Cell| at_most.is_none_or(|most| cell.size <= most);
        let of_lambda =
            |(l, cells): (usize, &[Cell])| cells.iter().filter(fits).map(|cell| (l, *cell)).collect::<Vec<_>>();
        let all = || self.cells.iter().map(Vec::as_slice).enumerate().flat_map(of_lambda);
        let lower = |(a, x): &(usize, Cell), (b, y): &(usize, Cell)| {
            x.loss.total_cmp(&y.loss).then(x.size.cmp(&y.size)).then(a.cmp(b))
        };
        let Some(lowest) = all().min_by(lower) else {
            return Err(Error::Shape("no size was reached in every fold".into()));
        };
        let equal = all().filter(|(_, cell)| !is_lower(lowest.1.loss, cell.loss));
        let best = equal.min_by(|(a, x), (b, y)| x.size.cmp(&y.size).then(a.cmp(b))).unwrap_or(lowest);
        let simpler = |(a, x): &(usize, Cell), (b, y): &(usize, Cell)| x.size.cmp(&y.size).then(b.cmp(a));
        if let Some(within) = within {
            let limit = best.1.loss + within * best.1.loss.abs();
            // Of equal sizes the λ that loses least.
            let fewest = |a: &(usize, Cell), b: &(usize, Cell)| a.1.size.cmp(&b.1.size).then(lower(a, b));
            return Ok(all().filter(|(_, cell)| cell.loss <= limit).min_by(fewest).unwrap_or(best));
        }
        if rule == Rule::Best {
            return Ok(best);
        }
        if best.1.standard_error.is_none() {
            let message = "`one_se` needs a standard error, and there are too few rows for one; use `best`";
            return Err(Error::setting("search.choose.rule", message));
        }
        Ok(all().filter(|(_, cell)| cell.is_near(best.1.loss)).min_by(simpler).unwrap_or(best))
    }

    /// The losses of one λ, by its place.
    pub fn losses_at(&self, place: usize) -> &[Cell] {
        self.cells.get(place).map_or(&[], Vec::as_slice)
    }
}

/// Way in which the size was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChosenBy {
    /// Cross-validation of the whole search.
    CrossValidation,
    /// The criterion's score.
    Score,
    /// The user, by a number or as the last that was reached.
    Setting,
    /// A rate of false discoveries.
    FalseDiscoveries,
}

/// How the result was taken from the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChosenRecord {
    /// By what.
    pub by: ChosenBy,
    /// The rule, where sizes were compared.
    pub rule: Option<Rule>,
    /// Number of columns.
    pub size: usize,
    /// The λ of the walk, or of the subset.
    pub lambda: Option<f64>,
    /// The λ of a least-angle path at which its model was taken, where that was judged at some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub penalty: Option<f64>,
    /// Whether its losses are on the scale of the mapped target, and not in the units of the data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mapped: bool,
    /// The cross-validated loss of the whole selection, in the units of the target.
    #[serde(default, with = "infinity::optional")]
    pub cross_validated: Option<f64>,
    /// Standard error.
    pub standard_error: Option<f64>,
    /// The cross-validated loss without any column.
    #[serde(default, with = "infinity::optional")]
    pub empty_loss: Option<f64>,
    /// Folds of the cross-validated search.
    pub folds: Option<usize>,
    /// How often rows were dealt into folds.
    pub repeats: Option<usize>,
    /// How rows are parted, where that is not into folds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub splits: Option<String>,
    /// Between what the loss on new rows of a selection made like this lies, at the level of `level`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The share of repetitions in which an interval is to hold the truth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// Difference of the losses of the chosen columns and of others, on the same rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<LossDifference>,
    /// The columns that the rule takes, where no column was taken in their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined: Option<DeclinedColumns>,
    /// The test of what columns gain over none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain_test: Option<GainTest>,
    /// How much the size hangs on how rows were dealt into folds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizeSpread>,
}

/// Columns that the chosen ones are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// Difference of the losses of the chosen columns and of others, on the same rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossDifference {
    /// Than which.
    pub against: ComparisonColumns,
    /// How many these are.
    pub size: usize,
    /// Mean: below 0 where the chosen columns lose less.
    pub mean: f64,
    /// Between what the truth lies.
    pub interval: [f64; 2],
}

impl LossDifference {
    /// Whether it may be nothing.
    pub fn may_be_nothing(&self) -> bool {
        self.interval[0] <= 0.0 && self.interval[1] >= 0.0
    }
}

/// The smallest p-value that an interval gives: farther out nothing is known of the losses.
pub const LEAST_P: f64 = 0.0001;

/// A test of what columns gain over none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GainTest {
    /// How often columns of noise say as much of the target, at most.
    pub p: f64,
    /// The largest `p` at which columns are taken.
    pub level: f64,
    /// How often the target was shuffled; `null` where the interval of paired losses decided.
    pub shuffles: Option<usize>,
}

impl GainTest {
    /// Whether columns are taken.
    pub fn passes(&self) -> bool {
        self.p <= self.level
    }

    /// `p = 0.005, 199 shuffles of the target`.
    pub fn text(&self) -> String {
        let by = match self.shuffles {
            Some(count) => format!("{} of the target", counted(count, "shuffle")),
            None => "by paired losses".into(),
        };
        let bound = if self.shuffles.is_none() && self.p <= LEAST_P { " or less" } else { "" };
        format!("p = {}{bound}, {by}", short(self.p))
    }
}

/// Columns that were not taken, since what they gain over none did not pass the test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclinedColumns {
    /// How many.
    pub size: usize,
    /// Their names, in order of entry.
    pub columns: Vec<String>,
    /// Their cross-validated loss.
    pub cross_validated: f64,
}

/// The sizes that parts of the cross-validated losses would have chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeSpread {
    /// Which parts.
    pub over: SizeSpreadSource,
    /// The size of each.
    pub sizes: Vec<usize>,
}

/// From which parts of the cross-validated losses sizes are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeSpreadSource {
    /// Each repeat alone.
    Repeats,
    /// All folds but one, in turn.
    Folds,
}

impl SizeSpread {
    /// Between which sizes the choice moves.
    pub fn sentence(&self, chosen: usize) -> String {
        let (least, most) = self.sizes.iter().fold((chosen, chosen), |(l, m), &size| (l.min(size), m.max(size)));
        let each = match self.over {
            SizeSpreadSource::Repeats => "each repeat alone",
            SizeSpreadSource::Folds => "leaving out one fold at a time",
        };
        match least == most {
            true => format!("{each} chooses {} too", counted(chosen, "column")),
            false => {
                let sizes: Vec<String> = self.sizes.iter().map(usize::to_string).collect();
                format!("{each} chooses {least} to {most} columns ({})", sizes.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(losses: [[f64; 3]; 2]) -> LossTable {
        let cell =
            |(size, loss): (usize, f64)| Cell { size, loss, standard_error: Some(0.5), difference_error: Some(0.1) };
        let cells = losses.iter().map(|row| row.iter().copied().enumerate().map(cell).collect()).collect();
        LossTable { lambdas: vec![Some(1.0), Some(10.0)], cells }
    }

    #[test]
    fn the_lowest_loss_or_the_simplest_near_it_is_taken() {
        let of = table([[1.0, 0.58, 0.5], [1.0, 0.59, 0.52]]);
        let picked = |rule| of.pick(rule).map(|(l, cell)| (l, cell.size)).unwrap();
        assert_eq!(picked(Rule::Best), (0, 2));
        assert_eq!(picked(Rule::OneSe), (1, 1));
        let rounded = table([[0.5 + 1e-15, 0.5, 0.5 - 1e-15], [0.6; 3]]);
        assert_eq!(rounded.pick(Rule::Best).map(|(l, cell)| (l, cell.size)).unwrap(), (0, 0));
        let flat = table([[0.5; 3]; 2]);
        assert_eq!(flat.pick(Rule::Best).map(|(l, cell)| (l, cell.size)).unwrap(), (0, 0));
        assert_eq!(flat.pick(Rule::OneSe).map(|(l, cell)| (l, cell.size)).unwrap(), (1, 0));
    }
}
