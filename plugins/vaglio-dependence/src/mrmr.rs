//! Minimum redundancy, maximum relevance: one objective over a measure of pairs of columns.

pub(crate) mod correlation;
mod evaluator;
mod information;
mod pairwise_dependence;

use crate::bins::BinnedData;
use correlation::Correlations;
pub use correlation::Mrmr;
pub use information::MrmrInformation;
pub(crate) use pairwise_dependence::Dependence;
pub use pairwise_dependence::Scheme;
use vaglio_core::{Error, Result, prelude::*};

/// Implements [`Criterion`] by a measure of dependence, and the settings that it takes.
macro_rules! criterion {
    ($criterion:ty, $data:ty $(, $bins:ident)?) => {
        impl Criterion for $criterion {
            /// Scores a subset by definition. Cost O(|S| m (|S| + outputs)), memory O(|S| m).
            fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
                Ok(<$data>::new($(self.$bins,)? design, subset).objective(self.scheme))
            }

            fn traits(&self) -> CriterionTraits {
                CriterionTraits { is_of_subset_alone: true, ..CriterionTraits::default() }
            }

            /// Relevance and redundancy of each column.
            fn found(&self, design: &Design, subset: &[Feature]) -> Result<PartOutputs> {
                Ok(<$data>::new($(self.$bins,)? design, subset).sides(design, subset))
            }

            /// Refuses a bias, which has no spread.
            fn check(&self, design: &Design) -> Result<()> {
                $(self.$bins.check()?;)?
                design.problem().bias().map_or(Ok(()), |bias| Err(Error::without_spread(&design.problem().names()[bias])))
            }

            fn plan<'d>(&'d self, design: &'d Design, extent: &SearchExtent) -> Plan<'d> {
                evaluator::plan(self.scheme, design, extent, move |all| <$data>::new($(self.$bins,)? design, all))
            }
        }
    };
}
criterion!(Mrmr, Correlations);
criterion!(MrmrInformation, BinnedData, bins);
