//! A whole selection repeated on parts of the rows: to choose its size and λ, and to say what it is worth.
//!
//! A [`Sample`] is rows before anything was learned from them. Of some of its rows [`Sample::fitted`] makes a problem, maps
//! included, and of the others the problem on which the first is judged. A [`Trail`] is what one walk on training rows
//! loses on the rows held out, for every size; trails of one λ pool to a line of a [`Table`], from which size and λ are
//! taken. Everything that is repeated has a place of its own, a fold and a λ, and no result depends on the order.
//!
//! A figure that the held-out rows had a part in is none, so maps, search, λ and fit are repeated on the training rows of every fold: for the
//! choice of size and λ, for `nested`, `permutations` and `stability`. λ belongs to the walk by default and not to the subset: on more columns
//! than rows a λ that the score of every subset chooses falls to where noise is fitted. All models of a path come from one triangle of its
//! columns. Designs of one fold at several λ share what does not depend on λ, and folds share one read of the columns
//! (`vaglio_kernels::BlockSums`) or the moments of cells; rows that no map changes are viewed, not copied.

pub(crate) mod along;
#[cfg(feature = "files")]
pub(crate) mod behind;
#[cfg(feature = "files")]
mod beside;
#[cfg(test)]
mod by_hand;
pub(crate) mod choice;
mod chosen;
mod confirmed;
#[cfg(feature = "files")]
pub(crate) mod deals;
#[cfg(feature = "files")]
pub(crate) mod dealt;
mod extend;
mod folds;
mod full;
pub(crate) mod held_out;
mod interval;
pub(crate) mod judged;
pub(crate) mod lockstep;
mod missing;
pub(crate) mod numeric;
pub(crate) mod parting;
pub(crate) mod pool;
mod race;
mod refit;
pub(crate) mod room;
mod rows;
pub(crate) mod sample;
mod scored;
mod sizes;
#[cfg(feature = "files")]
mod start;
mod table;
pub(crate) mod tally;
pub(crate) mod validated;
pub(crate) mod walks;
pub(crate) mod whole;

#[cfg(feature = "files")]
pub(crate) use beside::{accompany, is_in_parts};
pub(crate) use choice::{Picked, select};
pub use chosen::Chosen;
pub(crate) use folds::FoldAssignment;
pub(crate) use held_out::held_out;
#[cfg(feature = "files")]
pub(crate) use interval::{Judged, LEVEL};
pub(crate) use numeric::{numeric, unless_too_large};
pub(crate) use pool::Watcher;
pub(crate) use rows::{Recipe, Rows, in_units};
pub(crate) use sample::{Fitted, Sample};
#[cfg(feature = "files")]
pub(crate) use start::{count_starts, start};
pub(crate) use tally::Tally;
#[cfg(feature = "files")]
pub(crate) use validated::STARTS;
pub(crate) use whole::{Outer, Pooled, Whole, outer};
