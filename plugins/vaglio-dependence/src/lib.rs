//! Criteria of dependence between columns and target for [vaglio](vaglio_core), which train nothing.
//!
//! `use vaglio_dependence as _;` in a program makes the criteria `hsic`, `mrmr_information` and `qpfs` known to its
//! pipeline files; they are [`Hsic`], [`MrmrInformation`] and [`Qpfs`].

mod bins;
mod hsic;
mod mrmr;
mod qpfs;
mod target;

pub use bins::Bins;
pub use hsic::{Estimator, Hsic, HsicKernel};
pub use mrmr::{MrmrInformation, Scheme};
pub use qpfs::{Alpha, AlphaRule, Qpfs, Similarity};
pub use target::Output;
