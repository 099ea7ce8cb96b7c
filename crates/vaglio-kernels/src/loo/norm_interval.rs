//! Lower bounds that earlier trials give on what candidates add to squared leave-one-out errors.

use super::RidgeState;
use super::basis::UpdateKind;
use crate::f64x8::{F64x8, fold_eights};
use crate::tolerance::INTERVAL_LEFT;
use crate::vectorize;

/// For a candidate with c = G x and r = a − f c of each output: a lower bound of ‖r∘c‖ over all outputs, and an upper
/// bound of ‖c‖₄.
///
/// With τ = λ + s and d ≤ 1, the candidate's squared leave-one-out error is
///
/// Σ r²/(d − c²/τ)² ≥ Σ r²/d² + 2‖r∘c‖²/τ.
///
/// Other bounds know the first term alone, though the second mostly separates noise columns. A trial determines it, and
/// each update reduces it by at most what ‖u∘v‖ ≤ ‖u‖₄‖v‖₄ allows. Without intervals, a search for 100 of 780 columns
/// tries 2.2 times as many candidates.
#[derive(Debug, Clone, Copy)]
pub(super) struct NormInterval {
    least: f64,
    fourth: f64,
}

impl NormInterval {
    /// Interval of a tried candidate. Cost O(m · outputs).
    pub fn new(basis: &RidgeState<'_>, c: &[f64], f: &[f64]) -> Self {
        let (norm, fourth) = norms(basis, c, |output| f[output]);
        NormInterval { least: norm * INTERVAL_LEFT, fourth }
    }

    /// Interval after the update c ← c − ω·c_p, ω = `share`, with f of each output moved from `before` to f′, `after`.
    ///
    /// `shift` are the [`update_norms`], and `gone` is φ = t_p/τ_p of each output: the update subtracts φ·c_p from a. With
    /// a after the update, r∘c changes by −ω·a∘c_p + (2f′ω − φ)·c∘c_p + (f − f′)·c∘c − f′ω²·c_p∘c_p.
    pub fn after(self, shift: [f64; 2], gone: &[f64], share: f64, before: &[f64], after: &[f64]) -> Self {
        let [with_residuals, fourth] = shift;
        let norm = |entry: &dyn Fn(usize) -> f64| (0..after.len()).map(|o| entry(o) * entry(o)).sum::<f64>().sqrt();
        let moved = share.abs() * with_residuals
            + norm(&|o| 2.0 * after[o] * share - gone[o]) * self.fourth * fourth
            + norm(&|o| before[o] - after[o]) * self.fourth * self.fourth
            + norm(&|o| after[o]) * (share * fourth).powi(2);
        NormInterval { least: self.least * INTERVAL_LEFT - moved, fourth: self.fourth + share.abs() * fourth }
    }

    /// Lower bound of 2‖r∘c‖²; 0 if nothing is known any more.
    pub fn adds(self) -> f64 {
        let least = self.least.max(0.0);
        2.0 * least * least
    }
}

/// ‖a∘c_p‖ over all outputs, with a after the update, and ‖c_p‖₄ of the last update; `None` unless it added a column.
/// Cost O(m · outputs).
pub(super) fn update_norms(basis: &RidgeState<'_>) -> Option<[f64; 2]> {
    let update = basis.updates.last().filter(|update| matches!(update.kind, UpdateKind::Entry(_)))?;
    let (with_residuals, fourth) = norms(basis, &update.c, |_| 0.0);
    Some([with_residuals, fourth])
}

/// ‖(a − f c)∘c‖ over all outputs, and ‖c‖₄. Cost O(m · outputs).
fn norms(basis: &RidgeState<'_>, c: &[f64], f: impl Fn(usize) -> f64) -> (f64, f64) {
    let (mut squares, mut fourth) = (0.0, 0.0);
    for (output, a) in basis.a.iter().enumerate() {
        let (own, fourth_power) = sums(a, c, f(output));
        (squares, fourth) = (squares + own, fourth_power);
    }
    (squares.sqrt(), fourth.sqrt().sqrt())
}

/// Σ (a − f c)²c² and Σ c⁴. Cost O(m).
fn sums(a: &[f64], c: &[f64], f: f64) -> (f64, f64) {
    vectorize!(move || {
        let by = F64x8::splat(f);
        let [own, fourth] = fold_eights!([c, a], [0.0; 2], [F64x8::ZERO; 2], |[own, fourth], [c, a]| {
            let (r, square) = (a - by * c, c * c);
            [(r * r).mul_add(square, own), square.mul_add(square, fourth)]
        });
        (own.sum(), fourth.sum())
    })
}
