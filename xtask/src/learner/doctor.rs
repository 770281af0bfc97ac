//! `cargo xtask doctor`: what can be wrong on a machine, and what fixes it.

mod apart;
mod check;
mod checks;
mod editor;
mod packages;
mod programs;
mod report;

use check::{Check, Place};
use report::Report;

use super::choice::tell;
use super::state::NO_CHECKOUT;
use crate::interrupt::Interrupt;
use crate::{output, programs as checkout};

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Only these checks, by their names
    #[arg(value_name = "CHECK", value_parser = clap::builder::PossibleValuesParser::new(checks::all().map(|(_, check)| check.name)), hide_possible_values = true)]
    checks: Vec<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Set up clangd for kernels, so that an editor shows mistakes in a .cu while you type
    #[arg(long, conflicts_with_all = ["checks", "json"])]
    editor: bool,
    /// Open libraries in this process, which they may end
    #[arg(long, hide = true)]
    here: bool,
}

impl super::Run for Options {
    fn run(&self, _interrupt: &Interrupt) -> u8 {
        let place = Place { root: checkout::workspace_root() };
        if self.editor {
            let root = place.root.ok_or_else(|| NO_CHECKOUT.to_owned());
            return tell(root.and_then(|root| editor::set_up(&root)));
        }
        let is_asked = |check: &Check| self.checks.is_empty() || self.checks.iter().any(|name| name == check.name);
        let mut report = Report::default();
        for (group, check) in checks::all().filter(|(_, check)| is_asked(check)) {
            let finding = match &check.apart {
                Some(apart) if !self.here => apart::look(check, apart),
                _ => (check.look)(&place),
            };
            report.add(group, check, finding);
        }
        let written = match self.json {
            true => output::json(serde_json::to_string_pretty(&report)),
            false => output::print(&report.text(output::look())),
        };
        if written { report.exit_code } else { 2 }
    }
}
