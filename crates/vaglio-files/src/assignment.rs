//! Columns that assign rows to folds, and splits around the search.

use vaglio_core::{Error, Part, Resampling, Result};
use vaglio_pipeline::pipeline::ValidPipeline;
use vaglio_report::record::Evaluate;
use vaglio_search::{Choose, Search};

/// A column that assigns rows to folds, or gives a number that a plug-in's criterion needs.
#[derive(Clone)]
pub struct Assignment {
    pub column: String,
    /// The setting that names it.
    pub field: String,
    /// Allowed words, if restricted.
    pub words: &'static [&'static str],
}

impl Assignment {
    /// The column that assigns rows to folds, for the criterion or for splits around the search.
    ///
    /// # Errors
    /// [`Error::Setting`] for two of them.
    pub fn new(pipeline: &ValidPipeline) -> Result<Option<Self>> {
        let traits = pipeline.criterion.traits();
        let splits_by_column = traits.splits.is_some_and(|splits| splits.traits().assignment.is_some());
        let field = if splits_by_column { "criterion.splits.column" } else { "criterion.assignment" };
        let words = traits.assignment_words;
        let mut found = traits.assignment.map(|column| Assignment { column, field: field.to_owned(), words });
        for (place, splits) in splits_around(&pipeline.search, pipeline.evaluation()) {
            let splits = splits.traits();
            let Some(column) = splits.assignment else { continue };
            let own = Assignment { column, field: format!("{place}.column"), words: splits.assignment_words };
            let first = found.get_or_insert_with(|| own.clone());
            if (&first.column, first.words) != (&own.column, own.words) {
                let message = format!("one column alone gives rows their folds, and `{}` does already", first.column);
                return Err(Error::setting(own.field, message));
            }
        }
        Ok(found)
    }
}

/// Splits around the search that settings name, each with its setting.
pub fn splits_around(search: &Search, evaluate: &Evaluate) -> Vec<(&'static str, Part<dyn Resampling>)> {
    let choose = if let Choose::CrossValidated(how) = search.size_choice() { how.splits } else { None };
    let around = [
        ("search.choose.splits", choose),
        ("evaluate.nested.splits", evaluate.nested.as_ref().and_then(|how| how.splits.clone())),
        ("evaluate.stability.splits", evaluate.stability.as_ref().and_then(|how| how.splits.clone())),
    ];
    around.into_iter().filter_map(|(field, splits)| Some((field, splits?))).collect()
}
