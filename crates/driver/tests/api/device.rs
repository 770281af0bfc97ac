use cudarc::driver::{result, sys::CUdevice_attribute as Attribute};

use crate::support::context;

#[test]
fn the_device_says_what_it_is() {
    let context = context();
    assert_eq!(result::device::get_count().unwrap(), 1);
    assert_eq!(context.name().unwrap(), "Emulated H200");
    assert_eq!(context.compute_capability().unwrap(), (9, 0));
    assert!(context.total_mem().unwrap() > 140_000_000_000);
    assert_eq!(context.uuid().unwrap().bytes, context.uuid().unwrap().bytes);
}

#[test]
fn attributes() {
    let context = context();
    for (attribute, expect) in [
        (Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132),
        (Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024),
        (Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32),
        (Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10),
        (Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 << 10),
        (Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1),
        (Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1),
    ] {
        assert_eq!(context.attribute(attribute).unwrap(), expect, "{attribute:?}");
    }
}

#[test]
fn there_is_no_second_device() {
    context();
    assert!(cudarc::driver::CudaContext::new(1).is_err());
}
