//! `cargo xtask next`: which exercise comes next, and where it is.

use fusion_course::Exercise;
use fusion_grader::render::Look;

use super::choice::{Learner, tell};
use super::files::{self, Folder};
use super::json::{self, Listed};
use crate::command::program;
use crate::interrupt::Interrupt;
use crate::output;
use crate::paint::Paint;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Another exercise than the next one, or a day
    #[arg(value_name = "EXERCISE")]
    target: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl super::Run for Options {
    fn run(&self, _interrupt: &Interrupt) -> u8 {
        if self.json {
            return json::tell(Learner::find().and_then(|learner| {
                let exercise = learner.choose(self.target.as_deref())?;
                serde_json::to_value(Next { exercise: Listed::of(&learner, exercise) })
                    .map_err(|error| error.to_string())
            }));
        }
        tell(Learner::find().and_then(|learner| {
            let exercise = learner.choose(self.target.as_deref())?;
            Ok(text(exercise, output::look()) + &command(exercise))
        }))
    }
}

/// What `--json` prints.
#[derive(Debug, serde::Serialize)]
struct Next<'a> {
    exercise: Listed<'a>,
}

/// The exercise, its files and its page.
pub(crate) fn text(exercise: &Exercise, look: Look) -> String {
    let [kernel, launch] = Folder::Answer.paths(exercise);
    format!(
        "{}: {} (day {})\n  kernel   {kernel}\n  launch   {launch}\n  chapter  {}\n",
        Paint::Bold.on(exercise.name, look),
        exercise.definition,
        exercise.day,
        files::page(exercise)
    )
}

fn command(exercise: &Exercise) -> String {
    format!("\n  {} watch {}\n", program(), exercise.name)
}
