//! `vaglio new-plugin`: what is written is what the templates say.

use crate::common::{Folder, Ran, root};

const KINDS: [&str; 6] = ["criterion", "search", "learner", "map", "loss", "resampling"];

/// Without documentation, empty lines and the lines that import and close.
fn own_lines(text: &str) -> usize {
    let counts = |line: &&str| !["", "}", "    }"].contains(line) && !line.trim_start().starts_with("//");
    text.lines().filter(counts).filter(|line| !line.starts_with("use ")).count()
}

#[test]
fn a_plug_in_is_under_thirty_lines() {
    for kind in KINDS {
        let text = std::fs::read_to_string(root().join(format!("crates/vaglio-cli/template/{kind}.rs"))).unwrap();
        assert!(own_lines(&text) < 30, "{kind}: {}", own_lines(&text));
    }
}

fn written(folder: &Folder, arguments: &[&str]) -> Ran {
    let ran = folder.vaglio(&[&["new-plugin"], arguments].concat());
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
    ran
}

#[test]
fn every_kind_is_written_under_its_name_and_runs_where_its_part_is_there() {
    for kind in KINDS {
        let folder = Folder::new(&format!("new-{kind}"));
        let ran = written(&folder, &["vaglio-made-up", "--kind", kind]);
        assert!(ran.err.contains(&format!("wrote vaglio-made-up, with the {kind} `made_up`")), "{}", ran.err);
        let source = folder.read("vaglio-made-up/src/lib.rs");
        assert!(source.contains(", \"made_up\")]") && source.contains("struct MadeUp"), "{source}");
        assert!(folder.read("vaglio-made-up/tests/all.rs").contains("use vaglio_made_up::MadeUp;"));
        assert!(folder.read("vaglio-made-up/program/src/main.rs").contains("use vaglio_made_up as _;"));
        for file in ["Cargo.toml", "src/lib.rs", "tests/all.rs", "example.yaml", "README.md", "program/Cargo.toml"] {
            let text = folder.read(&format!("vaglio-made-up/{file}"));
            let left = ["emplate", "NAME", "WORD", "KIND"].iter().any(|word| text.contains(word));
            assert!(!left, "{kind}: {file}\n{text}");
        }
        // The stock program lacks the part, and says so.
        folder.vaglio(&["plan", "vaglio-made-up/example.yaml"]).refused(2, "made_up");
        // Nothing is written over.
        folder.vaglio(&["new-plugin", "vaglio-made-up", "--kind", kind]).refused(2, "nothing is written over");
    }
}

#[test]
fn vaglio_is_taken_from_its_source_or_from_the_registry() {
    let folder = Folder::new("new-from");
    let checkout = root().canonicalize().unwrap();
    written(&folder, &["one"]);
    written(&folder, &["two", "--path", checkout.to_str().unwrap()]);
    written(&folder, &["three", "--published"]);
    let line = format!("vaglio-core = {{ path = \"{}\" }}", checkout.join("crates/vaglio-core").display());
    for name in ["one", "two"] {
        assert!(folder.read(&format!("{name}/Cargo.toml")).contains(&line), "{name}");
    }
    let version = env!("CARGO_PKG_VERSION");
    assert!(folder.read("three/Cargo.toml").contains(&format!("vaglio-core = {{ version = \"{version}\" }}")));
    folder.vaglio(&["new-plugin", "four", "--path", "one"]).refused(2, "one does not hold the source of vaglio");
    assert!(!folder.path("four").exists());
}

#[test]
fn names_that_no_crate_can_have_are_refused() {
    let folder = Folder::new("new-names");
    let cases = [
        ("", "no name of a crate"),
        ("7th", "no name of a crate"),
        ("Mine", "no name of a crate"),
        ("a/b", "no name of a crate"),
        ("..", "no name of a crate"),
        ("my part", "no name of a crate"),
        ("mine-", "no name of a crate"),
        ("é", "no name of a crate"),
        ("loop", "a word of Rust"),
        ("vaglio-core", "a crate of vaglio"),
        ("kfold", "there is a criterion `kfold` already"),
        ("vaglio-loo", "there is a criterion `loo` already"),
        ("design", "`Design` is the name of something else"),
    ];
    for (name, expected) in cases {
        folder.vaglio(&["new-plugin", name]).refused(2, expected);
    }
    assert_eq!(folder.vaglio(&["new-plugin", "x", "--kind", "plug"]).code, Some(2));
    assert_eq!(folder.files("."), Vec::<String>::new());
}

/// The folder to copy from is what the command writes.
#[test]
fn the_template_is_what_is_written() {
    let folder = Folder::new("new-template");
    written(&folder, &["template"]);
    let checkout = root().canonicalize().unwrap().display().to_string();
    for file in ["Cargo.toml", "src/lib.rs", "tests/all.rs", "example.yaml", "example.csv", "README.md", ".gitignore"] {
        let expected = folder.read(&format!("template/{file}")).replace(&checkout, "../..");
        let found = std::fs::read_to_string(root().join("plugins/template").join(file)).unwrap();
        assert_eq!(found, expected, "{file}");
    }
    for file in ["program/Cargo.toml", "program/src/main.rs"] {
        let expected = folder.read(&format!("template/{file}")).replace(&checkout, "../../..");
        let found = std::fs::read_to_string(root().join("plugins/template").join(file)).unwrap();
        assert_eq!(found, expected, "{file}");
    }
}

#[test]
fn below_a_workspace_it_is_a_member() {
    let folder = Folder::new("new-member");
    folder.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\n    \"app\", # mine\n]\n");
    let ran = written(&folder, &["vaglio-one"]);
    assert!(ran.err.contains("it is a member of the workspace of "), "{}", ran.err);
    written(&folder, &["vaglio-two", "--kind", "learner", "--refit", "--no-program"]);
    let members = "\"app\", # mine\n    \"vaglio-one\",\n    \"vaglio-one/program\",\n    \"vaglio-two\",\n]";
    let manifest = folder.read("Cargo.toml");
    assert_eq!(manifest, manifest.split("\"app\"").next().unwrap().to_owned() + members + "\n");
    for file in ["vaglio-one/Cargo.toml", "vaglio-one/program/Cargo.toml", "vaglio-two/Cargo.toml"] {
        let own = folder.read(file);
        assert!(!own.contains("[workspace]") && !own.contains("[profile"), "{own}");
    }
    assert!(!folder.path("vaglio-two/program").exists() && !folder.path("vaglio-two/.gitignore").exists());
    let readme = folder.read("vaglio-two/README.md");
    assert!(!readme.contains("program -") && readme.contains("use vaglio_two as _;"), "{readme}");
    let source = folder.read("vaglio-two/src/lib.rs");
    assert!(source.contains("fn refit(") && source.contains("#[saved(ModelData, \"two_model\")]"), "{source}");
    assert!(folder.read("vaglio-two/example.yaml").contains("learner: {kind: two, scale: 2.0}"));
    // Cargo reads what was written.
    folder.write("app/Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    folder.write("app/src/lib.rs", String::new());
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let metadata = std::process::Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(folder.path("."))
        .output()
        .unwrap();
    let read: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let mut names: Vec<&str> =
        read["packages"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["app", "vaglio-one", "vaglio-one-program", "vaglio-two"]);
}

#[test]
fn what_is_no_learner_is_not_trained_anew() {
    let folder = Folder::new("new-refit");
    folder
        .vaglio(&["new-plugin", "one", "--refit"])
        .refused(2, "a criterion is not trained; it goes with --kind learner");
    assert_eq!(folder.files("."), Vec::<String>::new());
}
