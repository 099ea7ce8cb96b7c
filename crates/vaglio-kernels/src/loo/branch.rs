//! Depth-first search over subsets: a subset, and the columns that may still follow.

use super::Basis;
use super::conditioning::{is_cancelled, judged, left_with};
use super::trial::trial;
use crate::pass::{Moving, Pass, alone};
use crate::sums::{axpy, dot};
use crate::{Level, Scorer, Trial, is_unreliable};
use std::sync::Arc;

/// The state of a subset for one λ with C_l = G x_l of the columns that may follow, and nothing of the others.
///
/// A child takes the state of its parent and one column more. It borrows its parent's C and brings a column up to date
/// only when it is tried, in the same pass, so a subset costs about one update and one trial of O(m · outputs).
#[derive(Debug)]
pub struct Branch<'p> {
    columns: Arc<Columns>,
    /// Residuals of each output, and 1 − leverage of each row.
    a: Vec<Vec<f64>>,
    d: Vec<f64>,
    /// What is left of the columns, which rounding is judged by.
    left: f64,
    later: Vec<Later>,
    /// x_kᵀC_l of all pairs of later columns, from the first child on.
    products: Vec<f64>,
    pending: Option<Pending<'p>>,
}

/// What all branches of one search share.
#[derive(Debug)]
struct Columns {
    level: Level,
    lambda: f64,
    /// Scaled, centered columns.
    x: Vec<Vec<f64>>,
    squares: Vec<f64>,
}

/// A column that may follow.
#[derive(Debug)]
struct Later {
    /// Its place in the shared columns.
    column: usize,
    /// C_l, once it is up to date.
    c: Option<Vec<f64>>,
    /// x_lᵀC_l, and x_lᵀa of each output.
    s: f64,
    t: Vec<f64>,
    /// Its place in the parent, and the part of the parent's c_b that its C_l has still to lose.
    from: usize,
    step: f64,
}

/// The parent's columns, and its c_b of the column that the child has more.
#[derive(Debug)]
struct Pending<'p> {
    columns: &'p [Later],
    entered: &'p [f64],
}

impl Branch<'static> {
    /// The subset of a basis, and the columns that may follow. Cost O(m·s · later).
    pub fn new(basis: &Basis<'_>, later: &[usize]) -> Self {
        let data = basis.data();
        let x: Vec<Vec<f64>> = later.iter().map(|&feature| data.scaled(feature)).collect();
        let squares = x.iter().map(|x| dot(data.level, x, x)).collect();
        let candidate = |(column, &feature): (usize, &usize)| {
            let c = basis.residual(feature);
            let (s, t) = basis.scalars(feature, &c);
            Later { column, c: Some(c), s, t, from: column, step: 0.0 }
        };
        let later = later.iter().enumerate().map(candidate).collect();
        let columns = Arc::new(Columns { level: data.level, lambda: basis.lambda(), x, squares });
        let (a, d) = (basis.a.clone(), basis.d.clone());
        Branch { columns, a, d, left: basis.left(), later, products: Vec::new(), pending: None }
    }
}

impl Branch<'_> {
    /// The penalty.
    pub fn lambda(&self) -> f64 {
        self.columns.lambda
    }

    /// The subset with the column at `place` of the later ones; those after it may follow.
    ///
    /// a ← a − c_b t_b/τ, d ← d − c_b∘c_b/τ, and with g_l = x_bᵀC_l: s_l ← s_l − g_l²/τ, t_l ← t_l − g_l t_b/τ,
    /// x_kᵀC_l ← x_kᵀC_l − g_k g_l/τ. Cost O(m · outputs + later²); the first child of a root O(m · later²).
    pub fn child(&mut self, place: usize) -> Branch<'_> {
        (place..self.later.len()).for_each(|l| self.bring_up_to_date(l));
        let (level, count) = (self.columns.level, self.later.len());
        if self.products.is_empty() && place + 1 < count {
            self.products =
                (0..count).flat_map(|k| (0..count).map(move |l| (k, l))).map(|(k, l)| self.between(k, l)).collect();
        }
        let entered = self.c(place);
        let (s, t) = self.scalars(place, entered);
        let tau = self.columns.lambda + s;
        let mut a: Vec<Vec<f64>> = self.a.clone();
        a.iter_mut().zip(&*t).for_each(|(a, t)| axpy(level, -t / tau, entered, a));
        let mut d = self.d.clone();
        subtract_squares(level, 1.0 / tau, entered, &mut d);
        let after = place + 1..count;
        let shares: Vec<f64> = after.clone().map(|l| self.product(place, l)).collect();
        let later = after.clone().zip(&shares).map(|(from, g)| {
            let (own, step) = (&self.later[from], g / tau);
            let t = own.t.iter().zip(&*t).map(|(own, t)| own - step * t).collect();
            Later { column: own.column, c: None, s: own.s - g * step, t, from, step }
        });
        let (later, inverse) = (later.collect(), 1.0 / tau);
        let row = |(k, gk): (usize, &f64)| {
            let (row, gk) = (&self.products[k * count + place + 1..][..shares.len()], *gk);
            row.iter().zip(&shares).map(move |(product, gl)| product - gk * gl * inverse)
        };
        let products = after.zip(&shares).flat_map(row).collect();
        let pending = Some(Pending { columns: &self.later, entered });
        let left = self.left_with(place, s);
        Branch { columns: Arc::clone(&self.columns), a, d, left, later, products, pending }
    }

    /// Whether a column is nearly dependent on those before it, so that a branch is to be made of their basis.
    pub fn is_dependent(&self) -> bool {
        self.left == 0.0
    }

    /// What is left of the columns with one more, given xᵀG x.
    fn left_with(&self, place: usize, s: f64) -> f64 {
        let (lambda, squares) = (self.columns.lambda, self.columns.squares[self.later[place].column]);
        left_with(self.left, (lambda + s) / (lambda + squares))
    }

    /// C_l of a later column that is up to date.
    fn c(&self, place: usize) -> &[f64] {
        self.later[place].c.as_deref().unwrap_or_default()
    }

    fn bring_up_to_date(&mut self, place: usize) {
        let own = &self.later[place];
        if let (None, Some(pending)) = (&own.c, &self.pending) {
            let mut c = pending.before(own).to_vec();
            axpy(self.columns.level, -own.step, pending.entered, &mut c);
            self.later[place].c = Some(c);
        }
    }

    /// x_bᵀC_l: the number that was updated, or where cancellation counts a new one.
    fn product(&self, place: usize, other: usize) -> f64 {
        if self.is_cancelled(place) || self.is_cancelled(other) {
            return self.between(place, other);
        }
        self.products[place * self.later.len() + other]
    }

    fn is_cancelled(&self, place: usize) -> bool {
        let own = &self.later[place];
        is_cancelled(own.s, self.columns.squares[own.column])
    }

    /// x_kᵀC_l from the vectors, the lower place first.
    fn between(&self, k: usize, l: usize) -> f64 {
        let (k, l) = (k.min(l), k.max(l));
        dot(self.columns.level, &self.columns.x[self.later[k].column], self.c(l))
    }

    /// x_lᵀC_l and x_lᵀa of each output, computed again where cancellation counts.
    fn scalars(&self, place: usize, c: &[f64]) -> (f64, std::borrow::Cow<'_, [f64]>) {
        let own = &self.later[place];
        if self.is_cancelled(place) {
            let x = &self.columns.x[own.column];
            let t: Vec<f64> = self.a.iter().map(|a| dot(self.columns.level, x, a)).collect();
            return (dot(self.columns.level, x, c), t.into());
        }
        (own.s, (&*own.t).into())
    }

    /// The trial of adding the later column at `place`. Cost O(m · outputs).
    pub fn trial(&mut self, scorer: &Scorer, place: usize) -> Trial {
        let (level, lambda) = (self.columns.level, self.columns.lambda);
        if scorer.is_of_squares() && self.a.len() == 1 && !self.is_cancelled(place) {
            let own = &self.later[place];
            let inverse = 1.0 / (lambda + own.s);
            let f = own.t[0] * inverse;
            let (mut c, update) = match (&own.c, &self.pending) {
                (None, Some(pending)) => (pending.before(own).to_vec(), Some((own.step, pending.entered))),
                _ => (self.later[place].c.take().unwrap_or_default(), None),
            };
            let (step, b) = update.map_or((0.0, None), |(step, b)| (step, Some(b)));
            let moving = Moving { c: &mut c, step, f, inverse };
            let found = alone(level, moving, b, (&self.a[0], &self.d), Pass::Squares);
            self.later[place].c = Some(c);
            return judged(scorer.of_pass(found), self.left_with(place, self.later[place].s));
        }
        self.bring_up_to_date(place);
        let (s, t) = self.scalars(place, self.c(place));
        let trial = trial(level, scorer, (&self.a, &self.d), self.c(place), &t, 1.0 / (lambda + s));
        judged(trial, self.left_with(place, s))
    }

    /// The loss of the subset. Cost O(m · outputs).
    pub fn score(&self, scorer: &Scorer) -> Trial {
        let left_out = |a: &Vec<f64>| a.iter().zip(&self.d).map(|(a, d)| a / d).collect();
        let residuals: Vec<Vec<f64>> = self.a.iter().map(left_out).collect();
        let least = self.d.iter().copied().fold(f64::INFINITY, f64::min);
        judged(Trial::from_partial(scorer.partial_loss(&residuals), least), self.left)
    }

    /// Lowers `weights` to 1/d_j² of this subset, which no larger one has less of. Cost O(m).
    pub fn lower_weights(&self, weights: &mut [f64]) {
        lower_weights(&self.d, weights);
    }
}
impl Basis<'_> {
    /// Lowers `weights` to 1/d_j² of this subset, which no larger one has less of. Cost O(m).
    pub fn lower_weights(&self, weights: &mut [f64]) {
        lower_weights(&self.d, weights);
    }
}

/// Additions only lower d, which is at most 1.
fn lower_weights(d: &[f64], weights: &mut [f64]) {
    let of_row = |d: f64| if is_unreliable(d) { 1.0 } else { (1.0 / (d * d)).max(1.0) };
    weights.iter_mut().zip(d).for_each(|(weight, d)| *weight = weight.min(of_row(*d)));
}

impl Pending<'_> {
    /// C_l of the parent.
    fn before(&self, own: &Later) -> &[f64] {
        self.columns[own.from].c.as_deref().unwrap_or_default()
    }
}

/// d ← d − c∘c·inverse.
fn subtract_squares(level: Level, inverse: f64, c: &[f64], d: &mut [f64]) {
    level.call(
        #[inline(always)]
        move || {
            d.iter_mut().zip(c).for_each(|(d, c)| *d -= c * c * inverse);
        },
    );
}
