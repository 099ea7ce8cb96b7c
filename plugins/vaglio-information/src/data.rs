//! Columns and targets as fits see them, with products that all λ share.

use std::sync::Arc;
use vaglio_core::{Cache, Design, Feature};
use vaglio_kernels::sums::sum_of;
use vaglio_kernels::{Data, DataInput, GramCache, Level};

/// Columns and targets, rows scaled by the roots of their weights and centered if there is an intercept.
pub(crate) struct CenteredData<'d> {
    rows: Data<'d>,
    pub targets: Vec<Vec<f64>>,
    /// xᵢᵀyₒ, outputs × columns.
    pub along: Vec<Arc<[f64]>>,
    /// yₒᵀyₒ.
    pub target_squares: Vec<f64>,
}

/// The products of a design that were computed so far.
#[derive(Default)]
struct KnownProducts(Cache<GramCache>);

impl<'d> CenteredData<'d> {
    /// Data of a design; `None` if squares over- or underflow. Cost O(mn).
    pub fn from_design(design: &'d Design) -> Option<Arc<Self>> {
        let (session, columns) = (design.session::<KnownProducts>(), design.columns());
        let intercept = design.readout().is_some_and(|readout| readout.intercept);
        // Nothing is left of the other columns.
        let is_left =
            |feature: Feature| !columns.is_constant(feature) || !intercept && columns.column(feature).get(0) != 0.0;
        let targets: Vec<Vec<f64>> = design.targets().rows().into_iter().map(|y| y.to_vec()).collect();
        let input = DataInput {
            level: Level::best(),
            entries: columns.into(),
            active: (0..design.features()).map(is_left).collect(),
            targets: &targets.iter().map(Vec::as_slice).collect::<Vec<_>>(),
            weights: design.weights(),
            intercept,
            gram: session.0.get(),
        };
        let rows = Data::from_input(input).ok()?;
        session.0.set(Arc::clone(rows.gram()));
        let targets = rows.fitted_targets();
        let along = (0..targets.len()).map(|output| rows.with_target(output)).collect();
        let target_squares = targets.iter().map(|y| dot(y, y)).collect();
        Some(Arc::new(CenteredData { rows, targets, along, target_squares }))
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.rows.columns()
    }

    /// xᵢᵀxᵢ.
    pub fn squares(&self, feature: Feature) -> f64 {
        self.rows.squares(feature)
    }

    /// Some columns. Cost O(m) each.
    pub fn columns(&self, features: &[Feature]) -> Vec<Vec<f64>> {
        let mut columns = self.rows.fitted_columns(features);
        let nothing = columns.iter_mut().zip(features).filter(|(_, feature)| !self.rows.is_active(**feature));
        nothing.for_each(|(column, _)| column.fill(0.0));
        columns
    }

    /// xᵢᵀx of every column i with each of some, cached. Cost O(mn) for each at first use.
    pub fn products(&self, features: &[Feature]) -> Vec<Arc<[f64]>> {
        let is_active = |feature: &&Feature| self.rows.is_active(**feature);
        let active: Vec<Feature> = features.iter().filter(is_active).copied().collect();
        let mut found = self.rows.with_columns(&active, Vec::new).into_iter();
        let of = |feature: &Feature| if is_active(&feature) { found.next() } else { None };
        let none = || vec![0.0; self.len()].into();
        features.iter().map(of).map(|products| products.unwrap_or_else(none)).collect()
    }
}

/// Σ xⱼ yⱼ, in eight parallel sums.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    sum_of(x, y, |x, y| x * y)
}
