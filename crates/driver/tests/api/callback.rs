//! Functions of the host in a stream's order. None of these tests waits for a time: a gate holds a function until the test opens it.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use cudarc::driver::sys::{self, CUresult, CUresult::*, CUstream};
use cudarc::driver::{CudaContext, CudaStream, DevicePtr, LaunchConfig, PushKernelArg, result};

use crate::support::{WRONG, add_one, answers, fails, module, own_context};

/// What a host function does, once.
type Work = Box<dyn FnOnce() + Send>;

unsafe extern "C" fn call(data: *mut c_void) {
    // SAFETY: the pointer is that of `leaked`, and the function is called once.
    let work = unsafe { Box::from_raw(data.cast::<Work>()) };
    work();
}

unsafe extern "C" fn call_with_status(_: CUstream, status: CUresult, data: *mut c_void) {
    // SAFETY: the pointer is that of the test below, and lives until the stream is waited for.
    unsafe { &*data.cast::<Mutex<Vec<CUresult>>>() }.lock().unwrap().push(status);
}

fn leaked(work: impl FnOnce() + Send + 'static) -> *mut c_void {
    Box::into_raw(Box::new(Box::new(work) as Work)).cast()
}

fn enqueue(stream: &CudaStream, work: impl FnOnce() + Send + 'static) {
    // SAFETY: the function takes what it is given.
    unsafe { result::stream::launch_host_function(stream.cu_stream(), call, leaked(work)) }.unwrap();
}

/// Waits until something is sent, or the sender is gone.
fn held(closed: Receiver<()>) -> impl FnOnce() + Send {
    move || {
        let _ = closed.recv();
    }
}

/// Holds up the stream until something is sent, or the sender is gone.
fn gate(stream: &CudaStream) -> Sender<()> {
    let (open, closed): (Sender<()>, Receiver<()>) = channel();
    enqueue(stream, held(closed));
    open
}

fn query(stream: &CudaStream) -> CUresult {
    // SAFETY: the stream is alive.
    unsafe { sys::cuStreamQuery(stream.cu_stream()) }
}

/// A context of the test's own: one that waits must not hold up others.
fn context() -> Arc<CudaContext> {
    let context = own_context();
    context.bind_to_thread().unwrap();
    context
}

#[test]
fn host_functions_run_in_order() {
    let context = context();
    let stream = context.new_stream().unwrap();
    let (tell, told) = channel();
    for i in 0..50 {
        let tell = tell.clone();
        enqueue(&stream, move || tell.send((i, std::thread::current().id())).unwrap());
    }
    stream.synchronize().unwrap();
    let calls: Vec<(i32, ThreadId)> = told.try_iter().collect();
    assert!(calls.iter().map(|call| call.0).eq(0..50), "{calls:?}");
    assert!(calls.iter().all(|call| call.1 != std::thread::current().id()), "on the thread that asked for it");
}

#[test]
fn what_is_behind_a_host_function_is_not_ready() {
    let context = context();
    let stream = context.new_stream().unwrap();
    let other = context.new_stream().unwrap();
    let kernel = add_one(&context);
    let mut x = stream.clone_htod(&[1.0f32, 2.0]).unwrap();
    let before = stream.record_event(None).unwrap();

    let open = gate(&stream);
    let event = context.new_event(None).unwrap();
    let address = x.device_ptr(&stream).0;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&address).arg(&address).arg(&2u32);
    // SAFETY: the parameters are those of the kernel.
    unsafe { launch.launch(LaunchConfig::for_num_elems(2)) }.unwrap();
    event.record(&stream).unwrap();
    assert_eq!((query(&stream), query(&other)), (CUDA_ERROR_NOT_READY, CUDA_SUCCESS));
    assert!(before.is_complete() && !event.is_complete());
    let mut elapsed = 0.0;
    // SAFETY: the events are alive. cudarc's own function waits for them first.
    let asked = unsafe { sys::cuEventElapsedTime(&mut elapsed, before.cu_event(), event.cu_event()) };
    answers(asked, CUDA_ERROR_NOT_READY);
    // Another stream runs on, until it waits for the event.
    let mut y = other.clone_htod(&[5.0f32, 6.0]).unwrap();
    assert_eq!(other.clone_dtoh(&y).unwrap(), [5.0, 6.0]);
    other.wait(&event).unwrap();
    other.memcpy_dtod(&x, &mut y).unwrap();
    assert_eq!(query(&other), CUDA_ERROR_NOT_READY);
    // What was recorded there is overtaken by what is recorded elsewhere.
    let twice = context.new_event(None).unwrap();
    twice.record(&stream).unwrap();
    assert!(!twice.is_complete());
    twice.record(&context.new_stream().unwrap()).unwrap();
    assert!(twice.is_complete());

    open.send(()).unwrap();
    event.synchronize().unwrap();
    assert!(event.is_complete());
    other.synchronize().unwrap();
    // Behind the event, the stream records another one.
    stream.synchronize().unwrap();
    assert_eq!((query(&stream), query(&other)), (CUDA_SUCCESS, CUDA_SUCCESS));
    assert_eq!(other.clone_dtoh(&y).unwrap(), [2.0, 3.0]);
    x = y;
    drop(x);
}

/// The legacy default stream and the blocking streams of its context wait for one another.
#[test]
fn the_default_stream_waits_for_host_functions() {
    let context = context();
    let independent = context.new_stream().unwrap();
    let mut blocking = null_mut();
    // SAFETY: the handles are those that the driver gave.
    unsafe {
        answers(sys::cuStreamCreate(&mut blocking, 0), CUDA_SUCCESS);
        let (open, closed) = channel::<()>();
        answers(sys::cuLaunchHostFunc(blocking, Some(call), leaked(held(closed))), CUDA_SUCCESS);
        answers(sys::cuStreamQuery(null_mut()), CUDA_ERROR_NOT_READY);
        assert_eq!(query(&independent), CUDA_SUCCESS);
        drop(open);
        answers(sys::cuCtxSynchronize(), CUDA_SUCCESS);
        answers(sys::cuStreamQuery(null_mut()), CUDA_SUCCESS);
        answers(sys::cuStreamDestroy_v2(blocking), CUDA_SUCCESS);
    }
}

#[test]
fn a_host_function_must_not_call_the_api() {
    let context = context();
    let stream = context.new_stream().unwrap();
    let (tell, told) = channel();
    enqueue(&stream, move || {
        let mut address = 0;
        // SAFETY: the pointer is to a live integer, and the null stream needs no context here: the calls are refused.
        unsafe {
            tell.send(sys::cuMemAlloc_v2(&mut address, 4)).unwrap();
            tell.send(sys::cuStreamSynchronize(null_mut())).unwrap();
            tell.send(sys::cuCtxSynchronize()).unwrap();
        }
    });
    stream.synchronize().unwrap();
    assert_eq!(told.iter().collect::<Vec<_>>(), [CUDA_ERROR_NOT_PERMITTED; 3]);
    // The thread that asked for it may.
    assert_eq!(query(&stream), CUDA_SUCCESS);
}

/// What a copy reads of memory that is not pinned is read by the time the call returns; a copy to such memory is done by then.
#[test]
fn copies_behind_a_host_function() {
    let context = context();
    let stream = context.new_stream().unwrap();
    let mut x = stream.clone_htod(&[0u32; 4]).unwrap();
    // SAFETY: everything is written before it is read.
    let mut pinned = unsafe { context.alloc_pinned::<u32>(4) }.unwrap();
    pinned.as_mut_slice().unwrap().copy_from_slice(&[9; 4]);
    let open = gate(&stream);
    let mut pageable = vec![1u32, 2, 3, 4];
    stream.memcpy_htod(&pageable, &mut x).unwrap();
    pageable.fill(7);
    drop(pageable);
    // To pinned memory, and not yet.
    // SAFETY: both sides have 16 bytes and live until the stream is waited for.
    unsafe {
        let to = pinned.as_mut_ptr().unwrap();
        answers(sys::cuMemcpyDtoHAsync_v2(to.cast(), x.device_ptr(&stream).0, 16, stream.cu_stream()), CUDA_SUCCESS);
        assert_eq!(std::slice::from_raw_parts(to, 4), [9; 4]);
    }
    open.send(()).unwrap();
    assert_eq!(stream.clone_dtoh(&x).unwrap(), [1, 2, 3, 4]);
    stream.synchronize().unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [1, 2, 3, 4]);
}

/// Its own stream is held up, and nothing else; and the process ends.
#[test]
fn a_host_function_that_never_returns() {
    let context = context();
    let stuck = context.new_stream().unwrap();
    enqueue(&stuck, || {
        loop {
            std::thread::park();
        }
    });
    let event = stuck.record_event(None).unwrap();
    let stream = context.new_stream().unwrap();
    let kernel = add_one(&context);
    let mut x = stream.clone_htod(&[1.0f32; 100]).unwrap();
    let address = x.device_ptr(&stream).0;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&address).arg(&address).arg(&100u32);
    // SAFETY: the parameters are those of the kernel.
    unsafe { launch.launch(LaunchConfig::for_num_elems(100)) }.unwrap();
    stream.memcpy_htod(&[3.0f32; 10], &mut x).unwrap();
    assert_eq!(stream.clone_dtoh(&x).unwrap()[9..11], [3.0, 2.0]);
    let (tell, told) = channel();
    enqueue(&stream, move || tell.send(()).unwrap());
    stream.synchronize().unwrap();
    assert_eq!(told.iter().count(), 1);
    drop(x);
    assert!(!event.is_complete());
    assert_eq!(query(&stuck), CUDA_ERROR_NOT_READY);
    // Dropping them would wait for it.
    std::mem::forget((stuck, event));
    std::mem::forget(context);
}

/// A stream that is destroyed does what was asked of it.
#[test]
fn a_stream_is_destroyed_behind_its_work() {
    let _context = context();
    let (tell, told) = channel();
    let (open, closed) = channel::<()>();
    let mut stream = null_mut();
    // SAFETY: the handles are those that the driver gave.
    unsafe {
        answers(sys::cuStreamCreate(&mut stream, 1), CUDA_SUCCESS);
        answers(sys::cuLaunchHostFunc(stream, Some(call), leaked(held(closed))), CUDA_SUCCESS);
        answers(sys::cuLaunchHostFunc(stream, Some(call), leaked(move || tell.send(()).unwrap())), CUDA_SUCCESS);
        answers(sys::cuStreamDestroy_v2(stream), CUDA_SUCCESS);
        answers(sys::cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
    }
    drop(open);
    assert_eq!(told.iter().count(), 1);
}

/// A callback with a status is called whatever has happened, and is told; a host function is not called any more.
#[test]
fn a_fault_is_told_to_callbacks() {
    let context = context();
    let stream = context.new_stream().unwrap();
    let stray = module(&context, WRONG).load_function("stray").unwrap();
    let seen = Arc::new(Mutex::new(Vec::<CUresult>::new()));
    let add = |expect| {
        let data = Arc::as_ptr(&seen).cast_mut().cast();
        // SAFETY: the list lives longer than the stream's work.
        answers(unsafe { sys::cuStreamAddCallback(stream.cu_stream(), Some(call_with_status), data, 0) }, expect);
    };
    let open = gate(&stream);
    add(CUDA_SUCCESS);
    // SAFETY: the kernel has no parameters; what it does wrong is a fault and nothing more.
    unsafe { stream.launch_builder(&stray).launch(LaunchConfig::for_num_elems(1)) }.unwrap();
    add(CUDA_SUCCESS);
    let (tell, told) = channel();
    enqueue(&stream, move || tell.send(()).unwrap());
    open.send(()).unwrap();
    fails(stream.synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_eq!(*seen.lock().unwrap(), [CUDA_SUCCESS, CUDA_ERROR_ILLEGAL_ADDRESS]);
    assert!(told.try_recv().is_err());
}

#[test]
fn a_graph_waits_for_its_host_node() {
    let context = context();
    let stream = context.new_stream().unwrap();
    let x = stream.alloc_zeros::<u32>(4).unwrap();
    let dst = x.device_ptr(&stream).0;
    let fill = |value| sys::CUDA_MEMSET_NODE_PARAMS { dst, pitch: 0, value, elementSize: 4, width: 4, height: 1 };
    let (open, closed) = channel::<()>();
    let (mut graph, mut exec) = (null_mut(), null_mut());
    let (mut first, mut host, mut last) = (null_mut(), null_mut(), null_mut());
    // SAFETY: handles are those that the driver gave, arrays as long as stated, and the graph is launched once.
    unsafe {
        answers(sys::cuGraphCreate(&mut graph, 0), CUDA_SUCCESS);
        let cu_ctx = context.cu_ctx();
        answers(sys::cuGraphAddMemsetNode(&mut first, graph, null_mut(), 0, &fill(1), cu_ctx), CUDA_SUCCESS);
        let user_data = leaked(held(closed));
        let params = sys::CUDA_HOST_NODE_PARAMS { fn_: Some(call), userData: user_data };
        answers(sys::cuGraphAddHostNode(&mut host, graph, &first, 1, &params), CUDA_SUCCESS);
        answers(sys::cuGraphAddMemsetNode(&mut last, graph, &host, 1, &fill(2), cu_ctx), CUDA_SUCCESS);
        answers(sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0), CUDA_SUCCESS);
        answers(sys::cuGraphLaunch(exec, stream.cu_stream()), CUDA_SUCCESS);
        assert_eq!(query(&stream), CUDA_ERROR_NOT_READY);
        drop(open);
        assert_eq!(stream.clone_dtoh(&x).unwrap(), [2; 4]);
        answers(sys::cuGraphExecDestroy(exec), CUDA_SUCCESS);
        answers(sys::cuGraphDestroy(graph), CUDA_SUCCESS);
    }
}
