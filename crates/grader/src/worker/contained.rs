//! Judges one submission whose Rust code is in another process.

use std::io::Read;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;
use fusion_course::{Entry, Exercise, Source};

use super::judge::{Judge, tell, unable};
use super::{Device, Options, end_with, exit_code};
use crate::class::Remote;
use crate::judgement::{Parts, RunError};
use crate::protocol::{self, Message, OPENING};
use crate::right::Scope;
use crate::session::Session;

/// The submission.
#[derive(Debug)]
pub struct Contained {
    pub exercise: &'static Exercise,
    pub source: Source,
    /// Starts the program that holds its Rust code: one whose main function is [`crate::class::host`].
    pub host: Command,
    /// Elements of the timed runs.
    pub size: Option<usize>,
}

/// The main function of a worker that judges it. The seed comes from the parent, behind the token.
pub fn judge(contained: Contained) -> ExitCode {
    let mut parent = protocol::open();
    let Some(seed) = seed(&mut parent) else {
        return unable(RunError::new("build", "there was no seed from the parent"));
    };
    end_with(parent);
    let Contained { exercise, source, host, size } = contained;
    let options = Options {
        exercise: exercise.name.to_owned(),
        device: Device::Emulated,
        seed,
        top: false,
        rungs: false,
        sample: Vec::new(),
        mutant: Vec::new(),
        parts: Parts::NAMES.iter().map(|&part| part.to_owned()).collect(),
        size,
        as_gpu: false,
    };
    tell(OPENING.to_owned());
    let session = match Session::open(options.device.into(), options.as_gpu, exercise.shapes) {
        Ok(session) => session,
        Err(error) => return unable(error),
    };
    match Remote::start(host) {
        Ok(remote) => session.ask(remote),
        Err(error) => {
            return unable(RunError::new("build", format!("cannot start the process of the submission: {error}")));
        }
    }
    // Every launch is the other process's.
    let launch =
        Arc::new(|_: &_, _: &_, _: fusion_course::Arguments<'_>| Err(DriverError(CUresult::CUDA_ERROR_NOT_SUPPORTED)));
    let entry = Entry { exercise, source, rust: None, launch };
    let judgement = Judge::new(&session, &options, Scope::EXERCISE).entry(&entry);
    Message::Judged { device: session.info.clone(), judgement: Box::new(judgement) }.send();
    exit_code(&session)
}

/// A line with a number.
fn seed(parent: &mut impl Read) -> Option<u64> {
    let mut line = String::new();
    let mut byte = [0];
    while line.len() < 32 {
        parent.read_exact(&mut byte).ok()?;
        match byte[0] {
            b'\n' => return line.parse().ok(),
            byte => line.push(byte.into()),
        }
    }
    None
}
