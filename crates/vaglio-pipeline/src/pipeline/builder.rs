//! Builder methods of pipelines.

use super::limits::{Limits, TimeSpan};
use super::{EngineSpec, Pipeline, ValidPipeline};
use crate::final_model::FinalModel;
use crate::progress::SharedMonitor;
use crate::selector::{Selector, ValidSelector};
use crate::tune::Tune;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vaglio_core::{Criterion, Learner, Map, Part, StopSign, TargetMap};
use vaglio_search::{Observer, Search};
use vaglio_tables::budget::ByteSize;

impl Pipeline {
    /// A pipeline without data or preprocessing. Each part may be new, boxed or shared.
    ///
    /// # Example
    /// ```
    /// use vaglio::prelude::*;
    ///
    /// let searches: Vec<Search> = vec![Greedy::new(3), Backward::new(1)];
    /// for search in searches {
    ///     let kind = search.kind();
    ///     let pipeline = Pipeline::new(Loo::default(), search, Rls::new(1.0));
    ///     assert!(pipeline.to_yaml()?.contains(kind));
    /// }
    /// # Ok::<(), vaglio::FitError>(())
    /// ```
    pub fn new(
        criterion: impl Into<Part<dyn Criterion>>,
        search: impl Into<Search>,
        learner: impl Into<Part<dyn Learner>>,
    ) -> Self {
        Selector::params(criterion, search, learner).into()
    }

    /// Appends a map to the preprocessing.
    #[must_use]
    pub fn preprocess(mut self, map: impl Into<Part<dyn Map>>) -> Self {
        self.0.preprocess.push(map.into().into());
        self
    }

    /// Sets a map of targets. The model learns mapped targets and the criterion scores them; predictions and evaluation
    /// are in the units of the data.
    #[must_use]
    pub fn target_map(mut self, map: impl Into<Part<dyn TargetMap>>) -> Self {
        self.0.target_map = Some(map.into().into());
        self
    }

    /// Sets the learner of the final model, which is trained on the selected columns. That model is evaluated, saved
    /// and used for predictions; the learner of the selection then only selects columns. λ is chosen by the criterion
    /// of the pipeline, or by leave-one-out if that criterion has no loss.
    ///
    /// # Example
    /// ```
    /// use linfa::prelude::*;
    /// use ndarray::array;
    /// use vaglio::{Pipeline, criteria::Loo, learners::Rls, search::Greedy};
    ///
    /// let x = array![[1.0, 0.3, 5.0], [2.0, -0.1, 3.0], [3.0, 0.2, 8.0], [4.0, 0.0, 1.0], [5.0, -0.4, 2.0]];
    /// let dataset = Dataset::new(x, array![1.1, 2.0, 2.9, 4.2, 5.0]);
    /// let pipeline = Pipeline::new(Loo::default(), Greedy::new(1), Rls::default()).then(Rls::new(0.1));
    /// assert_eq!(pipeline.fit(&dataset)?.selected(), ["feature-0"]);
    /// # Ok::<(), vaglio::FitError>(())
    /// ```
    #[must_use]
    pub fn then(mut self, learner: impl Into<Part<dyn Learner>>) -> Self {
        self.final_model().learner = learner.into().into();
        self
    }

    /// Sets the criterion that chooses λ and settings of the final model. Without [`Pipeline::then`], that model has the
    /// learner of the selection.
    #[must_use]
    pub fn then_criterion(mut self, criterion: impl Into<Part<dyn Criterion>>) -> Self {
        self.final_model().criterion = Some(criterion.into().into());
        self
    }

    /// Tunes settings of the final model by the criterion that chooses its λ. Without [`Pipeline::then`], that model has
    /// the learner of the selection.
    #[must_use]
    pub fn then_tune(mut self, tune: Tune) -> Self {
        self.final_model().tune = Some(tune);
        self
    }

    fn final_model(&mut self) -> &mut FinalModel {
        let ValidPipeline { learner, model, .. } = &mut self.0;
        model.get_or_insert_with(|| FinalModel::new(Arc::clone(learner)))
    }

    /// Tunes settings of the learner before the search.
    #[must_use]
    pub fn tune(mut self, tune: Tune) -> Self {
        self.0.tune = Some(tune);
        self
    }

    /// Sets the seed, which determines every random choice.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.0.seed = seed;
        self
    }

    /// Sets the number of threads of `fit`; 0, the default, uses the current rayon pool. It changes no result.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.0.engine.threads = threads;
        self
    }

    /// Sets a time limit of `fit`. A fit that reaches it keeps the columns selected so far, and its path has
    /// [`StopReason::Limit`](vaglio_core::StopReason::Limit).
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.0.limits.time = Some(TimeSpan(limit));
        self
    }

    /// Sets a memory limit of `fit`, in bytes. A fit that would exceed it is refused before its search.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.0.limits.memory = Some(ByteSize(bytes));
        self
    }

    /// Sets an observer of `fit`, which sees its progress and may stop it. It is not serialized.
    ///
    /// Clones of the pipeline share the observer, and concurrent fits send it their events interleaved. To separate
    /// them, give each pipeline its own observer. An observer must not start parallel work, since other threads wait
    /// for its answer.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.0.monitor.observer = Some(Arc::new(Mutex::new(observer)));
        self
    }

    /// Sets a stop sign that ends `fit`, even within a step. It is not serialized.
    #[must_use]
    pub fn stop_at(mut self, sign: StopSign) -> Self {
        self.0.monitor.stop = sign;
        self
    }
}

/// A pipeline without data or maps.
impl From<ValidSelector> for ValidPipeline {
    fn from(ValidSelector { criterion, search, learner, seed, tune, model, slots: _ }: ValidSelector) -> Self {
        ValidPipeline {
            version: 1,
            seed,
            data: None,
            preprocess: Vec::new(),
            target_map: None,
            learner,
            criterion,
            search,
            model,
            tune,
            evaluate: None,
            limits: Limits::default(),
            engine: EngineSpec::default(),
            monitor: SharedMonitor::default(),
        }
    }
}

impl From<Selector> for Pipeline {
    fn from(selector: Selector) -> Self {
        Pipeline(selector.0.into())
    }
}
