//! Back-fitting along falling penalties.

use vaglio_core::{Design, Error, Result, max_abs, sum_of_products, sum_of_squares};
use vaglio_kernels::parallel;
use vaglio_kernels::sums::{axpy, dot};
use vaglio_kernels::tolerance::AT_REST;

/// Weight of the ridge term on functions: nearly equal columns share a fit, and rounds converge.
const EVEN: f64 = 1e-2;
/// Maximum rounds for one penalty before back-fitting fails.
const MOST_ROUNDS: usize = 20_000;
/// Rounds per extrapolation, and the ridge of their products.
const EXTRAPOLATED: usize = 5;
const RIDGE: f64 = 1e-10;
/// Remaining share of the target's squares at which the path ends.
const FITTED: f64 = 0.01;

/// Additive model: functions of columns, and residuals of the outputs.
pub(super) struct Additive {
    /// Basis functions of each column.
    bases: Vec<Vec<Vec<f64>>>,
    left: Vec<Vec<f64>>,
    /// Coefficients of each function, output by output; empty for a zero function.
    functions: Vec<Vec<Vec<f64>>>,
}

impl Additive {
    /// Creates a model without functions.
    pub fn new(bases: Vec<Vec<Vec<f64>>>, outputs: Vec<Vec<f64>>) -> Self {
        let functions = vec![Vec::new(); bases.len()];
        Additive { bases, left: outputs, functions }
    }

    /// Least-squares coefficients of a column's functions on the residuals, output by output. Cost O(m · functions).
    fn along(&self, x: usize) -> Vec<Vec<f64>> {
        let products = |left: &Vec<f64>| self.bases[x].iter().map(|b| dot(b, left)).collect();
        self.left.iter().map(products).collect()
    }

    /// Updates the function of a column given the others, and returns how far it moved.
    fn fit(&mut self, x: usize, penalty: f64) -> f64 {
        let mut wanted = self.along(x);
        for (wanted, own) in wanted.iter_mut().zip(&self.functions[x]) {
            wanted.iter_mut().zip(own).for_each(|(wanted, own)| *wanted += own);
        }
        let length = norm(&wanted);
        let share = if length > penalty { (1.0 - penalty / length) / (1.0 + EVEN) } else { 0.0 };
        wanted.iter_mut().flatten().for_each(|c| *c *= share);
        let mut moved = 0.0;
        for (output, left) in self.left.iter_mut().enumerate() {
            for (k, function) in self.bases[x].iter().enumerate() {
                let by = wanted[output][k] - self.functions[x].get(output).map_or(0.0, |own| own[k]);
                moved += by * by;
                axpy(-by, function, left);
            }
        }
        self.functions[x] = if share > 0.0 { wanted } else { Vec::new() };
        moved.sqrt()
    }

    /// Solves for one penalty from the current state, and returns the norm of each column's projection of the
    /// residuals.
    fn solve(&mut self, penalty: f64, design: &Design) -> Result<Vec<f64>> {
        let mut rounds = Vec::new();
        for _ in 0..MOST_ROUNDS {
            design.problem().sign().check()?;
            let active: Vec<usize> = (0..self.bases.len()).filter(|&x| !self.functions[x].is_empty()).collect();
            let moved = active.iter().map(|&x| self.fit(x, penalty)).fold(0.0, f64::max);
            if moved > AT_REST {
                self.extrapolate(&mut rounds, &active, penalty);
                continue;
            }
            rounds.clear();
            let lengths: Vec<f64> = parallel::map(self.bases.len(), |x| norm(&self.along(x)));
            let enters = |x: &usize| self.functions[*x].is_empty() && lengths[*x] > penalty + AT_REST;
            let entering: Vec<usize> = (0..self.bases.len()).filter(enters).collect();
            if entering.is_empty() {
                return Ok(lengths);
            }
            entering.into_iter().for_each(|x| {
                self.fit(x, penalty);
            });
        }
        Err(Error::Numerical(format!(
            "back-fitting does not come to rest in {MOST_ROUNDS} rounds at {penalty:e}; give a larger `least`"
        )))
    }

    /// Extrapolates after some rounds with the same active functions, if that lowers the objective: Anderson
    /// acceleration, as in Q. Bertrand and M. Massias, *Anderson acceleration of coordinate descent*, AISTATS 2021.
    ///
    /// `rounds` are the numbers after each round. They are given up when a function becomes zero.
    fn extrapolate(&mut self, rounds: &mut Vec<Vec<f64>>, active: &[usize], penalty: f64) {
        if active.iter().any(|&x| self.functions[x].is_empty()) {
            rounds.clear();
            return;
        }
        rounds.push(self.numbers().map(|number| *number).collect());
        if rounds.len() <= EXTRAPOLATED {
            return;
        }
        let last = std::mem::take(rounds);
        let coefficients = self.functions.iter().flatten().map(Vec::len).sum();
        let Some(shares) = shares(&last, coefficients) else { return };
        let before = self.objective(penalty);
        // Residuals are linear in the functions, so combinations with shares of sum 1 have consistent residuals.
        for (k, number) in self.numbers().enumerate() {
            *number = last.iter().zip(&shares).fold(0.0, |sum, (round, share)| sum + share * round[k]);
        }
        let is_lower = self.objective(penalty) < before;
        if !is_lower {
            self.numbers().zip(&last[EXTRAPOLATED]).for_each(|(number, before)| *number = *before);
        }
    }

    /// Coefficients of all functions, then residuals of all outputs.
    fn numbers(&mut self) -> impl Iterator<Item = &mut f64> {
        self.functions.iter_mut().flatten().flatten().chain(self.left.iter_mut().flatten())
    }

    /// ½‖residuals‖² + λ Σ ‖f‖ + ½·EVEN·Σ ‖f‖².
    fn objective(&self, penalty: f64) -> f64 {
        let lengths = self.functions.iter().map(|function| norm(function));
        squares(&self.left) / 2.0 + lengths.map(|f| penalty * f + EVEN * f * f / 2.0).sum::<f64>()
    }

    /// Penalty at which the function of each column enters, relative to the largest; 0 if it does not.
    ///
    /// Between two penalties the column's projection norm is interpolated linearly, from below the first penalty to
    /// above the second. The function enters where norm and penalty are equal.
    ///
    /// # Errors
    /// [`Error::Numerical`] if back-fitting does not converge, or [`Error::Stopped`].
    pub fn entries(mut self, penalties: usize, least: f64, design: &Design) -> Result<Vec<f64>> {
        let mut entries = vec![0.0; self.bases.len()];
        let mut lengths: Vec<f64> = parallel::map(self.bases.len(), |x| norm(&self.along(x)));
        let first = max_abs(&lengths);
        let all: f64 = squares(&self.left);
        if first <= AT_REST {
            return Ok(entries);
        }
        let mut before = first;
        for place in 1..=penalties {
            let penalty = first * least.powf(place as f64 / penalties as f64);
            let now = self.solve(penalty, design)?;
            for (x, entry) in entries.iter_mut().enumerate().filter(|(_, entry)| **entry == 0.0) {
                if self.functions[x].is_empty() {
                    continue;
                }
                let (room, over) = ((before - lengths[x]).max(0.0), norm(&self.functions[x]));
                let share = if room + over > 0.0 { room / (room + over) } else { 0.0 };
                *entry = (before + share * (penalty - before)) / first;
            }
            (lengths, before) = (now, penalty);
            if squares(&self.left) <= FITTED * all {
                break;
            }
        }
        Ok(entries)
    }
}

/// Shares of sum 1 of the rounds after the first whose moves cancel best; `None` if moves are dependent. A round begins
/// with its `coefficients`.
fn shares(rounds: &[Vec<f64>], coefficients: usize) -> Option<Vec<f64>> {
    let moved = |w: &[Vec<f64>]| w[1].iter().zip(&w[0]).take(coefficients).map(|(a, b)| a - b).collect();
    let moves: Vec<Vec<f64>> = rounds.windows(2).map(moved).collect();
    let largest = moves.iter().map(|own| sum_of_products(own, own)).fold(0.0, f64::max);
    let mut rows: Vec<Vec<f64>> = moves
        .iter()
        .enumerate()
        .map(|(i, a)| {
            let entry = |(k, b)| sum_of_products(a, b) / largest + if i == k { RIDGE } else { 0.0 };
            moves.iter().enumerate().map(entry).chain([1.0]).collect()
        })
        .collect();
    let count = rows.len();
    for k in 0..count {
        let own = rows[k].clone();
        if own[k].abs() < f64::MIN_POSITIVE {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let by = row[k] / own[k];
            axpy(-by, &own, row);
        }
    }
    let solved: Vec<f64> = (0..count).map(|k| rows[k][count] / rows[k][k]).collect();
    let total: f64 = solved.iter().sum();
    let shares = solved.iter().map(|share| share / total);
    let shares: Vec<f64> = std::iter::once(0.0).chain(shares).collect();
    shares.iter().all(|share| share.is_finite()).then_some(shares)
}

/// Root of the sum of all squares.
fn norm(rows: &[Vec<f64>]) -> f64 {
    squares(rows).sqrt()
}

fn squares(rows: &[Vec<f64>]) -> f64 {
    sum_of_squares(rows.iter().flatten())
}
