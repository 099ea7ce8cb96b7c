//! Constraints on a least-angle path, and its models at penalties.

use super::least_angle::{LeastAngle, LeastAngleKnot};
use crate::{PathEntry, Walk};
use vaglio_core::{Action, Feature, Result};

/// Passes over entering features that would break constraints; returns whether there was one.
pub(crate) fn pass_over(
    path: &mut LeastAngle,
    walk: &mut Walk<'_, '_>,
    after: &[Feature],
    mut knot: Option<&mut LeastAngleKnot>,
    gram: &mut dyn FnMut(Feature) -> Result<Vec<f64>>,
) -> Result<bool> {
    let Some(rules) = walk.space.rules() else { return Ok(false) };
    let mut is_passed = false;
    while let Some(feature) = path.entering().filter(|_| after.len() < walk.space.most) {
        let larger = Action::Add.apply_to(after, feature);
        if rules.may_add(after, &[feature]) && keeps_signs(walk, &larger)? {
            break;
        }
        is_passed = true;
        path.pass_over(knot.as_deref_mut(), gram)?;
    }
    Ok(is_passed)
}

/// Whether a feature may leave the path.
pub(crate) fn may_leave(walk: &mut Walk<'_, '_>, leaving: Option<Feature>) -> Result<bool> {
    let (Some(rules), Some(leaving)) = (walk.space.rules(), leaving) else { return Ok(true) };
    let selected = walk.selected().to_vec();
    let rest = Action::Remove.apply_to(&selected, leaving);
    Ok(rules.may_remove(&selected, &[leaving]) && keeps_signs(walk, &rest)?)
}

/// Whether the weights of a subset have the required signs; the walk does not move.
fn keeps_signs(walk: &mut Walk<'_, '_>, features: &[Feature]) -> Result<bool> {
    if !walk.space.has_signs() {
        return Ok(true);
    }
    let score = walk.context.subset.try_subset(features)?;
    walk.space.features_keep_signs(features, score)
}

/// Models of a path at penalties, collected as it reaches them.
#[derive(Default)]
pub(crate) struct PenaltyPath {
    /// Penalties that are not reached yet, in increasing order.
    pub ahead: Vec<f64>,
    /// Models at the penalties reached, in decreasing order.
    models: Vec<(f64, PathEntry)>,
}

impl PenaltyPath {
    /// Whether there were penalties and all are reached.
    pub fn is_done(&self) -> bool {
        self.ahead.is_empty() && !self.models.is_empty()
    }

    /// Collects the models at all penalties that are not below `lambda`, the current value of the path.
    pub fn advance_to(&mut self, lambda: f64, mut model: impl FnMut(f64) -> Result<PathEntry>) -> Result<()> {
        while let Some(&penalty) = self.ahead.last().filter(|penalty| **penalty >= lambda) {
            self.models.push((penalty, model(penalty)?));
            self.ahead.pop();
        }
        Ok(())
    }

    /// Models in increasing order of penalties.
    pub fn models(mut self) -> Vec<(f64, PathEntry)> {
        self.models.reverse();
        self.models
    }
}
