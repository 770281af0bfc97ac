//! Where lanes, warps and blocks part, wait and meet.

use crate::support::{Arg, Device, KERNELS, config};
use Arg::{I32, Pointer};

#[test]
fn lanes_leave_a_loop_at_their_own_time() {
    let device = Device::new(KERNELS);
    let x: Vec<i32> = (1..=1000).collect();
    let steps = |mut v: i64| {
        let mut n = 0;
        while v > 1 {
            v = if v % 2 == 1 { 3 * v + 1 } else { v / 2 };
            n += 1;
        }
        n
    };
    let (px, out) = (device.ints(&x), device.buffer(4000));
    let report = device.launch("collatz", 8, 128, &[Pointer(px), Pointer(out), I32(1000)]);
    assert_eq!(device.read_ints(out, 1000), x.iter().map(|&v| steps(i64::from(v))).collect::<Vec<_>>());
    assert!(report.counters.divergent_branches > 0);
}

#[test]
fn a_switch_sends_every_lane_its_way() {
    let device = Device::new(KERNELS);
    let x: Vec<i32> = (0..32).map(|i| i % 9).collect();
    let (px, out) = (device.ints(&x), device.buffer(128));
    device.launch("select_case", 1, 32, &[Pointer(px), Pointer(out)]);
    let expected: Vec<i32> = (0..32)
        .map(|i| match i % 9 {
            0 => 10,
            1 => i * 3,
            2 => i - 7,
            3 => i ^ 21,
            4 => i << 2,
            5 => 99,
            6 => i * i,
            _ => -1,
        })
        .collect();
    assert_eq!(device.read_ints(out, 32), expected);
}

#[test]
fn votes_matches_and_reductions_agree() {
    let device = Device::new(KERNELS);
    let x: Vec<i32> = (0..64).map(|i| i * 7 % 23).collect();
    let (px, out) = (device.ints(&x), device.buffer(256));
    device.launch("votes", 1, 64, &[Pointer(px), Pointer(out)]);
    let expected: Vec<i32> = (0..64)
        .map(|t| {
            let warp = &x[t / 32 * 32..t / 32 * 32 + 32];
            let mask =
                |f: &dyn Fn(i32) -> bool| warp.iter().enumerate().fold(0u32, |m, (i, &v)| m | u32::from(f(v)) << i);
            let odd = mask(&|v| v % 2 == 1);
            let same = mask(&|v| v % 4 == x[t] % 4);
            let sum = warp.iter().sum::<i32>() as u32;
            let any = u32::from(warp.contains(&7));
            (odd ^ same.wrapping_mul(3) ^ sum.wrapping_mul(5) ^ any << 1 ^ 1 << 2) as i32
        })
        .collect();
    assert_eq!(device.read_ints(out, 64), expected);
}

#[test]
fn the_halves_of_a_warp_shuffle_by_themselves() {
    let device = Device::new(KERNELS);
    let out = device.buffer(128);
    device.launch("halves", 1, 32, &[Pointer(out)]);
    assert_eq!(device.read_ints(out, 32), (0..32).map(|t| if t < 16 { t ^ 1 } else { t ^ 2 }).collect::<Vec<_>>());
}

#[test]
fn lanes_of_a_warp_take_a_lock_one_after_the_other() {
    let device = Device::new(KERNELS);
    let (lock, count) = (device.ints(&[0]), device.ints(&[0]));
    device.launch("locked_count", 3, 64, &[Pointer(lock), Pointer(count)]);
    assert_eq!(device.read_ints(count, 1), [192]);
}

#[test]
fn the_blocks_of_a_grid_wait_for_each_other() {
    let device = Device::new(KERNELS);
    let x: Vec<i32> = (0..64 * 20).collect();
    let (px, partial, out, gate) = (device.ints(&x), device.buffer(80), device.ints(&[0]), device.ints(&[0]));
    let mut launch = config(20, 64);
    launch.cooperative = true;
    let args = [Pointer(px), Pointer(partial), Pointer(out), Pointer(gate)];
    device.try_launch("grid_sum", launch, &args).unwrap();
    assert_eq!(device.read_ints(out, 1), [x.iter().sum::<i32>()]);
}

#[test]
fn blocks_look_back_at_the_one_before() {
    let device = Device::new(KERNELS);
    let x: Vec<i32> = (0..50).collect();
    let (px, prefix, ready) = (device.ints(&x), device.buffer(200), device.ints(&[0; 50]));
    device.launch("look_back", 50, 32, &[Pointer(px), Pointer(prefix), Pointer(ready)]);
    let expected: Vec<i32> = (0..50).map(|b| (0..=b).sum()).collect();
    assert_eq!(device.read_ints(prefix, 50), expected);
}

#[test]
fn functions_call_themselves_and_through_pointers() {
    let device = Device::new(KERNELS);
    let out = device.buffer(256);
    device.launch("recurse", 1, 64, &[Pointer(out)]);
    let fibonacci = |n: i32| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
    assert_eq!(device.read_ints(out, 64), (0..64).map(|t| fibonacci(t % 12)).collect::<Vec<_>>());
    device.launch("indirect", 1, 64, &[Pointer(out)]);
    let expected: Vec<i32> = (0..64)
        .map(|t| match t % 3 {
            0 => 2 * t,
            1 => t * t,
            _ => -t,
        })
        .collect();
    assert_eq!(device.read_ints(out, 64), expected);
}

#[test]
fn a_warp_adds_once_for_those_who_are_there() {
    let device = Device::new(KERNELS);
    let x: Vec<i32> = (0..96).map(|i| i % 20).collect();
    let (px, count) = (device.ints(&x), device.ints(&[0, 0]));
    let report = device.launch("aggregated", 1, 96, &[Pointer(px), Pointer(count)]);
    assert_eq!(device.read_ints(count, 2), [x.iter().filter(|v| **v > 10).count() as i32, 0]);
    assert_eq!(report.counters.global_atomic.requests, 3);
}

#[test]
fn the_same_launch_counts_the_same_on_any_number_of_workers() {
    let run = |workers| {
        let options = fusion_machine::Options { workers, ..Default::default() };
        let device = Device::with(KERNELS, options);
        let x = device.floats(&(0..5000).map(|i| (i as f32).sin()).collect::<Vec<_>>());
        let out = device.buffer(80);
        let report = device.launch("block_sum", 20, 256, &[Pointer(x), Pointer(out), I32(5000)]);
        (report.counters, report.predicted_ns.to_bits(), device.read_ints(out, 20))
    };
    assert_eq!(run(1), run(3));
}
