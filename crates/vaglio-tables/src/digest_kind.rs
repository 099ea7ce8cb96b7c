//! By which function the files of a table are hashed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// By which function the files of a table are hashed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DigestKind {
    /// BLAKE3, the faster one.
    #[default]
    Blake3,
    /// SHA-256, as `sha256sum` tells it.
    Sha256,
}

impl DigestKind {
    /// The word that stands before the digits.
    pub fn word(self) -> &'static str {
        match self {
            DigestKind::Blake3 => "blake3",
            DigestKind::Sha256 => "sha256",
        }
    }
}
