//! `cargo xtask solution`: the reference, for those who have their own.

use fusion_course::Exercise;

use super::choice::{Learner, tell};
use super::files::Folder;
use crate::command::program;
use crate::interrupt::Interrupt;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// The exercise; without one, that which was graded last
    exercise: Option<String>,
    /// Show it before yours passes, too
    #[arg(long)]
    force: bool,
}

impl super::Run for Options {
    fn run(&self, _interrupt: &Interrupt) -> u8 {
        tell(Learner::find().and_then(|learner| {
            let exercise = learner.choose_last(self.exercise.as_deref())?;
            if !self.force && !learner.attempts.standing(exercise).is_done() {
                return Err(not_yet(exercise));
            }
            text(&learner, exercise)
        }))
    }
}

/// Why the solution is not shown.
pub(super) fn not_yet(exercise: &Exercise) -> String {
    let (program, name) = (program(), exercise.name);
    format!(
        "the solution of {name} is shown when yours passes. Stuck? {program} hint {name} 3 is nearly the answer; \
         {program} solution {name} --force shows all of it"
    )
}

fn text(learner: &Learner, exercise: &Exercise) -> Result<String, String> {
    let root = &learner.state.root;
    let solution = Folder::Solution.read(root, exercise).map_err(|error| error.to_string())?;
    let mut text = String::new();
    for (path, source) in Folder::Solution.paths(exercise).iter().zip(&solution.0) {
        text += &format!("// {path}\n\n{source}\n");
    }
    let [top, _] = Folder::Top.paths(exercise);
    if root.join(&top).is_file() {
        text += &format!("The fastest kernel that the course has, which is harder to read: {top}\n");
    }
    text += &format!("Yours beside it: {} diff {}\n", program(), exercise.name);
    Ok(text)
}
