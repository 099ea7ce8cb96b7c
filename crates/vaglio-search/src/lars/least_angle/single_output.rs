//! Arithmetic of a path of one output.
//!
//! B. Efron et al., Annals of Statistics 32 (2004), section 3, including the lasso modification.

use super::active_set::ActiveColumn;
use super::{LeastAngle, LeastAngleEvent, PathShape};
use vaglio_kernels::parallel;
use vaglio_kernels::sums::axpy;
use vaglio_kernels::tolerance::RATE_ROUNDING;

/// Entries per task.
const TOGETHER: usize = 4096;

impl LeastAngle {
    /// Possible next events: entering columns in increasing order, then leaving ones. Leaves out those after an earlier one
    /// of the list.
    pub(super) fn single_events(&self) -> Option<Vec<LeastAngleEvent>> {
        let signs = self.directions.concat();
        let (alpha, direction) = (self.weights()?.concat(), self.active.solve(&signs));
        let (left, falling) = self.correlations(&alpha, &direction);
        let terms = |(active, by): (&ActiveColumn, &f64)| by.abs() * active.gram[active.feature];
        let rounding = RATE_ROUNDING * (1.0 + self.active.columns.iter().zip(&direction).map(terms).sum::<f64>());
        let (mut events, mut first) = (Vec::new(), f64::INFINITY);
        let mut offer = |after: f64, feature, sign, leaves| {
            if self.ties(after, first) {
                first = first.min(after);
                events.push(LeastAngleEvent::new(after, feature, sign, leaves));
            }
        };
        for feature in self.outside() {
            for sign in if self.shape == PathShape::NonNegativeLasso { &[1.0][..] } else { &[1.0, -1.0] } {
                let (gap, rate) = (self.lambda - sign * left[feature], 1.0 - sign * falling[feature]);
                if rate > rounding {
                    offer(gap.max(0.0) / rate, feature, *sign, None);
                }
            }
        }
        if self.shape != PathShape::LeastAngle {
            for (place, (active, sign)) in self.active.columns.iter().zip(&signs).enumerate() {
                let (value, rate) = (alpha[place] * sign, -direction[place] * sign);
                if rate > 0.0 {
                    offer(value.max(0.0) / rate, active.feature, *sign, Some(place));
                }
            }
        }
        Some(events)
    }

    /// Correlations r = c − Q_·A α and their rates Q_·A a. Cost O(n·s).
    fn correlations(&self, alpha: &[f64], direction: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut left = self.relevance[0].clone();
        let mut falling = vec![0.0; left.len()];
        let mut parts: Vec<_> = left.chunks_mut(TOGETHER).zip(falling.chunks_mut(TOGETHER)).collect();
        parallel::each_mut(&mut parts, |part, (left, falling)| {
            for ((active, alpha), by) in self.active.columns.iter().zip(alpha).zip(direction) {
                let column = &active.gram[part * TOGETHER..][..left.len()];
                axpy(-alpha, column, left);
                axpy(*by, column, falling);
            }
        });
        (left, falling)
    }

    /// Sets a coefficient that is 0 up to rounding to 0. Moving along Q_AA⁻¹e_k keeps the other active correlations.
    pub(super) fn clear(&self, alpha: &mut [f64], place: usize) {
        let mut unit = vec![0.0; alpha.len()];
        unit[place] = 1.0;
        let along = self.active.solve(&unit);
        let by = alpha[place] / along[place];
        alpha.iter_mut().zip(along).for_each(|(alpha, along)| *alpha -= by * along);
        alpha[place] = 0.0;
    }
}
