//! What makes values of the traits known by their words: written with their kind, and read by it.
//!
//! [`part`](crate::part) and [`saved`](crate::saved) implement these; nobody else needs to.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// For a trait of parts: what is known of every implementation, and how its objects are written and read.
macro_rules! registered {
    ($trait:ident, $message:literal, $note:literal) => {
        #[typetag::serde(tag = "kind")]
        #[diagnostic::on_unimplemented(message = $message, label = "has no word", note = $note)]
        #[doc(hidden)]
        pub trait $trait: Send + Sync {
            fn part(self: Box<Self>) -> Box<dyn crate::$trait>;
        }

        impl Serialize for dyn crate::$trait + '_ {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                (self as &dyn $trait).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for Box<dyn crate::$trait> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Ok(Box::<dyn $trait>::deserialize(deserializer)?.part())
            }
        }
    };
}

registered!(
    Criterion,
    "`{Self}` is a criterion without a word in pipeline files",
    "put `#[vaglio_core::part(Criterion, \"its_word\")]` on the struct"
);
registered!(
    SearchStrategy,
    "`{Self}` is a search without a word in pipeline files",
    "put `#[vaglio_core::part(SearchStrategy, \"its_word\")]` on the struct"
);
registered!(
    Learner,
    "`{Self}` is a learner without a word in pipeline files",
    "put `#[vaglio_core::part(Learner, \"its_word\")]` on the struct"
);
registered!(
    Map,
    "`{Self}` is a map without a word in pipeline files",
    "put `#[vaglio_core::part(Map, \"its_word\")]` on the struct"
);
registered!(
    Loss,
    "`{Self}` is a loss without a word in pipeline files",
    "put `#[vaglio_core::part(Loss, \"its_word\")]` on the struct"
);
registered!(
    Resampling,
    "`{Self}` is a resampling without a word in pipeline files",
    "put `#[vaglio_core::part(Resampling, \"its_word\")]` on the struct"
);
registered!(
    ModelData,
    "`{Self}` is a model without a word in saved files",
    "put `#[vaglio_core::saved(ModelData, \"its_word\")]` on the struct"
);
registered!(
    FittedMap,
    "`{Self}` is a fitted map without a word in saved files",
    "put `#[vaglio_core::saved(FittedMap, \"its_word\")]` on the struct"
);
