//! Adds a crate to an existing workspace.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// Manifest of a workspace.
pub struct Workspace {
    pub manifest: PathBuf,
    text: String,
}

impl Workspace {
    /// Finds the nearest enclosing workspace of `folder`, as cargo does.
    pub fn find(folder: &Path) -> Option<Self> {
        let manifest = |above: &Path| {
            let manifest = above.join("Cargo.toml");
            let text = std::fs::read_to_string(&manifest).ok()?;
            text.lines().any(is_workspace).then_some(Workspace { manifest, text })
        };
        let workspace = folder.ancestors().skip(1).find_map(manifest)?;
        let path = workspace.relative(folder)?;
        let is_excluded = workspace.entries("exclude").iter().any(|excluded| Path::new(&path).starts_with(excluded));
        (!is_excluded).then_some(workspace)
    }

    /// The folder relative to the manifest, with `/` as separator.
    fn relative(&self, folder: &Path) -> Option<String> {
        let path = folder.strip_prefix(self.manifest.parent()?).ok()?;
        let parts: Option<Vec<&str>> = path.components().map(|part| part.as_os_str().to_str()).collect();
        parts.map(|parts| parts.join("/"))
    }

    /// The manifest with these folders added to the members; `None` if nothing is new.
    pub fn with(&self, folders: &[PathBuf]) -> Option<String> {
        let members = self.entries("members");
        let paths = folders.iter().filter_map(|folder| self.relative(folder));
        let new: Vec<String> = paths
            .filter(|path| !members.iter().any(|member| covers(member, path)))
            .map(|path| serde_json::Value::String(path).to_string())
            .collect();
        if new.is_empty() {
            return None;
        }
        if let Some(list) = self.list("members") {
            return Some(self.with_more(list, &new));
        }
        let line = format!("members = [{}]\n", new.join(", "));
        Some(match self.start() {
            Some(start) => format!("{}{line}{}", &self.text[..start], &self.text[start..]),
            None => format!("{}\n[workspace]\n{line}", self.text),
        })
    }

    /// Offset of the line after `[workspace]`.
    fn start(&self) -> Option<usize> {
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            start += line.len();
            if line.split('#').next().is_some_and(|line| line.trim() == "[workspace]") {
                return line.ends_with('\n').then_some(start);
            }
        }
        None
    }

    /// Strings of a list in the workspace table.
    fn entries(&self, key: &str) -> Vec<String> {
        let list = self.list(key).map_or("", |list| &self.text[list]);
        let quoted = |token: &str| token.starts_with(['"', '\'']);
        tokens(list).filter(|(_, token)| quoted(token)).map(|(_, token)| token[1..token.len() - 1].to_owned()).collect()
    }

    /// Range of the text between the brackets of a list in the workspace table.
    fn list(&self, key: &str) -> Option<Range<usize>> {
        let mut at = self.start()?;
        for line in self.text[at..].split_inclusive('\n') {
            if line.trim_start().starts_with('[') {
                return None;
            }
            let value =
                line.trim_start().strip_prefix(key).map(str::trim_start).and_then(|rest| rest.strip_prefix('='));
            if let Some(value) = value.map(str::trim_start).and_then(|value| value.strip_prefix('[')) {
                let start = at + line.len() - value.len();
                let length = tokens(&self.text[start..]).find_map(|(place, token)| (token == "]").then_some(place))?;
                return Some(start..start + length);
            }
            at += line.len();
        }
        None
    }

    /// Appends entries to a list in its style, after the last entry and its comment.
    fn with_more(&self, list: Range<usize>, new: &[String]) -> String {
        let inside = &self.text[list.clone()];
        let last = tokens(inside).last();
        let end = list.start + last.map_or(0, |(place, token)| place + token.len());
        let comma = if last.is_none_or(|(_, token)| token == ",") { "" } else { "," };
        let (before, after) = self.text.split_at(end);
        if !inside.contains('\n') {
            let space = if last.is_none() { "" } else { " " };
            return format!("{before}{comma}{space}{}{after}", new.join(", "));
        }
        let lines: String = new.iter().map(|path| format!("\n    {path},")).collect();
        let (same_line, rest) = after.split_at(after[..list.end - end].find('\n').unwrap_or(0));
        format!("{before}{comma}{same_line}{lines}{rest}")
    }
}

/// Whether a line opens the table of the workspace or a subtable.
fn is_workspace(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix('[').and_then(|line| line.trim_start().strip_prefix("workspace"));
    rest.is_some_and(|rest| rest.trim_start().starts_with([']', '.']))
}

/// Whether a workspace member, possibly ending in `/*`, matches this folder.
fn covers(member: &str, path: &str) -> bool {
    let member = member.trim_start_matches("./").trim_end_matches('/');
    match member.strip_suffix("/*") {
        Some(parent) => path.rsplit_once('/').is_some_and(|(above, _)| above == parent),
        None => member == path || (member == "*" && !path.contains('/')),
    }
}

/// Strings and punctuation with their offsets, without spaces and comments.
fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = &text[at..];
            let first = rest.chars().next()?;
            let length = match first {
                '#' => rest.find('\n').unwrap_or(rest.len()),
                '"' | '\'' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
                _ => first.len_utf8(),
            };
            let place = at;
            at += length;
            if first != '#' && !first.is_whitespace() {
                return Some((place, &rest[..length]));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, folders: &[&str]) -> Option<String> {
        let workspace = Workspace { manifest: PathBuf::from("/w/Cargo.toml"), text: text.into() };
        workspace.with(&folders.iter().map(|folder| Path::new("/w").join(folder)).collect::<Vec<_>>())
    }

    #[test]
    fn members_are_added_in_the_form_of_the_list() {
        for (text, expected) in [
            ("[workspace]\nmembers = []\n", "[workspace]\nmembers = [\"a\", \"a/program\"]\n"),
            ("[workspace]\nmembers = [ \"x\" ] # y\n", "[workspace]\nmembers = [ \"x\", \"a\", \"a/program\" ] # y\n"),
            (
                "[workspace] # w\nresolver = \"2\"\nmembers = [\n    \"x]\", # \"z\"\n    'y'\n]\n[package]\n",
                "[workspace] # w\nresolver = \"2\"\nmembers = [\n    \"x]\", # \"z\"\n    'y',\n    \"a\",\n    \"a/program\",\n]\n[package]\n",
            ),
            (
                "[workspace]\n\n[package]\nmembers = []\n",
                "[workspace]\nmembers = [\"a\", \"a/program\"]\n\n[package]\nmembers = []\n",
            ),
            (
                "[workspace.package]\nx = 1\n",
                "[workspace.package]\nx = 1\n\n[workspace]\nmembers = [\"a\", \"a/program\"]\n",
            ),
            ("[workspace]\nmembers = [\"*\"]\n", "[workspace]\nmembers = [\"*\", \"a/program\"]\n"),
        ] {
            assert_eq!(with(text, &["a", "a/program"]).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn those_that_are_members_stay() {
        assert_eq!(with("[workspace]\nmembers = [\"plugins/*\"]\n", &["plugins/a"]), None);
        assert_eq!(with("[workspace]\nmembers = ['./a/', \"a/*\"]\n", &["a", "a/program"]), None);
    }
}
