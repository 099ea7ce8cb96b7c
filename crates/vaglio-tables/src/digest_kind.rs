//! Hash function for the files of a table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hash function for the files of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DigestKind {
    /// BLAKE3, the faster one.
    #[default]
    Blake3,
    /// SHA-256, as printed by `sha256sum`.
    Sha256,
}

impl DigestKind {
    /// Prefix of the digits.
    pub fn word(self) -> &'static str {
        match self {
            DigestKind::Blake3 => "blake3",
            DigestKind::Sha256 => "sha256",
        }
    }
}
