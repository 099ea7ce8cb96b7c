//! Ranking of columns by what each is alone.

use super::frame::{Frame, Move, blocks_added};
use super::settings::{Blocks, Polish, settings};
use super::swaps;
use super::walk::{Failures, Walk};
use serde::{Deserialize, Serialize};
use vaglio_core::{
    Answer, Choose, Design, Feature, FeatureRef, Outline, Path, Result, Score, SearchContext, SearchStrategy,
    StopReason, Subset,
};

/// Scores every column alone and adds them in that order, the best first.
///
/// What columns tell together plays no part in the order, so that copies of a good column follow it; the score of every
/// step is that of the whole subset. Ties go to the lowest index.
///
/// # Reference
/// I. Guyon, A. Elisseeff, *An introduction to variable and feature selection*, Journal of Machine Learning Research 3
/// (2003); with a criterion of dependence it is the maximum relevance of M. Yamada, J. Tang, J. Lugo-Martinez, et al.,
/// *Ultra high-dimensional nonlinear feature selection for big biological data*, IEEE Transactions on Knowledge and Data
/// Engineering 30 (2018).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rank {
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
    /// Columns that are ranked by their score together and enter together: `one_hot`, or a map from names to lists.
    pub blocks: Option<Blocks>,
    /// `swaps` exchanges one column of the result for another as long as that lowers the score.
    pub polish: Polish,
}

vaglio_core::describe!(
    Search,
    Rank,
    "rank",
    "ranking: score every column alone and add them in that order",
    "search: {kind: rank, max_features: 10, choose: last}"
);

impl Rank {
    /// Up to `max_features` columns, otherwise as by default.
    pub fn new(max_features: usize) -> Self {
        Rank { max_features: Some(max_features), ..Rank::default() }
    }
}

#[typetag::serde(name = "rank")]
impl SearchStrategy for Rank {
    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let frame = settings!(self).frame(context.design())?;
        let mut walk = Walk::new(&frame, context, &self.outline(context.design()))?;
        let ranking = ranking(&frame, &mut context.subset)?;
        let stop_reason = match walk.enter_forced(context)? {
            Some(reason) => reason,
            None => enter(&ranking, &mut walk, context)?,
        };
        walk.finish(context, stop_reason)
    }

    fn check(&self, design: &Design) -> Result<()> {
        settings!(self).frame(design).map(drop)
    }

    fn outline(&self, design: &Design) -> Outline {
        let Ok(frame) = settings!(self).frame(design) else { return Outline::forward(0, 0) };
        let forward = Outline::forward(frame.columns, frame.most);
        let trials = (frame.columns + forward.largest) as f64;
        swaps::outlined(&frame, Outline { trials, ..forward })
    }
}

/// The free units with the score of each alone, the best first; those that score +∞ are left out.
fn ranking(frame: &Frame, evaluator: &mut Subset<'_>) -> Result<Vec<(usize, Score)>> {
    let (alone, blocks): (Vec<usize>, Vec<usize>) =
        frame.free().into_iter().partition(|&unit| frame.units[unit].len() == 1);
    let columns: Vec<Feature> = alone.iter().flat_map(|&unit| frame.units[unit].iter().copied()).collect();
    let mut scores = vec![Score::WORST; columns.len()];
    if !columns.is_empty() {
        evaluator.score_additions(&columns, &mut scores)?;
    }
    let together: Vec<&[Feature]> = blocks.iter().map(|&block| &frame.units[block][..]).collect();
    scores.extend(blocks_added(evaluator, &together)?);
    let mut ranking: Vec<(usize, Score)> = alone.into_iter().chain(blocks).zip(scores).collect();
    ranking.retain(|(_, score)| score.loss < f64::INFINITY);
    ranking.sort_by(|(a, x), (b, y)| x.loss.total_cmp(&y.loss).then(a.cmp(b)));
    Ok(ranking)
}

/// Adds the units in the order of the ranking, but for those that `max_features` has no room for.
fn enter(ranking: &[(usize, Score)], walk: &mut Walk<'_>, context: &mut SearchContext<'_>) -> Result<StopReason> {
    let mut failures = Failures::new(walk.frame);
    let mut best = walk.entries.iter().map(|e| e.score.loss).fold(walk.empty.loss, f64::min);
    let mut left_out = false;
    for (place, &(unit, alone)) in ranking.iter().enumerate() {
        if walk.size >= walk.frame.most {
            return Ok(StopReason::MaxFeatures);
        }
        if walk.size + walk.frame.units[unit].len() > walk.frame.most {
            left_out = true;
            continue;
        }
        let equal = ranking[place + 1..].iter().take_while(|(_, score)| score.loss == alone.loss);
        let tied = equal.map(|&(other, _)| walk.frame.units[other][0]).collect();
        let score = walk.frame.addition(&mut context.subset, unit)?;
        let counted = walk.size >= walk.frame.least.unwrap_or(0);
        if let Some(reason) = failures.stop(best - score.loss, counted) {
            return Ok(reason);
        }
        best = best.min(score.loss);
        if let Answer::Stop(reason) = walk.add(context, Move { unit, score, tied })? {
            return Ok(reason);
        }
    }
    let full = left_out || walk.size >= walk.frame.most;
    Ok(if full { StopReason::MaxFeatures } else { StopReason::NoCandidates })
}
