//! Paths of one output.

use crate::least_angle_paths::{LeastAngle, LeastAngleKnot, PathShape};
use vaglio_core::{Error, StopReason};
use vaglio_kernels::Level;

fn entry(i: usize, j: usize) -> f64 {
    0.3 * ((i * 7 + j * 7 + i * j * 3) as f64).sin() + if i == j { 2.0 } else { 0.0 }
}

fn walk(shape: PathShape) -> (Vec<LeastAngleKnot>, StopReason) {
    let relevance = vec![(0..23).map(|i| (i as f64 * 1.7).cos()).collect()];
    let mut path = LeastAngle::new(shape, usize::MAX, relevance, vec![true; 23]);
    let mut gram = |j: usize| Ok((0..23).map(|i| entry(i, j)).collect());
    let mut knots = Vec::new();
    loop {
        match path.advance(&mut gram) {
            Err(Error::Stopped(end)) => return (knots, end),
            knot => knots.push(knot.unwrap()),
        }
    }
}

#[test]
fn every_level_and_number_of_threads_gives_the_same_bits() {
    for shape in [PathShape::Lasso, PathShape::NonNegativeLasso] {
        let reference = Level::available()[0].within(|| walk(shape));
        assert!(reference.0.len() > 5 && reference.1 == StopReason::NoCorrelation);
        for level in Level::available() {
            level.within(|| {
                assert_eq!(walk(shape), reference);
            });
        }
        for threads in 1..=3 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| walk(shape)), reference);
        }
    }
}

#[test]
fn the_last_coefficients_solve_the_system() {
    let (knots, _) = walk(PathShape::Lasso);
    let mut order = Vec::new();
    for knot in &knots {
        knot.action.follow(&[knot.feature], &mut order);
    }
    let last = knots.last().unwrap();
    assert_eq!((order.len(), last.lambda), (23, 0.0));
    for i in 0..23 {
        let sum: f64 = order.iter().zip(&last.alpha).map(|(&j, alpha)| entry(i, j) * alpha).sum();
        assert!((sum - (i as f64 * 1.7).cos()).abs() < 1e-14);
    }
}
