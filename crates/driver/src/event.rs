//! Events: marks on the modelled clock of a stream.

use std::ffi::c_uint;
use std::sync::{Arc, OnceLock};

use crate::boundary::{Out, export};
use crate::driver::{Session, State};
use crate::error::{Error, Result};
use crate::ffi::Handle;
use crate::operation::Operation;
use crate::order::Clock;
use crate::report;
use crate::stream::Capturing;

/// `CU_EVENT_DISABLE_TIMING` and `CU_EVENT_INTERPROCESS`, and all flags there are.
const DISABLE_TIMING: c_uint = 2;
const INTERPROCESS: c_uint = 4;
const FLAGS: c_uint = 7;

#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) context: Handle,
    pub(crate) timing: bool,
    /// Where it was recorded last; none while it never was.
    pub(crate) mark: Option<Mark>,
    /// The task that records it, where that is behind a host function.
    pub(crate) task: Option<u64>,
    /// The capture that it was last recorded in, and what waiting for it means there.
    pub(crate) captured: Option<Capturing>,
}

/// A place in a stream, empty until the stream comes to it. Who waits for an event holds it from then on: the event may be recorded
/// elsewhere, or destroyed, before the waiting stream gets there.
pub(crate) type Mark = Arc<OnceLock<Reached>>;

/// When a place was reached, in nanoseconds, and what it is behind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reached {
    pub(crate) time: f64,
    pub(crate) behind: Clock,
}

impl Event {
    fn reached(&self) -> Option<&Reached> {
        self.mark.as_ref()?.get()
    }
}

impl State {
    /// A new place for an event that is recorded again.
    pub(crate) fn move_event(&mut self, event: Handle) -> Result<Mark> {
        let event = self.events.get_mut(event)?;
        (event.task, event.captured) = (None, None);
        Ok(event.mark.insert(Mark::default()).clone())
    }
}

impl Session {
    /// Records an event in a stream: now, or as part of the stream's capture.
    fn record(mut self, event: Handle, stream: Handle, external: bool) -> Result {
        let stream = self.stream(stream)?;
        let context = self.state.streams.get(stream)?.context;
        if self.state.events.get(event)?.context != context {
            return Err(Error::INVALID_HANDLE);
        }
        let capturing = self.state.streams.get(stream)?.capturing.clone();
        match capturing {
            Some(capturing) if !external => {
                self.active(capturing.capture)?;
                self.state.events.get_mut(event)?.captured = Some(capturing);
                Ok(())
            }
            _ => self.submit(stream, Operation::Record(event, None)),
        }
    }

    /// Makes a stream wait for an event: now, or as part of a capture, which the event may bring the stream into.
    pub(crate) fn wait_event(mut self, stream: Handle, event: Handle, external: bool) -> Result {
        let (recorded, captured) = {
            let event = self.state.events.get(event)?;
            (event.mark.is_some(), event.captured.clone())
        };
        let Some(origin) = captured else {
            if let Some(capturing) = &self.state.streams.get(stream)?.capturing
                && !external
            {
                let capture = capturing.capture;
                // Waiting for an event that was never recorded is waiting for nothing.
                return if recorded {
                    Err(self.break_capture(capture, Error::STREAM_CAPTURE_ISOLATION))
                } else {
                    Ok(())
                };
            }
            return self.submit(stream, Operation::Wait(event, None));
        };
        self.active(origin.capture).map_err(|_| Error::CAPTURED_EVENT)?;
        let legacy = self.state.contexts.get(self.context)?.default_stream;
        if stream == legacy {
            return Err(self.break_capture(origin.capture, Error::STREAM_CAPTURE_IMPLICIT));
        }
        let stream = self.state.streams.get_mut(stream)?;
        match &mut stream.capturing {
            None => stream.capturing = Some(origin),
            Some(own) if own.capture == origin.capture => {
                for node in origin.tail {
                    if !own.tail.contains(&node) {
                        own.tail.push(node);
                    }
                }
            }
            Some(own) => {
                let own = own.capture;
                self.invalidate(origin.capture);
                return Err(self.break_capture(own, Error::STREAM_CAPTURE_MERGE));
            }
        }
        Ok(())
    }
}

/// Begins a call that asks whether an event was reached, which a captured one never is.
fn look_at(event: Handle) -> Result<Session> {
    let mut session = Session::begin()?;
    if session.state.events.get(event)?.captured.is_some() {
        return Err(Error::CAPTURED_EVENT);
    }
    session.refuse_during_capture()?;
    Ok(session)
}

fn elapsed(milliseconds: Out<f32>, start: Handle, end: Handle) -> Result {
    let session = Session::begin()?;
    milliseconds.required()?;
    if [start, end].iter().any(|event| !session.state.open_before_event(*event).is_empty()) {
        return Err(Error::NOT_READY);
    }
    let time = |event| {
        let event = session.state.events.get(event)?;
        let reached = event.reached().filter(|_| event.timing && event.captured.is_none());
        reached.map(|reached| reached.time).ok_or(Error::INVALID_HANDLE)
    };
    milliseconds.set(((time(end)? - time(start)?) / 1e6) as f32)
}

export! {
    fn cuEventCreate(event: Out<Handle>, flags: c_uint) {
        let mut session = Session::begin_mark()?;
        event.required()?;
        let interprocess_with_timing = flags & (INTERPROCESS | DISABLE_TIMING) == INTERPROCESS;
        if flags & !FLAGS != 0 || interprocess_with_timing {
            return Err(Error::INVALID_VALUE);
        }
        let context = session.context;
        let timing = flags & DISABLE_TIMING == 0;
        if timing && report::times_are_open() {
            session.driver.machine.set_times(true);
        }
        event.set(session.state.events.insert(Event {
            context,
            timing,
            mark: None,
            task: None,
            captured: None,
        }))
    }

    fn cuEventDestroy_v2(event: Handle) {
        let mut session = Session::begin_regardless()?;
        session.state.events.remove(event)?;
        session.sticky()
    }

    fn cuEventRecord(event: Handle, stream: Handle) {
        Session::begin_mark()?.record(event, stream, false)
    }

    fn cuEventRecordWithFlags(event: Handle, stream: Handle, flags: c_uint) {
        if flags > 1 {
            return Err(Error::INVALID_VALUE);
        }
        Session::begin_mark()?.record(event, stream, flags == 1)
    }

    fn cuEventQuery(event: Handle) {
        let mut session = look_at(event)?;
        if !session.state.open_before_event(event).is_empty() {
            return Err(Error::NOT_READY);
        }
        let reached = session.state.events.get(event)?.reached().cloned().unwrap_or_default();
        session.state.host_behind(&reached.behind);
        Ok(())
    }

    fn cuEventSynchronize(event: Handle) {
        let session = look_at(event)?;
        let open = session.state.open_before_event(event);
        let mut session = session.wait_for(&open)?;
        let reached = session.state.events.get(event)?.reached().cloned().unwrap_or_default();
        session.state.host_waits_until(reached.time);
        session.state.host_behind(&reached.behind);
        Ok(())
    }

    fn cuEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }

    fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }
}
