//! `cargo xtask diff`: what the learner changed in the starter, and after a pass how the solutions do it.

use clap::ValueEnum;
use fusion_course::Exercise;
use fusion_grader::render::Look;
use similar::{ChangeTag, TextDiff};

use super::choice::{Learner, tell};
use super::files::Folder;
use super::solution;
use crate::interrupt::Interrupt;
use crate::output;
use crate::paint::Paint;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// The exercise; without one, that which was graded last
    exercise: Option<String>,
    /// With what it is compared [default: the starter, and after a pass all of them]
    #[arg(long, value_enum, value_name = "WHAT")]
    against: Option<Against>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Against {
    Starter,
    /// The plain solution; after a pass
    Solution,
    /// The fastest kernel, where the exercise has one; after a pass
    Top,
}

impl Against {
    const ALL: [Self; 3] = [Self::Starter, Self::Solution, Self::Top];

    fn folder(self) -> Folder {
        match self {
            Self::Starter => Folder::Starter,
            Self::Solution => Folder::Solution,
            Self::Top => Folder::Top,
        }
    }
}

impl super::Run for Options {
    fn run(&self, _interrupt: &Interrupt) -> u8 {
        tell(Learner::find().and_then(|learner| {
            let exercise = learner.choose_last(self.exercise.as_deref())?;
            compare(&learner, exercise, self.against, output::look())
        }))
    }
}

/// All differences that may be shown.
pub(crate) fn text(learner: &Learner, exercise: &Exercise, look: Look) -> Result<String, String> {
    compare(learner, exercise, None, look)
}

fn compare(learner: &Learner, exercise: &Exercise, asked: Option<Against>, look: Look) -> Result<String, String> {
    let root = &learner.state.root;
    let done = learner.attempts.standing(exercise).is_done();
    let all = match asked {
        Some(Against::Solution | Against::Top) if !done => return Err(solution::not_yet(exercise)),
        Some(one) => vec![one],
        None if done => Against::ALL.to_vec(),
        None => vec![Against::Starter],
    };
    let answer = Folder::Answer.read(root, exercise).map_err(|error| error.to_string())?;
    let mut text = String::new();
    for against in all {
        let folder = against.folder();
        let other = match folder.read(root, exercise) {
            // Not every exercise has one.
            Err(_) if against == Against::Top && asked.is_none() => continue,
            Err(_) if against == Against::Top => {
                return Err(format!("{} has no faster kernel than its solution", exercise.name));
            }
            read => read.map_err(|error| error.to_string())?,
        };
        let paths = folder.paths(exercise).into_iter().zip(Folder::Answer.paths(exercise));
        for ((old, new), (before, after)) in paths.zip(other.0.iter().zip(&answer.0)) {
            // One reads from what is one's own to what could be; from the starter, to what is one's own.
            match against {
                Against::Starter => text += &unified((&old, before), (&new, after), look),
                Against::Solution | Against::Top => text += &unified((&new, after), (&old, before), look),
            }
        }
    }
    if text.is_empty() {
        text = format!("{} is as it was at first: you have not changed anything yet.\n", exercise.name);
    }
    Ok(text)
}

/// Two files as `diff -u` shows them; nothing where they are alike.
fn unified((old, before): (&str, &str), (new, after): (&str, &str), look: Look) -> String {
    let diff = TextDiff::from_lines(before, after);
    let mut text = String::new();
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        if text.is_empty() {
            text += &format!("{}\n", Paint::Bold.on(&format!("--- {old}\n+++ {new}"), look));
        }
        text += &format!("{}\n", Paint::Cyan.on(&hunk.header().to_string(), look));
        for change in hunk.iter_changes() {
            let line = change.value().trim_end_matches(['\r', '\n']);
            text += &match change.tag() {
                ChangeTag::Equal => format!(" {line}"),
                ChangeTag::Delete => Paint::Red.on(&format!("-{line}"), look),
                ChangeTag::Insert => Paint::Green.on(&format!("+{line}"), look),
            };
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_marked_and_files_alike_say_nothing() {
        let text = unified(("a.cu", "one\ntwo\n"), ("b.cu", "one\nthree\n"), Look::default());
        assert_eq!(text, "--- a.cu\n+++ b.cu\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n");
        assert_eq!(unified(("a.cu", "one\n"), ("b.cu", "one\n"), Look::default()), "");
    }
}
