//! The result of a run as `selection.json` holds it: written, read back, and shown by the report.

mod alternatives;
mod charts;
mod choice;
mod columns;
mod data;
mod discoveries;
mod drop_column;
mod figures;
mod held_out_error;
mod json;
mod learning_curve;
mod methods;
mod nested;
mod parts;
mod permutations;
mod reliability;
mod shares;
mod stability;
mod steps;
mod table;
mod table_parts;
mod verified;
mod warning;

pub use alternatives::*;
pub use charts::*;
pub use choice::*;
pub use columns::*;
pub use data::*;
pub use discoveries::*;
pub use drop_column::*;
pub use figures::*;
pub use held_out_error::*;
pub use learning_curve::*;
pub use nested::*;
pub use parts::*;
pub use permutations::*;
pub use reliability::*;
pub use shares::*;
pub use stability::*;
pub use steps::*;
pub use table::*;
pub use table_parts::*;
pub use verified::*;
pub use warning::*;

use crate::page::Section;
use serde_json::{Map, Value};
use vaglio_core::{
    Criterion, Diagnostics, Error, Feature, Part, Resampling, Result, StopReason, escape_controls, record, setting,
};
use vaglio_search::{Alternatives, Certificate};

/// The version of the format that this program writes and reads.
pub const SCHEMA: &str = "vaglio.selection/2";

/// The content of `selection.json`, in the order of its keys. Unknown keys are refused here, and ignored inside.
#[record]
#[derive(Default)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The version of the format.
    pub schema: String,
    /// Whether the search was cut short.
    pub status: Status,
    /// Reason why the search ended.
    pub stop_reason: StopReason,
    /// The version of the program.
    pub version: String,
    /// The seed from which every random choice follows.
    pub seed: u64,
    /// Warnings, each with advice.
    pub warnings: Vec<Warning>,
    /// The parts of the run.
    pub pipeline: PartNames,
    /// Settings found by tuning, if requested.
    #[optional]
    pub tuned: Option<TunedSettings>,
    /// Model trained on the chosen columns, if the pipeline has a `model`. All figures except the score are
    /// those of this model.
    #[optional]
    pub model: Option<FinalModelRecord>,
    /// Description of the data.
    pub data: DataRecord,
    /// Names of the candidate columns.
    pub candidates: Vec<String>,
    /// The score of the empty subset.
    pub empty_score: f64,
    /// Every step of the search.
    pub steps: Vec<StepRecord>,
    /// The best subset of each size, in the order in which the search reached them.
    pub path: Vec<EntryRecord>,
    /// Results of the earlier searches in a chain; `steps` and `path` belong to the last search.
    #[optional]
    pub stages: Vec<StageRecord>,
    /// Choice of the result from the path.
    pub chosen: ChosenRecord,
    /// Compared searches, if there are several; `steps` and `path` belong to the winner.
    #[optional]
    pub searches: Vec<ComparedSearch>,
    /// Entries of the path with a lower loss than all entries of equal or lower cost, if columns have costs.
    #[optional]
    pub frontier: Vec<FrontierPoint>,
    /// The selected columns, in order of entry.
    pub selected: Vec<SelectedRecord>,
    /// Drop-column figures that were not computed, since that would take long.
    #[optional]
    pub worth: Option<WorthRecord>,
    /// Columns that were not chosen, in order of their scores alone; at most 1000.
    #[optional]
    pub outside: Vec<OutsideRecord>,
    /// Score of the selected columns.
    pub score: f64,
    /// Penalty of the model, if outputs share one.
    pub lambda: Option<f64>,
    /// Penalty of each output, if outputs have separate ones.
    #[optional]
    pub lambdas: Option<Vec<f64>>,
    /// Intercept of the model, if it is linear.
    pub intercept: Option<PerOutput>,
    /// Equation of the model for each output, in the units of the data, with five digits per number. Empty if the model
    /// is no expression.
    #[optional]
    pub equation: Vec<String>,
    /// Columns that could not be selected.
    pub excluded: Vec<ExcludedRecord>,
    /// Mean absolute correlation of pairs of selected columns, for results by dependence or a least-angle path.
    #[optional]
    pub redundancy: Option<f64>,
    /// Certificate of a search of all subsets.
    #[optional]
    pub certificate: Option<Certificate>,
    /// Subsets nearly as good as the best, if requested.
    #[optional]
    pub alternatives: Option<AlternativesRecord>,
    /// Effects of rounding on the search, if the engine of the criterion reports them.
    #[optional]
    pub numerics: Option<Diagnostics>,
    /// Further findings of the parts that have any, by name: of `criterion`, `search`, `learner` and `model`; in
    /// `preprocess`, a list with `place`, `kind` and `found` of each map.
    #[optional]
    pub found: Map<String, Value>,
    /// Figures on test rows, if there are any.
    pub test: Option<Figures>,
    /// Nested cross-validation, if requested.
    pub nested: Option<NestedEvaluation>,
    /// Figures of the selection on shuffled targets, if requested.
    pub permutations: Option<Permutations>,
    /// Stability selection on half-samples, if requested.
    pub stability: Option<Stability>,
    /// Verdicts on columns with control of the false discovery rate, if requested.
    #[optional]
    pub fdr: Option<FalseDiscoveries>,
    /// Shapley values of the chosen columns, if requested.
    #[optional]
    pub shares: Option<SharesRecord>,
    /// Held-out loss over the number of training rows, if requested.
    #[optional]
    pub learning_curve: Option<LearningCurve>,
    /// Calibration of class probabilities on held-out rows.
    #[optional]
    pub calibration: Option<ReliabilityRecord>,
    /// Comparison of scores with plain retraining, if requested.
    pub verify: Option<Verified>,
    /// Wall-clock seconds.
    pub seconds: Seconds,
    /// Peak resident set of the process, if the system reports it.
    pub peak_memory_bytes: Option<u64>,
    /// Data of the charts of the report.
    pub report: ChartData,
}

/// Evaluation of the whole procedure, including the choice of size and λ; its score alone is optimistic.
#[setting]
#[derive(PartialEq, Default)]
#[serde(default)]
pub struct Evaluate {
    /// Nested cross-validation: repeats the procedure on the training rows of outer folds and evaluates on the held-out
    /// rows.
    pub nested: Option<OuterFolds>,
    /// Permutation test: number of repetitions of the procedure on shuffled targets.
    #[schemars(extend("minimum" = 1, "maximum" = MOST_REPETITIONS))]
    pub permutations: Option<usize>,
    /// Stability selection: repeats the search on complementary half-samples.
    pub stability: Option<Pairs>,
    /// Coverage of prediction intervals from the outer folds, as a share of new rows; for numbers.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub intervals: Option<f64>,
    /// Bound on the expected share of false discoveries among the confirmed columns. Each column gets a verdict and its
    /// q-value, the smallest rate that confirms it.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub fdr: Option<f64>,
    /// How much is computed of drop-column importance: the score without each chosen column, and with others in its
    /// place.
    pub worth: DropColumnBudget,
    /// Subsets as good as the chosen one: among those that the search visited, or among all if it is `exhaustive`.
    #[optional]
    pub alternatives: Option<Alternatives>,
    /// Shapley values of the chosen columns for the reduction of the criterion's loss, also by fold.
    #[optional]
    pub shares: bool,
    /// Learning curve: repeats the procedure on a quarter, a half, three quarters and all of the training rows of outer
    /// folds.
    #[optional]
    pub learning_curve: bool,
}

/// Largest number of repetitions of a kind.
const MOST_REPETITIONS: usize = 1_000_000;

impl Evaluate {
    /// The outer folds, which prediction intervals need as well.
    pub fn outer_folds(&self) -> Option<OuterFolds> {
        self.nested.clone().or(self.intervals.map(|_| OuterFolds::default()))
    }

    /// The folds of the learning curve: the outer folds, if there are any.
    pub fn learning_folds(&self) -> Option<OuterFolds> {
        self.learning_curve.then(|| OuterFolds { repeats: 1, ..self.outer_folds().unwrap_or_default() })
    }

    /// Checks the settings that do not depend on data.
    ///
    /// # Errors
    /// [`Error::Setting`] with the path of the field inside this block.
    pub fn check(&self, criterion: &dyn Criterion) -> Result<()> {
        if let Some(alternatives) = &self.alternatives {
            check_alternatives(alternatives, criterion)?;
        }
        if let Some(nested) = &self.nested {
            nested.check().map_err(|error| error.under("nested"))?;
        }
        if let Some(count) = self.permutations {
            Error::unless_between("permutations", count, 1..=MOST_REPETITIONS)?;
        }
        if let Some(pairs) = &self.stability {
            pairs.check().map_err(|error| error.under("stability"))?;
        }
        self.fdr.map_or(Ok(()), |rate| Error::unless_share("fdr", rate))?;
        self.intervals.map_or(Ok(()), |level| Error::unless_share("intervals", level))
    }
}

fn check_splits(splits: Option<&Part<dyn Resampling>>) -> Result<()> {
    splits.map_or(Ok(()), |splits| splits.check_settings().map_err(|error| error.under("splits")))
}

/// Result of a search in a chain, whose columns are the candidates of the next search.
#[record]
pub struct StageRecord {
    /// The search's kind.
    pub search: String,
    /// Indexes of the columns that it selected, in order of entry.
    pub taken: Vec<Feature>,
    /// Score of these columns.
    pub score: f64,
    /// The λ of that score, if it has one.
    pub lambda: Option<f64>,
    /// Reason why it ended.
    pub stop_reason: StopReason,
}

/// Whether a search was cut short.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Status {
    /// It ended by itself.
    #[default]
    Complete,
    /// It was cut short; the result so far is valid.
    Partial,
}

/// Wall-clock seconds.
#[record]
#[derive(Copy, Default)]
pub struct Seconds {
    /// From opening the files to the end of preprocessing.
    pub read: f64,
    /// The search on all rows, with the criterion's preparation.
    pub search: f64,
    /// Cross-validation that chose size and λ.
    pub choose: f64,
    /// Evaluations of the result, such as nested cross-validation and drop-column importance.
    pub evaluate: f64,
    /// The final fit, and the figures of the path and of each column.
    pub fit: f64,
    /// The whole run.
    pub total: f64,
}

/// Lines of evaluations in the short table, in their order.
pub(crate) static LINES: [fn(&Record) -> Option<String>; 6] = [
    |record| record.alternatives.as_ref().map(AlternativesRecord::sentence),
    |record| record.shares.as_ref().map(SharesRecord::sentence),
    |record| record.learning_curve.as_ref().map(LearningCurve::sentence),
    verified::line,
    |record| Some(escape_controls(&record.fdr.as_ref()?.sentence()).into_owned()),
    |record| record.worth.as_ref().and_then(WorthRecord::sentence),
];

/// Makes a section of the page, if a record has what it shows.
pub(crate) type SectionMaker = fn(&Record) -> Option<Section>;

/// Sections of evaluations and of single columns, in reading order.
pub(crate) static SECTIONS: [SectionMaker; 9] = [
    calibration_section,
    drop_column_section,
    shares_section,
    correlations_section,
    discoveries_section,
    frequencies_section,
    outer_folds_section,
    outside_section,
    learning_curve_section,
];
