//! Least-angle paths: min_α ½ αᵀQα − cᵀα + λ‖α‖₁ as λ falls, from relevance c and columns of the Gram matrix Q.
//!
//! Between two knots the columns A on the path have the correlations r_A = c_A − Q_AA α_A = λ s_A with fixed signs s, so
//! α_A = Q_AA⁻¹(c_A − λ s_A) is linear in λ. It is solved again at every knot, which lets no error add up.
//!
//! B. Efron, T. Hastie, I. Johnstone and R. Tibshirani, *Least angle regression*, Annals of Statistics 32 (2004); with
//! coefficients that may not be negative M. Yamada, A. Saha, H. Ouyang, D. Yin and Y. Chang, *N³LARS: minimum redundancy
//! maximum relevance feature selection for large and high-dimensional data*, arXiv:1411.2331. The book, searches/lars.md.

mod event;
mod group;
mod on_path;
mod segment;
mod several;
#[cfg(test)]
mod several_tests;

use crate::Level;
use crate::tolerance::EQUAL_CORRELATION;
use event::Event;
use on_path::OnPath;
use segment::Entering;
pub use several::{PathShape, SeveralOutputs};

/// Which paths are walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathRules {
    /// Whether no coefficient may be negative.
    pub non_negative: bool,
    /// Whether a coefficient that falls to 0 leaves the path.
    pub lasso: bool,
    /// The number of columns after which the caller stops: what comes next is not looked at closely then.
    pub most: usize,
}

/// A column enters or leaves, and the path goes on to the next knot.
#[derive(Debug, Clone, PartialEq)]
pub struct Knot {
    /// The column.
    pub feature: usize,
    /// Whether it enters.
    pub enters: bool,
    /// The other columns that could enter at the same λ, in increasing order.
    pub tied: Vec<usize>,
    /// How far λ falls to the next knot.
    pub mu: f64,
    /// λ at the next knot.
    pub lambda: f64,
    /// The coefficients at the next knot, in order of entry.
    pub alpha: Vec<f64>,
}

/// Why there is no further knot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// No column has a correlation left, or a positive one where coefficients may not be negative.
    NoCorrelation,
    /// The next column depends on those on the path.
    Singular,
}

/// A least-angle path, made knot by knot.
///
/// # Reference
/// B. Efron, T. Hastie, I. Johnstone, R. Tibshirani, *Least angle regression*, Annals of Statistics 32 (2004).
#[derive(Debug)]
pub struct LeastAngle {
    level: Level,
    rules: PathRules,
    relevance: Vec<f64>,
    /// Whether each column may enter.
    open: Vec<bool>,
    on: OnPath,
    /// The signs of the correlations on the path.
    signs: Vec<f64>,
    /// The common correlation λ.
    common: f64,
    /// λ at the start.
    largest: f64,
    next: Event<Entering>,
}

impl LeastAngle {
    /// At the start of the path: `relevance` is c, and only columns that are `open` enter; no entry may be NaN.
    pub fn new(level: Level, rules: PathRules, relevance: Vec<f64>, open: Vec<bool>) -> Self {
        let (on, signs) = (OnPath::new(level), Vec::new());
        let (common, largest, next) = (0.0, 0.0, Event::End(End::NoCorrelation));
        let mut path = LeastAngle { level, rules, relevance, open, on, signs, common, largest, next };
        path.begin();
        path
    }

    /// Finds the first event.
    fn begin(&mut self) {
        let LeastAngle { relevance, open, rules, .. } = &*self;
        let size = |j: usize| if rules.non_negative { relevance[j] } else { relevance[j].abs() };
        let candidates = (0..relevance.len()).filter(|&j| open[j] && size(j) > 0.0);
        let largest = candidates.clone().map(size).fold(0.0, f64::max);
        let mut equals = candidates.filter(|&j| size(j) >= largest - EQUAL_CORRELATION * largest);
        let next = match equals.next() {
            None => Event::End(End::NoCorrelation),
            Some(feature) => {
                let known = (relevance[feature].signum(), None);
                Event::Enter { feature, tied: equals.collect(), known }
            }
        };
        (self.common, self.largest, self.next) = (largest, largest, next);
    }

    /// The column that enters next, where one does.
    pub fn entering(&self) -> Option<usize> {
        self.next.entering()
    }

    /// The column that leaves next, where one does.
    pub fn leaving(&self) -> Option<usize> {
        self.next.leaving(&self.on)
    }

    /// Passes over the column that enters next, which never enters from then on; the last knot, where there was one, goes on to
    /// the event after that.
    ///
    /// # Errors
    /// Those of `gram`.
    pub fn pass_over<E>(
        &mut self,
        knot: Option<&mut Knot>,
        gram: &mut dyn FnMut(usize) -> Result<Vec<f64>, E>,
    ) -> Result<(), E> {
        let Some(feature) = self.entering() else { return Ok(()) };
        self.open[feature] = false;
        let Some(knot) = knot else {
            self.begin();
            return Ok(());
        };
        knot.mu += self.find_next(gram)?;
        (knot.lambda, knot.alpha) = (self.common, self.coefficients_there());
        Ok(())
    }

    /// The columns on the path, in order of entry.
    pub fn active(&self) -> impl Iterator<Item = usize> {
        self.on.active.iter().map(|active| active.feature)
    }

    /// Takes the next column in or out and goes on to the knot after it; `gram` gives columns of Q. Cost O(n·s + s²) and
    /// one column of Q.
    ///
    /// # Errors
    /// Those of `gram`.
    pub fn advance<E>(&mut self, gram: &mut dyn FnMut(usize) -> Result<Vec<f64>, E>) -> Result<Result<Knot, End>, E> {
        let (feature, enters, tied) = match std::mem::replace(&mut self.next, Event::End(End::Singular)) {
            Event::End(end) => {
                self.next = Event::End(end);
                return Ok(Err(end));
            }
            Event::Leave { place } => {
                self.signs.remove(place);
                (self.on.remove(place).feature, false, Vec::new())
            }
            Event::Enter { feature, tied, known: (sign, column) } => {
                let column = match column {
                    Some(column) => column,
                    None => gram(feature)?,
                };
                if !self.on.push(feature, column) {
                    return Ok(Err(End::Singular));
                }
                self.signs.push(sign);
                (feature, true, tied)
            }
        };
        let mu = self.find_next(gram)?;
        Ok(Ok(Knot { feature, enters, tied, mu, lambda: self.common, alpha: self.coefficients_there() }))
    }

    /// The coefficients at the next event.
    fn coefficients_there(&self) -> Vec<f64> {
        let mut alpha = self.at(self.common);
        if let Event::Leave { place } = self.next {
            self.clear(&mut alpha, place);
        }
        alpha
    }

    /// λ at the next knot; at the start the largest correlation.
    pub fn lambda(&self) -> f64 {
        self.common
    }

    /// The coefficients Q_AA⁻¹(c_A − λ s_A) at a λ between the knot that [`LeastAngle::advance`] gave last and the one before,
    /// in order of entry. Cost O(s²).
    pub fn at(&self, lambda: f64) -> Vec<f64> {
        let columns = self.on.active.iter().zip(&self.signs);
        let right = columns.map(|(active, sign)| self.relevance[active.feature] - lambda * sign);
        self.on.solve(&right.collect::<Vec<f64>>())
    }

    /// Makes a coefficient that is 0 but for rounding 0, along Q_AA⁻¹e_k, which leaves the other correlations on the path.
    fn clear(&self, alpha: &mut [f64], place: usize) {
        let mut unit = vec![0.0; alpha.len()];
        unit[place] = 1.0;
        let along = self.on.solve(&unit);
        let by = alpha[place] / along[place];
        alpha.iter_mut().zip(along).for_each(|(alpha, along)| *alpha -= by * along);
        alpha[place] = 0.0;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn entry(i: usize, j: usize) -> f64 {
        0.3 * ((i * 7 + j * 7 + i * j * 3) as f64).sin() + if i == j { 2.0 } else { 0.0 }
    }

    fn walked(level: Level, rules: PathRules) -> (Vec<Knot>, End) {
        let relevance = (0..23).map(|i| (i as f64 * 1.7).cos()).collect();
        let mut path = LeastAngle::new(level, rules, relevance, vec![true; 23]);
        let mut gram = |j: usize| Ok::<_, Infallible>((0..23).map(|i| entry(i, j)).collect());
        let mut knots = Vec::new();
        loop {
            match path.advance(&mut gram).unwrap() {
                Ok(knot) => knots.push(knot),
                Err(end) => return (knots, end),
            }
        }
    }

    #[test]
    fn every_level_and_number_of_threads_gives_the_same_bits() {
        for non_negative in [false, true] {
            let rules = PathRules { non_negative, lasso: true, most: usize::MAX };
            let reference = walked(Level::available()[0], rules);
            assert!(reference.0.len() > 5 && reference.1 == End::NoCorrelation);
            for level in Level::available() {
                assert_eq!(walked(level, rules), reference);
            }
            for threads in 1..=3 {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_eq!(pool.install(|| walked(Level::best(), rules)), reference);
            }
        }
    }

    #[test]
    fn the_last_coefficients_solve_the_system() {
        let (knots, _) = walked(Level::best(), PathRules { non_negative: false, lasso: true, most: usize::MAX });
        let mut order = Vec::new();
        for knot in &knots {
            if knot.enters { order.push(knot.feature) } else { order.retain(|f| *f != knot.feature) }
        }
        let last = knots.last().unwrap();
        assert_eq!((order.len(), last.lambda), (23, 0.0));
        for i in 0..23 {
            let sum: f64 = order.iter().zip(&last.alpha).map(|(&j, alpha)| entry(i, j) * alpha).sum();
            assert!((sum - (i as f64 * 1.7).cos()).abs() < 1e-14);
        }
    }
}
