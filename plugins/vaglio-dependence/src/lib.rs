//! Criteria of dependence between columns and target for [vaglio](vaglio_core), without training a model.
//!
//! [`Nhsic`], [`Hsic`], [`Mrmr`] and [`MrmrInformation`] score subsets. [`Qpfs`], [`Hsfs`], [`Fcbf`], [`HitonPc`] and
//! [`Spam`] weight all columns at once. All are built into `vaglio`. They share the kernel of the target ([`Output`])
//! and the binning of columns ([`Bins`]).

mod bins;
mod column_weights;
mod fcbf;
mod hiton;
#[cfg(feature = "hsfs")]
mod hsfs;
mod hsic;
mod kernel_matrix;
mod mrmr;
mod nhsic;
mod qpfs;
mod spam;
mod target;

pub use bins::Bins;
pub use fcbf::Fcbf;
pub use hiton::{HitonPc, Independence};
#[cfg(feature = "hsfs")]
pub use hsfs::Hsfs;
pub use hsic::{Estimator, Hsic, HsicKernel};
pub use mrmr::{Mrmr, MrmrInformation, Scheme};
pub use nhsic::{Approximation, Kernel, Nhsic, OutputApproximation};
pub use qpfs::{Alpha, Qpfs, Similarity};
pub use spam::Spam;
pub use target::Output;
