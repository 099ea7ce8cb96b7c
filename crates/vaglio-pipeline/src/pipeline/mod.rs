//! Pipelines, read from YAML files or built in code.

mod builder;
mod data_spec;
mod engine_spec;
mod limits;
#[cfg(feature = "documents")]
mod loading;
mod one_or_several;
mod row_filter;
pub(crate) mod saved_model;
#[cfg(feature = "documents")]
mod schema;
pub(crate) mod settings;
mod threads;

use data_spec::ScratchSpec;
pub use data_spec::{ColumnType, DataSpec};
use engine_spec::EngineSpec;
use limits::Limits;
pub use limits::parse_duration;
#[cfg(feature = "documents")]
pub use loading::{by_default, load};
pub use row_filter::RowFilter;
pub use saved_model::{Calibration, SavedIntervals, SavedModel, SavedReadOptions};
#[cfg(feature = "documents")]
pub use schema::{component_fields, component_list, pipeline_schema};
pub use threads::{check_environment, check_threads, pool};

pub use settings::ValidPipeline;
pub use vaglio_tables::disk::write_file;

use crate::document::Node;
use crate::memory_slots::MemorySlots;
use crate::preprocess::Preprocessing;
use crate::selector::ValidSelector;
use linfa::ParamGuard;
use serde::{Deserialize, Deserializer, Serialize};
use vaglio_core::{Error, Measure, Result, Task};
use vaglio_search::{Choose, Judge};

/// A complete pipeline, not yet checked: data, preprocessing, learner, criterion and search.
///
/// Pipelines from YAML and from code have this one type. In linfa's terms it holds parameters: `check` validates them,
/// and fits use the data that they are given instead of `data`:
///
/// | data | entry |
/// |---|---|
/// | a linfa dataset with independent rows | `fit`, by linfa's [`Fit`](linfa::traits::Fit) |
/// | a dataset with groups, folds, series or times of rows | [`Pipeline::fit_with`] |
/// | a table, also with text and dates | [`Pipeline::fit_table`] |
/// | a problem, also with bytes, blocks of columns or a bias | [`Pipeline::fit_problem`] |
///
/// # Example
/// ```
/// use linfa::prelude::*;
/// use ndarray::array;
/// use vaglio::{Pipeline, criteria::Loo, learners::Rls, maps::Standardize, search::Greedy};
///
/// let x = array![[1.0, 0.3, 5.0], [2.0, -0.1, 3.0], [3.0, 0.2, 8.0], [4.0, 0.0, 1.0], [5.0, -0.4, 2.0]];
/// let dataset = Dataset::new(x, array![1.1, 2.0, 2.9, 4.2, 5.0]);
/// let pipeline = Pipeline::new(Loo::default(), Greedy::new(1), Rls::default()).preprocess(Standardize::default());
/// let fitted = pipeline.fit(&dataset)?;
/// assert_eq!(fitted.selected(), ["feature-0"]);
/// # Ok::<(), vaglio::FitError>(())
/// ```
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Pipeline(ValidPipeline);

impl Pipeline {
    /// Reads a pipeline from a parsed file. Compared searches get their defaults in the document.
    ///
    /// # Errors
    /// [`Error::UnknownName`] or [`Error::Setting`], each with its place.
    pub fn from_document(document: &mut Node) -> Result<Self> {
        document.compare_searches();
        document.read().map(Pipeline)
    }
}

/// Reads settings of any format like a pipeline file; an error names the path of the setting.
impl<'de> Deserialize<'de> for Pipeline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut document = Node::from_value(&serde_json::Value::deserialize(deserializer)?);
        Pipeline::from_document(&mut document).map_err(serde::de::Error::custom)
    }
}

impl ParamGuard for Pipeline {
    type Checked = ValidPipeline;
    type Error = Error;

    fn check_ref(&self) -> Result<&ValidPipeline> {
        self.0.check()?;
        Ok(&self.0)
    }

    fn check(self) -> Result<ValidPipeline> {
        self.check_ref()?;
        Ok(self.0)
    }
}

impl ValidPipeline {
    /// The preprocessing that turns rows of a table into a problem.
    ///
    /// # Errors
    /// [`Error::Setting`] for a map of targets that are classes, and for a map that requests what only the last map can
    /// have.
    pub fn recipe(&self, task: Task, target_names: Vec<String>) -> Result<Preprocessing> {
        if self.target_map.is_some() && task != Task::Regression {
            let message = format!("it is of numbers, and the task is {}; leave it out", task.name());
            return Err(Error::setting("target_map", message));
        }
        let is_squared = self.selector().loss(&task).traits().measure == Measure::Squared;
        let judge = match self.search.size_choice() {
            Choose::CrossValidated(how) => how.judge,
            _ => Judge::Original,
        };
        let target_map = self.target_map.clone();
        Ok(Preprocessing {
            is_smeared: target_map.as_ref().and_then(|map| map.smear()).unwrap_or(is_squared),
            target_map,
            judge,
            seed: self.seed,
            budget: self.limits.budget(),
            is_single: self.engine.is_single(),
            ..Preprocessing::new(self.preprocess.clone(), task, target_names)?
        })
    }

    /// The selection that the pipeline makes on its preprocessed data.
    pub fn selector(&self) -> ValidSelector {
        let ValidPipeline { criterion, search, learner, seed, tune, model, .. } = self.clone();
        ValidSelector { criterion, search, learner, seed, tune, model, slots: MemorySlots::default() }
    }

    /// The selections with other searches that `tune` compares with this one, by their index in its list.
    pub fn compared_searches(&self) -> Vec<(usize, ValidSelector)> {
        let searches = self.tune.iter().flat_map(|tune| &tune.search).enumerate();
        let others = searches.filter(|(_, search)| **search != self.search);
        others.map(|(place, search)| (place, self.selector().with_search(search.clone()))).collect()
    }

    /// Where large columns are stored that do not fit the memory.
    pub fn scratch(&self) -> ScratchSpec {
        let data_scratch = || self.data.as_ref().map(|data| data.scratch.clone());
        self.engine.scratch().or_else(data_scratch).unwrap_or_default()
    }
}
