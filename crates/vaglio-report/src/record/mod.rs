//! The result of a run as `selection.json` holds it: written, read back, and shown by the report.

mod alternatives;
mod bounds;
mod choice;
mod column_facts;
mod columns;
mod compared_search;
mod data;
mod diagnostics;
mod discoveries;
mod evaluation;
mod figures;
mod final_model;
mod held_out_error;
mod importance;
mod json;
mod learning_curve;
mod left_out_rows;
mod loss_name;
mod methods;
mod part_outputs;
mod parts;
mod reliability;
mod shares;
mod steps;
mod table;
mod table_parts;
mod tuning;
mod warning;

pub use alternatives::{AlternativeRecord, AlternativesRecord};
pub use choice::{
    Cell, ChosenBy, ChosenRecord, ComparisonColumns, DeclinedColumns, GainTest, LEAST_P, LossDifference, LossTable,
    SizeSpread, SizeSpreadSource,
};
pub use column_facts::{ConstantIn, NearestStep, OutsideRecord, SimilarColumn, WeightSpread};
pub use columns::{ColumnRun, MadeColumns};
pub use compared_search::{ComparedSearch, FrontierPoint};
pub use data::DataRecord;
pub use diagnostics::{DrawnColumn, Histogram, ResidualsRecord, WorstRow};
pub use discoveries::{ColumnVerdict, FalseDiscoveries, Verdict};
pub use evaluation::{
    Frequency, Intervals, NestedEvaluation, NullFigure, OuterFold, PairedLosses, Permutations, Stability,
    StabilityBound, StableColumn, Verified,
};
pub use figures::{ConstantAnswerError, Figures, OutputFigures, class_of, largest, variance};
pub use final_model::FinalModelRecord;
pub use held_out_error::HeldOutError;
pub use importance::WorthRecord;
pub use learning_curve::{LearningCurve, LearningPoint};
pub use left_out_rows::{LeftOutReason, LeftOutRows, left_out_rows};
pub use loss_name::LossName;
pub use methods::{Methods, ReformsItem};
pub use part_outputs::{FoundByMap, FoundRecord};
pub use parts::{PartNames, TunedSettings};
pub use reliability::{ReliabilityBin, ReliabilityRecord, brier};
pub use shares::{ShareRecord, SharesRecord};
pub use steps::{EntryRecord, StepRecord, recorded};
pub use table::proven;
pub use table_parts::{interval_text, level_text};
pub use tuning::{Bounds, Method, Scale, ScoredSelection, ScoredSettings, Tune, TuningResult};
pub use warning::{Warning, WarningKind};

use crate::infinity;
use serde::{Deserialize, Serialize};
use vaglio_core::{Certificate, Diagnostics, Feature, StopReason};

/// The version of the format that this program writes and reads.
pub const SCHEMA: &str = "vaglio.selection/2";
/// Selected columns of which a record holds the correlations, at most.
pub const MOST_CORRELATED: usize = 60;

/// The content of `selection.json`, in the order of its keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The version of the format.
    pub schema: String,
    /// Whether the search was cut short.
    pub status: Status,
    /// Why the search ended.
    pub stop_reason: StopReason,
    /// The version of the program.
    pub version: String,
    /// The seed from which every random choice follows.
    pub seed: u64,
    /// Reasons for care, each with advice.
    pub warnings: Vec<Warning>,
    /// The parts of the run.
    pub pipeline: PartNames,
    /// The settings that tuning found, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<TunedSettings>,
    /// The model that was trained on the chosen columns, if the pipeline has a `model`: all figures but the
    /// score are of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<FinalModelRecord>,
    /// Description of the data.
    pub data: DataRecord,
    /// Names of the candidate columns.
    pub candidates: Vec<String>,
    /// The score of the empty subset.
    #[serde(with = "infinity")]
    pub empty_score: f64,
    /// Every step of the search.
    pub steps: Vec<StepRecord>,
    /// The best subset of each size, in the order in which the search came to them.
    pub path: Vec<EntryRecord>,
    /// Results of the searches before the last one, in a chain of searches; steps and path are of the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageRecord>,
    /// How the result was taken from the path.
    pub chosen: ChosenRecord,
    /// The searches that were compared, if there are several; steps and path are those of the one that won.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<ComparedSearch>,
    /// Entries of the path that lose less than all that cost as much or less, if columns have costs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frontier: Vec<FrontierPoint>,
    /// The result, in order of entry.
    pub selected: Vec<SelectedRecord>,
    /// Figures of the chosen columns that were not computed, since that would take long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worth: Option<WorthRecord>,
    /// The columns that were not chosen, those of the best score alone first; of very many the first 1000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<OutsideRecord>,
    /// Score.
    #[serde(with = "infinity")]
    pub score: f64,
    /// The penalty that its model was trained with, where outputs share one.
    pub lambda: Option<f64>,
    /// The penalty of each output, where each has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambdas: Option<Vec<f64>>,
    /// The intercept of its model, if that is linear.
    pub intercept: Option<PerOutput>,
    /// The model as one equation for each output, in the units of the data, with five digits of each number; none of a model that is
    /// no expression.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub equation: Vec<String>,
    /// Columns that could not be selected.
    pub excluded: Vec<ExcludedRecord>,
    /// Mean absolute correlation of pairs of selected columns; of results by dependence or by a least-angle path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redundancy: Option<f64>,
    /// Certificate of a search of all subsets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
    /// Subsets nearly as good as the best, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<AlternativesRecord>,
    /// Effects of rounding on the search, if the engine of the criterion reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numerics: Option<Diagnostics>,
    /// Further findings of the parts.
    #[serde(default, skip_serializing_if = "FoundRecord::is_empty")]
    pub found: FoundRecord,
    /// Figures on test rows, if there are any.
    pub test: Option<Figures>,
    /// Figures of the whole selection repeated in outer folds.
    pub nested: Option<NestedEvaluation>,
    /// The figures that the selection reaches on shuffled targets.
    pub permutations: Option<Permutations>,
    /// How often columns are selected on halves of the rows.
    pub stability: Option<Stability>,
    /// Which columns are no false discoveries, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fdr: Option<FalseDiscoveries>,
    /// The share of each chosen column in what the score falls by, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<SharesRecord>,
    /// The loss on rows held out by how many rows the procedure is trained on, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning_curve: Option<LearningCurve>,
    /// Probabilities of classes on rows held out, beside what came about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<ReliabilityRecord>,
    /// Steps that were recomputed by plain retraining, where that was asked for.
    pub verify: Option<Verified>,
    /// Wall-clock seconds.
    pub seconds: Seconds,
    /// The process's peak resident set, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// Data of the charts of the report.
    pub report: ChartData,
}

/// A search that another followed among the columns that this one took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageRecord {
    /// The search's kind.
    pub search: String,
    /// The columns that it took, by index, in order of entry.
    pub taken: Vec<Feature>,
    /// Their score.
    #[serde(with = "infinity")]
    pub score: f64,
    /// The λ of that score, if it has one.
    pub lambda: Option<f64>,
    /// Why it ended.
    pub stop_reason: StopReason,
}

/// Whether a search was cut short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ended by itself.
    Complete,
    /// It was cut short; the result so far is valid.
    Partial,
}

/// Wall-clock seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seconds {
    /// From opening the files to the end of preprocessing.
    pub read: f64,
    /// The search, with the learner's map and the criterion's preparation.
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

/// One selected column. Keys that earlier versions wrote are ignored.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SelectedRecord {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Weight in the model, if that is linear.
    pub weight: Option<PerOutput>,
    /// Weight for one unit of the column as it was read, where preprocessing only shifts and divides it; of a place in an
    /// order (`ordinal`) or a part of a date for one step of that code.
    pub original_weight: Option<PerOutput>,
    /// The score of the selection without it.
    #[serde(default, with = "infinity::optional")]
    pub without: Option<f64>,
    /// The columns that cost least in its place.
    pub substitutes: Option<Vec<Substitute>>,
    /// The criterion's own coefficient, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The score of the column alone.
    #[serde(
        default,
        serialize_with = "infinity::optional::serialize",
        deserialize_with = "infinity::where_computed",
        skip_serializing_if = "Option::is_none"
    )]
    pub alone: Option<f64>,
    /// Variance inflation factor 1/(1 − R²), R² being the share of its variance that the other chosen columns explain.
    #[serde(
        default,
        serialize_with = "infinity::optional::serialize",
        deserialize_with = "infinity::where_computed",
        skip_serializing_if = "Option::is_none"
    )]
    pub vif: Option<f64>,
    /// The share of training rows in which it, or a column that it is made of, is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<f64>,
    /// Weights in the models of outer folds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_folds: Option<WeightSpread>,
    /// How its values lie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
}

/// A column in the place of a selected one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Substitute {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// The score with it.
    #[serde(with = "infinity")]
    pub score: f64,
}

/// A column that could not be selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExcludedRecord {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Why: `constant`.
    pub reason: String,
}

/// A number of a model with one output, or one for each output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PerOutput {
    /// One output.
    One(#[serde(with = "infinity")] f64),
    /// A number for each output.
    Several(#[serde(with = "infinity::several")] Vec<f64>),
}

/// Data of the charts of the report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartData {
    /// Error rates of the models along the path, for classes.
    pub curve: Vec<SizePoint>,
    /// The cross-validated losses of all sizes and λ of the walk.
    pub table: Option<LossTable>,
    /// Rows predicted by models that had not seen them.
    pub predictions: Option<ShownPredictions>,
    /// The figures of rows held out in the folds of the search, where there are no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<Figures>,
    /// Correlations of each selected column with those before it, in order of entry; none where they are many.
    pub correlations: Vec<Vec<Option<f64>>>,
    /// How the learner was tuned, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<TuningResult>,
    /// Residuals against the chosen columns and time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residuals: Option<ResidualsRecord>,
}

/// Error rates of the model of one size, refitted on the training rows.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizePoint {
    /// Number of columns.
    pub size: usize,
    /// Error rate on the training rows.
    pub train_error: Option<f64>,
    /// Error rate on the test rows.
    pub test_error: Option<f64>,
}

/// Observed and predicted targets of rows that the model had not seen; a sample where they are many.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownPredictions {
    /// Where they come from.
    pub from: PredictionRows,
    /// How many rows there were.
    pub rows: usize,
    /// Observed targets in the target's units (classes: the number of the class in `data.classes`), one list for each
    /// target; one for classes.
    pub observed: Vec<Vec<f64>>,
    /// Predictions, one list for each output.
    pub predicted: Vec<Vec<f64>>,
}

/// On which rows predictions were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PredictionRows {
    /// Outer folds.
    Nested,
    /// Folds of the cross-validated search.
    CrossValidation,
    /// Test rows.
    Test,
}

impl PerOutput {
    /// One number, or a list of any other length.
    pub fn new(values: Vec<f64>) -> Self {
        match values[..] {
            [value] => PerOutput::One(value),
            _ => PerOutput::Several(values),
        }
    }

    /// The number of each output.
    pub fn values(&self) -> &[f64] {
        match self {
            PerOutput::One(value) => std::slice::from_ref(value),
            PerOutput::Several(values) => values,
        }
    }
}
