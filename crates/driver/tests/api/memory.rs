use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult::*};
use cudarc::driver::{CudaSlice, DevicePtr};

use crate::support::{answers, context, fails, own_context};

#[test]
fn copies_in_every_direction() {
    let stream = context().default_stream();
    let x: CudaSlice<f64> = stream.clone_htod(&[1.0, 2.0, 3.0]).unwrap();
    let mut y = stream.alloc_zeros::<f64>(3).unwrap();
    assert_eq!(stream.clone_dtoh(&y).unwrap(), [0.0; 3]);
    stream.memcpy_dtod(&x, &mut y).unwrap();
    stream.memcpy_htod(&[9.0], &mut y.slice_mut(1..2)).unwrap();
    assert_eq!(stream.clone_dtoh(&y).unwrap(), [1.0, 9.0, 3.0]);
    let z = y.try_clone().unwrap();
    assert_eq!(stream.clone_dtoh(&z).unwrap(), [1.0, 9.0, 3.0]);
}

#[test]
fn nothing_is_allocated_for_nothing() {
    let _context = context();
    // SAFETY: the pointer is valid.
    answers(unsafe { sys::cuMemAlloc_v2(&mut 0, 0) }, CUDA_ERROR_INVALID_VALUE);
    // SAFETY: null is what is tested.
    answers(unsafe { sys::cuMemAlloc_v2(std::ptr::null_mut(), 4) }, CUDA_ERROR_INVALID_VALUE);
    // SAFETY: null is what is tested.
    answers(unsafe { sys::cuMemFree_v2(0) }, CUDA_SUCCESS);
}

#[test]
fn more_than_there_is_is_out_of_memory() {
    let context = context();
    let (free, total) = context.mem_get_info().unwrap();
    assert!(free <= total);
    // SAFETY: nothing reads what is not there.
    fails(unsafe { context.default_stream().alloc::<u8>(total + 1) }, CUDA_ERROR_OUT_OF_MEMORY);
}

/// Of whatever kind: more than this computer has is refused, and the process lives.
#[test]
fn more_than_the_host_has_is_out_of_memory() {
    let context = own_context();
    context.bind_to_thread().unwrap();
    let stream = context.new_stream().unwrap();
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap();
    let kilobytes = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB"));
    let host = kilobytes.unwrap().parse::<usize>().unwrap() << 10;
    let (_, total) = context.mem_get_info().unwrap();
    // A computer with more memory than the GPU gives it all.
    let most = host.min(total) + 1;
    let (mut address, mut pitch, mut pointer) = (0, 0, null_mut());
    // SAFETY: the pointers are to live variables, and nothing is read or written.
    unsafe {
        answers(sys::cuMemAlloc_v2(&mut address, most), CUDA_ERROR_OUT_OF_MEMORY);
        answers(sys::cuMemAllocPitch_v2(&mut address, &mut pitch, 512, most / 512 + 1, 4), CUDA_ERROR_OUT_OF_MEMORY);
        answers(sys::cuMemAllocAsync(&mut address, most, stream.cu_stream()), CUDA_ERROR_OUT_OF_MEMORY);
        answers(sys::cuMemAllocManaged(&mut address, most, 1), CUDA_ERROR_OUT_OF_MEMORY);
        answers(sys::cuMemAllocHost_v2(&mut pointer, most), CUDA_ERROR_OUT_OF_MEMORY);
        answers(sys::cuMemHostAlloc(&mut pointer, most, 0), CUDA_ERROR_OUT_OF_MEMORY);
    }
    // SAFETY: nothing is read.
    assert!(unsafe { stream.alloc::<u8>(1000) }.is_ok());
}

#[test]
fn memory_is_free_again_when_it_is_dropped() {
    let context = own_context();
    let stream = context.default_stream();
    let address = {
        let x = stream.alloc_zeros::<u8>(1000).unwrap();
        x.device_ptr(&stream).0
    };
    // SAFETY: what is freed twice is refused.
    answers(unsafe { sys::cuMemFree_v2(address) }, CUDA_ERROR_INVALID_VALUE);
    // SAFETY: what was freed is refused.
    answers(unsafe { sys::cuMemsetD8_v2(address, 0, 1) }, CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn copies_past_the_end_are_refused() {
    let context = context();
    let stream = context.default_stream();
    let x = stream.alloc_zeros::<u32>(4).unwrap();
    let address = x.device_ptr(&stream).0;
    let host = [0u32; 8];
    // SAFETY: the host's side is long enough.
    unsafe {
        answers(sys::cuMemcpyHtoD_v2(address, host.as_ptr().cast(), 20), CUDA_ERROR_INVALID_VALUE);
        answers(sys::cuMemcpyHtoD_v2(address + 8, host.as_ptr().cast(), 8), CUDA_SUCCESS);
        answers(sys::cuMemcpyHtoD_v2(address, std::ptr::null(), 8), CUDA_ERROR_INVALID_VALUE);
        answers(sys::cuMemcpyHtoD_v2(0, std::ptr::null(), 0), CUDA_SUCCESS);
    }
}

#[test]
fn memsets_of_every_width() {
    let context = context();
    let stream = context.default_stream();
    let x = stream.alloc_zeros::<u32>(6).unwrap();
    let address = x.device_ptr(&stream).0;
    // SAFETY: all inside the allocation.
    unsafe {
        answers(sys::cuMemsetD32_v2(address, 0x1234_5678, 6), CUDA_SUCCESS);
        answers(sys::cuMemsetD16_v2(address + 4, 0xabcd, 1), CUDA_SUCCESS);
        answers(sys::cuMemsetD8Async(address + 8, 0xee, 3, std::ptr::null_mut()), CUDA_SUCCESS);
        // The second and third columns of two rows of three.
        answers(sys::cuMemsetD2D32_v2(address + 16, 4, 7, 1, 2), CUDA_SUCCESS);
        answers(sys::cuMemsetD32_v2(address + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
        answers(sys::cuMemsetD32_v2(address, 0, 7), CUDA_ERROR_INVALID_VALUE);
    }
    assert_eq!(stream.clone_dtoh(&x).unwrap(), [0x1234_5678, 0x1234_abcd, 0x12ee_eeee, 0x1234_5678, 7, 7]);
}

#[test]
fn a_rectangle_is_copied_row_by_row() {
    let context = context();
    let stream = context.default_stream();
    let x = stream.clone_htod(&[1u8, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
    let mut host = [0u8; 4];
    let copy = sys::CUDA_MEMCPY2D {
        srcXInBytes: 1,
        srcY: 1,
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: std::ptr::null(),
        srcDevice: x.device_ptr(&stream).0,
        srcArray: std::ptr::null_mut(),
        srcPitch: 3,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: host.as_mut_ptr().cast(),
        dstDevice: 0,
        dstArray: std::ptr::null_mut(),
        dstPitch: 2,
        WidthInBytes: 2,
        Height: 2,
    };
    // SAFETY: the descriptor describes what is there.
    answers(unsafe { sys::cuMemcpy2D_v2(&copy) }, CUDA_SUCCESS);
    assert_eq!(host, [5, 6, 8, 9]);
}

#[test]
fn a_pool_counts_what_is_taken_from_it() {
    let context = own_context();
    let stream = context.default_stream();
    // SAFETY: all of it may be zero.
    let mut properties: sys::CUmemPoolProps = unsafe { std::mem::zeroed() };
    properties.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    let used = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
    // SAFETY: handles and addresses are those that the driver gave.
    unsafe {
        use cudarc::driver::result::mem_pool;
        let pool = mem_pool::create(&properties).unwrap();
        let address = mem_pool::alloc_async(pool, 4096, stream.cu_stream()).unwrap();
        let mut bytes = 0u64;
        mem_pool::get_attribute(pool, used, (&raw mut bytes).cast()).unwrap();
        assert_eq!(bytes, 4096);
        cudarc::driver::result::free_async(address, stream.cu_stream()).unwrap();
        mem_pool::get_attribute(pool, used, (&raw mut bytes).cast()).unwrap();
        assert_eq!(bytes, 0);
        mem_pool::destroy(pool).unwrap();
    }
}

#[test]
fn pointers_know_what_they_are() {
    let context = context();
    let stream = context.default_stream();
    let x = stream.alloc_zeros::<u32>(25).unwrap();
    let address = x.device_ptr(&stream).0;
    let (mut base, mut size, mut kind) = (0, 0, 0u32);
    let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    // SAFETY: the pointers are valid for what is returned.
    unsafe {
        answers(sys::cuMemGetAddressRange_v2(&mut base, &mut size, address + 50), CUDA_SUCCESS);
        answers(sys::cuPointerGetAttribute((&raw mut kind).cast(), attribute, address + 50), CUDA_SUCCESS);
        answers(sys::cuPointerGetAttribute((&raw mut kind).cast(), attribute, 8), CUDA_ERROR_INVALID_VALUE);
    }
    assert_eq!((base, size, kind), (address, 100, 2));
}
