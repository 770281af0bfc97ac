//! The modelled clock.
//!
//! Work runs when it is asked for, on the calling thread, or behind a host function on a thread of the driver; when it *would have* run is kept beside it, in
//! nanoseconds. The model: a stream does one thing after another; the device runs one kernel (or
//! memset, or copy within its memory) at a time, and beside it one copy in each direction over the bus; host
//! code takes no time, so that the host's clock moves only when it waits; an event takes a little of its stream's ([`fusion_machine::timing::EVENT_NS`]).

use crate::driver::State;
use crate::error::Result;
use crate::ffi::Handle;

/// What a piece of work occupies while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Compute,
    ToDevice,
    ToHost,
    /// Nothing: markers and host functions.
    None,
}

/// When the engines and the host are next free, in nanoseconds since the driver began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timeline {
    host: f64,
    engines: [f64; 3],
}

impl Timeline {
    fn engine(&mut self, engine: Engine) -> Option<&mut f64> {
        match engine {
            Engine::Compute => Some(&mut self.engines[0]),
            Engine::ToDevice => Some(&mut self.engines[1]),
            Engine::ToHost => Some(&mut self.engines[2]),
            Engine::None => None,
        }
    }
}

impl State {
    /// Puts work of that duration behind everything that it has to wait for; returns when it ends.
    pub(crate) fn advance(&mut self, stream: Handle, engine: Engine, nanoseconds: f64) -> Result<f64> {
        let mut start = self.ready(stream)?;
        if let Some(free) = self.timeline.engine(engine) {
            start = start.max(*free);
            *free = start + nanoseconds;
        }
        let end = start + nanoseconds;
        self.streams.get_mut(stream)?.clock = end;
        Ok(end)
    }

    /// Makes a stream wait until `time`.
    pub(crate) fn wait_until(&mut self, stream: Handle, time: f64) -> Result {
        let stream = self.streams.get_mut(stream)?;
        stream.clock = stream.clock.max(time);
        Ok(())
    }

    /// Makes the host wait for a stream.
    pub(crate) fn host_waits_for(&mut self, stream: Handle) -> Result {
        let ready = self.ready(stream)?;
        self.timeline.host = self.timeline.host.max(ready);
        self.host_behind_stream(stream)
    }

    /// Makes the host wait until `time`.
    pub(crate) fn host_waits_until(&mut self, time: f64) {
        self.timeline.host = self.timeline.host.max(time);
    }

    /// Makes the host wait for everything that happens in a context.
    pub(crate) fn host_waits_for_context(&mut self, context: Handle) {
        let last = self.streams.iter().filter(|(_, s)| s.context == context).map(|(_, s)| s.clock).fold(0.0, f64::max);
        self.timeline.host = self.timeline.host.max(last);
        self.host_behind_all();
    }

    /// When a stream may begin something new.
    fn ready(&self, stream: Handle) -> Result<f64> {
        let clocks = self.related(stream)?.filter_map(|handle| Some(self.streams.get(handle).ok()?.clock));
        Ok(clocks.fold(self.timeline.host, f64::max))
    }
}
