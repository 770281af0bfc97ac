//! Which operation is ordered before which, and who touches memory that another may still be using.
//!
//! Work runs here when it is asked for, one piece after another; on a GPU, streams run at once unless something orders
//! them. Every operation therefore has a number in its stream, and every stream, event and the host a clock: the
//! numbers that they are behind. An operation that is not behind an earlier one may run while that does, and when
//! both touch the same bytes and one writes, that is a race.
//!
//! Nothing is reported that is not certain. Host threads count as one, in the order of their calls; a query that
//! succeeded counts as waiting; a graph's nodes count as a sequence. What is behind a host function is behind all that the
//! host knows when it begins, not when it was asked for: the function may have waited for the host.

mod act;
mod clock;
mod overlap;
mod story;

use std::collections::VecDeque;

use fusion_machine::{Fault, Footprint, Tracing};

use crate::driver::State;
use crate::error::Result;
use crate::ffi::Handle;

pub(crate) use act::{Act, footprint};
pub(crate) use clock::Clock;

/// How many operations are remembered that the host has not waited for.
const PAST: usize = 128;

/// What the host knows, and what it does not yet know to be over.
#[derive(Debug, Default)]
pub(crate) struct Order {
    host: Clock,
    past: VecDeque<Past>,
    /// Counts up whenever the host has waited for everything. Clocks from before know nothing of interest.
    epoch: u64,
    /// Streams made so far.
    pub(crate) streams: u32,
}

/// An operation that may still be running.
#[derive(Debug)]
struct Past {
    stream: Handle,
    /// Counted from 1 in its stream.
    number: u64,
    /// What people know the stream by; 0 for a default stream.
    stream_number: u32,
    act: Act,
    footprint: Footprint,
}

impl State {
    /// How closely launches have to be followed: to the byte where there is more than one stream to race with.
    pub(crate) fn tracing(&self) -> Tracing {
        match self.streams.iter().filter(|(_, stream)| stream.number > 0 || stream.operations > 0).nth(1) {
            Some(_) => Tracing::Bytes,
            None => Tracing::Sectors,
        }
    }

    /// What an operation is behind that begins in this stream now.
    fn behind(&self, stream: Handle) -> Result<Clock> {
        let mut clock = Clock::at(self.order.epoch);
        clock.join(&self.order.host);
        for handle in self.related(stream)? {
            clock.join(&self.streams.get(handle)?.behind);
        }
        Ok(clock)
    }

    /// Puts an operation that touches memory into its stream's order. Returns the race that it has with an earlier one.
    pub(crate) fn order(&mut self, stream: Handle, act: Act, footprint: Footprint) -> Result<Option<Fault>> {
        let mut clock = self.behind(stream)?;
        let this = self.streams.get_mut(stream)?;
        this.operations += 1;
        let later = Past { stream, number: this.operations, stream_number: this.number, act, footprint };
        let unordered = self.order.past.iter().rev().filter(|past| !clock.knows(past.stream, past.number));
        let race = unordered
            .filter_map(|past| Some((past, overlap::find(&past.footprint, &later.footprint)?)))
            .next()
            .map(|(earlier, overlap)| story::tell(self, earlier, &later, &overlap));
        clock.learn(stream, later.number);
        self.streams.get_mut(stream)?.behind = clock;
        if self.order.past.len() == PAST {
            self.order.past.pop_front();
        }
        self.order.past.push_back(later);
        Ok(race)
    }

    /// The mark that an event puts into a stream.
    pub(crate) fn mark(&mut self, stream: Handle) -> Result<Clock> {
        let clock = self.behind(stream)?;
        self.streams.get_mut(stream)?.behind = clock.clone();
        Ok(clock)
    }

    /// Makes a stream's next operation come behind a mark.
    pub(crate) fn order_behind(&mut self, stream: Handle, mark: &Clock) -> Result {
        let mut clock = self.behind(stream)?;
        clock.join(mark);
        self.streams.get_mut(stream)?.behind = clock;
        Ok(())
    }

    /// The host has waited for a mark: what it is behind is over.
    pub(crate) fn host_behind(&mut self, mark: &Clock) {
        let order = &mut self.order;
        order.host.join(mark);
        order.past.retain(|past| !order.host.knows(past.stream, past.number));
        if order.past.is_empty() {
            order.epoch += 1;
            order.host = Clock::at(order.epoch);
        }
    }

    /// The host has waited for a stream.
    pub(crate) fn host_behind_stream(&mut self, stream: Handle) -> Result {
        let clock = self.behind(stream)?;
        self.host_behind(&clock);
        Ok(())
    }

    /// The host has waited for everything, or has done what a GPU does only when nothing runs.
    pub(crate) fn host_behind_all(&mut self) {
        self.order.past.clear();
        self.host_behind(&Clock::default());
    }
}
