//! Linear algebra, against products of the factors.

use ndarray::{Array1, Array2, ArrayView2};
use std::time::{Duration, Instant};
use vaglio_columns::CancelToken;
use vaglio_kernels::linalg::{
    Cholesky, FactorizationError, LowerFactor, eigh, gemm, gram, inverse, solve, spectral_radius, svd, triangle,
};

fn matrix(m: usize, n: usize) -> Array2<f64> {
    Array2::from_shape_fn((m, n), |(i, j)| ((i * 31 + j * 17 + i * j * 7) % 23) as f64 / 23.0 - 0.4)
}

fn close(a: &Array2<f64>, b: &Array2<f64>) {
    assert_eq!(a.dim(), b.dim());
    let scale = b.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
    a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() < 1e-12 * scale, "{a} is not {b}"));
}

/// Builds matrices of m × n entries in every layout.
fn in_every_layout(m: usize, n: usize, then: impl FnOnce(&[ArrayView2<'_, f64>])) {
    use ndarray::{ShapeBuilder, s};
    let (whole, row) = (matrix(2 * m, 3 * n), matrix(1, n));
    let by_columns = Array2::from_shape_fn((m, n).f(), |at| whole[at]);
    then(&[
        whole.slice(s![..m, ..n]),
        whole.slice(s![..;2, ..;3]),
        whole.slice(s![..;-2, ..;-3]),
        whole.slice(s![m.., n..2 * n]),
        by_columns.view(),
        row.broadcast((m, n)).unwrap(),
    ]);
}

#[test]
fn products_are_of_the_entries_in_every_layout() {
    let product = |a: &ArrayView2<f64>, b: &ArrayView2<f64>| {
        let entry = |(i, j): (usize, usize)| (0..a.ncols()).map(|k| a[[i, k]] * b[[k, j]]).sum::<f64>();
        Array2::from_shape_fn((a.nrows(), b.ncols()), entry)
    };
    for (m, n) in [(1, 1), (1, 4), (4, 1), (7, 3), (3, 7), (40, 20)] {
        in_every_layout(m, n, |layouts| {
            for a in layouts.iter().flat_map(|a| [a.view(), a.t()]) {
                close(&gram(a), &product(&a.t(), &a));
                layouts.iter().for_each(|b| match a.ncols() == m {
                    true => close(&gemm(a, *b), &product(&a, b)),
                    false => close(&gemm(a, b.t()), &product(&a, &b.t())),
                });
            }
        });
    }
}

/// Without rows, columns or both, results are empty or 0.
#[test]
fn empty_matrices_have_empty_factors() {
    let empty = Array2::zeros((0, 0));
    assert_eq!(eigh(empty.view()), Ok((Array1::zeros(0), empty.clone())));
    assert_eq!((inverse(empty.view()), spectral_radius(empty.view())), (Ok(empty.clone()), Ok(0.0)));
    assert_eq!(solve(empty.view(), Array2::<f64>::zeros((0, 2)).view()), Ok(Array2::zeros((0, 2))));
    for (m, n) in [(0, 0), (0, 3), (3, 0)] {
        let a = Array2::<f64>::zeros((m, n));
        assert_eq!(gram(a.view()), Array2::<f64>::zeros((n, n)));
        assert_eq!(gemm(a.view(), a.t()), Array2::<f64>::zeros((m, m)));
        assert_eq!(triangle(a.view()), Ok(Array2::<f64>::zeros((0, n))));
        assert_eq!(svd(a.view()).unwrap().1.len(), 0);
    }
}

#[test]
fn eigenvectors_rebuild_the_matrix() {
    let a = gram(matrix(30, 12).view());
    let (values, vectors) = eigh(a.view()).unwrap();
    assert!(values.windows(2).into_iter().all(|w| w[0] <= w[1]));
    close(&vectors.dot(&Array2::from_diag(&values)).dot(&vectors.t()), &a);
}

#[test]
fn solve_and_inverse_invert() {
    let a = gram(matrix(30, 12).view()) + Array2::<f64>::eye(12);
    let b = matrix(12, 3);
    close(&a.dot(&solve(a.view(), b.view()).unwrap()), &b);
    close(&a.dot(&inverse(a.view()).unwrap()), &Array2::eye(12));
    assert_eq!(solve((-&a).view(), b.view()), Err(FactorizationError::NotPositiveDefinite));
    assert_eq!(inverse((-a).view()), Err(FactorizationError::NotPositiveDefinite));
}

#[test]
fn a_triangle_has_the_gram_matrix_of_its_matrix() {
    for (m, n) in [(30, 12), (12, 30), (5, 1)] {
        let a = matrix(m, n);
        let r = triangle(a.view()).unwrap();
        assert_eq!(r.dim(), (m.min(n), n));
        close(&r.t().dot(&r), &a.t().dot(&a));
        assert!(r.indexed_iter().all(|((i, j), v)| i <= j || *v == 0.0));
    }
}

#[test]
fn the_spectral_radius_is_the_largest_eigenvalue() {
    // A scaled rotation by any angle; a triangle; a companion matrix of x² − x − 1.
    let (sin, cos) = 0.7f64.sin_cos();
    let golden = (1.0 + 5.0f64.sqrt()) / 2.0;
    for (a, radius) in [
        (ndarray::array![[2.0 * cos, -2.0 * sin], [2.0 * sin, 2.0 * cos]], 2.0),
        (ndarray::array![[1.0, 5.0, 7.0], [0.0, -3.0, 2.0], [0.0, 0.0, 2.5]], 3.0),
        (ndarray::array![[1.0, 1.0], [1.0, 0.0]], golden),
        (Array2::zeros((0, 0)), 0.0),
    ] {
        assert!((spectral_radius(a.view()).unwrap() - radius).abs() < 1e-13, "{a}");
    }
    let symmetric = gram(matrix(30, 12).view());
    let most = eigh(symmetric.view()).unwrap().0[11];
    assert!((spectral_radius(symmetric.view()).unwrap() / most - 1.0).abs() < 1e-12);
    assert!(spectral_radius(Array2::from_elem((2, 2), f64::NAN).view()).is_err());
}

#[test]
fn singular_vectors_rebuild_the_matrix() {
    for (m, n) in [(30, 12), (12, 30), (5, 1)] {
        let a = matrix(m, n);
        let (u, d, v) = svd(a.view()).unwrap();
        close(&u.dot(&Array2::from_diag(&d)).dot(&v.t()), &a);
    }
    assert!(matches!(svd(Array2::from_elem((2, 2), f64::NAN).view()), Err(FactorizationError::NoConvergence)));
}

#[test]
fn systems_are_solved_and_the_norm_of_the_inverse_is_that_of_the_inverse() {
    for n in [0, 1, 2, 7, 40, 130] {
        let mut a = gram(matrix(n + 50, n).view());
        a.diag_mut().iter_mut().enumerate().for_each(|(i, d)| *d += 10f64.powi(-(i as i32 % 9)));
        let factor = Cholesky::new(a.view()).unwrap();
        let b = matrix(n, 3);
        let worst = (a.dot(&factor.solve(b.view())) - &b).iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!(worst < 1e-6, "{n}: {worst}");
        let sums = inverse(a.view()).unwrap().columns().into_iter().map(|c| c.mapv(f64::abs).sum()).collect::<Vec<_>>();
        let norm = sums.into_iter().fold(0.0, f64::max);
        let found = factor.inverse_norm(n);
        assert!(found <= norm * (1.0 + 1e-6) && found >= norm / 3.0, "{n}: {found} for {norm}");
    }
}

#[test]
fn what_is_not_positive_definite_fails() {
    let a = ndarray::array![[1.0, 2.0], [2.0, 1.0]];
    assert!(matches!(Cholesky::new(a.view()), Err(FactorizationError::NotPositiveDefinite)));
    assert!(matches!(
        Cholesky::new(Array2::from_elem((2, 2), f64::NAN).view()),
        Err(FactorizationError::NoConvergence)
    ));
}

#[test]
fn a_factor_with_rows_removed_is_that_of_the_smaller_matrix() {
    let entry = |i: usize, j: usize| if i == j { 3.0 } else { 1.0 / (1.0 + (i * j) as f64 + i.abs_diff(j) as f64) };
    let made = |order: &[usize]| {
        let mut factor = LowerFactor::default();
        for (k, &i) in order.iter().enumerate() {
            let row: Vec<f64> = order[..k].iter().map(|&j| entry(i, j)).collect();
            let (left, w) = factor.left_over(&row, entry(i, i));
            factor.push(left, w);
        }
        factor
    };
    for out in 0..6 {
        let mut updated = made(&[0, 1, 2, 3, 4, 5]);
        updated.remove(out);
        let rest: Vec<usize> = (0..6).filter(|i| *i != out).collect();
        let b: Vec<f64> = rest.iter().map(|&i| (i as f64).cos()).collect();
        let x = updated.solve(&b);
        for (a, b) in x.iter().zip(made(&rest).solve(&b)) {
            assert!((a - b).abs() < 1e-14);
        }
        for (k, &i) in rest.iter().enumerate() {
            let product: f64 = rest.iter().zip(&x).map(|(&j, x)| entry(i.max(j), i.min(j)) * x).sum();
            assert!((product - b[k]).abs() < 1e-14);
        }
    }
}

#[test]
fn long_work_is_left_and_its_result_is_the_same() {
    let a = matrix(1000, 1000);
    let alone = gemm(a.view(), a.view());
    assert_eq!(CancelToken::new(|| false).within(|| gemm(a.view(), a.view())), Some(alone));
    let long = gram(matrix(1200, 1200).view());
    let begun = Instant::now();
    let halt = CancelToken::new(move || begun.elapsed() > Duration::from_millis(20));
    assert!(halt.within(|| eigh(long.view())).is_none() && begun.elapsed() < Duration::from_secs(10));
}

#[cfg(not(feature = "lapack"))]
#[path = "../../src/linalg/faer_views.rs"]
mod faer_views;

/// Small enough for Miri, which detects out-of-bounds accesses.
#[cfg(not(feature = "lapack"))]
#[test]
fn views_hold_the_entries_in_every_layout() {
    for (m, n) in [(0, 0), (0, 2), (3, 0), (1, 1), (4, 3), (2, 5)] {
        in_every_layout(m, n, |layouts| {
            for a in layouts.iter().flat_map(|a| [a.view(), a.t()]) {
                let view = faer_views::view(&a);
                assert_eq!((view.nrows(), view.ncols()), a.dim());
                assert!(a.indexed_iter().all(|((i, j), entry)| view[(i, j)] == *entry), "{a:?}");
            }
        });
    }
}

/// Small enough for Miri, which detects out-of-bounds accesses.
#[cfg(not(feature = "lapack"))]
#[test]
fn rows_below_are_written_in_every_layout() {
    use ndarray::{ShapeBuilder, s};
    for (rows, columns) in [(0, 0), (0, 2), (3, 0), (1, 1), (4, 3), (2, 5)] {
        for n in 0..=rows {
            for layout in 0..5 {
                let mut whole = match layout {
                    0 => Array2::zeros((rows, columns)),
                    1 => Array2::zeros((rows, columns).f()),
                    _ => Array2::zeros((2 * rows, 3 * columns)),
                };
                let mut b = match layout {
                    0 | 1 => whole.view_mut(),
                    2 => whole.slice_mut(s![..;2, ..;3]),
                    3 => whole.slice_mut(s![..;-2, ..;-3]),
                    _ => whole.slice_mut(s![rows.., ..;3]),
                };
                let mut rows_below = faer_views::rows_below(&mut b, n);
                assert_eq!((rows_below.nrows(), rows_below.ncols()), (n, columns));
                for (i, j) in (0..n).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                    rows_below[(i, j)] += (1 + i + 10 * j) as f64;
                }
                let expected = |(i, j): (usize, usize)| match (i + n).checked_sub(rows) {
                    Some(below) => (1 + below + 10 * j) as f64,
                    None => 0.0,
                };
                assert_eq!(b, Array2::from_shape_fn((rows, columns), expected), "{layout}");
            }
        }
    }
}
