//! A least-angle path as a search follows it: of one output or of several, past features that constraints keep out.

use crate::Walk;
use vaglio_core::{Feature, Result};
use vaglio_kernels::lars::{self, LeastAngle, SeveralOutputs};

/// The path of one output or of several.
pub(crate) enum Followed {
    One(LeastAngle),
    Several(SeveralOutputs),
}

impl Followed {
    /// λ at the next knot; at the start the largest correlation.
    pub fn lambda(&self) -> f64 {
        match self {
            Followed::One(path) => path.lambda(),
            Followed::Several(path) => path.lambda(),
        }
    }

    pub fn advance(
        &mut self,
        gram: &mut dyn FnMut(Feature) -> Result<Vec<f64>>,
    ) -> Result<std::result::Result<lars::Knot, lars::End>> {
        match self {
            Followed::One(path) => path.advance(gram),
            Followed::Several(path) => path.advance(gram),
        }
    }

    /// Coefficients, column by column, at a λ between the last knot and the one before.
    pub fn at(&self, lambda: f64) -> Option<Vec<f64>> {
        match self {
            Followed::One(path) => Some(path.at(lambda)),
            Followed::Several(path) => path.at(lambda),
        }
    }

    /// The feature that enters next, where one does.
    fn entering(&self) -> Option<Feature> {
        match self {
            Followed::One(path) => path.entering(),
            Followed::Several(path) => path.entering(),
        }
    }

    /// The feature that leaves next, where one does.
    pub fn leaving(&self) -> Option<Feature> {
        match self {
            Followed::One(path) => path.leaving(),
            Followed::Several(path) => path.leaving(),
        }
    }

    /// Passes over features that enter next to a subset and would break constraints; whether there was one.
    pub fn pass_over(
        &mut self,
        walk: &mut Walk<'_, '_>,
        after: &[Feature],
        mut knot: Option<&mut lars::Knot>,
        gram: &mut dyn FnMut(Feature) -> Result<Vec<f64>>,
    ) -> Result<bool> {
        let Some(rules) = walk.space.rules() else { return Ok(false) };
        let mut is_passed = false;
        while let Some(feature) = self.entering().filter(|_| after.len() < walk.space.most) {
            let larger = [after, &[feature]].concat();
            if rules.at(after).may_add(&[feature]) && is_of_signs(walk, &larger)? {
                break;
            }
            is_passed = true;
            match self {
                Followed::One(path) => path.pass_over(knot.as_deref_mut(), gram)?,
                Followed::Several(path) => path.pass_over(knot.as_deref_mut(), gram)?,
            }
        }
        Ok(is_passed)
    }
}

/// The subset after a knot.
pub(crate) fn subset_after(selected: &[Feature], knot: &lars::Knot) -> Vec<Feature> {
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

/// Whether the weights of a subset have the signs that they are to have; the walk stays where it is.
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
