//! Floating selection: additions, with removals between them.

use super::frame::Frame;
use super::settings::{Blocks, Polish, settings};
use super::swaps;
use super::walk::{Failures, Walk};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use vaglio_core::{
    Answer, Choose, Design, Feature, FeatureRef, Outline, Path, Result, SearchContext, SearchStrategy, StopReason,
};

/// Adds the best column, and takes back what has become superfluous before it adds the next.
///
/// An addition must lower the score by ε, the `tolerance`. After it the column that is missed least is removed as long
/// as that raises the score by at most half of the gain that last brought the present size by an addition, and leads to
/// a subset that the walk has not seen; at least one column stays, so the first addition is made whatever it gains. The
/// search ends when no addition gains ε, or at
/// `max_features` when nothing is to be removed there. After ten times as many removals as the largest subset has
/// columns it only adds.
///
/// # Reference
/// T. Zhang, *Adaptive forward-backward greedy algorithm for learning sparse representations*, IEEE Transactions on
/// Information Theory 57 (2011); for regularised least squares T. Pahikkala, A. Airola, T. Salakoski, *Feature selection
/// for regularized least-squares: new computational short-cuts and fast algorithmic implementations*, MLSP 2010.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Floating {
    /// The largest subset; all candidates by default.
    pub max_features: Option<usize>,
    /// The smallest subset that may be the result, and that no tolerance stops short of.
    pub min_features: Option<usize>,
    /// ε, the drop of the score that an addition must reach; `null` never stops for it. 1e-6 by default.
    pub tolerance: Option<f64>,
    /// Additions in a row without that drop that are made before the search stops.
    pub patience: Option<usize>,
    /// Columns that enter first and stay, in this order, by name or index; the others of their blocks enter with them.
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

impl Default for Floating {
    fn default() -> Self {
        Floating {
            max_features: None,
            min_features: None,
            tolerance: Some(1e-6),
            patience: None,
            forced: Vec::new(),
            excluded: Vec::new(),
            choose: Choose::default(),
            blocks: None,
            polish: Polish::default(),
        }
    }
}

vaglio_core::describe!(
    Search,
    Floating,
    "floating",
    "forward selection that removes what has become superfluous after every addition",
    "search: {kind: floating, max_features: 10, tolerance: 1e-6}"
);

impl Floating {
    /// Up to `max_features` columns, otherwise as by default.
    pub fn new(max_features: usize) -> Self {
        Floating { max_features: Some(max_features), ..Floating::default() }
    }
}

#[typetag::serde(name = "floating")]
impl SearchStrategy for Floating {
    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let frame = settings!(self).frame(context.design())?;
        let mut walk = Walk::new(&frame, context, &self.outline(context.design()))?;
        let mut float = Float::new(&walk, &frame);
        let stop_reason = match walk.enter_forced(context)? {
            Some(reason) => reason,
            None => float.run(&mut walk, context)?,
        };
        walk.finish(context, stop_reason)
    }

    fn check(&self, design: &Design) -> Result<()> {
        settings!(self).frame(design).map(drop)
    }

    /// The steps are what the number of removals allows; the trials are an estimate, three times those of additions
    /// alone.
    fn outline(&self, design: &Design) -> Outline {
        let Ok(frame) = settings!(self).frame(design) else { return Outline::forward(0, 0) };
        let forward = Outline::forward(frame.columns, frame.most);
        let steps = forward.largest + 2 * most_removals(&frame);
        swaps::outlined(&frame, Outline { steps, trials: 3.0 * forward.trials, ..forward })
    }
}

fn most_removals(frame: &Frame) -> usize {
    10 * frame.largest()
}

/// What decides the next step.
struct Float {
    score: f64,
    /// By size, what the addition that last reached it gained.
    gains: Vec<f64>,
    /// Every subset of the walk, sorted.
    seen: BTreeSet<Vec<Feature>>,
    removals: usize,
    failures: Failures,
}

impl Float {
    fn new(walk: &Walk<'_>, frame: &Frame) -> Self {
        let gains = vec![f64::NEG_INFINITY; frame.columns + 1];
        let failures = Failures::new(frame);
        Float { score: walk.empty.loss, gains, seen: BTreeSet::new(), removals: 0, failures }
    }

    fn run(&mut self, walk: &mut Walk<'_>, context: &mut SearchContext<'_>) -> Result<StopReason> {
        if let Some(forced) = walk.steps.last() {
            self.score = forced.score.loss;
            self.seen.insert(sorted(context.subset.selected()));
        }
        loop {
            let chosen = match walk.best_addition(context)? {
                Ok(chosen) => chosen,
                Err(reason) => return Ok(reason),
            };
            let gain = self.score - chosen.score.loss;
            if let Some(reason) = self.failures.stop(gain, walk.size >= walk.frame.least.unwrap_or(0).max(1)) {
                return Ok(reason);
            }
            self.score = chosen.score.loss;
            let answer = walk.add(context, chosen)?;
            self.gains[walk.size] = gain;
            self.seen.insert(sorted(context.subset.selected()));
            if let Answer::Stop(reason) = answer {
                return Ok(reason);
            }
            if let Some(reason) = self.take_back(walk, context)? {
                return Ok(reason);
            }
        }
    }

    /// Removals while they are cheap; the reason if the observer stops them.
    fn take_back(&mut self, walk: &mut Walk<'_>, context: &mut SearchContext<'_>) -> Result<Option<StopReason>> {
        while self.removals < most_removals(walk.frame) {
            let removable = walk.removable(1);
            let best = walk.best_removal(context, &removable)?;
            let Some(chosen) = best else { return Ok(None) };
            let leaving = &walk.frame.units[chosen.unit];
            let rest: Vec<Feature> =
                context.subset.selected().iter().copied().filter(|f| !leaving.contains(f)).collect();
            let cheap = chosen.score.loss - self.score <= 0.5 * self.gains[walk.size];
            if !cheap || !self.seen.insert(sorted(&rest)) {
                return Ok(None);
            }
            self.score = chosen.score.loss;
            self.removals += 1;
            if let Answer::Stop(reason) = walk.remove(context, chosen)? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }
}

fn sorted(subset: &[Feature]) -> Vec<Feature> {
    let mut sorted = subset.to_vec();
    sorted.sort_unstable();
    sorted
}
