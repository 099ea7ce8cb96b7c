//! Searches one after the other, each among the features that the one before took.

use std::sync::Arc;
use vaglio_core::{
    Answer, AnySearch, Choose, Criterion, Design, Diagnostics, Effort, Error, Event, Figures, Monitor, Observer,
    Outline, Path, Result, Rules, SearchContext, SearchStrategy, Stage, SubsetScorer, saved,
};

/// Searches in stages: each searches what the one before took, such as a ranking that leaves a thousand features to a
/// least-angle path.
///
/// In pipeline files a list of searches. What a stage hands on is what its `choose` takes; without one, the largest subset
/// that it reached. The path, and the choice among its sizes, are those of the last stage, and cross-validation repeats all
/// of them in every fold.
///
/// # Reference
/// M. Yamada, A. Saha, H. Ouyang, D. Yin, Y. Chang, *N³LARS: minimum redundancy maximum relevance feature selection for
/// large and high-dimensional data*, arXiv:1411.2331.
#[saved(SearchStrategy, "chain")]
#[derive(Clone)]
pub struct Chain {
    /// The searches, in order.
    pub stages: Vec<Arc<dyn SearchStrategy>>,
}

impl Chain {
    /// A chain that begins with this search.
    pub fn new(first: impl Into<AnySearch>) -> Self {
        Chain { stages: vec![first.into().into()] }
    }

    /// The same with a search after it, among the features that those before took.
    #[must_use]
    pub fn then(mut self, next: impl Into<AnySearch>) -> Self {
        self.stages.push(next.into().into());
        self
    }

    fn first(&self) -> Result<&dyn SearchStrategy> {
        match self.stages.first() {
            Some(first) => Ok(&**first),
            None => Err(Error::setting("", "a list of searches has none; one is the least")),
        }
    }

    /// An error below a stage, which files name by its place in the list.
    fn of_stage(place: usize) -> impl Fn(Error) -> Error {
        move |error| error.under(&format!("[{place}]"))
    }

    /// The features that a stage hands on, and itself with them.
    fn handed_on(&self, place: usize, path: &Path) -> Stage {
        let stage = &self.stages[place];
        let entry = match stage.choose() {
            Choose::Auto => path.entries.iter().rev().find(|entry| path.allowed.contains(&entry.subset.len())),
            _ => path.result(),
        };
        let (taken, score) = entry.map_or((Vec::new(), path.empty), |entry| (entry.subset.clone(), entry.score));
        Stage { kind: stage.typetag_name().into(), taken, score, stop_reason: path.stop_reason }
    }
}

impl SearchStrategy for Chain {
    fn choose(&self) -> Choose {
        self.stages.last().map_or(Choose::Auto, |last| last.choose())
    }

    /// Those of the last stage.
    fn rules(&self, design: &Design) -> Result<Option<Rules>> {
        match self.stages.last() {
            Some(last) => last.rules(design).map_err(Chain::of_stage(self.stages.len() - 1)),
            None => Ok(None),
        }
    }

    fn takes_lambda(&self) -> bool {
        self.stages.iter().all(|stage| stage.takes_lambda())
    }

    /// Those of the last stage, by the columns that all stages begin with.
    fn at_penalties(&self, criterion: &dyn Criterion, design: &Design) -> Result<Option<Arc<dyn SearchStrategy>>> {
        let Some(last) = self.stages.len().checked_sub(1) else { return Ok(None) };
        let fitted = self.stages[last].at_penalties(criterion, design).map_err(Chain::of_stage(last))?;
        let with =
            |stage| Arc::new(Chain { stages: [&self.stages[..last], &[stage]].concat() }) as Arc<dyn SearchStrategy>;
        Ok(fitted.map(with))
    }

    fn check_settings(&self) -> Result<()> {
        self.first()?;
        let mut stages = self.stages.iter().enumerate();
        stages.try_for_each(|(place, stage)| stage.check_settings().map_err(Chain::of_stage(place)))
    }

    /// The first stage starts, and the others have as many candidates as the one before may take.
    fn outline(&self, design: &Design) -> Result<Outline> {
        let mut all = self.first()?.outline(design).map_err(Chain::of_stage(0))?;
        let (candidates, mut largest) = (design.candidates(), all.largest);
        for (place, stage) in self.stages.iter().enumerate().skip(1) {
            let among = design.among(&candidates[..largest.min(candidates.len())]);
            let outline = stage.outline(&among).map_err(Chain::of_stage(place))?;
            (all.trials, all.steps, largest) =
                (all.trials + outline.trials, all.steps.max(outline.steps), outline.largest);
        }
        Ok(all)
    }

    /// All work, and the memory of the stage that takes most.
    fn effort(&self, criterion: &dyn Criterion, design: &Design) -> Result<Effort> {
        let mut all = Effort::default();
        let (candidates, mut largest) = (design.candidates(), usize::MAX);
        for (place, stage) in self.stages.iter().enumerate() {
            let among = design.among(&candidates[..largest.min(candidates.len())]);
            let design = if place == 0 { design } else { &among };
            let effort = stage.effort(criterion, design).map_err(Chain::of_stage(place))?;
            all = Effort { flops: all.flops + effort.flops, bytes: all.bytes.max(effort.bytes) };
            largest = stage.outline(design).map_err(Chain::of_stage(place))?.largest;
        }
        Ok(all)
    }

    fn check(&self, criterion: &dyn Criterion, design: &Design) -> Result<()> {
        self.first()?;
        let last = self.stages.len() - 1;
        for (place, stage) in self.stages.iter().enumerate() {
            if !stage.contestants().is_empty() {
                let message = "a race is no stage; put the chain into its list, {kind: race, of: [[…], …]}";
                return Err(Error::setting(format!("[{place}]"), message));
            }
            stage.check(criterion, design).map_err(Chain::of_stage(place))?;
            if place < last && matches!(stage.choose(), Choose::CrossValidated(_)) {
                let message = "the last search is cross-validated, with all that go before it; give `choose` to that";
                return Err(Error::setting(format!("[{place}].choose"), message));
            }
        }
        Ok(())
    }

    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        self.first()?;
        let (criterion, design, seed) = (context.criterion(), context.design(), context.seed);
        let mut first = Some(std::mem::replace(&mut context.subset, SubsetScorer::by_definition(criterion, design)));
        let (_, monitor) = context.parts();
        let (last, mut stages) = (self.stages.len() - 1, Vec::<Stage>::new());
        let (mut diagnostics, mut found) = (None, Figures::new());
        for (place, search) in self.stages.iter().enumerate() {
            let among = stages.last().map(|before| design.among(&before.taken));
            let design = among.as_ref().unwrap_or(design);
            let of_stage = Chain::of_stage(place);
            let subset = match first.take() {
                Some(subset) => subset,
                None => SubsetScorer::open(criterion, design, &search.outline(design).map_err(&of_stage)?)?,
            };
            let journal = monitor.journal.under(format_args!("stage/{place}"));
            let stop = monitor.stop.clone();
            let mut pieces = Pieces { observer: &mut *monitor.observer, kind: search.typetag_name() };
            let monitor = match place == last {
                true => Monitor { observer: pieces.observer, journal: journal.clone(), stop },
                false => Monitor { observer: &mut pieces, journal: journal.clone(), stop },
            };
            let known: Option<Path> = journal.recall("path");
            let mut path = match known.filter(|known| place < last && known.is_among(design.features())) {
                Some(path) => path,
                None => {
                    let mut context = SearchContext::new(criterion, design, subset, monitor, seed);
                    let mut path = search.search(&mut context).map_err(&of_stage)?;
                    (path.diagnostics, path.found) = (context.subset.diagnostics(), context.found.written()?);
                    path
                }
            };
            if place < last && !path.stop_reason.is_partial() {
                journal.keep("path", &path);
            }
            diagnostics = Diagnostics::of([diagnostics, path.diagnostics]);
            let stage = self.handed_on(place, &path);
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

/// Shows the steps of a search that is not the last as pieces of a stage.
struct Pieces<'o> {
    observer: &'o mut dyn Observer,
    kind: &'static str,
}

impl Observer for Pieces<'_> {
    fn observe(&mut self, event: &Event<'_>) -> Answer {
        match *event {
            Event::Begin { steps } => self.observer.observe(&Event::Stage { what: self.kind, pieces: steps }),
            Event::Step(_) => {
                self.observer.observe(&Event::Piece);
                self.observer.observe(&Event::Tick)
            }
            Event::Tick | Event::Visited { .. } => self.observer.observe(&Event::Tick),
            _ => Answer::Continue,
        }
    }
}
