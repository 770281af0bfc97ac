//! `cudaDeviceProp`, whose layout CUDA 13 has changed (`driver_types.h`): programs of CUDA 12 call the function with `_v2`.

use std::ffi::{c_char, c_int};

use crate::boundary::{Ptr, driver, export};
use crate::device;
use crate::error::{Error, Result};

driver! {
    fn cuDeviceGetName(name: *mut c_char, len: c_int, device: c_int);
    fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: c_int);
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int);
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int);
}

/// A field, with the device attribute (`CUdevice_attribute`) that it shows.
#[derive(Clone, Copy)]
enum Field {
    Name,
    Uuid,
    TotalMemory,
    Int(c_int),
    /// An attribute in a `size_t`.
    Size(c_int),
    /// So many `int`s of zero: what there is none of, such as textures.
    Zeros(usize),
    /// Fields that CUDA 13 does not have any more.
    Old(c_int),
    OldZero,
}
use Field::{Int, Name, Old, OldZero, Size, TotalMemory, Uuid, Zeros};

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    // name, uuid, luid, luidDeviceNodeMask
    Name, Uuid, Zeros(2), Zeros(1),
    // totalGlobalMem, sharedMemPerBlock, regsPerBlock, warpSize, memPitch
    TotalMemory, Size(8), Int(12), Int(10), Size(11),
    // maxThreadsPerBlock, maxThreadsDim, maxGridSize, clockRate
    Int(1), Int(2), Int(3), Int(4), Int(5), Int(6), Int(7), Old(13),
    // totalConstMem, major, minor, textureAlignment, texturePitchAlignment
    Size(9), Int(75), Int(76), Size(14), Size(51),
    // deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode
    Old(15), Int(16), Old(17), Int(18), Int(19), Old(20),
    // maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, then two- and three-dimensional ones, surfaces
    Zeros(2), OldZero, Zeros(2 + 2 + 3 + 2 + 3 + 3 + 1 + 2 + 3 + 2), Zeros(1 + 2 + 3 + 2 + 3 + 1 + 2),
    // surfaceAlignment, concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver
    Size(30), Int(31), Int(32), Int(33), Int(34), Int(50), Int(35),
    // asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize
    Int(40), Int(41), Old(36), Int(37), Int(38), Int(108),
    // maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported
    Int(39), Int(78), Int(79), Int(80),
    // sharedMemPerMultiprocessor, regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID
    Size(81), Int(82), Int(83), Int(84), Int(85),
    // hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess
    Int(86), Old(87), Int(88), Int(89),
    // computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch
    Int(90), Int(91), Int(95), Old(96),
    // sharedMemPerBlockOptin, pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost
    Size(97), Int(100), Int(101),
    // maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize, reservedSharedMemPerBlock
    Int(106), Int(109), Size(111),
    // hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported, timelineSemaphoreInteropSupported
    Int(99), Int(112), Int(113), Int(114),
    // memoryPoolsSupported, gpuDirectRDMASupported and its two options, memoryPoolSupportedHandleTypes
    Int(115), Int(116), Int(117), Int(118), Int(119),
    // deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers
    Int(121), Int(125), Int(120), Int(129),
    // In CUDA 13 seven fields about NUMA and MPS, and what is reserved.
    Zeros(63),
];

/// The properties of the device as bytes of the structure.
fn properties(old: bool) -> Result<Vec<u8>> {
    let attribute = |attribute: c_int| {
        let mut value = 0;
        // An attribute that this driver does not know is one that the device does not have.
        let _ = cuDeviceGetAttribute(&raw mut value, attribute, 0);
        value
    };
    let mut bytes = Vec::new();
    for field in FIELDS {
        match *field {
            Name => {
                let mut name = [0u8; 256];
                cuDeviceGetName(name.as_mut_ptr().cast(), 256, 0)?;
                bytes.extend(name);
            }
            Uuid => {
                let mut uuid = [0; 16];
                cuDeviceGetUuid_v2(&raw mut uuid, 0)?;
                bytes.extend(uuid);
            }
            TotalMemory => {
                let mut total = 0usize;
                cuDeviceTotalMem_v2(&raw mut total, 0)?;
                size(&mut bytes, total);
            }
            Int(number) => bytes.extend(attribute(number).to_ne_bytes()),
            Size(number) => size(&mut bytes, usize::try_from(attribute(number)).unwrap_or(0)),
            Zeros(count) => bytes.resize(bytes.len() + count * size_of::<c_int>(), 0),
            Old(number) if old => bytes.extend(attribute(number).to_ne_bytes()),
            OldZero if old => bytes.extend([0; size_of::<c_int>()]),
            Old(_) | OldZero => {}
        }
    }
    Ok(bytes)
}

/// Adds a `size_t` at its alignment.
fn size(bytes: &mut Vec<u8>, value: usize) {
    bytes.resize(bytes.len().next_multiple_of(align_of::<usize>()), 0);
    bytes.extend(value.to_ne_bytes());
}

fn get(out: Ptr, ordinal: c_int, old: bool) -> Result {
    if out.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    if ordinal != 0 {
        return Err(Error::INVALID_DEVICE);
    }
    device::begin()?;
    let bytes = properties(old)?;
    // SAFETY: not null, so by the CUDA API's contract it points to the structure of the version that the function's name tells, and so
    // many bytes it has.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), out.cast(), bytes.len()) };
    Ok(())
}

export! {
    fn cudaGetDeviceProperties(out: Ptr, device: c_int) {
        get(out, device, false)
    }

    fn cudaGetDeviceProperties_v2(out: Ptr, device: c_int) {
        get(out, device, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `sizeof(cudaDeviceProp)`, less the padding at its end.
    #[test]
    fn sizes_are_those_of_the_headers() {
        for (old, expect) in [(false, 1008), (true, 1032)] {
            let mut end = 0usize;
            for field in FIELDS {
                end = match field {
                    Name => end + 256,
                    Uuid => end + 16,
                    TotalMemory | Size(_) => end.next_multiple_of(8) + 8,
                    Int(_) => end + 4,
                    Zeros(count) => end + 4 * count,
                    Old(_) | OldZero => end + if old { 4 } else { 0 },
                };
            }
            assert_eq!(end.next_multiple_of(8), expect);
        }
    }
}
