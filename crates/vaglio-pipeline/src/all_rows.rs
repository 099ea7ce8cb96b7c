//! Products over all rows of a design: those of the search where it has them, else of the chosen columns.

use crate::criteria::{self, Session};
use std::sync::Arc;
use vaglio_core::{Design, Feature};
use vaglio_kernels::Data;
use vaglio_kernels::kfold::{Moments, NormalEquations};

/// What a fit on all rows begins from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitFrom {
    /// The moments of the search, where it computed any.
    Search,
    /// The rows.
    Rows,
}

/// Where products come from.
pub enum Products {
    /// Moments that the search made.
    OfSearch(Arc<Moments>),
    /// Of columns that were read for it.
    Own(Arc<NormalEquations>),
}

impl Products {
    /// Of the columns `subset` and maybe others, that the search or an earlier fit has computed.
    pub fn known(design: &Design, subset: &[Feature], from: FitFrom) -> Option<Self> {
        let session = Session::of(design);
        let has = |products: &Products| products.all_rows().is_some_and(|own| own.has(subset));
        let moments = session.moments().filter(|_| from == FitFrom::Search);
        let of_search = moments.map(Products::OfSearch).filter(has);
        of_search.or_else(|| Some(Products::Own(session.normal_equations.get()?)).filter(has))
    }

    /// The same, made of the rows `data` of the design where they are not known; `None` where they overflow. Cost
    /// O(rows · columns²) then.
    pub fn of(design: &Design, data: &Arc<Data<'_>>, subset: &[Feature], from: FitFrom) -> Option<Self> {
        Products::known(design, subset, from).or_else(|| {
            let intercept = design.readout().is_some_and(|readout| readout.intercept);
            let own = Arc::new(NormalEquations::new(data, subset, intercept).ok()?);
            Session::of(design).normal_equations.set(Arc::clone(&own));
            Some(Products::Own(own))
        })
    }

    /// The moments of all rows, where there are any.
    pub fn all_rows(&self) -> Option<&NormalEquations> {
        match self {
            Products::OfSearch(moments) => moments.normal_equations(),
            Products::Own(own) => Some(own),
        }
    }
}

/// The chosen columns of a design, weighed by its rows: `None` where squares over- or underflow, or where training weighs rows
/// otherwise.
pub(crate) fn chosen_rows<'d>(design: &'d Design, subset: &[Feature]) -> Option<Arc<Data<'d>>> {
    let readout = design.readout().filter(|readout| !readout.balanced)?;
    criteria::chosen_data(design, subset, readout.intercept).ok().map(Arc::new)
}

/// Whether a search of the design has computed moments, in whatever units.
pub(crate) fn has_moments(design: &Design) -> bool {
    Session::of(design.in_units().map_or(design, |(_, scaled)| scaled)).moments().is_some()
}
