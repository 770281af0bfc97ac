//! Where in the host program memory was allocated.
//!
//! An allocation keeps the return addresses of its callers, which takes microseconds. They become a file and a line when
//! a fault is about that allocation, and only where the program has line tables, as debug builds do.
//! Frames without them, such as those of this workspace's large crates, are passed over.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::OnceLock;

use fusion_machine::report::{Related, Role, SourcePosition};

use crate::report;

/// How many callers are looked at: the driver's own, cudarc's and the first ones of the program.
const FRAMES: usize = 24;
/// How many allocations are remembered, freed ones among them. The oldest are forgotten first.
const SITES: usize = 1 << 14;

/// Allocations by address. A freed one stays until there are too many.
#[derive(Debug, Default)]
pub(crate) struct Sites(BTreeMap<u64, Site>);

#[derive(Debug)]
struct Site {
    size: u64,
    callers: Vec<usize>,
    place: OnceLock<Option<SourcePosition>>,
}

impl Sites {
    /// Remembers who asks for the allocation at this address.
    pub(crate) fn remember(&mut self, base: u64, size: u64) {
        if !report::allocation_sites() {
            return;
        }
        if self.0.len() >= SITES {
            // Addresses count up.
            self.0.pop_first();
        }
        self.0.insert(base, Site { size, callers: callers(), place: OnceLock::new() });
    }

    /// The same, as a fault's other place.
    pub(crate) fn related(&self, address: u64) -> Option<Related> {
        Some(Related { source: vec![self.of(address)?], ..Related::new(Role::Allocation) })
    }

    /// Where the allocation was made that holds this address, or ends there.
    fn of(&self, address: u64) -> Option<SourcePosition> {
        let (base, site) = self.0.range(..=address).next_back()?;
        let inside = address - base <= site.size && report::allocation_sites();
        inside.then(|| site.place.get_or_init(|| place(&site.callers)).clone()).flatten()
    }
}

fn callers() -> Vec<usize> {
    let mut callers = Vec::with_capacity(FRAMES);
    backtrace::trace(|frame| {
        callers.push(frame.ip() as usize);
        callers.len() < FRAMES
    });
    callers
}

/// The first caller behind the driver's exported function that is the program's own.
fn place(callers: &[usize]) -> Option<SourcePosition> {
    let mut outside = false;
    for caller in callers {
        let (mut found, mut last) = (None, false);
        // A return address may be that of the next statement; the call is before it.
        backtrace::resolve(caller.wrapping_sub(1) as *mut c_void, |symbol| {
            let name = symbol.name().map(|name| format!("{name:#}")).unwrap_or_default();
            if !outside {
                outside = name.starts_with("cuMem");
                return;
            }
            last |= name == "main";
            let (Some(file), Some(line)) = (symbol.filename(), symbol.lineno()) else { return };
            let file = file.to_string_lossy().into_owned();
            if found.is_none() && !is_foreign(&name, &file) {
                found = Some(SourcePosition {
                    file: relative(file),
                    line,
                    column: symbol.colno().unwrap_or(1),
                    function: Some(name),
                });
            }
        });
        // Behind `main` comes the C library.
        if found.is_some() || last {
            return found;
        }
    }
    None
}

/// Whether a function is of the standard library, of cudarc, of another crate that was not written here, or of Python.
fn is_foreign(name: &str, file: &str) -> bool {
    let file = file.replace('\\', "/");
    // A frame of the interpreter's own loop: `Python-3.13.1/Python/ceval.c`, `python3.11-3.11.2/Objects/call.c`.
    let is_source = |folder: &str| {
        let version = folder.strip_prefix("python").or_else(|| folder.strip_prefix("Python-"));
        version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    };
    let parts = ["/Python/", "/Objects/", "/Modules/", "/Programs/"];
    if parts.iter().filter_map(|part| file.split_once(part)).any(|(before, _)| before.split('/').any(is_source)) {
        return true;
    }
    let name = name.trim_start_matches('<');
    // The CUDA runtime, ours or in the headers that every CUDA C++ program includes.
    ["core::", "std::", "alloc::", "cudarc::", "fusion_cudart::", "cuda"].iter().any(|krate| name.starts_with(krate))
        || ["/rustc/", "/registry/src/", "/rustlib/src/", "/cuda_runtime.h", "./nptl/", "/sysdeps/"]
            .iter()
            .any(|part| file.contains(part))
}

/// As the program's developer would write it.
fn relative(file: String) -> String {
    let here = std::env::current_dir().ok();
    let shorter =
        here.and_then(|here| Some(std::path::Path::new(&file).strip_prefix(here).ok()?.display().to_string()));
    shorter.unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_foreign() {
        assert!(is_foreign("core::ops::function::FnOnce::call_once", "/rustc/abc/library/core/src/ops/function.rs"));
        assert!(is_foreign("<cudarc::driver::CudaStream>::alloc", "/home/me/cudarc/src/safe.rs"));
        assert!(is_foreign("rayon::join", "C:\\cargo\\registry\\src\\rayon\\join.rs"));
        assert!(is_foreign("cudaMalloc", "crates/cudart/src/memory.rs"));
        assert!(is_foreign("cudaError cudaMalloc<float>(float**, unsigned long)", "/usr/include/cuda_runtime.h"));
        assert!(is_foreign("_PyEval_EvalFrameDefault", "/tmp/python-build.2026/Python-3.13.1/Python/ceval.c"));
        assert!(is_foreign("_PyEval_EvalFrameDefault", "/build/python3.11-3.11.2/build/../Python/ceval.c"));
        assert!(!is_foreign("convolve", "/home/me/my-python-kernels/Modules/conv.cpp"));
        assert!(!is_foreign("program::main", "/home/me/program/src/main.rs"));
    }
}
