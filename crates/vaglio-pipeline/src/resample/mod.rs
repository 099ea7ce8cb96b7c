//! A whole selection repeated on parts of the rows: to choose its size and λ, and to say what it is worth.
//!
//! A [`Sample`] is rows before anything was learned from them. Of some of its rows [`Sample::fitted`] makes a problem, maps
//! included, and of the others the problem on which the first is judged. A [`Trail`](walks::Trail) is what one walk on training rows
//! loses on the rows held out, for every size; trails of one λ pool to a line of a `Table`, from which size and λ are
//! taken. Everything that is repeated has a place of its own, a fold and a λ, and no result depends on the order.
//!
//! A figure that the held-out rows had a part in is none, so maps, search, λ and fit are repeated on the training rows of every fold: for the
//! choice of size and λ, for `nested`, `permutations` and `stability`. λ belongs to the walk by default and not to the subset: on more columns
//! than rows a λ that the score of every subset chooses falls to where noise is fitted. All models of a path come from one triangle of its
//! columns. Designs of one fold at several λ share what does not depend on λ, and folds share one read of the columns
//! (`vaglio_kernels::BlockSums`) or the moments of cells; rows that no map changes are viewed, not copied.

pub mod along;
pub mod behind;
mod beside;
#[cfg(test)]
mod by_hand;
pub mod choice;
mod chosen;
mod confirmed;
mod extend;
mod folds;
mod full;
mod gain;
pub mod held_out;
mod interval;
pub mod judged;
pub mod lockstep;
mod missing;
pub mod numeric;
pub mod parting;
pub mod pool;
mod pooled;
mod race;
mod refit;
pub mod room;
mod rows;
pub mod sample;
mod scales;
mod scored;
mod shuffled;
mod sizes;
mod start;
mod stopped;
mod table;
pub mod tally;
pub mod validated;
pub mod walks;
pub mod whole;

pub use beside::{accompany, is_in_parts};
pub use choice::Picked;
pub use chosen::Chosen;
pub use folds::FoldAssignment;
pub use held_out::held_out;
pub use interval::{Judged, LEVEL};
pub use pool::Watcher;
pub use pooled::Pooled;
pub use rows::{Recipe, Rows};
pub use sample::{Fitted, Sample};
pub use scales::TargetMapping;
pub use start::{count_starts, start};
pub use stopped::select;
pub use tally::Tally;
pub use validated::STARTS;
pub use whole::{Outer, Whole, outer};

pub(crate) use numeric::{numeric, unless_too_large};
pub(crate) use rows::in_units;
pub(crate) use scored::by_score;
