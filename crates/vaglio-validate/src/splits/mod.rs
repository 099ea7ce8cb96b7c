//! Rows that are held out otherwise than once each: `splits` of [`crate::KFold`].

pub(crate) mod assign;
mod forward;
mod given;
mod monte_carlo;
mod repeated;

pub use forward::Forward;
pub use given::Given;
pub use monte_carlo::MonteCarlo;
pub use repeated::Repeated;
