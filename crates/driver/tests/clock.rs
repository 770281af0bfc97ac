//! The modelled clock: a program of its own, whose tests take turns, because a process has one device and all share its time.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, clippy::unwrap_used)]

#[path = "api/support.rs"]
mod support;

use assert_approx_eq::assert_approx_eq;
use std::sync::{Arc, Mutex};

use cudarc::driver::sys::CUevent_flags::{CU_EVENT_DEFAULT, CU_EVENT_DISABLE_TIMING};
use cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
use cudarc::driver::sys::{self, CUgraphInstantiate_flags_enum};
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, LaunchConfig, PushKernelArg};
use support::{module, own_context};

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

/// Each thread counts to `n`.
const COUNT: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry count(.param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<2>;
    ld.param.u32 %r0, [n];
    mov.u32 %r1, 0;
AGAIN:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p, %r1, %r0;
    @%p bra AGAIN;
    ret;
}";

/// What a copy of so many bytes takes is about what [`COUNT`] takes for this number.
const BYTES: usize = 8 << 20;
const TURNS: u32 = 20_000;

/// Two streams whose work is timed together, and memory for a copy.
struct Two {
    context: Arc<CudaContext>,
    a: Arc<CudaStream>,
    b: Arc<CudaStream>,
    count: CudaFunction,
    device: u64,
    pinned: usize,
    pageable: Vec<u8>,
}

impl Two {
    fn new() -> Self {
        let context = own_context();
        // SAFETY: the tests order their streams by events.
        unsafe { context.disable_event_tracking() };
        let (a, b) = (context.new_stream().unwrap(), context.new_stream().unwrap());
        let count = module(&context, COUNT).load_function("count").unwrap();
        let (mut device, mut pinned) = (0, std::ptr::null_mut());
        // SAFETY: both pointers are valid. Nobody frees the memory.
        unsafe {
            sys::cuMemAlloc_v2(&mut device, 3 * BYTES).result().unwrap();
            sys::cuMemAllocHost_v2(&mut pinned, 2 * BYTES).result().unwrap();
        }
        Self { context, a, b, count, device, pinned: pinned as usize, pageable: vec![0; BYTES] }
    }

    fn launch(&self, stream: &Arc<CudaStream>, blocks: u32) {
        let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
        let turns = if blocks > 1000 { TURNS / 1000 } else { TURNS };
        // SAFETY: as the kernel has it.
        unsafe { stream.launch_builder(&self.count).arg(&turns).launch(config) }.unwrap();
    }

    /// Each stream has a place of its own.
    fn to_device(&self, stream: &Arc<CudaStream>, from: usize) {
        let to = if Arc::ptr_eq(stream, &self.a) { self.device } else { self.device + 2 * BYTES as u64 };
        // SAFETY: both sides have that many bytes.
        unsafe { sys::cuMemcpyHtoDAsync_v2(to, from as *const _, BYTES, stream.cu_stream()) }.result().unwrap();
    }

    fn to_host(&self, stream: &CudaStream) {
        let (to, from) = (self.pinned + BYTES, self.device + BYTES as u64);
        // SAFETY: as above.
        unsafe { sys::cuMemcpyDtoHAsync_v2(to as *mut _, from, BYTES, stream.cu_stream()) }.result().unwrap();
    }

    fn pageable(&self) -> usize {
        self.pageable.as_ptr() as usize
    }

    /// What `b` begins now is behind all of `a`'s.
    fn behind(&self, b: &CudaStream, a: &CudaStream) {
        b.wait(&a.record_event(Some(CU_EVENT_DISABLE_TIMING)).unwrap()).unwrap();
    }

    /// Milliseconds from an event before the work of both streams to one behind it.
    fn time(&self, work: impl FnOnce(&Self)) -> f32 {
        self.context.synchronize().unwrap();
        let start = self.a.record_event(Some(CU_EVENT_DEFAULT)).unwrap();
        self.behind(&self.b, &self.a);
        work(self);
        self.behind(&self.a, &self.b);
        let end = self.a.record_event(Some(CU_EVENT_DEFAULT)).unwrap();
        start.elapsed_ms(&end).unwrap() - fusion_machine::timing::EVENT_NS as f32 / 1e6
    }
}

#[track_caller]
fn near(found: f32, expected: f32) {
    assert!((found / expected - 1.0).abs() < 0.05, "{found} {expected}");
}

#[test]
fn kernels_run_at_the_same_time_where_both_have_room() {
    let _turn = TURN.lock();
    let two = Two::new();
    let few = two.time(|it| it.launch(&it.a, 8));
    let beside = two.time(|it| [&it.a, &it.b].into_iter().for_each(|stream| it.launch(stream, 8)));
    near(beside, few);
    let in_turn = two.time(|it| (0..2).for_each(|_| it.launch(&it.a, 8)));
    near(in_turn, 2.0 * few);
    let ordered = two.time(|it| {
        it.launch(&it.a, 8);
        it.behind(&it.b, &it.a);
        it.launch(&it.b, 8);
    });
    near(ordered, 2.0 * few);
    // Blocks for all places that the device has.
    let all = two.time(|it| it.launch(&it.a, 2112));
    let beside = two.time(|it| [&it.a, &it.b].into_iter().for_each(|stream| it.launch(stream, 2112)));
    near(beside, 2.0 * all);
}

#[test]
fn copies_go_beside_kernels() {
    let _turn = TURN.lock();
    let two = Two::new();
    let kernel = two.time(|it| it.launch(&it.a, 8));
    let copy = two.time(|it| it.to_device(&it.a, it.pinned));
    let longer = kernel.max(copy);
    near(two.time(|it| (it.to_device(&it.a, it.pinned), it.launch(&it.b, 8)).1), longer);
    // There and back; twice there is one after another.
    near(two.time(|it| (it.to_device(&it.a, it.pinned), it.to_host(&it.b)).1), copy);
    near(two.time(|it| (it.to_device(&it.a, it.pinned), it.to_device(&it.b, it.pinned)).1), 2.0 * copy);
    // The host waits for a copy of memory that is not pinned, and asks for the kernel behind it.
    near(two.time(|it| (it.to_device(&it.a, it.pageable()), it.launch(&it.b, 8)).1), kernel + copy);
    near(two.time(|it| (it.launch(&it.b, 8), it.to_device(&it.a, it.pageable())).1), longer);
}

/// In pieces: each is copied while the one before is worked on.
#[test]
fn a_pipeline_takes_as_long_as_its_slower_half() {
    let _turn = TURN.lock();
    let two = Two::new();
    let kernel = two.time(|it| it.launch(&it.a, 8));
    let copy = two.time(|it| it.to_device(&it.a, it.pinned));
    let pieces = 6;
    let pipeline = two.time(|it| {
        for _ in 0..pieces {
            it.to_device(&it.a, it.pinned);
            it.behind(&it.b, &it.a);
            it.launch(&it.b, 8);
        }
    });
    near(pipeline, kernel.min(copy) + pieces as f32 * kernel.max(copy));
}

#[test]
fn branches_of_a_graph_are_like_streams() {
    let _turn = TURN.lock();
    let two = Two::new();
    let one = two.time(|it| it.launch(&it.a, 8));
    let graph = |join: bool| {
        two.a.begin_capture(CU_STREAM_CAPTURE_MODE_RELAXED).unwrap();
        two.behind(&two.b, &two.a);
        two.launch(&two.a, 8);
        if join {
            two.behind(&two.b, &two.a);
        }
        two.launch(&two.b, 8);
        two.behind(&two.a, &two.b);
        let none = CUgraphInstantiate_flags_enum::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        two.a.end_capture(none).unwrap().unwrap()
    };
    let [beside, ordered] = [graph(false), graph(true)];
    near(two.time(|_| beside.launch().unwrap()), one);
    near(two.time(|_| ordered.launch().unwrap()), 2.0 * one);
}
