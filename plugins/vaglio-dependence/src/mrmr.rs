//! Minimum redundancy, maximum relevance: one objective over a measure of pairs of columns.

mod correlation;
mod evaluator;
mod information;

pub use correlation::Mrmr;
pub use information::MrmrInformation;

use vaglio_core::{Design, Error, Result, Score, setting};

/// How relevance and redundancy are weighed.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Scheme {
    /// Relevance less redundancy.
    #[default]
    Difference,
    /// Relevance over redundancy.
    Quotient,
}

/// What two columns, and a column and the target, have in common: |ρ|, or mutual information.
trait Dependence: Send + Sync {
    /// A redundancy below this is that of constant columns alone.
    const NOTHING: f64;

    /// Of how many columns it is.
    fn columns(&self) -> usize;

    /// Of a column with the target: the mean over outputs. Cost O(m · outputs).
    fn relevance(&self, i: usize) -> f64;

    /// Of two columns, or of one with itself. Cost O(m).
    fn between(&self, i: usize, j: usize) -> f64;

    /// The objective of all columns. Cost O(n·m·(n + outputs)).
    fn objective(&self, scheme: Scheme) -> Score {
        let all = 0..self.columns();
        let redundancy = all.clone().map(|i| all.clone().map(|j| self.between(i, j)).sum::<f64>()).sum();
        let relevance = all.clone().map(|i| self.relevance(i)).sum();
        scheme.score::<Self>(self.columns(), relevance, redundancy)
    }
}

impl Scheme {
    /// The score of `size` columns with Σᵢ rᵢ = `relevance` and Σᵢⱼ sᵢⱼ = `redundancy`.
    fn score<D: Dependence + ?Sized>(self, size: usize, relevance: f64, redundancy: f64) -> Score {
        if size == 0 || redundancy < D::NOTHING {
            return Score::of(0.0);
        }
        let size = size as f64;
        let (relevance, redundancy) = (relevance / size, redundancy / (size * size));
        Score::of(match self {
            Scheme::Difference => redundancy - relevance,
            Scheme::Quotient => -relevance / redundancy,
        })
    }
}

/// Refuses a bias, which has no spread.
fn check(design: &Design) -> Result<()> {
    design.bias().map_or(Ok(()), |bias| Err(Error::without_spread(&design.names()[bias])))
}
