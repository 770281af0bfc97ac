//! Times what a worker was asked to, at one size after the other.

use std::process::ExitCode;
use std::time::Duration;

use fusion_course::{Entry, Shape, Submission};
use fusion_machine::report::Code as FaultCode;

use super::judge::{tell, unable};
use super::{BenchOptions, find};
use crate::bench;
use crate::fast::{Plan, Sweep};
use crate::judgement::{Evidence as _, Part, Right, RunError, Verdict};
use crate::protocol::{Message, OPENING};
use crate::rig::TOO_LARGE;
use crate::session::{Session, within};
use crate::trial::Trial;
use crate::trouble::Trouble;

/// Warp instructions that one launch may execute on the emulated device: sizes may be asked for that are larger than those at which
/// exercises are judged.
pub(super) const BUDGET: u64 = 1 << 29;

pub(super) fn run(options: &BenchOptions, submission: &Submission, top: &[Entry]) -> ExitCode {
    let (top, submitted) = (find(top, &options.exercise), find(&submission.entries, &options.exercise));
    let (entry, top) = if options.top { (top.or(submitted), None) } else { (submitted, top) };
    let Some(entry) = entry else {
        return unable(RunError::new("unknown-target", format!("this program has no `{}`", options.exercise)));
    };
    tell(OPENING.to_owned());
    let budget = within(BUDGET);
    let session = match Session::open_with(options.device.into(), options.as_gpu, budget) {
        Ok(session) => session,
        Err(error) => return unable(error),
    };
    if let Err(trouble) = sweep(&session, entry, top, options) {
        untimed(None, &trouble);
    }
    ExitCode::SUCCESS
}

/// Times a submission at all sizes, if it is right: the speed of a wrong kernel says nothing.
fn sweep(session: &Session, entry: &Entry, top: Option<&Entry>, options: &BenchOptions) -> Result<(), Trouble> {
    tell("compiling".to_owned());
    let program = session.compile(entry)?;
    let trial = Trial::new(session, entry, &program, options.seed, &tell);
    sound(&trial)?;
    // The course's own is right: `verify` sees to it.
    let top = top.filter(|_| !options.short).map(|entry| session.compile(entry).map(|program| (entry, program)));
    let top = top.transpose()?;
    let trial = trial.beside(top.as_ref().map(|(entry, program)| (*entry, program)));
    let plan = Plan { limit: Duration::from_millis(options.limit_ms), width: 0.01, ..Plan::default() };
    let plan = if options.as_gpu { Plan { warm_up: Duration::ZERO, ..plan } } else { plan };
    let shapes = bench::shapes(entry.exercise, &options.sizes, session.is_emulated());
    let mut sweep = Sweep::new(&trial, plan, options.short)?;
    for shape in shapes {
        match sweep.size(shape) {
            Ok(size) => Message::Timed { device: session.info.clone(), size: Box::new(size) }.send(),
            Err(trouble) => {
                untimed(Some(shape), &trouble);
                // What is wrong at one size may have taken the context with it.
                if session.is_spent() {
                    break;
                }
            }
        }
    }
    Ok(())
}

pub(super) fn sound(trial: &Trial<'_>) -> Result<(), Trouble> {
    let Part { verdict, failure, note, .. } = Right::judge(trial)?;
    match (verdict, failure) {
        (Verdict::Pass, _) => Ok(()),
        (_, Some(failure)) => Err(failure.into()),
        _ => Err(Trouble::Unable(note.unwrap_or_else(|| "it could not be judged".to_owned()))),
    }
}

pub(super) fn untimed(shape: Option<Shape>, trouble: &Trouble) {
    let note = match trouble {
        // It was right at the sizes of the grader, so the size is the likelier reason.
        Trouble::Failure(failure)
            if shape.is_some() && failure.fault.as_deref() == Some(FaultCode::Budget.as_str()) =>
        {
            format!("{TOO_LARGE}; or the kernel does not end at this size")
        }
        Trouble::Failure(failure) => {
            let at = failure.shape.as_ref().map(|shape| format!(" at {shape}")).unwrap_or_default();
            format!("not right{at}, and only right kernels are timed: {}", failure.title)
        }
        Trouble::Unable(note) => note.clone(),
    };
    Message::Untimed { shape: shape.map(|shape| shape.to_string()), note }.send();
}
