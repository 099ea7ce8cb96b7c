//! Pipelines built in code, setting by setting.

use super::{DataSpec, EngineSpec, Evaluate, Limits, Pipeline, Settings, ValidPipeline};
use crate::final_model::FinalModel;
use crate::linfa_api::{SharedMonitor, SharedObserver};
use crate::selector::{Selector, ValidSelector};
use crate::tune::Tune;
use std::sync::Arc;
use vaglio_core::{
    AnyCriterion, AnyLearner, AnyMap, AnySearch, AnyTargetMap, Criterion, Learner, Observer, SearchStrategy, StopSign,
};

impl Pipeline {
    /// A pipeline without data or preprocessing. Each part is a part of its role, or one that is boxed or shared already.
    ///
    /// # Example
    /// ```
    /// use vaglio::prelude::*;
    ///
    /// let searches: Vec<Box<dyn SearchStrategy>> = vec![Box::new(Greedy::new(3)), Box::new(Backward::new(1))];
    /// for search in searches {
    ///     let kind = search.kind();
    ///     let pipeline = Pipeline::new(Loo::default(), search, Rls::new(1.0));
    ///     assert!(pipeline.to_yaml()?.contains(kind));
    /// }
    /// # Ok::<(), vaglio::FitError>(())
    /// ```
    pub fn new(
        criterion: impl Into<AnyCriterion>,
        search: impl Into<AnySearch>,
        learner: impl Into<AnyLearner>,
    ) -> Self {
        Selector::params(criterion, search, learner).into()
    }

    /// The same from shared parts.
    pub fn from_parts(
        criterion: Arc<dyn Criterion>,
        search: Arc<dyn SearchStrategy>,
        learner: Arc<dyn Learner>,
    ) -> Self {
        Selector::from_parts(criterion, search, learner).into()
    }

    pub(crate) fn unchecked(&self) -> &ValidPipeline {
        &self.0
    }

    fn settings(&mut self) -> &mut Settings {
        &mut self.0.0
    }

    /// Appends a map to the preprocessing.
    #[must_use]
    pub fn preprocess(mut self, map: impl Into<AnyMap>) -> Self {
        self.settings().preprocess.push(map.into().into());
        self
    }

    /// Learns targets on another scale and predicts them in the units of the data; figures are in these, the criterion's score
    /// is on the other scale.
    #[must_use]
    pub fn target_map(mut self, map: impl Into<AnyTargetMap>) -> Self {
        self.settings().target_map = Some(map.into().into());
        self
    }

    /// Says where the data are, for a run from files.
    #[must_use]
    pub fn data(mut self, data: DataSpec) -> Self {
        self.settings().data = Some(data);
        self
    }

    /// Trains another learner on the chosen columns: it is what is judged, saved and predicted with, and the learner of the
    /// selection chooses columns alone.
    #[must_use]
    pub fn then(mut self, model: impl Into<FinalModel>) -> Self {
        self.settings().model = Some(model.into());
        self
    }

    /// Tunes settings of the learner before the search.
    #[must_use]
    pub fn tune(mut self, tune: Tune) -> Self {
        self.settings().tune = Some(tune);
        self
    }

    /// Asks for figures of the whole selection, for a run from files; `fit` makes none of them: [`Pipeline::nested`] does.
    #[must_use]
    pub fn evaluate(mut self, evaluate: Evaluate) -> Self {
        self.settings().evaluate = Some(evaluate);
        self
    }

    /// The seed from which every random choice follows.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings().seed = seed;
        self
    }

    /// How many threads `fit` computes on; 0, the default, for those of the current rayon pool. The result does not depend
    /// on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings().engine.threads = threads;
        self
    }

    /// What `fit`, or a run from files, may take. A fit that hits `time` has the columns that it had until then, and its path says
    /// [`StopReason::Limit`](vaglio_core::StopReason::Limit); one that would take more than `memory` is refused before its search.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings().limits = limits;
        self
    }

    /// Shows `fit` to an observer: its progress, and questions whether to go on. It is not written with the settings.
    ///
    /// Clones of the pipeline share it, and fits that go on at one time show it their events in turn, mixed. To tell them apart,
    /// give each a pipeline with an observer of its own. An observer starts no parallel work, since others wait for its answer.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.settings().monitor.observer = Some(SharedObserver::new(observer));
        self
    }

    /// Ends `fit` where this sign says so, also in the middle of a step. It is not written with the settings.
    #[must_use]
    pub fn stop_at(mut self, sign: StopSign) -> Self {
        self.settings().monitor.stop = sign;
        self
    }
}

/// A selector as a pipeline without data or maps.
impl From<ValidSelector> for ValidPipeline {
    fn from(ValidSelector { criterion, search, learner, seed, model, room: _, dealt }: ValidSelector) -> Self {
        ValidPipeline(Settings {
            version: 1,
            seed,
            data: None,
            preprocess: Vec::new(),
            target_map: None,
            learner,
            criterion,
            search,
            model,
            tune: None,
            evaluate: None,
            limits: Limits::default(),
            engine: EngineSpec::default(),
            dealt,
            monitor: SharedMonitor::default(),
        })
    }
}

impl From<Selector> for Pipeline {
    fn from(selector: Selector) -> Self {
        Pipeline(selector.0.into())
    }
}
