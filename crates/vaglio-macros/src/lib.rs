//! The attributes that make a struct a part of vaglio. `vaglio-core` exports them, with the crates that they name.

mod attribute;
mod item;
mod role;

use proc_macro::TokenStream;

/// Makes a struct a part: its word in pipeline files, its settings, and what `vaglio list` and `vaglio schema` tell of it.
///
/// `#[part(Trait, "word")]` stands on the struct, and `impl Trait for …` anywhere beside. The trait is the role: `Criterion`,
/// `SearchStrategy`, `Learner`, `Map`, `TargetMap`, `Loss` or `Resampling`. The struct derives `Debug`, `Clone`,
/// `Serialize`, `Deserialize`, `JsonSchema` and `Default`, where it does not derive them itself, and refuses settings that it does not
/// know. The first sentence of its documentation is its line in `vaglio list`; those of its fields explain the settings.
///
/// A field has the default of its type, or that of `#[default(expression)]`; one with `#[required]` has to be given, and
/// then the struct has no `Default`: tests name its fields, and give the registry's check its settings. With a
/// `#[serde(default)]` of its own the struct has a `Default` of its own.
///
/// These may follow the word:
///
/// * `summary = "…"`, the line in place of the first sentence;
/// * `example = "…"`, a piece of a pipeline file in place of the word alone;
/// * `title = "…"`, what people call it in place of the word (and "search" after that of a search).
#[proc_macro_attribute]
pub fn part(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute::part(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct what is saved under a word: what a part learned, as `#[saved(ModelData, "word")]` or
/// `#[saved(FittedMap, "word")]`.
///
/// The struct derives `Debug`, `Serialize` and `Deserialize`, where it does not derive them itself, and is read from
/// nothing that holds a field which it does not know. With the trait of a part it makes one that is known to pipeline files
/// but listed nowhere, for tests.
#[proc_macro_attribute]
pub fn saved(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute::saved(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct or enum the type of a field of a part's settings, or of what it learned.
///
/// It derives `Debug`, `Clone`, `Serialize`, `Deserialize` and `JsonSchema`, where it does not derive them itself. The words
/// of an enum are its variants in snake case; a struct refuses fields that it does not know.
#[proc_macro_attribute]
pub fn setting(_: TokenStream, item: TokenStream) -> TokenStream {
    attribute::setting(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
