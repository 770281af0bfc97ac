//! Requests, sectors, wavefronts and bytes, as Nsight Compute counts them.

use fusion_machine::report::Traffic;

use crate::support::{Arg, Device, KERNELS};
use Arg::{I32, Pointer};

fn traffic(requests: u64, sectors: u64, bytes: u64) -> Traffic {
    Traffic { requests, sectors, bytes }
}

#[test]
fn a_warp_of_float4_is_one_request_of_sixteen_sectors() {
    let device = Device::new(KERNELS);
    let (a, out) = (device.buffer(1024), device.buffer(1024));
    let counters = device.launch("vectors", 1, 64, &[Pointer(a), Pointer(out)]).counters;
    assert_eq!(counters.global_load, traffic(2, 32, 1024));
    assert_eq!(counters.global_store, traffic(2, 32, 1024));
    assert_eq!((counters.dram_read_bytes, counters.dram_write_bytes), (1024, 1024));
}

#[test]
fn an_offset_by_one_element_costs_a_sector_a_warp() {
    let device = Device::new(KERNELS);
    let (x, q) = (device.buffer(4 * 65), device.buffer(64));
    let args = [Pointer(x + 4), Pointer(q), Arg::F32(1.0), Arg::F32(0.0), I32(64)];
    let counters = device.launch("quantize", 2, 32, &args).counters;
    assert_eq!(counters.global_load, traffic(2, 10, 256));
    assert_eq!(counters.global_store, traffic(2, 2, 64));
    assert_eq!((counters.dram_read_bytes, counters.dram_write_bytes), (9 * 32, 64));
}

#[test]
fn every_launch_counts_its_sectors_anew() {
    let device = Device::new(KERNELS);
    let (a, out) = (device.buffer(1024), device.buffer(1024));
    for _ in 0..2 {
        let counters = device.launch("vectors", 1, 64, &[Pointer(a), Pointer(out)]).counters;
        assert_eq!(counters.dram_read_bytes, 1024);
    }
}

#[test]
fn a_column_of_a_tile_is_a_bank_conflict_of_32() {
    let device = Device::new(KERNELS);
    let (a, out) = (device.floats(&[1.0; 1024]), device.buffer(4096));
    let mut launch = crate::support::config(1, 1);
    launch.block = [32, 32, 1];
    let counters = device.try_launch("transposed", launch, &[Pointer(a), Pointer(out)]).unwrap().counters;
    assert_eq!(counters.shared_store, traffic(32, 32, 4096));
    assert_eq!(counters.shared_load, traffic(32, 32 * 32, 4096));
    assert_eq!(counters.barriers, 32);
}
