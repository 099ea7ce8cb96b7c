//! Combinations of the selected rows of the moments, for several λ in one reading.

use super::Moments;
use super::forward::Pair;
use super::moments::Fold;
use crate::wide::Wide;
use pulp::NullaryFnOnce;

/// What adding a column does to the vectors of one fold and λ.
#[derive(Debug)]
pub(super) struct Step {
    /// The direction, over the selected columns and the new one.
    pub p: Vec<f64>,
    /// H(A_v p) over the selected columns without the new one.
    pub u: Vec<f64>,
    /// pᵀA_v p.
    pub pi: f64,
    /// γ = g_b/√d_b and η = h_b/√d_b of each output.
    pub scalars: Vec<(f64, f64)>,
}

/// Eights of columns that are worked on together.
const EIGHTS: usize = 2;
/// λ that share the loading of an entry.
const SHARE: usize = 4;

/// r = A_t p and x = A_v p − A_t u over all columns, then with them d ← d − r², g ← g − γr, h ← h − rη + γ(x − rπ) and
/// q ← q − 2rx + r²π. Cost O(R·n·s).
pub(super) fn apply(moments: &Moments, fold: &Fold, rows: &[usize], steps: &[Step], pairs: &mut [Pair]) {
    let eights = moments.stride / Wide::WIDTH;
    let coefficients: Vec<Vec<[[f64; SHARE]; 2]>> = steps.chunks(SHARE).map(|s| coefficients(s, rows.len())).collect();
    let mut packed = vec![[[Wide::ZERO; EIGHTS]; 2]; rows.len()];
    for start in (0..eights).step_by(EIGHTS) {
        let here = EIGHTS.min(eights - start);
        for (packed, &row) in packed.iter_mut().zip(rows) {
            for (packed, matrix) in packed.iter_mut().zip([&fold.training, &fold.held_out]) {
                let chunks = &matrix[row * moments.stride..][..moments.stride].as_chunks().0[start..start + here];
                packed.iter_mut().zip(chunks).for_each(|(to, from)| *to = Wide::load(from));
            }
        }
        let groups = coefficients.iter().zip(steps.chunks(SHARE)).zip(pairs.chunks_mut(SHARE));
        for ((coefficients, steps), pairs) in groups {
            let sums = moments.level.run(Combine { packed: &packed, coefficients });
            for ((step, pair), sums) in steps.iter().zip(pairs).zip(sums) {
                for (k, (r, x)) in sums.into_iter().enumerate().take(here) {
                    pair.take_in(step, start + k, r, x);
                }
            }
        }
    }
}

/// p and u of up to [`SHARE`] steps, entry by entry, zeros for steps that are not there.
fn coefficients(steps: &[Step], rows: usize) -> Vec<[[f64; SHARE]; 2]> {
    let mut out = vec![[[0.0; SHARE]; 2]; rows];
    for (l, step) in steps.iter().enumerate() {
        out.iter_mut().zip(&step.p).for_each(|(out, p)| out[0][l] = *p);
        out.iter_mut().zip(&step.u).for_each(|(out, u)| out[1][l] = *u);
    }
    out
}

/// (Σ_k p_k a_k, Σ_k p_k v_k − u_k a_k) for the packed eights a of A_t and v of A_v: λ × eights.
struct Combine<'k> {
    packed: &'k [[[Wide; EIGHTS]; 2]],
    coefficients: &'k [[[f64; SHARE]; 2]],
}

impl NullaryFnOnce for Combine<'_> {
    type Output = [[(Wide, Wide); EIGHTS]; SHARE];
    #[inline(always)]
    fn call(self) -> Self::Output {
        let mut sums = [[(Wide::ZERO, Wide::ZERO); EIGHTS]; SHARE];
        for ([a, v], [p, u]) in self.packed.iter().zip(self.coefficients) {
            for l in 0..SHARE {
                let (p, u) = (Wide::splat(p[l]), Wide::splat(u[l]));
                for k in 0..EIGHTS {
                    let (r, x) = sums[l][k];
                    sums[l][k] = (r + p * a[k], (x + p * v[k]) - u * a[k]);
                }
            }
        }
        sums
    }
}

impl Pair {
    fn take_in(&mut self, step: &Step, at: usize, r: Wide, x: Wide) {
        let stride = self.diagonal.len() / Wide::WIDTH;
        let update = |vector: &mut [f64], at: usize, f: &dyn Fn(Wide) -> Wide| {
            let eight = &mut vector.as_chunks_mut().0[at];
            f(Wide::load(eight)).store(eight);
        };
        let pi = Wide::splat(step.pi);
        update(&mut self.diagonal, at, &|d| d - r * r);
        update(&mut self.square, at, &|q| q - Wide::splat(2.0) * r * x + r * r * pi);
        for (o, &(gamma, eta)) in step.scalars.iter().enumerate() {
            let (gamma, eta) = (Wide::splat(gamma), Wide::splat(eta));
            update(&mut self.gradient, o * stride + at, &|g| g - gamma * r);
            update(&mut self.along, o * stride + at, &|h| h - r * eta + gamma * (x - r * pi));
        }
    }
}
