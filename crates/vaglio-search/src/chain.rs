//! Searches in stages, each among the features that the previous one selected.

use crate::path::Stage;
use crate::{
    Choose, Event, FeatureRef, Monitor, Observer, Path, Search, SearchContext, SearchSettings, SearchStrategy, Space,
    SubsetScorer,
};
use vaglio_core::serde_json::Map;
use vaglio_core::{Criterion, Design, Diagnostics, Error, Result, SearchExtent, StopReason, saved};

/// Searches in stages: each searches the features that the previous one selected, such as a ranking that leaves a thousand
/// features to a least-angle path.
///
/// In pipeline files it is a list of searches. A stage passes on the subset that its `choose` takes; by default the largest
/// that it reached. The last stage gives the path and the choice among its sizes. Cross-validation repeats all stages in
/// every fold.
///
/// # Reference
/// M. Yamada, A. Saha, H. Ouyang, D. Yin, Y. Chang, *N³LARS: minimum redundancy maximum relevance feature selection for
/// large and high-dimensional data*, arXiv:1411.2331.
#[saved(SearchStrategy, "chain")]
#[derive(Clone)]
pub struct Chain {
    /// The searches, in order.
    pub stages: Vec<Search>,
}

impl Chain {
    /// Creates a chain that begins with this search.
    pub fn new(first: impl Into<Search>) -> Self {
        Chain { stages: vec![first.into()] }
    }

    /// Adds a search among the features that the previous stages selected.
    #[must_use]
    pub fn then(mut self, next: impl Into<Search>) -> Self {
        self.stages.push(next.into());
        self
    }

    /// Record of a stage, with the features that it passes on.
    fn stage_record(&self, place: usize, path: &Path) -> Stage {
        let stage = &self.stages[place];
        let entry = match stage.size_choice() {
            Choose::Auto => path.entries.iter().rev().find(|entry| path.allowed.contains(&entry.subset.len())),
            _ => path.result(),
        };
        let (taken, score) = entry.map_or((Vec::new(), path.empty), |entry| (entry.subset.clone(), entry.score));
        Stage { kind: stage.kind().into(), taken, score, stop_reason: path.stop_reason }
    }
}

/// Puts an error under a stage, which files name by its index in the list.
pub(crate) fn in_stage(place: usize) -> impl Fn(Error) -> Error {
    move |error| error.under(&format!("[{place}]"))
}

fn refuse_empty(stages: &[Search]) -> Result<()> {
    if stages.is_empty() { Err(Error::setting("", "a list of searches has none; one is the least")) } else { Ok(()) }
}

/// The stages' designs and extents. Each has as many candidates as the previous one may select: its forced features, and
/// the first of the others.
fn extents(stages: &[Search], design: &Design) -> Result<Vec<(Design, SearchExtent)>> {
    let (names, mut all) = (design.problem().names(), Vec::<(Design, SearchExtent)>::new());
    for (place, stage) in stages.iter().enumerate() {
        let in_stage = in_stage(place);
        let own = match all.last() {
            None => design.clone(),
            Some((_, before)) => {
                let forced = FeatureRef::resolve_all(&stage.settings.forced, names, "forced").map_err(&in_stage)?;
                let mut likely = design.candidates();
                likely.sort_by_cached_key(|feature| !forced.contains(feature));
                likely.truncate(before.largest);
                design.among(&likely)
            }
        };
        let extent = stage.extent(&own).map_err(in_stage)?;
        all.push((own, extent));
    }
    Ok(all)
}

/// Work of all stages, and memory of the largest.
pub(crate) fn effort(stages: &[Search], criterion: &dyn Criterion, design: &Design) -> Result<(f64, f64)> {
    let (mut flops, mut bytes) = (0.0, 0.0_f64);
    for (place, (stage, (design, _))) in stages.iter().zip(extents(stages, design)?).enumerate() {
        let (own_flops, own_bytes) = stage.effort(criterion, &design).map_err(in_stage(place))?;
        (flops, bytes) = (flops + own_flops, bytes.max(own_bytes));
    }
    Ok((flops, bytes))
}

/// Checks every stage, and that only the last is cross-validated.
pub(crate) fn check(stages: &[Search], criterion: &dyn Criterion, design: &Design) -> Result<()> {
    refuse_empty(stages)?;
    let last = stages.len() - 1;
    for (place, (stage, (design, _))) in stages.iter().zip(extents(stages, design)?).enumerate() {
        stage.check(criterion, &design).map_err(in_stage(place))?;
        if place < last && matches!(stage.size_choice(), Choose::CrossValidated(_)) {
            let message = "the last search is cross-validated, with all that go before it; give `choose` to that";
            return Err(Error::setting(format!("[{place}].choose"), message));
        }
    }
    Ok(())
}

impl SearchStrategy for Chain {
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let extents = extents(&self.stages, space.design)?.into_iter().map(|(_, extent)| extent);
        let all = extents.reduce(|all, own| SearchExtent {
            trials: all.trials + own.trials,
            steps: all.steps.max(own.steps),
            ..all
        });
        Ok(all.unwrap_or_else(|| SearchExtent::fixed(0)))
    }

    fn check_settings(&self, _: &SearchSettings) -> Result<()> {
        refuse_empty(&self.stages)?;
        let mut stages = self.stages.iter().enumerate();
        stages.try_for_each(|(place, stage)| stage.check_settings().map_err(in_stage(place)))
    }

    fn run(&self, _: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        context.until = None;
        let (criterion, design, seed) = (context.subset.criterion, context.subset.design, context.seed);
        let mut open = Some(std::mem::replace(&mut context.subset, SubsetScorer::by_definition(criterion, design)));
        let monitor = &mut context.monitor;
        let (last, mut stages) = (self.stages.len() - 1, Vec::<Stage>::new());
        let (mut diagnostics, mut found) = (None, Map::new());
        for (place, search) in self.stages.iter().enumerate() {
            let among = stages.last().map(|before| design.among(&before.taken));
            let design = among.as_ref().unwrap_or(design);
            let in_stage = in_stage(place);
            let subset = match open.take() {
                Some(subset) => subset,
                None => SubsetScorer::open(criterion, design, &search.extent(design).map_err(&in_stage)?)?,
            };
            let journal = monitor.journal.under(format_args!("stage/{place}"));
            let mut progress = StageObserver { observer: &mut *monitor.observer, kind: search.kind() };
            let observer: &mut dyn Observer = if place == last { progress.observer } else { &mut progress };
            let monitor = Monitor { observer, journal: journal.clone(), stop: monitor.stop.clone() };
            let known: Option<Path> = journal.recall("path");
            let mut path = match known.filter(|known| place < last && known.is_among(design.features())) {
                Some(path) => path,
                None => {
                    let mut context = SearchContext::new(subset, monitor, seed);
                    let mut path = search.run(&mut context).map_err(&in_stage)?;
                    (path.diagnostics, path.found) = (context.subset.diagnostics, context.found.to_json()?);
                    path
                }
            };
            if place < last && !path.stop_reason.is_partial() {
                journal.keep("path", &path);
            }
            diagnostics = Diagnostics::merge([diagnostics, path.diagnostics]);
            let stage = self.stage_record(place, &path);
            found.extend(path.found.clone());
            if place == last || path.stop_reason.is_partial() || stage.taken.is_empty() {
                (path.stages, path.diagnostics, path.found) = (stages, diagnostics, found);
                return Ok(path);
            }
            stages.push(stage);
        }
        Err(Error::Shape("a chain ended without its last search".into()))
    }
}

/// Observer that shows the steps of a stage before the last as its progress.
struct StageObserver<'o> {
    observer: &'o mut dyn Observer,
    kind: &'static str,
}

impl Observer for StageObserver<'_> {
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
        match *event {
            Event::Stage { pieces, .. } => self.observer.observe(&Event::Stage { what: self.kind, pieces }),
            Event::Step(_) => {
                self.observer.observe(&Event::Piece);
                self.observer.observe(&Event::Tick)
            }
            Event::Tick | Event::Visited { .. } => self.observer.observe(&Event::Tick),
            _ => None,
        }
    }
}
