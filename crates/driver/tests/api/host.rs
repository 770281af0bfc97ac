use cudarc::driver::sys::{self, CUresult::*};
use cudarc::driver::{LaunchConfig, PushKernelArg, result};

use crate::support::{add_one, answers, context};

#[test]
fn kernels_read_and_write_managed_memory() {
    let context = context();
    let stream = context.default_stream();
    let kernel = add_one(&context);
    // SAFETY: everything is written before it is read.
    let mut x = unsafe { context.alloc_unified::<f32>(8, true) }.unwrap();
    // SAFETY: as above.
    let mut y = unsafe { context.alloc_unified::<f32>(8, true) }.unwrap();
    x.as_mut_slice().unwrap().copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&mut y).arg(&x).arg(&7u32);
    // SAFETY: the parameters are those of the kernel.
    unsafe { launch.launch(LaunchConfig::for_num_elems(8)) }.unwrap();
    stream.synchronize().unwrap();
    assert_eq!(y.as_slice().unwrap(), [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 0.0]);
}

#[test]
fn managed_memory_is_copied_like_any_other() {
    let context = context();
    let stream = context.default_stream();
    // SAFETY: everything is written before it is read.
    let mut x = unsafe { context.alloc_unified::<u32>(3, true) }.unwrap();
    stream.memcpy_htod(&[7, 8, 9], &mut x).unwrap();
    assert_eq!(x.as_slice().unwrap(), [7, 8, 9]);
    let y = stream.clone_dtod(&x).unwrap();
    assert_eq!(stream.clone_dtoh(&y).unwrap(), [7, 8, 9]);
    stream.memset_zeros(&mut x).unwrap();
    assert_eq!(x.as_slice().unwrap(), [0, 0, 0]);
}

#[test]
fn pinned_memory() {
    let context = context();
    let stream = context.default_stream();
    // SAFETY: everything is written before it is read.
    let mut pinned = unsafe { context.alloc_pinned::<u32>(4) }.unwrap();
    pinned.as_mut_slice().unwrap().copy_from_slice(&[1, 2, 3, 4]);
    let x = stream.clone_htod(&pinned).unwrap();
    assert_eq!(stream.clone_dtoh(&x).unwrap(), [1, 2, 3, 4]);
}

/// A kernel may read and write pinned memory through its own address.
#[test]
fn kernels_reach_registered_memory() {
    let context = context();
    let stream = context.default_stream();
    let kernel = add_one(&context);
    let mut host = vec![1.0f32; 100];
    let pointer = host.as_mut_ptr().cast();
    let mut address = 0;
    // SAFETY: the vector outlives its registration.
    unsafe {
        answers(sys::cuMemHostRegister_v2(pointer, 400, 0), CUDA_SUCCESS);
        answers(sys::cuMemHostRegister_v2(pointer, 400, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        answers(sys::cuMemHostGetDevicePointer_v2(&mut address, pointer, 0), CUDA_SUCCESS);
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&address).arg(&address).arg(&50u32);
        launch.launch(LaunchConfig::for_num_elems(50)).unwrap();
        stream.synchronize().unwrap();
        answers(sys::cuMemHostUnregister(pointer), CUDA_SUCCESS);
        answers(sys::cuMemHostUnregister(pointer), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    }
    assert_eq!(host[..50], [2.0; 50]);
    assert_eq!(host[50..], [1.0; 50]);
}

#[test]
fn what_was_never_pinned_is_refused() {
    let _context = context();
    // SAFETY: the address is only looked up.
    assert!(unsafe { result::free_host(0x1000 as _) }.is_err());
}
