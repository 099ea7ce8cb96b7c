//! Laws of constant columns.

use super::named_columns::named_columns;
use super::recorded_run::{SearchLaws, run};
use crate::LawResult;
use crate::design_copies::{with_columns, with_constants};
use crate::law_violation::{attempt, law, must, no_nan, no_panic};
use crate::replay::moved_features;
use vaglio_core::Feature;
use vaglio_search::Silent;

/// Name of the design that some laws test.
const WITH_CONSTANTS: &str = "the design with constant columns";

impl SearchLaws<'_> {
    /// A constant column is never selected.
    pub fn constants(&self) -> LawResult {
        law("constants", || {
            let more = attempt(WITH_CONSTANTS, || with_constants(self.design, &[0.0, -3.5, 7.0]))?;
            let path = self.path_on(&more)?;
            let constant = more.problem().constant();
            let stepped = path.steps.iter().flat_map(moved_features);
            let taken: Vec<Feature> =
                stepped.chain(path.entries.iter().flat_map(|entry| entry.subset.clone())).collect();
            must(!taken.is_empty(), WITH_CONSTANTS, "columns selected", &taken)?;
            let wrong: Vec<Feature> = taken.into_iter().filter(|f| constant.contains(f)).collect();
            must(wrong.is_empty(), format_args!("the constant columns {constant:?}"), "none selected", wrong)
        })
    }

    /// A search that can reach all columns also does if some are constant, as in a fold. It also allows that size as the
    /// result: fold sizes are mapped to full-data sizes by it.
    pub fn lacking(&self) -> LawResult {
        law("lacking", || {
            let SearchLaws { design, path, .. } = self;
            let Some(all) = path.everything(design.candidates().len()) else { return Ok(()) };
            let more = attempt(WITH_CONSTANTS, || with_constants(design, &[0.0, -3.5, 7.0]))?;
            let found = self.path_on(&more)?;
            let everything = found.everything(more.candidates().len());
            must(everything == Some(all), WITH_CONSTANTS, format!("everything, which is {all} columns"), everything)?;
            let may = [path, &found].map(|path| path.allowed.contains(&all));
            must(may[0] == may[1], WITH_CONSTANTS, "the same sizes as the result", &found.allowed)
        })
    }

    /// Without candidates the path is empty, which is no error.
    ///
    /// Tested on as many constant columns as the design has columns, and on none if the settings allow it. A search
    /// with settings that name columns may reject either.
    pub fn no_candidates(&self) -> LawResult {
        law("no_candidates", || {
            let &SearchLaws { search, criterion, design, .. } = self;
            let none = |values: &[f64]| {
                let bare = with_columns(design, &[])?;
                with_constants(&bare, values)
            };
            let constants: Vec<f64> = (0..design.features()).map(|k| k as f64).collect();
            let may_refuse = !named_columns(search, design).is_empty();
            for values in [&[][..], &constants[..]] {
                let what = format!("{} constant columns and no other", values.len());
                let design = attempt(&what, || none(values))?;
                let checked = no_panic(&what, || search.check(criterion, &design))?;
                if checked.is_err() && (may_refuse || values.is_empty()) {
                    continue;
                }
                let path = run(search, criterion, &design, &mut Silent).map_err(|broken| broken.within(&what))?;
                let empty = path.steps.is_empty() && path.entries.is_empty() && path.chosen.is_none();
                let size = (path.steps.len(), path.entries.len(), path.chosen);
                must(empty, &what, "no steps, no entries and no result", size)?;
                must(!path.stop_reason.is_partial(), &what, "a whole path", path.stop_reason)?;
                no_nan(&what, path.empty.loss)?;
            }
            Ok(())
        })
    }
}
