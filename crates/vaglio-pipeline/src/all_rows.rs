//! Cross products over all rows of a design, taken from the search if possible, else computed for the chosen columns.

use crate::criteria::{self, Session};
use std::sync::Arc;
use vaglio_core::{Design, Feature};
use vaglio_kernels::Data;
use vaglio_kernels::kfold::{Moments, NormalEquations};

/// Source of the cross products for a fit on all rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitFrom {
    /// The moments of the search, if it computed any.
    Search,
    /// The rows of the table.
    Rows,
}

/// Cross products of columns, by source.
pub enum CrossProducts {
    /// Moments computed by the search.
    OfSearch(Arc<Moments>),
    /// Normal equations computed for these columns alone.
    Own(Arc<NormalEquations>),
}

impl CrossProducts {
    /// Cached products that cover `subset`, from the search or from an earlier fit.
    pub fn known(design: &Design, subset: &[Feature], from: FitFrom) -> Option<Self> {
        let session = Session::for_design(design);
        let has = |products: &CrossProducts| products.all_rows().is_some_and(|own| own.has(subset));
        let moments = session.moments().filter(|_| from == FitFrom::Search);
        let of_search = moments.map(CrossProducts::OfSearch).filter(has);
        of_search.or_else(|| Some(CrossProducts::Own(session.normal_equations.get()?)).filter(has))
    }

    /// Like [`CrossProducts::known`], but computes missing products from `data`, the rows of the design. Cost
    /// O(rows · columns²). Returns `None` if the products overflow.
    pub fn new(design: &Design, data: &Arc<Data<'_>>, subset: &[Feature], from: FitFrom) -> Option<Self> {
        CrossProducts::known(design, subset, from).or_else(|| {
            let intercept = design.readout().is_some_and(|readout| readout.intercept);
            let own = Arc::new(NormalEquations::new(data, subset, intercept).ok()?);
            Session::for_design(design).normal_equations.set(Arc::clone(&own));
            Some(CrossProducts::Own(own))
        })
    }

    /// Normal equations of all rows, if available.
    pub fn all_rows(&self) -> Option<&NormalEquations> {
        match self {
            CrossProducts::OfSearch(moments) => moments.normal_equations(),
            CrossProducts::Own(own) => Some(own),
        }
    }
}

/// The chosen columns with the row weights of the design. Returns `None` if: squares over- or underflow; training uses
/// other row weights (balanced classes).
pub(crate) fn chosen_rows<'d>(design: &'d Design, subset: &[Feature]) -> Option<Arc<Data<'d>>> {
    let readout = design.readout().filter(|readout| !readout.balanced)?;
    criteria::chosen_data(design, subset, readout.intercept).ok().map(Arc::new)
}

/// Whether a search of the design has computed moments, rescaled or not.
pub(crate) fn has_moments(design: &Design) -> bool {
    Session::for_design(design.in_units().map_or(design, |(_, scaled)| scaled)).moments().is_some()
}
