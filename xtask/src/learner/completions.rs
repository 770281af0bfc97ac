//! `cargo xtask completions`: a script with which a shell completes what is typed after `xtask`.
//!
//! Cargo has a script of its own, which knows nothing of what follows `cargo xtask`. So this one is for a function or an alias
//! called `xtask`, which the shell calls `cargo xtask` by.

use clap::Arg;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;

use super::choice::tell;
use super::state::exercises;
use crate::interrupt::Interrupt;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    #[arg(value_enum)]
    shell: Shell,
}

impl super::Run for Options {
    fn run(&self, _interrupt: &Interrupt) -> u8 {
        let mut script = Vec::new();
        let mut commands = crate::command_line().name("xtask").mut_subcommands(|command| command.mut_args(named));
        clap_complete::generate(self.shell, &mut commands, "xtask", &mut script);
        tell(String::from_utf8(script).map_err(|error| error.to_string()))
    }
}

/// The argument with the names that it takes, where the course knows them. On the command line itself any word is taken, so that a wrong
/// one can be answered with its neighbours.
fn named(argument: Arg) -> Arg {
    let is_called = |name: &str| argument.get_value_names().is_some_and(|names| names.iter().any(|it| it == name));
    if is_called("TARGET") || is_called("EXERCISE") {
        let days = fusion_course::days().iter().map(|day| format!("day{}", day.number));
        let names: Vec<String> = days.chain(exercises().map(|exercise| exercise.name.to_owned())).collect();
        argument.value_parser(PossibleValuesParser::new(names))
    } else if is_called("CODE|EXERCISE") {
        let codes = fusion_machine::report::Code::ALL.iter().map(|code| code.as_str());
        let names: Vec<&str> = codes.chain(exercises().map(|exercise| exercise.name)).collect();
        argument.value_parser(PossibleValuesParser::new(names))
    } else {
        argument
    }
}
