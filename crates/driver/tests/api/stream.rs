use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::result;

use crate::support::context;

#[test]
fn work_on_one_stream_is_seen_by_another() {
    let context = context();
    let first = context.default_stream();
    let x = first.clone_htod(&[1u32, 2, 3]).unwrap();
    let second = first.fork().unwrap();
    let y = second.clone_dtod(&x).unwrap();
    first.join(&second).unwrap();
    assert_eq!(first.clone_dtoh(&y).unwrap(), [1, 2, 3]);
}

unsafe extern "C" fn count(data: *mut c_void) {
    // SAFETY: the pointer is that of the test below.
    unsafe { &*data.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn host_functions_run_in_order() {
    let context = context();
    let stream = context.new_stream().unwrap();
    let calls = AtomicU32::new(0);
    for expect in 1..=3 {
        // SAFETY: the counter outlives the stream's work.
        unsafe {
            result::stream::launch_host_function(stream.cu_stream(), count, (&raw const calls).cast_mut().cast())
        }
        .unwrap();
        stream.synchronize().unwrap();
        assert_eq!(calls.load(Ordering::SeqCst), expect);
    }
}

#[test]
fn priorities_have_a_range() {
    let _context = context();
    assert_eq!(result::stream::get_priority_range().unwrap(), (0, -5));
}
