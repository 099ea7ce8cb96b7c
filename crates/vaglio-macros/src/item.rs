//! The annotated struct or enum, and its other attributes.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Expr, Field, Fields, GenericArgument, Lit, Meta, Path, PathArguments, Token, Type,
    Variant, Visibility,
};

/// A struct or enum, with helper attributes removed.
pub(crate) struct Item {
    pub input: DeriveInput,
    /// `#[default]` or `#[required]` of each field of a struct.
    presets: Vec<Option<Preset>>,
    derived: Vec<String>,
    serde: Vec<String>,
}

enum Preset {
    Default(TokenStream),
    Required,
}

impl Item {
    /// Parses an item and removes its helper attributes.
    ///
    /// # Errors
    /// Fails if the tokens are no struct, enum or union, and for malformed helper attributes.
    pub fn new(tokens: TokenStream) -> syn::Result<Self> {
        let mut input: DeriveInput = syn::parse2(tokens)?;
        let presets = match &mut input.data {
            Data::Struct(data) => data.fields.iter_mut().map(preset).collect::<syn::Result<_>>()?,
            _ => Vec::new(),
        };
        let (derived, serde) = (list_arguments(&input.attrs, "derive"), list_arguments(&input.attrs, "serde"));
        Ok(Item { input, presets, derived, serde })
    }

    /// Derives a trait before all other attributes, unless the item derives it already; returns whether it was added.
    pub fn derive(&mut self, name: &str, path: TokenStream) -> bool {
        let lacks = !self.derived.iter().any(|own| own == name);
        if lacks {
            self.input.attrs.insert(0, syn::parse_quote!(#[derive(#path)]));
        }
        lacks
    }

    /// Adds an attribute after all others.
    pub fn add(&mut self, attribute: Attribute) {
        self.input.attrs.push(attribute);
    }

    /// Removes an attribute from the item and its fields.
    pub fn remove(&mut self, name: &str) {
        let remove = |attributes: &mut Vec<Attribute>| attributes.retain(|own| !own.path().is_ident(name));
        remove(&mut self.input.attrs);
        match &mut self.input.data {
            Data::Struct(data) => data.fields.iter_mut().for_each(|field| remove(&mut field.attrs)),
            Data::Enum(data) => {
                data.variants.iter_mut().flat_map(|own| &mut own.fields).for_each(|field| remove(&mut field.attrs));
            }
            Data::Union(_) => {}
        }
    }

    /// Leaves fields with `#[optional]` out of files if they have the default of their type.
    pub fn skip_defaults(&mut self) {
        let Data::Struct(data) = &mut self.input.data else { return };
        for field in &mut data.fields {
            let is_option = matches!(&field.ty, Type::Path(path) if path.path.segments.iter().any(|segment| segment.ident == "Option"));
            let is_default = if is_option { "::core::option::Option::is_none" } else { "::vaglio_core::is_default" };
            for attribute in field.attrs.iter_mut().filter(|attribute| attribute.path().is_ident("optional")) {
                *attribute = syn::parse_quote!(#[serde(default, skip_serializing_if = #is_default)]);
            }
        }
    }

    /// Reads null as +∞ in fields that are numbers and have no reader of their own.
    pub fn read_infinity(&mut self) {
        let Data::Struct(data) = &mut self.input.data else { return };
        let is_number = |field: &&mut Field| matches!(&field.ty, Type::Path(path) if path.path.is_ident("f64"));
        for field in data.fields.iter_mut().filter(is_number) {
            if !list_arguments(&field.attrs, "serde").iter().any(|word| word == "with" || word == "deserialize_with") {
                field.attrs.push(syn::parse_quote!(#[serde(deserialize_with = "::vaglio_core::infinity::number")]));
            }
        }
    }

    /// Whether a `#[serde(…)]` of the item contains the word.
    pub fn serde_says(&self, word: &str) -> bool {
        self.serde.iter().any(|own| own == word)
    }

    /// Whether the item is a struct with named fields.
    pub fn has_fields(&self) -> bool {
        matches!(&self.input.data, Data::Struct(data) if matches!(data.fields, Fields::Named(_)))
    }

    /// Whether some field has `#[required]`.
    pub fn has_required(&self) -> bool {
        self.presets.iter().flatten().any(|preset| matches!(preset, Preset::Required))
    }

    /// Whether some field has `#[default(…)]` or `#[required]`.
    pub fn has_presets(&self) -> bool {
        self.presets.iter().any(Option::is_some)
    }

    /// Returns an `impl Default` with the defaults of the fields.
    pub fn default_impl(&self) -> TokenStream {
        let Data::Struct(data) = &self.input.data else { return TokenStream::new() };
        let value = |(field, preset): (&Field, &Option<Preset>)| {
            let value = match preset {
                Some(Preset::Default(value)) => value.clone(),
                _ => quote!(::core::default::Default::default()),
            };
            let name = &field.ident;
            quote!(#name: #value)
        };
        let values = data.fields.iter().zip(&self.presets).map(value);
        let name = &self.input.ident;
        quote! {
            impl ::core::default::Default for #name {
                fn default() -> Self {
                    Self { #(#values),* }
                }
            }
        }
    }

    /// Adds `#[serde(default)]` to each field that is not required, and returns the functions that it names.
    pub fn field_defaults(&mut self) -> TokenStream {
        let Data::Struct(data) = &mut self.input.data else { return TokenStream::new() };
        let item = &self.input.ident;
        let mut functions = TokenStream::new();
        for (field, preset) in data.fields.iter_mut().zip(&self.presets) {
            match preset {
                Some(Preset::Required) => {}
                None => field.attrs.push(syn::parse_quote!(#[serde(default)])),
                Some(Preset::Default(value)) => {
                    let Field { ident: Some(name), ty, .. } = &*field else { continue };
                    let function = format_ident!("default_{name}");
                    let path = format!("{item}::{function}");
                    functions.extend(quote!(fn #function() -> #ty { #value }));
                    field.attrs.push(syn::parse_quote!(#[serde(default = #path)]));
                }
            }
        }
        quote!(impl #item { #functions })
    }

    /// Returns a function for the words of an enum's variants in files; none if a variant has fields or its own word.
    pub fn words(&self) -> TokenStream {
        let Data::Enum(data) = &self.input.data else { return TokenStream::new() };
        let is_plain = |variant: &Variant| {
            variant.fields.is_empty() && !variant.attrs.iter().any(|own| own.path().is_ident("serde"))
        };
        if !data.variants.iter().all(is_plain) {
            return TokenStream::new();
        }
        let name = &self.input.ident;
        let variants = data.variants.iter().map(|variant| &variant.ident);
        let words = variants.clone().map(|variant| in_snake_case(&variant.to_string()));
        quote! {
            impl #name {
                /// Word in files.
                #[allow(dead_code)]
                pub fn word(self) -> &'static str {
                    match self {
                        #(Self::#variants => #words),*
                    }
                }
            }
        }
    }

    /// Returns a builder method for each public field without `#[no_setter]`.
    pub fn setters(&mut self) -> TokenStream {
        let Data::Struct(data) = &self.input.data else { return TokenStream::new() };
        let is_set = |field: &&Field| {
            matches!(field.vis, Visibility::Public(_))
                && !field.attrs.iter().any(|own| own.path().is_ident("no_setter"))
        };
        let setters: Vec<TokenStream> = data.fields.iter().filter(is_set).filter_map(setter).collect();
        self.remove("no_setter");
        let name = &self.input.ident;
        quote! {
            #[allow(dead_code)]
            impl #name {
                #(#setters)*
            }
        }
    }

    /// First sentence of the documentation, to follow a colon: no period, and the first letter in lower case.
    ///
    /// # Errors
    /// Fails for an item without documentation.
    pub fn summary(&self) -> syn::Result<String> {
        let lines = self.input.attrs.iter().filter_map(doc);
        let first: Vec<String> = lines.map(|line| line.trim().to_owned()).take_while(|line| !line.is_empty()).collect();
        let paragraph = first.join(" ");
        let sentence = first_sentence(&paragraph);
        if sentence.is_empty() {
            let message = "a part says what it is in the first line of its documentation";
            return Err(syn::Error::new(Span::call_site(), message));
        }
        Ok(lower_first(sentence))
    }
}

/// Builder method of a field: it takes any iterator for a list, and `impl Into<T>` for an option, a part or a capitalized
/// type name.
fn setter(field: &Field) -> Option<TokenStream> {
    let (name, own) = (field.ident.as_ref()?, &field.ty);
    let wide = |own: &Type| if is_wide(own) { quote!(impl ::core::convert::Into<#own>) } else { quote!(#own) };
    let (takes, value) = match argument(argument(own, "Option").unwrap_or(own), "Vec") {
        Some(item) => {
            let takes = wide(item);
            let items = quote!(#name.into_iter().map(::core::convert::Into::into));
            let list = quote!(#items.collect::<::std::vec::Vec<#item>>().into());
            (quote!(impl ::core::iter::IntoIterator<Item = #takes>), list)
        }
        None if is_wide(own) => (wide(own), quote!(#name.into())),
        None => (wide(own), quote!(#name)),
    };
    let about = format!("Sets [`{name}`](#structfield.{name}).");
    Some(quote! {
        #[doc = #about]
        #[must_use]
        pub fn #name(mut self, #name: #takes) -> Self {
            self.#name = #value;
            self
        }
    })
}

/// Whether a type is an option or a part, or has a capitalized name and no arguments.
fn is_wide(own: &Type) -> bool {
    let Type::Path(path) = own else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|last| {
        let name = last.ident.to_string();
        ["Option", "Part"].contains(&&*name) || last.arguments.is_none() && name.starts_with(char::is_uppercase)
    })
}

/// Argument of a generic type with this name.
fn argument<'t>(own: &'t Type, name: &str) -> Option<&'t Type> {
    let Type::Path(path) = own else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(all) = &last.arguments else { return None };
    match all.args.first()? {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    }
}

/// Name of a variant in snake case, as serde writes it.
fn in_snake_case(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}

/// Text up to the first period outside of initials and parentheses.
fn first_sentence(text: &str) -> &str {
    let ends = |(at, _): &(usize, &str)| {
        let before = &text[..*at];
        let word = before.rsplit([' ', '(']).next().unwrap_or_default();
        let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
        !is_initial && before.matches('(').count() == before.matches(')').count()
    };
    let end = text.match_indices(". ").find(ends).map_or(text.len(), |(at, _)| at);
    text[..end].trim_end_matches('.')
}

/// Lower-cases the first letter, unless the first word is an abbreviation.
fn lower_first(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let (first, second) = (letters.next(), letters.clone().next());
    match first {
        Some(first) if !second.is_some_and(char::is_uppercase) => first.to_lowercase().chain(letters).collect(),
        _ => sentence.to_owned(),
    }
}

fn doc(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    match &pair.value {
        Expr::Lit(value) if pair.path.is_ident("doc") => match &value.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// Removes `#[default(…)]` or `#[required]` from a field and returns it.
fn preset(field: &mut Field) -> syn::Result<Option<Preset>> {
    let mut found = None;
    let mut kept = Vec::new();
    for attribute in std::mem::take(&mut field.attrs) {
        if attribute.path().is_ident("required") {
            attribute.meta.require_path_only()?;
            found = Some(Preset::Required);
        } else if attribute.path().is_ident("default") {
            found = Some(Preset::Default(attribute.meta.require_list()?.tokens.clone()));
        } else {
            kept.push(attribute);
        }
    }
    field.attrs = kept;
    Ok(found)
}

/// Last words of the paths in all `#[name(…)]`.
fn list_arguments(attributes: &[Attribute], name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
        let metas = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        let last = |path: &Path| path.segments.last().map(|segment| segment.ident.to_string());
        words.extend(metas.into_iter().flatten().filter_map(|meta| last(meta.path())));
    }
    words
}

/// Whether the item is not a tuple struct.
pub(crate) fn is_plain(input: &DeriveInput) -> bool {
    !matches!(&input.data, Data::Struct(data) if matches!(data.fields, Fields::Unnamed(_)))
}
