use super::Limiter::{Blocks, Registers, SharedMemory, Threads};
use super::*;
use assert_approx_eq::assert_approx_eq;

fn of(id: &str, threads: u32, registers: u32, shared: u32) -> Occupancy {
    Limits::of(Profile::named(id).unwrap()).occupancy(&Block { threads, registers, shared })
}

#[track_caller]
fn check(id: &str, (threads, registers, shared): (u32, u32, u32), blocks: u32, limiters: &[Limiter]) {
    let found = of(id, threads, registers, shared);
    assert_eq!((found.blocks, &found.limiters().collect::<Vec<_>>()[..]), (blocks, limiters));
}

/// The example of the *CUDA C++ Best Practices Guide*, 11.1.1, whose SM has the same limits as an
/// H200's: 12 blocks, 75%; 4 blocks, 63%.
#[test]
fn best_practices_example() {
    check("h200", (128, 37, 0), 12, &[Registers]);
    check("h200", (320, 37, 0), 4, &[Registers]);
    assert_eq!(of("h200", 128, 37, 0).share(), 0.75);
    assert_eq!(of("h200", 320, 37, 0).share(), 0.625);
}

/// Resident threads of the Programming Guide's table: 7.5 has 1024, 8.6 and 12.0 have 1536, 9.0 has 2048.
#[test]
fn threads_limit_plain_kernels() {
    check("h200", (256, 24, 0), 8, &[Threads]);
    check("h200", (1024, 16, 0), 2, &[Threads]);
    check("rtx3070", (1024, 32, 0), 1, &[Threads]);
    check("rtx3070", (256, 32, 0), 6, &[Threads]);
    check("rtxpro6000", (768, 24, 0), 2, &[Threads]);
    check("t4", (256, 32, 0), 4, &[Threads]);
    // Half a warp takes a whole one.
    check("rtx3070", (100, 32, 0), 12, &[Threads]);
    // 1024 of 1536: a block that does not divide the limit wastes the rest.
    assert_eq!(of("rtx3070", 1024, 32, 0).share(), 2.0 / 3.0);
}

/// 65536 registers over 2048 threads are 32 each: a kernel of 32 is limited by both.
#[test]
fn what_runs_out_together_is_named_together() {
    check("h200", (256, 32, 0), 8, &[Threads, Registers]);
    check("t4", (256, 64, 0), 4, &[Threads, Registers]);
    check("h200", (64, 16, 0), 32, &[Threads, Blocks]);
    // Half of each SM's shared memory, less what is reserved, and 1024 threads.
    check("h200", (1024, 32, 113 << 10), 2, &[Threads, Registers, SharedMemory]);
}

#[test]
fn small_blocks_are_limited_in_number() {
    check("h200", (32, 16, 0), 32, &[Blocks]);
    check("t4", (32, 16, 0), 16, &[Blocks]);
    check("rtx3070", (32, 16, 0), 16, &[Blocks]);
    check("rtxpro6000", (32, 16, 0), 24, &[Blocks]);
    assert_eq!(of("h200", 32, 16, 0).share(), 0.5);
}

/// A warp's registers come in units of 256, so a thread's in units of 8: 33 cost what 40 do.
#[test]
fn registers_are_given_in_units() {
    assert_eq!(of("h200", 256, 33, 0).registers_taken, 8 * 40 * 32);
    // A partition has 16384 registers: 12 warps of 1280, 48 in the SM.
    check("h200", (256, 33, 0), 6, &[Registers]);
    check("h200", (256, 40, 0), 6, &[Registers]);
    // 41 cost 48: 10 warps a partition, 40 in the SM, 5 blocks.
    check("h200", (256, 41, 0), 5, &[Registers]);
    // 168 are 5376 a warp: 3 warps a partition, 12 in the SM. Without partitions it would be the same 12;
    // 200 are 6400: 2 a partition, 8 in the SM, where 65536 / 6400 would give 10.
    check("h200", (32, 168, 0), 12, &[Registers]);
    check("h200", (32, 200, 0), 8, &[Registers]);
    check("h200", (32, 255, 0), 8, &[Registers]);
}

#[test]
fn shared_memory_counts_what_the_system_reserves() {
    check("h200", (128, 32, 227 << 10), 1, &[SharedMemory]);
    check("h200", (128, 32, 113 << 10), 2, &[SharedMemory]);
    check("h200", (128, 32, (113 << 10) + 1), 1, &[SharedMemory]);
    // 7.5 reserves nothing: 64 KiB are two blocks of 32.
    check("t4", (128, 32, 32 << 10), 2, &[SharedMemory]);
    check("rtx3070", (128, 32, 49 << 10), 2, &[SharedMemory]);
    check("rtx3070", (128, 32, 50 << 10), 1, &[SharedMemory]);
    assert_eq!(of("h200", 128, 32, 100).shared_taken, 1152);
    assert_eq!(of("t4", 128, 32, 100).shared_taken, 256);
    // The count of blocks that a resource nobody uses has room for is no number.
    assert_eq!(of("t4", 128, 32, 0).room[2], (SharedMemory, u32::MAX));
}

#[test]
fn what_does_not_fit_gives_zero() {
    check("h200", (1025, 32, 0), 0, &[Threads]);
    check("h200", (1024, 128, 0), 0, &[Registers]);
    check("h200", (32, 32, (227 << 10) + 1), 0, &[SharedMemory]);
    check("h200", (u32::MAX, u32::MAX, u32::MAX), 0, &[Threads, Registers, SharedMemory]);
}

#[test]
fn shared_memory_can_lower_occupancy_to_any_number_of_blocks() {
    for profile in Profile::all() {
        let limits = Limits::of(profile);
        let most = limits.occupancy(&Block { threads: 128, registers: 32, shared: 0 }).blocks;
        for blocks in 1..=most {
            let shared = limits.shared_for(blocks);
            let found = limits.occupancy(&Block { threads: 128, registers: 32, shared });
            assert_eq!(found.blocks, blocks, "{}: {shared} bytes", profile.name);
        }
    }
}

#[test]
fn bytes_under_way() {
    // 2048 threads that wait for two floats each.
    assert_eq!(of("h200", 256, 32, 0).bytes_in_flight(8), 16 << 10);
    // 4.25 TB/s for 600 ns are 2.55 MB, over 132 SMs.
    let needed = bytes_needed(4.25e12, 600.0, 132);
    assert_approx_eq!(needed, 19318.0, 1.0);
}
