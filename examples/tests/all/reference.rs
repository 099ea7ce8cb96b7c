//! Pages that are made of what the program says of itself: every part with its settings. `VAGLIO_BLESS=1` writes them.

use crate::pages::{blessed, root};
use serde_json::Value;
use std::fmt::Write;
use std::process::Command;
use vaglio::pipeline::{component_fields, component_list};
use vaglio_cli as _;

/// What a cell of a table holds: alternatives are no ends of cells, lines are kept.
fn cell(text: &str) -> String {
    text.trim().replace('|', "\\|").replace('\n', "<br>")
}

/// A sentence of what has none of its own capital and full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str() + if text.ends_with('.') { "" } else { "." }
}

/// The settings of a part, a row each.
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

/// Where Rust finds what is defined elsewhere.
macro_rules! exported {
    ($($path:ident :: {$($part:ident),* $(,)?})*) => {
        [$($((std::any::type_name::<$path::$part>(), concat!(stringify!($path), "::", stringify!($part))),)*)*]
    };
}

use vaglio::{criteria, learners, maps, prelude, search, splits, target_maps};

/// The path by which a program names the type of a part; those that come with vaglio are in its prelude.
fn exported(defined: &str) -> String {
    let own = exported! {
        criteria::{KFold, Loo, Nhsic}
        search::{All, Backward, Exhaustive, Floating, Greedy, Lars, Race, Random, Rank}
        learners::{Crrr, Rls}
        maps::{Clip, Constant, DateParts, Impute, Interactions, Log1p, OneHot, Ordinal, Polynomial, Power, Standardize,
            TargetEncode, Window, WithinSeries}
        splits::{Forward, Given, MonteCarlo, Repeated}
    };
    let in_prelude = exported! {
        prelude::{Absolute, All, Auc, Backward, BalancedError, BalancedSquared, Concordance, Clip, Constant, Crrr, DateParts, Exhaustive, Floating, Forward,
            Given, Greedy, Huber, Impute, Interactions, KFold, Lars, Log1p, LogLoss, Loo, MonteCarlo, Nhsic, OneHot, Ordinal,
            Pinball, Polynomial, Power, Race, Random, Rank, Repeated, Rls, Squared, Standardize, TargetEncode, Window, WithinSeries, ZeroOne}
    };
    // Their words are those of maps of columns, so they have a module of their own in programs.
    let of_targets = exported! { target_maps::{Log, Log1p, Power, Rank} };
    let plugins = exported! {
        vaglio_beam::{Beam}
        vaglio_dependence::{Hsic, Mrmr, MrmrInformation, Qpfs}
        vaglio_elm::{Elm}
        vaglio_external::{ExternalCriterion, ExternalLearner, ExternalLoss}
        vaglio_information::{Information}
        vaglio_knn::{Knn}
        vaglio_linfa::{ElasticNet, Logistic, LogisticRidge, NaiveBayes, Svm, Tree}
        vaglio_lssvm::{FsLsSvm}
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

/// The page of a role.
fn page(role: &str, title: &str) -> String {
    let mut text = format!("# {title}\n\nWhat `vaglio list` says of every {role}, with all settings.\n");
    // The examples are linked into this test as well.
    let of_role = |part: &&Value| part["role"] == role && part["crate"] != env!("CARGO_PKG_NAME");
    for part in component_list().as_array().unwrap().iter().filter(of_role) {
        let word = |key: &str| part[key].as_str().unwrap();
        let kind = word("kind");
        let (crate_, path) = (word("crate"), exported(defined(role, kind)));
        let feature = if crate_ == "vaglio-linfa" { ", by the feature `linfa` of `vaglio-cli`" } else { "" };
        let summary = sentence(word("summary"));
        writeln!(text, "\n## `{kind}`\n\n{summary} In `{crate_}`{feature}; in Rust `{path}`.\n").unwrap();
        writeln!(text, "```yaml\n{}\n```", word("example").trim_end()).unwrap();
        let fields = component_fields(role, kind);
        if let Some(fields) = fields.as_ref().and_then(Value::as_array).filter(|fields| !fields.is_empty()) {
            text += &settings(fields);
        }
    }
    text
}

fn defined(role: &str, kind: &str) -> &'static str {
    let found = vaglio_core::descriptions().into_iter().find(|part| part.role.name() == role && part.kind == kind);
    found.map(|part| part.defined).unwrap_or_default()
}

#[test]
fn every_part_is_listed_with_its_settings() {
    let mut roles: Vec<String> = Vec::new();
    for part in component_list().as_array().unwrap() {
        let role = part["role"].as_str().unwrap().to_owned();
        if !roles.contains(&role) {
            roles.push(role);
        }
    }
    assert!(roles.len() >= 5, "{roles:?}");
    for role in roles {
        let (file, title) = match &*role {
            "criterion" => ("criteria", "All criteria"),
            "search" => ("searches", "All searches"),
            "learner" => ("learners", "All learners"),
            "map" => ("maps", "All maps"),
            "target_map" => ("target-maps", "All maps of targets"),
            "loss" => ("losses", "All losses"),
            "resampling" => ("splits", "All ways to hold rows out"),
            other => panic!("a page of every {other} is wanted"),
        };
        blessed(&root().join(format!("book/src/reference/parts/{file}.md")), &page(&role, title));
    }
}

/// Each block of the page is compared by another test; here it is seen to that no command is left out.
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
