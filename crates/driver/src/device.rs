//! The device: which one it is, what it says of itself, and its primary context.

use std::ffi::{c_char, c_int, c_uint};

use fusion_machine::Profile;

use crate::attribute;
use crate::boundary::{Out, Raw, Text, export};
use crate::context::Context;
use crate::driver::{Driver, driver};
use crate::error::{Error, Result};
use crate::ffi::{DevProp, Device, Handle, Uuid};
use crate::report;

const PCI_BUS_ID: &str = "0000:00:00.0";

/// The primary context of the device: made when first retained, destroyed with its last user.
#[derive(Debug, Default)]
pub(crate) struct PrimaryContext {
    pub(crate) context: Option<Handle>,
    users: u32,
    flags: c_uint,
}

/// The profile that the environment asks for.
pub(crate) fn chosen_profile() -> Result<Profile> {
    fusion_profile::chosen().map_err(|why| {
        report::say(&why);
        Error::INVALID_VALUE
    })
}

fn check(device: Device) -> Result<&'static Driver> {
    let driver = driver()?;
    if device == 0 { Ok(driver) } else { Err(Error::INVALID_DEVICE) }
}

/// The same for the same profile, so that programs that remember devices find theirs again.
fn uuid(profile: &Profile) -> Uuid {
    let mut bytes = *b"fusion-emulated-";
    for (i, b) in profile.id.bytes().enumerate() {
        bytes[i % 16] ^= b;
    }
    Uuid(bytes)
}

export! {
    fn cuDeviceGet(device: Out<Device>, ordinal: c_int) {
        check(ordinal)?;
        device.set(ordinal)
    }

    fn cuDeviceGetCount(count: Out<c_int>) {
        driver()?;
        count.set(1)
    }

    fn cuDeviceGetName(name: Out<c_char>, len: c_int, device: Device) {
        let driver = check(device)?;
        name.set_text(&driver.machine.profile().name, usize::try_from(len).unwrap_or(0))
    }

    fn cuDeviceGetUuid(out: Out<Uuid>, device: Device) {
        out.set(uuid(check(device)?.machine.profile()))
    }

    fn cuDeviceGetUuid_v2(out: Out<Uuid>, device: Device) {
        out.set(uuid(check(device)?.machine.profile()))
    }

    fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: Device) {
        bytes.set(check(device)?.machine.memory().total() as usize)
    }

    fn cuDeviceGetAttribute(value: Out<c_int>, attribute: c_uint, device: Device) {
        let driver = check(device)?;
        value.set(attribute::device_attribute(driver.machine.profile(), attribute)?)
    }

    fn cuDeviceComputeCapability(major: Out<c_int>, minor: Out<c_int>, device: Device) {
        let compute = check(device)?.machine.profile().compute;
        major.set(compute.0 as c_int)?;
        minor.set(compute.1 as c_int)
    }

    fn cuDeviceGetProperties(properties: Out<DevProp>, device: Device) {
        let profile = check(device)?.machine.profile();
        properties.set(DevProp {
            max_threads_per_block: Profile::MAX_THREADS_PER_BLOCK as c_int,
            max_threads_dim: Profile::MAX_BLOCK.map(|n| n as c_int),
            max_grid_size: Profile::MAX_GRID.map(|n| n as c_int),
            shared_mem_per_block: profile.shared_per_block as c_int,
            total_constant_memory: Profile::CONSTANT_BYTES as c_int,
            simd_width: Profile::WARP_SIZE as c_int,
            mem_pitch: c_int::MAX,
            regs_per_block: attribute::REGISTERS_PER_BLOCK as c_int,
            clock_rate: profile.sm_clock_khz as c_int,
            texture_align: 512,
        })
    }

    fn cuDeviceGetPCIBusId(id: Out<c_char>, len: c_int, device: Device) {
        check(device)?;
        id.set_text(PCI_BUS_ID, usize::try_from(len).unwrap_or(0))
    }

    fn cuDeviceGetByPCIBusId(device: Out<Device>, id: Text) {
        driver()?;
        if id.get()? != PCI_BUS_ID {
            return Err(Error::INVALID_DEVICE);
        }
        device.set(0)
    }

    fn cuDeviceCanAccessPeer(can: Out<c_int>, device: Device, peer: Device) {
        check(device)?;
        check(peer)?;
        can.set(0)
    }

    fn cuDeviceGetExecAffinitySupport(supported: Out<c_int>, _kind: c_int, device: Device) {
        check(device)?;
        supported.set(0)
    }

    fn cuDeviceGraphMemTrim(device: Device) {
        check(device).map(|_| ())
    }

    fn cuDeviceGetGraphMemAttribute(device: Device, _attribute: c_int, value: Raw) {
        check(device)?;
        value.as_out::<u64>().set(0)
    }

    fn cuDevicePrimaryCtxRetain(context: Out<Handle>, device: Device) {
        let driver = check(device)?;
        context.required()?;
        let mut state = driver.state();
        let handle = match state.primary.context {
            Some(handle) => handle,
            None => {
                let flags = state.primary.flags;
                let handle = Context::create(&mut state, flags);
                state.primary.context = Some(handle);
                handle
            }
        };
        state.primary.users += 1;
        context.set(handle)
    }

    fn cuDevicePrimaryCtxRelease_v2(device: Device) {
        let driver = check(device)?;
        let mut state = driver.state();
        state.primary.users = state.primary.users.checked_sub(1).ok_or(Error::INVALID_CONTEXT)?;
        if state.primary.users == 0
            && let Some(handle) = state.primary.context.take()
        {
            drop(state);
            Context::destroy(driver, handle)?;
        }
        Ok(())
    }

    fn cuDevicePrimaryCtxReset_v2(device: Device) {
        let driver = check(device)?;
        let handle = {
            let mut state = driver.state();
            state.primary.users = 0;
            state.primary.context.take()
        };
        handle.map_or(Ok(()), |handle| Context::destroy(driver, handle))
    }

    fn cuDevicePrimaryCtxGetState(device: Device, flags: Out<c_uint>, active: Out<c_int>) {
        let state = check(device)?.state();
        flags.set(state.primary.flags)?;
        active.set(c_int::from(state.primary.context.is_some()))
    }

    fn cuDevicePrimaryCtxSetFlags_v2(device: Device, flags: c_uint) {
        let mut state = check(device)?.state();
        state.primary.flags = flags;
        Ok(())
    }
}
