//! The units of a target: its map and scaling before training, and back for predictions.

use crate::maps::standardize::TargetScale;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use vaglio_core::FittedTargetMap;

/// The transformation of a target before training, and back for predictions.
///
/// The target is mapped first, if there is a map, and then scaled.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "WrittenUnits", into = "WrittenUnits")]
pub struct TargetUnits {
    /// The scaling.
    pub scale: TargetScale,
    /// The map, if any.
    pub map: Option<Arc<dyn FittedTargetMap>>,
    /// The residuals of a model for smearing its predictions, as pairs of share of the weight and residual; empty before
    /// training, `None` if predictions are not smeared.
    pub residuals: Option<Vec<[f64; 2]>>,
}

/// The serialized form; a target that was only scaled is written as its scale.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum WrittenUnits {
    Scaled(TargetScale),
    Mapped {
        map: Arc<dyn FittedTargetMap>,
        scaled: TargetScale,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        residuals: Vec<[f64; 2]>,
    },
}

impl From<WrittenUnits> for TargetUnits {
    fn from(written: WrittenUnits) -> Self {
        match written {
            WrittenUnits::Scaled(scale) => scale.into(),
            WrittenUnits::Mapped { map, scaled: scale, residuals } => {
                TargetUnits { scale, map: Some(map), residuals: Some(residuals).filter(|own| !own.is_empty()) }
            }
        }
    }
}

impl From<TargetUnits> for WrittenUnits {
    fn from(TargetUnits { scale, map, residuals }: TargetUnits) -> Self {
        match map {
            Some(map) => WrittenUnits::Mapped { map, scaled: scale, residuals: residuals.unwrap_or_default() },
            None => WrittenUnits::Scaled(scale),
        }
    }
}

impl From<TargetScale> for TargetUnits {
    fn from(scale: TargetScale) -> Self {
        TargetUnits { scale, map: None, residuals: None }
    }
}

impl Default for TargetUnits {
    fn default() -> Self {
        TargetScale { shift: 0.0, scale: 1.0 }.into()
    }
}

impl TargetUnits {
    /// Units of a mapped target.
    pub fn from_map(map: Box<dyn FittedTargetMap>, is_smeared: bool) -> Self {
        TargetUnits { map: Some(map.into()), residuals: is_smeared.then(Vec::new), ..TargetUnits::default() }
    }

    /// Adds a scaling after the map and any earlier scaling.
    #[must_use]
    pub fn with_scale(self, by: TargetScale) -> Self {
        let TargetScale { shift, scale } = self.scale;
        TargetUnits { scale: TargetScale { shift: shift + by.shift * scale, scale: scale * by.scale }, ..self }
    }

    /// Converts a learned value back into the units of the data.
    pub fn value(&self, learned: f64) -> f64 {
        let mapped = learned * self.scale.scale + self.scale.shift;
        self.map.as_ref().map_or(mapped, |map| map.inverse(mapped))
    }

    /// Converts a prediction into the units of the data. With residuals it is the mean of the converted values shifted
    /// by each residual.
    pub fn prediction(&self, predicted: f64) -> f64 {
        match (&self.map, &self.residuals) {
            (Some(map), Some(residuals)) if !residuals.is_empty() => {
                let mapped = predicted * self.scale.scale + self.scale.shift;
                residuals.iter().map(|[share, residual]| share * map.inverse(mapped + residual)).sum()
            }
            _ => self.value(predicted),
        }
    }

    /// Adds the training residuals of a model, as pairs of weight and residual, if predictions are smeared.
    ///
    /// # Reference
    /// N. Duan, *Smearing estimate: a nonparametric retransformation method*, JASA 78(383), 1983.
    #[must_use]
    pub fn with_residuals(&self, residuals: impl Iterator<Item = [f64; 2]>) -> Self {
        let (Some(map), Some(_)) = (&self.map, &self.residuals) else { return self.clone() };
        let mut kept: Vec<[f64; 2]> = residuals.filter(|[weight, _]| *weight > 0.0).collect();
        let total: f64 = kept.iter().map(|[weight, _]| weight).sum();
        kept.iter_mut().for_each(|[weight, residual]| {
            *weight /= total;
            *residual *= self.scale.scale;
        });
        TargetUnits { residuals: Some(thin(map.smearing(kept))), ..self.clone() }
    }
}

/// Largest number of residuals that are kept.
const MOST_KEPT: usize = 512;

/// Thins residuals to at most [`MOST_KEPT`] by averaging neighbors in their order.
fn thin(mut residuals: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    if residuals.len() <= MOST_KEPT {
        return residuals;
    }
    residuals.sort_by(|a, b| a[1].total_cmp(&b[1]));
    let count = residuals.len();
    let part = |k: usize| &residuals[k * count / MOST_KEPT..(k + 1) * count / MOST_KEPT];
    let mean = |part: &[[f64; 2]]| {
        let share: f64 = part.iter().map(|[share, _]| share).sum();
        [share, part.iter().map(|[own, residual]| own / share * residual).sum()]
    };
    (0..MOST_KEPT).map(|k| mean(part(k))).collect()
}
