//! `vaglio new-plugin`: writes a crate with a new part that builds, passes its tests and runs.

#[cfg(test)]
mod tests;
mod workspace;

use crate::arguments::NewPlugin;
use crate::commands::Done;
use crate::exit;
use crate::terminal::note;
use std::path::{Path, PathBuf};
use vaglio::core::{Error, Result, Role, descriptions};
use vaglio_pipeline::pipeline::write_file;
use workspace::Workspace;

/// Writes the crate into a new folder of its name; inside a workspace, it becomes a member.
pub fn new_plugin(arguments: &NewPlugin) -> Done {
    let plugin = Plugin::new(arguments)?;
    let folder = Path::new(plugin.name);
    let failed = |e: std::io::Error| Error::unwritable(folder, e);
    if folder.symlink_metadata().is_ok() {
        let message = format!("there is a file or folder {} already; nothing is written over", folder.display());
        return Err(Error::setting("NAME", message).into());
    }
    for (path, text) in plugin.files() {
        let path = folder.join(path);
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
        write_file(&path, &text)?;
    }
    let Plugin { name, word, role, .. } = &plugin;
    note(&format_args!("wrote {name}, with the {} `{word}`", role.word()));
    plugin.join_workspace(folder)?;
    let run = format!(" && cargo run -p {name}-program -- run example.yaml");
    note(&format_args!("next: cd {name} && cargo test{}", if plugin.has_program { &*run } else { "" }));
    Ok(exit::SUCCESS)
}

macro_rules! of {
    ($name:literal, $source:literal, $line:expr) => {
        (
            include_str!(concat!("../template/", $source, ".rs")),
            include_str!(concat!("../template/", $name, "_laws.rs")),
            $line,
        )
    };
}

/// Source of a part, its tests, and the replacement of a line in the example pipeline.
fn template(role: Role, is_refitted: bool) -> (&'static str, &'static str, [&'static str; 2]) {
    match role {
        Role::Learner if is_refitted => {
            of!("learner", "learner_refit", ["learner: rls", "learner: {kind: WORD, scale: 2.0}"])
        }
        Role::Criterion => of!("criterion", "criterion", ["criterion: loo", "criterion: {kind: WORD, price: 0.02}"]),
        Role::Search => of!("search", "search", ["search: {kind: greedy,", "search: {kind: WORD, after: 2,"]),
        Role::Learner => of!("learner", "learner", ["learner: rls", "learner: {kind: WORD, share: 0.01}"]),
        Role::Map => of!("map", "map", ["[standardize]", "[WORD, standardize]"]),
        Role::TargetMap => of!("target_map", "target_map", ["learner: rls", "target_map: WORD\nlearner: rls"]),
        Role::Loss => of!("loss", "loss", ["criterion: loo", "criterion: {kind: loo, loss: {kind: WORD, power: 1.2}}"]),
        Role::Resampling => {
            of!(
                "resampling",
                "resampling",
                ["criterion: loo", "criterion: {kind: kfold, splits: {kind: WORD, every: 3}}"]
            )
        }
    }
}

const EXAMPLE: &str = "\
# cargo run -p NAME-program -- run example.yaml
version: 1
data: {train: example.csv, target: y}
preprocess: [standardize]
learner: rls
criterion: loo
search: {kind: greedy, max_features: 4}
";

/// The crate to write.
struct Plugin<'a> {
    name: &'a str,
    word: String,
    role: Role,
    source: &'static str,
    laws: &'static str,
    /// Replacement of a line in the example pipeline.
    line: [&'static str; 2],
    /// Source folder of vaglio; `None` for crates from the registry.
    checkout: Option<PathBuf>,
    /// Whether a program that contains the part is written too.
    has_program: bool,
    /// The workspace that it joins.
    workspace: Option<Workspace>,
}

impl<'a> Plugin<'a> {
    /// # Errors
    /// [`Error::Setting`] for a name that no crate or part can have, and for a folder without the source of vaglio.
    fn new(arguments: &'a NewPlugin) -> Result<Self> {
        let NewPlugin { name, kind, path, published, refit, no_program } = arguments;
        if *refit && *kind != Role::Learner {
            return Err(Error::setting(
                "--refit",
                format!("a {} is not trained; it goes with --kind learner", kind.word()),
            ));
        }
        let (source, laws, line) = template(*kind, *refit);
        check_name(name)?;
        let refused = |message: String| Err(Error::setting("NAME", message));
        let word =
            name.strip_prefix("vaglio-").filter(|rest| check_name(rest).is_ok()).unwrap_or(name).replace('-', "_");
        if descriptions().iter().any(|d| d.role == *kind && d.kind == word) {
            return refused(format!("there is a {} `{word}` already", kind.word()));
        }
        let is_in_source = |named: &str| source.split(|c: char| !c.is_alphanumeric()).any(|other| other == named);
        if camel(&word) != "Template" && is_in_source(&camel(&word)) {
            return refused(format!(
                "`{}` is the name of something else in the source of a {}",
                camel(&word),
                kind.word()
            ));
        }
        let checkout = match path {
            Some(path) => Some(checkout(path)?),
            None => own_checkout().filter(|_| !published),
        };
        let workspace = std::env::current_dir().ok().and_then(|here| Workspace::find(&here.join(name)));
        Ok(Plugin { name, word, role: *kind, source, laws, line, checkout, has_program: !no_program, workspace })
    }

    /// Adds the new crates to the workspace members, if there is a workspace.
    fn join_workspace(&self, folder: &Path) -> Result<()> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let Ok(folder) = folder.canonicalize() else { return Ok(()) };
        let program = self.has_program.then(|| folder.join("program"));
        let crates: Vec<PathBuf> = std::iter::once(folder).chain(program).collect();
        let Some(text) = workspace.with(&crates) else { return Ok(()) };
        write_file(&workspace.manifest, &text)?;
        note(&format_args!("it is a member of the workspace of {}", workspace.manifest.display()));
        Ok(())
    }

    /// Paths and texts of the files.
    fn files(&self) -> Vec<(&'static str, String)> {
        let example = EXAMPLE.replace(self.line[0], self.line[1]);
        let mut files = vec![
            ("Cargo.toml", self.manifest()),
            ("src/lib.rs", self.fill_in_names(self.source).replace("template", &self.word)),
            ("tests/all.rs", self.fill_in_names(self.laws)),
            ("example.yaml", self.without_program(&self.fill_in_names(&example))),
            ("example.csv", include_str!("../template/example.csv").into()),
            ("README.md", self.without_program(&self.fill_in_names(include_str!("../template/README.md")))),
        ];
        if self.has_program {
            files.push(("program/Cargo.toml", self.program()));
            files.push(("program/src/main.rs", self.fill_in_names(include_str!("../template/main.rs"))));
        }
        if self.workspace.is_none() {
            files.push((".gitignore", "target\n".into()));
        }
        files
    }

    /// Removes lines on the program from a text if there is none.
    fn without_program(&self, text: &str) -> String {
        let is_of_program = |line: &&str| line.contains("-program") || line.contains("`program`");
        if self.has_program {
            text.to_owned()
        } else {
            text.split_inclusive('\n').filter(|line| !is_of_program(line)).collect()
        }
    }

    /// Fills the names of this crate into a text.
    fn fill_in_names(&self, text: &str) -> String {
        text.replace("vaglio_template", &self.name.replace('-', "_"))
            .replace("Template", &camel(&self.word))
            .replace("NAME", self.name)
            .replace("WORD", &self.word)
            .replace("KIND", self.role.word())
    }

    fn manifest(&self) -> String {
        let [uses, tests] = match self.role {
            Role::Search => ["vaglio-search", "vaglio-dependence"].map(|name| self.dependency(name, "")),
            _ => Default::default(),
        };
        let members = if self.has_program { "members = [\"program\"]\n" } else { "" };
        let root = match self.workspace {
            Some(_) => String::new(),
            None => format!(
                "\n[workspace]\n{members}\n# Tests and runs train many small models.\n[profile.dev]\nopt-level = 1\n"
            ),
        };
        format!(
            "{}{}{uses}\n[dev-dependencies]\n{}{tests}{root}",
            self.package("", &format!("A {} for vaglio", self.role.word())),
            self.dependency("vaglio-core", ""),
            self.dependency("vaglio-testkit", ""),
        )
    }

    fn program(&self) -> String {
        format!(
            "{}# Plug-ins of vaglio itself, and Parquet and Arrow, are features: features = [\"parquet\", \"elm\", \"knn\"]\n\
             {}{} = {{ path = \"..\" }}\n",
            self.package("-program", &format!("The command line of vaglio with {}", self.name)),
            self.dependency("vaglio-cli", ", default-features = false"),
            self.name,
        )
    }

    fn package(&self, suffix: &str, description: &str) -> String {
        format!(
            "[package]\nname = \"{}{suffix}\"\nversion = \"0.1.0\"\nedition = \"2024\"\nrust-version = \"{}\"\n\
             description = \"{description}\"\n\n[dependencies]\n",
            self.name,
            env!("CARGO_PKG_RUST_VERSION"),
        )
    }

    /// A dependency line of a manifest.
    fn dependency(&self, name: &str, more: &str) -> String {
        let from = match &self.checkout {
            None => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
            Some(checkout) => {
                let below = if name == "vaglio-dependence" { "plugins" } else { "crates" };
                let path = checkout.join(below).join(name).display().to_string();
                format!("path = {}", serde_json::Value::String(path))
            }
        };
        format!("{name} = {{ {from}{more} }}\n")
    }
}

/// Rejects invalid and taken crate names.
fn check_name(name: &str) -> Result<()> {
    const TAKEN: &str = "vaglio vaglio-cli vaglio-core vaglio-macros vaglio-dependence vaglio-files vaglio-pipeline \
                         vaglio-search vaglio-testkit";
    const KEYWORDS: &str = "abstract alloc as async await become box break const continue core crate do dyn else enum \
                            extern false final fn for gen if impl in let loop macro match mod move mut override priv \
                            pub ref return self static std struct super test trait true try type typeof unsized use \
                            virtual where while yield unsafe";
    let refused = |message: &str| Err(Error::setting("NAME", format!("`{name}` {message}")));
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !starts || !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_') {
        return refused("is no name of a crate; use small letters, digits, `-` and `_`, a letter first");
    }
    if name.len() > 64 || name.ends_with(['-', '_']) || name.contains("--") || name.contains("__") {
        return refused("is no name of a crate; use up to 64 letters with single `-` between words");
    }
    for (list, message) in [(TAKEN, "is a crate of vaglio"), (KEYWORDS, "is a word of Rust")] {
        if list.split(' ').any(|word| word == name) {
            return refused(message);
        }
    }
    Ok(())
}

/// Converts `my_part` to `MyPart`.
fn camel(word: &str) -> String {
    let mut out = String::new();
    for part in word.split(['_', '-']) {
        let mut letters = part.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}

/// Source folder that this program was built from, if it still exists.
fn own_checkout() -> Option<PathBuf> {
    checkout(Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.parent()?).ok()
}

/// Absolute path of a folder with the source of vaglio.
fn checkout(path: &Path) -> Result<PathBuf> {
    let there = path.canonicalize().ok().filter(|path| path.join("crates/vaglio-core/Cargo.toml").is_file());
    let message = || format!("{} does not hold the source of vaglio: it has no crates/vaglio-core", path.display());
    there.ok_or_else(|| Error::setting("--path", message()))
}
