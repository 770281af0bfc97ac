//! Functions: kernels of a module, with the attributes that a program may ask for and set.

use std::ffi::{CString, c_char, c_int, c_uint};
use std::sync::Arc;

use fusion_machine::{Kernel, KernelInfo, Loaded, Profile, Resources};

use crate::boundary::{Out, export};
use crate::driver::Session;
use crate::error::{Error, Result};
use crate::ffi::Handle;

/// `CUfunction_attribute`.
const MAX_DYNAMIC_SHARED: c_uint = 8;
const CARVEOUT: c_uint = 9;
const CLUSTER_MUST_BE_SET: c_uint = 10;
const CLUSTER_WIDTH: c_uint = 11;
const CLUSTER_DEPTH: c_uint = 13;
const NON_PORTABLE_CLUSTER: c_uint = 14;
const CLUSTER_POLICY: c_uint = 15;

#[derive(Debug)]
pub(crate) struct Function {
    module: Handle,
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) kernel: Kernel,
    pub(crate) info: KernelInfo,
    /// For C, as long as the module is loaded.
    name: CString,
    /// What the program opted in to; none while it did not.
    max_dynamic_shared: Option<u32>,
    carveout: c_int,
    /// It may have clusters of more blocks than every GPU has room for.
    pub(crate) non_portable: bool,
    cluster_policy: c_int,
}

impl Function {
    pub(crate) fn new(module: Handle, loaded: Arc<Loaded>, kernel: Kernel) -> Self {
        let info = loaded.info(kernel);
        let name = CString::new(info.name.as_str()).unwrap_or_default();
        Self {
            module,
            loaded,
            kernel,
            info,
            name,
            max_dynamic_shared: None,
            carveout: -1,
            non_portable: false,
            cluster_policy: 0,
        }
    }

    /// Dynamic shared memory that a launch may ask for, in bytes.
    pub(crate) fn max_dynamic_shared(&self, profile: &Profile) -> u32 {
        // A kernel that needs more than a block has by default has opted in by that.
        let fixed = self.info.static_shared;
        let room =
            if fixed > profile.shared_per_block { profile.shared_per_block_optin } else { profile.shared_per_block };
        self.max_dynamic_shared.unwrap_or_else(|| room.saturating_sub(fixed))
    }

    /// Blocks that a cluster of it may have.
    pub(crate) fn max_cluster(&self, profile: &Profile) -> u32 {
        let (portable, most) = profile.cluster_sizes();
        let device = if self.non_portable { most } else { portable };
        device.min(self.info.max_cluster.unwrap_or(u32::MAX))
    }

    /// What its threads take, by the assembler where there is one. To find out may take a moment.
    pub(crate) fn resources(&self) -> Resources {
        self.loaded.resources(self.kernel)
    }

    /// Threads that a block may have: what the kernel was compiled for, and what its registers leave room for where they are known.
    pub(crate) fn max_threads(&self) -> u32 {
        self.info.max_threads.clamp(1, Profile::MAX_THREADS_PER_BLOCK).min(self.resources().max_threads())
    }

    fn attribute(&self, profile: &Profile, attribute: c_uint) -> Result<c_int> {
        let value = match attribute {
            0 => self.max_threads().into(),
            1 => self.info.static_shared.into(),
            2 => self.info.constant_bytes,
            3 => self.resources().local_bytes.into(),
            4 => self.resources().registers.into(),
            5 => (self.info.ptx_version.0 * 10 + self.info.ptx_version.1).into(),
            6 => (profile.compute.0 * 10 + profile.compute.1).into(),
            MAX_DYNAMIC_SHARED => self.max_dynamic_shared(profile).into(),
            CARVEOUT => return Ok(self.carveout),
            // Whether loads are cached in L1 by default.
            7 => 0,
            CLUSTER_MUST_BE_SET => u64::from(self.info.explicit_cluster || self.info.required_cluster.is_some()),
            CLUSTER_WIDTH..=CLUSTER_DEPTH => {
                self.info.required_cluster.map_or(0, |dims| dims[(attribute - CLUSTER_WIDTH) as usize]).into()
            }
            NON_PORTABLE_CLUSTER => self.non_portable.into(),
            CLUSTER_POLICY => return Ok(self.cluster_policy),
            _ => return Err(Error::INVALID_VALUE),
        };
        Ok(c_int::try_from(value).unwrap_or(c_int::MAX))
    }

    fn set_attribute(&mut self, profile: &Profile, attribute: c_uint, value: c_int) -> Result {
        match attribute {
            MAX_DYNAMIC_SHARED => {
                let room = profile.shared_per_block_optin.saturating_sub(self.info.static_shared);
                let value = u32::try_from(value).ok().filter(|v| *v <= room).ok_or(Error::INVALID_VALUE)?;
                self.max_dynamic_shared = Some(value);
            }
            CARVEOUT if (-1..=100).contains(&value) => self.carveout = value,
            NON_PORTABLE_CLUSTER if (0..=1).contains(&value) => self.non_portable = value == 1,
            CLUSTER_POLICY if (0..=2).contains(&value) => self.cluster_policy = value,
            _ => return Err(Error::INVALID_VALUE),
        }
        Ok(())
    }
}

fn param_info(function: Handle, index: usize, offset: Out<usize>, size: Out<usize>) -> Result {
    let session = Session::begin_regardless()?;
    let function = session.state.functions.get(function)?;
    let param = function.info.params.get(index).ok_or(Error::INVALID_VALUE)?;
    offset.set(param.offset as usize)?;
    size.set_if_wanted(param.size as usize);
    Ok(())
}

fn param_count(function: Handle, count: Out<usize>) -> Result {
    count.set(Session::begin_regardless()?.state.functions.get(function)?.info.params.len())
}

fn name(out: Out<*const c_char>, function: Handle) -> Result {
    out.set(Session::begin_regardless()?.state.functions.get(function)?.name.as_ptr())
}

fn get_attribute(value: Out<c_int>, attribute: c_uint, function: Handle) -> Result {
    let session = Session::begin()?;
    let profile = session.driver.machine.profile();
    value.set(session.state.functions.get(function)?.attribute(profile, attribute)?)
}

fn set_attribute(attribute: c_uint, value: c_int, function: Handle) -> Result {
    let mut session = Session::begin()?;
    let profile = session.driver.machine.profile();
    session.state.functions.get_mut(function)?.set_attribute(profile, attribute, value)
}

/// A preference of the cache, which the machine takes note of and nothing more.
fn prefer(function: Handle, config: c_uint, last: c_uint) -> Result {
    Session::begin()?.state.functions.get(function)?;
    if config > last { Err(Error::INVALID_VALUE) } else { Ok(()) }
}

export! {
    fn cuFuncGetAttribute(value: Out<c_int>, attribute: c_uint, function: Handle) {
        get_attribute(value, attribute, function)
    }

    fn cuFuncSetAttribute(function: Handle, attribute: c_uint, value: c_int) {
        set_attribute(attribute, value, function)
    }

    fn cuFuncSetCacheConfig(function: Handle, config: c_uint) {
        prefer(function, config, 3)
    }

    fn cuFuncSetSharedMemConfig(function: Handle, config: c_uint) {
        prefer(function, config, 2)
    }

    fn cuFuncGetName(out: Out<*const c_char>, function: Handle) {
        name(out, function)
    }

    fn cuFuncGetModule(module: Out<Handle>, function: Handle) {
        module.set(Session::begin_regardless()?.state.functions.get(function)?.module)
    }

    fn cuFuncGetParamInfo(function: Handle, index: usize, offset: Out<usize>, size: Out<usize>) {
        param_info(function, index, offset, size)
    }

    fn cuFuncGetParamCount(function: Handle, count: Out<usize>) {
        param_count(function, count)
    }

    fn cuFuncIsLoaded(state: Out<c_int>, function: Handle) {
        Session::begin_regardless()?.state.functions.get(function)?;
        // CU_FUNCTION_LOADING_STATE_LOADED
        state.set(1)
    }

    fn cuFuncLoad(function: Handle) {
        Session::begin()?.state.functions.get(function).map(|_| ())
    }

    fn cuKernelGetFunction(function: Out<Handle>, kernel: Handle) {
        Session::begin()?.state.functions.get(kernel)?;
        function.set(kernel)
    }

    fn cuKernelGetLibrary(library: Out<Handle>, kernel: Handle) {
        library.set(Session::begin_regardless()?.state.functions.get(kernel)?.module)
    }

    fn cuKernelGetName(out: Out<*const c_char>, kernel: Handle) {
        name(out, kernel)
    }

    fn cuKernelGetParamInfo(kernel: Handle, index: usize, offset: Out<usize>, size: Out<usize>) {
        param_info(kernel, index, offset, size)
    }

    fn cuKernelGetParamCount(kernel: Handle, count: Out<usize>) {
        param_count(kernel, count)
    }

    fn cuKernelGetAttribute(value: Out<c_int>, attribute: c_uint, kernel: Handle, _device: c_int) {
        get_attribute(value, attribute, kernel)
    }

    fn cuKernelSetAttribute(attribute: c_uint, value: c_int, kernel: Handle, _device: c_int) {
        set_attribute(attribute, value, kernel)
    }

    fn cuKernelSetCacheConfig(kernel: Handle, config: c_uint, _device: c_int) {
        prefer(kernel, config, 3)
    }
}
