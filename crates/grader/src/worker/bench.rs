//! Times what a worker was asked to, at one size after the other.

use std::process::ExitCode;
use std::time::Duration;

use fusion_course::{Entry, Shape, Submission};
use fusion_device::Program;
use fusion_machine::report::Code as FaultCode;

use super::BenchOptions;
use super::judge::{tell, unable};
use crate::bench;
use crate::fast::{Plan, Sweep};
use crate::judgement::{RunError, Verdict};
use crate::protocol::Message;
use crate::rig::TOO_LARGE;
use crate::right::{self, Scope};
use crate::session::{Session, within};
use crate::trouble::Trouble;

/// Warp instructions that one launch may execute on the emulated device: sizes may be asked for that are larger than those at which
/// exercises are judged.
const BUDGET: u64 = 1 << 29;

pub(super) fn run(options: &BenchOptions, submission: &Submission) -> ExitCode {
    let Some(entry) = submission.entries.iter().find(|entry| entry.exercise.name == options.exercise) else {
        return unable(RunError::new("unknown-target", format!("this program has no `{}`", options.exercise)));
    };
    tell("opening the device".to_owned());
    let budget = within(BUDGET);
    let session = match Session::open_with(options.device.into(), options.as_gpu, budget) {
        Ok(session) => session,
        Err(error) => return unable(error),
    };
    let program = match sound(&session, entry, options.seed) {
        Ok(program) => program,
        Err(trouble) => {
            untimed(None, &trouble);
            return ExitCode::SUCCESS;
        }
    };
    let plan = Plan { limit: Duration::from_millis(options.limit_ms), width: 0.01, ..Plan::default() };
    let plan = if options.as_gpu { Plan { warm_up: Duration::ZERO, ..plan } } else { plan };
    let shapes = bench::shapes(entry.exercise, &options.sizes, session.is_emulated());
    let mut sweep = match Sweep::new(&session, entry, &program, plan, options.seed, options.short) {
        Ok(sweep) => sweep,
        Err(trouble) => {
            untimed(None, &trouble);
            return ExitCode::SUCCESS;
        }
    };
    for shape in shapes {
        match sweep.size(shape, &tell) {
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
    ExitCode::SUCCESS
}

/// The submission's program, if it is right: the speed of a wrong kernel says nothing.
fn sound(session: &Session, entry: &Entry, seed: u64) -> Result<Program, Trouble> {
    tell("compiling".to_owned());
    let program = session.compile(entry)?;
    let right = right::judge(session, entry, &program, seed, Scope::EXERCISE, &tell);
    match (right.verdict, right.failure) {
        (Verdict::Pass, _) => Ok(program),
        (_, Some(failure)) => Err(failure.into()),
        _ => Err(Trouble::Unable(right.note.unwrap_or_else(|| "it could not be judged".to_owned()))),
    }
}

fn untimed(shape: Option<Shape>, trouble: &Trouble) {
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
