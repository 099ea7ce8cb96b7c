//! Kernel matrices of classes: the delta kernel of M. Yamada et al., *High-dimensional feature selection by feature-wise
//! kernelized lasso*, Neural Computation 26 (2014). The book, criteria/nhsic.md.

use super::{ThinFactor, square_roots};

/// Factor of the kernel that is positive within a class and 0 between classes: one column per class.
///
/// Within a class it is 1 divided by the class's share of the rows with `by_size` (the delta kernel, 1/n_class up to
/// the number of rows), else 1. `class` counts from 0. Cost O(m·classes).
pub fn classes(shares: &[f64], class: &[usize], by_size: bool) -> ThinFactor {
    let roots = square_roots(shares);
    let count = class.iter().max().map_or(0, |last| last + 1);
    let column = |wanted: usize| {
        let size: f64 = class.iter().zip(shares).filter(|(c, _)| **c == wanted).map(|(_, p)| p).sum();
        let scale = if by_size { size.sqrt() } else { 1.0 };
        roots.iter().zip(class).map(|(root, c)| if *c == wanted { root / scale } else { 0.0 }).collect()
    };
    ThinFactor::from_columns(&roots, (0..count).map(column).collect())
}
