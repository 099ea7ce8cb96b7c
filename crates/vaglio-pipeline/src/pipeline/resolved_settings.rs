//! Resolved settings of a pipeline, for records and journals.

use super::ValidPipeline;
use crate::resampling::{Choice, PIECES};
use vaglio_core::Result;
use vaglio_report::record::OuterFolds;
use vaglio_search::Choose;

impl ValidPipeline {
    /// A copy with data-dependent defaults written out: the choice of size, and the scope of λ.
    pub fn with_resolved_defaults(&self, chosen: &Choice) -> Result<Self> {
        let mut copy = self.clone();
        let is_compared = copy.tune.as_ref().is_some_and(|tune| !tune.search.is_empty());
        let choose = &mut copy.search.settings.choose;
        match (&*choose, &chosen.folds) {
            // Searches that are compared keep their settings.
            _ if is_compared => {}
            (Choose::Auto | Choose::CrossValidated(_) | Choose::FalseDiscoveries(_), Some(how)) => {
                *choose = how.clone().into();
            }
            (Choose::Auto, None) => *choose = Choose::Best,
            _ => {}
        }
        let around = |folds: usize| self.criterion.traits().splits.and_then(|splits| splits.around_search(folds));
        if let Some(evaluate) = &mut copy.evaluate {
            let nested = evaluate.outer_folds();
            if let Some(how) = nested.filter(|how| how.splits.is_none() && around(how.folds).is_some()) {
                evaluate.nested = Some(OuterFolds { splits: around(how.folds), ..how });
            }
            if let Some(how) = evaluate.stability.as_mut().filter(|how| how.splits.is_none()) {
                how.splits = around(PIECES - 1);
            }
        }
        let mut learner = serde_json::to_value(&copy.learner)?;
        let several = |lambda: &&mut serde_json::Value| lambda.get("grid").or(lambda.get("values")).is_some();
        if let Some(serde_json::Value::Object(lambda)) = learner.get_mut("lambda").filter(several) {
            let per = if chosen.of_path { "path" } else { "subset" };
            if lambda.get("per").and_then(serde_json::Value::as_str) != Some("all") {
                lambda.insert("per".into(), per.into());
            }
            copy.learner = serde_json::from_value(learner)?;
        }
        Ok(copy)
    }

    /// Settings that affect the results, as JSON. Omitted are file locations (contents are hashed separately), threads
    /// and limits.
    pub fn configuration(&self) -> Result<serde_json::Value> {
        let mut settings = serde_json::to_value(self)?;
        if let Some(settings) = settings.as_object_mut() {
            settings.retain(|key, _| key != "limits" && key != "engine");
            // Location and threads change no result; rounded columns do.
            if self.engine.is_single() {
                settings.insert("precision".into(), "single".into());
            }
            if let Some(data) = settings.get_mut("data").and_then(serde_json::Value::as_object_mut) {
                data.retain(|key, _| !["train", "test"].contains(&key.as_str()));
            }
        }
        Ok(settings)
    }
}
