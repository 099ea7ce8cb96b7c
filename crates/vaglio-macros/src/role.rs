//! Roles of parts, as the attributes know them.

use proc_macro2::Ident;

/// Role of a trait of parts.
pub(crate) struct PartRole {
    /// Variant of `vaglio_core::Role`.
    pub name: &'static str,
    /// Text before and after the word in the default example.
    pub example: [&'static str; 2],
    /// Noun that follows the word in the default title; empty for none.
    pub noun: &'static str,
}

const ROLES: [(&str, PartRole); 7] = [
    ("Criterion", PartRole { name: "Criterion", example: ["criterion: ", ""], noun: "" }),
    ("SearchStrategy", PartRole { name: "Search", example: ["search: ", ""], noun: " search" }),
    ("Learner", PartRole { name: "Learner", example: ["learner: ", ""], noun: "" }),
    ("Map", PartRole { name: "Map", example: ["preprocess: [", "]"], noun: "" }),
    ("TargetMap", PartRole { name: "TargetMap", example: ["target_map: ", ""], noun: "" }),
    ("Loss", PartRole { name: "Loss", example: ["criterion: {kind: loo, loss: ", "}"], noun: "" }),
    ("Resampling", PartRole { name: "Resampling", example: ["criterion: {kind: kfold, splits: ", "}"], noun: "" }),
];

/// Finds the role of a trait.
///
/// # Errors
/// Fails for any other trait; the message lists the traits of parts.
pub(crate) fn role(of: &Ident) -> syn::Result<&'static PartRole> {
    let found = ROLES.iter().find(|(name, _)| of == name);
    let names = || ROLES.map(|(name, _)| name).join(", ");
    let unknown = || syn::Error::new_spanned(of, format!("the trait of a part is one of {}", names()));
    found.map(|(_, role)| role).ok_or_else(unknown)
}
