//! Criteria that weight every column once: a subset is scored by the sum of its columns' weights.

use crate::target::{Output, check};
use std::sync::Arc;
use vaglio_core::{Cache, Result, prelude::*, serde_json::json};
use vaglio_kernels::duplicates::first_equal;

/// Criterion that scores a subset by −Σ wᵢ, with weights computed from all columns together.
pub(crate) trait ColumnWeighting: Criterion + Copy + PartialEq + 'static {
    /// Whether the scores change with the number of rows, as [`CriterionTraits::counts_rows`] says.
    const COUNTS_ROWS: bool = false;

    /// Whether copies of a column are weighted too; otherwise they get the weight of the first.
    const COUNTS_COPIES: bool = false;

    /// Non-negative weights of some columns, which vary.
    fn weights(&self, design: &Design, columns: &[Feature]) -> Result<Vec<f64>>;

    /// Checks the settings; [`Criterion::check`] also checks the target.
    fn check_weighting(&self, design: &Design) -> Result<()>;

    /// Cost of the weights of this many columns, and of a trial, which sums them.
    fn estimate(&self, design: &Design, extent: &SearchExtent, columns: f64) -> Estimate;

    /// Weights of all columns, computed once per design; 0 for constant ones. Cost O(mn) beside the weights.
    fn cached_weights(&self, design: &Design) -> Result<Arc<ColumnWeights<Self>>> {
        let make = || {
            let members = members(design);
            let columns: Vec<_> = members.iter().map(|&feature| design.column(feature)).collect();
            let places = 0..members.len();
            let first = if Self::COUNTS_COPIES { places.clone().collect() } else { first_equal(&columns) };
            let originals: Vec<Feature> =
                places.clone().filter(|&place| first[place] == place).map(|place| members[place]).collect();
            let mut weights = vec![0.0; design.features()];
            originals
                .iter()
                .zip(self.weights(design, &originals)?)
                .for_each(|(&feature, weight)| weights[feature] = weight);
            places.for_each(|place| weights[members[place]] = weights[members[first[place]]]);
            Ok(ColumnWeights(*self, weights))
        };
        design.session::<Cache<ColumnWeights<Self>>>().get_or_try_make(|known| known.0 == *self, make)
    }
}

/// Column weights under some settings.
#[derive(Clone)]
pub(crate) struct ColumnWeights<C>(C, Vec<f64>);

impl<C> ColumnWeights<C> {
    fn sum(&self, subset: &[Feature]) -> Result<Score> {
        Score::new(0.0 - subset.iter().map(|&feature| self.1[feature]).sum::<f64>()).checked()
    }
}

/// Implements [`Criterion`] by [`ColumnWeighting`].
macro_rules! criteria {
    ($($criterion:path),*) => {$(
        impl Criterion for $criterion {
            /// Scores a subset by the weights of all columns, computed once per design.
            fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
                self.cached_weights(design)?.sum(subset)
            }

            /// Weights of the selected columns.
            fn found(&self, design: &Design, subset: &[Feature]) -> Result<PartOutputs> {
                let known = self.cached_weights(design)?;
                let weight = |&f: &Feature| json!({"column": design.problem().names()[f], "weight": known.1[f]});
                Ok(PartOutputs::new("weights", subset.iter().map(weight).collect::<Vec<_>>()))
            }

            fn traits(&self) -> CriterionTraits {
                CriterionTraits { counts_rows: Self::COUNTS_ROWS, ..CriterionTraits::default() }
            }

            fn check(&self, design: &Design) -> Result<()> {
                self.check_weighting(design)?;
                check(Output::Auto, design)
            }

            fn plan<'d>(&'d self, design: &'d Design, extent: &SearchExtent) -> Plan<'d> {
                let estimate = self.estimate(design, extent, members(design).len() as f64);
                Plan::by_engine(estimate, move || Ok((*self.cached_weights(design)?).clone()))
            }
        }
    )*};
}
criteria!(crate::Fcbf, crate::HitonPc, crate::Qpfs, crate::Spam);
#[cfg(feature = "hsfs")]
criteria!(crate::Hsfs);

impl<C: ColumnWeighting> Evaluator for ColumnWeights<C> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        self.sum(subset)
    }
}

/// Columns that are not constant, whether or not a search may select them.
pub(crate) fn members(design: &Design) -> Vec<Feature> {
    let constant = design.problem().constant();
    (0..design.features()).filter(|feature| constant.binary_search(feature).is_err()).collect()
}
