//! Minimum redundancy, maximum relevance by mutual information.

mod evaluator;

use crate::bins::{Binned, Bins, Rows};
use evaluator::Informations;
use vaglio_core::{Criterion, Design, Error, Estimate, Feature, Outline, Result, Score, Shortcut, part, setting};

/// The identifier of the shortcut in `selection.json` and in plans.
const ENGINE: &str = "information";
/// A sum of entropies below this is rounding.
const NOTHING: f64 = 1e-12;

/// Minimum redundancy, maximum relevance, by mutual information of columns in bins.
///
/// With I(xᵢ, xⱼ) the mutual information of two columns in bins, in nats, and y the target, D(S) = (1/|S|) Σᵢ I(xᵢ, y) and
/// R(S) = (1/|S|²) Σᵢⱼ I(xᵢ, xⱼ) for i, j ∈ S (i = j, the entropy, included); the score is −(D − R) or −D/R. Lower is better;
/// it is a function of the set alone, so every search can walk on it. The criterion `mrmr`, in a crate of its own, is the same
/// objective with correlations, which need no bins and do not see what is not monotone.
///
/// Bins are those of the paper by default: below, within and above one standard deviation about the mean. Classes are bins of
/// their own; of several numeric outputs the mean relevance counts. A row of weight 2 equals that row twice. A constant column has
/// no information. The empty subset, and one of constant columns alone, scores 0. The learner and λ play no part.
///
/// # Example
/// ```
/// use vaglio_core::{Criterion, Design, Readout};
/// use vaglio_dependence::MrmrInformation;
/// let problem = vaglio_testkit::data::regression(30, 5, 1).problem();
/// let design = Design::identity(&problem, Readout::new(vec![1.0], true)?);
/// assert!(MrmrInformation::default().evaluate(&design, &[0, 3])?.loss.is_finite());
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// H. Peng, F. Long and C. Ding, *Feature selection based on mutual information: criteria of max-dependency,
/// max-relevance, and min-redundancy*, IEEE Transactions on Pattern Analysis and Machine Intelligence 27(8), 2005,
/// equations 4 to 6.
#[part(
    Criterion,
    "mrmr_information",
    summary = "relevance to the targets against redundancy among the columns, by mutual information of columns in bins",
    example = "criterion: {kind: mrmr_information, scheme: difference, bins: deviation}",
    title = "mRMR (MI)"
)]
#[derive(Copy, PartialEq, Eq)]
pub struct MrmrInformation {
    /// How relevance and redundancy are weighed.
    pub scheme: Scheme,
    /// How columns are put into bins.
    pub bins: Bins,
}

vaglio_core::setters!(MrmrInformation { scheme: Scheme, bins: Bins;; });

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
    /// The score of `size` columns with Σᵢ I(xᵢ, y) = `relevance` and Σᵢⱼ I(xᵢ, xⱼ) = `redundancy`.
    fn score(self, size: usize, relevance: f64, redundancy: f64) -> Score {
        if size == 0 || redundancy < NOTHING {
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

impl Criterion for MrmrInformation {
    /// The definition. Cost O(|S| m (|S| + outputs)), memory O(|S| m).
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let rows = Rows::new(self.bins, design);
        let targets = rows.targets(design);
        let columns: Vec<Binned> = subset.iter().map(|&feature| rows.column(design, feature)).collect();
        let among = |x: &Binned| columns.iter().map(|z| rows.information(x, z)).sum::<f64>();
        let redundancy = columns.iter().map(among).sum();
        let relevance = columns.iter().map(|x| rows.relevance(x, &targets)).sum();
        Ok(self.scheme.score(subset.len(), relevance, redundancy))
    }

    fn accelerate<'d>(&'d self, design: &'d Design, _: &Outline) -> Result<Option<Shortcut<'d>>> {
        Ok(Some(Shortcut::new(ENGINE, Informations::new(*self, design))))
    }

    fn check(&self, design: &Design) -> Result<()> {
        self.bins.check()?;
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
        let once = (20.0 + 8.0 * design.targets().nrows() as f64) * rows * features;
        Estimate {
            engine: ENGINE,
            reason: "informations with the selected columns are kept".into(),
            flops: once + 8.0 * rows * features * passes + trials * largest as f64,
            bytes: features * (4.0 * rows + 8.0 * passes),
        }
    }
}
