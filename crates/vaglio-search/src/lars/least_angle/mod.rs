//! Least-angle paths: min_α ½ αᵀQα − cᵀα + λ‖α‖₁ as λ falls, from relevance c and columns of the Gram matrix Q.
//!
//! Between two knots the active columns A have the correlations r_A = c_A − Q_AA α_A = λ s_A with fixed signs s. So α_A
//! = Q_AA⁻¹(c_A − λ s_A) is linear in λ. It is solved anew at every knot, so that errors do not accumulate.
//!
//! B. Efron, T. Hastie, I. Johnstone and R. Tibshirani, *Least angle regression*, Annals of Statistics 32 (2004); with
//! non-negative coefficients M. Yamada, A. Saha, H. Ouyang, D. Yin and Y. Chang, *N³LARS: minimum redundancy maximum
//! relevance feature selection for large and high-dimensional data*, arXiv:1411.2331. The book, searches/lars.md.

mod active_set;
mod group;
mod several_outputs;
mod single_output;

use active_set::{ActiveSet, norm};
use vaglio_core::{Action, Error, Feature, Result, StopReason, minimum};
use vaglio_kernels::tolerance::{DEPENDENT_COLUMN, END_OF_PATH, EQUAL_CORRELATION};

/// Columns at the knots of the path of one output, in order: each enters, or leaves if it is on the path. Columns leave
/// only if coefficients must be `non_negative`. `relevance` is c without NaN, only columns that are `open` enter, and
/// `gram` computes columns of Q.
pub fn least_angle_order(
    relevance: Vec<f64>,
    open: Vec<bool>,
    non_negative: bool,
    mut gram: impl FnMut(Feature) -> Result<Vec<f64>>,
) -> impl Iterator<Item = Result<Feature>> {
    let shape = if non_negative { PathShape::NonNegativeLasso } else { PathShape::LeastAngle };
    let mut path = LeastAngle::new(shape, usize::MAX, vec![relevance], open);
    std::iter::from_fn(move || match path.advance(&mut gram) {
        Err(Error::Stopped(reason)) if !reason.is_partial() => None,
        knot => Some(knot.map(|knot| knot.feature)),
    })
}

/// Variant of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathShape {
    /// The path of one output, which no column leaves.
    LeastAngle,
    /// The path of one output, which a column leaves when its coefficient reaches 0.
    Lasso,
    /// Like `Lasso`, with non-negative coefficients.
    NonNegativeLasso,
    /// Moves several outputs straight toward the least-squares solution of the active columns: u_j = λd_j with d_j the
    /// direction at entry, so W_A = Q_AA⁻¹(C_A − λD).
    Multiresponse,
    /// Solves the group lasso min_W ½ tr WᵀQW − tr CᵀW + λ Σ‖w_j‖: u_j = λw_j/‖w_j‖, and a row that falls to 0 leaves.
    GroupLasso,
}

/// An event of the path, up to the next knot: a column enters or leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct LeastAngleKnot {
    /// Column that enters or leaves.
    pub feature: usize,
    /// Whether it enters or leaves.
    pub action: Action,
    /// Other columns that could enter at the same λ, in increasing order.
    pub tied: Vec<usize>,
    /// Decrease of λ to the next knot.
    pub mu: f64,
    /// λ at the next knot.
    pub lambda: f64,
    /// Coefficients at the next knot, in order of entry.
    pub alpha: Vec<f64>,
}

/// A column enters or leaves once λ has fallen by `after`.
struct LeastAngleEvent {
    after: f64,
    feature: usize,
    /// Sign of the correlation, for one output.
    sign: f64,
    /// Place on the path of a column that leaves; `None` if the column enters.
    leaves: Option<usize>,
    /// Other columns that could enter at this λ.
    tied: Vec<usize>,
    /// Column of Q of an entering column, if already read.
    column: Option<Vec<f64>>,
}

impl LeastAngleEvent {
    fn new(after: f64, feature: usize, sign: f64, leaves: Option<usize>) -> Self {
        LeastAngleEvent { after, feature, sign, leaves, tied: Vec::new(), column: None }
    }
}

/// A least-angle path, computed knot by knot.
///
/// # Reference
/// B. Efron, T. Hastie, I. Johnstone, R. Tibshirani, *Least angle regression*, Annals of Statistics 32 (2004).
pub struct LeastAngle {
    shape: PathShape,
    most: usize,
    /// Relevance c of each output.
    relevance: Vec<Vec<f64>>,
    /// Whether each column may enter.
    open: Vec<bool>,
    active: ActiveSet,
    /// Directions d_j of the active columns, of each output; for one output the signs s.
    directions: Vec<Vec<f64>>,
    /// ‖w_j‖ of the active columns on a group path, and λ and these norms at the last knot.
    norms: Vec<f64>,
    last_knot: (f64, Vec<f64>),
    /// Common correlation λ at the next knot; for several outputs the common norm.
    pub lambda: f64,
    /// λ at the start.
    largest: f64,
    /// The next event, or why the path ends.
    next: Result<LeastAngleEvent, StopReason>,
}

impl LeastAngle {
    /// Starts a path: `relevance` is c of each output, without NaN, and only columns that are `open` enter. The caller
    /// stops at `most` columns; the event after that is not computed exactly.
    pub fn new(shape: PathShape, most: usize, relevance: Vec<Vec<f64>>, open: Vec<bool>) -> Self {
        let mut path = LeastAngle {
            shape,
            most,
            relevance,
            open,
            active: ActiveSet::default(),
            directions: Vec::new(),
            norms: Vec::new(),
            last_knot: (0.0, Vec::new()),
            lambda: 0.0,
            largest: 0.0,
            next: Err(StopReason::NoCorrelation),
        };
        path.begin();
        path
    }

    /// Finds the first event.
    fn begin(&mut self) {
        let LeastAngle { relevance, open, shape, .. } = &*self;
        let size = |j: usize| match shape {
            PathShape::NonNegativeLasso => relevance[0][j],
            PathShape::LeastAngle | PathShape::Lasso => relevance[0][j].abs(),
            _ => norm(relevance.iter().map(|output| output[j])),
        };
        let norms: Vec<f64> = (0..open.len()).map(size).collect();
        let candidates = (0..open.len()).filter(|&j| open[j] && norms[j] > 0.0);
        let largest = candidates.clone().map(|j| norms[j]).fold(0.0, f64::max);
        let mut equals = candidates.filter(|&j| norms[j] >= largest - EQUAL_CORRELATION * largest);
        let next = equals.next().ok_or(StopReason::NoCorrelation).map(|feature| {
            let event = LeastAngleEvent::new(0.0, feature, relevance[0][feature].signum(), None);
            LeastAngleEvent { tied: equals.collect(), ..event }
        });
        (self.last_knot, self.lambda, self.largest, self.next) = ((largest, Vec::new()), largest, largest, next);
    }

    /// The column that enters next, if one does.
    pub fn entering(&self) -> Option<usize> {
        self.next.as_ref().ok().filter(|event| event.leaves.is_none()).map(|event| event.feature)
    }

    /// The column that leaves next, if one does.
    pub fn leaving(&self) -> Option<usize> {
        self.next.as_ref().ok().filter(|event| event.leaves.is_some()).map(|event| event.feature)
    }

    /// Skips the column that enters next and excludes it from the path; extends the last knot, if any, to the following
    /// event.
    ///
    /// # Errors
    /// Forwards errors of `gram`.
    pub fn pass_over(
        &mut self,
        knot: Option<&mut LeastAngleKnot>,
        gram: &mut dyn FnMut(usize) -> Result<Vec<f64>>,
    ) -> Result<()> {
        let Some(feature) = self.entering() else { return Ok(()) };
        self.open[feature] = false;
        let Some(knot) = knot else {
            self.begin();
            return Ok(());
        };
        match self.move_on(gram) {
            Ok((mu, alpha)) => {
                let before = if self.is_single() { knot.mu } else { 0.0 };
                (knot.mu, knot.lambda, knot.alpha) = (before + mu, self.lambda, alpha);
            }
            Err(Error::Stopped(StopReason::Singular)) => self.next = Err(StopReason::Singular),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Adds or removes the next column and proceeds to the following knot. `gram` computes columns of Q; the knot's
    /// `alpha` is W, row-major.
    ///
    /// Cost O(n·s·q + s²·q) and one column of Q with q outputs; for groups O(s³ + n·s·q) for each of a few Newton
    /// steps.
    ///
    /// # Errors
    /// [`Error::Stopped`] at the end of the path: [`StopReason::NoCorrelation`] if no column has a remaining
    /// correlation, or none a positive one where coefficients must be non-negative; [`StopReason::Singular`] if the next
    /// column depends on the active ones. Forwards errors of `gram`.
    pub fn advance(&mut self, gram: &mut dyn FnMut(usize) -> Result<Vec<f64>>) -> Result<LeastAngleKnot> {
        let next = std::mem::replace(&mut self.next, Err(StopReason::Singular));
        let event = next.inspect_err(|reason| self.next = Err(*reason))?;
        let LeastAngleEvent { feature, sign, leaves, tied, column, .. } = event;
        let action = match leaves {
            Some(place) => {
                self.directions.remove(place);
                self.norms.remove(place);
                self.active.remove(place);
                Action::Remove
            }
            None => {
                let column = match column {
                    Some(column) => column,
                    None => gram(feature)?,
                };
                let direction = if self.is_single() {
                    vec![sign]
                } else {
                    let rows = self.weights().ok_or(StopReason::Singular)?;
                    self.close_copies(feature, &column);
                    self.direction(feature, &rows)
                };
                if !self.active.push(feature, column) {
                    return Err(StopReason::Singular.into());
                }
                self.directions.push(direction);
                self.norms.push(0.0);
                Action::Add
            }
        };
        self.last_knot = (self.lambda, self.norms.clone());
        let (mu, alpha) = self.move_on(gram)?;
        Ok(LeastAngleKnot { feature, action, tied, mu, lambda: self.lambda, alpha })
    }

    fn is_single(&self) -> bool {
        !matches!(self.shape, PathShape::Multiresponse | PathShape::GroupLasso)
    }

    /// Closes copies of an active column: a copy, or its negative, keeps the norm λ and never enters.
    fn close_copies(&mut self, feature: usize, column: &[f64]) {
        let square = column[feature] * (1.0 - 0.5 * DEPENDENT_COLUMN);
        let copies = self.open.iter_mut().zip(column).enumerate();
        copies.filter(|(j, (_, q))| *j != feature && q.abs() >= square).for_each(|(_, (open, _))| *open = false);
    }

    /// Proceeds to the next event. Returns the decrease of λ, for several outputs since the last knot, and W there,
    /// row-major.
    ///
    /// # Errors
    /// [`StopReason::Singular`] if the columns are too nearly dependent; errors of `gram`.
    fn move_on(&mut self, gram: &mut dyn FnMut(usize) -> Result<Vec<f64>>) -> Result<(f64, Vec<f64>)> {
        let by = self.find_next(gram)?;
        let leaving = self.next.as_ref().ok().and_then(|event| event.leaves);
        if let Some(place) = leaving.filter(|_| !self.is_single()) {
            self.norms = self.norms_without(place).ok_or(StopReason::Singular)?;
        }
        let mut alpha = self.weights().ok_or(StopReason::Singular)?.concat();
        if !self.is_single() {
            return Ok((self.last_knot.0 - self.lambda, alpha));
        }
        leaving.into_iter().for_each(|place| self.clear(&mut alpha, place));
        Ok((by, alpha))
    }

    /// Finds the next event and lowers λ to it; returns the decrease.
    ///
    /// Among events at one λ the lowest column comes first: the least-index rule, which does not cycle.
    ///
    /// # Errors
    /// [`StopReason::Singular`] if no step of a group path converges; errors of `gram`.
    fn find_next(&mut self, gram: &mut dyn FnMut(usize) -> Result<Vec<f64>>) -> Result<f64> {
        loop {
            let events = self.events().ok_or(StopReason::Singular)?;
            let first = minimum(events.iter().map(|event| event.after));
            if first >= self.lambda - EQUAL_CORRELATION * self.largest {
                return Ok(self.finish());
            }
            let equals: Vec<LeastAngleEvent> =
                events.into_iter().filter(|event| self.ties(event.after, first)).collect();
            let entering = equals.iter().filter(|event| event.leaves.is_none()).map(|event| event.feature);
            let entering: Vec<usize> = entering.collect();
            let Some(mut event) = equals.into_iter().min_by_key(|event| event.feature) else {
                return Ok(self.finish());
            };
            let feature = event.feature;
            if event.leaves.is_some() {
                return Ok(self.lower_by(first, Ok(event)));
            }
            event.tied = entering.into_iter().filter(|other| *other != feature).collect();
            if self.active.columns.len() >= self.most {
                return Ok(self.lower_by(first, Ok(event)));
            }
            let is_one_sided = self.shape == PathShape::NonNegativeLasso;
            let column = gram(feature)?;
            if self.active.is_independent(feature, &column) {
                event.column = Some(column);
                return Ok(self.lower_by(first, Ok(event)));
            }
            if !self.active.has_copy(feature, &column, is_one_sided) {
                return Ok(match self.lambda - first <= END_OF_PATH * self.largest {
                    true => self.finish(),
                    false => self.lower_by(first, Err(StopReason::Singular)),
                });
            }
            self.open[feature] = false;
        }
    }

    /// Whether an event happens no later than the first one, up to rounding.
    fn ties(&self, after: f64, first: f64) -> bool {
        after <= first + EQUAL_CORRELATION * self.largest
    }

    fn lower_by(&mut self, by: f64, next: Result<LeastAngleEvent, StopReason>) -> f64 {
        if self.shape != PathShape::GroupLasso {
            self.lambda -= by;
        }
        self.next = next;
        by
    }

    fn finish(&mut self) -> f64 {
        self.next = Err(StopReason::NoCorrelation);
        std::mem::take(&mut self.lambda)
    }

    /// Possible next events; for groups those at the next knot, to which λ falls.
    fn events(&mut self) -> Option<Vec<LeastAngleEvent>> {
        match self.shape {
            PathShape::Multiresponse => self.multiresponse_events(),
            PathShape::GroupLasso => self.fall_to_next_knot(),
            _ => self.single_events(),
        }
    }
}
