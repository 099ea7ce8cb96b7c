//! The `vaglio` program.

fn main() -> std::process::ExitCode {
    vaglio_cli::main()
}
