//! Criteria that weight every column once: a subset is scored by the sum of its columns' weights.

use serde::Serialize;
use std::sync::Arc;
use vaglio_core::{
    Cache, Criterion, Design, EngineEvaluator, Estimate, Evaluator, Feature, PartOutputs, Plan, Result, Score,
};
use vaglio_kernels::duplicates::first_equal;

/// Criterion that scores a subset by −Σ wᵢ, with weights computed from all columns together.
pub(crate) trait ColumnWeighting: Criterion + Copy + PartialEq + 'static {
    /// Weights of all columns, non-negative; 0 for constant ones.
    fn weights(&self, design: &Design) -> Result<Vec<f64>>;
}

/// Column weights under some settings.
struct ColumnWeights<C>(C, Vec<f64>);

/// Returns the weights, computed once per design.
fn weighed<C: ColumnWeighting>(criterion: &C, design: &Design) -> Result<Arc<ColumnWeights<C>>> {
    let session = design.session::<Cache<ColumnWeights<C>>>();
    if let Some(weighed) = session.get().filter(|known| known.0 == *criterion) {
        return Ok(weighed);
    }
    let weighed = Arc::new(ColumnWeights(*criterion, criterion.weights(design)?));
    session.set(Arc::clone(&weighed));
    Ok(weighed)
}

/// Methods of [`Criterion`] that follow from [`ColumnWeighting`], except its plan.
macro_rules! scored_by_weights {
    () => {
        /// Scores a subset by the weights of all columns, computed once per design.
        fn evaluate(&self, design: &Design, subset: &[vaglio_core::Feature]) -> Result<vaglio_core::Score> {
            $crate::column_weights::evaluate(self, design, subset)
        }

        /// Weights of the selected columns.
        fn found(&self, design: &Design, subset: &[vaglio_core::Feature]) -> Result<vaglio_core::PartOutputs> {
            $crate::column_weights::found(self, design, subset)
        }
    };
}
pub(crate) use scored_by_weights;

pub(crate) fn evaluate<C: ColumnWeighting>(criterion: &C, design: &Design, subset: &[Feature]) -> Result<Score> {
    score(&weighed(criterion, design)?.1, subset)
}

/// Plans trials that sum weights.
pub(crate) fn plan<'d, C: ColumnWeighting>(criterion: &'d C, design: &'d Design, estimate: Estimate) -> Plan<'d> {
    let engine = estimate.engine;
    Plan::by_engine(estimate, move || Ok(EngineEvaluator::new(engine, Sums(weighed(criterion, design)?))))
}

/// Weights of a subset's columns.
pub(crate) fn found<C: ColumnWeighting>(criterion: &C, design: &Design, subset: &[Feature]) -> Result<PartOutputs> {
    let weighed = weighed(criterion, design)?;
    let weight =
        |&feature: &Feature| ColumnWeight { column: design.names()[feature].clone(), weight: weighed.1[feature] };
    Ok(PartOutputs::new("weights", subset.iter().map(weight).collect::<Vec<_>>()))
}

/// Weight of a column.
#[derive(Serialize)]
struct ColumnWeight {
    column: String,
    weight: f64,
}

/// −Σ wᵢ over a subset.
fn score(weights: &[f64], subset: &[Feature]) -> Result<Score> {
    Score::new(0.0 - subset.iter().map(|&feature| weights[feature]).sum::<f64>()).checked()
}

struct Sums<C>(Arc<ColumnWeights<C>>);

impl<C: ColumnWeighting> Evaluator for Sums<C> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        score(&self.0.1, subset)
    }
}

/// Columns that are not constant, whether or not a search may select them.
pub(crate) fn members(design: &Design) -> Vec<Feature> {
    (0..design.features()).filter(|&feature| !design.is_constant(feature)).collect()
}

/// Columns that are not constant, without duplicates.
pub(crate) struct Originals {
    pub features: Vec<Feature>,
    /// For every column the place of its original in `features`; `None` if constant.
    of: Vec<Option<usize>>,
}

impl Originals {
    /// Finds the originals. Cost O(mn).
    pub fn new(design: &Design) -> Self {
        let members = members(design);
        let columns: Vec<_> = members.iter().map(|&feature| design.column(feature)).collect();
        let (mut features, mut of) = (Vec::new(), vec![None; design.features()]);
        for (place, first) in first_equal(&columns).into_iter().enumerate() {
            if first == place {
                of[members[place]] = Some(features.len());
                features.push(members[place]);
            } else {
                of[members[place]] = of[members[first]];
            }
        }
        Originals { features, of }
    }

    /// Weights of all columns; copies get the weights of their originals.
    pub fn spread(&self, weights: &[f64]) -> Vec<f64> {
        self.of.iter().map(|place| place.map_or(0.0, |place| weights[place])).collect()
    }
}
