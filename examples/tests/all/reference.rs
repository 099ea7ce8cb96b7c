//! Reference pages generated from the program's descriptions: every part with its settings. `VAGLIO_BLESS=1` writes
//! them.

use crate::pages::{blessed, name, pages, remade, root};
use serde_json::Value;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use vaglio_cli as _;
use vaglio_pipeline::pipeline::{component_fields, component_list};

/// Escapes a table cell: pipes stay inside, line breaks are kept.
fn cell(text: &str) -> String {
    text.trim().replace('|', "\\|").replace('\n', "<br>")
}

/// Adds a capital and a full stop if missing.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str() + if text.ends_with('.') { "" } else { "." }
}

/// Settings of a part, one row each.
fn settings(fields: &[Value]) -> String {
    let mut text = String::from("\n| setting | may be | default | |\n|---|---|---|---|\n");
    for field in fields {
        let word = |key: &str| cell(field[key].as_str().unwrap_or_default());
        let default = match field.get("default") {
            Some(Value::String(default)) => format!("`{default}`"),
            Some(default) => format!("`{default}`"),
            None if field["required"] == true => "required".into(),
            None => String::new(),
        };
        writeln!(text, "| `{}` | {} | {default} | {} |", word("name"), word("type"), word("description")).unwrap();
    }
    text
}

/// Paths of types that are defined elsewhere.
macro_rules! exported {
    ($($path:ident :: {$($part:ident),* $(,)?})*) => {
        [$($((std::any::type_name::<$path::$part>(), concat!(stringify!($path), "::", stringify!($part))),)*)*]
    };
}

use vaglio::{criteria, learners, maps, prelude, search, splits, target_maps};

/// Path by which a program names the type of a part; built-in parts are in the prelude.
fn exported(defined: &str) -> String {
    let own = exported! {
        criteria::{KFold, Loo, Nhsic}
        search::{All, Backward, Exhaustive, Floating, Greedy, Lars, Random, Rank}
        learners::{Crrr, Rls}
        maps::{Clip, Constant, DateParts, Impute, Interactions, Log1p, OneHot, Ordinal, Polynomial, Power, Standardize,
            TargetEncode, Window, WithinSeries}
        splits::{Forward, Given, MonteCarlo, Repeated}
    };
    let in_prelude = exported! {
        prelude::{Absolute, All, Auc, Backward, BalancedError, BalancedSquared, Concordance, Clip, Constant, Crrr, DateParts, Exhaustive, Floating, Forward,
            Given, Greedy, Huber, Impute, Interactions, KFold, Lars, Log1p, LogLoss, Loo, MonteCarlo, Nhsic, OneHot, Ordinal,
            Pinball, Polynomial, Power, Random, Rank, Repeated, Rls, Squared, Standardize, TargetEncode, Window, WithinSeries, ZeroOne}
    };
    // Programs name them by a module of their own.
    let of_targets = exported! { target_maps::{Log1pTarget, LogTarget, PowerTarget, RankTarget} };
    let plugins = exported! {
        vaglio_beam::{Beam}
        vaglio_dependence::{Fcbf, HitonPc, Hsfs, Hsic, Mrmr, MrmrInformation, Qpfs, Spam}
        vaglio_elm::{Elm}
        vaglio_external::{ExternalCriterion, ExternalLearner, ExternalLoss}
        vaglio_information::{Information}
        vaglio_knn::{Knn}
        vaglio_linfa::{ElasticNet, Logistic, LogisticRidge, NaiveBayes, Svm, Tree}
        vaglio_lssvm::{FsLsSvm, KernelLogistic}
        vaglio_reservoir::{Reservoir}
    };
    let of = |all: &[(&str, &'static str)]| all.iter().find(|(is, _)| *is == defined).map(|(_, path)| *path);
    if let Some(path) = of(&of_targets) {
        return format!("vaglio::{path}");
    }
    match (of(&own), of(&in_prelude), of(&plugins)) {
        (Some(path), Some(_), None) => format!("vaglio::{path}"),
        (None, Some(path), None) => format!("vaglio::{path}"),
        (None, None, Some(path)) => path.to_owned(),
        found => {
            panic!("{defined} is to be in one of the lists, and of those of vaglio in that of the prelude: {found:?}")
        }
    }
}

/// Location of a part: its crate and its Rust type.
fn place(part: &Value) -> String {
    let word = |key: &str| part[key].as_str().unwrap();
    let (crate_, path) = (word("crate"), exported(defined(word("role"), word("kind"))));
    let feature = if crate_ == "vaglio-linfa" { ", by the feature `linfa` of `vaglio-cli`" } else { "" };
    format!("`{crate_}`{feature}; in Rust `{path}`")
}

/// Parts of a role, except those of the examples linked into this test.
fn parts(role: &str) -> Vec<Value> {
    let all = component_list().into_iter();
    all.filter(|part| part["role"] == role && part["crate"] != env!("CARGO_PKG_NAME")).collect()
}

/// Settings of a part, with alternative spellings.
fn fields(role: &str, kind: &str) -> Vec<Value> {
    let Some(Value::Array(all)) = component_fields(role, kind) else { return Vec::new() };
    let mut found: Vec<Value> = Vec::new();
    for field in all {
        let same = |other: &&mut Value| ["type", "description", "default"].iter().all(|key| other[key] == field[key]);
        match found.last_mut().filter(same) {
            Some(first) => first["name"] = format!("{}`, also `{}", text(first, "name"), text(&field, "name")).into(),
            None => found.push(field),
        }
    }
    found
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Page of a role whose parts have no pages of their own.
fn page(role: &str, title: &str) -> String {
    let mut page = format!("# {title}\n\nWhat `vaglio list` says of every {role}, with all settings.\n");
    for part in parts(role) {
        let (kind, summary) = (text(&part, "kind"), sentence(text(&part, "summary")));
        writeln!(page, "\n## `{kind}`\n\n{summary} In {}.\n", place(&part)).unwrap();
        writeln!(page, "```yaml\n{}\n```", text(&part, "example").trim_end()).unwrap();
        let fields = fields(role, kind);
        if !fields.is_empty() {
            page += &settings(&fields);
        }
    }
    page
}

/// Settings common to all searches: those of `greedy`, which has no others.
fn shared() -> Vec<Value> {
    fields("search", "greedy")
}

/// Text between the marks of a part.
fn section(role: &str, kind: &str) -> String {
    if (role, kind) == ("search", "shared") {
        return settings(&shared());
    }
    let part = parts(role).into_iter().find(|part| part["kind"] == kind);
    let part = part.unwrap_or_else(|| panic!("there is no {role} `{kind}`"));
    let mut section = format!("\nIn {}.\n", place(&part));
    let of_all = if role == "search" { shared() } else { Vec::new() };
    let (common, own): (Vec<Value>, Vec<Value>) = fields(role, kind).into_iter().partition(|f| of_all.contains(f));
    if !own.is_empty() {
        section += &settings(&own);
    }
    if !common.is_empty() {
        let without = of_all.iter().filter(|field| !common.contains(field));
        let without: Vec<String> = without.map(|field| format!("`{}`", text(field, "name"))).collect();
        let but = if without.is_empty() { String::new() } else { format!(", but for {}", without.join(", ")) };
        writeln!(section, "\nAnd the [settings of every search](../searches/settings.md){but}.").unwrap();
    }
    section
}

/// Roles whose parts have pages of their own, with marks for the settings.
const ON_PAGES: [(&str, &str, &str); 3] = [
    ("criterion", "criteria", "All criteria"),
    ("search", "searches", "All searches"),
    ("learner", "learners", "All learners"),
];

/// Marks of a page: role and kind of the parts whose settings are on it.
fn marks(page: &str) -> Vec<(String, String)> {
    let mark = |line: &str| {
        let (role, kind) = line.strip_prefix("<!-- settings: ")?.strip_suffix(" -->")?.split_once(' ')?;
        Some((role.to_owned(), kind.to_owned()))
    };
    page.lines().filter_map(mark).collect()
}

/// A page with up-to-date settings of its parts.
fn with_settings(page: String) -> String {
    marks(&page).into_iter().fold(page, |page, (role, kind)| {
        let (start, end) = (format!("<!-- settings: {role} {kind} -->\n"), "<!-- /settings -->");
        let (before, rest) = page.split_once(&start).unwrap();
        let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("{start} has no end"));
        format!("{before}{start}{}\n{end}{after}", section(&role, &kind))
    })
}

/// List of the parts of a role, linked to their pages.
fn list(role: &str, title: &str, pages: &[(PathBuf, (String, String))]) -> String {
    let mut list = format!("# {title}\n\nWhat `vaglio list` says of every {role}; a page has the settings.\n\n");
    list += "| kind | is | in |\n|---|---|---|\n";
    for part in parts(role) {
        let kind = text(&part, "kind");
        let mut on = pages.iter().filter(|(_, mark)| (mark.0.as_str(), mark.1.as_str()) == (role, kind));
        let (Some((page, _)), None) = (on.next(), on.next()) else { panic!("{role} `{kind}` is to be on one page") };
        let page = name(page);
        let page = page.strip_prefix("book/src/").unwrap();
        let summary = cell(&sentence(text(&part, "summary")));
        writeln!(list, "| [`{kind}`](../../{page}) | {summary} | {} |", place(&part)).unwrap();
    }
    list
}

fn defined(role: &str, kind: &str) -> &'static str {
    let found = vaglio_core::descriptions().into_iter().find(|part| part.role.word() == role && part.kind == kind);
    found.map(|part| part.defined).unwrap_or_default()
}

#[test]
fn every_part_is_listed_with_its_settings() {
    let mut roles: Vec<String> = Vec::new();
    for part in component_list() {
        let role = part["role"].as_str().unwrap().to_owned();
        if !roles.contains(&role) && !ON_PAGES.iter().any(|(on_pages, ..)| *on_pages == role) {
            roles.push(role);
        }
    }
    assert!(roles.len() >= 4, "{roles:?}");
    for role in roles {
        let (file, title) = match &*role {
            "map" => ("maps", "All maps"),
            "target_map" => ("target-maps", "All maps of targets"),
            "loss" => ("losses", "All losses"),
            "resampling" => ("splits", "All resamplings"),
            other => panic!("a page of every {other} is wanted"),
        };
        blessed(&root().join(format!("book/src/reference/parts/{file}.md")), &page(&role, title));
    }
}

#[test]
fn every_criterion_search_and_learner_has_its_settings_on_one_page() {
    let mut marked = Vec::new();
    for page in pages() {
        let marks = marks(&std::fs::read_to_string(&page).unwrap());
        if !marks.is_empty() {
            remade(&page, with_settings);
        }
        marked.extend(marks.into_iter().map(|mark| (page.clone(), mark)));
    }
    for (role, file, title) in ON_PAGES {
        blessed(&root().join(format!("book/src/reference/parts/{file}.md")), &list(role, title, &marked));
    }
}

/// Checks that no command is missing; another test compares the blocks.
#[test]
fn every_command_has_its_options_on_the_page() {
    let program = Command::new(env!("CARGO_BIN_EXE_vaglio-of-the-book")).arg("--help").output().unwrap();
    let help = String::from_utf8(program.stdout).unwrap();
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| {
            line.strip_prefix("  ")?.split(' ').next().filter(|word| !word.is_empty() && *word != "help")
        })
        .collect();
    assert!(commands.contains(&"run"), "{help}");
    let page = std::fs::read_to_string(root().join("book/src/reference/options.md")).unwrap();
    for command in commands {
        assert!(page.contains(&format!("$ vaglio {command} --help\n")), "`{command}` is not on the page");
    }
}
