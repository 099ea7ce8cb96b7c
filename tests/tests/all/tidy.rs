//! Rules of the source that a machine can check.

use crate::common::root;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Files below a folder of the workspace whose names end so, build products left out.
pub fn files(folder: &str, ending: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    walk(&root().join(folder), ending, &mut found);
    found.sort();
    found
}

fn walk(folder: &Path, ending: &str, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            walk(&path, ending, found);
        } else if path.is_file() && name.ends_with(ending) {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path.strip_prefix(root()).unwrap().to_owned(), text));
        }
    }
}

/// Names of the crates that a manifest depends on, those of its tests included when asked for.
fn dependencies(manifest: &str, of_tests: bool) -> Vec<String> {
    let mut section = String::new();
    let mut names = Vec::new();
    for line in manifest.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            section = name.to_owned();
        } else if (section.ends_with("dependencies")) && (of_tests || section != "dev-dependencies") {
            names.extend(line.split(['=', '.']).next().map(|n| n.trim().to_owned()).filter(|n| !n.is_empty()));
        }
    }
    names
}

/// A manifest of the workspace.
fn manifest(path: &str) -> String {
    std::fs::read_to_string(root().join(path).join("Cargo.toml")).unwrap()
}

/// Crates on which plug-ins and their dependencies do not depend.
const ABOVE_PLUGINS: [&str; 3] = ["vaglio", "vaglio-files", "vaglio-pipeline"];

#[test]
fn layers_depend_downwards_only() {
    for (path, text) in files("plugins", "Cargo.toml") {
        let above = dependencies(&text, false).into_iter().find(|name| ABOVE_PLUGINS.contains(&name.as_str()));
        assert_eq!(above, None, "{}", path.display());
    }
    let kernels = dependencies(&manifest("crates/vaglio-kernels"), false);
    assert!(!kernels.is_empty());
    for name in ["serde", "vaglio-core", "vaglio-search"].iter().chain(&ABOVE_PLUGINS) {
        assert!(!kernels.iter().any(|k| k == name), "vaglio-kernels depends on {name}");
    }
    let columns = dependencies(&manifest("crates/vaglio-columns"), true);
    assert!(!columns.iter().any(|c| c == "serde" || c.starts_with("vaglio")), "vaglio-columns is the leaf");
    let core = dependencies(&manifest("crates/vaglio-core"), false);
    for name in ["vaglio-kernels", "vaglio-search"].iter().chain(&ABOVE_PLUGINS) {
        assert!(!core.iter().any(|k| k == name), "vaglio-core depends on {name}");
    }
    for room in [
        "vaglio-search",
        "vaglio-validate",
        "vaglio-document",
        "vaglio-maps",
        "vaglio-tables",
        "vaglio-report",
        "vaglio-export",
    ] {
        let below = dependencies(&manifest(&format!("crates/{room}")), false);
        let above = below.iter().filter(|name| ABOVE_PLUGINS.contains(&name.as_str()) || *name == "vaglio-cli");
        assert_eq!(above.count(), 0, "{room} depends on what stands above it");
    }
    for (room, above) in [
        ("vaglio-pipeline", &["vaglio-files", "vaglio-export", "csv", "parquet", "vaglio", "vaglio-cli"][..]),
        ("vaglio-files", &["vaglio", "vaglio-cli"]),
    ] {
        let below = dependencies(&manifest(&format!("crates/{room}")), false);
        assert!(below.contains(&"vaglio-core".into()), "{room}");
        for name in above {
            assert!(!below.iter().any(|k| k == name), "{room} depends on {name}");
        }
    }
    let numerics = dependencies(&manifest("crates/vaglio-validate"), false);
    for name in ["vaglio-search", "vaglio-tables", "vaglio-report"] {
        assert!(!numerics.iter().any(|k| k == name), "vaglio-validate depends on {name}");
    }
}

#[test]
fn only_the_document_names_yaml_crates() {
    for (path, text) in files("crates", ".rs").into_iter().chain(files("plugins", ".rs")) {
        let named = ["saphyr", "serde_yaml", "yaml_rust"].iter().any(|name| text.contains(name));
        assert!(!named || path.starts_with("crates/vaglio-document"), "{} names a YAML crate", path.display());
    }
    for folder in ["crates", "plugins"] {
        for (path, text) in files(folder, "Cargo.toml") {
            let named = dependencies(&text, true).iter().any(|name| name.contains("saphyr") || name.contains("yaml"));
            assert!(!named || path.starts_with("crates/vaglio-document"), "{} depends on a YAML crate", path.display());
        }
    }
}

/// Each is linked with everything below it, which takes longer than to compile it.
#[test]
fn a_package_has_one_integration_test_binary() {
    for folder in ["crates", "plugins", "tests", "examples"] {
        for (path, text) in files(folder, "Cargo.toml") {
            let tests = root().join(&path).with_file_name("tests");
            let names: Vec<String> = std::fs::read_dir(&tests)
                .into_iter()
                .flatten()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            let one = names.is_empty() || names == ["all"] || names == ["all.rs"];
            assert!(one && !text.contains("[[test]]"), "{}: {names:?}", tests.display());
        }
    }
}

/// A crate that is not compiled for tests of its own, or of its documentation, has none that would be passed over.
#[test]
fn crates_without_unit_tests_have_none() {
    let passed_over =
        [("\ntest = false", "#[test]"), ("\ndoctest = false", "/// ```"), ("\ndoctest = false", "//! ```")];
    for folder in ["crates", "examples", "plugins", "tests"] {
        for (path, text) in files(folder, "Cargo.toml") {
            let lib = text.split("[lib]").nth(1).and_then(|rest| rest.split("\n[").next()).unwrap_or_default();
            for (_, test) in passed_over.iter().filter(|(setting, _)| lib.contains(setting)) {
                let source = root().join(&path).with_file_name("src");
                let source = source.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                let tested = files(&source, ".rs").into_iter().find(|(_, text)| text.contains(test));
                assert!(tested.is_none(), "{}: {:?}", path.display(), tested.map(|(file, _)| file));
            }
        }
    }
}

/// One generator, `vaglio_testkit::SplitMix64`: data of tests and benchmarks are the same everywhere. The dummies of a selection, of
/// which an experiment draws millions, are no such data.
#[test]
fn random_numbers_come_from_the_test_kit() {
    let multipliers =
        [concat!("bf58476d", "1ce4e5b9"), concat!("63641362238", "46793005"), concat!("5851f42d", "4c957f2d")];
    for folder in ["crates", "plugins", "tests", "examples"] {
        for (path, text) in files(folder, ".rs") {
            let plain = text.to_lowercase().replace('_', "");
            let own = multipliers.iter().any(|multiplier| plain.contains(multiplier));
            let may = ["vaglio-testkit/src/random.rs", "vaglio-pipeline/src/resampling/fdr/dummy_path/normal_rng.rs"];
            assert!(!own || may.iter().any(|end| path.ends_with(end)), "{} makes its own", path.display());
        }
    }
}

#[test]
fn files_are_short() {
    for folder in ["crates", "plugins", "tests", "examples"] {
        for (path, text) in files(folder, ".rs").into_iter().chain(files(folder, ".py")) {
            let lines = text.lines().count();
            assert!(lines <= 400, "{} has {lines} lines", path.display());
        }
    }
}

/// `OnceLock::get_or_init` holds a lock while it makes a value, for which a worker of a pool may wait that made it itself; the
/// cells of these files are of one thread, or made without parallel work.
#[test]
fn what_threads_share_is_made_without_a_lock() {
    let may = [
        "vaglio-columns/src/lazy_cell.rs",
        "vaglio-columns/src/lib.rs",
        "vaglio-pipeline/src/final_fit.rs",
        "vaglio-search/src/space.rs",
        "vaglio-tables/src/budget/machine.rs",
    ];
    for folder in ["crates", "plugins"] {
        for (path, text) in files(folder, ".rs") {
            let is_locked = text.contains(concat!(".get_or_", "init("));
            assert!(!is_locked || may.iter().any(|end| path.ends_with(end)), "{}: use get_or_make", path.display());
        }
    }
}

#[test]
fn unsafe_code_is_in_the_kernels_the_allocator_signals_and_memory_of_python_only() {
    let word = concat!("uns", "afe ");
    for folder in ["crates", "plugins", "tests", "examples"] {
        for (path, text) in files(folder, ".rs") {
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let found = code.filter(|line| line.contains(word)).count();
            let may = path.starts_with("crates/vaglio-kernels")
                || [
                    "vaglio-cli/src/memory/file_heap.rs",
                    "vaglio-cli/src/memory.rs",
                    "vaglio-cli/src/signals.rs",
                    "vaglio-py/src/foreign.rs",
                ]
                .iter()
                .any(|end| path.ends_with(end));
            assert!(found == 0 || may, "{} holds {word}", path.display());
        }
    }
}

#[test]
fn only_the_command_line_prints() {
    let aside = ["tests", "benches", "examples", "tests.rs"];
    let in_tests = |path: &Path| path.components().any(|c| aside.iter().any(|n| c.as_os_str() == *n));
    for folder in ["crates", "plugins"] {
        for (path, text) in files(folder, ".rs") {
            if path.starts_with("crates/vaglio-cli") || in_tests(&path) {
                continue;
            }
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                assert!(!line.contains("println!") && !line.contains("eprint!"), "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn every_component_has_an_example() {
    let folder = crate::common::Folder::new("components");
    let list: Value = serde_json::from_str(&folder.vaglio(&["list", "--json"]).out).unwrap();
    for component in list.as_array().unwrap() {
        for key in ["role", "kind", "crate", "version", "summary", "example"] {
            let text = component[key].as_str().unwrap_or_default();
            assert!(!text.trim().is_empty(), "{component}: {key}");
        }
        let (kind, example) = (component["kind"].as_str().unwrap(), component["example"].as_str().unwrap());
        assert!(example.contains(kind), "{kind}: {example}");
    }
}

#[test]
fn one_version_of_ndarray_is_linked() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    assert_eq!(lock.lines().filter(|line| *line == "name = \"ndarray\"").count(), 1);
}

#[test]
fn licences_are_there_and_named() {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        assert!(std::fs::metadata(root().join(name)).unwrap().len() > 500, "{name}");
    }
    for folder in ["crates", "plugins"] {
        for (path, text) in files(folder, "Cargo.toml") {
            // The template is a workspace of its own.
            let is_own = path.starts_with("plugins/template");
            assert!(is_own || text.contains("license.workspace = true"), "{}", path.display());
        }
    }
}

/// Each crate has the metadata that a registry shows, and by which it builds the documentation.
#[test]
fn crates_are_ready_to_be_published() {
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    for folder in ["crates", "plugins"] {
        for (path, text) in files(folder, "Cargo.toml") {
            if text.contains("publish = false") || path.starts_with("plugins/template") {
                continue;
            }
            let shown = ["version", "edition", "rust-version", "license", "keywords", "categories", "description"];
            for key in shown {
                assert!(text.contains(&format!("\n{key}")), "{}: {key}", path.display());
            }
            for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
                assert!(root().join(&path).with_file_name(file).is_file(), "{}: {file}", path.display());
            }
            let readme = std::fs::read_to_string(root().join(&path).with_file_name("README.md")).unwrap();
            let links = readme.split("](").skip(1);
            assert!(
                links.into_iter().all(|link| link.starts_with("http")),
                "{}: a link of the source tree",
                path.display()
            );
            let name = text.split("name = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
            let listed =
                workspace.lines().any(|l| l.starts_with(&format!("{name} = {{ path = ")) && l.contains("version"));
            assert!(listed, "{name}: the workspace gives no version");
        }
    }
}

#[test]
fn documents_hold_no_paths_of_one_machine() {
    let endings = [".md", ".yaml", ".toml", ".rs"];
    let folders = ["crates", "plugins", "examples", "book", "tests"];
    for (path, text) in folders.iter().flat_map(|f| endings.iter().flat_map(|e| files(f, e))) {
        for bad in [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")] {
            assert!(!text.contains(bad), "{} names {bad}", path.display());
        }
    }
    for entry in std::fs::read_dir(root()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "md") {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(
                !text.contains(concat!("/wo", "rk/")) && !text.contains(concat!("/ro", "ot/")),
                "{}",
                path.display()
            );
        }
    }
}

/// Small constants that bound no rounding of a kernel: parts of formulas, seconds that work takes, settings, and the share
/// below which weights are gone.
const NO_TOLERANCES: [&str; 12] = [
    "AREA",
    "COST_ROUNDING",
    "EVEN",
    "LEAST",
    "LEAST_FALL",
    "LIGHT",
    "LN_2_LOW",
    "LOSS_ROUNDING",
    "RIDGE",
    "TIED_PREDICTION",
    "WEIGHT_GONE",
    "WIDTH",
];

#[test]
fn tolerances_stand_in_one_file() {
    let mut found = 0;
    for (path, text) in files("crates", ".rs").into_iter().chain(files("plugins", ".rs")) {
        let name = path.to_string_lossy();
        if !name.contains("/src/") || name.contains("test") || name.contains("bench") {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code.lines().filter(|line| line.contains(": f64 = ")) {
            let Some((_, rest)) = line.split_once("const ") else { continue };
            let (constant, value) = rest.split_once(": f64 = ").unwrap_or_default();
            let is_small = value.contains("e-") || value.contains("EPSILON");
            if is_small && name.ends_with("vaglio-kernels/src/tolerance.rs") {
                found += 1;
            } else {
                assert!(!is_small || NO_TOLERANCES.contains(&constant), "{name}: {line}");
            }
        }
    }
    assert!(found > 60, "{found}");
}

#[test]
fn a_design_has_few_methods() {
    let mut methods = Vec::new();
    for (_, text) in files("crates/vaglio-core/src", ".rs") {
        for part in text.split("\nimpl Design {").skip(1) {
            let block = part.split("\n}\n").next().unwrap_or_default();
            methods.extend(block.lines().filter_map(|line| line.strip_prefix("    pub fn ")).map(str::to_owned));
        }
    }
    assert!((20..=25).contains(&methods.len()), "{methods:#?}");
}
