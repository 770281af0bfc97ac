//! Judges what a worker was asked to.

use std::process::ExitCode;
use std::time::Duration;

use fusion_course::{Entry, Submission, Wrong};
use fusion_device::Program;

use super::{Options, Part, exit_code, mutants};
use crate::fast::{self, Plan};
use crate::judgement::{Code, Fast, Judgement, Kind, Lean, Right, RunError, Verdict};
use crate::protocol::Message;
use crate::right::Scope;
use crate::session::Session;
use crate::trial::Trial;
use crate::trouble::Trouble;
use crate::{explain, lean, right};

const NOT_RIGHT: &str = "not judged until it is right";

pub(super) fn run(options: &Options, submission: &Submission, wrong: &[Wrong]) -> ExitCode {
    let Some(entry) = submission.entries.iter().find(|entry| entry.exercise.name == options.exercise) else {
        return unable(RunError::new("unknown-target", format!("this program has no `{}`", options.exercise)));
    };
    if !options.mutant.is_empty() {
        return mutants::run(options, entry);
    }
    let mut tasks: Vec<(&Entry, Option<&Wrong>)> = Vec::new();
    for name in &options.wrong {
        let named = |wrong: &&Wrong| wrong.name == name && wrong.entry.exercise.name == options.exercise;
        match wrong.iter().find(named) {
            Some(wrong) => tasks.push((&wrong.entry, Some(wrong))),
            None => return unable(RunError::new("unknown-target", format!("there is no wrong kernel `{name}`"))),
        }
    }
    if tasks.is_empty() {
        tasks.push((entry, None));
    }
    Message::Progress { text: "opening the device".to_owned() }.send();
    let session = match Session::open(options.device.into(), options.as_gpu) {
        Ok(session) => session,
        Err(error) => return unable(error),
    };
    let judge = Judge::new(&session, options, Scope::EXERCISE);
    for (entry, wrong) in tasks {
        let mut judgement = judge.entry(entry);
        if let Some(wrong) = wrong {
            judgement.kind = Kind::Wrong;
            judgement.wrong = Some(wrong.name.to_owned());
        }
        Message::Judged { device: session.info.clone(), judgement: Box::new(judgement) }.send();
        if session.is_spent() {
            break;
        }
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

    fn entry(&self, entry: &Entry) -> Judgement {
        tell("compiling".to_owned());
        let mut judgement = match self.session.compile(entry) {
            Ok(program) => self.program(entry, &program),
            Err(trouble) => Judgement { right: wrong(self.session, trouble), ..blank(entry) }.conclude(),
        };
        judgement.changed = explain::changed(&judgement, &entry.source);
        judgement
    }

    /// Judges what an entry was compiled to.
    pub(super) fn program(&self, entry: &Entry, program: &Program) -> Judgement {
        let Options { seed, size, .. } = *self.options;
        let trial = Trial::new(self.session, entry, program, seed, &tell).within(self.scope, size);
        let mut judgement = self.parts(&trial, blank(entry));
        judgement.lines = explain::lines(&judgement, &entry.source);
        judgement
    }

    fn parts(&self, trial: &Trial<'_>, blank: Judgement) -> Judgement {
        let right = if self.wants(Part::Right) {
            right::judge(trial)
        } else {
            Right { verdict: Verdict::Pass, ..Right::default() }
        };
        if right.verdict != Verdict::Pass {
            let note = || Some(NOT_RIGHT.to_owned());
            let lean = Lean { note: note(), ..Lean::default() };
            let fast = Fast { note: note(), ..Fast::default() };
            return Judgement { right, lean, fast, ..blank }.conclude();
        }
        let (lean, mut fast) = self.lean_and_fast(trial);
        if let Some(products) = self.session.products(trial.exercise()) {
            if let Some(failure) = fast.failure.as_mut().filter(|failure| failure.code == Code::Speed) {
                failure
                    .notes
                    .insert(0, format!("{products}: a kernel that multiplies by itself must be as fast as that"));
            }
            fast.products = Some(products);
        }
        Judgement { right, lean, fast, ..blank }.conclude()
    }

    fn wants(&self, part: Part) -> bool {
        self.options.parts.contains(&part)
    }

    fn lean_and_fast(&self, trial: &Trial<'_>) -> (Lean, Fast) {
        let unasked = || Some("not asked for".to_owned());
        let mut lean = Lean { note: unasked(), ..Lean::default() };
        let mut fast = Fast { note: unasked(), ..Fast::default() };
        if !self.session.is_emulated() {
            if self.wants(Part::Fast) {
                fast = self.measure(trial, &Plan::default());
            }
            return (lean, fast);
        }
        if self.options.as_gpu {
            let short = Plan { warm_up: Duration::ZERO, elements: 1 << 16, ..Plan::default() };
            return (lean, self.measure(trial, &short));
        }
        if !self.wants(Part::Lean) && !self.wants(Part::Fast) {
            return (lean, fast);
        }
        let surveys = match trial.surveys() {
            Ok(surveys) => surveys,
            Err(Trouble::Failure(failure)) => {
                let mut failure = *failure;
                failure.device = Some(self.session.info.name.clone());
                // A failure at this size is one of correctness, but *right* has been told already.
                lean = Lean { verdict: Verdict::Fail, failure: Some(failure), ..Lean::default() };
                fast.note = Some(NOT_RIGHT.to_owned());
                return (lean, fast);
            }
            Err(Trouble::Unable(note)) => {
                (lean.note, fast.note) = (Some(note.clone()), Some(note));
                return (lean, fast);
            }
        };
        if self.wants(Part::Lean) {
            lean = lean::judge(trial.exercise(), surveys);
        }
        if self.wants(Part::Fast) {
            // Three launches are not one that is slow.
            fast = match lean.verdict {
                Verdict::Fail => Fast { note: Some("not judged until it is lean".to_owned()), ..fast },
                _ => fast::predict(self.session, trial.exercise(), surveys),
            };
        }
        (lean, fast)
    }

    fn measure(&self, trial: &Trial<'_>, plan: &Plan) -> Fast {
        let plan = Plan { elements: trial.size.unwrap_or(plan.elements), ..*plan };
        match fast::measure(trial, &plan) {
            Ok(fast) => fast,
            Err(Trouble::Failure(mut failure)) => {
                failure.device = Some(self.session.info.name.clone());
                Fast { verdict: Verdict::Fail, failure: Some(*failure), ..Fast::default() }
            }
            Err(Trouble::Unable(note)) => Fast { note: Some(note), ..Fast::default() },
        }
    }
}

fn blank(entry: &Entry) -> Judgement {
    Judgement { name: entry.exercise.name.to_owned(), day: entry.exercise.day, ..Judgement::default() }
}

pub(super) fn tell(text: String) {
    Message::Progress { text }.send();
}

/// *Right* of a submission that did not even become a program.
fn wrong(session: &Session, trouble: Trouble) -> Right {
    let devices = vec![session.info.name.clone()];
    match trouble {
        Trouble::Failure(failure) => {
            Right { verdict: Verdict::Fail, devices, failure: Some(*failure), ..Right::default() }
        }
        Trouble::Unable(note) => Right { devices, note: Some(note), ..Right::default() },
    }
}
