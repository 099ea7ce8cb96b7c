//! The command line of vaglio with one more plug-in.

use template as _; // a crate that is only listed in Cargo.toml is dropped by the linker

fn main() -> std::process::ExitCode {
    vaglio_cli::main()
}
