use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult::*};
use cudarc::driver::{CudaFunction, DriverError, LaunchConfig, PushKernelArg};

use crate::support::{WRONG, add_one, answers, context, fails, module, own_context, raw_add_one};

const CONFIG: LaunchConfig = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };

#[test]
fn a_kernel_runs() {
    let context = context();
    let stream = context.default_stream();
    let kernel = add_one(&context);
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let dx = stream.clone_htod(&x).unwrap();
    let mut dy = stream.alloc_zeros::<f32>(x.len()).unwrap();
    let mut launch = stream.launch_builder(&kernel);
    let n = x.len() as u32;
    launch.arg(&mut dy).arg(&dx).arg(&n);
    // SAFETY: the parameters are those of the kernel.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }.unwrap();
    let y = stream.clone_dtoh(&dy).unwrap();
    assert!(x.iter().zip(&y).all(|(x, y)| x + 1.0 == *y));
}

fn launch(kernel: &CudaFunction, config: LaunchConfig) -> Result<(), DriverError> {
    let stream = context().default_stream();
    let (null, n) = (0u64, 0u32);
    let mut builder = stream.launch_builder(kernel);
    builder.arg(&null).arg(&null).arg(&n);
    // SAFETY: with n zero the kernel touches nothing.
    unsafe { builder.launch(config) }.map(|_| ())
}

#[test]
fn limits_of_a_launch() {
    let context = context();
    let kernel = add_one(&context);
    for (grid, block, shared, expect) in [
        ((0, 1, 1), (32, 1, 1), 0, CUDA_ERROR_INVALID_VALUE),
        ((1, 1, 1), (0, 1, 1), 0, CUDA_ERROR_INVALID_VALUE),
        ((1, 1, 1), (2048, 1, 1), 0, CUDA_ERROR_INVALID_VALUE),
        ((1, 1, 1), (1, 1, 65), 0, CUDA_ERROR_INVALID_VALUE),
        ((1, 65536, 1), (1, 1, 1), 0, CUDA_ERROR_INVALID_VALUE),
        ((1, 1, 1), (32, 1, 1), 300 << 10, CUDA_ERROR_INVALID_VALUE),
        ((1, 1, 1), (32, 1, 1), (48 << 10) + 1, CUDA_ERROR_INVALID_VALUE),
    ] {
        let config = LaunchConfig { grid_dim: grid, block_dim: block, shared_mem_bytes: shared };
        fails(launch(&kernel, config), expect);
    }
    launch(&kernel, LaunchConfig { shared_mem_bytes: 48 << 10, ..CONFIG }).unwrap();
    context.synchronize().unwrap();
}

#[test]
fn more_shared_memory_after_opting_in() {
    let context = context();
    let kernel = add_one(&context);
    let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    fails(kernel.set_attribute(attribute, 228 << 10), CUDA_ERROR_INVALID_VALUE);
    kernel.set_attribute(attribute, 227 << 10).unwrap();
    launch(&kernel, LaunchConfig { shared_mem_bytes: 227 << 10, ..CONFIG }).unwrap();
    context.synchronize().unwrap();
}

#[test]
fn launch_bounds_are_kept() {
    let context = context();
    let bounded = |directive: &str| {
        let ptx = format!(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() {directive} {{ ret; }}");
        module(&context, &ptx).load_function("k").unwrap()
    };
    let stream = context.default_stream();
    let run = |kernel: &CudaFunction, block_dim| {
        // SAFETY: the kernel does nothing.
        unsafe { stream.launch_builder(kernel).launch(LaunchConfig { block_dim, ..CONFIG }) }.map(|_| ())
    };
    let at_most = bounded(".maxntid 64, 1, 1");
    run(&at_most, (64, 1, 1)).unwrap();
    fails(run(&at_most, (65, 1, 1)), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    let exactly = bounded(".reqntid 32, 2, 1");
    run(&exactly, (32, 2, 1)).unwrap();
    fails(run(&exactly, (64, 1, 1)), CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn cooperative_launches_fit_the_device() {
    let context = context();
    let kernel = module(&context, ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }")
        .load_function("k")
        .unwrap();
    let stream = context.default_stream();
    // 132 multiprocessors hold 8 blocks of 256 threads each.
    for (blocks, fits) in [(132 * 8, true), (132 * 8 + 1, false)] {
        let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the kernel does nothing.
        let launched = unsafe { stream.launch_builder(&kernel).launch_cooperative(config) };
        assert_eq!(launched.map_err(|e| e.0).err(), (!fits).then_some(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE));
    }
}

#[test]
fn parameters_that_are_not_there_are_refused() {
    let _context = context();
    let function = raw_add_one();
    let n = 0u32;
    let value = (&raw const n).cast_mut().cast::<c_void>();
    let launch = |params: *mut *mut c_void, extra: *mut *mut c_void| {
        // SAFETY: what is wrong with the pointers is what is tested.
        unsafe { sys::cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), params, extra) }
    };
    answers(launch(null_mut(), null_mut()), CUDA_ERROR_INVALID_VALUE);
    for bad in [null_mut(), 8 as *mut c_void] {
        let mut params = [value, bad, value];
        answers(launch(params.as_mut_ptr(), null_mut()), CUDA_ERROR_INVALID_VALUE);
    }
    // Too few: the array ends where no memory is.
    answers(launch(usize::MAX as *mut *mut c_void, null_mut()), CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn parameters_in_one_buffer() {
    let _context = context();
    // CU_LAUNCH_PARAM_BUFFER_POINTER and CU_LAUNCH_PARAM_BUFFER_SIZE are numbers where pointers stand.
    let key = |key: usize| key as *mut c_void;
    let mut buffer = [0u8; 20];
    let mut size = buffer.len();
    let mut extra: [*mut c_void; 5] = [key(1), buffer.as_mut_ptr().cast(), key(2), (&raw mut size).cast(), null_mut()];
    // SAFETY: the buffer has the kernel's parameters, with n zero.
    let code =
        unsafe { sys::cuLaunchKernel(raw_add_one(), 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), extra.as_mut_ptr()) };
    answers(code, CUDA_SUCCESS);
}

#[test]
fn what_kernels_do_wrong_has_a_code_of_its_own() {
    for (name, expect) in [("stray", CUDA_ERROR_ILLEGAL_ADDRESS), ("odd", CUDA_ERROR_MISALIGNED_ADDRESS)] {
        let context = own_context();
        let stream = context.default_stream();
        let x = stream.alloc_zeros::<u32>(4).unwrap();
        let kernel = module(&context, WRONG).load_function(name).unwrap();
        let mut launch = stream.launch_builder(&kernel);
        if name == "odd" {
            launch.arg(&x);
        }
        // SAFETY: what the kernel does wrong is what is tested.
        unsafe { launch.launch(CONFIG) }.unwrap();
        fails(context.synchronize(), expect);
    }
}

/// With two streams cudarc records events behind every launch, which must not bring the error out.
#[test]
fn the_launch_itself_succeeds() {
    let context = own_context();
    let (stream, _other) = (context.new_stream().unwrap(), context.new_stream().unwrap());
    let x = stream.alloc_zeros::<u32>(4).unwrap();
    let kernel = module(&context, WRONG).load_function("odd").unwrap();
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&x);
    // SAFETY: what the kernel does wrong is what is tested.
    unsafe { launch.launch(CONFIG) }.unwrap();
    fails(stream.synchronize(), CUDA_ERROR_MISALIGNED_ADDRESS);
}

#[test]
fn many_threads_launch_at_once() {
    let context = context();
    let kernel = add_one(&context);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (context, kernel) = (context.clone(), kernel.clone());
            scope.spawn(move || {
                context.bind_to_thread().unwrap();
                let stream = context.new_stream().unwrap();
                let x = stream.clone_htod(&[thread as f32; 100]).unwrap();
                let mut y = stream.alloc_zeros::<f32>(100).unwrap();
                for _ in 0..10 {
                    let mut launch = stream.launch_builder(&kernel);
                    launch.arg(&mut y).arg(&x).arg(&100u32);
                    // SAFETY: the parameters are those of the kernel.
                    unsafe { launch.launch(LaunchConfig::for_num_elems(100)) }.unwrap();
                }
                assert_eq!(stream.clone_dtoh(&y).unwrap(), [thread as f32 + 1.0; 100]);
            });
        }
    });
}
