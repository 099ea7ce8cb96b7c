//! Expansion of the attributes.

use crate::item::{Item, is_plain};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Data, LitStr, Token, parse_quote};

/// Traits of parts, with the text before and after the word in the default example.
const TRAITS: [(&str, [&str; 2]); 7] = [
    ("Criterion", ["criterion: ", ""]),
    (SEARCH, ["search: ", ""]),
    ("Learner", ["learner: ", ""]),
    ("Map", ["preprocess: [", "]"]),
    ("TargetMap", ["target_map: ", ""]),
    ("Loss", ["criterion: {kind: loo, loss: ", "}"]),
    ("Resampling", ["criterion: {kind: kfold, splits: ", "}"]),
];

/// Trait of searches, which is defined in `vaglio_search`.
const SEARCH: &str = "SearchStrategy";

/// Arguments of `#[part]` and `#[saved]`: a trait, a word and optional texts.
struct PartArguments {
    role: Ident,
    word: LitStr,
    summary: Option<LitStr>,
    example: Option<LitStr>,
    title: Option<LitStr>,
}

impl Parse for PartArguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let role = input.parse()?;
        input.parse::<Token![,]>()?;
        let word = input.parse()?;
        let mut arguments = PartArguments { role, word, summary: None, example: None, title: None };
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            let place = match key.to_string().as_str() {
                "summary" => &mut arguments.summary,
                "example" => &mut arguments.example,
                "title" => &mut arguments.title,
                _ => return Err(syn::Error::new_spanned(key, "expected `summary`, `example` or `title`")),
            };
            *place = Some(input.parse()?);
        }
        Ok(arguments)
    }
}

/// Expands `#[part]`: registers and describes a struct of settings.
pub(crate) fn part(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let arguments: PartArguments = syn::parse2(arguments)?;
    let mut item = Item::new(item)?;
    let Some((_, example)) = TRAITS.iter().find(|(name, _)| arguments.role == name) else {
        let names = TRAITS.map(|(name, _)| name).join(", ");
        return Err(syn::Error::new_spanned(&arguments.role, format!("the trait of a part is one of {names}")));
    };
    let (role, noun) = match arguments.role == SEARCH {
        true => (Ident::new("Search", arguments.role.span()), " search"),
        false => (arguments.role.clone(), ""),
    };
    if !is_plain(&item.input) {
        return Err(syn::Error::new_spanned(&item.input.ident, "the settings of a part have names"));
    }
    let word = arguments.word.value();
    let text = |given: &Option<LitStr>, otherwise: String| given.as_ref().map_or(otherwise, LitStr::value);
    let summary = arguments.summary.as_ref().map_or_else(|| item.summary(), |summary| Ok(summary.value()))?;
    let example = text(&arguments.example, example.join(&word));
    let title = text(&arguments.title, format!("{word}{noun}"));

    derive_setting(&mut item);
    let rest = defaults(&mut item);
    // The settings of a search are set on the search.
    let setters = if arguments.role == SEARCH { TokenStream::new() } else { item.setters() };
    let (input, registered) = (&item.input, registration(&arguments.role, &arguments.word, &item.input.ident));
    let name = &item.input.ident;
    // The settings of a search are those of its strategy and those that all searches share.
    let schema = match arguments.role == SEARCH {
        _ if !cfg!(feature = "schema") => quote!(),
        true => quote!(schema: |generator| ::vaglio_search::schema(
            #word,
            <#name as ::vaglio_core::schemars::JsonSchema>::json_schema(generator),
            generator
        )),
        false => quote!(schema: |generator| generator.subschema_for::<#name>()),
    };
    Ok(quote! {
        #input
        #rest
        #setters
        const _: () = {
            #registered
            ::vaglio_core::inventory::submit! {
                ::vaglio_core::Description {
                    role: ::vaglio_core::Role::#role,
                    kind: #word,
                    title: #title,
                    summary: #summary,
                    example: #example,
                    package: env!("CARGO_PKG_NAME"),
                    version: env!("CARGO_PKG_VERSION"),
                    defined: concat!(module_path!(), "::", stringify!(#name)),
                    #schema
                }
            }
        };
    })
}

/// Expands `#[setting]` on the type of a settings field.
pub(crate) fn setting(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut item = Item::new(item)?;
    let mut rest = TokenStream::new();
    match syn::parse2::<Option<Ident>>(arguments)? {
        Some(word) if word == "schema" => derive_schema(&mut item),
        Some(word) if word != "builder" => {
            return Err(syn::Error::new_spanned(word, "expected `schema`, `builder` or nothing"));
        }
        builder => {
            derive_setting(&mut item);
            if item.has_presets() {
                rest = defaults(&mut item);
            }
            if builder.is_some() {
                rest.extend(item.setters());
            }
            if matches!(item.input.data, Data::Enum(_))
                && !item.serde_says("rename_all")
                && !item.serde_says("untagged")
            {
                item.add(parse_quote!(#[serde(rename_all = "snake_case")]));
                rest.extend(item.words());
            }
        }
    }
    let input = &item.input;
    Ok(quote!(#input #rest))
}

/// Expands `#[record]` on a part of a record.
pub(crate) fn record(item: TokenStream) -> syn::Result<TokenStream> {
    let mut item = Item::new(item)?;
    item.read_infinity();
    item.derive("Debug", quote!(::core::fmt::Debug));
    item.derive("Clone", quote!(::core::clone::Clone));
    item.derive("PartialEq", quote!(::core::cmp::PartialEq));
    derive_serde(&mut item);
    let input = &item.input;
    Ok(quote!(#input))
}

/// Adds the defaults of settings, and returns the items that they need.
fn defaults(item: &mut Item) -> TokenStream {
    if item.serde_says("default") {
        return TokenStream::new();
    }
    if item.has_required() {
        return item.field_defaults();
    }
    if item.has_fields() {
        item.add(parse_quote!(#[serde(default)]));
    }
    if item.has_presets() {
        return item.default_impl();
    }
    item.derive("Default", quote!(::core::default::Default));
    TokenStream::new()
}

/// Expands `#[saved]` on a struct of fitted state.
pub(crate) fn saved(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut item = Item::new(item)?;
    item.derive("Debug", quote!(::core::fmt::Debug));
    derive_strict_serde(&mut item);
    let input = &item.input;
    if arguments.is_empty() {
        return Ok(quote!(#input));
    }
    let arguments: PartArguments = syn::parse2(arguments)?;
    let registered = registration(&arguments.role, &arguments.word, &input.ident);
    Ok(quote! {
        #input
        const _: () = {
            #registered
        };
    })
}

/// Derives the traits of settings: cloning, serialization and a schema.
fn derive_setting(item: &mut Item) {
    item.derive("Debug", quote!(::core::fmt::Debug));
    item.derive("Clone", quote!(::core::clone::Clone));
    derive_schema(item);
    derive_strict_serde(item);
}

/// Derives a schema, in builds that have them.
fn derive_schema(item: &mut Item) {
    if !cfg!(feature = "schema") {
        item.remove("schemars");
    } else if item.derive("JsonSchema", quote!(::vaglio_core::schemars::JsonSchema)) {
        item.add(parse_quote!(#[schemars(crate = "::vaglio_core::schemars")]));
    }
}

/// Derives serialization, and leaves out optional fields.
fn derive_serde(item: &mut Item) {
    item.skip_defaults();
    let writes = item.derive("Serialize", quote!(::vaglio_core::serde::Serialize));
    let reads = item.derive("Deserialize", quote!(::vaglio_core::serde::Deserialize));
    if writes || reads {
        item.add(parse_quote!(#[serde(crate = "::vaglio_core::serde")]));
    }
}

/// Derives serialization, and refuses unknown fields.
fn derive_strict_serde(item: &mut Item) {
    derive_serde(item);
    let forms = ["deny_unknown_fields", "untagged", "transparent", "try_from", "from"];
    if !forms.iter().any(|word| item.serde_says(word)) {
        item.add(parse_quote!(#[serde(deny_unknown_fields)]));
    }
}

/// Registers the word for deserialization of the trait's objects.
fn registration(role: &Ident, word: &LitStr, name: &Ident) -> TokenStream {
    let home = Ident::new(if role == SEARCH { "vaglio_search" } else { "vaglio_core" }, role.span());
    quote! {
        use ::vaglio_core::typetag;
        #[typetag::serde(name = #word)]
        impl ::#home::registered::#role for #name {
            fn part(self: ::std::boxed::Box<Self>) -> ::std::boxed::Box<dyn ::#home::#role> {
                self
            }
        }
        ::vaglio_core::inventory::submit! {
            ::vaglio_core::Registration {
                of: ::std::borrow::Cow::Borrowed(stringify!(#role)),
                kind: ::std::borrow::Cow::Borrowed(#word),
                package: ::std::borrow::Cow::Borrowed(env!("CARGO_PKG_NAME")),
                version: ::std::borrow::Cow::Borrowed(env!("CARGO_PKG_VERSION")),
            }
        }
    }
}
