//! Built-in maps, which transform columns before they become candidates.

pub(crate) mod chain;
mod clip;
mod columns;
mod constant;
mod date_parts;
mod impute;
mod levels;
mod log1p;
mod old_forms;
mod one_hot;
mod ordinal;
pub(crate) mod power;
mod products;
mod scope;
pub(crate) mod standardize;
mod target_encode;
pub(crate) mod weights;
mod window;
mod within;

pub use chain::{original_weights, scaled_source, source_columns};
pub use clip::Clip;
pub use constant::Constant;
pub use date_parts::DateParts;
pub use impute::Impute;
pub use log1p::Log1p;
pub use one_hot::OneHot;
pub use ordinal::Ordinal;
pub use power::Power;
pub use products::{Interactions, Polynomial};
pub use scope::Scope;
pub use standardize::Standardize;
pub use target_encode::TargetEncode;
pub use window::Window;
pub use within::WithinSeries;
