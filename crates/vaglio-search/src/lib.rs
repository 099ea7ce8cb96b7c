//! The searches of vaglio, and the tools to write searches.
//!
//! A [`Search`] is a [`SearchStrategy`] with the settings that all searches share. On a design they define a [`Space`]:
//! the features that may be selected, their groups, and the limits of the subsets. A [`Walk`] moves from subset to
//! subset in the space, and becomes a [`Path`] with `choose` and `polish`. The example of [`SearchStrategy`] is a complete
//! greedy search; `plugins/vaglio-beam` is a search to copy.
//!
//! | to run a search | |
//! |---|---|
//! | [`Search`] | a strategy with its [`SearchSettings`]: sizes, `tolerance`, `forced`, `excluded`, `blocks`, … |
//! | [`Greedy`], [`Backward`], [`Floating`], [`Exhaustive`], [`Lars`], [`Rank`], [`Random`], [`All`] | the strategies, one file each |
//! | [`Chain`] | searches one after the other |
//! | [`SearchContext`] | a run: the current subset with its scores ([`SubsetScorer`]), and the [`Monitor`] |
//! | [`Monitor`] | the [`Observer`] of a run, the stop sign, and the [`Journal`] of its finished work |
//! | [`Path`] | the result: every [`Step`], the best subset of each size, and the chosen one |
//!
//! | to write a search | |
//! |---|---|
//! | [`SearchStrategy`] | the walk of a search, its extent, and its own limits |
//! | [`Walk`], [`if_any`] | the steps, each shown to the observer, and the best subset of each size |
//! | [`Space`] | groups, forced groups, limits; ties and duplicates |
//! | [`shuffle`](vaglio_core::shuffle) | orders that follow from a seed |
//! | [`least_angle_order`] | columns at the knots of a least-angle path |

#![expect(clippy::new_ret_no_self, reason = "the constructor of a strategy gives a whole search")]

extern crate self as vaglio_search;

mod all;
mod backward;
mod chain;
mod constraints;
mod context;
mod exhaustive;
mod feature_groups;
mod feature_ref;
mod floating;
mod gain_requirement;
mod geometry;
mod greedy;
mod journal;
mod lars;
mod moves;
mod observer;
mod path;
mod polish;
mod random;
mod rank;
mod search;
mod settings;
mod size_choice;
mod space;
mod strategy;
mod subset_scorer;
mod walk;

pub use all::All;
pub use backward::Backward;
pub use chain::Chain;
pub use constraints::{Constraints, Rules};
pub use context::SearchContext;
pub use exhaustive::{Alternatives, Exhaustive};
pub use feature_ref::FeatureRef;
pub use floating::Floating;
pub use geometry::{correlation, plan_geometry};
pub use greedy::Greedy;
pub use journal::{Journal, JournalStore};
pub use lars::{Lars, Penalties, least_angle_order};
pub use observer::{Event, Monitor, Observer, Silent};
pub use path::{Certificate, EntryFit, Path, PathEntry, Step};
pub use random::Random;
pub use rank::Rank;
pub use search::Search;
#[cfg(feature = "schema")]
#[doc(hidden)]
pub use search::schema::schema;
pub use settings::{Blocks, Polish, SearchSettings};
pub use size_choice::{Choose, CrossValidation, Judge, MOST_FOLDS, Rule};
pub use space::Space;
pub use strategy::{SearchStrategy, registered};
pub use subset_scorer::SubsetScorer;
pub use walk::{Walk, if_any};
