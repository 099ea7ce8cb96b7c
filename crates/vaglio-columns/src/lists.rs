//! Order, selection, size and products of lists.

use std::cmp::Ordering;

/// Largest absolute value; 0 without values.
pub fn max_abs<'v>(values: impl IntoIterator<Item = &'v f64>) -> f64 {
    values.into_iter().fold(0.0, |most: f64, v| most.max(v.abs()))
}

/// Least value; +∞ without values.
pub fn minimum(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(f64::INFINITY, f64::min)
}

/// Indices below `count` in the order of a comparison; equal ones stay in increasing order.
pub fn argsort_by(count: usize, compare: impl Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

/// Items at `places`, in that order.
pub fn gather<T: Copy>(items: &[T], places: &[usize]) -> Vec<T> {
    places.iter().map(|&place| items[place]).collect()
}

/// xᵀy, one term after the other.
#[inline]
pub fn sum_of_products<'x, 'y>(x: impl IntoIterator<Item = &'x f64>, y: impl IntoIterator<Item = &'y f64>) -> f64 {
    x.into_iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Σ a·b with the error of every operation added at the end, as if in twice the digits.
///
/// # Reference
/// T. Ogita, S. M. Rump, S. Oishi, *Accurate sum and dot product*, SIAM Journal on Scientific Computing 26 (2005),
/// algorithm 5.3.
pub fn accurate_sum_of_products(terms: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let (mut sum, mut lost) = (0.0, 0.0);
    for (a, b) in terms {
        let product = a * b;
        let next = sum + product;
        let added = next - sum;
        lost += (sum - (next - added)) + (product - added) + a.mul_add(b, -product);
        sum = next;
    }
    sum + lost
}

/// xᵀx, one term after the other.
#[inline]
pub fn sum_of_squares<'x>(x: impl IntoIterator<Item = &'x f64>) -> f64 {
    x.into_iter().map(|x| x * x).sum()
}
