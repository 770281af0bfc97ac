//! Judges the rungs of an exercise's ladder, each at the shapes that it stands for.

use std::process::ExitCode;
use std::sync::Arc;

use fusion_baseline::Baseline;
use fusion_course::{Entry, Exercise, Rung, Shape};

use super::judge::{Judge, tell, unable};
use super::{Options, exit_code};
use crate::judgement::{Judgement, RunError};
use crate::protocol::{Message, OPENING};
use crate::right::Scope;
use crate::session::Session;

pub(super) fn run(options: &Options, exercise: &'static Exercise) -> ExitCode {
    tell(OPENING.to_owned());
    let session = match Session::open(options.device.into(), options.as_gpu, exercise.shapes) {
        Ok(session) => session,
        Err(error) => return unable(error),
    };
    let mut shapes = exercise.problems(options.seed);
    shapes.extend(exercise.large(options.size.unwrap_or(exercise.surveyed)));
    // They share a source, which is compiled once.
    let mut compiled = None;
    for (index, rung) in exercise.ladder.iter().enumerate() {
        let entry = entry(exercise, rung);
        let program = match compiled.take().map_or_else(|| session.compile(&entry), Ok) {
            Ok(program) => program,
            Err(_) => return unable(RunError::new("build", format!("{} does not compile", entry.source.path))),
        };
        let own = stands_for(exercise, index, &shapes);
        let judge = Judge::new(&session, options, Scope { rung: true, only: Some(&own), ..Scope::EXERCISE });
        let name = format!("{} ({})", exercise.name, rung.step.kernel);
        let judgement = Judgement { name, ..judge.program(&entry, &program) };
        Message::Judged { device: session.info.clone(), judgement: Box::new(judgement) }.send();
        if session.is_spent() {
            break;
        }
        compiled = Some(program);
    }
    exit_code(&session)
}

/// Those of the shapes that a rung stands for.
pub(super) fn stands_for(exercise: &Exercise, index: usize, shapes: &[Shape]) -> Vec<Shape> {
    let own = |shape: &Shape| exercise.rungs(*shape).iter().any(|(other, _)| *other == index);
    shapes.iter().copied().filter(own).collect()
}

/// A rung as if it were an answer.
pub(super) fn entry(exercise: &'static Exercise, rung: &Rung) -> Entry {
    let step = rung.step;
    Entry {
        exercise,
        source: fusion_baseline::ladder(exercise.name),
        rust: None,
        launch: Arc::new(move |stream, module, arguments| {
            // A grid of no blocks is refused.
            if arguments.rows * arguments.columns == 0 {
                return Ok(());
            }
            Baseline::from_modules(vec![module.clone()]).run_step(stream, exercise, &step, &[], &arguments)
        }),
    }
}
