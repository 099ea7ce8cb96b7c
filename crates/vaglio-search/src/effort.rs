//! Work and memory of a search.

use vaglio_core::Estimate;

/// Cost of a search in addition to the scores of its criterion.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effort {
    /// Floating-point operations, at least; the rest depends on the data.
    pub flops: f64,
    /// Peak memory in bytes.
    pub bytes: f64,
}

impl Effort {
    /// Adds the search's cost to a criterion's estimate.
    pub fn beside(self, estimate: Estimate) -> Estimate {
        Estimate { flops: estimate.flops + self.flops, bytes: estimate.bytes + self.bytes, ..estimate }
    }
}
