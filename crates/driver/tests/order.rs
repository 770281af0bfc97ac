//! Races between streams, and with copies: what is reported, and what never is. A program of its own, for the report
//! is one per process.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, clippy::unwrap_used)]

#[path = "api/support.rs"]
mod support;

use std::ffi::{CStr, c_char, c_void};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use cudarc::driver::result::stream::launch_host_function;
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaSlice, CudaStream, CudaView, DevicePtr, LaunchConfig, PushKernelArg,
    result,
};
use fusion_diagnostic::say;
use fusion_machine::report::Name;
use fusion_machine::{Fault, Report};
use support::{ADD_ONE, module, own_context, symbol};

static TURN: Mutex<()> = Mutex::new(());
const N: usize = 1000;

fn take() -> Report {
    let take: unsafe extern "C" fn() -> *mut c_char = symbol("fusion_emulator_take_report");
    let free: unsafe extern "C" fn(*mut c_char) = symbol("fusion_emulator_free_string");
    // SAFETY: the string is freed once, after it was read.
    unsafe {
        let json = take();
        let report = serde_json::from_slice(CStr::from_ptr(json).to_bytes()).unwrap();
        free(json);
        report
    }
}

/// Two streams and two buffers, with nothing pending.
struct Bench {
    context: Arc<CudaContext>,
    first: Arc<CudaStream>,
    second: Arc<CudaStream>,
    kernel: CudaFunction,
    x: CudaSlice<f32>,
    y: CudaSlice<f32>,
}

impl Bench {
    /// `tracked`: cudarc waits for events of the buffers where streams change.
    fn new(tracked: bool) -> Self {
        let context = own_context();
        if !tracked {
            // SAFETY: the tests are about what happens then.
            unsafe { context.disable_event_tracking() };
        }
        let (first, second) = (context.new_stream().unwrap(), context.new_stream().unwrap());
        let kernel = module(&context, &format!("{ADD_ONE}\n// parameters add_one: out, x, n\n"));
        let kernel = kernel.load_function("add_one").unwrap();
        let (x, y) = (first.alloc_zeros(N).unwrap(), first.alloc_zeros(N).unwrap());
        context.synchronize().unwrap();
        take();
        Self { context, first, second, kernel, x, y }
    }

    /// `out[i] = x[i] + 1`.
    fn add_one(&self, stream: &Arc<CudaStream>, out: &CudaView<'_, f32>, x: &CudaView<'_, f32>) {
        let n = out.len() as u32;
        let mut launch = stream.launch_builder(&self.kernel);
        launch.arg(out).arg(x).arg(&n);
        // SAFETY: both have that many elements. That `out` is shared is what the tests are about.
        unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }.unwrap();
    }

    fn x(&self) -> CudaView<'_, f32> {
        self.x.as_view()
    }

    fn y(&self) -> CudaView<'_, f32> {
        self.y.as_view()
    }

    /// What there is to report once everything is done.
    fn faults(self) -> Vec<Fault> {
        self.context.synchronize().unwrap();
        drop(self);
        take().faults
    }
}

#[track_caller]
fn clean(bench: Bench) {
    let faults = bench.faults();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[track_caller]
fn one(bench: Bench, code: &str) -> Fault {
    let mut faults = bench.faults();
    assert_eq!(faults.len(), 1, "{faults:#?}");
    assert_eq!(faults[0].code().as_str(), code, "{faults:#?}");
    faults.remove(0)
}

#[test]
fn a_kernel_that_does_not_wait_for_another_stream() {
    let _turn = TURN.lock();
    let b = Bench::new(false);
    b.add_one(&b.first, &b.y(), &b.x());
    b.add_one(&b.second, &b.x(), &b.y());
    let (first, second) = (b.first.clone(), b.second.clone());
    let fault = one(b, "E-RACE-STREAMS");
    drop((first, second));
    assert_eq!(say(&fault).title, "`add_one` reads `x` while `add_one` may still be writing it");
    let buffer = fault.buffer.as_ref().unwrap();
    assert_eq!((buffer.argument, buffer.size, buffer.offset, buffer.bytes), (Some(1), 4000, 0, 4000));
    assert!(say(&fault).notes[0].starts_with("`add_one` was put into stream "), "{fault:?}");
    assert!(say(&fault).help[0].contains("second.join(&first)"), "{fault:?}");
    assert!(fault.ptx.unwrap().text.contains("ld.global"));
    assert!(fault.related[0].ptx.as_ref().unwrap().text.contains("st.global"));
}

#[test]
fn what_orders_streams() {
    let _turn = TURN.lock();
    let orders: [fn(&Bench); 7] = [
        |b| b.second.join(&b.first).unwrap(),
        |b| b.second.wait(&b.first.record_event(None).unwrap()).unwrap(),
        |b| b.first.record_event(None).unwrap().synchronize().unwrap(),
        |b| assert!(b.first.record_event(None).unwrap().is_complete()),
        |b| b.first.synchronize().unwrap(),
        |b| b.context.synchronize().unwrap(),
        // A function of the host that tells the host: what stands before it in its stream is over.
        |b| {
            unsafe extern "C" fn tell(sender: *mut c_void) {
                // SAFETY: the data is the box below, and the function is called once.
                let sender = unsafe { Box::from_raw(sender.cast::<Sender<()>>()) };
                let _ = sender.send(());
            }
            let (sender, receiver) = mpsc::channel::<()>();
            // It is the function's own: a sender is still in use when its message has been heard.
            let data = Box::into_raw(Box::new(sender)).cast();
            // SAFETY: as in `tell`.
            unsafe { launch_host_function(b.first.cu_stream(), tell, data) }.unwrap();
            receiver.recv().unwrap();
        },
    ];
    for (i, order) in orders.iter().enumerate() {
        let b = Bench::new(false);
        b.add_one(&b.first, &b.y(), &b.x());
        order(&b);
        b.add_one(&b.second, &b.x(), &b.y());
        b.first.join(&b.second).unwrap();
        let faults = b.faults();
        assert!(faults.is_empty(), "{i}: {faults:#?}");
    }
}

/// Who waits for an event waits for where it was recorded when the call was made, whatever becomes of it until then.
#[test]
fn a_wait_behind_a_host_function_keeps_its_place() {
    unsafe extern "C" fn hold(receiver: *mut c_void) {
        // SAFETY: the data is the box below, and the function is called once.
        let receiver = unsafe { Box::from_raw(receiver.cast::<Receiver<()>>()) };
        let _ = receiver.recv();
    }
    let _turn = TURN.lock();
    let fates: [fn(&Bench, CudaEvent); 3] = [
        |_, event| drop(event),
        |b, event| event.record(&b.context.new_stream().unwrap()).unwrap(),
        |b, event| event.record(&b.second).unwrap(),
    ];
    for (i, fate) in fates.iter().enumerate() {
        let b = Bench::new(false);
        let (sender, receiver) = mpsc::channel::<()>();
        // SAFETY: as in `hold`.
        unsafe { launch_host_function(b.first.cu_stream(), hold, Box::into_raw(Box::new(receiver)).cast()) }.unwrap();
        b.add_one(&b.first, &b.y(), &b.x());
        let event = b.first.record_event(None).unwrap();
        b.second.wait(&event).unwrap();
        fate(&b, event);
        b.add_one(&b.second, &b.x(), &b.y());
        sender.send(()).unwrap();
        let faults = b.faults();
        assert!(faults.is_empty(), "{i}: {faults:#?}");
    }
}

#[test]
fn what_does_not_order_streams() {
    let _turn = TURN.lock();
    let orders: [fn(&Bench); 3] = [
        // The wrong way around, an event from before, and the wrong stream.
        |b| b.first.join(&b.second).unwrap(),
        |b| b.second.wait(&b.second.record_event(None).unwrap()).unwrap(),
        |b| b.second.synchronize().unwrap(),
    ];
    for order in orders {
        let b = Bench::new(false);
        b.add_one(&b.first, &b.y(), &b.x());
        order(&b);
        b.add_one(&b.second, &b.x(), &b.y());
        one(b, "E-RACE-STREAMS");
    }
    let b = Bench::new(false);
    let early = b.first.record_event(None).unwrap();
    b.add_one(&b.first, &b.y(), &b.x());
    b.second.wait(&early).unwrap();
    b.add_one(&b.second, &b.x(), &b.y());
    one(b, "E-RACE-STREAMS");
}

/// cudarc's own bookkeeping makes every use of a buffer wait for the last one.
#[test]
fn cudarc_orders_its_slices() {
    let _turn = TURN.lock();
    let mut b = Bench::new(true);
    let n = N as u32;
    for _ in 0..3 {
        let config = LaunchConfig::for_num_elems(n);
        // SAFETY: the parameters are those of the kernel, here and below.
        unsafe { b.first.launch_builder(&b.kernel).arg(&mut b.y).arg(&b.x).arg(&n).launch(config) }.unwrap();
        let z = b.second.clone_dtod(&b.y).unwrap();
        b.first.clone_dtoh(&z).unwrap();
        // SAFETY: as above.
        unsafe { b.second.launch_builder(&b.kernel).arg(&mut b.x).arg(&z).arg(&n).launch(config) }.unwrap();
        // SAFETY: as above.
        unsafe { b.first.launch_builder(&b.kernel).arg(&mut b.y).arg(&b.x).arg(&n).launch(config) }.unwrap();
    }
    clean(b);
}

#[test]
fn different_bytes_are_no_race() {
    let _turn = TURN.lock();
    let b = Bench::new(false);
    for (stream, range) in [(&b.first, 0..501), (&b.second, 501..N)] {
        b.add_one(stream, &b.y().slice(range.clone()), &b.x().slice(range));
    }
    clean(b);
    // And two that overlap by one element.
    let b = Bench::new(false);
    for (stream, range) in [(&b.first, 0..502), (&b.second, 501..N)] {
        b.add_one(stream, &b.y().slice(range.clone()), &b.x().slice(range));
    }
    let buffer = one(b, "E-RACE-STREAMS").buffer.unwrap();
    assert_eq!((buffer.name.identifier().unwrap(), buffer.offset, buffer.bytes), ("out", 4 * 501, 4));
}

#[test]
fn a_memset_and_a_copy_within_the_device_are_work_of_their_streams() {
    let _turn = TURN.lock();
    let mut b = Bench::new(false);
    b.add_one(&b.first, &b.y(), &b.x());
    b.second.memset_zeros(&mut b.y).unwrap();
    assert_eq!(say(&one(b, "E-RACE-STREAMS")).title, "a memset writes `out` while `add_one` may still be writing it");
    let mut b = Bench::new(false);
    b.second.memcpy_dtod(&b.x, &mut b.y).unwrap();
    b.add_one(&b.first, &b.y(), &b.x());
    assert_eq!(
        say(&one(b, "E-RACE-STREAMS")).title,
        "`add_one` writes `out` while a copy within the device may still be writing it"
    );
}

#[test]
fn a_copy_on_another_stream() {
    let _turn = TURN.lock();
    let b = Bench::new(false);
    b.add_one(&b.first, &b.y(), &b.x());
    b.second.clone_dtoh(&b.y).unwrap();
    let fault = one(b, "E-RACE-HOST");
    assert_eq!(say(&fault).title, "a copy to the host reads `out` while `add_one` may still be writing it");
    assert_eq!(fault.kernel, "add_one");
}

/// The default stream does not wait for cudarc's streams, which are non-blocking. One stream is enough for that.
#[test]
fn a_synchronous_copy_does_not_wait_for_other_streams() {
    let _turn = TURN.lock();
    let copy = |wait: bool, blocking: bool| {
        let context = own_context();
        // SAFETY: one stream needs no tracking.
        unsafe { context.disable_event_tracking() };
        let kernel = module(&context, ADD_ONE).load_function("add_one").unwrap();
        let stream = if blocking { context.default_stream() } else { context.new_stream().unwrap() };
        let (x, y) = (stream.alloc_zeros::<f32>(N).unwrap(), stream.alloc_zeros::<f32>(N).unwrap());
        stream.synchronize().unwrap();
        take();
        let n = N as u32;
        // SAFETY: the parameters are those of the kernel.
        unsafe { stream.launch_builder(&kernel).arg(&y).arg(&x).arg(&n).launch(LaunchConfig::for_num_elems(n)) }
            .unwrap();
        if wait {
            stream.synchronize().unwrap();
        }
        let mut host = [0.0f32; N];
        // SAFETY: the buffer is that long.
        unsafe { result::memcpy_dtoh_sync(&mut host, y.device_ptr(&stream).0) }.unwrap();
        take().faults
    };
    assert!(copy(true, false).is_empty() && copy(false, true).is_empty());
    let faults = copy(false, false);
    assert_eq!((faults.len(), faults[0].code().as_str()), (1, "E-RACE-HOST"), "{faults:#?}");
    assert_eq!(faults[0].buffer.as_ref().unwrap().name, Name::Argument(0));
}

#[test]
fn freed_while_in_use() {
    let _turn = TURN.lock();
    let b = Bench::new(false);
    let z = b.second.alloc_zeros::<f32>(N).unwrap();
    b.second.synchronize().unwrap();
    b.add_one(&b.first, &z.as_view(), &b.x());
    // Freed on the stream that it was allocated on.
    drop(z);
    assert_eq!(say(&one(b, "E-RACE-STREAMS")).title, "`out` is freed while `add_one` may still be writing it");
}

/// Once a site, however often it happens.
#[test]
fn repeated_races_are_one_entry() {
    let _turn = TURN.lock();
    let b = Bench::new(false);
    for _ in 0..10 {
        b.add_one(&b.first, &b.y(), &b.x());
        b.add_one(&b.second, &b.y(), &b.x());
    }
    assert!(one(b, "E-RACE-STREAMS").count > 5);
}
