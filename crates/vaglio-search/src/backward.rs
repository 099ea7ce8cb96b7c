//! Backward elimination.

use super::settings::{Blocks, Polish, settings};
use super::swaps;
use super::walk::{Failures, Walk};
use serde::{Deserialize, Serialize};
use vaglio_core::{
    Answer, Choose, Design, FeatureRef, Outline, Path, Result, Score, SearchContext, SearchStrategy, StopReason,
};

/// Starts from all columns and removes the one that the score misses least, again and again.
///
/// The path opens with the full set, to which no step leads. With `min_features` the number of columns nothing is
/// removed: the full set is scored alone, which chooses λ without a selection.
///
/// # Reference
/// T. Marill, D. Green, *On the effectiveness of receptors in recognition systems*, IEEE Transactions on Information
/// Theory 9 (1963).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Backward {
    /// The largest subset that may be the result; removals go on until it is reached. All candidates by default.
    pub max_features: Option<usize>,
    /// The smallest subset, at which the search stops; 1 by default.
    pub min_features: Option<usize>,
    /// The drop of the score that a removal must reach, below 0 for a rise that is allowed; `null` never stops for it.
    pub tolerance: Option<f64>,
    /// Removals in a row without that drop that are made before the search stops.
    pub patience: Option<usize>,
    /// Columns that never leave, by name or index; the others of their blocks do not either.
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
    Backward,
    "backward",
    "backward elimination: from all columns, remove the one that is missed least, again and again",
    "search: {kind: backward, min_features: 5, choose: best}"
);

impl Backward {
    /// Down to `min_features` columns, otherwise as by default.
    pub fn new(min_features: usize) -> Self {
        Backward { min_features: Some(min_features), ..Backward::default() }
    }
}

#[typetag::serde(name = "backward")]
impl SearchStrategy for Backward {
    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let frame = settings!(self).frame(context.design())?;
        let mut walk = Walk::new(&frame, context, &self.outline(context.design()))?;
        let stop_reason = match frame.units.is_empty() {
            true => StopReason::NoCandidates,
            false => {
                let full = walk.fill(context)?;
                shrink(&mut walk, context, full)?
            }
        };
        walk.finish(context, stop_reason)
    }

    fn check(&self, design: &Design) -> Result<()> {
        settings!(self).frame(design).map(drop)
    }

    fn outline(&self, design: &Design) -> Outline {
        let Ok(frame) = settings!(self).frame(design) else { return Outline::backward(0, 0) };
        let least = frame.least.unwrap_or(1).max(frame.forced_columns()).min(frame.columns);
        swaps::outlined(&frame, Outline::backward(frame.columns, least))
    }
}

fn shrink(walk: &mut Walk<'_>, context: &mut SearchContext<'_>, full: Score) -> Result<StopReason> {
    let mut failures = Failures::new(walk.frame);
    let mut before = full.loss;
    loop {
        let removable = walk.removable(walk.frame.least.unwrap_or(1).max(1));
        if removable.is_empty() {
            return Ok(StopReason::MinFeatures);
        }
        let best = walk.best_removal(context, &removable)?;
        let Some(chosen) = best else { return Ok(StopReason::NoCandidates) };
        if let Some(reason) = failures.stop(before - chosen.score.loss, walk.size <= walk.frame.most) {
            return Ok(reason);
        }
        before = chosen.score.loss;
        if let Answer::Stop(reason) = walk.remove(context, chosen)? {
            return Ok(reason);
        }
    }
}
