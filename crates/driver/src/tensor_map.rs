//! Tensor maps, which kernels give to copies of boxes (`cp.async.bulk.tensor`).
//!
//! A map is 128 bytes of the program's own memory, which the driver fills in. It belongs to no context: no handle, nothing to free.

use std::ffi::{c_int, c_uint};

use fusion_machine::tensor::{Element, Fill, Interleave, RANKS, Swizzle, TensorMap, WORDS};

use crate::boundary::{In, Raw, export};
use crate::driver::Session;
use crate::error::{Error, Result};
use crate::ffi::DevicePtr;
use crate::report;

/// What the address of a map is a multiple of.
const ALIGN: usize = 64;

/// The compute capability that has them first.
const SINCE: (u32, u32) = (9, 0);

/// Numbers that the manual has and this emulator has not: packed elements, and patterns of chunks larger than 16 bytes.
const PACKED: std::ops::RangeInclusive<c_uint> = 13..=15;
const LARGE_CHUNKS: std::ops::RangeInclusive<c_uint> = 4..=6;
/// `CUtensorMapL2promotion`: changes no result, and nothing that the clock knows.
const PROMOTIONS: c_uint = 4;

fn place(map: Raw) -> Result<Raw> {
    if map.is_null() || !map.0.is_multiple_of(ALIGN) { Err(Error::INVALID_VALUE) } else { Ok(map) }
}

fn write(map: Raw, tensor: &TensorMap) -> Result {
    if !tensor.is_valid() {
        return Err(Error::INVALID_VALUE);
    }
    map.as_out::<u64>().set_all(tensor.words())
}

/// A list of as many entries as the tensor has dimensions; `rest` stands for the others.
fn list<T: Copy, const N: usize>(values: In<T>, len: usize, rest: T) -> Result<[T; N]> {
    let values = values.get_all(len)?;
    Ok(std::array::from_fn(|at| values.get(at).copied().unwrap_or(rest)))
}

fn begin() -> Result<Session> {
    let session = Session::begin_regardless()?;
    if session.driver.machine.profile().compute < SINCE {
        return Err(Error::NOT_SUPPORTED);
    }
    Ok(session)
}

fn unsupported(what: &str) -> Result {
    report::unsupported(what);
    Err(Error::NOT_SUPPORTED)
}

export! {
    fn cuTensorMapEncodeTiled(
        map: Raw,
        element: c_uint,
        rank: c_uint,
        address: DevicePtr,
        dims: In<u64>,
        strides: In<u64>,
        box_dims: In<u32>,
        steps: In<u32>,
        interleave: c_uint,
        swizzle: c_uint,
        promotion: c_uint,
        fill: c_uint,
    ) {
        begin()?;
        let (map, rank) = (place(map)?, rank as usize);
        if !(1..=RANKS).contains(&rank) || promotion >= PROMOTIONS {
            return Err(Error::INVALID_VALUE);
        }
        if PACKED.contains(&element) {
            return unsupported("cuTensorMapEncodeTiled for packed elements");
        }
        if LARGE_CHUNKS.contains(&swizzle) {
            return unsupported("cuTensorMapEncodeTiled with a pattern of chunks larger than 16 bytes");
        }
        let tensor = TensorMap {
            element: Element::of(element.into()).ok_or(Error::INVALID_VALUE)?,
            rank,
            address,
            dims: list(dims, rank, 1)?,
            strides: list(strides, rank - 1, 0)?,
            box_dims: list(box_dims, rank, 1)?,
            steps: list(steps, rank, 1)?,
            interleave: Interleave::of(interleave.into()).ok_or(Error::INVALID_VALUE)?,
            swizzle: Swizzle::of(swizzle.into()).ok_or(Error::INVALID_VALUE)?,
            fill: Fill::of(fill.into()).ok_or(Error::INVALID_VALUE)?,
        };
        write(map, &tensor)
    }

    fn cuTensorMapEncodeIm2col(
        _map: Raw,
        _element: c_uint,
        _rank: c_uint,
        _address: DevicePtr,
        _dims: In<u64>,
        _strides: In<u64>,
        _lower: In<c_int>,
        _upper: In<c_int>,
        _channels: c_uint,
        _pixels: c_uint,
        _steps: In<u32>,
        _interleave: c_uint,
        _swizzle: c_uint,
        _promotion: c_uint,
        _fill: c_uint,
    ) {
        begin()?;
        unsupported("cuTensorMapEncodeIm2col")
    }

    fn cuTensorMapReplaceAddress(map: Raw, address: DevicePtr) {
        begin()?;
        let map = place(map)?;
        let words = map.as_in::<u64>().get_all(WORDS)?;
        let words: [u64; WORDS] = words.try_into().map_err(|_| Error::INVALID_VALUE)?;
        let tensor = TensorMap::of(&words).ok_or(Error::INVALID_VALUE)?;
        write(map, &TensorMap { address, ..tensor })
    }
}
