//! Dotted paths of settings: `search.max_features`, `preprocess[1].scope`, `preprocess.1.scope`.

use std::fmt;

/// Deepest nesting of values.
pub(super) const DEEPEST: usize = 64;

/// One step down a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Segment<'a> {
    /// The value of a key. A number between dots may also be an index into a list.
    Key(&'a str),
    /// An entry of a list, from 0.
    Index(usize),
}

impl Segment<'_> {
    /// The list index that the segment names, if any.
    pub(super) fn index(&self) -> Option<usize> {
        match self {
            Segment::Key(key) => key.parse().ok(),
            Segment::Index(index) => Some(*index),
        }
    }

    /// The path of this segment below `path`.
    pub(super) fn below(&self, path: &str) -> String {
        match self {
            Segment::Key(key) if path.is_empty() => (*key).to_owned(),
            Segment::Key(key) => format!("{path}.{key}"),
            Segment::Index(index) => format!("{path}[{index}]"),
        }
    }
}

impl fmt::Display for Segment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.below(""))
    }
}

/// Splits a path into segments; the empty path has none.
pub(super) fn segments(path: &str) -> Result<Vec<Segment<'_>>, String> {
    let malformed = || format!("`{path}` is not a path of keys, as in search.max_features or preprocess[0].kind");
    let mut out = Vec::new();
    for part in path.split('.').filter(|_| !path.is_empty()) {
        let (name, mut indices) = part.find('[').map_or((part, ""), |at| part.split_at(at));
        if name.is_empty() && (indices.is_empty() || !out.is_empty()) {
            return Err(malformed());
        }
        if !name.is_empty() {
            out.push(Segment::Key(name));
        }
        while !indices.is_empty() {
            let inside = indices.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let (index, rest) = inside.ok_or_else(malformed)?;
            out.push(Segment::Index(index.parse().map_err(|_| malformed())?));
            indices = rest;
        }
    }
    if out.len() > DEEPEST {
        return Err(format!("a path has at most {DEEPEST} keys"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_split_at_dots_and_brackets() {
        let path = segments("preprocess[1].a.0").unwrap();
        assert_eq!(path, [Segment::Key("preprocess"), Segment::Index(1), Segment::Key("a"), Segment::Key("0")]);
        assert!(segments("").unwrap().is_empty());
        assert_eq!(segments("[2]").unwrap(), [Segment::Index(2)]);
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in [".", "a.", ".a", "a..b", "a[", "a[x]", "a[1]b", "a.[1]", "a]["] {
            assert!(segments(text).is_err(), "{text}");
        }
        assert!(segments(&vec!["a"; 65].join(".")).is_err());
    }
}
