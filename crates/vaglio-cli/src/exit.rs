//! Exit codes of the program.

use vaglio::core::ErrorClass;

/// Success.
pub const SUCCESS: u8 = 0;
/// Failure of unknown kind.
pub const FAILURE: u8 = 1;
/// End after a limit.
pub const LIMITED: u8 = 5;
/// End after an interruption.
pub const INTERRUPTED: u8 = 130;

/// Exit code of an error of this class.
pub fn code(class: ErrorClass) -> u8 {
    match class {
        ErrorClass::Configuration => 2,
        ErrorClass::Data => 3,
        ErrorClass::Numerical => 4,
    }
}
