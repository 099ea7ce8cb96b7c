//! From one knot of a least-angle path to the next: what happens first as λ falls.
//!
//! B. Efron et al., Annals of Statistics 32 (2004), section 3, the lasso modification included.

use super::event::Event;
use super::on_path::{Active, Relation};
use super::{End, LeastAngle};
use crate::parallel;
use crate::sums::axpy;
use crate::tolerance::{END_OF_PATH, EQUAL_CORRELATION, RATE_ROUNDING};

/// The sign of a column that enters, and its column of Q where that was read already.
pub(super) type Entering = (f64, Option<Vec<f64>>);

/// Something that happens once λ has fallen by `after`.
struct Hit {
    after: f64,
    feature: usize,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Enters(f64),
    Leaves(usize),
}

/// Entries that are worked on together.
const TOGETHER: usize = 4096;

impl LeastAngle {
    /// Finds the next event and lets λ fall to it; by how much it falls.
    ///
    /// Of events at one λ the one of the lowest column comes first, which is the rule of least index: it does not cycle.
    pub(super) fn find_next<E>(&mut self, gram: &mut dyn FnMut(usize) -> Result<Vec<f64>, E>) -> Result<f64, E> {
        let mut hits = self.hits();
        loop {
            let first = hits.iter().map(|hit| hit.after).fold(f64::INFINITY, f64::min);
            if first >= self.common - EQUAL_CORRELATION * self.largest {
                return Ok(self.finish());
            }
            let equal = |hit: &&Hit| hit.after <= first + EQUAL_CORRELATION * self.largest;
            let Some(hit) = hits.iter().filter(equal).min_by_key(|hit| hit.feature) else { return Ok(self.finish()) };
            let (feature, what) = (hit.feature, hit.what);
            let sign = match what {
                What::Leaves(place) => return Ok(self.fall(first, Event::Leave { place })),
                What::Enters(sign) => sign,
            };
            let enters = |hit: &&Hit| equal(hit) && matches!(hit.what, What::Enters(_)) && hit.feature != feature;
            let tied = hits.iter().filter(enters).map(|hit| hit.feature).collect();
            if self.on.active.len() >= self.rules.most {
                return Ok(self.fall(first, Event::Enter { feature, tied, known: (sign, None) }));
            }
            match self.on.relation(feature, gram(feature)?, self.rules.non_negative) {
                Relation::Independent(column) => {
                    return Ok(self.fall(first, Event::Enter { feature, tied, known: (sign, Some(column)) }));
                }
                Relation::Duplicate => {
                    self.open[feature] = false;
                    hits.retain(|hit| hit.feature != feature);
                }
                Relation::Dependent if self.common - first <= END_OF_PATH * self.largest => return Ok(self.finish()),
                Relation::Dependent => return Ok(self.fall(first, Event::End(End::Singular))),
            }
        }
    }

    fn fall(&mut self, by: f64, next: Event<Entering>) -> f64 {
        self.common -= by;
        self.next = next;
        by
    }

    fn finish(&mut self) -> f64 {
        self.next = Event::End(End::NoCorrelation);
        std::mem::take(&mut self.common)
    }

    /// Everything that can happen as λ falls, in increasing order of columns that enter, then those that leave.
    fn hits(&self) -> Vec<Hit> {
        let (alpha, direction) = (self.at(self.common), self.on.solve(&self.signs));
        let (left, falling) = self.correlations(&alpha, &direction);
        let terms = |(active, by): (&Active, &f64)| by.abs() * active.gram[active.feature];
        let rounding = RATE_ROUNDING * (1.0 + self.on.active.iter().zip(&direction).map(terms).sum::<f64>());
        let mut inside = vec![false; left.len()];
        self.on.active.iter().for_each(|active| inside[active.feature] = true);
        let mut hits = Vec::new();
        for feature in (0..left.len()).filter(|&j| self.open[j] && !inside[j]) {
            for sign in if self.rules.non_negative { &[1.0][..] } else { &[1.0, -1.0] } {
                let (gap, rate) = (self.common - sign * left[feature], 1.0 - sign * falling[feature]);
                if rate > rounding {
                    hits.push(Hit { after: gap.max(0.0) / rate, feature, what: What::Enters(*sign) });
                }
            }
        }
        if self.rules.lasso {
            for (place, (active, sign)) in self.on.active.iter().zip(&self.signs).enumerate() {
                let (value, rate) = (alpha[place] * sign, -direction[place] * sign);
                if rate > 0.0 {
                    hits.push(Hit { after: value.max(0.0) / rate, feature: active.feature, what: What::Leaves(place) });
                }
            }
        }
        hits
    }

    /// r = c − Q_·A α and Q_·A a: every correlation, and how fast it falls with λ. Cost O(n·s).
    fn correlations(&self, alpha: &[f64], direction: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut left = self.relevance.clone();
        let mut falling = vec![0.0; left.len()];
        let mut parts: Vec<_> = left.chunks_mut(TOGETHER).zip(falling.chunks_mut(TOGETHER)).collect();
        parallel::each_mut(&mut parts, |part, (left, falling)| {
            for ((active, alpha), by) in self.on.active.iter().zip(alpha).zip(direction) {
                let column = &active.gram[part * TOGETHER..][..left.len()];
                axpy(self.level, -alpha, column, left);
                axpy(self.level, *by, column, falling);
            }
        });
        (left, falling)
    }
}
