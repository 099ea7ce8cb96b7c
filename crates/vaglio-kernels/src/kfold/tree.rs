//! Moments: all subsets, depth first, by Schur complements of the columns that may follow.
//!
//! The trials are those of the book, *Cross-validation without refitting*, "Moments: forward"; the order is that of
//! G. Furnival and R. Wilson, *Regressions by leaps and bounds*, Technometrics 16 (1974), without its bounds.

use super::Moments;
use crate::Level;
use crate::trial::worse;
use crate::wide::{F64x8, opaque};
use pulp::NullaryFnOnce;

/// A subset S and the later columns that could be added to it, for every λ.
///
/// Over the L later columns, with z_i = x_i less its ridge regression on S: T, the Schur complement of A_t + λ, its
/// gradients g, Q_ij = z_iᵀA_v z_j, h_i = z_iᵀ(A_v w − B_v), and the loss. Folds and λ are the innermost index, so eight
/// of them are worked on as one. Memory 8·K·R·(L² + 4L) bytes.
#[derive(Debug, Clone)]
pub struct MomentTree {
    level: Level,
    shape: Shape,
    /// Later columns.
    length: usize,
    /// T, Q, g, h, loss, conditioning and the scales of the diagonal, in this order, eights of pairs innermost.
    eights: Vec<F64x8>,
}

/// Sizes shared by all nodes.
#[derive(Debug, Clone, Copy)]
struct Shape {
    folds: usize,
    lambdas: usize,
    outputs: usize,
    /// Eights of pairs of a fold and a λ.
    eights: usize,
}

/// Where the parts of a node start, in eights.
#[derive(Debug, Clone, Copy)]
struct NodeLayout {
    eights: usize,
    length: usize,
    q: usize,
    g: usize,
    h: usize,
    loss: usize,
    conditioning: usize,
    scale: usize,
    end: usize,
}

impl Shape {
    fn layout(self, length: usize) -> NodeLayout {
        let (eights, pairs) = (self.eights, length * (length + 1) / 2);
        let q = pairs * eights;
        let g = 2 * q;
        let h = g + self.outputs * length * eights;
        let loss = h + self.outputs * length * eights;
        let (conditioning, scale) = (loss + eights, loss + 2 * eights);
        NodeLayout { eights, length, q, g, h, loss, conditioning, scale, end: scale + length * eights }
    }
}

impl NodeLayout {
    /// Where the entry i ≤ j of a packed triangle starts: rows from the first on, so that later rows are the end of it.
    #[inline(always)]
    fn at(self, i: usize, j: usize) -> usize {
        ((2 * self.length - i + 1) * i / 2 + j - i) * self.eights
    }
}

impl MomentTree {
    /// The empty subset, with active `columns` to be added in this order. Cost O(K·R·n²).
    pub fn new(moments: &Moments, lambdas: &[f64], columns: &[usize]) -> Self {
        let places = moments.places(columns);
        let (folds, length, stride) = (moments.folds(), places.len(), moments.stride);
        let pairs = folds * lambdas.len();
        let eights = pairs.div_ceil(F64x8::WIDTH).max(1);
        let shape = Shape { folds, lambdas: lambdas.len(), outputs: moments.outputs, eights };
        let layout = shape.layout(length);
        let mut all = vec![F64x8::ZERO; layout.end];
        for lane in 0..eights * F64x8::WIDTH {
            // Lanes without a pair repeat the first, so that they stay finite.
            let pair = if lane < pairs { lane } else { 0 };
            let (Some(fold), Some(&lambda)) =
                (moments.folds.get(pair % folds.max(1)), lambdas.get(pair / folds.max(1)))
            else {
                continue;
            };
            let mut set = |at: usize, value: f64| all[at + lane / F64x8::WIDTH].update(lane % F64x8::WIDTH, |_| value);
            for i in 0..length {
                let [training, held_out] = moments.rows(pair % folds.max(1), places[i]);
                for j in i..length {
                    set(layout.at(i, j), training[places[j]] + if i == j { lambda } else { 0.0 });
                    set(layout.q + layout.at(i, j), held_out[places[j]]);
                }
                for o in 0..moments.outputs {
                    let at = (o * length + i) * eights;
                    set(layout.g + at, fold.training_targets[o * stride + places[i]]);
                    set(layout.h + at, -fold.held_out_targets[o * stride + places[i]]);
                }
                set(layout.scale + i * eights, fold.scale[places[i]] + lambda);
            }
            set(layout.loss, fold.squares);
            set(layout.conditioning, 1.0);
        }
        MomentTree { level: moments.level, shape, length, eights: all }
    }

    /// Number of later columns, L.
    pub fn later(&self) -> usize {
        self.length
    }

    /// The subset with the later column at `position` (from 0) added, and the columns after it. Cost O(K·R·L²).
    #[must_use]
    pub fn child(&self, position: usize) -> MomentTree {
        let length = self.length.saturating_sub(position + 1);
        let (from, to) = (self.shape.layout(self.length), self.shape.layout(length));
        // The regression weights ρ stand at the end while the node is made.
        let mut eights = vec![F64x8::ZERO; to.end + length * to.eights];
        if position < self.length {
            let (out, rho) = eights.split_at_mut(to.end);
            let outputs = self.shape.outputs;
            self.level.run(AddColumn { outputs, from, to, b: position, old: &self.eights, out, rho });
        }
        eights.truncate(to.end);
        MomentTree { level: self.level, shape: self.shape, length, eights }
    }

    /// The sums of squared errors of adding each later column, and their conditioning: each λ × L.
    ///
    /// Cost O(K·R·L).
    pub fn trials(&self) -> (Vec<f64>, Vec<f64>) {
        let layout = self.shape.layout(self.length);
        let mut losses = vec![0.0; self.shape.lambdas * self.length];
        let mut conditioning = vec![1.0; losses.len()];
        self.level.call(
            #[inline(always)]
            || try_columns(self.shape, layout, &self.eights, &mut losses, &mut conditioning),
        );
        (losses, conditioning)
    }

    /// Sums of squared errors of the subset, for each λ.
    pub fn losses(&self) -> Vec<f64> {
        self.map_folds(self.shape.layout(self.length).loss, |pairs| pairs.iter().sum())
    }

    /// The conditioning of the subset, for each λ.
    pub fn conditioning(&self) -> Vec<f64> {
        self.map_folds(self.shape.layout(self.length).conditioning, |pairs| pairs.iter().copied().fold(1.0, worse))
    }

    /// Applies `f` to the folds of each λ, from the part that starts at `start`.
    fn map_folds(&self, start: usize, f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let pair = |k: usize| self.eights[start + k / F64x8::WIDTH].lane(k % F64x8::WIDTH);
        let pairs: Vec<f64> = (0..self.shape.lambdas * self.shape.folds).map(pair).collect();
        pairs.chunks(self.shape.folds).map(f).collect()
    }
}

/// Adds the column b of a node: everything of the columns after it, in the order of the layout.
struct AddColumn<'k> {
    outputs: usize,
    from: NodeLayout,
    to: NodeLayout,
    b: usize,
    old: &'k [F64x8],
    out: &'k mut [F64x8],
    rho: &'k mut [F64x8],
}

impl NullaryFnOnce for AddColumn<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        let AddColumn { outputs, from, to, b, old, out, rho } = self;
        let eights = from.eights;
        let t = &old[from.at(b, b)..from.at(b, b) + (from.length - b) * eights];
        let q = &old[from.q + from.at(b, b)..][..(from.length - b) * eights];
        let ((t_b, t), (q_b, q)) = (t.split_at(eights), q.split_at(eights));
        for (rho, t) in rho.chunks_exact_mut(eights).zip(t.chunks_exact(eights)) {
            (0..eights).for_each(|e| rho[e] = *opaque(&t[e]) / t_b[e]);
        }
        triangle_t(&old[from.at(b + 1, b + 1)..from.q], t, t_b, &mut out[..to.q]);
        triangle_q(&old[from.q + from.at(b + 1, b + 1)..from.g], q, q_b, rho, &mut out[to.q..to.g]);
        let span = |start: usize, o: usize, i: usize| start + (o * from.length + i) * eights;
        let (mut loss, two) = (old[from.loss..from.conditioning].iter(), F64x8::splat(2.0));
        out[to.loss..to.conditioning].iter_mut().zip(&mut loss).for_each(|(to, from)| *to = *from);
        for o in 0..outputs {
            let (g_b, h_b) = (&old[span(from.g, o, b)..][..eights], &old[span(from.h, o, b)..][..eights]);
            for k in 0..to.length * eights {
                let e = k % eights;
                let delta = g_b[e] / t_b[e];
                let (g, h) = (*opaque(&old[span(from.g, o, b + 1) + k]), old[span(from.h, o, b + 1) + k]);
                out[to.g + o * to.length * eights + k] = g - rho[k] * g_b[e];
                out[to.h + o * to.length * eights + k] = h + delta * q[k] - rho[k] * (h_b[e] + delta * q_b[e]);
            }
            for e in 0..eights {
                let delta = g_b[e] / t_b[e];
                out[to.loss + e] = *opaque(&out[to.loss + e]) + delta * (two * h_b[e] + delta * q_b[e]);
            }
        }
        (0..eights).for_each(|e| out[to.conditioning + e] = share(old, from, b, e).min(old[from.conditioning + e]));
        out[to.scale..to.end].copy_from_slice(&old[from.scale + (b + 1) * eights..from.end]);
    }
}

/// T_ij − ρ_i T_bj.
#[inline(always)]
fn triangle_t(old: &[F64x8], t: &[F64x8], t_b: &[F64x8], out: &mut [F64x8]) {
    let eights = t_b.len();
    let (mut at, length) = (0, t.len() / eights.max(1));
    for i in 0..length {
        for e in 0..eights {
            let rho = t[i * eights + e] / t_b[e];
            for j in i..length {
                let here = at + (j - i) * eights + e;
                out[here] = *opaque(&old[here]) - rho * t[j * eights + e];
            }
        }
        at += (length - i) * eights;
    }
}

/// Q_ij − ρ_i Q_bj − ρ_j Q_bi + ρ_i ρ_j Q_bb.
#[inline(always)]
fn triangle_q(old: &[F64x8], q: &[F64x8], q_b: &[F64x8], rho: &[F64x8], out: &mut [F64x8]) {
    let eights = q_b.len();
    let (mut at, length) = (0, q.len() / eights.max(1));
    for i in 0..length {
        for e in 0..eights {
            let (rho_i, q_i) = (rho[i * eights + e], q[i * eights + e]);
            for j in i..length {
                let (here, other) = (at + (j - i) * eights + e, j * eights + e);
                out[here] = *opaque(&old[here]) - (rho_i * q[other] + rho[other] * q_i) + rho_i * rho[other] * q_b[e];
            }
        }
        at += (length - i) * eights;
    }
}

/// T_ii as a share of what it was a difference from, 0 for what is not a number.
#[inline(always)]
fn share(eights: &[F64x8], layout: NodeLayout, i: usize, e: usize) -> F64x8 {
    let ratio = eights[layout.at(i, i) + e] / eights[layout.scale + i * layout.eights + e];
    F64x8::ZERO - (F64x8::ZERO - ratio).min(F64x8::ZERO)
}

/// Loss + 2δh_i + δ²Q_ii added up over folds.
#[inline(always)]
fn try_columns(shape: Shape, layout: NodeLayout, x: &[F64x8], losses: &mut [f64], conditioning: &mut [f64]) {
    for i in 0..layout.length {
        for e in 0..layout.eights {
            let (t, q) = (x[layout.at(i, i) + e], x[layout.q + layout.at(i, i) + e]);
            let mut sum = x[layout.loss + e];
            for o in 0..shape.outputs {
                let at = (o * layout.length + i) * layout.eights + e;
                let delta = x[layout.g + at] / t;
                sum = sum + delta * (F64x8::splat(2.0) * x[layout.h + at] + delta * q);
            }
            let lowest = share(x, layout, i, e).min(x[layout.conditioning + e]);
            let first = e * F64x8::WIDTH;
            for pair in first..(first + F64x8::WIDTH).min(shape.folds * shape.lambdas) {
                let at = pair / shape.folds * layout.length + i;
                losses[at] += sum.lane(pair - first);
                conditioning[at] = conditioning[at].min(lowest.lane(pair - first));
            }
        }
    }
}
