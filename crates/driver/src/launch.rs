//! Launches: checked as a real driver checks them, and run.

use std::ffi::c_uint;
use std::sync::Arc;

use fusion_machine::{Fault, Kernel, Loaded, Profile};

use crate::boundary::{In, Raw, export};
use crate::clock::Engine;
use crate::driver::{Driver, Session};
use crate::error::{Error, Result};
use crate::ffi::{Handle, KernelNodeParams, LaunchAttribute, LaunchConfig};
use crate::function::Function;
use crate::host::Mirrored;
use crate::operation::Operation;
use crate::{occupancy, peek, report};

/// `CUlaunchAttributeID`.
const COOPERATIVE: c_uint = 2;
const CLUSTER_DIMENSION: c_uint = 4;
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
        if let Err(refusal) = check(profile, found, &shape) {
            report::refused_launch("E-LAUNCH-LIMIT", &found.info.name, &refusal.title, &refusal.note);
            return Err(refusal.error);
        }
        let params = params(found, kernel_params, extra)?;
        let places = found.info.params.iter().map(|p| params.as_ptr() as usize + p.offset as usize).collect();
        Ok(Self { function, loaded: found.loaded.clone(), kernel: found.kernel, shape, params, places })
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

    /// Runs the kernel. What it does wrong stays in the context: a launch itself succeeds.
    pub(crate) fn run(&self, driver: &Driver, stream: Handle) -> Result {
        let _busy = driver.busy();
        let memory = driver.machine.memory();
        let mirrored = Mirrored::to_machine(&driver.state(), memory);
        let outcome = driver.machine.launch(&self.loaded, self.kernel, &self.shape, &self.params);
        mirrored.into_host(&driver.state(), memory);
        match outcome {
            Ok(launch) => {
                let nanoseconds = launch.predicted_ns;
                report::launched(launch);
                driver.state().advance(stream, Engine::Compute, nanoseconds).map(|_| ())
            }
            Err(fault) => {
                let error = error_of(&fault);
                report::faulted(*fault);
                let mut state = driver.state();
                let context = state.streams.get(stream)?.context;
                state.contexts.get_mut(context)?.error.get_or_insert(error);
                Ok(())
            }
        }
    }
}

/// The code with which a real driver answers after such a fault.
fn error_of(fault: &Fault) -> Error {
    let is = |part: &str| fault.code.contains(part);
    if is("MISALIGN") {
        Error::MISALIGNED_ADDRESS
    } else if is("ASSERT") {
        Error::ASSERT
    } else if is("BUDGET") || is("TIMEOUT") || is("DEADLOCK") {
        Error::LAUNCH_TIMEOUT
    } else if is("UNSUPPORTED") || is("INSTRUCTION") || is("TRAP") {
        Error::ILLEGAL_INSTRUCTION
    } else if is("STACK") || is("LOCAL") {
        Error::HARDWARE_STACK_ERROR
    } else if is("OOB") || is("FREE") || is("UNMAPPED") || is("ADDRESS") || is("NULL") || is("READ-ONLY") {
        Error::ILLEGAL_ADDRESS
    } else {
        Error::LAUNCH_FAILED
    }
}

/// Why a launch is refused.
#[derive(Debug)]
struct Refusal {
    error: Error,
    title: String,
    note: String,
}

fn refusal(error: Error, title: String, note: impl Into<String>) -> std::result::Result<(), Refusal> {
    Err(Refusal { error, title, note: note.into() })
}

/// Checks a launch against the limits of the device and of the kernel.
fn check(profile: &Profile, function: &Function, shape: &fusion_machine::Launch) -> std::result::Result<(), Refusal> {
    let fusion_machine::Launch { grid, block, dynamic_shared, cooperative } = *shape;
    let info = &function.info;
    if grid.contains(&0) || block.contains(&0) {
        let title =
            format!("a launch needs at least one block and one thread, not a grid of {grid:?} and blocks of {block:?}");
        return refusal(Error::INVALID_VALUE, title, "When there is nothing to do, return before the launch.");
    }
    if grid.iter().zip(Profile::MAX_GRID).any(|(n, max)| *n > max) {
        let title = format!("a grid of {grid:?} blocks is too large: the device allows {:?}", Profile::MAX_GRID);
        return refusal(Error::INVALID_VALUE, title, "Let every thread do more than one element.");
    }
    let threads = block.iter().fold(1u32, |product, n| product.saturating_mul(*n));
    if threads > Profile::MAX_THREADS_PER_BLOCK {
        let title =
            format!("a block of {threads} threads is too large: the device allows {}", Profile::MAX_THREADS_PER_BLOCK);
        return refusal(Error::INVALID_VALUE, title, "Launch more blocks of fewer threads.");
    }
    if block.iter().zip(Profile::MAX_BLOCK).any(|(n, max)| *n > max) {
        let title = format!("a block of {block:?} threads is too large: the device allows {:?}", Profile::MAX_BLOCK);
        return refusal(Error::INVALID_VALUE, title, "");
    }
    if info.required_threads.is_some_and(|required| required != block) {
        let title = format!(
            "the kernel must be launched with blocks of {:?}, not {block:?}",
            info.required_threads.unwrap_or_default()
        );
        return refusal(Error::INVALID_VALUE, title, "It was compiled with .reqntid.");
    }
    let shared = function.max_dynamic_shared(profile);
    if dynamic_shared > shared {
        let title = format!(
            "{dynamic_shared} bytes of dynamic and {} of static shared memory are too many: this kernel may have {shared} bytes of dynamic shared memory",
            info.static_shared
        );
        let note = format!(
            "A kernel may have up to {} bytes in all once CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES is set for it; without, {}.",
            profile.shared_per_block_optin, profile.shared_per_block
        );
        return refusal(Error::INVALID_VALUE, title, note);
    }
    if threads > function.max_threads() {
        let title = format!(
            "a block of {threads} threads needs more resources than there are: this kernel allows {}",
            function.max_threads()
        );
        let note = format!(
            "It uses {} registers a thread and was compiled for blocks of up to {} threads.",
            info.registers, info.max_threads
        );
        return refusal(Error::LAUNCH_OUT_OF_RESOURCES, title, note);
    }
    if cooperative {
        let room = u64::from(occupancy::blocks_per_sm(profile, info, threads, dynamic_shared)) * u64::from(profile.sms);
        let blocks: u64 = grid.iter().map(|n| u64::from(*n)).product();
        if blocks > room {
            let title = format!(
                "a cooperative launch of {blocks} blocks is too large: {room} of them fit on the device at once"
            );
            return refusal(Error::COOPERATIVE_LAUNCH_TOO_LARGE, title, "");
        }
    }
    Ok(())
}

/// The parameter buffer, from an array of pointers or from a buffer that the caller has packed.
fn params(function: &Function, kernel_params: Raw, extra: Raw) -> Result<Vec<u8>> {
    let info = &function.info;
    let size = info.param_bytes as usize;
    if size == 0 {
        return Ok(Vec::new());
    }
    let refuse = |title: String| {
        let note = format!("The kernel takes {} parameters. Were too few passed?", info.params.len());
        report::refused_launch("E-LAUNCH-PARAMETER", &info.name, &title, &note);
        Error::INVALID_VALUE
    };
    if kernel_params.is_null() {
        let packed = packed(extra)?.ok_or_else(|| refuse("the launch passes no parameters".into()))?;
        let (buffer, len) = packed;
        if len < size {
            return Err(refuse(format!("the packed parameters have {len} bytes, and the kernel's {size}")));
        }
        return peek::read(&[(buffer, size)]).map_err(|_| refuse("the packed parameters cannot be read".into()));
    }
    const POINTER: usize = size_of::<usize>();
    let pointers = peek::read(&[(kernel_params.0, info.params.len() * POINTER)])
        .map_err(|_| refuse("the array of pointers to the parameters cannot be read".into()))?;
    let addresses =
        pointers.chunks_exact(POINTER).map(|bytes| usize::from_ne_bytes(bytes.try_into().unwrap_or_default()));
    let places: Vec<(usize, usize)> =
        addresses.zip(&info.params).map(|(address, p)| (address, p.size as usize)).collect();
    let values = peek::read(&places).map_err(|bad| {
        let param = &info.params[bad];
        let pointer = if places[bad].0 == 0 { "null" } else { "no address that can be read" };
        refuse(format!("the pointer to parameter {bad} (`{}`, {} bytes) is {pointer}", param.name, param.size))
    })?;
    let mut buffer = vec![0; size];
    let mut values = values.as_slice();
    for param in &info.params {
        let (value, rest) = values.split_at(param.size as usize);
        buffer[param.offset as usize..][..value.len()].copy_from_slice(value);
        values = rest;
    }
    Ok(buffer)
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

/// Reads the attributes of an extended launch: whether it is cooperative.
fn attributes(config: &LaunchConfig) -> Result<bool> {
    let mut cooperative = false;
    for attribute in config.attrs.as_in::<LaunchAttribute>().get_all(config.num_attrs as usize)? {
        let [first, second, ..] = attribute.value;
        match attribute.id {
            COOPERATIVE => cooperative = first as u32 != 0,
            CLUSTER_DIMENSION => {
                let cluster = [first as u32, (first >> 32) as u32, second as u32];
                if cluster != [1, 1, 1] {
                    report::say(&format!("clusters of blocks are not supported: {cluster:?} was asked for"));
                    return Err(Error::NOT_SUPPORTED);
                }
            }
            // Priorities, cache policies and scheduling preferences change no result.
            _ => {}
        }
    }
    Ok(cooperative)
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
        let shape = fusion_machine::Launch { grid, block, dynamic_shared, cooperative: false };
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
        let shape = fusion_machine::Launch { grid, block, dynamic_shared, cooperative: true };
        launch(function, shape, stream, kernel_params, Raw::NULL)
    }

    fn cuLaunchKernelEx(config: In<LaunchConfig>, function: Handle, kernel_params: Raw, extra: Raw) {
        let config = config.get()?;
        let cooperative = attributes(&config)?;
        let (grid, block, dynamic_shared) = (config.grid, config.block, config.shared_bytes);
        let shape = fusion_machine::Launch { grid, block, dynamic_shared, cooperative };
        launch(function, shape, config.stream, kernel_params, extra)
    }
}
