//! The process that holds the Rust code of a submission, and nothing that is worth reading or changing.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader};
use std::mem::ManuallyDrop;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError};
use fusion_course::{DeviceBuffer, Entry, Gemm, GemmSizes, Param, Scalar, Shape};
use fusion_device::recording::NotRecorded;
use fusion_device::{Compiled, Device, Program};

use super::talk::{Answer, Call, Request, Step, receive, send};
use crate::judgement::{Code, DeviceKind, Failure};
use crate::right::other_stream;
use crate::session::Session;
use crate::trouble::Trouble;

/// The main function of a program that holds one submission: it takes down launches for a worker, which is at its standard input.
pub fn host(entry: Entry) -> ExitCode {
    match serve(&entry) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the submission's process: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(entry: &Entry) -> io::Result<()> {
    let mut worker = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    let mut requests = BufReader::new(worker.try_clone()?);
    let session = match Session::open(DeviceKind::Emulated, false, entry.exercise.shapes) {
        Ok(session) => session,
        Err(error) => {
            let _nobody = send(&mut worker, &Answer::Unable(error.message.clone()));
            return Err(io::Error::other(error.message));
        }
    };
    let mut program = None;
    loop {
        match receive(&mut requests) {
            Ok(Request::Load { name, ptx, architecture, version }) => {
                let (machine_code, diagnostics, log) = Default::default();
                let compiled = Compiled { name, ptx, machine_code, architecture, version, diagnostics, log };
                let loaded = session.device.load(compiled);
                let answer = loaded.as_ref().map_or_else(|error| Answer::Unable(error.to_string()), |_| Answer::Ready);
                program = loaded.ok();
                send(&mut worker, &answer)?;
            }
            Ok(Request::Call(call)) => {
                let Some(program) = &program else { return Err(io::Error::other("there is no program yet")) };
                send(&mut worker, &answer(&session, entry, program, &call))?;
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

fn answer(session: &Session, entry: &Entry, program: &Program, call: &Call) -> Answer {
    match record(session, entry, program, call) {
        Ok(steps) => Answer::Queued(steps),
        Err(Trouble::Failure(failure)) => Answer::Refused(failure),
        Err(Trouble::Unable(why)) => Answer::Unable(why),
    }
}

/// Calls the launch function, and takes down what it queues.
fn record(session: &Session, entry: &Entry, program: &Program, call: &Call) -> Result<Vec<Step>, Trouble> {
    let stream = &session.device.stream;
    let exercise = entry.exercise;
    let mut inputs = buffers(stream, exercise.inputs, &call.inputs);
    let mut outputs = buffers(stream, exercise.outputs, &call.outputs);
    let mut scratch = buffers(stream, exercise.scratch, &call.scratch);
    let buffers = [&mut **inputs, &mut **outputs, &mut **scratch];
    let scalars: Vec<Scalar> = call.scalars.iter().map(|&number| number.into()).collect();
    let &Call { rows, columns, depth, heads, experts, pages, .. } = call;
    let shape = Shape { rows, columns, depth, heads, experts, pages };
    let recorder = Recorder { device: &session.device, steps: RefCell::default() };
    session.take_report();
    session.device.start_recording().map_err(Trouble::driver("starting to take down launches"))?;
    let launched = session.call(entry, program, buffers, &scalars, shape, &recorder);
    let recorded = recorder.take_down();
    let report = session.take_report();
    launched?;
    recorded.map_err(not_recorded)?;
    if !report.launches.is_empty() || !report.faults.is_empty() {
        return Err(other_stream().into());
    }
    if report.allocations > 0 {
        let title = "the launch function allocates device memory";
        return Err(Failure::new(Code::Allocations, title)
            .note("a fused kernel keeps what is between its steps")
            .into());
    }
    Ok(recorder.steps.into_inner())
}

/// The worker's buffers. They are not ours to free.
fn buffers(stream: &Arc<CudaStream>, params: &[Param], places: &[(u64, usize)]) -> ManuallyDrop<Vec<DeviceBuffer>> {
    let placed = params.iter().zip(places);
    let buffers = placed.map(|(param, &(address, len))| DeviceBuffer::elsewhere(stream, param.dtype, len, address));
    ManuallyDrop::new(buffers.map(ManuallyDrop::into_inner).collect())
}

fn not_recorded(why: NotRecorded) -> Trouble {
    let failure = match why {
        NotRecorded::Other(what) => Failure::new(
            Code::Launch,
            format!("the launch function {what}, and may only launch kernels and set memory"),
        ),
        NotRecorded::Driver(error) => {
            Failure::new(Code::Launch, format!("what the launch function does cannot be taken down: {error}"))
                .note("does it wait for the stream, or read device memory? It may only queue work")
        }
    };
    failure.into()
}

/// Takes down products, too.
#[derive(Debug)]
struct Recorder<'a> {
    device: &'a Device,
    steps: RefCell<Vec<Step>>,
}

impl Recorder<'_> {
    /// Ends the recording.
    fn take_down(&self) -> Result<(), NotRecorded> {
        self.steps.borrow_mut().extend(self.device.end_recording()?.into_iter().map(Step::Work));
        Ok(())
    }
}

#[expect(unsafe_code, reason = "the trait's function is; this one keeps the addresses and touches nothing")]
impl Gemm for Recorder<'_> {
    unsafe fn queue(&self, _: &Arc<CudaStream>, addresses: [u64; 3], sizes: GemmSizes) -> Result<(), DriverError> {
        let unsupported = DriverError(cudarc::driver::sys::CUresult::CUDA_ERROR_NOT_SUPPORTED);
        self.take_down().map_err(|_| unsupported)?;
        self.steps.borrow_mut().push(Step::Product(addresses, [sizes.m, sizes.n, sizes.k]));
        self.device.start_recording()
    }
}
