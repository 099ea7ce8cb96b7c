//! Ranking of features by what each is alone.

use crate::{Flow, Move, Patience, Space, Walk, run};
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Choose, Design, Outline, Path, Result, Score, SearchContext, SearchStrategy, StopReason, part};

crate::settings! {
    /// Scores every feature alone and adds them in that order, the best first.
    ///
    /// What features tell together plays no part in the order, so that duplicates of a good feature follow it; the score
    /// of every step is that of the whole subset. Ties go to the lowest index. Features of a block are ranked by their
    /// score together. What breaks a constraint is passed over; a product that waits for its factors enters after them.
    ///
    /// Beyond as many features as rows, of the whole design where parts of it are searched, sizes grow by a fifth each,
    /// unless `tolerance`, `patience` or a size that `choose` asks for needs every one.
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
}

impl Rank {
    /// Up to `max_features` features, otherwise as by default.
    pub fn new(max_features: usize) -> Self {
        Rank { max_features: Some(max_features), ..Rank::default() }
    }
}

impl SearchStrategy for Rank {
    crate::by_settings!();

    fn outline(&self, design: &Design) -> Result<Outline> {
        let space = Space::new(self.settings(), design)?;
        let forward = Outline::forward(space.features(), space.most);
        let rows = design.planned_rows().min(forward.largest);
        let beyond = (forward.largest as f64 / rows.max(1) as f64).ln() / 1.2f64.ln();
        let trials = space.features() as f64 + rows as f64 + beyond.ceil();
        Ok(space.outline(Outline { trials, ..forward }))
    }

    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let space = Space::new(self.settings(), context.design())?;
        run(&space, context, &self.outline(context.design())?, |walk| {
            let ranking = ranking(walk)?;
            walk.enter_forced()?;
            enter(&ranking, walk)
        })
    }
}

/// The groups that are not forced with the score of each alone, the best first; those that score +∞ are left out.
fn ranking(walk: &mut Walk<'_, '_>) -> Result<Vec<(usize, Score)>> {
    let free = walk.space.free();
    let scores = walk.space.score_additions(&mut walk.context.subset, &free)?;
    let mut ranking: Vec<(usize, Score)> = free.into_iter().zip(scores).collect();
    ranking.retain(|(_, score)| score.loss < f64::INFINITY);
    ranking.sort_by(|(a, x), (b, y)| x.loss.total_cmp(&y.loss).then(a.cmp(b)));
    Ok(ranking)
}

/// Adds the groups in the order of the ranking, but for those that `max_features` has no room for.
fn enter(ranking: &[(usize, Score)], walk: &mut Walk<'_, '_>) -> Flow<StopReason> {
    let settings = &walk.space.settings;
    let mut patience = Patience::new(settings);
    let every = settings.tolerance.is_some() || settings.patience.is_some() || walk.space.rules().is_some();
    let every = every || matches!(settings.choose, Choose::Size(_));
    let design = walk.context.design();
    let rows = if every { usize::MAX } else { design.root().map_or(design.rows(), |(whole, _)| whole.rows()) };
    let mut left_out = false;
    let mut late = Vec::new();
    // The groups of sizes that are passed over, with how many features they are.
    let (mut waiting, mut held) = (Vec::new(), 0);
    for (place, &(group, alone)) in ranking.iter().enumerate() {
        let own = walk.space.groups[group].len();
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
        let equal = ranking[place + 1..].iter().take_while(|(_, score)| score.loss == alone.loss);
        let tied = equal.map(|&(other, _)| walk.space.groups[other][0]).collect();
        let score = walk.addition(group)?;
        if walk.space.rules().is_some() && score.loss == f64::INFINITY {
            late.push(group);
            continue;
        }
        patience.allow(walk.lowest() - score.loss, walk.has_least())?;
        walk.add(Move { group, score, tied })?;
        enter_late(&mut late, &mut patience, walk)?;
    }
    if !waiting.is_empty() {
        walk.add_together(&waiting)?;
    }
    Ok(if left_out || walk.size() >= walk.space.most { StopReason::MaxFeatures } else { walk.none_left() })
}

/// Adds what waited for what has entered, as long as there is such a group, the best of the ranking first.
fn enter_late(late: &mut Vec<usize>, patience: &mut Patience, walk: &mut Walk<'_, '_>) -> Flow {
    loop {
        let waiting: Vec<usize> = late.iter().copied().filter(|group| walk.has_room(*group)).collect();
        let open = walk.space.waited(walk.context.subset.selected(), &waiting);
        let mut entered = None;
        for group in open {
            let score = walk.addition(group)?;
            if score.loss < f64::INFINITY {
                patience.allow(walk.lowest() - score.loss, walk.has_least())?;
                walk.add(Move { group, score, tied: Vec::new() })?;
                entered = Some(group);
                break;
            }
        }
        match entered {
            Some(entered) => late.retain(|group| *group != entered),
            None => return Ok(()),
        }
    }
}

/// Whether one of the last `new` sizes up to `size` is on the path: those from `rows` on that are each a fifth larger.
fn is_on_path(size: usize, new: usize, rows: usize) -> bool {
    let mut told = rows.max(1);
    while told + told.div_ceil(5) <= size {
        told += told.div_ceil(5);
    }
    told + new > size
}
