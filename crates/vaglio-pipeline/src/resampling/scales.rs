//! The two scales of a mapped target, either of which may choose size and λ.

use super::gain::paired_p;
use super::pooled_folds::LambdaPaths;
use super::validation::{CellChoice, Validation};
use vaglio_core::{Result, counted};
use vaglio_report::record::{Warning, WarningKind};
use vaglio_search::Judge;

/// Size chosen by losses on the other scale of a mapped target; `None` without a map.
///
/// # Errors
/// [`vaglio_core::Error::Shape`] if no size was reached in every fold.
pub(super) fn size_on_other_scale(
    validation: &Validation<'_, '_>,
    walks: &[LambdaPaths],
    is_tested: bool,
) -> Result<Option<usize>> {
    let Some(walks) = walks.iter().map(LambdaPaths::on_other_scale).collect() else { return Ok(None) };
    let CellChoice { walks, place, cell, by_others, .. } = validation.choice(walks, Vec::new(), true)?;
    let Some(level) = validation.how.require_gain.level().filter(|_| is_tested && cell.size > 0) else {
        return Ok(Some(cell.size));
    };
    let p = paired_p(validation.loss, &by_others, &validation.pooled(&walks[place]), cell.size);
    Ok(Some(if p.is_some_and(|p| p > level) { 0 } else { cell.size }))
}

/// Warning that the two scales of a mapped target choose different sizes.
pub(super) fn scales_differ(judge: Judge, own: usize, other: usize) -> Warning {
    let columns = |size: usize| if size == 0 { "no column".into() } else { counted(size, "column") };
    let scale = |judge: Judge| if judge == Judge::Mapped { "of the mapped target" } else { "in the units of the data" };
    let word = if judge == Judge::Mapped { "original" } else { "mapped" };
    let message = format!(
        "losses {} choose {}, and losses {} choose {}; `choose: {{judge: {word}}}` takes the latter",
        scale(judge),
        columns(own),
        scale(judge.other()),
        columns(other)
    );
    Warning::new(WarningKind::ScalesDiffer, message)
}
