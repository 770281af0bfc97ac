//! What all checks found, for people and for programs.

use fusion_grader::render::Look;
use serde::{Deserialize, Serialize};

use super::check::{Check, Finding, State};
use crate::paint::Paint;

/// The object that `--json` prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Report {
    version: u32,
    checks: Vec<Checked>,
    /// 1 if there is a problem, else 0.
    pub(super) exit_code: u8,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Checked {
    name: String,
    group: String,
    #[serde(flatten)]
    finding: Finding,
    why: String,
}

impl Default for Report {
    fn default() -> Self {
        Self { version: 1, checks: Vec::new(), exit_code: 0 }
    }
}

impl Report {
    pub(super) fn add(&mut self, group: &str, check: &Check, finding: Finding) {
        if finding.state == State::Problem {
            self.exit_code = 1;
        }
        let (name, why) = (check.name.to_owned(), check.why.to_owned());
        self.checks.push(Checked { name, group: group.to_owned(), finding, why });
    }

    /// What was found by the one check that was made.
    pub(super) fn only(self) -> Option<Finding> {
        self.checks.into_iter().next().map(|checked| checked.finding)
    }

    /// A line for what is well, and below what is not why it matters and what fixes it.
    pub(super) fn text(&self, look: Look) -> String {
        let mut text = String::new();
        let wide = self.checks.iter().map(|checked| checked.name.len()).max().unwrap_or_default();
        let mut group = "";
        for checked in &self.checks {
            if checked.group != group {
                text +=
                    &format!("{}{}\n", if group.is_empty() { "" } else { "\n" }, Paint::Bold.on(&checked.group, look));
                group = &checked.group;
            }
            text += &checked.text(wide, look);
        }
        text + &self.sum()
    }

    fn sum(&self) -> String {
        let count = |state| self.checks.iter().filter(|checked| checked.finding.state == state).count();
        let plural = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        match (count(State::Problem), count(State::Note)) {
            (0, 0) => "\nEverything is well.\n".to_owned(),
            (0, notes) => format!("\nNo problems, {}: the course works here.\n", plural(notes, "note")),
            (problems, notes) => {
                let notes = if notes == 0 { String::new() } else { format!(" and {}", plural(notes, "note")) };
                format!(
                    "\n{}{notes}. Fix the problems from the top: one may be the cause of the next.\n",
                    plural(problems, "problem")
                )
            }
        }
    }
}

impl Checked {
    fn text(&self, wide: usize, look: Look) -> String {
        let Finding { state, found, fix } = &self.finding;
        let paint = match state {
            State::Ok => Paint::Green,
            State::Note => Paint::Cyan,
            State::Problem => Paint::Red,
        };
        // `problem` is the longest state.
        let margin = format!("  {:7}  {:wide$}  ", "", "");
        let width = look.width.map_or(WIDEST, usize::from).min(WIDEST).max(margin.len() + 40);
        let filled = |text: &str, more: &str| {
            let indent = format!("{margin}{more}");
            let options = textwrap::Options::new(width).initial_indent(&margin).subsequent_indent(&indent);
            let options = options.break_words(false).word_splitter(textwrap::WordSplitter::NoHyphenation);
            let lines: Vec<String> = text.lines().map(|line| textwrap::fill(line, &options)).collect();
            lines.join("\n")
        };
        let body = filled(found, "");
        let mut text =
            format!("  {}  {:wide$}  {}\n", paint.on(&format!("{state:7}"), look), self.name, &body[margin.len()..]);
        if *state != State::Ok {
            text += &format!("{}\n", filled(&self.why, ""));
        }
        if let Some(fix) = fix {
            // A command is copied: it stays on one line.
            let mut lines = fix.lines();
            text += &format!("{margin}fix: {}\n", lines.next().unwrap_or_default());
            lines.for_each(|line| text += &format!("{margin}     {line}\n"));
        }
        text
    }
}

/// The widest text that is easy to read.
const WIDEST: usize = 110;

#[cfg(test)]
mod tests {
    use super::*;

    fn report(findings: &[Finding]) -> Report {
        let why = "It matters.";
        let check = Check { name: "thing", why, apart: None, look: |_| Finding::ok("") };
        let mut report = Report::default();
        findings.iter().for_each(|finding| report.add("Group", &check, finding.clone()));
        report
    }

    #[test]
    fn what_is_well_is_a_line_and_the_rest_says_why_and_what_to_do() {
        let findings = [
            Finding::ok("1.0 is here"),
            Finding::note("it is old", "update it"),
            Finding::problem("it is gone", "a\nb"),
        ];
        let text = report(&findings).text(Look::default());
        assert_eq!(
            text,
            "Group\n  ok       thing  1.0 is here\n  note     thing  it is old\n                  It matters.\n                  fix: update it\n  \
             problem  thing  it is gone\n                  It matters.\n                  fix: a\n                       b\n\n\
             1 problem and 1 note. Fix the problems from the top: one may be the cause of the next.\n"
        );
        assert!(
            report(&findings[..2]).text(Look::default()).ends_with("\nNo problems, 1 note: the course works here.\n")
        );
        assert!(report(&findings[..1]).text(Look::default()).ends_with("\nEverything is well.\n"));
    }

    #[test]
    fn a_problem_is_exit_code_1_and_a_note_is_not() {
        assert_eq!(report(&[Finding::problem("", "")]).exit_code, 1);
        assert_eq!(report(&[Finding::note("", ""), Finding::ok("")]).exit_code, 0);
    }

    #[test]
    fn a_report_can_be_read_again() {
        let finding = Finding::note("found", "fix");
        let json = serde_json::to_string(&report(std::slice::from_ref(&finding))).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap().only(), Some(finding));
    }
}
