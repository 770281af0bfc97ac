//! `cargo xtask list`: every exercise, how it stands, and its best attempt.

use comfy_table::Cell;
use fusion_course::Exercise;
use fusion_grader::judgement::{Basis, Timing};
use fusion_grader::render::{self, Look};

use super::choice::{Learner, tell};
use super::files::Folder;
use super::json::{self, Listed};
use super::state::Standing;
use crate::command::program;
use crate::interrupt::Interrupt;
use crate::{output, target};

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Days or exercises; all without one
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl super::Run for Options {
    fn run(&self, _interrupt: &Interrupt) -> u8 {
        if self.json {
            return json::tell(Learner::find().and_then(|learner| {
                let selections = target::resolve(&self.targets, fusion_course::days()).map_err(|it| it.to_string())?;
                let exercises = selections.iter().flat_map(|selection| &selection.exercises);
                let exercises: Vec<Listed<'_>> = exercises.map(|exercise| Listed::of(&learner, exercise)).collect();
                let next = learner.attempts.next().map(|next| next.name);
                // What is borrowed from the learner is written before it goes.
                serde_json::to_value(List { next, exercises }).map_err(|error| error.to_string())
            }));
        }
        tell(Learner::find().and_then(|learner| text(&learner, &self.targets, output::look())))
    }
}

/// What `--json` prints.
#[derive(Debug, serde::Serialize)]
struct List<'a> {
    next: Option<&'static str>,
    exercises: Vec<Listed<'a>>,
}

/// The table, and what to type next.
pub(crate) fn text(learner: &Learner, targets: &[String], look: Look) -> Result<String, String> {
    let selections = target::resolve(targets, fusion_course::days()).map_err(|unknown| unknown.to_string())?;
    let next = learner.attempts.next();
    let mut table = render::blank(["day", "exercise", "state", "best", "attempts"], look);
    for exercise in selections.iter().flat_map(|selection| &selection.exercises) {
        let standing = learner.attempts.standing(exercise);
        let is_next = next.is_some_and(|next| next.name == exercise.name);
        let changed = if standing.is_done() && has_changed(learner, exercise) { ", changed since" } else { "" };
        let best = learner.attempts.best(exercise).and_then(|best| best.speed.as_ref());
        table.add_row([
            Cell::new(exercise.day),
            Cell::new(format!("{}{}", exercise.name, if is_next { " <-" } else { "" })),
            painted(Cell::new(format!("{standing}{changed}")), standing, look),
            Cell::new(best.map_or_else(|| "-".to_owned(), |speed| brief(&speed.timing))),
            Cell::new(learner.attempts.of(exercise).count()),
        ]);
    }
    let mut text = table.trim_fmt() + "\n";
    if next.is_some() {
        text += &format!("\n<- is next: {} watch\n", program());
    }
    Ok(text)
}

fn painted(cell: Cell, standing: Standing, look: Look) -> Cell {
    use comfy_table::Color;
    match standing {
        _ if !look.color => cell,
        Standing::New => cell,
        Standing::Begun => cell.fg(Color::Yellow),
        Standing::Undecided => cell.fg(Color::Cyan),
        Standing::Passed => cell.fg(Color::Green),
    }
}

/// Whether the answer is another than the one that was graded as done last.
pub(super) fn has_changed(learner: &Learner, exercise: &Exercise) -> bool {
    let done = learner.attempts.of(exercise).rfind(|attempt| attempt.is_done());
    let graded = done.and_then(|attempt| attempt.files.as_ref());
    let now = Folder::Answer.read(&learner.state.root, exercise).map(|texts| texts.fingerprints());
    graded.zip(now.as_ref().ok()).is_some_and(|(graded, now)| graded != now)
}

/// `9.21 us, 1.45x measured`.
pub(super) fn brief(timing: &Timing) -> String {
    let figures = timing.figures();
    let speedup = figures.speedup.map(|ratio| format!(", {ratio:.2}x")).unwrap_or_default();
    format!("{} us{speedup} {}", super::microseconds(figures.time_ns), figures.basis)
}

/// `9.21 us measured`, `9.21 us predicted (8.10 to 10.4)`.
pub(super) fn time(timing: &Timing) -> String {
    let figures = timing.figures();
    let time = super::microseconds(figures.time_ns);
    match figures.basis {
        Basis::Measured => format!("{time} us measured"),
        Basis::Predicted => {
            let (low, high) = figures.range_ns;
            format!("{time} us predicted ({} to {})", super::microseconds(low), super::microseconds(high))
        }
    }
}
