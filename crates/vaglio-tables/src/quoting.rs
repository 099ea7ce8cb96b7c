//! Quoting of names in YAML.

/// Quotes a name for YAML if necessary.
pub fn quote_for_yaml(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_alphabetic())
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' '))
        && !name.ends_with(' ')
        && !matches!(name.to_lowercase().as_str(), "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n");
    if is_plain { name.to_owned() } else { serde_json::Value::from(name).to_string() }
}
