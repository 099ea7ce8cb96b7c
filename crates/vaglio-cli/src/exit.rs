//! How the program ends, as a number that other programs can read too.

use std::process::ExitCode;

/// An exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit(pub u8);

impl Exit {
    /// Done.
    pub const SUCCESS: Exit = Exit(0);
    /// Failed, and nothing is known of how.
    pub const FAILURE: Exit = Exit(1);
}

impl From<u8> for Exit {
    fn from(code: u8) -> Self {
        Exit(code)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.0)
    }
}
