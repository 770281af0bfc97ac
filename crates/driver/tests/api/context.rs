use cudarc::driver::sys::{self, CUlimit, CUresult::*};
use cudarc::driver::{CudaContext, result};

use crate::support::{WRONG, answers, context, fails, module, own_context};

#[test]
fn limits_and_cache_configuration_are_remembered() {
    let context = own_context();
    let stack = context.get_limit(CUlimit::CU_LIMIT_STACK_SIZE).unwrap();
    context.set_limit(CUlimit::CU_LIMIT_STACK_SIZE, 2 * stack).unwrap();
    assert_eq!(context.get_limit(CUlimit::CU_LIMIT_STACK_SIZE).unwrap(), 2 * stack);
    let shared = sys::CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED;
    context.set_cache_config(shared).unwrap();
    assert_eq!(context.get_cache_config().unwrap(), shared);
}

#[test]
fn a_stack_of_contexts_belongs_to_each_thread() {
    let context = context();
    let current = || result::ctx::get_current().unwrap();
    let outer = current();
    let own = own_context();
    assert_eq!(current(), Some(own.cu_ctx()));
    std::thread::spawn(|| assert_eq!(result::ctx::get_current().unwrap(), None)).join().unwrap();
    context.bind_to_thread().unwrap();
    assert_eq!(current(), outer);
}

#[test]
fn what_needs_a_context_says_so() {
    let _context = context();
    std::thread::spawn(|| {
        let mut address = 0;
        // SAFETY: the pointer is valid.
        answers(unsafe { sys::cuMemAlloc_v2(&mut address, 16) }, CUDA_ERROR_INVALID_CONTEXT);
    })
    .join()
    .unwrap();
}

#[test]
fn stale_handles_are_refused() {
    let _context = context();
    // SAFETY: the handle is only looked up.
    unsafe {
        answers(sys::cuStreamSynchronize(0xdead0 as _), CUDA_ERROR_INVALID_HANDLE);
        answers(sys::cuEventDestroy_v2(0xdead0 as _), CUDA_ERROR_INVALID_HANDLE);
        answers(sys::cuModuleUnload(0xdead0 as _), CUDA_ERROR_INVALID_HANDLE);
        answers(sys::cuCtxSetCurrent(0xdead0 as _), CUDA_ERROR_INVALID_CONTEXT);
        answers(sys::cuMemFree_v2(0xdead0), CUDA_ERROR_INVALID_VALUE);
    }
}

/// A kernel's fault surfaces at the next call, whatever it is, stays, and is gone with the context.
#[test]
fn faults_stick_to_their_context() {
    let broken = own_context();
    let stream = broken.default_stream();
    let kernel = module(&broken, WRONG).load_function("stray").unwrap();
    let config = cudarc::driver::LaunchConfig::for_num_elems(1);
    // SAFETY: what the kernel does wrong is what is tested.
    unsafe { stream.launch_builder(&kernel).launch(config) }.unwrap();
    fails(stream.synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    // SAFETY: the pointer is valid.
    answers(unsafe { sys::cuMemAlloc_v2(&mut 0, 16) }, CUDA_ERROR_ILLEGAL_ADDRESS);
    // SAFETY: takes no pointers.
    answers(unsafe { sys::cuCtxSynchronize() }, CUDA_ERROR_ILLEGAL_ADDRESS);

    let other = own_context();
    let data = other.default_stream().clone_htod(&[1u32, 2]).unwrap();
    assert_eq!(other.default_stream().clone_dtoh(&data).unwrap(), [1, 2]);
    drop((kernel, stream, broken));
    CudaContext::new(0).unwrap().synchronize().unwrap();
}
