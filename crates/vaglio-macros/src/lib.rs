//! Attributes that make a struct a part of vaglio. `vaglio-core` exports them, with the crates that they refer to.

mod attribute;
mod item;

use proc_macro::TokenStream;

/// Makes a struct a part: registers its word in pipeline files, its settings, and its entry in `vaglio list` and
/// `vaglio schema`.
///
/// `#[part(Trait, "word")]` is put on the struct, in the crate of `impl Trait for …`. The trait is the role:
/// `Criterion`, `SearchStrategy`, `Learner`, `Map`, `TargetMap`, `Loss` or `Resampling`. The struct gets `Debug`,
/// `Clone`, `Serialize`, `Deserialize`, a JSON Schema and `Default`, unless it derives them itself. It refuses unknown
/// settings. The first sentence of its documentation is its line in `vaglio list`; the documentation of its fields
/// explains the settings.
///
/// Each public field has a builder method of its name, unless it has `#[no_setter]` or the part is a search.
///
/// A field has the default of its type, or of `#[default(expression)]`. A field with `#[required]` must be given, and
/// the struct then has no `Default`: tests name its fields, and pass settings to the registry's check. A struct with
/// its own `#[serde(default)]` has its own `Default`.
///
/// Optional arguments after the word:
///
/// * `summary = "…"`, the line in `vaglio list`, instead of the first sentence;
/// * `example = "…"`, an excerpt of a pipeline file, instead of the word alone;
/// * `title = "…"`, a name for people, instead of the word (followed by "search" for a search).
#[proc_macro_attribute]
pub fn part(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute::part(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct of fitted state serializable under a word, as in `#[saved(ModelData, "word")]` or `#[saved(FittedMap,
/// "word")]`.
///
/// The struct gets `Debug`, `Serialize` and `Deserialize`, unless it derives them itself, and refuses unknown fields. A
/// field with `#[optional]` is left out of the file if it has the default of its type, and may be missing there.
/// `#[saved]` without a trait is for other structs in files. With the trait of a part, it makes a part that pipeline files
/// know but no list shows, for tests.
#[proc_macro_attribute]
pub fn saved(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute::saved(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct or enum a part of the record of a search or of a run.
///
/// It gets `Debug`, `Clone`, `PartialEq`, `Serialize` and `Deserialize`, and ignores unknown fields. A field with
/// `#[optional]` is left out of the file if it has the default of its type, and may be missing there. Numbers of a struct
/// may be +∞, which is null in files.
#[proc_macro_attribute]
pub fn record(_: TokenStream, item: TokenStream) -> TokenStream {
    attribute::record(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct or enum the type of a field of settings or of fitted state.
///
/// It gets `Debug`, `Clone`, `Serialize`, `Deserialize` and a JSON Schema, unless it derives them itself. The words of
/// an enum are its variants in snake case, which its function `word` returns; a struct refuses unknown fields. With
/// `#[default(expression)]` or `#[required]` on a field, the fields of a struct have defaults as in a part. A field with
/// `#[optional]` is left out of files if it has the default of its type, and may be missing there.
/// `#[setting(schema)]` gives the schema alone, `#[setting(builder)]` also builder methods as a part has them.
#[proc_macro_attribute]
pub fn setting(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute::setting(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
