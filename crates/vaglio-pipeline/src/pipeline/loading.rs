//! Reads pipeline files: syntax, then typed settings, then their consistency.

use super::{Pipeline, ValidPipeline};
use crate::document::{Node, to_yaml};
use linfa::ParamGuard;
use vaglio_core::{Error, Result, SourceLocation};

/// Parts of a pipeline whose file does not name them.
const DEFAULT_KINDS: [(&str, &str); 3] = [("learner", "rls"), ("criterion", "loo"), ("search", "greedy")];

impl Pipeline {
    /// Reads a pipeline from the text of a pipeline file, with or without `data`. Errors have line and column.
    ///
    /// # Errors
    /// [`Error::Syntax`], [`Error::UnknownName`] or [`Error::Setting`].
    ///
    /// # Example
    /// ```
    /// use vaglio::prelude::*;
    ///
    /// let pipeline = Pipeline::from_yaml("version: 1\npreprocess: [standardize]\nsearch: {kind: greedy, max_features: 5}\n")?;
    /// let text = pipeline.to_yaml()?;
    /// assert_eq!(Pipeline::from_yaml(&text)?.to_yaml()?, text);
    /// # Ok::<(), vaglio::core::Error>(())
    /// ```
    pub fn from_yaml(text: &str) -> Result<Self> {
        Self::from_document(&mut Node::parse(text, "pipeline")?)
    }

    /// The text of a pipeline file, with all settings, for [`Pipeline::from_yaml`] and the program.
    ///
    /// # Errors
    /// [`Error::Syntax`] for settings that YAML cannot hold.
    pub fn to_yaml(&self) -> Result<String> {
        to_yaml(self)
    }
}

/// Reads a pipeline from the text of a file and applies `path=value` assignments.
///
/// # Errors
/// [`Error::Syntax`], [`Error::UnknownName`] or [`Error::Setting`], each with its place.
pub fn load(text: &str, file: &str, assignments: &[String]) -> Result<(ValidPipeline, Node)> {
    let mut document = Node::parse(text, file)?;
    for assignment in assignments {
        let below = |part: &str| assignment.trim_start().strip_prefix(part).is_some_and(|rest| rest.starts_with('.'));
        // A setting of a part that the file omits belongs to the default part.
        if let Some((part, kind)) = DEFAULT_KINDS.iter().find(|(part, _)| below(part) && is_absent(&document, part)) {
            // A learner given by its name alone has one λ; the default learner has a grid.
            let whole =
                if *part == "learner" && !below("learner.kind") { "{kind: rls, lambda: {grid: auto}}" } else { kind };
            document.set(&format!("{part}={whole}"))?;
        }
        document.set(assignment)?;
    }
    let pipeline = Pipeline::from_document(&mut document)?;
    let pipeline = pipeline.check().map_err(|error| document.locate(error))?;
    if pipeline.data.is_none() {
        let place = SourceLocation::whole(file);
        return Err(Error::setting("data", "it is missing; say where the rows are, `data: {train: …, target: …}`")
            .at(Some(place)));
    }
    Ok((pipeline, document))
}

/// Default parts used by the pipeline of a document.
pub fn by_default(document: &Node) -> Vec<(&'static str, &'static str)> {
    DEFAULT_KINDS.into_iter().filter(|(part, _)| is_absent(document, part)).collect()
}

fn is_absent(document: &Node, part: &str) -> bool {
    document.get(part).is_none_or(Node::is_null)
}
