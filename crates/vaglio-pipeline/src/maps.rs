//! Built-in maps, which transform columns before they become candidates.

mod chain;
mod clip;
mod columns;
mod constant;
mod date_parts;
#[cfg(test)]
mod fitting;
mod impute;
mod levels;
mod log1p;
mod one_hot;
mod ordinal;
mod power;
mod products;
mod scope;
mod standardize;
mod target_encode;
mod weights;
mod window;
mod within;

pub use chain::{ColumnScale, MapChain};
pub use clip::{Clip, FittedClip};
pub use constant::{Constant, FittedConstant};
pub use date_parts::{DatePart, DateParts, FittedDateParts};
pub use impute::{FittedImpute, Impute, ImputeStrategy, Value};
pub use levels::UnseenLevels;
pub use log1p::{FittedLog1p, Log1p};
pub use one_hot::{FittedOneHot, OneHot, Unknown};
pub use ordinal::{FittedOrdinal, Ordinal, UnknownLevel};
pub use power::{Auto, Exponent, FittedPower, Power, PowerFamily};
pub use products::{FittedProducts, Interactions, Polynomial};
pub use scope::{LearnedOn, Scope};
pub(crate) use standardize::moments;
pub use standardize::{FittedStandardize, Standardize};
pub use target_encode::{FittedTargetEncode, TargetEncode};
pub use window::{FittedWindow, Lags, Window};
pub use within::{FittedWithinSeries, WithinSeries};
