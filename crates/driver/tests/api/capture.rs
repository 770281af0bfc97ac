use cudarc::driver::sys::{self, CUevent_flags::*};
use cudarc::driver::sys::{
    CUgraphInstantiate_flags as Flags, CUresult::*, CUstreamCaptureMode::*, CUstreamCaptureStatus::*,
};

use crate::support::{answers, fails, own_context};

#[test]
fn captured_work_runs_when_the_graph_is_launched() {
    let context = own_context();
    // SAFETY: everything happens on one stream.
    unsafe { context.disable_event_tracking() };
    let stream = context.new_stream().unwrap();
    let mut x = stream.clone_htod(&[1u32; 4]).unwrap();
    stream.begin_capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    assert_eq!(stream.capture_status().unwrap(), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    stream.memset_zeros(&mut x).unwrap();
    let graph = stream.end_capture(Flags(0)).unwrap().unwrap();
    assert_eq!(stream.clone_dtoh(&x).unwrap(), [1; 4]);
    graph.upload().unwrap();
    for _ in 0..2 {
        graph.launch().unwrap();
        assert_eq!(stream.clone_dtoh(&x).unwrap(), [0; 4]);
        stream.memcpy_htod(&[2u32; 4], &mut x).unwrap();
    }
}

#[test]
fn waiting_for_captured_work_is_refused() {
    let context = own_context();
    let stream = context.new_stream().unwrap();
    let forbidden: [fn() -> sys::CUresult; 2] = [
        // SAFETY: takes no pointers.
        || unsafe { sys::cuCtxSynchronize() },
        // SAFETY: the pointer is valid.
        || unsafe { sys::cuMemAlloc_v2(&mut 0, 16) },
    ];
    for call in forbidden {
        stream.begin_capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
        answers(call(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        fails(stream.end_capture(Flags(0)).map(|_| ()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    stream.begin_capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    fails(stream.synchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    fails(stream.end_capture(Flags(0)).map(|_| ()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    stream.synchronize().unwrap();
}

#[test]
fn the_legacy_stream_is_not_captured_and_disturbs_captures() {
    let context = own_context();
    let legacy = context.default_stream();
    fails(legacy.begin_capture(CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    let mut stream = std::ptr::null_mut();
    let mut x = legacy.alloc_zeros::<u8>(4).unwrap();
    let mut graph = std::ptr::null_mut();
    // SAFETY: handles are those that the driver gave.
    unsafe {
        answers(sys::cuStreamCreate(&mut stream, 0), CUDA_SUCCESS);
        answers(sys::cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
        fails(legacy.memset_zeros(&mut x), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        answers(sys::cuStreamEndCapture(stream, &mut graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        answers(sys::cuStreamEndCapture(stream, &mut graph), CUDA_ERROR_ILLEGAL_STATE);
    }
}

/// A second stream joins the capture by waiting for an event, and must be joined again before its end.
#[test]
fn captures_span_streams() {
    let context = own_context();
    // SAFETY: the streams are ordered by events below.
    unsafe { context.disable_event_tracking() };
    let (first, second) = (context.new_stream().unwrap(), context.new_stream().unwrap());
    let mut x = first.clone_htod(&[1u8; 4]).unwrap();
    for join in [true, false] {
        first.begin_capture(CU_STREAM_CAPTURE_MODE_RELAXED).unwrap();
        let fork = first.record_event(Some(CU_EVENT_DISABLE_TIMING)).unwrap();
        second.wait(&fork).unwrap();
        second.memset_zeros(&mut x).unwrap();
        fails(fork.synchronize(), CUDA_ERROR_CAPTURED_EVENT);
        if join {
            first.wait(&second.record_event(Some(CU_EVENT_DISABLE_TIMING)).unwrap()).unwrap();
            let graph = first.end_capture(Flags(0)).unwrap().unwrap();
            graph.launch().unwrap();
            assert_eq!(first.clone_dtoh(&x).unwrap(), [0; 4]);
        } else {
            fails(first.end_capture(Flags(0)).map(|_| ()), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        }
    }
}

/// A stream whose work has been joined may be destroyed before the capture ends, and events too. That of one which has
/// not is missed at the end, and without the stream on which it began a capture cannot end.
#[test]
fn a_stream_is_destroyed_in_a_capture() {
    let context = own_context();
    // SAFETY: the streams are ordered by events below.
    unsafe { context.disable_event_tracking() };
    let first = context.new_stream().unwrap();
    let mut x = first.clone_htod(&[1u8; 4]).unwrap();
    for join in [true, false] {
        let second = context.new_stream().unwrap();
        // As strict as the global mode with this thread's calls, and with no other test's.
        first.begin_capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
        second.wait(&first.record_event(Some(CU_EVENT_DISABLE_TIMING)).unwrap()).unwrap();
        second.memset_zeros(&mut x).unwrap();
        if join {
            first.wait(&second.record_event(Some(CU_EVENT_DISABLE_TIMING)).unwrap()).unwrap();
        }
        drop(second);
        assert_eq!(first.capture_status().unwrap(), CU_STREAM_CAPTURE_STATUS_ACTIVE);
        let graph = first.end_capture(Flags(0));
        if join {
            graph.unwrap().unwrap().launch().unwrap();
            assert_eq!(first.clone_dtoh(&x).unwrap(), [0; 4]);
        } else {
            fails(graph.map(|_| ()), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        }
    }
    let (mut origin, mut status) = (std::ptr::null_mut(), CU_STREAM_CAPTURE_STATUS_NONE);
    // SAFETY: handles are those that the driver gave.
    unsafe {
        answers(sys::cuStreamCreate(&mut origin, 1), CUDA_SUCCESS);
        answers(sys::cuStreamBeginCapture_v2(origin, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
        let fork = first.context().new_event(Some(CU_EVENT_DISABLE_TIMING)).unwrap();
        answers(sys::cuEventRecord(fork.cu_event(), origin), CUDA_SUCCESS);
        first.wait(&fork).unwrap();
        answers(sys::cuStreamDestroy_v2(origin), CUDA_SUCCESS);
        answers(sys::cuStreamIsCapturing(first.cu_stream(), &mut status), CUDA_SUCCESS);
    }
    assert_eq!(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
}

#[test]
fn work_from_before_the_capture_is_not_waited_for() {
    let context = own_context();
    let (first, second) = (context.new_stream().unwrap(), context.new_stream().unwrap());
    let before = second.record_event(Some(CU_EVENT_DISABLE_TIMING)).unwrap();
    first.begin_capture(CU_STREAM_CAPTURE_MODE_RELAXED).unwrap();
    fails(first.wait(&before), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    fails(first.end_capture(Flags(0)).map(|_| ()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

#[test]
fn contradictory_flags_are_refused() {
    let context = own_context();
    let stream = context.new_stream().unwrap();
    stream.begin_capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    let flags =
        Flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | Flags::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    fails(stream.end_capture(flags).map(|_| ()), CUDA_ERROR_INVALID_VALUE);
    stream.begin_capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    stream.end_capture(Flags(0)).unwrap().unwrap().launch().unwrap();
}
