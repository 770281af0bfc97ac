//! Kernels as NVRTC compiles them: memory of every kind, arithmetic, output.

use crate::support::{Arg, Device, KERNELS, config};
use Arg::{F32, I32, Pointer};

#[test]
fn blocks_sum_through_shuffles_and_shared_memory() {
    let device = Device::new(KERNELS);
    let n = 1000;
    let x = device.floats(&(0..n).map(|i| i as f32).collect::<Vec<_>>());
    let out = device.buffer(16);
    device.launch("block_sum", 4, 256, &[Pointer(x), Pointer(out), I32(n)]);
    let expected: Vec<f32> = (0..4).map(|b| (256 * b..(256 * b + 256).min(n)).sum::<i32>() as f32).collect();
    assert_eq!(device.read_floats(out, 4), expected);
}

#[test]
fn dynamic_shared_memory_begins_where_the_static_ends() {
    let device = Device::new(KERNELS);
    let x = device.ints(&(0..512).collect::<Vec<_>>());
    let out = device.buffer(8);
    let mut launch = config(2, 256);
    launch.dynamic_shared = 1024;
    let report = device.try_launch("tree_sum", launch, &[Pointer(x), Pointer(out)]).unwrap();
    assert_eq!(device.read_ints(out, 2), [(0..256).sum::<i32>(), (256..512).sum::<i32>()]);
    assert_eq!(report.shared_bytes, 1024);
}

#[test]
fn vectors_are_taken_apart_and_put_together() {
    let device = Device::new(KERNELS);
    let a = device.ints(&(0..256).collect::<Vec<_>>());
    let out = device.buffer(1024);
    device.launch("vectors", 1, 64, &[Pointer(a), Pointer(out)]);
    let expected: Vec<i32> = (0..64).flat_map(|i| [4 * i + 3, 4 * i + 2, 4 * i + 1, 4 * i]).collect();
    assert_eq!(device.read_ints(out, 256), expected);
}

#[test]
fn bytes_are_stored_and_their_neighbours_kept() {
    let device = Device::new(KERNELS);
    let n = 77;
    let x: Vec<f32> = (0..n).map(|i| (i as f32 - 38.0) * 7.5).collect();
    let q = device.ints(&[0x5a5a_5a5a; 20]);
    let px = device.floats(&x);
    device.launch("quantize", 3, 32, &[Pointer(px), Pointer(q), F32(0.75), F32(3.0), I32(n)]);
    let mut bytes = [0; 80];
    device.machine.memory().read(q, &mut bytes).unwrap();
    let expected = x.iter().map(|x| (x / 0.75 + 3.0).round_ties_even().clamp(-128.0, 127.0) as i8 as u8);
    assert!(bytes[..77].iter().copied().eq(expected));
    assert_eq!(bytes[77..], [0x5a; 3]);
}

#[test]
fn local_arrays_are_private_to_a_thread() {
    let device = Device::new(KERNELS);
    let out = device.buffer(4 * 64);
    let report = device.launch("local_array", 1, 64, &[Pointer(out), I32(3)]);
    let expected: Vec<i32> = (0..64)
        .map(|t| {
            (0..16)
                .map(|i| {
                    let j: i32 = (i * 3 + t) % 16;
                    (j * j + t) * i
                })
                .sum()
        })
        .collect();
    assert_eq!(device.read_ints(out, 64), expected);
    assert!(report.counters.local_load.requests > 0);
    assert_eq!(report.counters.global_load.requests, 0);
}

#[test]
fn parameters_and_constants_are_indexed_at_run_time() {
    let device = Device::new(KERNELS);
    let out = device.buffer(128);
    let weights = [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0];
    device.launch("weighted", 1, 32, &[Pointer(out), Arg::Floats(weights)]);
    let expected: Vec<f32> = (0..32).map(|t| weights[t % 8] * [1.0, 2.0, 4.0, 8.0][t % 4]).collect();
    assert_eq!(device.read_floats(out, 32), expected);
    assert_eq!(device.loaded.global("scale").map(|(_, size)| size), Some(16));
}

#[test]
fn asynchronous_copies_arrive() {
    let device = Device::new(KERNELS);
    let a = device.ints(&(0..256).collect::<Vec<_>>());
    let out = device.buffer(256);
    device.launch("async_copy", 1, 64, &[Pointer(a), Pointer(out)]);
    assert_eq!(device.read_ints(out, 64), (0..64).map(|t| 255 - t).collect::<Vec<_>>());
}

#[test]
fn a_generic_access_may_reach_two_memories_at_once() {
    let device = Device::new(KERNELS);
    let a = device.ints(&(0..32).collect::<Vec<_>>());
    let out = device.buffer(128);
    device.launch("mixed", 1, 32, &[Pointer(a), Pointer(out)]);
    let expected: Vec<i32> = (0..32).map(|t| if t % 2 == 1 { 100 + t } else { t }).collect();
    assert_eq!(device.read_ints(out, 32), expected);
    assert_eq!(device.read_ints(a, 32), (0..32).map(|t| -t).collect::<Vec<_>>());
}

#[test]
fn printf_formats_as_c_does_in_the_order_of_the_blocks() {
    let device = Device::new(KERNELS);
    let report = device.launch("hello", 2, 32, &[F32(1.005)]);
    let line = |b: u32, t: u32| format!("block {b} thread {t}:  1.00|ab    |0000beef|-5000000000|z|1.234568e+04|%\n");
    assert_eq!(report.output, line(0, 0) + &line(0, 1) + &line(1, 0) + &line(1, 1));
}

#[test]
fn atomics_count_every_thread() {
    let device = Device::new(KERNELS);
    let n = 10_000;
    let x = device.ints(&(0..n).map(|i| i * i % 7).collect::<Vec<_>>());
    let bins = device.ints(&[0; 7]);
    device.launch("histogram", 40, 256, &[Pointer(x), Pointer(bins), I32(n)]);
    let mut expected = vec![0; 7];
    (0..n).for_each(|i: i32| expected[(i * i % 7) as usize] += 1);
    assert_eq!(device.read_ints(bins, 7), expected);
}
