//! Constraints on a least-angle path: features that are passed over or may not leave.

use crate::Walk;
use crate::least_angle::{self, LeastAngle};
use vaglio_core::{Feature, Result};

/// Passes over entering features that would break constraints; returns whether there was one.
pub(crate) fn pass_over(
    path: &mut LeastAngle,
    walk: &mut Walk<'_, '_>,
    after: &[Feature],
    mut knot: Option<&mut least_angle::LeastAngleKnot>,
    gram: &mut dyn FnMut(Feature) -> Result<Vec<f64>>,
) -> Result<bool> {
    let Some(rules) = walk.space.rules() else { return Ok(false) };
    let mut is_passed = false;
    while let Some(feature) = path.entering().filter(|_| after.len() < walk.space.most) {
        let larger = [after, &[feature]].concat();
        if rules.at(after).may_add(&[feature]) && is_of_signs(walk, &larger)? {
            break;
        }
        is_passed = true;
        path.pass_over(knot.as_deref_mut(), gram)?;
    }
    Ok(is_passed)
}

/// Subset after a knot.
pub(crate) fn subset_after(selected: &[Feature], knot: &least_angle::LeastAngleKnot) -> Vec<Feature> {
    match knot.enters {
        true => [selected, &[knot.feature]].concat(),
        false => selected.iter().copied().filter(|f| *f != knot.feature).collect(),
    }
}

/// Whether a feature may leave the path.
pub(crate) fn may_leave(walk: &mut Walk<'_, '_>, leaving: Option<Feature>) -> Result<bool> {
    let (Some(rules), Some(leaving)) = (walk.space.rules(), leaving) else { return Ok(true) };
    let selected = walk.context.subset.selected().to_vec();
    let rest: Vec<Feature> = selected.iter().copied().filter(|f| *f != leaving).collect();
    Ok(rules.at(&selected).may_remove(&[leaving]) && is_of_signs(walk, &rest)?)
}

/// Whether the weights of a subset have the required signs; the walk does not move.
fn is_of_signs(walk: &mut Walk<'_, '_>, features: &[Feature]) -> Result<bool> {
    if !walk.space.rules().is_some_and(|rules| rules.has_signs()) {
        return Ok(true);
    }
    let (space, subset) = (walk.space, &mut walk.context.subset);
    let here = subset.selected().to_vec();
    subset.reset(features)?;
    let kept = space.is_of_signs(subset)?;
    subset.reset(&here)?;
    Ok(kept)
}
