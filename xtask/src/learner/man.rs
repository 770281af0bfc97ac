//! `cargo xtask man`: the same as `--help`, as a page for `man`.

use clap_mangen::Man;

use super::choice::tell;
use crate::interrupt::Interrupt;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// The command that the page is about; without one it lists all
    command: Option<String>,
}

impl super::Run for Options {
    fn run(&self, _interrupt: &Interrupt) -> u8 {
        tell(page(self.command.as_deref()))
    }
}

/// The page is called `cargo-xtask-grade`, as those of cargo's own commands are; the command is `cargo xtask grade`.
fn page(command: Option<&str>) -> Result<String, String> {
    let mut all = crate::command_line()
        .name("cargo-xtask")
        .display_name("cargo-xtask")
        .bin_name("cargo xtask")
        .disable_help_subcommand(true);
    all.build();
    let about = match command {
        None => all,
        Some(name) => all.find_subcommand(name).cloned().ok_or_else(|| {
            let names: Vec<&str> =
                all.get_subcommands().filter(|it| !it.is_hide_set()).map(clap::Command::get_name).collect();
            format!("there is no command `{name}`; there are {}", names.join(", "))
        })?,
    };
    let mut text = Vec::new();
    Man::new(about)
        .source("")
        .manual("Kernel fusion in Rust and CUDA")
        .render(&mut text)
        .map_err(|error| error.to_string())?;
    String::from_utf8(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page() {
        assert!(page(None).unwrap().contains("cargo\\-xtask\\-grade(1)"));
        for command in crate::command_line().get_subcommands() {
            let page = page(Some(command.get_name())).unwrap();
            assert!(page.contains(&format!(".SH SYNOPSIS\n\\fBcargo xtask {}", command.get_name())), "{page}");
        }
        assert!(page(Some("nope")).unwrap_err().contains("there are grade, watch, "));
    }
}
