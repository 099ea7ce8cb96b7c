//! Criteria that come with vaglio: cross-validation, and dependence on the target.

pub use vaglio_dependence::{
    Approximation, Fcbf, HitonPc, Hsfs, Hsic, Kernel, Mrmr, MrmrInformation, Nhsic, Output, OutputApproximation, Qpfs,
    Spam,
};
pub use vaglio_validate::{Engine, FoldBy, KFold, Loo};
pub(crate) use vaglio_validate::{HeldOutPredictions, Session, chosen_data, predicted_held_out};
