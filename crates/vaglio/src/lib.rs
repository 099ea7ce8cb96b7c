//! Feature selection for regularized least squares: exact, fast, and open to plug-ins.
//!
//! A search visits subsets of columns, a criterion scores them, and a learner fits a model. Pick one of each and fit them
//! like any other parameters of linfa:
//!
//! ```
//! use linfa::prelude::*;
//! use ndarray::array;
//! use vaglio::{Pipeline, criteria::Loo, learners::Rls, maps::Standardize, search::Greedy};
//!
//! let x = array![[1.0, 0.3, 5.0], [2.0, -0.1, 3.0], [3.0, 0.2, 8.0], [4.0, 0.0, 1.0], [5.0, -0.4, 2.0]];
//! let dataset = Dataset::new(x, array![1.1, 2.0, 2.9, 4.2, 5.0]).with_feature_names(vec!["dose", "noise", "age"]);
//!
//! let pipeline = Pipeline::new(Loo::default(), Greedy::new(1), Rls::default()).preprocess(Standardize::default());
//! let fitted = pipeline.fit(&dataset)?;
//! assert_eq!(fitted.selected(), ["dose"]);
//!
//! let smaller = fitted.transform(dataset.clone());
//! assert_eq!(smaller.nfeatures(), 1);
//! let predictions: ndarray::Array1<f64> = fitted.predict(&dataset);
//! assert!((predictions[4] - 5.0).abs() < 0.6);
//! # Ok::<(), vaglio::FitError>(())
//! ```
//!
//! # Where things are
//!
//! | | |
//! |---|---|
//! | [`prelude`] | common imports, in one `use` |
//! | [`Selector`] | criterion, search and learner as linfa parameters |
//! | [`Pipeline`] | a selector with preprocessing, and with files for data; read from YAML by [`pipeline::load`] |
//! | [`FittedPipeline`] | the fitted result of either: predicts, transforms, can be inspected, saved and loaded |
//! | [`OriginalScale`] | coefficients in the units of the data |
//! | [`Rows`] | groups, folds, series and times of rows, for [`Pipeline::fit_with`]; [`problem`] makes a problem of a dataset |
//! | [`Pipeline::nested`] | nested cross-validation of a whole pipeline |
//! | [`criteria`], [`splits`], [`search`], [`learners`], [`maps`], [`target_maps`] | the parts that come with this crate |
//! | [`tune`] | settings of the learner, chosen by the criterion |
//! | [`core`] | traits and types for your own parts |
//! | [`pipeline`] | pipelines from files, and [`pipeline::SavedModel`] |
//! | [`files`] | a run from files to files: [`files::run`], [`files::plan`] |
//!
//! Tables, records, reports and settings with positions are in crates of their own: `vaglio-tables`, `vaglio-report` and
//! `vaglio-document`.
//!
//! # Features
//!
//! * `dependence`, on by default: `nhsic` and other criteria of dependence.
//! * `documents`: pipelines as YAML, and models in files.
//! * `files`, on by default: tables from text files, runs from files to files, and the report, with `documents`.
//! * `sprs`, on by default: datasets of linfa with sparse records.
//! * `tune`, on by default: settings of the learner chosen by the criterion, and the criterion `hsfs`.
//! * `parquet`: also reads Parquet, Arrow and compressed files.
//! * `lapack`: linear algebra by LAPACK, matrix products by BLAS instead of faer; needs a system OpenBLAS.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod prelude;

pub use vaglio_core as core;
#[cfg(feature = "files")]
#[doc(inline)]
pub use vaglio_files as files;
#[cfg(feature = "sprs")]
#[doc(inline)]
pub use vaglio_pipeline::SparseRecords;
#[doc(inline)]
pub use vaglio_pipeline::{
    Choice, FitError, FittedPipeline, NestedFold, NestedResult, OriginalScale, Pipeline, Progress, Rows, Selection,
    Selector, TargetValue, TargetedTable, ValidPipeline, ValidSelector, learners, maps, problem, target_maps, tune,
};
pub use vaglio_report::record::{ChosenBy, Warning, WarningKind};
pub use vaglio_search as search;
pub use vaglio_validate::splits;

/// Criteria: cross-validation, and dependence on the target.
pub mod criteria {
    #[cfg(feature = "dependence")]
    pub use vaglio_dependence::*;
    pub use vaglio_validate::{Engine, FoldBy, KFold, Loo};
}

/// Pipelines from files, and models in files.
pub mod pipeline {
    pub use vaglio_pipeline::pipeline::SavedModel;
    #[cfg(feature = "documents")]
    pub use vaglio_pipeline::pipeline::load;
}
