//! The traits of vaglio, and everything that the author of a plug-in reads.
//!
//! A [`Criterion`] scores subsets of columns, a [`Learner`] gives them meaning; searches, which walk subsets, are in
//! `vaglio-search`. Each is a trait; an implementation is a plain struct whose fields are its settings, registered for
//! pipeline files by [`#[part(Trait, "word")]`](part).
//!
//! Data come as a [`Problem`], which the user gave and is checked once. They are searched as a [`Design`], the
//! learner's columns with their readout. Lower scores are better everywhere.
//!
//! # Writing a part
//!
//! A plug-in depends on this crate, and on `vaglio-testkit` for its test:
//! ```
//! use vaglio_core::{Result, prelude::*};
//!
//! /// How much of the first target the columns explain, one by one.
//! #[part(Criterion, "relevance")]
//! pub struct Relevance {}
//!
//! impl Criterion for Relevance {
//!     fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
//!         let y = design.targets().row(0).to_vec();
//!         let product = |x: &[f64]| -> f64 { x.iter().zip(&y).map(|(x, y)| x * y).sum() };
//!         Ok(Score::new(-subset.iter().map(|&f| product(&design.column(f).values()).abs()).sum::<f64>()))
//!     }
//! }
//! ```
//! [`Criterion::evaluate`] is the definition. That alone works with every search; add [`Criterion::plan`] when there
//! is a shortcut. `plugins/vaglio-dependence` has complete examples.

extern crate self as vaglio_core;

mod action;
mod classes;
mod criterion;
mod design;
mod diagnostics;
mod error;
mod evaluator;
pub mod exact_float;
mod expression;
mod formatting;
mod formulas;
mod geometry;
pub mod infinity;
mod labels;
mod lambda;
mod learner;
mod loss;
mod map;
mod missing_mask;
mod mixed_setting;
mod model;
pub mod numerals;
mod part_outputs;
mod part_setting;
mod penalty;
mod per_fold_preprocessing;
mod plan;
mod power_of_two;
mod prediction_units;
pub mod prelude;
mod problem;
mod quantile;
mod readout;
mod registry;
mod resampling;
pub mod ridge;
mod round;
mod schema;
mod score;
mod search_extent;
mod session;
pub mod shuffle;
mod stop_reason;
mod stop_sign;
mod table;
mod target_map;
mod task;

pub use action::Action;
pub use classes::{ClassOrder, Classes, is_tie};
pub use criterion::{Criterion, CriterionTraits, HeldOut, definition_engine};
pub use design::{
    Design, FoldLineage, ProcessGroup, far_exponent, feature_map, in_loss_units, prediction_units, refit_each, rescale,
    single_outputs, target_unit, training_weights,
};
pub use diagnostics::{Diagnostics, Recorder};
pub use error::{Cause, Error, ErrorClass, Result, SourceLocation, nearest};
pub use evaluator::{CacheEffect, EngineEvaluator, Evaluator, RowsHeldOut, SquaresBound, refuse_nan};
pub use expression::{Condition, DatePart, Expression, Function, LevelValues};
pub use formatting::{
    abridge, clip, escape_controls, is_control, join, number, pluralize, short, significant, table_number,
};
pub use formulas::{ColumnFormula, MapFormulas, OutputUnit};
pub use geometry::{Geometry, magnitude, standardize, standardize_column, standardize_outputs};
pub use labels::{RowLabels, number_labels, relative_weights, rows_by_label, select_rows};
pub use lambda::minimize;
pub use learner::{FeatureMap, Learner};
pub use loss::{
    Absolute, Auc, BalancedError, BalancedSquared, Concordance, Huber, LogLoss, Loss, LossTasks, LossTraits, Measure,
    Pinball, Squared, ZeroOne, error_over_parts, jackknife_variance,
};
pub use map::{FittedMap, Map, MapTraits, TrainingRows};
pub use mixed_setting::{MixedSetting, first_key, read_mixed};
pub use model::{Model, ModelData, ReadoutMap, TrainedReadout};
pub use part_outputs::PartOutputs;
pub use part_setting::{NamedPart, Part};
pub use penalty::{Lambda, geometric};
pub use per_fold_preprocessing::{PerFoldPreprocessing, RefitScope};
pub use plan::{Estimate, Plan};
pub use power_of_two::{PowerOfTwoScaling, times_power};
pub use problem::{Block, Problem};
pub use quantile::normal_quantile;
pub use readout::Readout;
pub use registry::{Description, Registration, Role, descriptions, registrations, title};
pub use resampling::{MOST_REPEATS, Resampling, ResamplingTraits};
pub use ridge::Coefficients;
pub use round::{Round, Split};
pub use score::{Score, Winner, is_lower};
pub use search_extent::SearchExtent;
pub use session::{ByKey, Cache};
pub use stop_reason::StopReason;
pub use stop_sign::StopSign;
pub use table::{Cells, Table, duplicate};
pub use target_map::{FittedTargetMap, TargetMap};
pub use task::Task;
pub use vaglio_columns::{
    CancelToken, Column, Columns, Numbers, ProductNumbers, SingleNumbers, SparseNumbers, argsort_by, checkpoint,
    gather, get_or_make, get_or_try_make, is_byte, lock, max_abs, minimum, row_weights, sum_of_products,
    sum_of_squares,
};

/// # Example
/// ```
/// use vaglio_core::{Criterion, Design, Feature, Result, Score, part};
///
/// /// How many columns there are, each at a price.
/// #[part(Criterion, "count")]
/// pub struct Count {
///     /// The price of a column.
///     #[default(0.5)]
///     pub price: f64,
/// }
///
/// impl Criterion for Count {
///     fn evaluate(&self, _: &Design, subset: &[Feature]) -> Result<Score> {
///         Ok(Score::new(self.price * subset.len() as f64))
///     }
/// }
/// assert_eq!(Count::default().price, 0.5);
/// ```
/// A word has one place: without the attribute there is no part.
/// ```compile_fail,E0277
/// use vaglio_core::{Criterion, Design, Feature, Result, Score};
///
/// #[derive(Debug)]
/// pub struct Count {}
///
/// impl Criterion for Count {
///     fn evaluate(&self, _: &Design, subset: &[Feature]) -> Result<Score> {
///         Ok(Score::new(subset.len() as f64))
///     }
/// }
/// ```
pub use vaglio_macros::part;
pub use vaglio_macros::{record, saved};

/// # Example
/// ```
/// use vaglio_core::{serde_json, setting};
///
/// /// How neighbors count.
/// #[setting]
/// #[derive(PartialEq, Default)]
/// pub enum Weights {
///     /// All alike.
///     #[default]
///     Uniform,
///     /// By the inverse of their distance.
///     InverseDistance,
/// }
/// assert_eq!(serde_json::to_string(&Weights::InverseDistance).unwrap(), "\"inverse_distance\"");
/// ```
pub use vaglio_macros::setting;

/// Whether a value is the default of its type, so that a file may leave it out.
#[doc(hidden)]
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Registers parts and saved objects by their words.
#[doc(hidden)]
pub mod registered {
    pub use crate::criterion::registered::*;
    pub use crate::learner::registered::*;
    pub use crate::loss::registered::*;
    pub use crate::map::registered::*;
    pub use crate::model::registered::*;
    pub use crate::part_setting::WRITTEN;
    pub use crate::resampling::registered::*;
    pub use crate::target_map::registered::*;
}

/// Crates that fields of parts and the attributes use.
pub use {ndarray, serde, serde_json};

#[cfg(feature = "schema")]
#[doc(hidden)]
pub use schemars;

#[doc(hidden)]
pub use {chrono, inventory, typetag};

/// A candidate column of a [`Design`], counted from 0.
pub type Feature = usize;
