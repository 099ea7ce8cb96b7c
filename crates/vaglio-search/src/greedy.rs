//! Forward selection.

use super::settings::{Blocks, Polish, settings};
use super::swaps;
use super::walk::{Failures, Walk};
use serde::{Deserialize, Serialize};
use vaglio_core::{
    Answer, Choose, Design, FeatureRef, Outline, Path, Result, SearchContext, SearchStrategy, StopReason,
};

/// Adds the column that lowers the score most, again and again.
///
/// # Reference
/// T. Pahikkala, A. Airola, T. Salakoski, *Linear time feature selection for regularized least-squares*,
/// arXiv:1003.3570, algorithm 3.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Greedy {
    /// The largest subset; all candidates by default.
    pub max_features: Option<usize>,
    /// The smallest subset that may be the result, and that no tolerance stops short of.
    pub min_features: Option<usize>,
    /// The drop of the best score so far that a step must reach; `null` never stops for it.
    pub tolerance: Option<f64>,
    /// Steps in a row without that drop that are taken before the search stops.
    pub patience: Option<usize>,
    /// Columns that enter first, in this order, by name or index; the others of their blocks enter with them.
    pub forced: Vec<FeatureRef>,
    /// Columns that never enter, by name or index; the others of their blocks do not either.
    pub excluded: Vec<FeatureRef>,
    /// Which size is the result.
    pub choose: Choose,
    /// Columns that enter and leave together: `one_hot`, or a map from names to lists of columns.
    pub blocks: Option<Blocks>,
    /// `swaps` exchanges one column of the result for another as long as that lowers the score.
    pub polish: Polish,
}

vaglio_core::describe!(
    Search,
    Greedy,
    "greedy",
    "forward selection: add the column that lowers the score most, again and again",
    "search: {kind: greedy, max_features: 10, choose: best}"
);

impl Greedy {
    /// Up to `max_features` columns, otherwise as by default.
    pub fn new(max_features: usize) -> Self {
        Greedy { max_features: Some(max_features), ..Greedy::default() }
    }
}

#[typetag::serde(name = "greedy")]
impl SearchStrategy for Greedy {
    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let frame = settings!(self).frame(context.design())?;
        let mut walk = Walk::new(&frame, context, &self.outline(context.design()))?;
        let stop_reason = match walk.enter_forced(context)? {
            Some(reason) => reason,
            None => forward(&mut walk, context)?,
        };
        walk.finish(context, stop_reason)
    }

    fn check(&self, design: &Design) -> Result<()> {
        settings!(self).frame(design).map(drop)
    }

    fn outline(&self, design: &Design) -> Outline {
        let Ok(frame) = settings!(self).frame(design) else { return Outline::forward(0, 0) };
        swaps::outlined(&frame, Outline::forward(frame.columns, frame.most))
    }
}

fn forward(walk: &mut Walk<'_>, context: &mut SearchContext<'_>) -> Result<StopReason> {
    let mut failures = Failures::new(walk.frame);
    let mut best = walk.entries.iter().map(|e| e.score.loss).fold(walk.empty.loss, f64::min);
    loop {
        let chosen = match walk.best_addition(context)? {
            Ok(chosen) => chosen,
            Err(reason) => return Ok(reason),
        };
        let counted = walk.size >= walk.frame.least.unwrap_or(0);
        if let Some(reason) = failures.stop(best - chosen.score.loss, counted) {
            return Ok(reason);
        }
        best = best.min(chosen.score.loss);
        if let Answer::Stop(reason) = walk.add(context, chosen)? {
            return Ok(reason);
        }
    }
}
