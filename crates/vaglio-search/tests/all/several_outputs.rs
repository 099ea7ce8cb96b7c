//! Paths of several outputs against their definitions.

use crate::least_angle_paths::{LeastAngle, LeastAngleKnot, PathShape};
use vaglio_core::{Action, Error, StopReason};
use vaglio_kernels::Level;
use vaglio_testkit::SplitMix64;

/// Unit columns with shared factors, and C and Q of targets built from them.
struct Data {
    x: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
}

impl Data {
    fn new(rows: usize, columns: usize, outputs: usize, seed: u64) -> Data {
        let mut random = SplitMix64::new(seed);
        let mut drawn = || 2.0 * random.uniform() - 1.0;
        let factors: Vec<Vec<f64>> = (0..3).map(|_| (0..rows).map(|_| drawn()).collect()).collect();
        let mut x = Vec::new();
        for _ in 0..columns {
            let loads: Vec<f64> = (0..3).map(|_| drawn()).collect();
            let column = (0..rows).map(|j| (0..3).map(|f| loads[f] * factors[f][j]).sum::<f64>() + 0.4 * drawn());
            x.push(unit(column.collect()));
        }
        let mut y = Vec::new();
        for _ in 0..outputs {
            let by: Vec<f64> = (0..columns).map(|_| drawn()).collect();
            let target = (0..rows).map(|j| (0..columns).map(|i| by[i] * x[i][j]).sum::<f64>() + 0.2 * drawn());
            y.push(unit(target.collect()));
        }
        Data { x, y }
    }

    fn relevance(&self) -> Vec<Vec<f64>> {
        self.y.iter().map(|y| self.x.iter().map(|x| dot(x, y)).collect()).collect()
    }

    fn gram(&self, j: usize) -> Vec<f64> {
        self.x.iter().map(|x| dot(x, &self.x[j])).collect()
    }

    fn walk(&self, rows: PathShape) -> (Vec<LeastAngleKnot>, StopReason) {
        let open = vec![true; self.x.len()];
        let mut path = LeastAngle::new(rows, usize::MAX, self.relevance(), open);
        let mut knots = Vec::new();
        let mut gram = |j: usize| Ok(self.gram(j));
        loop {
            match path.advance(&mut gram) {
                Err(Error::Stopped(end)) => return (knots, end),
                knot => knots.push(knot.unwrap()),
            }
            assert!(knots.len() < 20 * self.x.len());
        }
    }

    /// Computes U = Xᵀ(Y − XW).
    fn residual_products(&self, active: &[usize], alpha: &[f64]) -> Vec<Vec<f64>> {
        let k = self.y.len();
        let residual = |o: usize| {
            let fit = |j: usize| active.iter().enumerate().map(|(p, &i)| self.x[i][j] * alpha[p * k + o]).sum::<f64>();
            (0..self.y[o].len()).map(|j| self.y[o][j] - fit(j)).collect::<Vec<f64>>()
        };
        let residuals: Vec<Vec<f64>> = (0..k).map(residual).collect();
        self.x.iter().map(|x| residuals.iter().map(|r| dot(x, r)).collect()).collect()
    }
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|v| v * v).sum::<f64>().sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn unit(mut x: Vec<f64>) -> Vec<f64> {
    let length = norm(x.iter().copied());
    x.iter_mut().for_each(|v| *v /= length);
    x
}

fn length(row: &[f64]) -> f64 {
    norm(row.iter().copied())
}

/// Returns the active columns after each knot's event.
fn actives(knots: &[LeastAngleKnot]) -> Vec<Vec<usize>> {
    let mut active = Vec::new();
    let follow = |knot: &LeastAngleKnot| {
        knot.action.follow(&[knot.feature], &mut active);
        active.clone()
    };
    knots.iter().map(follow).collect()
}

#[test]
fn every_knot_meets_the_conditions_of_the_group_lasso_and_rows_leave() {
    let mut left_path = 0;
    for seed in 0..12 {
        for (rows, columns, outputs) in [(40, 12, 3), (12, 20, 2)] {
            let data = Data::new(rows, columns, outputs, seed);
            let (knots, end) = data.walk(PathShape::GroupLasso);
            assert_eq!(end, if rows > columns { StopReason::NoCorrelation } else { end }, "seed {seed}");
            for (knot, active) in knots.iter().zip(actives(&knots)) {
                let u = data.residual_products(&active, &knot.alpha);
                left_path += usize::from(knot.action == Action::Remove);
                for (j, u) in u.iter().enumerate() {
                    assert!(length(u) <= knot.lambda + 1e-10, "seed {seed}: {} over {}", length(u), knot.lambda);
                    let Some(place) = active.iter().position(|f| *f == j) else { continue };
                    let w = &knot.alpha[place * outputs..][..outputs];
                    for (u, v) in u.iter().zip(w).filter(|_| length(w) > 0.0) {
                        assert!((u - knot.lambda * v / length(w)).abs() < 1e-10, "seed {seed}: {j} at {}", knot.lambda);
                    }
                }
            }
            let last = knots.last().unwrap().lambda;
            assert!(rows < columns || last == 0.0, "seed {seed}: {last:e}");
        }
    }
    assert!(left_path >= 10, "{left_path}");
}

/// The definition: outputs move toward least squares on the active columns, with step sizes by bisection.
#[test]
fn steps_are_those_of_multiresponse_sparse_regression() {
    for seed in 0..6 {
        let data = Data::new(30, 9, 3, seed);
        let (knots, end) = data.walk(PathShape::Multiresponse);
        assert_eq!((knots.len(), end), (9, StopReason::NoCorrelation));
        let mut active: Vec<usize> = Vec::new();
        let mut fits = vec![vec![0.0; 30]; 3];
        for knot in &knots {
            let left = |fits: &[Vec<f64>], j: usize| {
                norm((0..3).map(|o| (0..30).map(|r| data.x[j][r] * (data.y[o][r] - fits[o][r])).sum::<f64>()))
            };
            let outside = |active: &[usize]| (0..9).filter(|j| !active.contains(j)).collect::<Vec<_>>();
            let most = |a: &usize, b: &usize| left(&fits, *a).total_cmp(&left(&fits, *b));
            let next = outside(&active).into_iter().max_by(most).unwrap();
            assert_eq!(next, knot.feature, "seed {seed}");
            active.push(next);
            let common = left(&fits, next);
            let least: Vec<Vec<f64>> = data.y.iter().map(|y| least_squares(&data.x, &active, y)).collect();
            let at = |share: f64| {
                let mix = |o: usize| (0..30).map(|r| (1.0 - share) * fits[o][r] + share * least[o][r]).collect();
                (0..3).map(mix).collect::<Vec<Vec<f64>>>()
            };
            let mut share: f64 = 1.0;
            for j in outside(&active) {
                let (mut low, mut high) = (0.0, 1.0);
                for _ in 0..80 {
                    let middle = 0.5 * (low + high);
                    let is_below = left(&at(middle), j) < (1.0 - middle) * common;
                    if is_below { low = middle } else { high = middle }
                }
                share = share.min(low);
            }
            assert!((knot.mu - share * common).abs() < 1e-10, "seed {seed}: {} is not {}", knot.mu, share * common);
            fits = at(share);
        }
    }
}

/// Fits by Gram–Schmidt, applied twice.
fn least_squares(x: &[Vec<f64>], active: &[usize], y: &[f64]) -> Vec<f64> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for &i in active {
        let mut v = x[i].clone();
        for _ in 0..2 {
            for b in &basis {
                let by = dot(b, &v);
                v.iter_mut().zip(b).for_each(|(v, b)| *v -= by * b);
            }
        }
        basis.push(unit(v));
    }
    let mut fit = vec![0.0; y.len()];
    for b in &basis {
        let by = dot(b, y);
        fit.iter_mut().zip(b).for_each(|(fit, b)| *fit += by * b);
    }
    fit
}

#[test]
fn of_one_output_both_are_the_paths_of_one() {
    for (rows, shape) in [(PathShape::Multiresponse, PathShape::LeastAngle), (PathShape::GroupLasso, PathShape::Lasso)]
    {
        for seed in 0..6 {
            let data = Data::new(40, 10, 1, seed);
            let (knots, _) = data.walk(rows);
            let mut one = LeastAngle::new(shape, usize::MAX, data.relevance(), vec![true; 10]);
            let mut gram = |j: usize| Ok(data.gram(j));
            for knot in &knots {
                let other = one.advance(&mut gram).unwrap();
                assert_eq!((knot.feature, knot.action), (other.feature, other.action), "{rows:?} {seed}");
                assert!((knot.mu - other.mu).abs() < 1e-11, "{rows:?} {seed}");
                for (a, b) in knot.alpha.iter().zip(&other.alpha) {
                    assert!((a - b).abs() < 1e-9, "{rows:?} {seed}: {a} is not {b}");
                }
            }
            assert!(one.advance(&mut gram).is_err());
        }
    }
}

#[test]
fn a_copy_never_enters_and_a_permutation_changes_names_alone() {
    for rows in [PathShape::Multiresponse, PathShape::GroupLasso] {
        let data = Data::new(30, 8, 2, 5);
        let (knots, end) = data.walk(rows);
        let order: Vec<usize> = knots.iter().map(|knot| knot.feature).collect();
        let mut copied = Data::new(30, 8, 2, 5);
        copied.x.extend(data.x.iter().take(5).cloned());
        let (both, also) = copied.walk(rows);
        assert_eq!((both.iter().map(|knot| knot.feature).collect::<Vec<_>>(), also), (order.clone(), end), "{rows:?}");
        // The copy ties at the first entry only; afterwards it is excluded.
        for (at, knot) in both.iter().enumerate().filter(|(_, knot)| knot.action == Action::Add && knot.feature < 5) {
            let is_first = both[..at].iter().all(|before| before.feature != knot.feature);
            assert!(!is_first || knot.tied.contains(&(knot.feature + 8)), "{rows:?}: {knot:?}");
        }
        let mut turned = Data::new(30, 8, 2, 5);
        turned.x.reverse();
        let (back, _) = turned.walk(rows);
        assert_eq!(back.iter().map(|knot| 7 - knot.feature).collect::<Vec<_>>(), order, "{rows:?}");
        assert!(back.iter().zip(&knots).all(|(a, b)| (a.mu - b.mu).abs() < 1e-11));
    }
}

#[test]
fn every_level_and_number_of_threads_gives_the_same_bits_of_several_outputs() {
    for rows in [PathShape::Multiresponse, PathShape::GroupLasso] {
        let data = Data::new(60, 30, 3, 2);
        let reference = Level::available()[0].within(|| data.walk(rows));
        assert!(reference.0.len() >= 30);
        for level in Level::available() {
            level.within(|| {
                assert_eq!(data.walk(rows), reference, "{rows:?}");
            });
        }
        for threads in 1..=3 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| data.walk(rows)), reference, "{rows:?}");
        }
    }
}

/// Columns near sums of others: knots satisfy the conditions up to the end of the path, and the end is reported.
#[test]
fn nearly_dependent_columns_end_a_path_and_leave_its_knots_right() {
    for (seed, near) in (0..3).flat_map(|seed| [1e-3, 1e-5, 1e-7, 1e-9].map(|near| (seed, near))) {
        for rows in [PathShape::Multiresponse, PathShape::GroupLasso] {
            let mut data = Data::new(30, 6, 2, seed);
            let mut random = SplitMix64::new(seed + 77);
            let mut drawn = || 2.0 * random.uniform() - 1.0;
            for k in 0..3 {
                let mix = (0..30).map(|j| data.x[k][j] - 0.5 * data.x[k + 1][j] + near * drawn()).collect();
                data.x.push(unit(mix));
            }
            let (knots, _) = data.walk(rows);
            assert!(knots.len() >= 5, "{seed} {near} {rows:?}: {}", knots.len());
            for (knot, active) in knots.iter().zip(actives(&knots)) {
                assert!(knot.alpha.iter().all(|a| a.is_finite()) && knot.mu >= 0.0);
                for (j, u) in data.residual_products(&active, &knot.alpha).iter().enumerate() {
                    let over = length(u) - knot.lambda;
                    assert!(over <= 1e-9, "{seed} {near} {rows:?}: {j} by {over:e}");
                    assert!(!active.contains(&j) || over >= -1e-9, "{seed} {near} {rows:?}: {j} by {over:e}");
                }
            }
        }
    }
}
