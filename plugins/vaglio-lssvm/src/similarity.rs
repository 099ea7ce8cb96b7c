//! Kernel functions between rows and points, in blocks of the kernel matrix.

use serde::{Deserialize, Serialize};
use vaglio_kernels::elementary_functions;
use vaglio_kernels::tile::Tile;
use vaglio_kernels::vectors::Vectors;

/// A positive semidefinite function of two rows u and v.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum KernelFunction {
    /// exp(−‖u − v‖²/2b²) with b the bandwidth.
    Rbf {
        /// Positive bandwidth b.
        bandwidth: f64,
    },
    /// (uᵀv + offset)^degree; with degree 1 and offset 0 the linear kernel uᵀv.
    Polynomial {
        /// At least 1.
        degree: u32,
        /// At least 0.
        offset: f64,
    },
}

impl KernelFunction {
    /// Kernel matrix k(u, p_k), rows × points. Cost O(rows·points·inputs).
    ///
    /// # Panics
    /// If the tile's columns do not match the points' entries.
    pub fn matrix(self, points: &Vectors, rows: &Tile) -> Tile {
        let mut out = match self {
            KernelFunction::Rbf { .. } => points.squared_distances(rows),
            KernelFunction::Polynomial { offset, .. } => points.products(rows, &vec![offset; points.len()]),
        };
        self.finish(out.entries());
        out
    }

    /// k(u, v), with the bits of [`KernelFunction::matrix`]. Cost O(inputs).
    pub fn evaluate(self, u: &[f64], v: &[f64]) -> f64 {
        let pairs = u.iter().zip(v);
        let mut value = [match self {
            KernelFunction::Rbf { .. } => pairs.fold(0.0, |sum, (u, v)| sum + (u - v) * (u - v)),
            KernelFunction::Polynomial { offset, .. } => pairs.fold(offset, |sum, (u, v)| sum + v * u),
        }];
        self.finish(&mut value);
        value[0]
    }

    /// Turns squared distances, or products with the offset added, into kernel values.
    fn finish(self, values: &mut [f64]) {
        match self {
            KernelFunction::Rbf { bandwidth } => {
                let scale = -0.5 / (bandwidth * bandwidth);
                values.iter_mut().for_each(|v| *v *= scale);
                elementary_functions::exp(values);
            }
            KernelFunction::Polynomial { degree, .. } => values.iter_mut().for_each(|v| *v = power(*v, degree)),
        }
    }
}

/// xⁿ by repeated squaring, n ≥ 1, with the same products on every machine.
fn power(x: f64, n: u32) -> f64 {
    let (mut square, mut rest, mut product) = (x, n, None);
    while rest > 0 {
        if rest % 2 == 1 {
            product = Some(product.map_or(square, |p: f64| p * square));
        }
        rest /= 2;
        if rest > 0 {
            square *= square;
        }
    }
    product.unwrap_or(1.0)
}
