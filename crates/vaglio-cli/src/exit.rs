//! Exit codes of the program.

use std::process::ExitCode;
use vaglio::core::ErrorClass;

/// Exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit(pub u8);

impl Exit {
    /// Success.
    pub const SUCCESS: Exit = Exit(0);
    /// Failure of unknown kind.
    pub const FAILURE: Exit = Exit(1);
    /// End after a limit.
    pub const LIMITED: Exit = Exit(5);
    /// End after an interruption.
    pub const INTERRUPTED: Exit = Exit(130);
}

impl From<ErrorClass> for Exit {
    fn from(class: ErrorClass) -> Self {
        Exit(match class {
            ErrorClass::Configuration => 2,
            ErrorClass::Data => 3,
            ErrorClass::Numerical => 4,
        })
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.0)
    }
}
