//! Judges what a worker was asked to.

use std::process::ExitCode;

use fusion_course::{Entry, Sample, Submission};
use fusion_device::Program;

use super::{Options, exit_code, find, mutants, rungs};
use crate::explain;
use crate::judgement::{Judgement, Kind, Part, Parts, Right, RunError};
use crate::protocol::{Message, OPENING, SPENT};
use crate::right::Scope;
use crate::session::Session;
use crate::site;
use crate::trial::Trial;
use crate::trouble::Trouble;

pub(super) fn run(options: &Options, submission: &Submission, top: &[Entry], samples: &[Sample]) -> ExitCode {
    let entries = if options.top { top } else { &submission.entries };
    let Some(entry) = find(entries, &options.exercise) else {
        return unable(RunError::new("unknown-target", format!("this program has no `{}`", options.exercise)));
    };
    if !options.mutant.is_empty() {
        return mutants::run(options, entry);
    }
    if options.rungs {
        return rungs::run(options, entry.exercise);
    }
    let mut tasks: Vec<(&Entry, Option<&Sample>)> = Vec::new();
    for name in &options.sample {
        let named = |sample: &&Sample| sample.name == name && sample.entry.exercise.name == options.exercise;
        match samples.iter().find(named) {
            Some(sample) => tasks.push((&sample.entry, Some(sample))),
            None => return unable(RunError::new("unknown-target", format!("there is no sample `{name}`"))),
        }
    }
    if tasks.is_empty() {
        tasks.push((entry, None));
    }
    Message::Progress { text: OPENING.to_owned() }.send();
    let mut session = match Session::open(options.device.into(), options.as_gpu, entry.exercise.shapes) {
        Ok(session) => session,
        Err(error) => return unable(error),
    };
    for (index, (entry, sample)) in tasks.into_iter().enumerate() {
        // On the emulated device each finds what it would find if it were the first.
        if session.is_spent() || index > 0 && session.is_emulated() {
            session = match session.again() {
                Some(session) => session,
                None => return ExitCode::from(SPENT),
            };
        }
        let mut judgement = Judge::new(&session, options, Scope::EXERCISE).entry(entry);
        if let Some(sample) = sample {
            judgement.kind = Kind::Sample;
            judgement.sample = Some(sample.name.to_owned());
        }
        Message::Judged { device: session.info.clone(), judgement: Box::new(judgement) }.send();
    }
    exit_code(&session)
}

/// Says that nothing can be judged.
pub(super) fn unable(error: RunError) -> ExitCode {
    Message::Unable { error }.send();
    ExitCode::from(2)
}

pub(super) struct Judge<'a> {
    session: &'a Session,
    options: &'a Options,
    scope: Scope<'a>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(session: &'a Session, options: &'a Options, scope: Scope<'a>) -> Self {
        Self { session, options, scope }
    }

    pub(super) fn entry(&self, entry: &Entry) -> Judgement {
        tell("compiling".to_owned());
        let mut judgement = match self.session.compile(entry) {
            Ok(program) => self.program(entry, &program),
            Err(trouble) => {
                let parts = Parts { right: wrong(self.session, trouble), ..Parts::default() };
                Judgement { parts, ..blank(entry) }.conclude()
            }
        };
        judgement.changed = explain::changed(&judgement, &entry.source);
        judgement
    }

    /// Judges what an entry was compiled to.
    pub(super) fn program(&self, entry: &Entry, program: &Program) -> Judgement {
        let Options { seed, size, ref parts, .. } = *self.options;
        let trial = Trial::new(self.session, entry, program, seed, &tell).within(self.scope, size);
        let parts = Parts::judge(&trial, |name| parts.iter().any(|part| part == name));
        let mut judgement = Judgement { parts, ..blank(entry) }.conclude();
        site::place(judgement.parts.failures(), entry);
        judgement.lines = explain::lines(&judgement, entry);
        judgement
    }
}

fn blank(entry: &Entry) -> Judgement {
    Judgement { name: entry.exercise.name.to_owned(), day: entry.exercise.day, ..Judgement::default() }
}

pub(super) fn tell(text: String) {
    Message::Progress { text }.send();
}

/// *Right* of a submission that did not even become a program.
fn wrong(session: &Session, trouble: Trouble) -> Part<Right> {
    let said = match trouble {
        Trouble::Failure(failure) => Part::refused(*failure),
        Trouble::Unable(note) => Part::ungraded(note),
    };
    said.with(Right { devices: vec![session.info.name.clone()], ..Right::default() })
}
