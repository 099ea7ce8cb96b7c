//! A saved model for files.

use std::ops::Deref;
use vaglio_core::Task;
use vaglio_pipeline::pipeline::SavedModel;

/// A saved model, with methods that read and write files.
pub(super) struct FileModel<'m>(pub &'m SavedModel);

impl Deref for FileModel<'_> {
    type Target = SavedModel;

    fn deref(&self) -> &SavedModel {
        self.0
    }
}

impl FileModel<'_> {
    /// Class labels in the order of their probabilities; empty for numbers.
    pub fn classes(&self) -> Vec<String> {
        match &self.task {
            Task::Regression => Vec::new(),
            Task::Binary { negative, positive } => {
                vec![negative.clone().unwrap_or_else(|| format!("not {positive}")), positive.clone()]
            }
            Task::Multiclass { labels } => labels.clone(),
        }
    }
}
