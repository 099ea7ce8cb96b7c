//! What the attributes know of the roles.

use proc_macro2::Ident;

/// A trait of parts.
pub(crate) struct Role {
    /// Of `vaglio_core::Role`.
    pub name: &'static str,
    /// What stands before and after the word in a pipeline file.
    pub example: [&'static str; 2],
    /// What stands after the word where people speak of the part.
    pub noun: &'static str,
}

const ROLES: [(&str, Role); 7] = [
    ("Criterion", Role { name: "Criterion", example: ["criterion: ", ""], noun: "" }),
    ("SearchStrategy", Role { name: "Search", example: ["search: ", ""], noun: " search" }),
    ("Learner", Role { name: "Learner", example: ["learner: ", ""], noun: "" }),
    ("Map", Role { name: "Map", example: ["preprocess: [", "]"], noun: "" }),
    ("TargetMap", Role { name: "TargetMap", example: ["target_map: ", ""], noun: "" }),
    ("Loss", Role { name: "Loss", example: ["criterion: {kind: loo, loss: ", "}"], noun: "" }),
    ("Resampling", Role { name: "Resampling", example: ["criterion: {kind: kfold, splits: ", "}"], noun: "" }),
];

/// The role that a trait is.
///
/// # Errors
/// One that names the traits of parts.
pub(crate) fn role(of: &Ident) -> syn::Result<&'static Role> {
    let found = ROLES.iter().find(|(name, _)| of == name);
    let names = || ROLES.map(|(name, _)| name).join(", ");
    let unknown = || syn::Error::new_spanned(of, format!("the trait of a part is one of {}", names()));
    found.map(|(_, role)| role).ok_or_else(unknown)
}
