//! The command line of vaglio, run by the tests of the book.

fn main() -> std::process::ExitCode {
    vaglio_cli::main()
}
