//! Watching where there is no terminal: lines, and no keys.

use fusion_course::Exercise;

use super::job::{Job, Outcome};
use super::{Eye, Options, TICK};
use crate::command::program;
use crate::interrupt::{self, Interrupt};
use crate::learner::choice::Learner;
use crate::learner::{grade, next};
use crate::output;

/// Prints a report for each change, until it is interrupted.
pub(super) fn watch(
    options: &Options,
    learner: &Learner,
    exercise: &'static Exercise,
    interrupt: &Interrupt,
) -> Result<u8, String> {
    let look = output::look();
    let mut printed = output::print(&format!("Watching {}", next::text(exercise, look)));
    let mut eye = Eye::new(&learner.state.root, exercise);
    let mut job: Option<Job> = None;
    while printed && !interrupt.requested() {
        if eye.has_news() {
            job = Some(Job::grade(options, exercise));
            printed &= output::print(&format!("\n-- grading {}\n", exercise.name));
        }
        if let Some(ended) = job.take_if(|job| job.has_ended()) {
            let text = match ended.finish() {
                Outcome::Graded(report, said) => {
                    said.iter().for_each(|line| output::note(line));
                    let failed = report.error.as_ref().map(|error| format!("error: {}\n", error.message));
                    grade::text(&report, grade::Again::Saving, look) + &failed.unwrap_or_default()
                }
                Outcome::Text(text) => text,
            };
            printed &= output::print(&text);
        }
        std::thread::sleep(TICK);
    }
    if !printed {
        return Ok(2);
    }
    output::note(&format!("{} watch goes on where you are", program()));
    Ok(interrupt::EXIT_CODE)
}
