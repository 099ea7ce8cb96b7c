//! Losses of whole selections by size and λ, pooled over folds.

use super::tally::Tally;
use super::walks::Trail;
use vaglio_core::{Loss, Result};
use vaglio_report::record::{Cell, Table};

/// From the trails of all folds: folds × λ.
///
/// # Errors
/// [`vaglio_core::Error::Shape`] when no row that was held out counts.
pub(super) fn pooled(loss: &dyn Loss, lambdas: Vec<Option<f64>>, folds: &[Vec<Trail>]) -> Result<Table> {
    let of_lambda = |l: usize| -> Result<Vec<Cell>> {
        let trails: Vec<&Trail> = folds.iter().filter_map(|fold| fold.get(l)).collect();
        let reach = trails.iter().map(|trail| trail.reach).min().unwrap_or(0);
        let least = trails.iter().map(|trail| *trail.allowed().start()).max().unwrap_or(0);
        let most = trails.iter().map(|trail| *trail.allowed().end()).max().unwrap_or(0).min(reach);
        let mut sizes: Vec<usize> = trails.iter().flat_map(|t| t.sizes.iter().map(|(size, _)| *size)).collect();
        sizes.push(0);
        sizes.sort_unstable();
        sizes.dedup();
        // Of a fold that lacks some candidates, all of them stand for the least that is asked for.
        let mut kept: Vec<usize> = sizes.iter().copied().filter(|size| (least..=most).contains(size)).collect();
        if kept.is_empty() {
            kept.extend(sizes.last());
        }
        let cell = |size: usize| {
            let parts: Vec<&Tally> = trails.iter().map(|trail| trail.at(size)).collect();
            let (loss, standard_error) = Tally::pooled(loss, &parts)?;
            Ok(Cell { size, loss, standard_error })
        };
        kept.into_iter().map(cell).collect()
    };
    let cells = (0..lambdas.len()).map(of_lambda).collect::<Result<_>>()?;
    Ok(Table { lambdas, cells })
}
