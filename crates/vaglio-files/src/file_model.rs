//! A saved model for files.

use std::ops::Deref;
use vaglio_pipeline::pipeline::SavedModel;

/// A saved model that predicts tables and files, and exports formulas.
pub struct FileModel<'m>(pub &'m SavedModel);

impl Deref for FileModel<'_> {
    type Target = SavedModel;

    fn deref(&self) -> &SavedModel {
        self.0
    }
}
