//! Losses of selections by size and λ, pooled over folds.

use super::lockstep::LambdaPaths;
use super::loss_sums::LossSums;
use super::validation::Validation;
use super::walks::FoldPath;
use vaglio_core::{Loss, PathEntry, Result};
use vaglio_report::record::{Cell, LossTable};
use vaglio_search::{Rule, Wanted};

/// Paths of all folds at one λ, with sizes matched to those of the path on all rows.
///
/// A fold may lack candidates that are constant in it. Its full subset is matched with the full subset of all rows,
/// whatever their sizes; other sizes match by number.
pub(super) struct PooledFolds<'t> {
    trails: &'t [FoldPath],
    /// Size of the full subset on all rows, if every fold's path reached its own full subset.
    pub everything: Option<usize>,
    /// Number of random splits into folds.
    pub repeats: usize,
}

impl<'t> PooledFolds<'t> {
    /// Matches the paths of all folds at one λ; `everything` is the size of the full subset on all rows.
    pub fn new(trails: &'t [FoldPath], everything: usize, repeats: usize) -> Self {
        let is_reached = !trails.is_empty() && trails.iter().all(|trail| trail.everything().is_some());
        PooledFolds { trails, everything: is_reached.then_some(everything), repeats }
    }

    /// Matching size in a fold.
    fn key_in_fold(&self, size: usize) -> usize {
        if self.everything == Some(size) { usize::MAX } else { size }
    }

    /// Losses matched to a size, by fold.
    pub fn parts(&self, size: usize) -> Vec<&'t LossSums> {
        self.trails.iter().map(|trail| trail.at(self.key_in_fold(size))).collect()
    }

    /// Losses of no columns, by fold.
    pub fn empties(&self) -> Vec<&'t LossSums> {
        self.trails.iter().map(|trail| &trail.empty).collect()
    }

    /// Pooled loss of no columns.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Shape`] if no held-out row has weight.
    pub fn empty(&self, loss: &dyn Loss) -> Result<Cell> {
        let (loss, standard_error) = LossSums::pooled(loss, &self.empties(), self.repeats)?;
        Ok(Cell { size: 0, loss, standard_error, difference_error: None })
    }

    /// Path entries matched to a size, in the first folds.
    pub fn entries(&self, size: usize, folds: usize) -> Vec<PathEntry> {
        self.trails.iter().take(folds).map(|trail| trail.entry(self.key_in_fold(size))).collect()
    }

    /// Whether a size is allowed and was reached in every fold.
    pub fn has(&self, size: usize) -> bool {
        if self.everything == Some(size) {
            return self.trails.iter().all(|t| t.everything().is_some_and(|all| t.allowed().contains(&all)));
        }
        let least = self.trails.iter().map(|trail| *trail.allowed().start()).max().unwrap_or(0);
        let most = self.trails.iter().map(|trail| *trail.allowed().end()).max().unwrap_or(0);
        let reach = self.trails.iter().map(|trail| trail.reach()).min().unwrap_or(0);
        // Sizes at which every fold has all of its columns are represented by the full subset.
        let bound =
            self.everything.map(|all| self.trails.iter().filter_map(|t| t.everything()).fold(0, usize::max).min(all));
        (least..=most.min(reach)).contains(&size) && bound.is_none_or(|bound| size < bound)
    }

    /// Allowed sizes that were reached, the empty subset included, in increasing order.
    pub fn sizes(&self) -> Vec<usize> {
        let reached = self.trails.iter().flat_map(|trail| trail.sizes.iter().map(|(size, _)| *size));
        let mut sizes: Vec<usize> = reached.chain([0]).chain(self.everything).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.retain(|&size| self.has(size));
        sizes
    }

    /// Size with the lowest loss among those up to `most`, the first of ties, and that loss; `None` if there is none.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Shape`] if no held-out row has weight.
    pub fn lowest(&self, loss: &dyn Loss, most: usize) -> Result<Option<(usize, f64)>> {
        let mut best: Option<(usize, f64)> = None;
        for size in self.sizes().into_iter().take_while(|size| *size <= most) {
            let own = LossSums::mean(loss, &self.parts(size))?;
            if best.is_none_or(|(_, lowest)| own < lowest) {
                best = Some((size, own));
            }
        }
        Ok(best)
    }

    /// Standard error of the difference to the loss of a size of `other`.
    pub fn difference(&self, loss: &dyn Loss, size: usize, other: &PooledFolds<'_>, other_size: usize) -> Option<f64> {
        LossSums::difference(loss, &self.parts(size), &other.parts(other_size), self.repeats)
    }

    /// Pooled losses of those `sizes` that are allowed and reached, in increasing order.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Shape`] if no held-out row has weight.
    pub fn cells(&self, loss: &dyn Loss, sizes: impl IntoIterator<Item = usize>) -> Result<Vec<Cell>> {
        let mut sizes: Vec<usize> = sizes.into_iter().filter(|&size| self.has(size)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let cell = |size: usize| {
            let (loss, standard_error) = LossSums::pooled(loss, &self.parts(size), self.repeats)?;
            Ok(Cell { size, loss, standard_error, difference_error: None })
        };
        sizes.into_iter().map(cell).collect()
    }
}

/// Standard errors of the difference to the lowest loss within which other folds may choose a cell.
const CANDIDATES: f64 = 3.0;

impl Validation<'_, '_> {
    /// Pools the folds at each λ.
    pub fn pooled_each<'t>(&self, walks: &'t [LambdaPaths]) -> Vec<PooledFolds<'t>> {
        walks.iter().map(|walks| self.pooled(walks)).collect()
    }

    /// Pools the paths at each λ into a table.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Shape`] if no held-out row has weight.
    pub fn table(&self, lambdas: &[Option<f64>], walks: &[LambdaPaths]) -> Result<LossTable> {
        let matched = self.pooled_each(walks);
        let of_lambda = |matched: &PooledFolds<'_>| matched.cells(self.loss, matched.sizes());
        let cells = matched.iter().map(of_lambda).collect::<Result<_>>()?;
        let mut table = LossTable { lambdas: lambdas.to_vec(), cells };
        compare(self.loss, &mut table, &matched, self.how.at_most)?;
        Ok(table)
    }

    /// Loss of each fold, repeat by repeat, at the size and λ with the lowest loss in the other folds of its repeat. It
    /// estimates the loss of the chosen cell without selection bias. Empty if a fold has no others, or these have no
    /// weight.
    pub fn by_others(&self, table: &LossTable, matched: &[PooledFolds<'_>], best: Cell) -> Vec<LossSums> {
        let (loss, at_most) = (self.loss, self.how.at_most);
        let fits = |cell: &&Cell| {
            let error = cell.difference_error.or(cell.standard_error).unwrap_or(f64::INFINITY);
            at_most.is_none_or(|most| cell.size <= most) && cell.loss - best.loss <= CANDIDATES * error
        };
        let mut candidates: Vec<Vec<&LossSums>> = Vec::new();
        for (matched, cells) in matched.iter().zip(&table.cells) {
            candidates.extend(cells.iter().filter(fits).map(|cell| matched.parts(cell.size)));
        }
        let (folds, repeats) = matched.first().map_or((0, 1), |matched| (matched.trails.len(), matched.repeats));
        let of_repeat = folds / repeats.max(1);
        let one = |fold: usize| -> Option<LossSums> {
            let others = (0..folds).filter(|&other| other != fold && other / of_repeat == fold / of_repeat);
            let others: Vec<usize> = others.collect();
            let mut least: Option<(f64, &LossSums)> = None;
            for parts in &candidates {
                let own = LossSums::mean(loss, &others.iter().map(|&other| parts[other]).collect::<Vec<_>>()).ok()?;
                if least.is_none_or(|(lowest, _)| own < lowest) {
                    least = Some((own, parts[fold]));
                }
            }
            least.map(|(_, tally)| tally.clone())
        };
        (0..folds).map(one).collect::<Option<_>>().unwrap_or_default()
    }
}

/// Sets in every cell the standard error of the paired difference to the lowest loss. For a loss of all rows together,
/// only in cells within both standard errors, which bound that of a difference.
///
/// # Errors
/// [`vaglio_core::Error::Shape`] for an empty table.
pub(super) fn compare(
    loss: &dyn Loss,
    table: &mut LossTable,
    matched: &[PooledFolds<'_>],
    at_most: Option<usize>,
) -> Result<()> {
    let (place, best) = table.pick(Wanted { at_most, ..Rule::Best.into() })?;
    let of_best = matched[place].parts(best.size);
    let is_cheap = loss.traits().measure.is_of_rows();
    for (matched, cells) in matched.iter().zip(&mut table.cells) {
        for cell in cells {
            let level = |cell: &Cell| cell.standard_error.unwrap_or(0.0);
            if is_cheap || cell.loss - best.loss <= level(cell) + level(&best) {
                cell.difference_error =
                    LossSums::difference(loss, &matched.parts(cell.size), &of_best, matched.repeats);
            }
        }
    }
    Ok(())
}
