//! The emulated driver's own interface, beside the CUDA API: six C functions.

#![allow(unsafe_code)] // Calls them.

use std::ffi::{CStr, CString, c_char};
use std::fmt;

use fusion_machine::report::Dry;
use fusion_machine::{Checks, Report};
use libloading::Library;

/// What the emulated device tells beyond what CUDA can: reports of launches, counters and faults.
#[derive(Clone, Copy)]
pub struct Emulator {
    take_report: extern "C" fn() -> *mut c_char,
    free_string: extern "C" fn(*mut c_char),
    version: extern "C" fn() -> *const c_char,
    set_options: extern "C" fn(*const c_char) -> i32,
    forget: extern "C" fn(u64, u64) -> i32,
    unwritten: extern "C" fn(u64, u64) -> u64,
    empty_cache: extern "C" fn(),
}

/// Settings of the emulator; what is `None` stays as it is. See `fusion_machine::Options` for the defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmulatorOptions {
    /// Warp instructions that one launch may execute before it counts as never ending. What is `None` here and for a block
    /// follows `FUSION_EMULATOR_BUDGET`.
    pub instruction_budget: Option<u64>,
    /// The same for one block, so that a loop without an end is found sooner.
    pub block_budget: Option<u64>,
    /// Threads to run blocks on; 0 for as many as there are cores.
    pub workers: Option<usize>,
    /// Whether launches are kept for reports.
    pub record: Option<bool>,
    /// How many launches are kept.
    pub record_limit: Option<usize>,
    /// Which checks are made beside those that always are. What is `None` here follows `FUSION_EMULATOR_CHECKS`.
    pub checks: Option<Checks>,
    /// Whether faults tell where in the host program their buffer was allocated.
    pub allocation_sites: Option<bool>,
    /// Whether launches are timed by what their blocks do. What is `None` here begins with the first event that takes times.
    pub times: Option<bool>,
    /// How many multiprocessors programs find, of those that the device has; 0 for all.
    pub multiprocessors: Option<u32>,
    /// Once, where no memory is allocated: what is allocated from now on has the addresses and numbers that it would
    /// have in a new process, and the L2 is empty.
    pub start_over: Option<bool>,
}

/// Why the emulator's answer could not be used: it is of another version than this program.
#[derive(Debug)]
pub struct EmulatorError {
    /// The emulator's version.
    pub version: String,
    pub why: String,
}

impl Emulator {
    /// The interface of a driver library, or `None` for a real driver.
    pub(crate) fn of(library: &'static Library) -> Option<Emulator> {
        // SAFETY: only the emulated driver has these names, with these signatures; the library is never closed.
        unsafe {
            Some(Emulator {
                take_report: *library.get(b"fusion_emulator_take_report\0").ok()?,
                free_string: *library.get(b"fusion_emulator_free_string\0").ok()?,
                version: *library.get(b"fusion_emulator_version\0").ok()?,
                set_options: *library.get(b"fusion_emulator_set_options\0").ok()?,
                forget: *library.get(b"fusion_emulator_forget\0").ok()?,
                unwritten: *library.get(b"fusion_emulator_unwritten\0").ok()?,
                empty_cache: *library.get(b"fusion_emulator_empty_cache\0").ok()?,
            })
        }
    }

    /// Everything since the last report was taken. Synchronise the stream first, so that all of it has happened.
    ///
    /// # Errors
    /// When the emulator is of another version.
    pub fn take_report(&self) -> Result<Report, EmulatorError> {
        let text = (self.take_report)();
        if text.is_null() {
            return Err(self.error("it gave no report"));
        }
        // SAFETY: a C string that the emulator made and that is ours until it is freed below, once.
        let report = serde_json::from_slice(unsafe { CStr::from_ptr(text) }.to_bytes());
        (self.free_string)(text);
        report.map_err(|error| self.error(&format!("its report cannot be read: {error}")))
    }

    /// Changes settings. The budgets and the workers can only be set while the device is being opened, which
    /// [`crate::Device::open_with`] does; the others at any time.
    ///
    /// The emulator takes this as the sign that reports will be taken, and stops printing faults itself.
    ///
    /// # Errors
    /// When one comes too late, or the emulator is of another version.
    pub fn set(&self, options: &EmulatorOptions) -> Result<(), EmulatorError> {
        let EmulatorOptions {
            instruction_budget,
            block_budget,
            workers,
            record,
            record_limit,
            checks,
            allocation_sites,
            times,
            multiprocessors,
            start_over,
        } = *options;
        let mut json = serde_json::Map::new();
        json.extend(instruction_budget.map(|count| ("instruction_budget".to_owned(), count.into())));
        json.extend(block_budget.map(|count| ("block_budget".to_owned(), count.into())));
        json.extend(workers.map(|count| ("workers".to_owned(), count.into())));
        json.extend(record.map(|yes| ("record".to_owned(), yes.into())));
        json.extend(record_limit.map(|count| ("record_limit".to_owned(), count.into())));
        json.extend(multiprocessors.map(|count| ("multiprocessors".to_owned(), count.into())));
        json.extend(start_over.map(|yes| ("start_over".to_owned(), yes.into())));
        json.extend(times.map(|yes| ("times".to_owned(), yes.into())));
        json.extend(allocation_sites.map(|yes| ("allocation_sites".to_owned(), yes.into())));
        json.extend(checks.map(|Checks { init, races, arithmetic, performance }| {
            let each = [("init", init), ("races", races), ("arithmetic", arithmetic), ("performance", performance)];
            let each = each.map(|(name, yes)| (name.to_owned(), serde_json::Value::Bool(yes)));
            ("checks".to_owned(), serde_json::Value::Object(each.into_iter().collect()))
        }));
        self.set_json(&serde_json::Value::Object(json))
    }

    fn set_json(&self, json: &serde_json::Value) -> Result<(), EmulatorError> {
        let json = json.to_string();
        let text = CString::new(json.as_str()).map_err(|_| self.error("the options contain a NUL byte"))?;
        match (self.set_options)(text.as_ptr()) {
            0 => Ok(()),
            2 => Err(self.error(&format!("`{json}` comes too late: the device is open"))),
            _ => Err(self.error(&format!("it does not know these options: `{json}`"))),
        }
    }

    /// Lets launches run dry from now on, or no longer, where it is the default.
    ///
    /// # Errors
    /// When the emulator is of another version.
    pub fn run_dry(&self, dry: &Dry) -> Result<(), EmulatorError> {
        self.set_json(&serde_json::json!({ "dry": dry }))
    }

    /// Empties the L2: the next launch finds nothing in it. Synchronise first.
    pub fn empty_cache(&self) {
        (self.empty_cache)();
    }

    /// Makes bytes of device memory count as never written: kernels that depend on them are reported. They keep their
    /// values. Synchronise the stream first.
    ///
    /// # Errors
    /// When the range does not lie in one allocation.
    pub fn forget(&self, address: u64, len: u64) -> Result<(), EmulatorError> {
        match (self.forget)(address, len) {
            0 => Ok(()),
            _ => Err(self.error(&format!("{len} bytes at {address:#x} are not of one allocation"))),
        }
    }

    /// How far into a range of device memory the first byte is that was never written, or was forgotten since. None where all were
    /// written, or where the range does not lie in one allocation. Synchronise the stream first.
    pub fn unwritten(&self, address: u64, len: u64) -> Option<u64> {
        Some((self.unwritten)(address, len)).filter(|&at| at != u64::MAX)
    }

    /// Whether the GPU that the environment asks for can be emulated. The driver checks that as well, but an API that
    /// answers with numbers cannot say what was wrong.
    pub(crate) fn check_profile(&self) -> Result<(), EmulatorError> {
        fusion_profile::chosen().map(drop).map_err(|why| self.error(&why))
    }

    pub fn version(&self) -> String {
        let text = (self.version)();
        if text.is_null() {
            return "unknown".to_owned();
        }
        // SAFETY: a constant C string of the library, which is never closed.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    fn error(&self, why: &str) -> EmulatorError {
        EmulatorError { version: self.version(), why: why.to_owned() }
    }
}

impl fmt::Debug for Emulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emulator").field("version", &self.version()).finish_non_exhaustive()
    }
}

impl fmt::Display for EmulatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ours, EmulatorError { version, why }) = (env!("CARGO_PKG_VERSION"), self);
        write!(f, "The emulated GPU: {why}.")?;
        match version == ours {
            true => Ok(()),
            false => write!(f, " It is version {version} and this program is {ours}: build both again."),
        }
    }
}

impl std::error::Error for EmulatorError {}
