//! A saved model for files.

use std::ops::Deref;
use vaglio_pipeline::pipeline::SavedModel;

/// A saved model, with methods that read and write files.
pub(super) struct FileModel<'m>(pub &'m SavedModel);

impl Deref for FileModel<'_> {
    type Target = SavedModel;

    fn deref(&self) -> &SavedModel {
        self.0
    }
}
