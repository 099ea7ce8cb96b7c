//! Dotted paths of settings: `search.max_features`, `preprocess[1].scope`, `preprocess.1.scope`.

/// Deepest nesting of values.
pub const DEEPEST: usize = 64;

/// List index of a segment: of `[1]`, and of a number between dots.
pub fn index(segment: &str) -> Option<usize> {
    segment.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(segment).parse().ok()
}

/// Dotted path of a key or an index in brackets, in the value at `path`; the outermost value has the empty path.
pub fn key_path(path: &str, key: &str) -> String {
    let dot = if path.is_empty() || key.starts_with('[') { "" } else { "." };
    format!("{path}{dot}{key}")
}

/// Splits a path into segments, keys and indices in brackets; the empty path has none.
pub fn segments(path: &str) -> Result<Vec<&str>, String> {
    let malformed = || format!("`{path}` is not a path of keys, as in search.max_features or preprocess[0].kind");
    let mut out = Vec::new();
    for part in path.split('.').filter(|_| !path.is_empty()) {
        let (name, mut indices) = part.find('[').map_or((part, ""), |at| part.split_at(at));
        if name.is_empty() && (indices.is_empty() || !out.is_empty()) {
            return Err(malformed());
        }
        if !name.is_empty() {
            out.push(name);
        }
        while !indices.is_empty() {
            let (own, rest) = indices.split_at(indices.find(']').map_or(indices.len(), |end| end + 1));
            if !own.starts_with('[') || index(own).is_none() {
                return Err(malformed());
            }
            out.push(own);
            indices = rest;
        }
    }
    if out.len() > DEEPEST {
        return Err(format!("a path has at most {DEEPEST} keys"));
    }
    Ok(out)
}
