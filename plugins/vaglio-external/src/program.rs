//! Command of an external program, the digest of its files, and the permission to run it.

use serde::{Deserialize, Deserializer, Serialize};
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use vaglio_core::{Cause, Error, Result};

/// Whether programs may be run.
static ALLOWED: AtomicBool = AtomicBool::new(false);

/// Maximum size of a file of a command.
const LARGEST: u64 = 256 << 20;

/// Allows pipelines and models of this process to run programs, which are rejected otherwise.
///
/// A pipeline or model from elsewhere may name any command, and it runs with the user's rights.
pub fn allow_programs() {
    ALLOWED.store(true, Ordering::SeqCst);
}

/// A command with a digest of the files that it names.
///
/// Paths are relative to the working directory. Every word that names a regular file is hashed with the file's content,
/// so that a journal or model is not continued with another program. In settings it is the list of words, or these with
/// the expected digest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub struct ExternalProgram {
    command: Vec<String>,
    digest: String,
}

impl ExternalProgram {
    /// Creates a command from its words, with the digest of its files as they are now.
    pub fn new(words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let command: Vec<String> = words.into_iter().map(Into::into).collect();
        let digest = digest(&command).unwrap_or_default();
        ExternalProgram { command, digest }
    }

    /// The words: the program and its arguments.
    pub fn command(&self) -> &[String] {
        &self.command
    }

    /// Rejects a program that may not be run or has changed.
    ///
    /// # Errors
    /// [`Error::Setting`] on `program`.
    pub fn check(&self) -> Result<()> {
        let refused = |message: String| Err(Error::setting("program", message));
        let Some(first) = self.command.first() else {
            return refused("name the program and its arguments, as in `[python3, criterion.py]`".into());
        };
        if first.is_empty() || self.command.iter().any(|word| word.contains('\0')) {
            return refused("the name of the program is empty, or a word holds a NUL".into());
        }
        if !ALLOWED.load(Ordering::SeqCst) {
            return refused(format!(
                "`{self}` is a program of the user's, and none is run unless that is allowed; where you trust it, say \
                 `--allow-programs`, or call `vaglio_external::allow_programs()`"
            ));
        }
        match digest(&self.command) {
            Ok(now) if now == self.digest => Ok(()),
            Ok(now) => refused(format!(
                "the files of `{self}` are not those that this was made with: their digest is {now}, not {}; bring them back, \
                 or leave `digest` out and begin anew",
                self.digest
            )),
            Err(error) => Err(Error::setting("program", error)),
        }
    }
}

impl std::fmt::Display for ExternalProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.command.join(" "))
    }
}

/// Hash of the words, each with the content of the file that it names, if any.
fn digest(command: &[String]) -> Result<String, Cause> {
    let mut hasher = blake3::Hasher::new();
    for (number, word) in command.iter().enumerate() {
        hasher.update(&(word.len() as u64).to_le_bytes());
        hasher.update(word.as_bytes());
        let path = Path::new(word);
        // The first word is searched for like a program, unless it is a path.
        let is_path = number > 0 || path.components().count() > 1;
        if is_path && path.metadata().is_ok_and(|found| found.is_file()) {
            let held = file(path).map_err(|error| Cause::after(&format!("cannot read `{word}`"), error))?;
            hasher.update(&(held.len() as u64).to_le_bytes());
            hasher.update(&held);
        }
    }
    Ok(hasher.finalize().to_string())
}

fn file(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut held = Vec::new();
    let read = std::fs::File::open(path)?.take(LARGEST + 1).read_to_end(&mut held)?;
    match read as u64 > LARGEST {
        true => Err(std::io::Error::other(format!("it holds more than {LARGEST} bytes"))),
        false => Ok(held),
    }
}

impl<'de> Deserialize<'de> for ExternalProgram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            deny_unknown_fields,
            expecting = "the words of a command, or `{command: [words], digest: digits}`"
        )]
        enum ProgramSetting {
            Words(Vec<String>),
            Digested { command: Vec<String>, digest: Option<String> },
        }
        Ok(match ProgramSetting::deserialize(deserializer)? {
            ProgramSetting::Words(words) | ProgramSetting::Digested { command: words, digest: None } => {
                ExternalProgram::new(words)
            }
            ProgramSetting::Digested { command, digest: Some(digest) } => ExternalProgram { command, digest },
        })
    }
}

vaglio_core::schema!(ExternalProgram => {
    "anyOf": [
        {"type": "array", "items": {"type": "string"}},
        {
            "type": "object",
            "properties": {"command": {"type": "array", "items": {"type": "string"}}, "digest": {"type": "string"}},
            "required": ["command"],
            "additionalProperties": false
        }
    ]
});
