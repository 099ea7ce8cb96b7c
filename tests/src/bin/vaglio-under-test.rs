//! The program as the tests run it.

fn main() -> std::process::ExitCode {
    vaglio_cli::main()
}
