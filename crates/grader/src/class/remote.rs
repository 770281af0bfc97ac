//! The host of a submission, as the worker sees it: it is asked what to launch, and nothing that it says is believed.

#![allow(unsafe_code)] // Queues what was taken down elsewhere.

use std::cell::{Cell, RefCell};
use std::io::{self, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

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

/// How long its process may take to start, and to load the kernels: the machine may be busy with others.
const START: Duration = Duration::from_secs(60);

/// What a process exits with that could not be confined, and so had nothing of the submission in it.
const NOT_CONFINED: i32 = 125;

/// So many things a launch function may queue. What is lean is far below.
const MOST_STEPS: usize = 256;

/// A process that has the Rust code of a submission.
#[derive(Debug)]
pub struct Remote {
    child: RefCell<Child>,
    stream: RefCell<BufReader<Patient>>,
    loaded: Cell<bool>,
    /// Why it could not start: it is asked once.
    unable: RefCell<Option<String>>,
}

impl Remote {
    /// Starts it.
    ///
    /// # Errors
    /// The system's.
    pub fn start(mut command: Command) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let child = command.stdin(Stdio::from(OwnedFd::from(theirs))).spawn()?;
        let stream = Patient { stream: ours, until: Instant::now() };
        Ok(Self {
            child: RefCell::new(child),
            stream: BufReader::new(stream).into(),
            loaded: Cell::new(false),
            unable: RefCell::default(),
        })
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
        let Shape { rows, columns, depth, heads, experts, pages } = shape;
        let call = Call { inputs, outputs, scratch, scalars, rows, columns, depth, heads, experts, pages };
        if !self.loaded.replace(true) {
            self.load(program)?;
        }
        if let Some(why) = &*self.unable.borrow() {
            return Err(Trouble::Unable(why.clone()));
        }
        let answer = self.ask(&Request::Call(call.clone()), PATIENCE);
        let steps = match answer.map_err(|error| self.lost(&error))? {
            Answer::Queued(steps) => steps,
            Answer::Ready => return Err(strange("it says again that it is ready").into()),
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

    /// Waits for its process to be ready. Nothing of the submission was called by then, so its absence proves nothing.
    fn load(&self, program: &Program) -> Result<(), Trouble> {
        let compiled = &program.compiled;
        let (name, ptx) = (compiled.name.clone(), compiled.ptx.clone());
        let (architecture, version) = (compiled.architecture, compiled.version);
        let unable = |why: &str| {
            *self.unable.borrow_mut() = Some(format!("the submission's process cannot start: {why}"));
            Ok(())
        };
        match self.ask(&Request::Load { name, ptx, architecture, version }, START) {
            Ok(Answer::Ready) => Ok(()),
            Ok(Answer::Unable(why)) => unable(&why),
            Ok(_) => Err(strange("it answers before it was asked").into()),
            Err(error) if is_late(&error) => unable(&format!("not ready after {} s", START.as_secs())),
            Err(error) if self.end() == Some(NOT_CONFINED) => {
                unable(&format!("its rights could not be taken away: {error}"))
            }
            // It ran, and code of the submission can run before the main function.
            Err(error) => Err(self.lost(&error)),
        }
    }

    /// An answer that is all there before the time is over.
    fn ask(&self, request: &Request, limit: Duration) -> io::Result<Answer> {
        let mut stream = self.stream.borrow_mut();
        stream.get_mut().until = Instant::now() + limit;
        send(stream.get_mut(), request)?;
        receive(&mut *stream)
    }

    /// Ends its process, and says by which exit code it ended before that.
    fn end(&self) -> Option<i32> {
        let mut child = self.child.borrow_mut();
        // It has closed its end: it is ending, unless it closed it to live on.
        let deadline = Instant::now() + Duration::from_secs(1);
        while Instant::now() < deadline && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ended = child.kill();
        child.wait().ok()?.code()
    }

    /// What it means that there is no answer.
    fn lost(&self, error: &io::Error) -> Trouble {
        if is_late(error) {
            let title = format!("the launch function has not returned after {} s", PATIENCE.as_secs());
            return Failure::new(Code::Timeout, title).note("does it loop, sleep, or wait for something?").into();
        }
        let _code = self.end();
        let status = self.child.borrow_mut().wait().map(|status| status.to_string()).unwrap_or_default();
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

/// A stream whose reads and writes end at a time, however many there are.
#[derive(Debug)]
struct Patient {
    stream: UnixStream,
    until: Instant,
}

impl Patient {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Patient {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(into)
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_drops_does_not_take_for_ever() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let dripping = std::thread::spawn(move || {
            while theirs.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let started = Instant::now();
        let mut stream = BufReader::new(Patient { stream: ours, until: started + Duration::from_millis(200) });
        assert!(is_late(&receive::<Answer>(&mut stream).unwrap_err()));
        assert!(started.elapsed() < Duration::from_secs(5));
        drop(stream);
        dripping.join().unwrap();
    }
}
