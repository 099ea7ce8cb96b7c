//! Rows that are held out together, which weighs the residuals of larger subsets from below.
//!
//! With H_BB the hat matrix of a subset in the rows B, its residuals e and M = (I − H_BB)⁻¹, those held out are M e_B. Along
//! additions M only grows, so for every subset that holds F, ‖M e_B‖² ≥ e_Bᵀ(2M_F − I)e_B, and M_F = 1/(1 − h) where B is one row:
//! ‖M e_B‖² ≥ e_B²/(1 − h)². Either is ‖e_B‖² + e_BᵀΔe_B with Δ positive semidefinite, which is no less than its tangent at
//! any residuals e°: 2e°ᵀΔe − e°ᵀΔe°. A tangent is linear in the coefficients, so the inverse stays that of the
//! root.

use super::SubsetSquares;
use crate::sums::{axpy, dot};
use crate::tolerance::LEAST_COMPLEMENT;
use std::rc::Rc;

/// Which rows are held out together, and the fits of those that are not.
#[derive(Debug)]
pub struct HeldOut {
    /// The part of each row, counted from 0.
    pub parts: Vec<u32>,
    /// How many parts there are.
    pub count: usize,
    /// The direction of the intercept, of length 1, where there is one.
    pub unit: Option<Vec<f64>>,
    /// The largest λ, at which M is least.
    pub lambda: f64,
}

/// Δ of a subset.
#[derive(Clone, Debug)]
pub(super) struct Lift {
    /// Columns Z with H = ZZᵀ.
    z: Vec<Rc<Vec<f64>>>,
    /// The subset with the rows of the lower factor of its penalized Gram matrix.
    members: Vec<usize>,
    factor: Vec<Vec<f64>>,
    /// 1 − h of each row, where each is held out alone.
    left: Option<Vec<f64>>,
}

impl Lift {
    pub fn new(held_out: &HeldOut) -> Self {
        let is_alone = held_out.count == held_out.parts.len();
        let mut lift = Lift {
            z: Vec::new(),
            members: Vec::new(),
            factor: Vec::new(),
            left: is_alone.then(|| vec![1.0; held_out.parts.len()]),
        };
        if let Some(unit) = &held_out.unit {
            lift.push(unit.clone());
        }
        lift
    }

    fn push(&mut self, z: Vec<f64>) {
        if let Some(left) = &mut self.left {
            left.iter_mut().zip(&z).for_each(|(left, z)| *left -= z * z);
        }
        self.z.push(Rc::new(z));
    }

    /// The subset with one column more: z = (x − Σ l_k z_k)/√(1 + λ − Σ l_k²). Cost O(m·s).
    pub fn add(&mut self, of: &SubsetSquares, held_out: &HeldOut, column: usize) {
        let first = self.z.len() - self.members.len();
        let mut row: Vec<f64> = Vec::with_capacity(self.members.len() + 1);
        for (k, &member) in self.members.iter().enumerate() {
            let known: f64 = row.iter().zip(&self.factor[k]).map(|(a, b)| a * b).sum();
            row.push((of.product(column, member) - known) / self.factor[k][k]);
        }
        let own = (held_out.lambda - of.ridge) / (of.lengths[column] * of.lengths[column]);
        let rest = 1.0 + own - row.iter().map(|l| l * l).sum::<f64>();
        let mut z = of.x[column].clone();
        row.iter().zip(&self.z[first..]).for_each(|(l, known)| axpy(of.level, -l, known, &mut z));
        let root = rest.max(f64::MIN_POSITIVE).sqrt();
        z.iter_mut().for_each(|z| *z /= root);
        row.push(root);
        self.members.push(column);
        self.factor.push(row);
        self.push(z);
    }

    /// Δe. Cost O(m·s + K·s³), or O(m) where rows are held out alone.
    pub fn of(&self, held_out: &HeldOut, e: &[f64]) -> Option<Vec<f64>> {
        if let Some(left) = &self.left {
            let lifted = |(e, left): (&f64, &f64)| {
                let left = left.max(LEAST_COMPLEMENT);
                e * (1.0 / (left * left) - 1.0)
            };
            return Some(e.iter().zip(left).map(lifted).collect());
        }
        // 2(M − I)e = 2Z_B(I − Z_BᵀZ_B)⁻¹Z_Bᵀe.
        let size = self.z.len();
        let mut systems = vec![PartSystem::new(size); held_out.count];
        for (row, &part) in held_out.parts.iter().enumerate() {
            let PartSystem { a, b } = &mut systems[part as usize];
            for k in 0..size {
                let own = self.z[k][row];
                b[k] += own * e[row];
                (0..=k).for_each(|l| a[k * size + l] -= own * self.z[l][row]);
            }
        }
        systems.iter_mut().map(PartSystem::solve).collect::<Option<()>>()?;
        let lifted = |(row, &part): (usize, &u32)| {
            let b = &systems[part as usize].b;
            2.0 * (0..size).map(|k| self.z[k][row] * b[k]).sum::<f64>()
        };
        Some(held_out.parts.iter().enumerate().map(lifted).collect())
    }
}

/// What a tangent adds: to the total and to Xᵀy of each output.
pub(super) struct Tangent {
    pub total: f64,
    pub lifted: Vec<Vec<f64>>,
}

impl Lift {
    /// The tangent at the residuals of each output. `None` where nothing is known.
    pub fn tangent(&self, of: &SubsetSquares, held_out: &HeldOut, residuals: &[Vec<f64>]) -> Option<Tangent> {
        let mut total = 0.0;
        let mut lifted = Vec::with_capacity(residuals.len());
        for (e, y) in residuals.iter().zip(&of.targets) {
            let u = self.of(held_out, e)?;
            total += 2.0 * dot(of.level, &u, y) - dot(of.level, &u, e);
            lifted.push(u);
        }
        total.is_finite().then_some(Tangent { total, lifted })
    }
}

/// I − Z_BᵀZ_B, of which the lower half is used, and Z_Bᵀe.
#[derive(Clone)]
struct PartSystem {
    a: Vec<f64>,
    b: Vec<f64>,
}

impl PartSystem {
    fn new(size: usize) -> Self {
        let mut a = vec![0.0; size * size];
        (0..size).for_each(|k| a[k * size + k] = 1.0);
        PartSystem { a, b: vec![0.0; size] }
    }

    /// b ← A⁻¹b by a Cholesky factor; `None` where a pivot is too small.
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
