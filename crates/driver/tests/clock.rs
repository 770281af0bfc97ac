//! The modelled clock: a program of its own, whose tests take turns, because a process has one device and all share its time.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, clippy::unwrap_used)]

#[path = "api/support.rs"]
mod support;

use assert_approx_eq::assert_approx_eq;
use std::sync::Mutex;

use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use support::own_context;

static TURN: Mutex<()> = Mutex::new(());

#[test]
fn the_time_between_events_is_that_of_the_work() {
    let _turn = TURN.lock();
    let context = own_context();
    let stream = context.new_stream().unwrap();
    let x = stream.alloc_zeros::<u8>(64 << 20).unwrap();
    let mut y = stream.alloc_zeros::<u8>(64 << 20).unwrap();
    let record = || stream.record_event(Some(CU_EVENT_DEFAULT)).unwrap();
    let start = record();
    let nothing = record();
    stream.memcpy_dtod(&x, &mut y).unwrap();
    let one = record();
    for _ in 0..3 {
        stream.memcpy_dtod(&x, &mut y).unwrap();
    }
    let four = record();
    let event = start.elapsed_ms(&nothing).unwrap();
    assert_approx_eq!(event, fusion_machine::timing::EVENT_NS as f32 / 1e6, 1e-6);
    let first = start.elapsed_ms(&one).unwrap() - 2.0 * event;
    let all = start.elapsed_ms(&four).unwrap() - 3.0 * event;
    assert!(first > 0.0);
    assert_approx_eq!(all / first, 4.0, 1e-3);
}

/// Two streams share one device: their kernels take turns on it, and the clocks show it.
#[test]
fn streams_share_the_device() {
    let _turn = TURN.lock();
    let context = own_context();
    let (a, b) = (context.new_stream().unwrap(), context.new_stream().unwrap());
    let x = a.alloc_zeros::<u8>(16 << 20).unwrap();
    let mut y = a.alloc_zeros::<u8>(16 << 20).unwrap();
    let mut z = b.alloc_zeros::<u8>(16 << 20).unwrap();
    context.synchronize().unwrap();
    let start = a.record_event(Some(CU_EVENT_DEFAULT)).unwrap();
    a.memcpy_dtod(&x, &mut y).unwrap();
    let alone = a.record_event(Some(CU_EVENT_DEFAULT)).unwrap();
    b.memcpy_dtod(&x, &mut z).unwrap();
    let both = b.record_event(Some(CU_EVENT_DEFAULT)).unwrap();
    // The copies take turns, and an event is behind each.
    let event = fusion_machine::timing::EVENT_NS as f32 / 1e6;
    let one = start.elapsed_ms(&alone).unwrap() - event;
    let two = start.elapsed_ms(&both).unwrap() - event;
    assert!(two > 1.9 * one, "{two} {one}");
}
