//! Common imports of programs that select features: `use linfa::prelude::*; use vaglio::prelude::*;`.
//!
//! The parts that need no plug-in, `Nhsic`, and the types of most settings. Other criteria of dependence are in
//! [`criteria`](crate::criteria), maps of targets in [`target_maps`](crate::target_maps).

pub use crate::core::{
    Absolute, Auc, BalancedError, BalancedSquared, Concordance, Criterion, Huber, Lambda, Learner, LogLoss, Loss,
    Pinball, Resampling, Squared, StopReason, StopSign, Task, ZeroOne,
};
#[cfg(feature = "dependence")]
pub use crate::criteria::Nhsic;
pub use crate::criteria::{FoldBy, KFold, Loo};
#[cfg(feature = "files")]
pub use crate::files::FileModel;
pub use crate::learners::{Crrr, Rls};
pub use crate::maps::{
    Clip, Constant, DateParts, Impute, Interactions, Log1p, OneHot, Ordinal, Polynomial, Power, Scope, Standardize,
    TargetEncode, Window, WithinSeries,
};
pub use crate::search::{
    All, Backward, Blocks, Chain, Choose, Constraints, CrossValidation, Event, Exhaustive, Floating, Greedy, Lars,
    Observer, Polish, Random, Rank, Rule, Search, Step,
};
pub use crate::splits::{Forward, Given, MonteCarlo, Repeated};
pub use crate::tune::Tune;
pub use crate::{FitError, FittedPipeline, NestedResult, Pipeline, Progress, Selector, TargetValue};
pub use ndarray::{Array1, Array2, Ix1, Ix2};
