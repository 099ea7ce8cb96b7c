//! A pass over the rows that updates candidates and evaluates their trials.
//!
//! Derived in the book: explanation/leave-one-out.md, "Trying one more column".

mod kernel;

use crate::Level;
use crate::f64x8::F64x8;
use crate::sums::TILE;
use kernel::PassKernel;
use std::ops::Range;

/// The loss that a pass accumulates from leave-one-out residuals of one output; √r accompanies weights that are not all
/// 1.
#[derive(Clone, Copy)]
pub(crate) enum PassLoss<'k> {
    /// Squared residuals.
    Squares,
    /// Squared residuals, each multiplied by its row's factor first.
    WeighedSquares(&'k [f64]),
    /// Absolute residuals.
    Sizes(Option<&'k [f64]>),
    /// Weights of misclassified rows, ties counted half, from classes packed eight rows a byte.
    Wrong(&'k [u8], Option<&'k [f64]>),
    /// Like [`PassLoss::Wrong`], but separately for class −1 and class 1.
    WrongBySide(&'k [u8], Option<&'k [f64]>),
}

impl<'k> PassLoss<'k> {
    /// Packed classes and row factors, each empty if there are none.
    fn vectors(self) -> (&'k [u8], &'k [f64]) {
        match self {
            PassLoss::Squares => (&[], &[]),
            PassLoss::WeighedSquares(root) => (&[], root),
            PassLoss::Sizes(root) => (&[], root.unwrap_or_default()),
            PassLoss::Wrong(y, root) | PassLoss::WrongBySide(y, root) => (y, root.unwrap_or_default()),
        }
    }

    /// Restricts the pass to some rows; the first is a multiple of eight.
    pub fn rows(self, rows: Range<usize>) -> Self {
        let classes = |y: &'k [u8]| &y[rows.start / F64x8::WIDTH..rows.end.div_ceil(F64x8::WIDTH)];
        let part = |root: Option<&'k [f64]>| root.map(|root| &root[rows.clone()]);
        match self {
            PassLoss::Squares => PassLoss::Squares,
            PassLoss::WeighedSquares(root) => PassLoss::WeighedSquares(&root[rows]),
            PassLoss::Sizes(root) => PassLoss::Sizes(part(root)),
            PassLoss::Wrong(y, root) => PassLoss::Wrong(classes(y), part(root)),
            PassLoss::WrongBySide(y, root) => PassLoss::WrongBySide(classes(y), part(root)),
        }
    }
}

/// A candidate in a pass: c, the step of c_b that it takes in, and f and the inverse of its trial.
pub(crate) struct PassCandidate<'k> {
    pub c: &'k mut [f64],
    pub step: f64,
    pub f: f64,
    pub inverse: f64,
}

/// Result of a pass for a candidate: the sums and the smallest divisor.
#[derive(Clone, Copy)]
pub(crate) struct PassResult {
    pub sums: [f64; 2],
    pub low: f64,
}

/// Running sums of a pass in lanes, continued from tile to tile of rows.
#[derive(Clone, Copy)]
pub(crate) struct PassSums {
    sums: [F64x8; 2],
    low: F64x8,
}

impl PassSums {
    pub const NONE: Self = PassSums { sums: [F64x8::ZERO; 2], low: F64x8::INFINITY };

    /// Reduces the lanes to the result.
    pub fn found(&self) -> PassResult {
        PassResult { sums: self.sums.map(F64x8::sum), low: self.low.least() }
    }
}

/// Vectors shared by the candidates of a pass: c_b of the update, a and d.
#[derive(Clone, Copy)]
pub(crate) struct PassVectors<'k> {
    pub b: &'k [f64],
    pub a: &'k [f64],
    pub d: &'k [f64],
}

impl PassVectors<'_> {
    /// Restricts the vectors to some rows.
    pub fn rows(&self, rows: Range<usize>) -> Self {
        PassVectors { b: &self.b[rows.clone()], a: &self.a[rows.clone()], d: &self.d[rows] }
    }
}

/// c ← c − step·c_b if the candidate has an update to apply, then the loss and smallest divisor of
/// (a − f c)/(d − c²·inverse).
pub(crate) fn alone(
    level: Level,
    candidate: PassCandidate<'_>,
    shared: PassVectors<'_>,
    has_update: bool,
    pass: PassLoss<'_>,
) -> PassResult {
    let mut running = [PassSums::NONE; 2];
    if let PassLoss::Squares = pass {
        let [running, _] = running.each_mut();
        let running = std::array::from_mut(running);
        match has_update {
            true => run_kind::<1, true, SQUARES, false>(level, [candidate], shared, pass, running),
            false => run_kind::<1, false, SQUARES, false>(level, [candidate], shared, pass, running),
        }
    } else {
        // Paired with a zero candidate.
        let PassCandidate { c, step, f, inverse } = candidate;
        let mut zeros = vec![0.0; c.len().min(TILE)];
        for (k, c) in c.chunks_mut(TILE).enumerate() {
            let rows = k * TILE..k * TILE + c.len();
            let zero = PassCandidate { c: &mut zeros[..c.len()], step: 0.0, f: 0.0, inverse: 0.0 };
            let own = PassCandidate { c, step: if has_update { step } else { 0.0 }, f, inverse };
            two(level, [own, zero], shared.rows(rows.clone()), pass.rows(rows), &mut running);
        }
    }
    running[0].found()
}

/// Like [`alone`], for two candidates that share one read of the state, some rows at a time. The bits depend neither on
/// the pairing nor on the tiles, which begin at a multiple of 16 rows.
pub(crate) fn two(
    level: Level,
    candidates: [PassCandidate<'_>; 2],
    shared: PassVectors<'_>,
    pass: PassLoss<'_>,
    on: &mut [PassSums; 2],
) {
    match pass {
        PassLoss::Squares => run_kind::<2, true, SQUARES, false>(level, candidates, shared, pass, on),
        PassLoss::WeighedSquares(_) => run_kind::<2, true, SQUARES, true>(level, candidates, shared, pass, on),
        PassLoss::Sizes(None) => run_kind::<2, true, SIZES, false>(level, candidates, shared, pass, on),
        PassLoss::Sizes(Some(_)) => run_kind::<2, true, SIZES, true>(level, candidates, shared, pass, on),
        PassLoss::Wrong(_, None) => run_kind::<2, true, WRONG, false>(level, candidates, shared, pass, on),
        PassLoss::Wrong(_, Some(_)) => run_kind::<2, true, WRONG, true>(level, candidates, shared, pass, on),
        PassLoss::WrongBySide(_, None) => run_kind::<2, true, BY_SIDE, false>(level, candidates, shared, pass, on),
        PassLoss::WrongBySide(_, Some(_)) => run_kind::<2, true, BY_SIDE, true>(level, candidates, shared, pass, on),
    }
}

const SQUARES: u8 = 0;
const SIZES: u8 = 1;
const WRONG: u8 = 2;
const BY_SIDE: u8 = 3;

/// Rows per step: one division serves two eights.
const AT_ONCE: usize = 2 * F64x8::WIDTH;

/// Runs a pass of one kind; the last rows are padded with rows that add nothing.
fn run_kind<const C: usize, const UPDATE: bool, const PASS: u8, const WEIGHED: bool>(
    level: Level,
    mut candidates: [PassCandidate<'_>; C],
    shared: PassVectors<'_>,
    pass: PassLoss<'_>,
    running: &mut [PassSums; C],
) {
    let (y, root) = pass.vectors();
    let rows = shared.a.len();
    let whole = rows / AT_ONCE * AT_ONCE;
    let root_of = |rows: Range<usize>| if WEIGHED { &root[rows] } else { &[] };
    let classes_of = |rows: Range<usize>| if PASS >= WRONG { &y[rows] } else { &[] };
    if whole > 0 {
        let candidates = candidates.each_mut().map(|k| PassCandidate { c: &mut k.c[..whole], ..*k });
        let (y, root) = (classes_of(0..whole / F64x8::WIDTH), root_of(0..whole));
        let shared = shared.rows(0..whole);
        level.run(PassKernel::<C, UPDATE, PASS, WEIGHED> { candidates, shared, y, root, running });
    }
    if whole < rows {
        let filled = |values: &[f64], fill: f64| {
            let mut eights = [fill; AT_ONCE];
            eights[..values.len()].copy_from_slice(values);
            eights
        };
        let PassVectors { b, a, d } = shared.rows(whole..rows);
        let (b, a, d, root) = (filled(b, 0.0), filled(a, 0.0), filled(d, 1.0), filled(root_of(whole..rows), 0.0));
        let mut classes = [0; 2];
        let left = classes_of(whole / F64x8::WIDTH..rows.div_ceil(F64x8::WIDTH));
        classes[..left.len()].copy_from_slice(left);
        let mut last = candidates.each_ref().map(|k| filled(&k.c[whole..rows], 0.0));
        let mut of_last = last.iter_mut();
        let parts = candidates.each_ref().map(|k| {
            let c: &mut [f64] = of_last.next().map_or(&mut [], |c| c);
            PassCandidate { c, ..*k }
        });
        let shared = PassVectors { b: &b, a: &a, d: &d };
        let (y, root) = (&classes[..], &root[..]);
        level.run(PassKernel::<C, UPDATE, PASS, WEIGHED> { candidates: parts, shared, y, root, running });
        for (k, last) in candidates.iter_mut().zip(&last) {
            k.c[whole..rows].copy_from_slice(&last[..rows - whole]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tolerance::TIED_PREDICTION;

    fn series(rows: usize, seed: f64) -> Vec<f64> {
        (0..rows).map(|j| (j as f64 * seed).sin()).collect()
    }

    fn moving(c: &mut [f64]) -> PassCandidate<'_> {
        PassCandidate { c, step: 0.25, f: 0.9, inverse: 0.1 }
    }

    #[test]
    fn passes_find_what_single_rows_add_up_to_with_the_same_bits_on_every_level_and_by_tiles() {
        for rows in [1, 7, 16, 37, 64, 2 * TILE + 21] {
            let [c, other, b, a, root] = [0.7, 1.1, 0.3, 1.9, 0.13].map(|seed| series(rows, seed));
            let root: Vec<f64> = root.iter().map(|r| if *r > -0.5 { 1.5 + r } else { 0.0 }).collect();
            let d: Vec<f64> = b.iter().map(|b| 1.0 - 0.3 * b * b).collect();
            let is_one = |j: usize| j.is_multiple_of(3);
            let byte = |k: usize| (0..8).fold(0, |byte, l| byte | u8::from(is_one(8 * k + l)) << l);
            let y: Vec<u8> = (0..rows.div_ceil(8)).map(byte).collect();
            let PassCandidate { step, f, inverse, .. } = moving(&mut []);
            let moved: Vec<f64> = c.iter().zip(&b).map(|(c, b)| c - step * b).collect();
            let error = |j: usize| (a[j] - f * moved[j]) / (d[j] - moved[j] * moved[j] * inverse);
            let low = moved.iter().zip(&d).map(|(c, d)| d - c * c * inverse).fold(f64::INFINITY, f64::min);
            for pass in [
                PassLoss::Squares,
                PassLoss::WeighedSquares(&root),
                PassLoss::Sizes(None),
                PassLoss::Sizes(Some(&root)),
                PassLoss::Wrong(&y, None),
                PassLoss::Wrong(&y, Some(&root)),
                PassLoss::WrongBySide(&y, None),
                PassLoss::WrongBySide(&y, Some(&root)),
            ] {
                let of_row = |j: usize| -> [f64; 2] {
                    let class = if is_one(j) { 1.0 } else { -1.0 };
                    let wrong = |root: Option<&[f64]>| {
                        let root = root.map_or(1.0, |root| root[j]);
                        let margin = class * root * (class * root - error(j)) / (root * root);
                        match root == 0.0 || margin > TIED_PREDICTION {
                            true => 0.0,
                            false if margin < -TIED_PREDICTION => root * root,
                            false => 0.5 * root * root,
                        }
                    };
                    match pass {
                        PassLoss::Squares => [error(j) * error(j), 0.0],
                        PassLoss::WeighedSquares(root) => [(root[j] * error(j)).powi(2), 0.0],
                        PassLoss::Sizes(root) => [root.map_or(1.0, |root| root[j]) * error(j).abs(), 0.0],
                        PassLoss::Wrong(_, root) => [wrong(root), 0.0],
                        PassLoss::WrongBySide(_, root) if is_one(j) => [0.0, wrong(root)],
                        PassLoss::WrongBySide(_, root) => [wrong(root), 0.0],
                    }
                };
                let plain = (0..rows).map(of_row).fold([0.0; 2], |sum, row| [sum[0] + row[0], sum[1] + row[1]]);
                let mut first: Option<(Vec<f64>, [f64; 2], f64)> = None;
                for level in Level::available() {
                    let (mut own, mut alike, mut beside) = (c.clone(), c.clone(), other.clone());
                    let found = alone(level, moving(&mut own), PassVectors { b: &b, a: &a, d: &d }, true, pass);
                    let mut running = [PassSums::NONE; 2];
                    for start in (0..rows).step_by(TILE) {
                        let tile = start..rows.min(start + TILE);
                        let shared = PassVectors { b: &b, a: &a, d: &d }.rows(tile.clone());
                        let pair = [moving(&mut beside[tile.clone()]), moving(&mut alike[tile.clone()])];
                        two(level, pair, shared, pass.rows(tile), &mut running);
                    }
                    let again = running[1].found();
                    assert_eq!((&own, found.sums, found.low), (&alike, again.sums, again.low));
                    assert_eq!((&own, found.low), (&moved, low));
                    for (sum, plain) in found.sums.iter().zip(plain) {
                        assert!((sum - plain).abs() <= 1e-13 * plain, "{rows} rows: {sum} {plain}");
                    }
                    let now = (own, found.sums, found.low);
                    assert_eq!(*first.get_or_insert_with(|| now.clone()), now);
                }
            }
        }
    }

    #[test]
    fn a_candidate_that_is_up_to_date_stays_as_it_is() {
        let (rows, level) = (53, Level::best());
        let [c, a, root] = [0.7, 1.9, 0.13].map(|seed| series(rows, seed));
        let d = vec![1.0; rows];
        for pass in [PassLoss::Squares, PassLoss::Sizes(None), PassLoss::Sizes(Some(&root))] {
            let (mut own, mut with) = (c.clone(), c.clone());
            let shared = PassVectors { b: &vec![0.0; rows], a: &a, d: &d };
            let found = alone(level, moving(&mut own), PassVectors { b: &a, ..shared }, false, pass);
            let same = alone(level, moving(&mut with), shared, true, pass);
            assert_eq!((&own, found.sums, found.low), (&c, same.sums, same.low));
        }
    }
}
