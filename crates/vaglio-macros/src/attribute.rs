//! Expansion of the attributes.

use crate::item::{Item, is_plain};
use crate::role::role;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{LitStr, Token, parse_quote};

/// Arguments of `#[part]` and `#[saved]`: a trait, a word and optional texts.
struct PartArguments {
    of: Ident,
    word: LitStr,
    summary: Option<LitStr>,
    example: Option<LitStr>,
    title: Option<LitStr>,
}

impl Parse for PartArguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let of = input.parse()?;
        input.parse::<Token![,]>()?;
        let word = input.parse()?;
        let mut arguments = PartArguments { of, word, summary: None, example: None, title: None };
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
    let role = role(&arguments.of)?;
    if !is_plain(&item.input) {
        return Err(syn::Error::new_spanned(&item.input.ident, "the settings of a part have names"));
    }
    let word = arguments.word.value();
    let text = |given: &Option<LitStr>, otherwise: String| given.as_ref().map_or(otherwise, LitStr::value);
    let summary = arguments.summary.as_ref().map_or_else(|| item.summary(), |summary| Ok(summary.value()))?;
    let example = text(&arguments.example, role.example.join(&word));
    let title = text(&arguments.title, format!("{word}{}", role.noun));

    let mut rest = TokenStream::new();
    derive_setting(&mut item);
    if !item.serde_says("default") {
        if item.has_required() {
            rest = item.field_defaults();
        } else {
            if item.has_fields() {
                item.say(parse_quote!(#[serde(default)]));
            }
            if item.has_defaults() {
                rest = item.default_impl();
            } else {
                item.derive("Default", quote!(::core::default::Default));
            }
        }
    }
    let (input, registered) = (&item.input, registered(&arguments.of, &arguments.word, &item.input.ident));
    let (name, role) = (&item.input.ident, Ident::new(role.name, arguments.of.span()));
    // The settings of a search are those of its strategy and those that all searches share.
    let schema = match arguments.of == "SearchStrategy" {
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
    if syn::parse2::<Option<Ident>>(arguments)?.is_some_and(|word| word == "schema") {
        derive_schema(&mut item);
    } else {
        derive_setting(&mut item);
        if item.is_enum() && !item.serde_says("rename_all") && !item.serde_says("untagged") {
            item.say(parse_quote!(#[serde(rename_all = "snake_case")]));
        }
    }
    let input = &item.input;
    Ok(quote!(#input))
}

/// Expands `#[saved]` on a struct of fitted state.
pub(crate) fn saved(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let arguments: PartArguments = syn::parse2(arguments)?;
    let mut item = Item::new(item)?;
    item.derive("Debug", quote!(::core::fmt::Debug));
    if arguments.of == "Criterion" {
        item.derive("Clone", quote!(::core::clone::Clone));
    }
    derive_serde(&mut item);
    let (input, registered) = (&item.input, registered(&arguments.of, &arguments.word, &item.input.ident));
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
    derive_serde(item);
}

/// Derives a schema, in builds that have them.
fn derive_schema(item: &mut Item) {
    if !cfg!(feature = "schema") {
        item.remove("schemars");
    } else if item.derive("JsonSchema", quote!(::vaglio_core::schemars::JsonSchema)) {
        item.say(parse_quote!(#[schemars(crate = "::vaglio_core::schemars")]));
    }
}

/// Derives serialization, and refuses unknown fields.
fn derive_serde(item: &mut Item) {
    let writes = item.derive("Serialize", quote!(::vaglio_core::serde::Serialize));
    let reads = item.derive("Deserialize", quote!(::vaglio_core::serde::Deserialize));
    if writes || reads {
        item.say(parse_quote!(#[serde(crate = "::vaglio_core::serde")]));
    }
    let forms = ["deny_unknown_fields", "untagged", "transparent", "try_from", "from"];
    if !forms.iter().any(|word| item.serde_says(word)) {
        item.say(parse_quote!(#[serde(deny_unknown_fields)]));
    }
}

/// Registers the word for deserialization of the trait's objects.
fn registered(of: &Ident, word: &LitStr, name: &Ident) -> TokenStream {
    let home = Ident::new(if of == "SearchStrategy" { "vaglio_search" } else { "vaglio_core" }, of.span());
    quote! {
        use ::vaglio_core::typetag;
        #[typetag::serde(name = #word)]
        impl ::#home::registered::#of for #name {
            fn part(self: ::std::boxed::Box<Self>) -> ::std::boxed::Box<dyn ::#home::#of> {
                self
            }
        }
        ::vaglio_core::inventory::submit! {
            ::vaglio_core::Registration {
                of: stringify!(#of),
                kind: #word,
                package: env!("CARGO_PKG_NAME"),
                version: env!("CARGO_PKG_VERSION"),
            }
        }
    }
}
