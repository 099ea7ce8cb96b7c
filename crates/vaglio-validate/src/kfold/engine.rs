//! What the engines of k-fold cross-validation have in common: trials of every change of a subset, for each λ.

use crate::fits::Residuals;
use crate::settle::Outcome;
use vaglio_core::{Feature, Result};

/// The engines, by the identifiers of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Moments of the folds.
    Moments,
    /// Rows held out.
    HoldOut,
    /// Each subset decomposed.
    Decomposition,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Moments => "primal",
            Kind::HoldOut => "dual",
            Kind::Decomposition => crate::decomposed::ENGINE,
        }
    }
}

/// The states of a subset, each made when it is first needed, and the trials of its changes. Columns are not constant.
pub(super) trait FoldEngine: Send {
    /// The outcomes of the subset, one for each λ; `None` where no state tells them.
    fn current(&mut self, subset: &[Feature]) -> Result<Option<Vec<Outcome>>>;

    /// The outcomes with each candidate added: λ × candidates.
    fn additions(&mut self, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<Outcome>>;

    /// Whether additions that were tried are no part of what follows, so that [`FoldEngine::skip_additions`] does for them.
    fn can_skip_additions(&self) -> bool {
        false
    }

    /// Makes what trying additions would have made, of which `few` are the first, but for what is computed alike later.
    fn skip_additions(&mut self, _subset: &[Feature], _few: &[Feature]) {}

    /// The outcomes with each candidate removed: λ × candidates.
    fn removals(&mut self, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<Outcome>>;

    /// The states follow an addition.
    fn add(&mut self, feature: Feature);

    /// The states follow a removal; whether one of them was built anew.
    fn remove(&mut self, feature: Feature) -> bool;

    /// No state is left.
    fn reset(&mut self);

    /// What tells how the loss spreads over the folds of each round, for the λ at a place, where a state tells the loss.
    fn spread(&mut self, subset: &[Feature], lambda: usize) -> Result<Vec<Spread>>;

    /// The root of a depth-first search of a subset with any of the columns `later`.
    fn tree(&mut self, subset: &[Feature], later: &[Feature]) -> Box<dyn Node + '_>;
}

/// A node of a depth-first search: a subset, and the columns that may follow.
pub(super) trait Node {
    /// The outcomes of the subset, one for each λ; `None` where no state tells them.
    fn current(&mut self) -> Option<Vec<Outcome>>;

    /// The outcomes with the later column of each place added: λ × places.
    fn additions(&mut self, places: &[usize]) -> Vec<Vec<Outcome>>;

    /// The node with the later column at `place` added; the columns after it may follow.
    fn child(&mut self, place: usize) -> Box<dyn Node + '_>;
}

/// From what the spread of a loss over folds is computed.
pub(super) enum Spread {
    /// Sums of squared errors of each fold.
    Folds(Vec<f64>),
    Residuals(Residuals),
}

/// The engines of several rounds: outcomes are means over them.
pub(super) struct EveryRound<'d> {
    pub engines: Vec<Box<dyn FoldEngine + 'd>>,
    /// How much each counts, where they do not count alike.
    pub shares: Option<Vec<f64>>,
}

/// Trials, λ × subsets, of every round made one.
fn means(of_rounds: &[Vec<Vec<Outcome>>], shares: Option<&[f64]>) -> Vec<Vec<Outcome>> {
    let Some(first) = of_rounds.first() else { return Vec::new() };
    let mean =
        |l: usize, k: usize| Outcome::mean(&of_rounds.iter().map(|round| round[l][k]).collect::<Vec<_>>(), shares);
    first.iter().enumerate().map(|(l, of_lambda)| (0..of_lambda.len()).map(|k| mean(l, k)).collect()).collect()
}

impl FoldEngine for EveryRound<'_> {
    fn current(&mut self, subset: &[Feature]) -> Result<Option<Vec<Outcome>>> {
        let of_rounds: Vec<_> = self.engines.iter_mut().map(|engine| engine.current(subset)).collect::<Result<_>>()?;
        Ok(of_one(of_rounds, self.shares.as_deref()))
    }

    fn additions(&mut self, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<Outcome>> {
        let of_rounds: Vec<_> = self.engines.iter_mut().map(|engine| engine.additions(subset, candidates)).collect();
        means(&of_rounds, self.shares.as_deref())
    }

    fn can_skip_additions(&self) -> bool {
        self.engines.iter().all(|engine| engine.can_skip_additions())
    }

    fn skip_additions(&mut self, subset: &[Feature], few: &[Feature]) {
        self.engines.iter_mut().for_each(|engine| engine.skip_additions(subset, few));
    }

    fn removals(&mut self, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<Outcome>> {
        let of_rounds: Vec<_> = self.engines.iter_mut().map(|engine| engine.removals(subset, candidates)).collect();
        means(&of_rounds, self.shares.as_deref())
    }

    fn add(&mut self, feature: Feature) {
        self.engines.iter_mut().for_each(|engine| engine.add(feature));
    }

    fn remove(&mut self, feature: Feature) -> bool {
        self.engines.iter_mut().fold(false, |rebuilt, engine| rebuilt | engine.remove(feature))
    }

    fn reset(&mut self) {
        self.engines.iter_mut().for_each(|engine| engine.reset());
    }

    fn spread(&mut self, subset: &[Feature], lambda: usize) -> Result<Vec<Spread>> {
        let of_rounds = self.engines.iter_mut().map(|engine| engine.spread(subset, lambda));
        Ok(of_rounds.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn tree(&mut self, subset: &[Feature], later: &[Feature]) -> Box<dyn Node + '_> {
        let nodes = self.engines.iter_mut().map(|engine| engine.tree(subset, later)).collect();
        Box::new(NodeOfRounds { nodes, shares: self.shares.as_deref() })
    }
}

/// The same node of every round.
struct NodeOfRounds<'e> {
    nodes: Vec<Box<dyn Node + 'e>>,
    shares: Option<&'e [f64]>,
}

impl Node for NodeOfRounds<'_> {
    fn current(&mut self) -> Option<Vec<Outcome>> {
        of_one(self.nodes.iter_mut().map(|node| node.current()).collect(), self.shares)
    }

    fn additions(&mut self, places: &[usize]) -> Vec<Vec<Outcome>> {
        means(&self.nodes.iter_mut().map(|node| node.additions(places)).collect::<Vec<_>>(), self.shares)
    }

    fn child(&mut self, place: usize) -> Box<dyn Node + '_> {
        let nodes = self.nodes.iter_mut().map(|node| node.child(place)).collect();
        Box::new(NodeOfRounds { nodes, shares: self.shares })
    }
}

/// The outcomes of one subset for each λ, where every round knows them.
fn of_one(of_rounds: Vec<Option<Vec<Outcome>>>, shares: Option<&[f64]>) -> Option<Vec<Outcome>> {
    let of_rounds: Vec<Vec<Vec<Outcome>>> =
        of_rounds.into_iter().map(|round| Some(vec![round?])).collect::<Option<_>>()?;
    means(&of_rounds, shares).pop()
}
