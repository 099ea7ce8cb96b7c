//! Paths of several outputs: rows of W enter together, by the norm ‖u_j‖ of what a column has in common with all residuals.
//!
//! With C the relevance, features × outputs, and U = C − QW, columns A on the path share ‖u_j‖ = λ, and the next column enters
//! where its norm reaches λ.
//!
//! T. Similä and J. Tikka, *Multiresponse sparse regression with application to multidimensional scaling*, ICANN 2005;
//! M. Yuan and Y. Lin, *Model selection and estimation in regression with grouped variables*, JRSS B 68 (2006).

use super::event::Event;
use super::group::Point;
use super::on_path::{OnPath, Relation};
use super::{End, Knot};
use crate::Level;
use crate::parallel;
use crate::sums::axpy;
use crate::tolerance::{DEPENDENT_COLUMN, END_OF_PATH, EQUAL_CORRELATION};

/// Which path the rows of W follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathShape {
    /// All outputs move straight toward the least squares solution of the columns on the path: u_j = λd_j with the direction
    /// d_j of its entry, so W_A = Q_AA⁻¹(C_A − λD).
    Straight,
    /// min_W ½ tr WᵀQW − tr CᵀW + λ Σ‖w_j‖: u_j = λw_j/‖w_j‖, and a row that falls to 0 leaves.
    Group,
}

/// Something that happens once λ has fallen by `after`.
pub(super) struct Hit {
    pub after: f64,
    pub feature: usize,
    /// The place on the path of a column that leaves.
    pub leaves: Option<usize>,
}

/// A path of several outputs, made knot by knot.
#[derive(Debug)]
pub struct SeveralOutputs {
    pub(super) level: Level,
    shape: PathShape,
    most: usize,
    /// C, for each output the numbers of all columns.
    pub(super) relevance: Vec<Vec<f64>>,
    open: Vec<bool>,
    pub(super) on: OnPath,
    /// d_j of the columns on a straight path.
    directions: Vec<Vec<f64>>,
    /// ‖w_j‖ of the columns on a path of groups, and what it was at the knot before with λ there.
    pub(super) sizes: Vec<f64>,
    before: (f64, Vec<f64>),
    /// The common norm λ.
    pub(super) common: f64,
    /// λ at the start.
    pub(super) largest: f64,
    next: Event<()>,
}

impl SeveralOutputs {
    /// At the start of the path: `relevance` has the numbers of all columns for each output; only columns that are `open`
    /// enter; after `most` columns the caller stops.
    pub fn new(level: Level, shape: PathShape, most: usize, relevance: Vec<Vec<f64>>, open: Vec<bool>) -> Self {
        let mut path = SeveralOutputs {
            level,
            shape,
            most,
            relevance,
            open,
            on: OnPath::new(level),
            directions: Vec::new(),
            sizes: Vec::new(),
            before: (0.0, Vec::new()),
            common: 0.0,
            largest: 0.0,
            next: Event::End(End::NoCorrelation),
        };
        path.begin();
        path
    }

    /// Finds the first event.
    fn begin(&mut self) {
        let SeveralOutputs { relevance, open, .. } = &*self;
        let norms: Vec<f64> = (0..open.len()).map(|j| norm(relevance.iter().map(|output| output[j]))).collect();
        let candidates = (0..open.len()).filter(|&j| open[j] && norms[j] > 0.0);
        let largest = candidates.clone().map(|j| norms[j]).fold(0.0, f64::max);
        let mut equals = candidates.filter(|&j| norms[j] >= largest - EQUAL_CORRELATION * largest);
        let next = match equals.next() {
            None => Event::End(End::NoCorrelation),
            Some(feature) => Event::Enter { feature, tied: equals.collect(), known: () },
        };
        (self.before, self.common, self.largest, self.next) = ((largest, Vec::new()), largest, largest, next);
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
        match self.next_weights(gram)? {
            Some(alpha) => (knot.mu, knot.lambda, knot.alpha) = (self.before.0 - self.common, self.common, alpha),
            None => self.next = Event::End(End::Singular),
        }
        Ok(())
    }

    /// Goes on to the next event, and gives W there, row by row; nothing where the columns are too near to dependence to tell.
    fn next_weights<E>(&mut self, gram: &mut dyn FnMut(usize) -> Result<Vec<f64>, E>) -> Result<Option<Vec<f64>>, E> {
        if !self.find_next(gram)? {
            return Ok(None);
        }
        if let Event::Leave { place } = self.next {
            let Some(sizes) = self.without(place) else { return Ok(None) };
            self.sizes = sizes;
        }
        Ok(self.weights().map(|rows| rows.concat()))
    }

    /// λ at the next knot; at the start the largest norm.
    pub fn lambda(&self) -> f64 {
        self.common
    }

    /// W row by row at a λ between the knot that [`SeveralOutputs::advance`] gave last and the one before; nothing where the
    /// columns are too near to dependence to tell. Cost O(s²·q), of groups O(s³) for each of a few steps of Newton's method.
    pub fn at(&self, lambda: f64) -> Option<Vec<f64>> {
        let (from, before) = &self.before;
        let share = (from - lambda) / (from - self.common);
        let guess = before.iter().zip(&self.sizes).map(|(a, b)| a + share * (b - a)).collect();
        let sizes = match self.shape {
            PathShape::Group if lambda > self.common => self.settled(lambda, guess, None)?,
            _ => self.sizes.clone(),
        };
        Some(self.weights_at(lambda, &sizes)?.concat())
    }

    /// Takes the next column in or out and goes on to the knot after it; `alpha` is W row by row. Cost O(n·s·q + s²·q) and one
    /// column of Q with q outputs; of groups O(s³ + n·s·q) for each of a few steps of Newton's method.
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
                self.directions.remove(place);
                self.sizes.remove(place);
                (self.on.remove(place).feature, false, Vec::new())
            }
            Event::Enter { feature, tied, known: () } => {
                let column = gram(feature)?;
                let Some(rows) = self.weights() else { return Ok(Err(End::Singular)) };
                let direction: Vec<f64> = self.left(&rows).into_iter().map(|output| output[feature]).collect();
                let length = norm(direction.iter().copied());
                self.close_copies(feature, &column);
                if !self.on.push(feature, column) {
                    return Ok(Err(End::Singular));
                }
                self.directions.push(direction.iter().map(|d| d / length).collect());
                self.sizes.push(0.0);
                (feature, true, tied)
            }
        };
        self.before = (self.common, self.sizes.clone());
        let Some(alpha) = self.next_weights(gram)? else { return Ok(Err(End::Singular)) };
        Ok(Ok(Knot { feature, enters, tied, mu: self.before.0 - self.common, lambda: self.common, alpha }))
    }

    /// A copy of a column on the path, or its negative, has the norm λ for ever and never enters.
    fn close_copies(&mut self, feature: usize, column: &[f64]) {
        let square = column[feature] * (1.0 - 0.5 * DEPENDENT_COLUMN);
        let copies = self.open.iter_mut().zip(column).enumerate();
        copies.filter(|(j, (_, q))| *j != feature && q.abs() >= square).for_each(|(_, (open, _))| *open = false);
    }

    /// Finds the next event and lets λ fall to it; false where no step of the path of groups converges.
    fn find_next<E>(&mut self, gram: &mut dyn FnMut(usize) -> Result<Vec<f64>, E>) -> Result<bool, E> {
        loop {
            let Some(hits) = self.hits_of_next() else { return Ok(false) };
            let first = hits.iter().map(|hit| hit.after).fold(f64::INFINITY, f64::min);
            if first >= self.common - EQUAL_CORRELATION * self.largest {
                return Ok(self.finish());
            }
            let equal = |hit: &&Hit| hit.after <= first + EQUAL_CORRELATION * self.largest;
            let Some(hit) = hits.iter().filter(equal).min_by_key(|hit| hit.feature) else { return Ok(self.finish()) };
            let feature = hit.feature;
            if let Some(place) = hit.leaves {
                return Ok(self.fall(first, Event::Leave { place }));
            }
            let enters = |hit: &&Hit| equal(hit) && hit.leaves.is_none() && hit.feature != feature;
            let tied = hits.iter().filter(enters).map(|hit| hit.feature).collect();
            if self.on.active.len() >= self.most {
                return Ok(self.fall(first, Event::Enter { feature, tied, known: () }));
            }
            match self.on.relation(feature, gram(feature)?, false) {
                Relation::Independent(_) => return Ok(self.fall(first, Event::Enter { feature, tied, known: () })),
                Relation::Duplicate => self.open[feature] = false,
                Relation::Dependent if self.common - first <= END_OF_PATH * self.largest => return Ok(self.finish()),
                Relation::Dependent => return Ok(self.fall(first, Event::End(End::Singular))),
            }
        }
    }

    fn fall(&mut self, by: f64, next: Event<()>) -> bool {
        if self.shape == PathShape::Straight {
            self.common -= by;
        }
        self.next = next;
        true
    }

    fn finish(&mut self) -> bool {
        self.common = 0.0;
        self.next = Event::End(End::NoCorrelation);
        true
    }

    /// What can happen next; of groups at the next knot itself, to which λ falls.
    fn hits_of_next(&mut self) -> Option<Vec<Hit>> {
        match self.shape {
            PathShape::Group => self.fall_to_next_knot(),
            PathShape::Straight => {
                let falling = self.falling(&self.solved(|active, output| self.directions[active][output]));
                Some(self.entries(&self.left(&self.weights()?), &falling))
            }
        }
    }

    /// Columns whose norm ‖u_j − a f_j‖ reaches λ − a, with the a where it does.
    pub(super) fn entries(&self, left: &[Vec<f64>], falling: &[Vec<f64>]) -> Vec<Hit> {
        let hit = |j: usize| {
            let sum = |a: &[Vec<f64>], b: &[Vec<f64>]| a.iter().zip(b).map(|(a, b)| a[j] * b[j]).sum::<f64>();
            let length = sum(left, left).sqrt();
            let gap = (self.common - length).max(0.0) * (self.common + length);
            let (square, linear) = (sum(falling, falling) - 1.0, self.common - sum(left, falling));
            Some(Hit { after: root(square, linear, gap, self.common)?, feature: j, leaves: None })
        };
        self.outside().filter_map(hit).collect()
    }

    /// Columns beside the path that may enter.
    pub(super) fn outside(&self) -> impl Iterator<Item = usize> {
        let mut open = self.open.clone();
        self.on.active.iter().for_each(|active| open[active.feature] = false);
        (0..open.len()).filter(move |&j| open[j])
    }

    /// W at the present λ, row by row; nothing where the columns are too near to dependence to tell.
    fn weights(&self) -> Option<Vec<Vec<f64>>> {
        self.weights_at(self.common, &self.sizes)
    }

    /// W at a λ at which the rows of a path of groups have these norms.
    fn weights_at(&self, lambda: f64, sizes: &[f64]) -> Option<Vec<Vec<f64>>> {
        let of = |active: usize, output: usize| self.relevance[output][self.on.active[active].feature];
        match self.shape {
            _ if lambda == 0.0 => Some(self.solved(of)),
            PathShape::Straight => Some(self.solved(|k, output| of(k, output) - lambda * self.directions[k][output])),
            PathShape::Group => Some(Point::new(self, lambda, sizes)?.weights(sizes)),
        }
    }

    /// Q_AA⁻¹B, row by row.
    fn solved(&self, b: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
        let size = self.on.active.len();
        let outputs = (0..self.relevance.len())
            .map(|output| self.on.solve(&(0..size).map(|k| b(k, output)).collect::<Vec<f64>>()))
            .collect::<Vec<_>>();
        (0..size).map(|k| outputs.iter().map(|output| output[k]).collect()).collect()
    }

    /// Q_·A W, for each output. Cost O(n·s) each.
    pub(super) fn falling(&self, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let of = |output: usize| {
            let mut sum = vec![0.0; self.open.len()];
            self.on.active.iter().zip(rows).for_each(|(a, row)| axpy(self.level, row[output], &a.gram, &mut sum));
            sum
        };
        parallel::map(self.relevance.len(), of)
    }

    /// U = C − Q_·A W, for each output.
    pub(super) fn left(&self, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut fits = self.falling(rows);
        for (fit, relevance) in fits.iter_mut().zip(&self.relevance) {
            fit.iter_mut().zip(relevance).for_each(|(fit, c)| *fit = c - *fit);
        }
        fits
    }
}

pub(super) fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|v| v * v).sum::<f64>().sqrt()
}

/// The least a > 0, or = 0 where the norm comes from below, with `square`·a² + 2·`linear`·a = `gap`, which is not negative.
fn root(square: f64, linear: f64, gap: f64, common: f64) -> Option<f64> {
    if square.abs() <= EQUAL_CORRELATION && linear.abs() <= EQUAL_CORRELATION * common {
        return None;
    }
    let spread = (linear * linear + square * gap).max(0.0).sqrt();
    let a = if linear > 0.0 { gap / (linear + spread) } else { (spread - linear) / square };
    (a.is_finite() && a >= 0.0).then_some(a)
}
