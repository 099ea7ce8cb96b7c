//! Ranking of features by their single scores.

use crate::moves::rank;
use crate::{Choose, Search, SearchStrategy, Space, Walk};
use vaglio_core::{Action, Feature, FoldLineage, Result, Score, SearchExtent, StopReason, Winner, part};

/// Scores every feature alone and adds them in that order, the best first.
///
/// The order ignores how features act together, so duplicates of a good feature follow it; the score of a step is that
/// of the whole subset. Ties go to the lowest index. A block is ranked by its joint score. Features that break a
/// constraint are passed over; a product is added after its factors.
///
/// Beyond as many features as rows of the whole design, each size is a fifth larger than the last. Exceptions are
/// `tolerance`, `patience` and a size given by `choose`, which need every size.
///
/// # Reference
/// I. Guyon, A. Elisseeff, *An introduction to variable and feature selection*, Journal of Machine Learning Research 3
/// (2003); with a criterion of dependence it is the maximum relevance of M. Yamada, A. Saha, H. Ouyang, D. Yin,
/// Y. Chang, *N³LARS: minimum redundancy maximum relevance feature selection for large and high-dimensional data*,
/// arXiv:1411.2331.
#[part(
    SearchStrategy,
    "rank",
    summary = "ranking: score every column alone and add them in that order",
    example = "search: {kind: rank, max_features: 10, choose: last}"
)]
pub struct Rank {}

impl Rank {
    /// Creates the search of up to `max_features` features.
    pub fn new(max_features: usize) -> Search {
        Search::new(Rank {}).max_features(max_features)
    }
}

impl SearchStrategy for Rank {
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let forward = space.forward();
        let rows = space.design.planned_rows().min(forward.largest);
        let beyond = (forward.largest as f64 / rows.max(1) as f64).ln() / 1.2f64.ln();
        let trials = space.features() as f64 + rows as f64 + beyond.ceil();
        Ok(SearchExtent { trials, ..forward })
    }

    fn walk(&self, walk: &mut Walk<'_, '_>) -> Result<StopReason> {
        let space = walk.space;
        let free = space.free();
        let mut ranking = rank(space.score_additions(&mut walk.context.subset, &free)?, free);
        ranking.retain(|(score, _)| score.loss < f64::INFINITY);
        walk.enter_forced()?;
        enter(&ranking, walk)
    }
}

/// Adds the groups in the order of the ranking, except those that exceed `max_features`.
fn enter(ranking: &[(Score, Feature)], walk: &mut Walk<'_, '_>) -> Result<StopReason> {
    let settings = &walk.space.settings;
    let every = settings.tolerance.is_some()
        || settings.patience.is_some()
        || walk.space.rules().is_some()
        || matches!(settings.choose, Choose::Size(_));
    let design = walk.context.subset.design;
    let rows = match &design.run().lineage {
        _ if every => usize::MAX,
        FoldLineage::Subset { whole, .. } => whole.rows(),
        _ => design.rows(),
    };
    let mut left_out = false;
    // Groups with products that broke a constraint.
    let mut late = Vec::new();
    // Groups of sizes that are skipped, and their number of features.
    let (mut waiting, mut held) = (Vec::new(), 0);
    for (place, &(alone, group)) in ranking.iter().enumerate() {
        let own = walk.space.group(group).len();
        let size = walk.size() + held + own;
        if size > walk.space.most {
            left_out = true;
            continue;
        }
        if size > rows {
            waiting.push(group);
            held += own;
            if is_on_path(size, own, rows) {
                walk.add_together(&std::mem::take(&mut waiting))?;
                held = 0;
            }
            continue;
        }
        let equal = ranking[place + 1..].iter().take_while(|(score, _)| score.loss == alone.loss);
        let tied = equal.map(|(_, other)| *other).collect();
        let score = walk.addition(group)?;
        if let Some(rules) = walk.space.rules()
            && score.loss == f64::INFINITY
        {
            let is_product = walk.space.group(group).iter().any(|feature| rules.is_product(*feature));
            late.extend(is_product.then_some(group));
            continue;
        }
        walk.allow(score)?;
        walk.add(Winner { feature: group, score, tied })?;
        enter_late(&mut late, walk)?;
    }
    if !waiting.is_empty() {
        walk.add_together(&waiting)?;
    }
    Ok(walk.end_of_order(left_out))
}

/// Adds products whose factors are now selected, best of the ranking first.
fn enter_late(late: &mut Vec<Feature>, walk: &mut Walk<'_, '_>) -> Result<()> {
    'entered: loop {
        let waiting: Vec<Feature> = late.iter().copied().filter(|group| walk.has_room(*group)).collect();
        for group in walk.space.open(walk.selected(), Action::Add, &waiting) {
            let score = walk.addition(group)?;
            if score.loss < f64::INFINITY {
                walk.allow(score)?;
                walk.add(Winner { feature: group, score, tied: Vec::new() })?;
                late.retain(|other| *other != group);
                continue 'entered;
            }
        }
        return Ok(());
    }
}

/// Whether one of the last `new` sizes up to `size` is on the path. From `rows` on, each size on the path is a fifth
/// larger than the last.
fn is_on_path(size: usize, new: usize, rows: usize) -> bool {
    let mut listed = rows.max(1);
    while listed + listed.div_ceil(5) <= size {
        listed += listed.div_ceil(5);
    }
    listed + new > size
}
