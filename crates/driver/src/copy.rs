//! Copies in every direction, of lines, planes and boxes.

use fusion_machine::report::Moved;
use fusion_machine::report::kind::{Call, Init, Stray};
use fusion_machine::{AllocationKind, Fault, Footprint};

use crate::boundary::{In, Raw, export};
use crate::driver::{Driver, Session, State};
use crate::error::{Error, Result};
use crate::ffi::{DevicePtr, Handle, MEMORYTYPE_DEVICE, MEMORYTYPE_HOST, MEMORYTYPE_UNIFIED, Memcpy2D, Memcpy3D};
use crate::operation::Operation;
use crate::order::{Act, footprint};
use crate::report;

/// How many runs of unwritten bytes are counted.
const RUNS: u32 = 1 << 12;

/// Bytes from the host's memory that a call takes along and does not wait for (CUDA C++ programming guide: "memory copies from host to
/// device of a memory block of 64 KB or less" are asynchronous).
const STAGED: u64 = 64 << 10;

/// A copy of `depth` planes of `height` rows of `width` bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    to: Side,
    from: Side,
    width: usize,
    height: usize,
    depth: usize,
}

/// One end of a copy.
#[derive(Clone, Copy, Debug)]
struct Side {
    place: Place,
    /// Bytes from one row to the next, and from one plane to the next.
    pitch: usize,
    plane: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Host(usize),
    Device(u64),
}

impl Place {
    fn offset(self, bytes: usize) -> Self {
        match self {
            Self::Host(address) => Self::Host(address + bytes),
            Self::Device(address) => Self::Device(address + bytes as u64),
        }
    }

    fn address(self) -> u64 {
        match self {
            Self::Host(address) => address as u64,
            Self::Device(address) => address,
        }
    }
}

/// An end of a copy as the caller names it.
#[derive(Clone, Copy, Debug)]
enum Named {
    Host(usize),
    Device(DevicePtr),
    /// Whatever the address turns out to be.
    Unified(u64),
}

impl Copy {
    pub(crate) fn bytes(&self) -> u64 {
        (self.width * self.height * self.depth) as u64
    }

    pub(crate) fn route(&self) -> Moved {
        match (self.to.place, self.from.place) {
            (Place::Device(_), Place::Device(_)) => Moved::WithinDevice,
            (Place::Device(_), Place::Host(_)) => Moved::ToDevice,
            (Place::Host(_), Place::Device(_)) => Moved::ToHost,
            (Place::Host(_), Place::Host(_)) => Moved::WithinHost,
        }
    }

    /// What it is to others.
    pub(crate) fn act(&self) -> Act {
        match (self.to.place, self.from.place) {
            (Place::Device(_), Place::Device(_)) => Act::WithinDevice,
            (Place::Device(_), Place::Host(_)) => Act::ToDevice,
            (Place::Host(_), _) => Act::ToHost,
        }
    }

    /// What it reads and writes of memory that kernels may touch.
    pub(crate) fn footprint(&self, state: &State) -> Footprint {
        let rows = |side: Side| {
            let shared = match side.place {
                Place::Device(_) => true,
                Place::Host(address) => is_pinned(state, address),
            };
            let planes = if shared { 0..self.depth } else { 0..0 };
            let rows =
                planes.flat_map(move |plane| (0..self.height).map(move |row| plane * side.plane + row * side.pitch));
            rows.map(move |offset| (side.place.offset(offset).address(), self.width as u64))
        };
        footprint(rows(self.from), rows(self.to))
    }

    /// The same copy from a buffer of the driver's own, where it reads memory of the host that is not pinned: the program may do with that
    /// what it likes once the call is over. The buffer must live as long as the copy.
    pub(crate) fn staged(self, state: &State) -> (Self, Vec<u8>) {
        let Place::Host(base) = self.from.place else { return (self, Vec::new()) };
        if is_pinned(state, base) {
            return (self, Vec::new());
        }
        let mut buffer = Vec::with_capacity(self.width * self.height * self.depth);
        for row in (0..self.depth).flat_map(|plane| (0..self.height).map(move |row| (plane, row))) {
            let address = base + row.0 * self.from.plane + row.1 * self.from.pitch;
            // SAFETY: by the CUDA API's contract the caller's memory is readable for the length of the copy.
            buffer.extend_from_slice(unsafe { std::slice::from_raw_parts(address as *const u8, self.width) });
        }
        let place = Place::Host(buffer.as_ptr() as usize);
        let from = Side { place, pitch: self.width, plane: self.width * self.height };
        (Self { from, ..self }, buffer)
    }

    /// Whether the host, which asked for it, waits until it is done in any case: a copy to memory that is not pinned.
    pub(crate) fn returns_done(&self, state: &State) -> bool {
        matches!(self.to.place, Place::Host(address) if !is_pinned(state, address))
    }

    /// Whether the modelled host waits until it is done: memory that is not pinned goes through a buffer of the driver's, piece by piece.
    /// Little from the host has room there.
    pub(crate) fn keeps_host(&self, state: &State) -> bool {
        let much = self.bytes() > STAGED;
        let from = matches!(self.from.place, Place::Host(address) if much && !is_pinned(state, address));
        from || self.returns_done(state)
    }

    /// Advice about a copy to the host of bytes that nobody has written.
    pub(crate) fn unwritten(&self, driver: &Driver) -> Option<Fault> {
        let (Place::Host(_), Place::Device(address)) = (self.to.place, self.from.place) else { return None };
        // Of a rectangle, only one that lies in one piece: what is between the rows is nobody's.
        if self.from.pitch != self.width && self.height * self.depth > 1 {
            return None;
        }
        let (len, memory) = (self.bytes(), driver.machine.memory());
        let (first, _) = memory.unwritten(address, len)?;
        let (mut missing, mut runs, mut at) = (0, 0, 0);
        while let Some((skip, run)) = memory.unwritten(address + at, len - at).filter(|_| at < len) {
            (missing, at, runs) = (missing + run, at + skip + run, runs + 1);
            if runs == RUNS {
                break;
            }
        }
        let mut fault = Fault::new(Init::Copied { missing, at_least: runs == RUNS, first, len });
        fault.count = 1;
        fault.related.extend(driver.state().sites.related(address));
        Some(fault)
    }

    pub(crate) fn run(&self, driver: &Driver) -> Result {
        for plane in 0..self.depth {
            let (to, from) =
                (self.to.place.offset(plane * self.to.plane), self.from.place.offset(plane * self.from.plane));
            if self.to.pitch == self.width && self.from.pitch == self.width {
                line(driver, to, from, self.width * self.height)?;
                continue;
            }
            for row in 0..self.height {
                line(driver, to.offset(row * self.to.pitch), from.offset(row * self.from.pitch), self.width)?;
            }
        }
        Ok(())
    }
}

fn is_pinned(state: &State, address: usize) -> bool {
    state.host_blocks.range(..=address).next_back().is_some_and(|(_, block)| block.contains(address))
}

fn line(driver: &Driver, to: Place, from: Place, len: usize) -> Result {
    let memory = driver.machine.memory();
    let done = match (to, from) {
        (Place::Device(to), Place::Device(from)) => memory.copy(to, from, len as u64),
        (Place::Device(to), Place::Host(from)) => {
            // SAFETY: by the CUDA API's contract the caller's memory is readable for the length of the copy.
            memory.write(to, unsafe { std::slice::from_raw_parts(from as *const u8, len) })
        }
        (Place::Host(to), Place::Device(from)) => {
            // SAFETY: by the CUDA API's contract the caller's memory is writable for the length of the copy.
            memory.read(from, unsafe { std::slice::from_raw_parts_mut(to as *mut u8, len) })
        }
        (Place::Host(to), Place::Host(from)) => {
            // SAFETY: as for the other directions; overlapping is allowed by this function.
            unsafe { std::ptr::copy(from as *const u8, to as *mut u8, len) };
            Ok(())
        }
    };
    done.map_err(|error| report::refused(Call::from(error)))
}

fn refuse(stray: Stray) -> Error {
    report::refused(Call::Copy(stray))
}

/// Finds out where `len` bytes from an address lie, and refuses what no allocation covers.
fn resolve(driver: &Driver, named: Named, len: usize) -> Result<Place> {
    let address = match named {
        Named::Host(address) => address as u64,
        Named::Device(address) | Named::Unified(address) => address,
    };
    if address == 0 {
        return Err(refuse(Stray::Null));
    }
    let Some(allocation) = driver.machine.memory().find(address) else {
        return match named {
            Named::Device(_) => Err(refuse(Stray::Unmapped { address })),
            Named::Host(_) | Named::Unified(_) => Ok(Place::Host(address as usize)),
        };
    };
    let left = allocation.base + allocation.size - address;
    if len as u64 > left {
        let (size, end) = (allocation.size, allocation.end());
        return Err(refuse(Stray::PastEnd { address, len: len as u64, size, end }));
    }
    // The host's memory is the truth of what is mirrored.
    Ok(match allocation.kind {
        AllocationKind::Managed | AllocationKind::Pinned => Place::Host(address as usize),
        _ => Place::Device(address),
    })
}

/// Where the device memory lies that a memset is about: on the device, or mirrored on the host.
pub(crate) fn resolve_device(driver: &Driver, address: DevicePtr, len: usize) -> Result<Option<u64>> {
    Ok(match resolve(driver, Named::Device(address), len)? {
        Place::Device(address) => Some(address),
        Place::Host(_) => None,
    })
}

fn straight(driver: &Driver, to: Named, from: Named, len: usize) -> Result<Copy> {
    let side = |named| Ok(Side { place: resolve(driver, named, len)?, pitch: len, plane: len });
    Ok(Copy { to: side(to)?, from: side(from)?, width: len, height: 1, depth: 1 })
}

fn copy(to: Named, from: Named, len: usize) -> Result {
    let session = Session::begin()?;
    if len == 0 {
        return Ok(());
    }
    let copy = straight(session.driver, to, from, len)?;
    let stream = session.stream(0)?;
    session.submit_and_wait(stream, Operation::Copy(copy))
}

fn copy_async(to: Named, from: Named, len: usize, stream: Handle) -> Result {
    let session = Session::begin()?;
    let stream = session.stream(stream)?;
    if len == 0 {
        return Ok(());
    }
    let copy = straight(session.driver, to, from, len)?;
    session.submit(stream, Operation::Copy(copy))
}

/// One end of a 2D or 3D copy: its memory type, its addresses, where it begins, and its pitch and rows per plane.
struct Corner {
    kind: i32,
    host: Raw,
    device: DevicePtr,
    at: [usize; 3],
    pitch: usize,
    rows: usize,
}

impl Corner {
    fn side(self, driver: &Driver, [width, height, depth]: [usize; 3]) -> Result<Side> {
        let pitch = if self.pitch == 0 { width } else { self.pitch };
        let rows = if self.rows == 0 { height } else { self.rows };
        if pitch < width || rows < height {
            return Err(Error::INVALID_VALUE);
        }
        // From the first byte to the last, with every product checked.
        let reach = || {
            let plane = pitch.checked_mul(rows)?;
            let offset = self.at[0].checked_add(pitch.checked_mul(self.at[1])?)?;
            let offset = offset.checked_add(plane.checked_mul(self.at[2])?)?;
            let len = plane.checked_mul(depth - 1)?.checked_add(pitch.checked_mul(height - 1)?)?.checked_add(width)?;
            Some((plane, offset, len))
        };
        let (plane, offset, len) = reach().ok_or(Error::INVALID_VALUE)?;
        let named = match self.kind {
            MEMORYTYPE_HOST => Named::Host(self.host.0.wrapping_add(offset)),
            MEMORYTYPE_DEVICE => Named::Device(self.device.wrapping_add(offset as u64)),
            MEMORYTYPE_UNIFIED => Named::Unified(self.device.wrapping_add(offset as u64)),
            // Arrays do not exist here, so no handle of one can be valid.
            _ => return Err(Error::INVALID_HANDLE),
        };
        Ok(Side { place: resolve(driver, named, len)?, pitch, plane })
    }
}

/// The copy that a 3D descriptor means; none when it is empty.
pub(crate) fn boxed(driver: &Driver, c: &Memcpy3D) -> Result<Option<Copy>> {
    let extent = [c.width, c.height, c.depth];
    if extent.contains(&0) {
        return Ok(None);
    }
    let from = Corner {
        kind: c.src_type,
        host: c.src_host,
        device: c.src_device,
        at: [c.src_x, c.src_y, c.src_z],
        pitch: c.src_pitch,
        rows: c.src_height,
    };
    let to = Corner {
        kind: c.dst_type,
        host: c.dst_host,
        device: c.dst_device,
        at: [c.dst_x, c.dst_y, c.dst_z],
        pitch: c.dst_pitch,
        rows: c.dst_height,
    };
    let (to, from) = (to.side(driver, extent)?, from.side(driver, extent)?);
    Ok(Some(Copy { to, from, width: c.width, height: c.height, depth: c.depth }))
}

fn flat(c: Memcpy2D) -> Memcpy3D {
    Memcpy3D {
        src_x: c.src_x,
        src_y: c.src_y,
        src_z: 0,
        src_lod: 0,
        src_type: c.src_type,
        src_host: c.src_host,
        src_device: c.src_device,
        src_array: c.src_array,
        src_context: 0,
        src_pitch: c.src_pitch,
        src_height: 0,
        dst_x: c.dst_x,
        dst_y: c.dst_y,
        dst_z: 0,
        dst_lod: 0,
        dst_type: c.dst_type,
        dst_host: c.dst_host,
        dst_device: c.dst_device,
        dst_array: c.dst_array,
        dst_context: 0,
        dst_pitch: c.dst_pitch,
        dst_height: 0,
        width: c.width,
        height: c.height,
        depth: 1,
    }
}

fn copy_box(descriptor: Memcpy3D, stream: Option<Handle>) -> Result {
    let session = Session::begin()?;
    let resolved = session.stream(stream.unwrap_or(0))?;
    let Some(copy) = boxed(session.driver, &descriptor)? else {
        return Ok(());
    };
    match stream {
        Some(_) => session.submit(resolved, Operation::Copy(copy)),
        None => session.submit_and_wait(resolved, Operation::Copy(copy)),
    }
}

export! {
    fn cuMemcpy(to: u64, from: u64, len: usize) {
        copy(Named::Unified(to), Named::Unified(from), len)
    }

    fn cuMemcpyAsync(to: u64, from: u64, len: usize, stream: Handle) {
        copy_async(Named::Unified(to), Named::Unified(from), len, stream)
    }

    fn cuMemcpyHtoD_v2(to: DevicePtr, from: Raw, len: usize) {
        copy(Named::Device(to), Named::Host(from.0), len)
    }

    fn cuMemcpyHtoDAsync_v2(to: DevicePtr, from: Raw, len: usize, stream: Handle) {
        copy_async(Named::Device(to), Named::Host(from.0), len, stream)
    }

    fn cuMemcpyDtoH_v2(to: Raw, from: DevicePtr, len: usize) {
        copy(Named::Host(to.0), Named::Device(from), len)
    }

    fn cuMemcpyDtoHAsync_v2(to: Raw, from: DevicePtr, len: usize, stream: Handle) {
        copy_async(Named::Host(to.0), Named::Device(from), len, stream)
    }

    fn cuMemcpyDtoD_v2(to: DevicePtr, from: DevicePtr, len: usize) {
        copy(Named::Device(to), Named::Device(from), len)
    }

    fn cuMemcpyDtoDAsync_v2(to: DevicePtr, from: DevicePtr, len: usize, stream: Handle) {
        copy_async(Named::Device(to), Named::Device(from), len, stream)
    }

    fn cuMemcpyPeer(to: DevicePtr, _to_context: Handle, from: DevicePtr, _from_context: Handle, len: usize) {
        copy(Named::Device(to), Named::Device(from), len)
    }

    fn cuMemcpyPeerAsync(
        to: DevicePtr,
        _to_context: Handle,
        from: DevicePtr,
        _from_context: Handle,
        len: usize,
        stream: Handle,
    ) {
        copy_async(Named::Device(to), Named::Device(from), len, stream)
    }

    fn cuMemcpy2D_v2(descriptor: In<Memcpy2D>) {
        copy_box(flat(descriptor.get()?), None)
    }

    fn cuMemcpy2DUnaligned_v2(descriptor: In<Memcpy2D>) {
        copy_box(flat(descriptor.get()?), None)
    }

    fn cuMemcpy2DAsync_v2(descriptor: In<Memcpy2D>, stream: Handle) {
        copy_box(flat(descriptor.get()?), Some(stream))
    }

    fn cuMemcpy3D_v2(descriptor: In<Memcpy3D>) {
        copy_box(descriptor.get()?, None)
    }

    fn cuMemcpy3DAsync_v2(descriptor: In<Memcpy3D>, stream: Handle) {
        copy_box(descriptor.get()?, Some(stream))
    }

    fn cuMemcpy3DPeer(descriptor: In<Memcpy3D>) {
        copy_box(descriptor.get()?, None)
    }

    fn cuMemcpy3DPeerAsync(descriptor: In<Memcpy3D>, stream: Handle) {
        copy_box(descriptor.get()?, Some(stream))
    }
}
