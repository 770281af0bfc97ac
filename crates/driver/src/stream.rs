//! Streams, and the host functions that run in their order.

use std::collections::VecDeque;
use std::ffi::{c_int, c_uint, c_void};

use crate::boundary::{Out, Raw, export};
use crate::driver::{Driver, Session, State};
use crate::error::{Error, Result, Status};
use crate::ffi::{DevicePtr, Handle, HostFn, StreamCallback};
use crate::operation::{Callback, Operation};
use crate::order::Clock;
use crate::pending::{self, Task};

pub(crate) const LEAST_PRIORITY: c_int = 0;
pub(crate) const GREATEST_PRIORITY: c_int = -5;
/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: c_uint = 1;
/// `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`.
const LEGACY: Handle = 1;
const PER_THREAD: Handle = 2;

#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) context: Handle,
    /// Whether it and the legacy default stream wait for one another.
    pub(crate) blocking: bool,
    priority: c_int,
    /// When its work so far ends, by the modelled clock.
    pub(crate) clock: f64,
    /// Operations on memory so far, and what the next one is behind.
    pub(crate) operations: u64,
    pub(crate) behind: Clock,
    /// Counted from 1 in the order of making; 0 for the default ones.
    pub(crate) number: u32,
    pub(crate) capturing: Option<Capturing>,
    /// Operations behind a host function, and whether a thread is working them off.
    pub(crate) queue: VecDeque<Task>,
    pub(crate) working: bool,
    /// The last one that was put there.
    pub(crate) tail: Option<u64>,
    /// The program has destroyed it, but its queue is not empty.
    pub(crate) destroyed: bool,
}

/// A stream's part in a capture: what the next captured operation has to wait for.
#[derive(Clone, Debug)]
pub(crate) struct Capturing {
    pub(crate) capture: Handle,
    pub(crate) tail: Vec<Handle>,
}

impl Stream {
    pub(crate) fn new(context: Handle, blocking: bool, priority: c_int) -> Self {
        let (operations, behind) = (0, Clock::default());
        let (queue, working, tail, destroyed) = (VecDeque::new(), false, None, false);
        let (clock, number, capturing) = (0.0, 0, None);
        Self {
            context,
            blocking,
            priority,
            clock,
            operations,
            behind,
            number,
            capturing,
            queue,
            working,
            tail,
            destroyed,
        }
    }
}

impl Session {
    /// The table's handle of the stream that a caller names; the special ones belong to the current context.
    pub(crate) fn stream(&self, handle: Handle) -> Result<Handle> {
        let context = self.state.contexts.get(self.context)?;
        match handle {
            0 | LEGACY => Ok(context.default_stream),
            PER_THREAD => Ok(context.per_thread_stream),
            _ => self
                .state
                .streams
                .get(handle)
                .ok()
                .filter(|s| !s.destroyed)
                .map(|_| handle)
                .ok_or(Error::INVALID_HANDLE),
        }
    }
}

impl State {
    /// The streams whose work so far comes before what begins in a stream now: its own, and where it is the legacy default stream or
    /// a blocking one of the same context, which wait for one another, the others'.
    pub(crate) fn related(&self, stream: Handle) -> Result<impl Iterator<Item = Handle>> {
        let this = self.streams.get(stream)?;
        let (context, blocking) = (this.context, this.blocking);
        let legacy = self.contexts.get(context)?.default_stream;
        let others = self.streams.iter().filter(move |(handle, other)| {
            let related = blocking && other.blocking && other.context == context;
            *handle == stream || related && (*handle == legacy || stream == legacy)
        });
        Ok(others.map(|(handle, _)| handle))
    }
}

fn create(out: Out<Handle>, flags: c_uint, priority: c_int) -> Result {
    let mut session = Session::begin()?;
    out.required()?;
    if flags & !NON_BLOCKING != 0 {
        return Err(Error::INVALID_VALUE);
    }
    let priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
    let mut stream = Stream::new(session.context, flags & NON_BLOCKING == 0, priority);
    session.state.order.streams += 1;
    stream.number = session.state.order.streams;
    out.set(session.state.streams.insert(stream))
}

fn call(stream: Handle, callback: Callback) -> Result {
    let session = Session::begin()?;
    let stream = session.stream(stream)?;
    session.submit(stream, Operation::Call(callback))
}

fn look_at(stream: Handle) -> Result<(Session, Handle)> {
    let session = Session::begin_regardless()?;
    let stream = session.stream(stream)?;
    Ok((session, stream))
}

export! {
    fn cuStreamCreate(stream: Out<Handle>, flags: c_uint) {
        create(stream, flags, LEAST_PRIORITY)
    }

    fn cuStreamCreateWithPriority(stream: Out<Handle>, flags: c_uint, priority: c_int) {
        create(stream, flags, priority)
    }

    fn cuStreamDestroy_v2(stream: Handle) {
        let mut session = Session::begin_regardless()?;
        // The default streams live as long as their context.
        if session.stream(stream)? != stream || session.is_default(stream) {
            return Err(Error::INVALID_HANDLE);
        }
        let this = session.state.streams.get_mut(stream)?;
        let capturing = this.capturing.take();
        if this.working {
            // The call returns at once, and what is queued is still done.
            this.destroyed = true;
        } else {
            session.state.streams.remove(stream)?;
        }
        // Without its origin a capture cannot end. Whether the work of any other stream has been joined is asked at the
        // end.
        if let Some(capturing) = capturing
            && session.began(capturing.capture, stream)
        {
            session.invalidate(capturing.capture);
        }
        session.sticky()
    }

    fn cuStreamSynchronize(stream: Handle) {
        let mut session = Session::begin()?;
        let stream = session.stream(stream)?;
        session.refuse_if_captured(stream)?;
        let open = session.state.open_before(stream)?;
        let mut session = session.wait_for(&open)?;
        // Another thread may have destroyed it meanwhile.
        let known = session.state.streams.contains(stream);
        if known { session.state.host_waits_for(stream) } else { Ok(()) }
    }

    fn cuStreamQuery(stream: Handle) {
        let mut session = Session::begin()?;
        let stream = session.stream(stream)?;
        session.refuse_if_captured(stream)?;
        // All work has run by the time the call that asked for it returns, but for what is behind host functions.
        if !session.state.open_before(stream)?.is_empty() {
            return Err(Error::NOT_READY);
        }
        session.state.host_behind_stream(stream)
    }

    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) {
        let session = Session::begin_mark()?;
        let stream = session.stream(stream)?;
        if flags > 1 {
            return Err(Error::INVALID_VALUE);
        }
        session.wait_event(stream, event, flags == 1)
    }

    fn cuStreamAddCallback(stream: Handle, function: StreamCallback, data: Raw, flags: c_uint) {
        let function = function.ok_or(Error::INVALID_VALUE)?;
        if flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        let (mut session, resolved) = look_at(stream)?;
        session.refuse_if_captured(resolved)?;
        drop(session);
        call(stream, Callback::WithStatus { function, stream, data: data.0 })
    }

    fn cuLaunchHostFunc(stream: Handle, function: HostFn, data: Raw) {
        let function = function.ok_or(Error::INVALID_VALUE)?;
        call(stream, Callback::Plain { function, data: data.0 })
    }

    fn cuLaunchHostFunc_v2(stream: Handle, function: HostFn, data: Raw, _sync_mode: c_uint) {
        let function = function.ok_or(Error::INVALID_VALUE)?;
        call(stream, Callback::Plain { function, data: data.0 })
    }

    fn cuStreamAttachMemAsync(stream: Handle, address: DevicePtr, _length: usize, flags: c_uint) {
        let session = Session::begin()?;
        session.stream(stream)?;
        // Host and device see managed memory at all times here, whatever stream it is attached to.
        let managed = session.state.host_blocks.range(..=address as usize).next_back();
        let known = managed.is_some_and(|(_, block)| block.contains(address as usize));
        if known && matches!(flags, 1 | 2 | 4) { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    fn cuStreamGetFlags(stream: Handle, flags: Out<c_uint>) {
        let (session, stream) = look_at(stream)?;
        let blocking = session.state.streams.get(stream)?.blocking;
        flags.set(if blocking { 0 } else { NON_BLOCKING })
    }

    fn cuStreamGetPriority(stream: Handle, priority: Out<c_int>) {
        let (session, stream) = look_at(stream)?;
        priority.set(session.state.streams.get(stream)?.priority)
    }

    fn cuStreamGetId(stream: Handle, id: Out<u64>) {
        id.set(look_at(stream)?.1 as u64)
    }

    fn cuStreamGetCtx(stream: Handle, context: Out<Handle>) {
        let (session, stream) = look_at(stream)?;
        context.set(session.state.streams.get(stream)?.context)
    }

    fn cuStreamGetCtx_v2(stream: Handle, context: Out<Handle>, green: Out<Handle>) {
        let (session, stream) = look_at(stream)?;
        green.set_if_wanted(0);
        context.set(session.state.streams.get(stream)?.context)
    }

    fn cuStreamGetDevice(stream: Handle, device: Out<c_int>) {
        look_at(stream)?;
        device.set(0)
    }

    fn cuStreamCopyAttributes(to: Handle, from: Handle) {
        let (session, _) = look_at(to)?;
        session.stream(from).map(|_| ())
    }
}

impl Session {
    fn is_default(&self, stream: Handle) -> bool {
        self.state.contexts.iter().any(|(_, c)| c.default_stream == stream || c.per_thread_stream == stream)
    }
}

/// Runs a host function on the calling thread, which is the driver's. One without a status is not called once the context has an error.
pub(crate) fn run(driver: &Driver, stream: Handle, callback: Callback) -> Result {
    let status = {
        let mut state = driver.state();
        // What stands before it in its stream is over, and it may tell another thread so before it returns.
        state.host_behind_stream(stream)?;
        let context = state.streams.get(stream)?.context;
        state.contexts.get(context)?.error
    };
    pending::as_host_function(|| match callback {
        Callback::Plain { .. } if status.is_some() => {}
        Callback::Plain { function, data } => {
            // SAFETY: whoever enqueued the function promised that it may be called with this pointer.
            unsafe { function(data as *mut c_void) }
        }
        Callback::WithStatus { function, stream, data } => {
            let status = Status::from(status.map_or(Ok(()), Err));
            // SAFETY: as above; the stream's handle is the one that the caller gave.
            unsafe { function(stream, status.code(), data as *mut c_void) }
        }
    });
    Ok(())
}
