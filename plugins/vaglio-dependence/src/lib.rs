//! Criteria of dependence between columns and target for [vaglio](vaglio_core), which train nothing.
//!
//! [`Nhsic`] is built into `vaglio`, and with it the others: [`Hsic`], [`Mrmr`], [`MrmrInformation`] and [`Qpfs`]. They share
//! the kernel of the target ([`Output`]) and the bins of columns ([`Bins`]).

mod bins;
mod hsic;
mod mrmr;
mod nhsic;
mod qpfs;
mod target;

pub use bins::Bins;
pub use hsic::{Estimator, Hsic, HsicKernel};
pub use mrmr::{Mrmr, MrmrInformation, Scheme};
pub use nhsic::{Approximation, Kernel, Nhsic, OutputApproximation};
pub use qpfs::{Alpha, AlphaRule, Qpfs, Similarity};
pub use target::Output;
