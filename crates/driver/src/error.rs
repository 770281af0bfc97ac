//! Result codes of the driver API, with the names and texts that the real driver has for them.

use std::ffi::{CStr, c_char};

use crate::boundary::{Out, export};

/// What an exported function returns: a `CUresult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Status(u32);

/// A `CUresult` other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Error(u32);

pub(crate) type Result<T = ()> = std::result::Result<T, Error>;

impl Status {
    pub(crate) fn code(self) -> u32 {
        self.0
    }
}

impl From<Result> for Status {
    fn from(result: Result) -> Self {
        Self(result.err().map_or(0, |error| error.0))
    }
}

macro_rules! codes {
    ($($name:ident = $code:literal $text:literal)*) => {
        #[allow(dead_code, reason = "the list is complete, whether or not the emulator returns a code")]
        impl Error {
            $(pub(crate) const $name: Self = Self($code);)*
        }

        const CODES: &[(u32, &CStr, &CStr)] = &[
            (0, c"CUDA_SUCCESS", c"no error"),
            $(($code, prefixed!($name), $text)),*
        ];
    };
}

macro_rules! prefixed {
    ($name:ident) => {
        match CStr::from_bytes_with_nul(concat!("CUDA_ERROR_", stringify!($name), "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => panic!("an identifier holds no NUL"),
        }
    };
}

codes! {
    INVALID_VALUE = 1 c"invalid argument"
    OUT_OF_MEMORY = 2 c"out of memory"
    NOT_INITIALIZED = 3 c"initialization error"
    DEINITIALIZED = 4 c"driver shutting down"
    PROFILER_DISABLED = 5 c"profiler disabled while using external profiling tool"
    PROFILER_NOT_INITIALIZED = 6 c"profiler not initialized: call cudaProfilerInitialize()"
    PROFILER_ALREADY_STARTED = 7 c"profiler already started"
    PROFILER_ALREADY_STOPPED = 8 c"profiler already stopped"
    STUB_LIBRARY = 34 c"CUDA driver is a stub library"
    DEVICE_UNAVAILABLE = 46 c"CUDA-capable device(s) is/are busy or unavailable"
    NO_DEVICE = 100 c"no CUDA-capable device is detected"
    INVALID_DEVICE = 101 c"invalid device ordinal"
    DEVICE_NOT_LICENSED = 102 c"device doesn't have valid Grid license"
    INVALID_IMAGE = 200 c"device kernel image is invalid"
    INVALID_CONTEXT = 201 c"invalid device context"
    CONTEXT_ALREADY_CURRENT = 202 c"context already current"
    MAP_FAILED = 205 c"mapping of buffer object failed"
    UNMAP_FAILED = 206 c"unmapping of buffer object failed"
    ARRAY_IS_MAPPED = 207 c"array is mapped"
    ALREADY_MAPPED = 208 c"resource already mapped"
    NO_BINARY_FOR_GPU = 209 c"no kernel image is available for execution on the device"
    ALREADY_ACQUIRED = 210 c"resource already acquired"
    NOT_MAPPED = 211 c"resource not mapped"
    NOT_MAPPED_AS_ARRAY = 212 c"resource not mapped as array"
    NOT_MAPPED_AS_POINTER = 213 c"resource not mapped as pointer"
    ECC_UNCORRECTABLE = 214 c"uncorrectable ECC error encountered"
    UNSUPPORTED_LIMIT = 215 c"limit is not supported on this architecture"
    CONTEXT_ALREADY_IN_USE = 216 c"exclusive-thread device already in use by a different thread"
    PEER_ACCESS_UNSUPPORTED = 217 c"peer access is not supported between these two devices"
    INVALID_PTX = 218 c"a PTX JIT compilation failed"
    INVALID_GRAPHICS_CONTEXT = 219 c"invalid OpenGL or DirectX context"
    NVLINK_UNCORRECTABLE = 220 c"uncorrectable NVLink error detected during the execution"
    JIT_COMPILER_NOT_FOUND = 221 c"PTX JIT compiler library not found"
    UNSUPPORTED_PTX_VERSION = 222 c"the provided PTX was compiled with an unsupported toolchain."
    JIT_COMPILATION_DISABLED = 223 c"PTX JIT compilation was disabled"
    UNSUPPORTED_EXEC_AFFINITY = 224 c"the provided execution affinity is not supported"
    UNSUPPORTED_DEVSIDE_SYNC = 225 c"the provided PTX contains unsupported call to cudaDeviceSynchronize"
    CONTAINED = 226 c"contained error encountered on the device"
    INVALID_SOURCE = 300 c"device kernel image is invalid"
    FILE_NOT_FOUND = 301 c"file not found"
    SHARED_OBJECT_SYMBOL_NOT_FOUND = 302 c"shared object symbol not found"
    SHARED_OBJECT_INIT_FAILED = 303 c"shared object initialization failed"
    OPERATING_SYSTEM = 304 c"OS call failed or operation not supported on this OS"
    INVALID_HANDLE = 400 c"invalid resource handle"
    ILLEGAL_STATE = 401 c"the operation cannot be performed in the present state"
    LOSSY_QUERY = 402 c"attempted introspection would be semantically lossy"
    NOT_FOUND = 500 c"named symbol not found"
    NOT_READY = 600 c"device not ready"
    ILLEGAL_ADDRESS = 700 c"an illegal memory access was encountered"
    LAUNCH_OUT_OF_RESOURCES = 701 c"too many resources requested for launch"
    LAUNCH_TIMEOUT = 702 c"the launch timed out and was terminated"
    LAUNCH_INCOMPATIBLE_TEXTURING = 703 c"launch uses incompatible texturing mode"
    PEER_ACCESS_ALREADY_ENABLED = 704 c"peer access is already enabled"
    PEER_ACCESS_NOT_ENABLED = 705 c"peer access has not been enabled"
    PRIMARY_CONTEXT_ACTIVE = 708 c"cannot set while device is active in this process"
    CONTEXT_IS_DESTROYED = 709 c"context is destroyed"
    ASSERT = 710 c"device-side assert triggered"
    TOO_MANY_PEERS = 711 c"peer mapping resources exhausted"
    HOST_MEMORY_ALREADY_REGISTERED = 712 c"part or all of the requested memory range is already mapped"
    HOST_MEMORY_NOT_REGISTERED = 713 c"pointer does not correspond to a registered memory region"
    HARDWARE_STACK_ERROR = 714 c"hardware stack error"
    ILLEGAL_INSTRUCTION = 715 c"an illegal instruction was encountered"
    MISALIGNED_ADDRESS = 716 c"misaligned address"
    INVALID_ADDRESS_SPACE = 717 c"operation not supported on global/shared address space"
    INVALID_PC = 718 c"invalid program counter"
    LAUNCH_FAILED = 719 c"unspecified launch failure"
    COOPERATIVE_LAUNCH_TOO_LARGE = 720 c"too many blocks in cooperative launch"
    TENSOR_MEMORY_LEAK = 721 c"a kernel exited with tensor memory still allocated"
    NOT_PERMITTED = 800 c"operation not permitted"
    NOT_SUPPORTED = 801 c"operation not supported"
    SYSTEM_NOT_READY = 802 c"system not yet initialized"
    SYSTEM_DRIVER_MISMATCH = 803 c"system has unsupported display driver / cuda driver combination"
    COMPAT_NOT_SUPPORTED_ON_DEVICE = 804 c"forward compatibility was attempted on non supported HW"
    MPS_CONNECTION_FAILED = 805 c"MPS client failed to connect to the MPS control daemon or the MPS server"
    MPS_RPC_FAILURE = 806 c"the remote procedural call between the MPS server and the MPS client failed"
    MPS_SERVER_NOT_READY = 807 c"MPS server is not ready to accept new MPS client requests"
    MPS_MAX_CLIENTS_REACHED = 808 c"the hardware resources required to create MPS client have been exhausted"
    MPS_MAX_CONNECTIONS_REACHED = 809 c"the hardware resources required to support device connections have been exhausted"
    MPS_CLIENT_TERMINATED = 810 c"the MPS client has been terminated by the server"
    CDP_NOT_SUPPORTED = 811 c"is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it"
    CDP_VERSION_MISMATCH = 812 c"unsupported interaction between different versions of CUDA Dynamic Parallelism"
    STREAM_CAPTURE_UNSUPPORTED = 900 c"operation not permitted when stream is capturing"
    STREAM_CAPTURE_INVALIDATED = 901 c"operation failed due to a previous error during capture"
    STREAM_CAPTURE_MERGE = 902 c"operation would result in a merge of separate capture sequences"
    STREAM_CAPTURE_UNMATCHED = 903 c"capture was not ended in the same stream as it began"
    STREAM_CAPTURE_UNJOINED = 904 c"capturing stream has unjoined work"
    STREAM_CAPTURE_ISOLATION = 905 c"dependency created on uncaptured work in another stream"
    STREAM_CAPTURE_IMPLICIT = 906 c"operation would make the legacy stream depend on a capturing blocking stream"
    CAPTURED_EVENT = 907 c"operation not permitted on an event last recorded in a capturing stream"
    STREAM_CAPTURE_WRONG_THREAD = 908 c"attempt to terminate a thread-local capture sequence from another thread"
    TIMEOUT = 909 c"wait operation timed out"
    GRAPH_EXEC_UPDATE_FAILURE = 910 c"the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"
    EXTERNAL_DEVICE = 911 c"an async error has occured in external entity outside of CUDA"
    INVALID_CLUSTER_SIZE = 912 c"a kernel launch error has occurred due to cluster misconfiguration"
    FUNCTION_NOT_LOADED = 913 c"the function handle is not loaded when calling an API that requires a loaded function"
    INVALID_RESOURCE_TYPE = 914 c"one or more resources passed in are not valid resource types for the operation"
    INVALID_RESOURCE_CONFIGURATION = 915 c"one or more resources are insufficient or non-applicable for the operation"
    KEY_ROTATION = 916 c"an error happened during the key rotation sequence"
    STREAM_DETACHED = 917 c"the requested operation is not permitted because the stream is in a detached state"
    GRAPH_RECAPTURE_FAILURE = 918 c"graph recapture failed"
    FABRIC_NOT_READY = 919 c"fabric is not ready"
    UNKNOWN = 999 c"unknown error"
}

fn look_up(code: u32) -> Option<(&'static CStr, &'static CStr)> {
    CODES.iter().find(|entry| entry.0 == code).map(|entry| (entry.1, entry.2))
}

fn answer(text: Option<&'static CStr>, out: Out<*const c_char>) -> Result {
    out.set(text.map_or(std::ptr::null(), CStr::as_ptr))?;
    text.map(|_| ()).ok_or(Error::INVALID_VALUE)
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match look_up(self.0) {
            Some((name, text)) => write!(f, "{} ({})", name.to_string_lossy(), text.to_string_lossy()),
            None => write!(f, "CUDA error {}", self.0),
        }
    }
}

export! {
    fn cuGetErrorName(error: u32, name: Out<*const c_char>) {
        answer(look_up(error).map(|(name, _)| name), name)
    }

    fn cuGetErrorString(error: u32, text: Out<*const c_char>) {
        answer(look_up(error).map(|(_, text)| text), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_named() {
        assert!(CODES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(look_up(700).unwrap().0, c"CUDA_ERROR_ILLEGAL_ADDRESS");
        assert_eq!(Error::NOT_FOUND.to_string(), "CUDA_ERROR_NOT_FOUND (named symbol not found)");
    }
}
