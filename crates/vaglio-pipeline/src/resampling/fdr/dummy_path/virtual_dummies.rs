//! Dummies represented only by their products with the span of a path.

use super::{DifferenceBasis, NormalRng, Products};
use vaglio_core::sum_of_squares;
use vaglio_kernels::tolerance::INSIDE_SPAN;

/// Dummies that are not stored.
pub(super) struct VirtualDummies {
    pub products: Products,
    /// Squared norm of each outside the span of the targets and the path.
    outside: Vec<f64>,
    /// Dimension outside that span.
    dimensions: usize,
}

impl VirtualDummies {
    /// Draws dummies, given orthonormal targets.
    pub fn new(count: usize, targets: usize, dimensions: usize, draws: &mut NormalRng) -> Self {
        let mut outside = vec![1.0; count];
        let target_residual = |place: usize| {
            let part = |outside: &mut f64| part_of(outside, dimensions.saturating_sub(place), draws);
            outside.iter_mut().map(part).collect()
        };
        let residual: Vec<Vec<f64>> = (0..targets).map(target_residual).collect();
        let projected = vec![vec![0.0; count]; targets];
        let products = Products { residual, projected, left: vec![1.0; count] };
        VirtualDummies { products, outside, dimensions: dimensions.saturating_sub(targets) }
    }

    /// Coordinates of dummy `index` in the basis of the residuals, and its squared norm outside basis and path.
    pub fn coordinates(&self, index: usize, outer: &DifferenceBasis) -> (Vec<f64>, f64) {
        let Products { residual, projected, .. } = &self.products;
        let product = |(residual, projected): (&Vec<f64>, &Vec<f64>)| residual[index] - projected[index];
        let products: Vec<f64> = residual.iter().zip(projected).map(product).collect();
        (outer.known(&products), self.outside[index])
    }

    /// Adds a direction with the given coordinates in the basis of the residuals.
    pub fn add(&mut self, slopes: &[f64], along: &[f64], outer: &DifferenceBasis, draws: &mut NormalRng) {
        let new = 1.0 - sum_of_squares(along);
        let (is_new, weights) = (new > INSIDE_SPAN, outer.weights(along));
        let dimensions = self.dimensions;
        let known = &self.products;
        let product = |(index, outside): (usize, &mut f64)| {
            if known.left[index] == 0.0 {
                return 0.0;
            }
            let both = known.residual.iter().zip(&known.projected).zip(&weights);
            let inside: f64 =
                both.map(|((residual, projected), weight)| weight * (residual[index] - projected[index])).sum();
            inside + if is_new { new.sqrt() * part_of(outside, dimensions, draws) } else { 0.0 }
        };
        let products: Vec<f64> = self.outside.iter_mut().enumerate().map(product).collect();
        self.products.add(slopes, &products);
        self.dimensions -= usize::from(is_new && dimensions > 0);
    }
}

/// Product of a unit direction with a random vector, uniform on a sphere of this squared norm and dimension; reduces
/// the norm to that of the rest.
fn part_of(norm: &mut f64, dimensions: usize, draws: &mut NormalRng) -> f64 {
    if dimensions == 0 {
        return 0.0;
    }
    let normal = draws.normal();
    let share =
        if dimensions == 1 { 1.0 } else { normal * normal / (normal * normal + chi_squared(dimensions - 1, draws)) };
    let part = (*norm * share).sqrt();
    *norm *= 1.0 - share;
    if normal < 0.0 { -part } else { part }
}

/// A χ² number, by the squeeze of G. Marsaglia and W. W. Tsang, *A simple method for generating gamma variables*, ACM
/// Transactions on Mathematical Software 26 (2000).
fn chi_squared(degrees: usize, draws: &mut NormalRng) -> f64 {
    if degrees == 1 {
        return draws.normal().powi(2);
    }
    let shift = degrees as f64 / 2.0 - 1.0 / 3.0;
    let scale = 1.0 / (9.0 * shift).sqrt();
    loop {
        let normal = draws.normal();
        let cube = 1.0 + scale * normal;
        if cube <= 0.0 {
            continue;
        }
        let (cube, square, uniform) = (cube * cube * cube, normal * normal, draws.uniform());
        if uniform < 1.0 - 0.0331 * square * square
            || uniform.max(f64::MIN_POSITIVE).ln() < 0.5 * square + shift * (1.0 - cube + cube.ln())
        {
            return 2.0 * shift * cube;
        }
    }
}
