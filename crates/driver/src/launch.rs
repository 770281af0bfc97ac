//! Launches: checked as a real driver checks them, and run.

mod attributes;
mod limit;
mod places;

use std::ffi::c_uint;
use std::sync::Arc;

use fusion_machine::report::kind::{Parameters, Refusal};
use fusion_machine::report::trace::ranges;
use fusion_machine::report::{Dry, DryBlock, Name, PtxPosition, SourcePosition, Task, When, Work};
use fusion_machine::timing::{EVENT_NS, Estimate};
use fusion_machine::{Argument, Fault, Footprint, Kernel, KernelInfo, LaunchReport, Loaded, ParamInfo, Tracing};

use crate::boundary::{In, Raw, export};
use crate::clock::Engine;
use crate::driver::{Driver, Session};
use crate::error::{Error, Result};
use crate::ffi::{Handle, KernelNodeParams, LaunchConfig};
use crate::function::Function;
use crate::host::Mirrored;
use crate::operation::{self, Operation};
use crate::order::Act;
use crate::{peek, report};
pub(crate) use attributes::{apply, shape, value_of};

/// `CU_LAUNCH_PARAM_*`.
const PARAM_END: usize = 0;
const PARAM_BUFFER_POINTER: usize = 1;
const PARAM_BUFFER_SIZE: usize = 2;

/// A launch with its parameters copied, ready to run as often as is asked for.
#[derive(Debug)]
pub(crate) struct Launch {
    function: Handle,
    loaded: Arc<Loaded>,
    kernel: Kernel,
    shape: fusion_machine::Launch,
    params: Vec<u8>,
    /// Parameters that the caller had fewer bytes for, see [`places`].
    short: Vec<bool>,
    /// Addresses of the parameters in `params`, for a caller who asks a graph's node for them.
    places: Vec<usize>,
}

impl Launch {
    /// Checks a launch and copies its parameters.
    pub(crate) fn new(
        session: &Session,
        function: Handle,
        shape: fusion_machine::Launch,
        kernel_params: Raw,
        extra: Raw,
    ) -> Result<Self> {
        let found = session.state.functions.get(function)?;
        let profile = session.driver.machine.profile();
        let params = params(found, kernel_params, extra);
        let Passed { bytes, short } = match &params {
            Ok(passed) | Err(Unread::Refused(_, passed)) => passed,
            Err(Unread::Invalid(_)) => &Passed::default(),
        };
        let asked = asked(&found.info, &shape, bytes, short);
        let Passed { bytes: params, short } = match (limit::check(profile, found, &shape), params) {
            (Err(refusal), _) | (Ok(()), Err(Unread::Refused(refusal, _))) => {
                return Err(report::refused_launch(asked, refusal));
            }
            (Ok(()), Err(Unread::Invalid(error))) => return Err(error),
            (Ok(()), Ok(passed)) => passed,
        };
        let places = found.info.params.iter().map(|p| params.as_ptr() as usize + p.offset as usize).collect();
        Ok(Self { function, loaded: found.loaded.clone(), kernel: found.kernel, shape, params, short, places })
    }

    /// What a graph's node tells of the launch. The pointers are valid as long as the launch is.
    pub(crate) fn node_params(&self) -> KernelNodeParams {
        KernelNodeParams {
            function: self.function,
            grid: self.shape.grid,
            block: self.shape.block,
            shared_bytes: self.shape.dynamic_shared,
            kernel_params: Raw(self.places.as_ptr() as usize),
            extra: Raw::NULL,
        }
    }

    pub(crate) fn shape(&self) -> &fusion_machine::Launch {
        &self.shape
    }

    /// The same launch with other attributes.
    pub(crate) fn reshaped(&self, session: &Session, shape: fusion_machine::Launch) -> Result<Self> {
        let found = session.state.functions.get(self.function)?;
        limit::check(session.driver.machine.profile(), found, &shape).map_err(|refusal| {
            report::refused_launch(asked(&found.info, &shape, &self.params, &self.short), refusal)
        })?;
        let (params, short) = (self.params.clone(), self.short.clone());
        let places = found.info.params.iter().map(|p| params.as_ptr() as usize + p.offset as usize).collect();
        Ok(Self {
            function: self.function,
            loaded: self.loaded.clone(),
            kernel: self.kernel,
            shape,
            params,
            short,
            places,
        })
    }

    pub(crate) fn kernel_name(&self) -> String {
        self.loaded.info(self.kernel).name
    }

    /// Where an instruction of the kernel stands, in its source and in the PTX.
    pub(crate) fn place(&self, pc: u32) -> (Vec<SourcePosition>, Option<PtxPosition>) {
        self.loaded.place(self.kernel, pc)
    }

    /// Adds to a fault where the buffer was allocated that it is about, when that may be the mistake.
    fn add_site(&self, driver: &Driver, fault: &mut Fault) {
        let concerned = fault.code().concerns_allocation();
        let argument = fault.buffer.as_ref().and_then(|buffer| buffer.argument);
        let param = argument.and_then(|i| self.loaded.info(self.kernel).params.into_iter().nth(i as usize));
        if concerned && let Some(address) = param.and_then(|param| self.pointer(&param)) {
            fault.related.extend(driver.state().sites.related(address));
        }
    }

    /// The value of a parameter of eight bytes, which may be a pointer.
    fn pointer(&self, param: &ParamInfo) -> Option<u64> {
        let bytes = self.params.get(param.offset as usize..)?.get(..8)?;
        (param.size == 8).then(|| u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    /// The first argument that points to this allocation, or else into it: its index and what it is called.
    pub(crate) fn argument_at(&self, base: u64, size: u64) -> Option<(u32, Name)> {
        let params = self.loaded.info(self.kernel).params;
        let pointing = |at: &dyn Fn(u64) -> bool| params.iter().position(|p| self.pointer(p).is_some_and(at));
        let index = pointing(&|v| v == base).or_else(|| pointing(&|v| v > base && v <= base + size))?;
        let name = params[index].argument.clone().map_or(Name::Argument(index as u32), Name::Parameter);
        Some((index as u32, name))
    }

    fn asked(&self) -> LaunchReport {
        asked(&self.loaded.info(self.kernel), &self.shape, &self.params, &self.short)
    }

    /// Runs a few blocks. What they do wrong is in the report alone. Where blocks communicate, none is run: what it left for the
    /// others would stay.
    fn run_dry(&self, driver: &Driver, dry: &Dry) -> LaunchReport {
        let one = |&index: &u64| {
            let (params, limit) = (&self.params, (index, dry.budget));
            match driver.machine.launch_block(&self.loaded, self.kernel, &self.shape, params, limit) {
                Ok(Footprint { complete, written, read, .. }) => {
                    let [written, read] =
                        [written, read].map(|spans| spans.iter().map(|span| (span.start, span.end)).collect());
                    DryBlock { index, written, read, complete, fault: None }
                }
                Err(fault) => DryBlock { index, fault: Some(fault), ..DryBlock::default() },
            }
        };
        let runs = !self.shape.cooperative && !self.loaded.communicates(self.kernel);
        let blocks = dry.blocks.iter().filter(|block| runs && **block < self.shape.blocks());
        let dry = blocks.map(one).collect();
        LaunchReport { dry, ..self.asked() }
    }

    /// Predicts how long the launch takes. A block that does something wrong is told in the report. The time is 0 then, and where it does
    /// not follow from single blocks.
    fn time(&self, driver: &Driver) -> LaunchReport {
        let stopped = |fault: Box<Fault>| vec![DryBlock { fault: Some(fault), ..DryBlock::default() }];
        match driver.machine.estimate(&self.loaded, self.kernel, &self.shape, &self.params) {
            Ok(None) => LaunchReport { predicted_ns: 0.0, ..self.asked() },
            Ok(Some(Estimate { ns, account, .. })) => {
                LaunchReport { predicted_ns: ns, account: Some(account), ..self.asked() }
            }
            Err(fault) => LaunchReport { dry: stopped(fault), ..self.asked() },
        }
    }

    /// Runs the kernel. What it does wrong stays in the context: a launch itself succeeds.
    pub(crate) fn run(self: &Arc<Self>, driver: &Driver, stream: Handle) -> Result {
        let _busy = driver.busy();
        let dry = report::dry();
        if !dry.is_off() {
            let mut launch = if dry.timed { self.time(driver) } else { self.run_dry(driver, &dry) };
            launch.when = advance(driver, stream, &launch)?;
            report::launched(launch);
            return Ok(());
        }
        let memory = driver.machine.memory();
        let mirrored = Mirrored::to_machine(&driver.state(), memory);
        let tracing = match driver.machine.checks().races {
            true => driver.state().tracing(),
            false if report::traces() => Tracing::Sectors,
            false => Tracing::Off,
        };
        let machine = &driver.machine;
        let outcome = machine.launch_traced(&self.loaded, self.kernel, &self.shape, &self.params, tracing);
        mirrored.into_host(&driver.state(), memory);
        match outcome {
            Ok((mut launch, footprint)) => {
                launch.when = advance(driver, stream, &launch)?;
                launch.findings.iter_mut().for_each(|finding| self.add_site(driver, finding));
                launch.arguments = arguments(&self.loaded.info(self.kernel), &self.params, &self.short);
                report::ran(|| work(&launch, &footprint));
                report::launched(launch);
                operation::order(driver, stream, Act::Launch(self.clone()), |_| footprint)
            }
            Err(mut fault) => {
                let error = report::error_of(&fault);
                self.add_site(driver, &mut fault);
                report::stopped(self.asked(), *fault);
                let mut state = driver.state();
                let context = state.streams.get(stream)?.context;
                state.contexts.get_mut(context)?.error.get_or_insert(error);
                Ok(())
            }
        }
    }
}

/// Puts a launch into its stream's time: what it takes between two events, without what these take. Of the device it takes what the clock's
/// account says, and all where there is none.
fn advance(driver: &Driver, stream: Handle, launch: &LaunchReport) -> Result<When> {
    let share = launch.account.as_ref().map_or(1.0, |account| account.occupies);
    driver.state().advance(stream, Engine::Compute(share), (launch.predicted_ns - EVENT_NS).max(0.0))
}

/// A launch as a trace has it.
fn work(launch: &LaunchReport, footprint: &Footprint) -> Work {
    let LaunchReport { kernel, grid, block, counters, predicted_ns, when, .. } = launch;
    let task = Task::Launch {
        kernel: kernel.clone(),
        grid: *grid,
        block: *block,
        loaded_bytes: counters.global_load.bytes,
        tensor_operations: counters.tensor_operations,
        predicted_ns: *predicted_ns,
    };
    Work { task, when: *when, read: ranges(&footprint.read), written: ranges(&footprint.written) }
}

/// A launch as it was asked for, with nothing counted.
fn asked(info: &KernelInfo, shape: &fusion_machine::Launch, params: &[u8], short: &[bool]) -> LaunchReport {
    LaunchReport {
        kernel: info.name.clone(),
        grid: shape.grid,
        block: shape.block,
        shared_bytes: info.static_shared.saturating_add(shape.dynamic_shared),
        arguments: arguments(info, params, short),
        ..LaunchReport::default()
    }
}

/// What lies in a parameter buffer.
fn arguments(info: &KernelInfo, params: &[u8], short: &[bool]) -> Vec<Argument> {
    let argument = |(index, param): (usize, &ParamInfo)| {
        let bytes = params.get(param.offset as usize..)?.get(..param.size as usize)?.to_vec();
        let short = short.get(index).is_some_and(|short| *short);
        Some(Argument { name: param.argument.clone(), bytes, float: param.float, short })
    };
    info.params.iter().enumerate().map_while(argument).collect()
}

/// A parameter buffer.
#[derive(Default)]
struct Passed {
    bytes: Vec<u8>,
    /// By parameter; empty where the caller has packed them.
    short: Vec<bool>,
}

/// Why there is no parameter buffer.
enum Unread {
    /// The parameters do not match the kernel's. Those before the first that does not could be read.
    Refused(Refusal, Passed),
    /// What describes them is not as the API asks for.
    Invalid(Error),
}

impl From<Error> for Unread {
    fn from(error: Error) -> Self {
        Self::Invalid(error)
    }
}

/// The parameter buffer, from an array of pointers or from a buffer that the caller has packed.
fn params(function: &Function, kernel_params: Raw, extra: Raw) -> std::result::Result<Passed, Unread> {
    let info = &function.info;
    let size = info.param_bytes as usize;
    if size == 0 {
        return Ok(Passed::default());
    }
    let expected = info.params.len() as u64;
    let refuse = |problem: Parameters| Unread::Refused(Refusal::Parameters { problem, expected }, Passed::default());
    if kernel_params.is_null() {
        let packed = packed(extra)?.ok_or_else(|| refuse(Parameters::Missing))?;
        let (buffer, len) = packed;
        if len < size {
            return Err(refuse(Parameters::Short { bytes: len as u64, expected: size as u64 }));
        }
        let bytes = peek::read(&[(buffer, size)]).map_err(|_| refuse(Parameters::UnreadableBuffer))?;
        return Ok(Passed { bytes, short: Vec::new() });
    }
    const POINTER: usize = size_of::<usize>();
    let pointers = peek::read(&[(kernel_params.0, info.params.len() * POINTER)])
        .map_err(|_| refuse(Parameters::UnreadablePointers))?;
    let addresses =
        pointers.chunks_exact(POINTER).map(|bytes| usize::from_ne_bytes(bytes.try_into().unwrap_or_default()));
    let places: Vec<(usize, usize)> =
        addresses.zip(&info.params).map(|(address, p)| (address, p.size as usize)).collect();
    let short = places::short(&places, |index| !info.params[index].structure);
    // The first parameters, as many as there are values for.
    let passed = |values: &[u8], count: usize| {
        let end = info.params.get(count).map_or(size, |next| next.offset as usize);
        let (mut buffer, mut values) = (vec![0; end], values);
        for param in &info.params[..count] {
            let (value, rest) = values.split_at(param.size as usize);
            buffer[param.offset as usize..][..value.len()].copy_from_slice(value);
            values = rest;
        }
        Passed { bytes: buffer, short: short.clone() }
    };
    match peek::read(&places) {
        Ok(values) => Ok(passed(&values, places.len())),
        Err(bad) => {
            let param = &info.params[bad];
            let (name, bytes, null) = (param.argument.clone(), param.size, places[bad].0 == 0);
            let problem = Parameters::Pointer { index: bad as u32, name, bytes, null };
            let before = peek::read(&places[..bad]).map(|values| passed(&values, bad)).unwrap_or_default();
            Err(Unread::Refused(Refusal::Parameters { problem, expected }, before))
        }
    }
}

/// Address and length of the buffer that `extra` describes: pairs of a key and a pointer, up to an end.
fn packed(extra: Raw) -> Result<Option<(usize, usize)>> {
    if extra.is_null() {
        return Ok(None);
    }
    let word = |i: usize| Raw(extra.0 + i * size_of::<usize>()).as_in::<usize>().get();
    let (mut buffer, mut len) = (None, None);
    for pair in 0..4 {
        match word(2 * pair)? {
            PARAM_END => break,
            PARAM_BUFFER_POINTER => buffer = Some(word(2 * pair + 1)?),
            PARAM_BUFFER_SIZE => len = Some(Raw(word(2 * pair + 1)?).as_in::<usize>().get()?),
            _ => return Err(Error::INVALID_VALUE),
        }
    }
    Ok(buffer.zip(len))
}

fn launch(function: Handle, shape: fusion_machine::Launch, stream: Handle, kernel_params: Raw, extra: Raw) -> Result {
    let session = Session::begin()?;
    let stream = session.stream(stream)?;
    let launch = Launch::new(&session, function, shape, kernel_params, extra)?;
    session.submit(stream, Operation::Launch(Arc::new(launch)))
}

export! {
    fn cuLaunchKernel(
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        dynamic_shared: c_uint,
        stream: Handle,
        kernel_params: Raw,
        extra: Raw,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let shape = fusion_machine::Launch { grid, block, dynamic_shared, cooperative: false, cluster: None };
        launch(function, shape, stream, kernel_params, extra)
    }

    fn cuLaunchCooperativeKernel(
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        dynamic_shared: c_uint,
        stream: Handle,
        kernel_params: Raw,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let shape = fusion_machine::Launch { grid, block, dynamic_shared, cooperative: true, cluster: None };
        launch(function, shape, stream, kernel_params, Raw::NULL)
    }

    fn cuLaunchKernelEx(config: In<LaunchConfig>, function: Handle, kernel_params: Raw, extra: Raw) {
        let config = config.get()?;
        launch(function, shape(&config)?, config.stream, kernel_params, extra)
    }
}
