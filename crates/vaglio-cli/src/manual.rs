//! Generates completions and the manual page.

use crate::arguments::Arguments;
use crate::commands::{Done, print_result};
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use vaglio::core::Error;

/// Prints completions for a shell.
pub fn completions(shell: Shell) -> Done {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "vaglio", &mut bytes);
    print_result(&String::from_utf8_lossy(&bytes))
}

/// Prints the manual page: the program, then each command.
pub fn page() -> Done {
    let mut bytes = Vec::new();
    let rendered = render(&mut bytes);
    rendered.map_err(|e| Error::unwritable("the manual page", e))?;
    // Each part repeats this start; the page keeps one.
    const START: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";
    let text = String::from_utf8_lossy(&bytes).replace(START, "");
    print_result(&format!("{START}{text}"))
}

fn render(out: &mut Vec<u8>) -> std::io::Result<()> {
    let mut program = Arguments::command();
    program.build();
    let man = Man::new(program.clone());
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = command.get_name().to_uppercase();
        out.extend(format!(".SH {name}\n").as_bytes());
        let mut section = Vec::new();
        let command_page = Man::new(command.clone());
        command_page.render_description_section(&mut section)?;
        command_page.render_synopsis_section(&mut section)?;
        command_page.render_options_section(&mut section)?;
        // Sections of a command become subsections.
        out.extend(String::from_utf8_lossy(&section).replace(".SH ", ".SS ").as_bytes());
    }
    Ok(())
}
