//! The searches of vaglio, and what searches are written on.
//!
//! A search is a struct of settings, declared by [`settings!`], with a [`SearchStrategy`](core::SearchStrategy). On a
//! design its settings give a [`Space`]: the features that may be selected, in the groups in which they move, and the
//! limits of the subsets. A [`Walk`] goes from subset to subset in it, and [`run`] makes the path of that, with `choose`
//! and `polish`. The whole of a greedy search is the example of [`run`]; `plugins/vaglio-beam` is a search to copy.
//!
//! | | |
//! |---|---|
//! | [`SearchSettings`], [`settings!`] | what all searches can be told: sizes, `tolerance`, `forced`, `excluded`, `blocks`, … |
//! | [`Space`] | groups, forced groups, limits; the scores of groups added and removed, ties and duplicates |
//! | [`Walk`], [`Move`], [`End`], [`if_any`] | the steps, each shown to the observer, and the best subset of each size |
//! | [`Patience`] | `tolerance` and `patience` |
//! | [`shuffle`] | orders that follow from a seed |
//! | [`Greedy`], [`Backward`], [`Floating`], [`Exhaustive`], [`Lars`], [`Rank`], [`Random`], [`All`], [`Race`] | the searches, one file each |
//! | [`Chain`] | searches one after the other |

mod all;
mod alternatives;
mod backward;
mod bounded;
mod chain;
mod constrained;
mod duplicates;
mod exhaustive;
mod floating;
mod followed;
mod greedy;
mod lars;
mod moves;
mod order;
mod partition;
mod penalties;
mod polish;
mod race;
mod random;
mod rank;
mod rounds;
mod run;
mod settings;
pub mod shuffle;
mod space;
mod tree;
mod walk;

pub use all::All;
pub use alternatives::{Alternatives, Within, WithinRule};
pub use backward::Backward;
pub use chain::Chain;
pub use constrained::of_other_sign;
pub use exhaustive::Exhaustive;
pub use floating::Floating;
pub use greedy::Greedy;
pub use lars::{Lars, PathCoefficients};
pub use moves::Move;
pub use penalties::{Penalties, PenaltyGrid};
pub use race::Race;
pub use random::Random;
pub use rank::Rank;
pub use rounds::RemovalStep;
pub use run::run;
pub use settings::{BlockOrigin, Blocks, Polish, SearchSettings};
pub use space::Space;
pub use vaglio_core as core;
pub use walk::{End, Flow, Patience, Walk, if_any};
