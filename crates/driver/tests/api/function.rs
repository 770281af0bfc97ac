use cudarc::driver::sys::CUfunction_attribute as Attribute;
use cudarc::driver::sys::CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
use cudarc::driver::{LaunchConfig, PushKernelArg};

use crate::support::{add_one, context, fails, module};

extern "C" fn no_shared_memory(_block_size: std::ffi::c_int) -> usize {
    0
}

#[test]
fn attributes() {
    let kernel = add_one(&context());
    assert_eq!(kernel.ptx_version().unwrap(), 70);
    assert_eq!(kernel.binary_version().unwrap(), 90);
    assert_eq!(kernel.shared_size_bytes().unwrap(), 0);
    assert_eq!(kernel.local_size_bytes().unwrap(), 0);
    assert_eq!(kernel.max_threads_per_block().unwrap(), 1024);
    assert!((1..=255).contains(&kernel.num_regs().unwrap()));
    let dynamic = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    assert_eq!(kernel.get_attribute(dynamic).unwrap(), 48 << 10);
}

#[test]
fn occupancy() {
    let kernel = add_one(&context());
    assert_eq!(kernel.occupancy_max_active_blocks_per_multiprocessor(256, 0, None).unwrap(), 8);
    assert_eq!(kernel.occupancy_max_active_blocks_per_multiprocessor(1024, 0, None).unwrap(), 2);
    let (grid, block) = kernel.occupancy_max_potential_block_size(no_shared_memory, 0, 0, None).unwrap();
    assert_eq!((grid, block), (2 * 132, 1024));
    let two_blocks = kernel.occupancy_available_dynamic_smem_per_block(2, 256).unwrap();
    assert_eq!(two_blocks, 113 << 10);
}

/// Sums `many` numbers from `x`, and holds them all before it begins.
fn holding(many: usize) -> String {
    let each = |line: &dyn Fn(usize) -> String| (0..many).map(line).collect::<String>();
    format!(
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 x) {{\n\
         .reg .f32 %f<{many}>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [x];\n{}bar.sync 0;\n{}st.global.f32 [%rd1], %f0;\nret;\n}}",
        each(&|i| format!("ld.global.f32 %f{i}, [%rd1+{}];\n", 4 * i)),
        each(&|i| format!("add.f32 %f0, %f0, %f{i};\n")),
    )
}

/// No compiler is open here, so that the number of registers is an estimate: it refuses no block of 1024 threads, and no cooperative
/// launch that fits with fewer registers.
#[test]
fn what_is_estimated_refuses_nothing() {
    let context = context();
    let kernel = module(&context, &holding(100)).load_function("k").unwrap();
    assert!(kernel.num_regs().unwrap() > 64);
    assert_eq!(kernel.max_threads_per_block().unwrap(), 1024);
    assert_eq!(kernel.occupancy_max_active_blocks_per_multiprocessor(1024, 0, None).unwrap(), 1);
    let stream = context.new_stream().unwrap();
    let mut x = stream.alloc_zeros::<f32>(100).unwrap();
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&mut x);
    let config = |blocks| LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (1024, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: `x` has the elements that the kernel reads and writes.
    unsafe {
        launch.launch(config(1)).unwrap();
        launch.launch_cooperative(config(2)).unwrap();
        fails(launch.launch_cooperative(config(2 * 132 + 1)), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    stream.synchronize().unwrap();
}
