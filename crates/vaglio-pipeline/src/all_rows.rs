//! Cross products over all rows of a design, taken from the search if possible, else computed for the chosen columns.

use std::sync::Arc;
use vaglio_core::{Design, Feature};
use vaglio_kernels::Data;
use vaglio_kernels::kfold::NormalEquations;
use vaglio_validate::{Session, chosen_data};

/// Source of the cross products for a fit on all rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitFrom {
    /// The moments of the search, if it computed any.
    Search,
    /// The rows of the table.
    Rows,
}

/// Cached normal equations of all rows that cover `subset`, from the search or from an earlier fit.
pub fn known_equations(design: &Design, subset: &[Feature], from: FitFrom) -> Option<Arc<NormalEquations>> {
    let session = Session::for_design(design);
    let has = |known: &Arc<NormalEquations>| known.has(subset);
    let moments = session.moments().filter(|_| from == FitFrom::Search);
    let of_search = moments.and_then(|moments| moments.normal_equations().cloned()).filter(has);
    of_search.or_else(|| session.normal_equations.get().filter(has))
}

/// Like [`known_equations`], but computes missing products from `data`, the rows of the design. Cost
/// O(rows · columns²). Returns `None` if the products overflow.
pub(crate) fn equations(
    design: &Design,
    data: &Arc<Data<'_>>,
    subset: &[Feature],
    from: FitFrom,
) -> Option<Arc<NormalEquations>> {
    known_equations(design, subset, from).or_else(|| {
        let own = Arc::new(NormalEquations::new(data, subset).ok()?);
        Session::for_design(design).normal_equations.set(Arc::clone(&own));
        Some(own)
    })
}

/// The chosen columns with the row weights of the design. Returns `None` if: squares over- or underflow; training uses
/// other row weights (balanced classes).
pub(crate) fn chosen_rows<'d>(design: &'d Design, subset: &[Feature]) -> Option<Arc<Data<'d>>> {
    let readout = design.readout().filter(|readout| !readout.balanced)?;
    chosen_data(design, subset, readout.intercept).ok().map(Arc::new)
}

/// Whether a search of the design has computed moments, rescaled or not.
pub(crate) fn has_moments(design: &Design) -> bool {
    Session::for_design(design.in_units().map_or(design, |(_, scaled)| scaled)).moments().is_some()
}
