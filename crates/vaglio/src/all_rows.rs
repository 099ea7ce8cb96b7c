//! Products over all rows of a design: those of the search where it has them, else of the chosen columns.

use crate::criteria;
use std::sync::Arc;
use vaglio_core::{Design, Feature};
use vaglio_kernels::Data;
use vaglio_kernels::kfold::{Moments, NormalEquations};

/// Where products come from.
pub(crate) enum Products {
    /// Moments that the search made.
    OfSearch(Arc<Moments>),
    /// Of columns that were read for it.
    Own(Arc<NormalEquations>),
}

impl Products {
    /// Of the columns `subset` and maybe others: kept by a search by `engine`, whose moments they are, or by an earlier fit.
    pub fn known(design: &Design, subset: &[Feature], engine: Option<&str>) -> Option<Self> {
        let has = |products: &Products| products.all_rows().is_some_and(|own| own.has(subset));
        let moments = engine.and_then(|engine| criteria::moments_of_search(design, engine));
        let of_search = moments.map(Products::OfSearch).filter(has);
        of_search.or_else(|| Some(Products::Own(design.kept::<NormalEquations>()?)).filter(has))
    }

    /// The same, made of the rows `data` of the design where they are not known; `None` where they overflow. Cost
    /// O(rows · columns²) then.
    pub fn of(design: &Design, data: &Arc<Data<'_>>, subset: &[Feature], engine: Option<&str>) -> Option<Self> {
        Products::known(design, subset, engine).or_else(|| {
            let intercept = design.readout().is_some_and(|readout| readout.intercept);
            let own = Arc::new(NormalEquations::new(data, subset, intercept).ok()?);
            design.keep(Arc::clone(&own));
            Some(Products::Own(own))
        })
    }

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
