//! What programs that select features name: `use linfa::prelude::*; use vaglio::prelude::*;`.

pub use crate::core::{
    Absolute, Answer, Auc, BalancedError, Choose, Criterion, CrossValidation, Huber, Lambda, Learner, LogLoss, Loss,
    Map, Observer, Per, Pinball, Rule, SearchStrategy, Squared, Step, StopReason, ZeroOne,
};
pub use crate::criteria::{KFold, Loo, Nhsic};
pub use crate::learners::{Crrr, Rls};
pub use crate::maps::{Clip, Constant, Impute, Interactions, Log1p, Polynomial, Power, Standardize, Window};
pub use crate::search::{All, Backward, Chain, Exhaustive, Floating, Greedy, Lars, Random, Rank};
pub use crate::splits::{Forward, Given, MonteCarlo, Repeated};
pub use crate::{FitError, FittedPipeline, NestedResult, Pipeline, Rows, Selector};
pub use ndarray::{Ix1, Ix2};
