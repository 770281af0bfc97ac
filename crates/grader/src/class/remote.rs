//! The host of a submission, as the worker sees it: it is asked what to launch, and nothing that it says is believed.

#![allow(unsafe_code)] // Queues what was taken down elsewhere.

use std::cell::{Cell, RefCell};
use std::io::{self, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;
use fusion_course::{DeviceBuffer, Entry, GemmSizes, Scalar, Shape};
use fusion_device::Program;
use fusion_device::recording::Work;

use super::talk::{Answer, Call, Request, Step, receive, send};
use crate::judgement::{Code, Failure};
use crate::session::Session;
use crate::trouble::Trouble;

/// How long a launch function may take. It only queues work.
const PATIENCE: Duration = Duration::from_secs(10);

/// So many things a launch function may queue. What is lean is far below.
const MOST_STEPS: usize = 256;

/// A process that has the Rust code of a submission.
#[derive(Debug)]
pub struct Remote {
    child: RefCell<Child>,
    to: UnixStream,
    from: RefCell<BufReader<UnixStream>>,
    loaded: Cell<bool>,
}

impl Remote {
    /// Starts it.
    ///
    /// # Errors
    /// The system's.
    pub fn start(mut command: Command) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(PATIENCE))?;
        ours.set_write_timeout(Some(PATIENCE))?;
        let child = command.stdin(Stdio::from(OwnedFd::from(theirs))).spawn()?;
        let from = RefCell::new(BufReader::new(ours.try_clone()?));
        Ok(Self { child: RefCell::new(child), to: ours, from, loaded: Cell::new(false) })
    }

    /// Asks what the launch function queues, and queues it here.
    pub(crate) fn launch(
        &self,
        session: &Session,
        entry: &Entry,
        program: &Program,
        buffers: [&mut [DeviceBuffer]; 3],
        scalars: &[Scalar],
        shape: Shape,
    ) -> Result<(), Trouble> {
        let stream = &session.device.stream;
        let [inputs, outputs, scratch] =
            buffers.map(|list| list.iter().map(|buffer| (buffer.address(stream), buffer.len())).collect());
        let scalars = scalars.iter().map(|&scalar| scalar.into()).collect();
        let call = Call { inputs, outputs, scratch, scalars, rows: shape.rows, columns: shape.columns };
        let steps = match self.ask(program, &call).map_err(|error| self.lost(&error))? {
            Answer::Queued(steps) => steps,
            Answer::Refused(failure) => return Err(failure.into()),
            Answer::Unable(why) => return Err(strange(&why).into()),
        };
        if steps.len() > MOST_STEPS {
            let title = format!("the launch function queues {} launches, and may queue {MOST_STEPS}", steps.len());
            return Err(Failure::new(Code::Launches, title).into());
        }
        for step in &steps {
            self.queue(session, entry, program, step, &call)
                .map_err(|error| session.explain(error, entry, program, shape))?;
        }
        Ok(())
    }

    fn ask(&self, program: &Program, call: &Call) -> io::Result<Answer> {
        let mut to = &self.to;
        if !self.loaded.replace(true) {
            let compiled = &program.compiled;
            let (name, ptx) = (compiled.name.clone(), compiled.ptx.clone());
            let (architecture, version) = (compiled.architecture, compiled.version);
            send(&mut to, &Request::Load { name, ptx, architecture, version })?;
        }
        send(&mut to, &Request::Call(call.clone()))?;
        receive(&mut *self.from.borrow_mut())
    }

    /// What it means that there is no answer.
    fn lost(&self, error: &io::Error) -> Trouble {
        let waited = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
        if waited {
            let title = format!("the launch function has not returned after {} s", PATIENCE.as_secs());
            return Failure::new(Code::Timeout, title).note("does it loop, sleep, or wait for something?").into();
        }
        let mut child = self.child.borrow_mut();
        // It may have closed its end and live on.
        let _ended = child.kill();
        let status = child.wait().map(|status| status.to_string()).unwrap_or_default();
        Failure::new(Code::Crash, "the process of the launch function ended, or said what it must not")
            .note(format!("{status}; {error}"))
            .note("does the launch function end the process, or use what class mode does not allow?")
            .into()
    }

    fn queue(
        &self,
        session: &Session,
        entry: &Entry,
        program: &Program,
        step: &Step,
        call: &Call,
    ) -> Result<(), DriverError> {
        match step {
            Step::Work(work) => {
                if let &Work::Fill { address, element, count, .. } = work {
                    within(call, address, u64::from(element).checked_mul(count))?;
                }
                // SAFETY: on the emulated device an access out of bounds is a fault. A fill lies in one of the call's buffers.
                unsafe { session.device.queue(program, work) }
            }
            &Step::Product(addresses, [m, n, k]) => {
                let elements = [m.checked_mul(k), k.checked_mul(n), m.checked_mul(n)];
                for (address, elements) in addresses.into_iter().zip(elements) {
                    within(call, address, elements.and_then(|count| (count as u64).checked_mul(2)))?;
                }
                let gemm = session.gemm(entry.exercise).map_err(|_| refused())?;
                // SAFETY: each matrix lies in one of the call's buffers.
                unsafe { gemm.queue(&session.device.stream, addresses, GemmSizes { m, n, k }) }
            }
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let mut child = self.child.borrow_mut();
        let _ended = child.kill();
        let _reaped = child.wait();
    }
}

/// Refuses bytes that are not all in one of the buffers that the launch function was given.
fn within(call: &Call, address: u64, bytes: Option<u64>) -> Result<(), DriverError> {
    let end = bytes.and_then(|bytes| address.checked_add(bytes)).ok_or_else(refused)?;
    let mut places = call.inputs.iter().chain(&call.outputs).chain(&call.scratch);
    // The widest element has eight bytes; a buffer's end is checked by the device.
    let inside = |&(start, len): &(u64, usize)| start <= address && end <= start.saturating_add(8 * len as u64);
    if places.any(inside) { Ok(()) } else { Err(refused()) }
}

fn refused() -> DriverError {
    DriverError(CUresult::CUDA_ERROR_INVALID_VALUE)
}

/// The host has no reason to be unable: what it needs was there when the worker compiled.
fn strange(why: &str) -> Failure {
    Failure::new(Code::Crash, "the process of the launch function cannot go on").note(why)
}
