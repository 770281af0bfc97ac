//! Compiles a playground's file as exercises are, and runs it.

use cudarc::driver::{CudaFunction, CudaSlice, DevicePtr as _, DriverError, LaunchConfig, PushKernelArg as _};
use fusion_baseline::Clock;
use fusion_course::Source;
use fusion_device::{CompileError, Options, Program};
use fusion_diagnostic::{Diagnostic, say_all, with_text};
use fusion_machine::Report;
use fusion_machine::report::{Dry, Severity};

use super::element::Number;
use super::kernels::{self, Kernel};
use super::names;
use super::script::{self, Buffer, Fill, Launch, Script, Value, mistake};
use super::{NOT_WRITTEN, Played, Ran, Shown};
use crate::explain;
use crate::judgement::{Band, Code, Failure, Line, Timing};
use crate::profile::Predicted;
use crate::session::Session;
use crate::site;
use crate::statistics;
use crate::takes::{self, Takes};
use crate::trouble::Trouble;

/// Bytes of all buffers together: the emulated device's are this machine's.
const MOST_BYTES: usize = 1 << 30;

/// What is to be played.
pub(crate) struct Play<'a> {
    pub(crate) source: &'a Source,
    /// Where headers beside the file are.
    pub(crate) folder: String,
    pub(crate) seed: u64,
    /// Whether what the warps of one multiprocessor do is wanted.
    pub(crate) traced: bool,
}

/// Runs a file. What is wrong with it is in what is returned.
pub(crate) fn play(session: &Session, play: &Play<'_>) -> Result<Played, Trouble> {
    let source = play.source;
    let script = match script::parse(&source.path, &source.text) {
        Ok(script) => script,
        Err(mistakes) => return Ok(mistaken(mistakes, source)),
    };
    let options = Options { arguments: vec![format!("-I{}", play.folder)], ..Options::default() };
    let program = match session.compile_source(&source.path, &source.text, &options) {
        Ok(program) => program,
        Err(error) => return not_compiled(session, error, source),
    };
    let kernels = kernels::kernels(&source.text, &program.compiled.ptx);
    if script.launches.is_empty() {
        return Ok(nothing_launched(&script, &kernels, source));
    }
    let mistakes = [kernels::check(&script, &kernels, &source.text), too_large(&script)].concat();
    if !mistakes.is_empty() {
        return Ok(mistaken(mistakes, source));
    }
    Playground::new(session, &script, &kernels, &program, play)?.play()
}

fn mistaken(mistakes: Vec<Diagnostic>, source: &Source) -> Played {
    let lines = Line::of(mistakes.iter(), |file| explain::known(file, source));
    Played { mistakes, lines, ..Played::default() }
}

fn not_compiled(session: &Session, error: CompileError, source: &Source) -> Result<Played, Trouble> {
    let failure = match session.refused(error, source) {
        Trouble::Failure(failure) => failure,
        unable => return Err(unable),
    };
    // The compiler refuses it at its name; what it refuses elsewhere is a mistake of another kind.
    let refused = failure.location.as_ref().map(|at| at.line);
    match explain::declaration("main", source).filter(|at| refused == Some(at.line)) {
        Some(at) => {
            let title = "`main` is code for the CPU, and kernels alone are played";
            Ok(mistaken(vec![mistake(&site::position(&at), title, PROGRAM)], source))
        }
        None => Ok(Played { failure: Some(failure), ..Played::default() }),
    }
}

/// What to do with a file that has a `main`.
const PROGRAM: &str = "a file with a `main` is a program: build it with nvcc, and run it with `cargo xtask run -- ./program`; or delete \
                       `main`, and describe in `// play:` lines what is to be launched";

/// A file without a launch: a description to begin with, where the file has none at all.
fn nothing_launched(script: &Script, kernels: &[Kernel], source: &Source) -> Played {
    if kernels.is_empty() {
        let failure = Failure::new(Code::Launch, "there is no kernel in the file")
            .note("a kernel is a function that is marked `__global__`");
        return Played { failure: Some(Box::new(failure)), ..Played::default() };
    }
    let template = kernels::template(kernels);
    match script.buffers.last() {
        None => Played { template: Some(template), ..Played::default() },
        Some(last) => {
            let launch = template.lines().last().unwrap_or_default();
            let help = format!("add a launch below the buffers, such as `{launch}`");
            mistaken(vec![mistake(&last.at, "there are buffers, and nothing is launched", help)], source)
        }
    }
}

fn too_large(script: &Script) -> Vec<Diagnostic> {
    let mut left = MOST_BYTES;
    let mut mistakes = Vec::new();
    for buffer in &script.buffers {
        let bytes = buffer.count.checked_mul(buffer.element.size());
        match bytes.and_then(|bytes| left.checked_sub(bytes)) {
            Some(rest) => left = rest,
            None => {
                let title = format!("there is no room for `{}`", buffer.name);
                let help = format!("all buffers together may have {} MiB: use fewer elements", MOST_BYTES >> 20);
                mistakes.push(mistake(&buffer.at, title, help));
            }
        }
    }
    mistakes
}

/// All that runs need.
struct Playground<'a> {
    session: &'a Session,
    script: &'a Script,
    play: &'a Play<'a>,
    /// Of each launch, with what it takes: a kernel that is stopped takes the driver's answers with it.
    kernels: Vec<(&'a Kernel, CudaFunction, Takes)>,
    buffers: Vec<CudaSlice<u8>>,
}

/// A parameter's bytes.
enum Passed {
    Address(u64),
    One(u8),
    Two(u16),
    Four(u32),
    Eight(u64),
}

impl<'a> Playground<'a> {
    fn new(
        session: &'a Session,
        script: &'a Script,
        kernels: &'a [Kernel],
        program: &Program,
        play: &'a Play<'a>,
    ) -> Result<Self, Trouble> {
        let mut rng = fastrand::Rng::with_seed(play.seed);
        let buffers = script.buffers.iter().map(|buffer| allocate(session, buffer, &mut rng));
        let buffers = buffers.collect::<Result<_, _>>().map_err(Trouble::driver("making buffers"))?;
        let function = |launch| {
            let kernel = names::find(script, kernels, launch, &play.source.text).ok()?;
            let function = program.kernel(&kernel.entry).ok()?;
            let shared = takes::known(function.shared_size_bytes()).saturating_add(launch.shared);
            let takes = Takes::of(&session.device, &function, launch.block, shared);
            Some((kernel, function, takes))
        };
        let kernels = script.launches.iter().map(function).collect::<Option<_>>();
        let kernels =
            kernels.ok_or_else(|| Trouble::Unable("the driver does not give a kernel of the file".to_owned()))?;
        Ok(Self { session, script, play, kernels, buffers })
    }

    fn play(&self) -> Result<Played, Trouble> {
        let (session, source) = (self.session, self.play.source);
        let stream = &session.device.stream;
        stream.synchronize().map_err(Trouble::driver("making buffers"))?;
        session.take_report();
        if let Some(emulator) = session.device.emulator() {
            session.run_dry(&Dry { traced: self.play.traced, ..Dry::default() })?;
            session.set_times(true)?;
            emulator.empty_cache();
        }
        let ran = self.launch_all().and_then(|()| stream.synchronize());
        let mut report = session.take_report();
        let mut played = Played { launches: self.ran(&report), ..Played::default() };
        played.findings = findings(&report, source);
        played.lines = Line::of(played.findings.iter(), |file| explain::known(file, source));
        if let Err(error) = ran {
            // What was found says it better.
            let told = played.findings.iter().any(|found| found.severity == Severity::Error);
            played.failure = (!told).then(|| {
                let error = fusion_device::describe(&error);
                Box::new(Failure::new(Code::Launch, format!("the kernel did not run to its end: {error}")))
            });
            return Ok(played);
        }
        played.buffers = self.shown().map_err(Trouble::driver("reading buffers"))?;
        if session.is_emulated() {
            let mut predicted = Predicted::of(&mut report);
            // As the source has it, and not as C++ makes it of the parameters' types.
            for launch in predicted.iter_mut().flat_map(|known| &mut known.launches) {
                launch.kernel = self.name(&launch.kernel);
            }
            let name = &session.info.name;
            played.timing = predicted.as_ref().map(|known| Timing::predicted_alone(known.ns, Band::of(name, None)));
            played.bound = predicted.as_ref().and_then(|known| known.bound(name)).map(|bound| bound.to_string());
            played.predicted = predicted;
        } else {
            played.timing = self.measured()?;
        }
        Ok(played)
    }

    fn name(&self, entry: &str) -> String {
        let known = self.kernels.iter().find(|(kernel, ..)| kernel.entry == entry);
        known.map_or_else(|| entry.to_owned(), |(kernel, ..)| kernel.name.clone())
    }

    /// Queues all launches, each in its turn.
    fn launch_all(&self) -> Result<(), DriverError> {
        let launches = self.script.launches.iter().zip(&self.kernels);
        launches.into_iter().try_for_each(|(launch, (kernel, function, _))| self.launch(launch, kernel, function))
    }

    #[expect(unsafe_code, reason = "cudarc cannot know what a kernel does with its parameters")]
    fn launch(&self, launch: &Launch, kernel: &Kernel, function: &CudaFunction) -> Result<(), DriverError> {
        let stream = &self.session.device.stream;
        let passed =
            launch.arguments.iter().zip(&kernel.parameters).map(|(argument, parameter)| match argument.value {
                Value::Buffer(index) => {
                    Passed::Address(self.buffers.get(index).map_or(0, |it| it.device_ptr(stream).0))
                }
                Value::Number(number) => passed(&parameter.bytes(number).unwrap_or_default()),
            });
        let passed: Vec<Passed> = passed.collect();
        let [grid, block] = [launch.grid, launch.block].map(|[x, y, z]| (x, y, z));
        let config = LaunchConfig { grid_dim: grid, block_dim: block, shared_mem_bytes: launch.shared };
        let mut builder = stream.launch_builder(function);
        for passed in &passed {
            match passed {
                Passed::Address(address) => builder.arg(address),
                Passed::One(byte) => builder.arg(byte),
                Passed::Two(bytes) => builder.arg(bytes),
                Passed::Four(bytes) => builder.arg(bytes),
                Passed::Eight(bytes) => builder.arg(bytes),
            };
        }
        // SAFETY: there are as many arguments as the kernel has parameters, each of its size: `kernels::check` saw to it. A kernel that
        // leaves its buffers damages the memory of a process whose one purpose is to run it.
        unsafe { builder.launch(config) }.map(drop)
    }

    /// What each launch took, and what it counted.
    fn ran(&self, report: &Report) -> Vec<Ran> {
        let launches = self.script.launches.iter().zip(&self.kernels);
        let ran = launches.enumerate().map(|(index, (launch, (kernel, _, takes)))| {
            let reported = report.launches.get(index).filter(|it| it.kernel == kernel.entry);
            Ran {
                kernel: kernel.name.clone(),
                grid: launch.grid,
                block: launch.block,
                takes: takes.clone(),
                counters: reported.map(|it| it.counters),
            }
        });
        ran.collect()
    }

    fn shown(&self) -> Result<Vec<Shown>, DriverError> {
        let stream = &self.session.device.stream;
        let mut shown = Vec::new();
        for (buffer, memory) in self.script.buffers.iter().zip(&self.buffers) {
            let Some(print) = buffer.print else { continue };
            let size = buffer.element.size();
            let bytes = stream.clone_dtoh(&memory.slice(..print * size))?;
            let (emulator, address) = (self.session.device.emulator(), memory.device_ptr(stream).0);
            // The emulated device gives zeros for them, which a kernel may as well have written.
            let is_written = |index: usize| {
                let at = address + (index * size) as u64;
                emulator.is_none_or(|emulator| emulator.unwritten(at, size as u64).is_none())
            };
            let text = |(index, bytes)| match is_written(index) {
                true => buffer.element.text(bytes),
                false => NOT_WRITTEN.to_owned(),
            };
            shown.push(Shown {
                name: buffer.name.clone(),
                element: buffer.element.name().to_owned(),
                count: buffer.count,
                elements: bytes.chunks_exact(size).enumerate().map(text).collect(),
            });
        }
        Ok(shown)
    }

    /// The time of all launches on a GPU, with a cold cache. They run again, on what they left in the buffers.
    fn measured(&self) -> Result<Option<Timing>, Trouble> {
        let timing = self.session.timing()?;
        let timed = Clock::new(&self.session.device, Some(&timing))
            .and_then(|mut clock| clock.times(false, || self.launch_all()));
        let times = timed.map_err(Trouble::driver("timing"))?;
        let time_ns = statistics::median_interval(&times, self.play.seed);
        Ok(time_ns.map(|time_ns| Timing::Measured {
            time_ns,
            other_ns: None,
            speedup: None,
            pairs: u32::try_from(times.len()).unwrap_or(u32::MAX),
            dropped: 0,
        }))
    }
}

/// A buffer on the device.
#[expect(unsafe_code, reason = "what a buffer holds that nobody filled is to be found by the checks")]
fn allocate(session: &Session, buffer: &Buffer, rng: &mut fastrand::Rng) -> Result<CudaSlice<u8>, DriverError> {
    let stream = &session.device.stream;
    let number = |index: usize, rng: &mut fastrand::Rng| match &buffer.fill {
        Fill::Nothing => None,
        Fill::Ramp => Some(Number::Whole(index as i64)),
        Fill::Random if buffer.element.is_float() => Some(Number::Real(2.0 * rng.f64() - 1.0)),
        Fill::Random => Some(Number::Whole(rng.i64(0..100))),
        Fill::All(number) => Some(*number),
        Fill::Each(numbers) => numbers.get(index).copied(),
    };
    if buffer.fill == Fill::Nothing {
        // SAFETY: bytes, of which any value is one. That they were never written, the emulated device knows.
        return unsafe { stream.alloc::<u8>(buffer.count * buffer.element.size()) };
    }
    let numbers = (0..buffer.count).filter_map(|index| number(index, rng));
    let bytes: Vec<u8> = numbers.flat_map(|number| buffer.element.bytes(number)).collect();
    stream.clone_htod(&bytes)
}

fn passed(bytes: &[u8]) -> Passed {
    match *bytes {
        [a] => Passed::One(a),
        [a, b] => Passed::Two(u16::from_le_bytes([a, b])),
        [a, b, c, d] => Passed::Four(u32::from_le_bytes([a, b, c, d])),
        _ => Passed::Eight(bytes.try_into().map(u64::from_le_bytes).unwrap_or_default()),
    }
}

fn findings(report: &Report, source: &Source) -> Vec<Diagnostic> {
    let told = say_all(report.faults.iter().chain(&report.advice)).into_iter();
    let mut findings: Vec<Diagnostic> = told.map(|told| with_text(told, &explain::Known(source))).collect();
    findings.sort_by_key(|found| std::cmp::Reverse(found.severity));
    findings
}
