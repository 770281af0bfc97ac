//! `cargo xtask quiz`: predict before you measure, and the book's knowledge checks.
//!
//! What a kernel moves, the exercise's specification says; how long it takes and what bounds it, the emulated device. There is no key
//! with answers that could be wrong. The knowledge checks are read from the book's pages.

mod check;
mod count;
mod measure;
mod question;
mod session;

use fusion_course::Exercise;

use super::choice::{Learner, tell};
use crate::emulated::Emulated;
use crate::interrupt::Interrupt;
use session::Session;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// A day (`day22`), or an exercise (`add_gelu`) for questions about it alone; the day that you are at where none is named
    target: Option<String>,
    /// Leave out what the emulated device has to be asked
    #[arg(long)]
    no_run: bool,
    #[command(flatten)]
    emulated: Emulated,
    /// Do not build: use the programs that lie beside this one
    #[arg(long, visible_alias = "no-build")]
    prebuilt: bool,
}

impl super::Run for Options {
    fn run(&self, interrupt: &Interrupt) -> u8 {
        self.emulated.choose();
        tell(self.quiz(interrupt))
    }
}

impl Options {
    /// Asks everything, and returns what is to be said at the end.
    fn quiz(&self, interrupt: &Interrupt) -> Result<String, String> {
        let learner = Learner::find()?;
        // Without what was answered before it is a quiz all the same.
        let marks = learner.state.marks().unwrap_or_default();
        let named = self.target.as_deref().and_then(fusion_course::find);
        let exercise = match named {
            Some(exercise) => exercise,
            None => {
                let day = learner.choose(self.target.as_deref())?.day;
                next_of(day, |exercise| marks.iter().any(|mark| is_about(&mark.question, exercise)))
            }
        };
        let mut session = Session::begin(&learner.state, &marks);
        session.say(&format!("What do you expect of {}: {}?", exercise.name, exercise.definition))?;
        session.tell(&count::buffers(exercise))?;
        session.ask(&count::questions(exercise))?;
        if !self.no_run && session.goes_on() {
            match measure::questions(exercise, self.prebuilt, interrupt) {
                Ok(questions) => session.ask(&questions)?,
                Err(why) => session.say(&format!("What the emulated GPU would say is left out: {why}"))?,
            }
        }
        let checks = if named.is_none() { check::questions(&learner.state.root, exercise.day) } else { Vec::new() };
        if !checks.is_empty() && session.goes_on() {
            session.say(&format!("The knowledge check of day {}: think, or write, and compare.", exercise.day))?;
            session.ask(&checks)?;
        }
        Ok(session.end(exercise))
    }
}

/// Whether a question is about an exercise: its name is before the slash.
fn is_about(question: &str, exercise: &Exercise) -> bool {
    question.split_once('/').is_some_and(|(name, _)| name == exercise.name)
}

/// The first exercise of a day that nothing was asked of yet; after all of them the first again.
fn next_of(day: u32, was_asked: impl Fn(&Exercise) -> bool) -> &'static Exercise {
    let all = || super::state::exercises().filter(|exercise| exercise.day == day);
    let first = || all().next().unwrap_or(fusion_course::days()[0].exercises[0]);
    all().find(|exercise| !was_asked(exercise)).unwrap_or_else(first)
}
