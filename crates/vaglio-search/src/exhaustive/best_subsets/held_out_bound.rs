//! Lower bounds of held-out errors of larger subsets, for rows held out together.
//!
//! Let H_BB be the hat matrix of a subset in the rows B, e its residuals and M = (I − H_BB)⁻¹. The held-out residuals
//! are M e_B. M grows with every addition. So for every subset that contains F, ‖M e_B‖² ≥ e_Bᵀ(2M_F − I)e_B; if B is
//! one row with M_F = 1/(1 − h), ‖M e_B‖² ≥ e_B²/(1 − h)². Either bound is ‖e_B‖² + e_BᵀΔe_B with Δ positive
//! semidefinite, which is at least its tangent at any residuals e°: 2e°ᵀΔe − e°ᵀΔe°. A tangent is linear in the
//! coefficients, so the root's inverse stays valid.

use super::SubsetSquares;
use super::node_fit::LevelRows;
use vaglio_core::{RowsHeldOut, sum_of_products, sum_of_squares};
use vaglio_kernels::sums::axpy;
use vaglio_kernels::tolerance::LEAST_COMPLEMENT;

/// Number of parts that are held out.
fn count(held_out: &RowsHeldOut) -> usize {
    held_out.parts.iter().max().map_or(0, |last| *last as usize + 1)
}

/// Δ of a subset. The columns of Z are in the levels of the descent, after the intercept's.
#[derive(Clone, Default)]
pub(super) struct LossTangent {
    size: usize,
    /// 1 − h of each row, if rows are held out one by one.
    left: Option<Vec<f64>>,
}

impl LossTangent {
    pub fn new(held_out: &RowsHeldOut) -> Self {
        let is_alone = count(held_out) == held_out.parts.len();
        let mut tangent = LossTangent { size: 0, left: is_alone.then(|| vec![1.0; held_out.parts.len()]) };
        if let Some(unit) = &held_out.unit {
            tangent.subtract_squares(unit);
        }
        tangent
    }

    pub fn copy_from(&mut self, other: &LossTangent) {
        self.size = other.size;
        self.left.clone_from(&other.left);
    }

    fn subtract_squares(&mut self, z: &[f64]) {
        if let Some(left) = &mut self.left {
            left.iter_mut().zip(z).for_each(|(left, z)| *left -= z * z);
        }
    }

    /// Adds the column of the next level: z = (x − Σ l_k z_k)/√(1 + λ − Σ l_k²), with the largest λ, where M is
    /// smallest. Cost O(m·s).
    pub fn add(&mut self, squares: &SubsetSquares, held_out: &RowsHeldOut, levels: &mut [LevelRows]) {
        let (known, LevelRows { column, z, factor, .. }) = LevelRows::next(levels, self.size);
        let column = *column;
        factor.clear();
        for above in known {
            let dotted = sum_of_products(&*factor, &above.factor);
            factor.push((squares.row(column)[above.column] - dotted) / above.factor[factor.len()]);
        }
        let own = held_out.lambda / (squares.lengths[column] * squares.lengths[column]);
        let rest = 1.0 + own - sum_of_squares(&*factor);
        z.clear();
        z.extend_from_slice(&squares.x[column]);
        factor.iter().zip(known).for_each(|(l, above)| axpy(-l, &above.z, z));
        let root = rest.max(f64::MIN_POSITIVE).sqrt();
        z.iter_mut().for_each(|z| *z /= root);
        factor.push(root);
        self.subtract_squares(z);
        self.size += 1;
    }

    /// Computes Δe, which the tangent at the residuals e adds to Xᵀy. `None` if a system is singular. Cost O(m·s + K·s³),
    /// or O(m) if rows are held out one by one.
    pub fn delta_residuals(
        &self,
        held_out: &RowsHeldOut,
        e: &[f64],
        levels: &[LevelRows],
        systems: &mut Vec<PartSystem>,
        delta: &mut Vec<f64>,
    ) -> Option<()> {
        delta.clear();
        if let Some(left) = &self.left {
            delta.extend(e.iter().zip(left).map(|(e, left)| {
                let left = left.max(LEAST_COMPLEMENT);
                e * (1.0 / (left * left) - 1.0)
            }));
            return Some(());
        }
        // 2(M − I)e = 2Z_B(I − Z_BᵀZ_B)⁻¹Z_Bᵀe.
        let first = usize::from(held_out.unit.is_some());
        let size = first + self.size;
        let z = |k: usize| match &held_out.unit {
            Some(unit) if k == 0 => &unit[..],
            _ => &levels[k - first].z,
        };
        systems.resize_with(count(held_out), PartSystem::default);
        systems.iter_mut().for_each(|system| system.begin(size));
        for (row, &part) in held_out.parts.iter().enumerate() {
            let PartSystem { a, b } = &mut systems[part as usize];
            for k in 0..size {
                let own = z(k)[row];
                b[k] += own * e[row];
                (0..=k).for_each(|l| a[k * size + l] -= own * z(l)[row]);
            }
        }
        systems.iter_mut().try_for_each(|system| system.solve())?;
        delta.extend(held_out.parts.iter().enumerate().map(|(row, &part)| {
            let b = &systems[part as usize].b;
            2.0 * (0..size).map(|k| z(k)[row] * b[k]).sum::<f64>()
        }));
        Some(())
    }
}

/// Lower half of I − Z_BᵀZ_B, and Z_Bᵀe.
#[derive(Default)]
pub(super) struct PartSystem {
    a: Vec<f64>,
    b: Vec<f64>,
}

impl PartSystem {
    fn begin(&mut self, size: usize) {
        self.a.clear();
        self.a.resize(size * size, 0.0);
        (0..size).for_each(|k| self.a[k * size + k] = 1.0);
        self.b.clear();
        self.b.resize(size, 0.0);
    }

    /// b ← A⁻¹b by a Cholesky factor; `None` if a pivot is too small.
    fn solve(&mut self) -> Option<()> {
        let (size, a, b) = (self.b.len(), &mut self.a, &mut self.b);
        for k in 0..size {
            for l in 0..=k {
                let known: f64 = (0..l).map(|i| a[k * size + i] * a[l * size + i]).sum();
                let rest = a[k * size + l] - known;
                if l < k {
                    a[k * size + l] = rest / a[l * size + l];
                } else if rest > LEAST_COMPLEMENT {
                    a[k * size + k] = rest.sqrt();
                } else {
                    return None;
                }
            }
            let known: f64 = (0..k).map(|l| a[k * size + l] * b[l]).sum();
            b[k] = (b[k] - known) / a[k * size + k];
        }
        for k in (0..size).rev() {
            let known: f64 = (k + 1..size).map(|l| a[l * size + k] * b[l]).sum();
            b[k] = (b[k] - known) / a[k * size + k];
        }
        Some(())
    }
}
