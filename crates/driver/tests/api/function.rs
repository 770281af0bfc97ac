use cudarc::driver::sys::CUfunction_attribute as Attribute;

use crate::support::{add_one, context};

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
