//! Documents, and settings read from them.

#![cfg(feature = "yaml")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what is wrong")]

mod scalars;
mod settings;
mod yaml;
