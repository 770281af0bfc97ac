//! The modelled clock.
//!
//! Work runs when it is asked for, on the calling thread, or behind a host function on a thread of the driver; when it *would have* run is kept beside it, in
//! nanoseconds. The model:
//!
//! - A stream does one thing after another. An event takes a little of its time ([`fusion_machine::timing::EVENT_NS`]).
//! - Kernels, memsets and copies within the device's memory run at the same time where the device has room for all of them
//!   ([`fusion_machine::report::Account::occupies`]). Else they take turns: what they compete for lets both end no sooner.
//! - Beside that goes one copy in each direction over the bus.
//! - What cannot begin yet holds up nobody, though it was asked for first.
//! - Host code takes no time. The host's clock moves only when the host waits.

use fusion_machine::report::When;

use crate::driver::State;
use crate::error::Result;
use crate::ffi::Handle;

/// What a piece of work occupies while it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Engine {
    /// This share of what the device can do.
    Compute(f64),
    ToDevice,
    ToHost,
    /// Nothing: markers and host functions.
    None,
}

/// So much work may be queued. Who asks for more waits, as on hardware, which has about so much room.
const QUEUE: usize = 1024;

/// What the engines do, and when the host goes on, in nanoseconds since the driver began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline {
    host: f64,
    engines: [Vec<Piece>; 3],
}

/// A share of an engine for some time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    from: f64,
    to: f64,
    share: f64,
}

impl Timeline {
    /// Finds the first time from `ready` on at which an engine has room for so long.
    fn place(&mut self, engine: Engine, ready: f64, nanoseconds: f64) -> f64 {
        let (index, share) = match engine {
            Engine::Compute(share) => (0, share.clamp(0.0, 1.0)),
            Engine::ToDevice => (1, 1.0),
            Engine::ToHost => (2, 1.0),
            Engine::None => return ready,
        };
        if nanoseconds <= 0.0 {
            return ready;
        }
        let pieces = &mut self.engines[index];
        // Nothing begins any more before the host's time.
        pieces.retain(|piece| piece.to > self.host);
        let from = first_room(pieces, ready, nanoseconds, share);
        pieces.push(Piece { from, to: from + nanoseconds, share });
        if pieces.len() > QUEUE {
            self.host = pieces.iter().map(|piece| piece.to).fold(f64::INFINITY, f64::min).max(self.host);
        }
        from
    }
}

/// When work can begin that takes so long, and this share.
fn first_room(pieces: &[Piece], ready: f64, nanoseconds: f64, share: f64) -> f64 {
    // Shares are sums of a few divisions.
    const WHOLE: f64 = 1.0 + 1e-9;
    let later: Vec<Piece> = pieces.iter().filter(|piece| piece.to > ready).copied().collect();
    let at =
        |time: f64| later.iter().filter(|piece| piece.from <= time && time < piece.to).map(|piece| piece.share).sum();
    let fits = |from: &f64| {
        // What is taken grows only where a piece begins.
        let begin = later.iter().map(|piece| piece.from).filter(|begin| (*from..*from + nanoseconds).contains(begin));
        let most: f64 = begin.chain([*from]).map(at).fold(0.0, f64::max);
        most + share <= WHOLE
    };
    let mut ends: Vec<f64> = later.iter().map(|piece| piece.to).chain([ready]).collect();
    ends.sort_by(f64::total_cmp);
    let last = ends.last().copied().unwrap_or(ready);
    ends.into_iter().find(fits).unwrap_or(last)
}

impl State {
    /// Puts work of that duration behind everything that it has to wait for.
    pub(crate) fn advance(&mut self, stream: Handle, engine: Engine, nanoseconds: f64) -> Result<When> {
        let ready = self.ready(stream)?;
        let from = self.timeline.place(engine, ready, nanoseconds);
        let this = self.streams.get_mut(stream)?;
        this.clock = from + nanoseconds;
        Ok(When { stream: this.number, from, to: this.clock })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(work: &[(f64, f64, f64)]) -> Vec<f64> {
        let mut timeline = Timeline::default();
        work.iter().map(|&(ready, time, share)| timeline.place(Engine::Compute(share), ready, time)).collect()
    }

    #[test]
    fn work_runs_beside_other_work_where_there_is_room() {
        assert_eq!(timeline(&[(0.0, 10.0, 0.4), (0.0, 10.0, 0.6), (0.0, 5.0, 0.1)]), [0.0, 0.0, 10.0]);
        // In the middle there is more.
        assert_eq!(timeline(&[(0.0, 10.0, 0.5), (4.0, 2.0, 0.5), (0.0, 5.0, 0.5)]), [0.0, 4.0, 6.0]);
        // Thirds and tenths are a whole.
        let third = 1.0 / 3.0;
        assert_eq!(timeline(&[(0.0, 1.0, third), (0.0, 1.0, third), (0.0, 1.0, third)]), [0.0; 3]);
        // All of it, and more than that, comes one after another.
        assert_eq!(timeline(&[(0.0, 10.0, 1.0), (0.0, 10.0, 7.0)]), [0.0, 10.0]);
    }

    #[test]
    fn what_cannot_begin_yet_holds_up_nobody() {
        assert_eq!(timeline(&[(10.0, 5.0, 1.0), (0.0, 4.0, 1.0), (0.0, 7.0, 1.0)]), [10.0, 0.0, 15.0]);
    }

    #[test]
    fn engines_go_beside_each_other() {
        let mut timeline = Timeline::default();
        let engines = [Engine::Compute(1.0), Engine::ToDevice, Engine::ToHost, Engine::None];
        assert_eq!(engines.map(|engine| timeline.place(engine, 1.0, 5.0)), [1.0; 4]);
        assert_eq!(engines.map(|engine| timeline.place(engine, 1.0, 5.0)), [6.0, 6.0, 6.0, 1.0]);
        assert_eq!(timeline.place(Engine::Compute(1.0), 1.0, 0.0), 1.0);
    }

    #[test]
    fn the_queue_has_an_end() {
        let mut timeline = Timeline::default();
        for at in 0..=QUEUE {
            assert_eq!((timeline.host, timeline.place(Engine::ToHost, 0.0, 1.0)), (0.0, at as f64));
        }
        assert_eq!(timeline.host, 1.0);
        assert_eq!(timeline.place(Engine::ToHost, timeline.host, 1.0), QUEUE as f64 + 1.0);
        assert_eq!((timeline.host, timeline.engines[2].len()), (2.0, QUEUE + 1));
    }
}
