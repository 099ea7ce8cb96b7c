//! Minimum redundancy, maximum relevance: a criterion for [vaglio](vaglio_core), and an example plug-in to copy.
//!
//! `use vaglio_mrmr as _;` in a program makes `criterion: mrmr` known to its pipeline files; [`Mrmr`] is the criterion.

mod evaluator;

use evaluator::Correlations;
use vaglio_core::{
    Criterion, Design, Error, Estimate, Feature, Outline, Result, Score, Shortcut, part, setting, standardized,
};

/// The identifier of the shortcut in `selection.json` and in plans.
const ENGINE: &str = "correlation";

/// Minimum redundancy, maximum relevance, in its form for numbers: correlations take the place of mutual information.
///
/// With ρ the weighted Pearson correlation, relevance rᵢ = mean over outputs of |ρ(xᵢ, yₒ)|,
/// D(S) = (1/|S|) Σᵢ rᵢ and R(S) = (1/|S|²) Σᵢⱼ |ρ(xᵢ, xⱼ)| for i, j ∈ S (i = j included), the score is −(D − R) or
/// −D/R. Lower is better; it is a function of the set alone, so every search can walk on it.
///
/// Classes count through their ±1 codings: of two classes |ρ| grows with the F statistic, of several the mean over the
/// classes of one against the rest is taken. A constant column has correlation 0 with everything, itself included. The
/// empty subset, and one of constant columns alone, scores 0. The learner and λ play no part.
///
/// # Example
/// ```
/// use vaglio_core::{Criterion, Design, Readout};
/// use vaglio_mrmr::Mrmr;
/// let problem = vaglio_testkit::data::regression(30, 5, 1).problem();
/// let design = Design::identity(&problem, Readout::new(vec![1.0], true)?);
/// let score = Mrmr::default().evaluate(&design, &[0, 3])?;
/// assert!(score.loss.abs() < 1.0);
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// H. Peng, F. Long and C. Ding, *Feature selection based on mutual information: criteria of max-dependency,
/// max-relevance, and min-redundancy*, IEEE Transactions on Pattern Analysis and Machine Intelligence 27(8), 2005,
/// equations 4 to 6; with correlations: C. Ding and H. Peng, *Minimum redundancy feature selection from microarray gene
/// expression data*, Journal of Bioinformatics and Computational Biology 3(2), 2005.
#[part(
    Criterion,
    "mrmr",
    summary = "relevance to the targets against redundancy among the columns, by correlation",
    example = "criterion: {kind: mrmr, scheme: difference}",
    title = "mRMR"
)]
#[derive(Copy, PartialEq, Eq)]
pub struct Mrmr {
    /// How relevance and redundancy are weighed.
    pub scheme: Scheme,
}

vaglio_core::setters!(Mrmr { scheme: Scheme;; });

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

impl Scheme {
    /// The score of `size` columns with Σᵢ rᵢ = `relevance` and Σᵢⱼ |ρᵢⱼ| = `redundancy`.
    ///
    /// Each column that is not constant brings at least its own |ρᵢᵢ| = 1: below ½ there is none, whatever was rounded.
    fn score(self, size: usize, relevance: f64, redundancy: f64) -> Score {
        if size == 0 || redundancy < 0.5 {
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

impl Criterion for Mrmr {
    /// The definition. Cost O(|S| m (|S| + outputs)), memory O(|S| m).
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let columns = columns(design, subset);
        let redundancy = columns.iter().map(|x| columns.iter().map(|z| correlation(x, z)).sum::<f64>()).sum();
        let relevance = relevance(design, &columns).iter().sum();
        Ok(self.scheme.score(subset.len(), relevance, redundancy))
    }

    fn accelerate<'d>(&'d self, design: &'d Design, _: &Outline) -> Result<Option<Shortcut<'d>>> {
        Ok(Some(Shortcut::new(ENGINE, Correlations::new(self.scheme, design))))
    }

    fn check(&self, design: &Design) -> Result<()> {
        match design.bias() {
            Some(bias) => Err(Error::without_spread(&design.names()[bias])),
            None => Ok(()),
        }
    }

    /// Relevance once, then one pass over all columns for each column that is selected the first time.
    fn estimate(&self, design: &Design, outline: &Outline) -> Estimate {
        let Outline { largest, trials, .. } = *outline;
        let (rows, features) = (design.planned_rows() as f64, design.features() as f64);
        // A search that tries every column at each step takes trials / features steps.
        let passes = (trials / features.max(1.0)).max(largest as f64).min(features);
        let once = (8.0 + 2.0 * design.targets().nrows() as f64) * rows * features;
        Estimate {
            engine: ENGINE,
            reason: "correlations with the selected columns are kept".into(),
            flops: once + 2.0 * rows * features * passes + trials * largest as f64,
            bytes: 8.0 * features * (rows + passes),
        }
    }
}

/// The columns `features`, standardized. Cost O(m) each.
fn columns(design: &Design, features: &[Feature]) -> Vec<Vec<f64>> {
    features.iter().map(|&f| standardized(&design.column(f).values(), design.weights())).collect()
}

/// rᵢ of standardized columns. Cost O(m · outputs) each.
fn relevance(design: &Design, columns: &[Vec<f64>]) -> Vec<f64> {
    let (targets, unit) = (design.targets(), |y: &[f64]| standardized(y, design.weights()));
    let outputs: Vec<_> = targets.rows().into_iter().map(|y| unit(&y.to_vec())).collect();
    let mean = |x: &Vec<f64>| outputs.iter().map(|y| correlation(x, y)).sum::<f64>() / outputs.len() as f64;
    columns.iter().map(mean).collect()
}

/// |ρ| of standardized columns, which only rounding can carry above 1; 0 where one is constant. Cost O(m).
fn correlation(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(x, z)| x * z).sum::<f64>().abs().min(1.0)
}
