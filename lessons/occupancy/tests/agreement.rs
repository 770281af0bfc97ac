//! The calculator agrees with the driver: a real GPU's where there is one, the emulated one's elsewhere.

#![allow(clippy::unwrap_used)]

use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as MAX_DYNAMIC_SHARED;
use fusion_course::Source;
use fusion_device::{Choice, Device};
use fusion_machine::occupancy::Block;

#[test]
fn the_calculator_agrees_with_the_driver() {
    let device = Device::open(Choice::Auto).unwrap_or_else(|error| panic!("{error}"));
    let toolchain = fusion_toolchain::find().unwrap_or_else(|error| panic!("{error}"));
    device.use_toolchain(&toolchain).unwrap_or_else(|error| panic!("{error}"));
    let text = include_str!("../src/kernels.cu").to_owned();
    let source = Source { path: "lessons/occupancy/src/kernels.cu".to_owned(), text };
    let module = fusion_baseline::load(&device, &source).unwrap_or_else(|error| panic!("{error}"));
    let limits = device.properties.limits;
    let mut answers = std::collections::BTreeSet::new();
    for name in ["add_gelu_x1", "add_gelu_x2", "add_gelu_x4", "add_gelu_x8", "add_gelu_x8_bounded"] {
        let kernel = module.load_function(name).unwrap();
        let registers = kernel.num_regs().unwrap().unsigned_abs();
        let static_shared = kernel.shared_size_bytes().unwrap().unsigned_abs();
        kernel.set_attribute(MAX_DYNAMIC_SHARED, limits.shared_per_block as i32).unwrap();
        for threads in [1, 32, 33, 64, 96, 128, 160, 224, 256] {
            for dynamic in (0..=limits.shared_per_block).step_by(1000).chain((1..=32).map(|n| limits.shared_for(n))) {
                let block = Block { threads, registers, shared: static_shared + dynamic };
                let ours = limits.occupancy(&block).blocks;
                let driver = kernel.occupancy_max_active_blocks_per_multiprocessor(threads, dynamic as usize, None);
                assert_eq!(Ok(ours), driver, "{}: {name}, {block:?}", device.properties.name);
                answers.insert(ours);
            }
        }
    }
    // The answers vary, or agreeing would say little.
    assert!(answers.len() > 8, "{answers:?}");
}
