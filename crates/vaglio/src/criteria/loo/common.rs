//! What all evaluators of one search share.

use crate::criteria::balance;
use crate::criteria::kernel::{kernel_data, scorer, weighing};
use std::sync::Arc;
use vaglio_core::{Classes, Design, Loss, Result};
use vaglio_kernels::loo::Basis;
use vaglio_kernels::{Data, Scorer};

/// Rows that are left out of the same states.
pub(super) struct Part<'d> {
    pub data: Arc<Data<'d>>,
    /// Of these rows alone, from residuals that are scaled as in `data`.
    pub scorer: Scorer,
}

/// The rows, in parts that have states of their own, and the loss.
pub(super) struct Common<'d> {
    pub parts: Vec<Part<'d>>,
    /// Of all rows.
    pub scorer: Scorer,
    pub lambdas: Vec<f64>,
    /// Whether all rows are left out of one state, whose weights are those of the loss.
    pub is_whole: bool,
    /// Whether bounds may leave candidates untried.
    pub bounded: bool,
}

/// Parts beyond which leaving rows out one by one is not worth states of their own.
const MOST_PARTS: usize = 32;

/// The parts of the rows, where these are few.
pub(super) fn parts_of(design: &Design, classes: &Classes) -> Option<Vec<balance::Part>> {
    balance::left_out(design, classes, MOST_PARTS)
}

impl<'d> Common<'d> {
    /// `None` where a balanced readout would need too many states.
    pub fn new(design: &'d Design, loss: Loss, lambdas: &[f64], intercept: bool) -> Result<Option<Self>> {
        let data = kernel_data(design, intercept)?;
        let scorer = scorer(design, Arc::clone(data.targets()), loss, None);
        let bounded = loss == Loss::Squared && design.decisions().is_none();
        let lambdas = lambdas.to_vec();
        let Some(classes) = balance::classes_of(design) else {
            let parts = vec![Part { data: Arc::new(data), scorer: scorer.clone() }];
            return Ok(Some(Common { parts, scorer, lambdas, is_whole: true, bounded }));
        };
        let Some(parts) = parts_of(design, &classes) else { return Ok(None) };
        let part = |part: &balance::Part| -> Result<Part<'d>> {
            let data = Arc::new(weighing(design, Some(&part.weights), intercept)?);
            Ok(Part { scorer: scorer.of_part(data.targets(), |row| part.rows[row]), data })
        };
        let parts = parts.iter().map(part).collect::<Result<Vec<_>>>()?;
        Ok(Some(Common { parts, scorer, lambdas, is_whole: false, bounded: false }))
    }

    /// The states of a subset as if they had just been built, for each λ one of every part.
    pub fn bases(&self, subset: &[usize]) -> Vec<Basis<'d>> {
        let build = |&lambda: &f64| {
            self.parts.iter().map(move |part| {
                let mut built = Basis::new(Arc::clone(&part.data), lambda);
                subset.iter().for_each(|&feature| built.add(feature));
                built
            })
        };
        self.lambdas.iter().flat_map(build).collect()
    }

    /// The columns and targets; their weights are those of the first part.
    pub fn data(&self) -> &Data<'d> {
        &self.parts[0].data
    }

    /// The scorer of every state, in their order.
    pub fn scorers(&self) -> impl Iterator<Item = &Scorer> {
        self.parts.iter().map(|part| &part.scorer).cycle()
    }
}
