use cudarc::driver::sys::{CUevent_flags::*, CUresult::*};

use crate::support::{context, fails};

#[test]
fn an_event_that_tells_no_time() {
    let context = context();
    let stream = context.default_stream();
    let timed = context.new_event(Some(CU_EVENT_DEFAULT)).unwrap();
    let untimed = context.new_event(None).unwrap();
    fails(timed.elapsed_ms(&timed), CUDA_ERROR_INVALID_HANDLE);
    timed.record(&stream).unwrap();
    untimed.record(&stream).unwrap();
    fails(timed.elapsed_ms(&untimed), CUDA_ERROR_INVALID_HANDLE);
    timed.synchronize().unwrap();
    assert!(timed.is_complete());
}
