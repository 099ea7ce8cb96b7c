//! All linked components, so that tests cover components registered later.
//!
//! A component is built from `{"kind": …}` alone, with defaults for other settings. If a kind has required settings,
//! pass them as values such as `json!({"kind": "window", "lags": [0, 1]})`, which replace the default of that kind.

use crate::law_violation::{law, must, unless, violation};
use crate::{LawResult, LawViolation};
use serde_json::Value;
pub use serde_json::json;
use std::fmt::Display;
use vaglio_core::serde::{Serialize, de::DeserializeOwned};
use vaglio_core::{Criterion, Description, Learner, Loss, Map, NamedPart, Resampling, Role, TargetMap, descriptions};
use vaglio_search::Search;

/// Builds every linked part of a trait, or every linked search, each with its kind. `settings` replace the defaults of
/// the kinds that they name.
///
/// # Errors
/// Fails if a part cannot be built, or if none is linked.
pub fn every<P: NamedPart + ?Sized>(settings: &[Value]) -> LawResult<Vec<(&'static str, Box<P>)>>
where
    Box<P>: DeserializeOwned,
{
    law("registered", || {
        let role = P::ROLE;
        let known: Vec<&Description> = descriptions().into_iter().filter(|d| d.role == role).collect();
        let on = format_args!("the {} that are linked in", role.word());
        must(!known.is_empty(), on, "at least one; `use the_crate as _;` keeps a crate from being dropped", 0)?;
        for given in settings {
            let named = known.iter().any(|d| given["kind"] == d.kind);
            must(
                named,
                format_args!("the settings {given}"),
                format!("the kind of a {}", role.word()),
                &given["kind"],
            )?;
        }
        let one = |description: &Description| {
            let value = settings_of(description, settings);
            let on = format!("{} `{}`", role.word(), description.kind);
            serde_json::from_value::<Box<P>>(value.clone()).map_err(|e| not_made(on, &value, &e))
        };
        known.into_iter().map(|d| Ok((d.kind, one(d)?))).collect()
    })
}

/// Returns the first of `settings` of a component, else its bare kind. If roles share a kind, its role must parse it.
fn settings_of(description: &Description, settings: &[Value]) -> Value {
    let is_shared = descriptions().iter().filter(|d| d.kind == description.kind).count() > 1;
    let is_read = |given: &&Value| !is_shared || round_trip(description.role, Value::clone(given)).is_ok();
    let mut own_settings = settings.iter().filter(|given| given["kind"] == description.kind);
    own_settings.find(is_read).cloned().unwrap_or_else(|| json!({"kind": description.kind}))
}

/// Reports that a part cannot be built; for a bare kind, with a hint at required settings.
fn not_made(on: impl Display, settings: &Value, error: &serde_json::Error) -> LawViolation {
    let kind = &settings["kind"];
    let hint = match *settings == json!({"kind": kind}) {
        true => format!("; settings that are required are given to the check: `&[json!({{\"kind\": {kind}, …}})]`"),
        false => String::new(),
    };
    violation(on, format!("to be made from {settings}{hint}"), format!("the error `{error}`"))
}

/// Every linked component is fully described once, serializes to the settings it was read from, and rejects an unknown
/// setting.
///
/// # Errors
/// Fails with every violation of each component, or if nothing is linked.
pub fn check_registry(settings: &[Value]) -> LawResult {
    law("registry", || {
        let all = descriptions();
        must(!all.is_empty(), "the program", "a component that is linked in", 0)?;
        let twice = |at: usize| all[..at].iter().find(|d| (d.role, d.kind) == (all[at].role, all[at].kind)).copied();
        LawViolation::all((0..all.len()).map(|at| component(all[at], twice(at), settings)))
    })
}

fn component(description: &Description, twice: Option<&Description>, settings: &[Value]) -> LawResult {
    let on = format_args!("{} `{}` of {}", description.role.word(), description.kind, description.package);
    if let Some(twice) = twice {
        return Err(violation(on, "a kind of its own", format!("that {} has one of that name", twice.package)));
    }
    let is_described = !description.summary.is_empty() && description.example.contains(description.kind);
    must(is_described, on, "one line, and an example that names the kind", (description.summary, description.example))?;
    let given = settings_of(description, settings);
    let made = |value: &Value| round_trip(description.role, value.clone()).map_err(|e| not_made(on, value, &e));
    let written = made(&given)?;
    must(written["kind"] == description.kind, on, format!("kind `{}`", description.kind), &written["kind"])?;
    let again = made(&written)?;
    unless(again == written, on, &written, &again)?;
    let mut unknown = given;
    unknown["no_such_setting"] = json!(1);
    let refused = round_trip(description.role, unknown).is_err();
    unless(refused, on, "to refuse the setting `no_such_setting`", "that it is accepted")
}

/// Parses a component and serializes it again.
fn round_trip(role: Role, value: Value) -> serde_json::Result<Value> {
    fn part<T: Serialize + DeserializeOwned>(value: Value) -> serde_json::Result<Value> {
        serde_json::to_value(serde_json::from_value::<T>(value)?)
    }
    match role {
        Role::Criterion => part::<Box<dyn Criterion>>(value),
        Role::Search => part::<Search>(value),
        Role::Learner => part::<Box<dyn Learner>>(value),
        Role::Map => part::<Box<dyn Map>>(value),
        Role::TargetMap => part::<Box<dyn TargetMap>>(value),
        Role::Loss => part::<Box<dyn Loss>>(value),
        Role::Resampling => part::<Box<dyn Resampling>>(value),
    }
}
