//! `cargo xtask reset`: an exercise as it was at first; the work is saved, and can be brought back.

use fusion_course::Exercise;

use super::choice::{self, Learner, tell};
use super::files::{self, Folder};
use super::saved::Saves;
use crate::command::program;
use crate::interrupt::Interrupt;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    exercise: String,
    /// Bring back what the last reset took away
    #[arg(long)]
    undo: bool,
}

impl super::Run for Options {
    fn run(&self, _interrupt: &Interrupt) -> u8 {
        tell(Learner::find().and_then(|learner| {
            let exercise = choice::one(&self.exercise)?;
            let (done, failed) = match self.undo {
                true => (undo(&learner, exercise), "was not brought back"),
                false => (reset(&learner, exercise), "was not reset"),
            };
            done.map(|text| text + "\n").map_err(|error| format!("{} {failed}: {error}", exercise.name))
        }))
    }
}

/// Writes the starter over the answer, which is saved first. Returns what is to be said of it.
pub(crate) fn reset(learner: &Learner, exercise: &Exercise) -> std::io::Result<String> {
    let root = &learner.state.root;
    let starter = Folder::Starter.read(root, exercise)?;
    if Folder::Answer.read(root, exercise).is_ok_and(|answer| answer == starter) {
        return Ok(format!("{} is as it was at first: there is nothing to reset.", exercise.name));
    }
    let folder = Saves::of(&learner.state, exercise).save()?;
    for (path, text) in Folder::Answer.paths(exercise).iter().zip(&starter.0) {
        files::write(&root.join(path), text)?;
    }
    let (name, folder) = (exercise.name, folder.display());
    Ok(format!(
        "{name} is as it was at first. Your work is in {folder}; {} reset {name} --undo brings it back.",
        program()
    ))
}

/// Brings back the newest work that was saved. What is there now is saved in its place, unless it is the starter.
fn undo(learner: &Learner, exercise: &Exercise) -> std::io::Result<String> {
    let saves = Saves::of(&learner.state, exercise);
    let Some(newest) = saves.newest()? else {
        let why = match saves.had_some() {
            true => "there is nothing more to bring back".to_owned(),
            false => format!("nothing was saved yet; `{} reset {}` saves your work", program(), exercise.name),
        };
        return Err(std::io::Error::new(std::io::ErrorKind::NotFound, why));
    };
    let root = &learner.state.root;
    let starter = Folder::Starter.read(root, exercise)?;
    let kept = match Folder::Answer.read(root, exercise) {
        Ok(answer) if answer == starter => None,
        _ => Some(saves.save()?),
    };
    saves.restore(&newest)?;
    let mut text = format!("Your work on {} is back.", exercise.name);
    if let Some(kept) = kept {
        text += &format!(" What was there instead is in {}; the same command again brings that back.", kept.display());
    }
    Ok(text)
}
