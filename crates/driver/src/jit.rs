//! From PTX to a module that the machine can run, with the messages and codes of the driver's own compiler.

use std::ffi::{c_char, c_uint};
use std::path::Path;
use std::time::Instant;

use fusion_machine::report::kind::Call;
use fusion_machine::{Loaded, Machine, Profile, Resources};
use fusion_ptx::{Severity, Unit, ast};

use crate::boundary::{In, Raw};
use crate::error::{Error, Result};
use crate::{image, report};

/// The newest PTX that is tried.
const NEWEST: (u32, u32) = (9, 9);
/// More complaints than this are not listed.
const SHOWN: usize = 20;

/// `CUjit_option`.
const WALL_TIME: c_uint = 2;
const INFO_LOG: c_uint = 3;
const INFO_LOG_SIZE: c_uint = 4;
const ERROR_LOG: c_uint = 5;
const ERROR_LOG_SIZE: c_uint = 6;
const LOG_VERBOSE: c_uint = 12;

/// The JIT options of a call, as far as they matter here, and the logs that they ask for.
#[derive(Debug)]
pub(crate) struct Options {
    info: Log,
    error: Log,
    verbose: bool,
    /// Where the time goes that a call took, in milliseconds, and when it began.
    wall_time: Option<Raw>,
    begun: Instant,
}

/// A buffer for a log, and where the length that was used goes.
#[derive(Debug)]
struct Log {
    buffer: Raw,
    size: usize,
    used: Option<Raw>,
}

impl Options {
    pub(crate) fn none() -> Self {
        let log = || Log { buffer: Raw::NULL, size: 0, used: None };
        Self { info: log(), error: log(), verbose: false, wall_time: None, begun: Instant::now() }
    }

    /// Reads parallel arrays of options and values. A value is the pointer itself, not what it points to.
    pub(crate) fn read(count: c_uint, options: In<c_uint>, values: Raw) -> Result<Self> {
        const POINTER: usize = size_of::<usize>();
        let mut read = Self::none();
        let names = options.get_all(count as usize)?;
        let given = values.as_in::<Raw>().get_all(count as usize)?;
        for (i, (name, value)) in names.into_iter().zip(given).enumerate() {
            let place = Some(Raw(values.0 + i * POINTER));
            match name {
                INFO_LOG => read.info.buffer = value,
                INFO_LOG_SIZE => (read.info.size, read.info.used) = (value.0 & 0xffff_ffff, place),
                ERROR_LOG => read.error.buffer = value,
                ERROR_LOG_SIZE => (read.error.size, read.error.used) = (value.0 & 0xffff_ffff, place),
                WALL_TIME => read.wall_time = place,
                LOG_VERBOSE => read.verbose = value.0 != 0,
                _ => {}
            }
        }
        Ok(read)
    }

    fn tell_time(&self) {
        if let Some(place) = self.wall_time {
            place.as_out::<f32>().set_if_wanted(self.begun.elapsed().as_secs_f32() * 1e3);
        }
    }
}

impl Log {
    fn write(&self, text: &str) {
        let fits = text.len().min(self.size.saturating_sub(1));
        if !self.buffer.is_null() && self.size > 0 {
            let _ = self.buffer.as_out::<c_char>().set_text(text, self.size);
        }
        if let Some(used) = self.used {
            let _ = used.as_out::<usize>().set(fits);
        }
    }
}

/// What became of an attempt to compile.
struct Refusal {
    error: Error,
    log: String,
}

/// Compiles a module image: PTX text that ends with a NUL, or a fat binary that holds some.
pub(crate) fn compile(machine: &Machine, image: Raw, options: &Options) -> Result<Loaded> {
    let text = image::at(image, capability(machine.profile()))?.map_err(not_ptx);
    finish(text.and_then(|text| compile_text(machine, &text, options)), options)
}

/// Compiles a file of PTX, or a fat binary.
pub(crate) fn compile_file(machine: &Machine, path: &str, options: &Options) -> Result<Loaded> {
    let bytes = std::fs::read(Path::new(path)).map_err(|_| Error::FILE_NOT_FOUND)?;
    let text = image::of(&bytes, capability(machine.profile())).map_err(|why| not_ptx(format!("{path}: {why}")));
    finish(text.and_then(|text| compile_text(machine, &text, options)), options)
}

/// Says in a call's logs why its input cannot be linked or loaded, and returns the error with which it answers.
pub(crate) fn refuse(why: image::Refused, options: &Options) -> Error {
    finish::<()>(Err(not_ptx(why)), options).err().unwrap_or(Error::UNKNOWN)
}

/// Looks a unit over that is to be linked, as a load would, as far as it can be judged without the others.
pub(crate) fn check(machine: &Machine, text: &str, options: &Options) -> Result {
    finish(parse(machine.profile(), text).map(|_| ((), String::new())), options)
}

/// Links units to one text, and tries to load it.
pub(crate) fn link(machine: &Machine, units: &[Unit<'_>], options: &Options) -> Result<String> {
    let linked = fusion_ptx::link(units).map_err(|errors| {
        let log = errors.iter().map(|error| format!("error   : {error}\n")).collect();
        Refusal { error: Error::INVALID_PTX, log }
    });
    let tried = linked.and_then(|text| {
        let (loaded, info) = compile_text(machine, &text, options)?;
        machine.unload(&loaded);
        Ok((text, info))
    });
    finish(tried, options)
}

/// A device's compute capability as one number: 90 for 9.0.
pub(crate) fn capability(profile: &Profile) -> u32 {
    profile.compute.0 * 10 + profile.compute.1
}

fn not_ptx(log: String) -> Refusal {
    Refusal { error: Error::NO_BINARY_FOR_GPU, log }
}

fn finish<T>(compiled: std::result::Result<(T, String), Refusal>, options: &Options) -> Result<T> {
    options.tell_time();
    match compiled {
        Ok((loaded, info)) => {
            options.info.write(if options.verbose { &info } else { "" });
            options.error.write("");
            Ok(loaded)
        }
        Err(refusal) => {
            options.info.write("");
            options.error.write(&refusal.log);
            // A program that did not ask for the log would learn nothing but a number.
            if options.error.buffer.is_null() {
                report::refused(Call::Module { error: refusal.error.to_string(), log: refusal.log });
            }
            Err(refusal.error)
        }
    }
}

fn compile_text(machine: &Machine, text: &str, options: &Options) -> std::result::Result<(Loaded, String), Refusal> {
    let module = parse(machine.profile(), text)?;
    let loaded = machine.load(module, text).map_err(|error| {
        let log = match error.line {
            0 => format!("ptxas error   : {}\n", error.message),
            line => format!(
                "ptxas application ptx input, line {line}; error   : {}\nptxas fatal   : Ptx assembly aborted due to errors\n",
                error.message
            ),
        };
        Refusal { error: Error::INVALID_PTX, log }
    })?;
    // It takes the assembler's time.
    let info = if options.verbose { usage(machine.profile(), &loaded) } else { String::new() };
    Ok((loaded, info))
}

/// A module that may be loaded on this device.
fn parse(profile: &Profile, text: &str) -> std::result::Result<ast::Module, Refusal> {
    if !text.contains(".version") {
        let log = "ptxas fatal   : the image is not PTX: it has no .version directive\n".to_owned();
        return Err(Refusal { error: Error::INVALID_IMAGE, log });
    }
    let parsed = fusion_ptx::parse(text);
    let module = parsed.module;
    if module.version > NEWEST {
        let (major, minor) = module.version;
        let log = format!("ptxas fatal   : Unsupported .version {major}.{minor}; current version is '9.9'\n");
        return Err(Refusal { error: Error::UNSUPPORTED_PTX_VERSION, log });
    }
    let mut log = String::new();
    let errors = parsed.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    for diagnostic in errors.take(SHOWN) {
        let line = fusion_ptx::position(text, diagnostic.span).line;
        log += &format!("ptxas application ptx input, line {line}; error   : {}\n", diagnostic.message);
    }
    if !log.is_empty() {
        log += "ptxas fatal   : Ptx assembly aborted due to errors\n";
        return Err(Refusal { error: Error::INVALID_PTX, log });
    }
    match not_for(profile, &module) {
        Some(log) => Err(Refusal { error: Error::NO_BINARY_FOR_GPU, log }),
        None => Ok(module),
    }
}

/// Why a device cannot run a module's target, if so. PTX runs on its own and every newer device, with the
/// suffix `a` on its own only, with `f` within the same major version (PTX ISA 11.1.2).
fn not_for(profile: &Profile, module: &ast::Module) -> Option<String> {
    let (device, major) = (capability(profile), profile.compute.0);
    let fits = match module.target.chars().last() {
        Some('a') => module.sm == device,
        Some('f') => module.sm <= device && module.sm / 10 == major,
        _ => module.sm <= device,
    };
    (!fits).then(|| {
        format!(
            "ptxas fatal   : SM version specified by .target is higher than default SM version assumed: {} is not for {} (sm_{device})\n",
            module.target, profile.name
        )
    })
}

/// What `ptxas -v` says, as far as it is known. An estimate is called one.
fn usage(profile: &Profile, loaded: &Loaded) -> String {
    let (major, minor) = profile.compute;
    let mut text = String::new();
    for name in loaded.kernel_names() {
        let Some(kernel) = loaded.kernel(name) else { continue };
        let Resources { registers, local_bytes, spill_stores, spill_loads, exact } = loaded.resources(kernel);
        let shared = loaded.info(kernel).static_shared;
        text += &format!("ptxas info    : Compiling entry function '{name}' for 'sm_{major}{minor}'\n");
        text += &match exact {
            true => format!(
                "ptxas info    : Function properties for {name}\n\
                 ptxas         .     {local_bytes} bytes stack frame, {spill_stores} bytes spill stores, {spill_loads} bytes spill loads\n\
                 ptxas info    : Used {registers} registers, {shared} bytes smem\n"
            ),
            false => format!(
                "ptxas info    : Used about {registers} registers (an estimate), {shared} bytes smem, {local_bytes} bytes lmem\n"
            ),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn runs_on(gpu: &str, target: &str, expect: bool) {
        let sm = target.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap();
        let module = ast::Module { target: target.into(), sm, ..ast::Module::default() };
        let profile = Profile::named(gpu).unwrap();
        assert_eq!(not_for(profile, &module).is_none(), expect, "{target} on {gpu}");
    }

    #[test]
    fn targets_run_on_their_own_and_newer_devices() {
        runs_on("h200", "sm_52", true);
        runs_on("h200", "sm_90", true);
        runs_on("h200", "sm_90a", true);
        runs_on("h200", "sm_80a", false);
        runs_on("h200", "sm_100", false);
        runs_on("t4", "sm_80", false);
        runs_on("t4", "sm_75", true);
    }
}
