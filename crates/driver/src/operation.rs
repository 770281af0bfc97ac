//! What streams do: operations run when they are asked for, or behind a host function, or become nodes of a graph.

use std::ffi::c_void;
use std::sync::Arc;

use fusion_machine::Footprint;
use fusion_machine::report::trace::ranges;
use fusion_machine::report::{Move, Moved, Task, When, Work};
use fusion_machine::timing::{EVENT_NS, copy_share};

use crate::clock::Engine;
use crate::copy::Copy;
use crate::driver::{Driver, Session, State};
use crate::error::Result;
use crate::event::{Mark, Reached};
use crate::ffi::Handle;
use crate::launch::Launch;
use crate::memset::Fill;
use crate::order::{Act, footprint};
use crate::{report, stream};

/// One operation of a stream, with everything that it needs.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Launch(Arc<Launch>),
    Copy(Copy),
    Fill(Fill),
    Call(Callback),
    /// Records an event, or waits for it. The mark is chosen when the call is made; a node of a graph does that when it runs.
    Record(Handle, Option<Mark>),
    Wait(Handle, Option<Mark>),
    /// Frees memory that an asynchronous allocation gave.
    Free(u64),
    /// A node that only orders others, or the allocation of a captured `cuMemAllocAsync`, which is made when it is captured.
    Nothing(Marker),
    /// All operations of another graph, in an order that allows for what they are behind.
    Child(Arc<Vec<Step>>),
}

/// An operation of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) operation: Operation,
    /// The steps that must be done before, by their index.
    pub(crate) behind: Vec<usize>,
}

/// What a node that does nothing stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Empty,
    Allocation(u64),
}

/// A function of the host that runs in a stream's order. Its data is an address, so that operations can move between threads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callback {
    Plain { function: unsafe extern "C" fn(*mut c_void), data: usize },
    WithStatus { function: unsafe extern "C" fn(Handle, u32, *mut c_void), stream: Handle, data: usize },
}

impl Operation {
    /// Whether it calls a function of the host.
    fn calls(&self) -> bool {
        match self {
            Self::Call(_) => true,
            Self::Child(steps) => steps.iter().any(|step| step.operation.calls()),
            _ => false,
        }
    }

    /// Whether it runs in a context that has an error, too.
    pub(crate) fn runs_regardless(&self) -> bool {
        matches!(self, Self::Call(_) | Self::Record(..) | Self::Wait(..))
    }
}

impl Session {
    /// Runs an operation in a stream, puts it behind the host function that it has to wait for, or captures it when the stream is being
    /// captured.
    pub(crate) fn submit(mut self, stream: Handle, mut operation: Operation) -> Result {
        if let Some(capturing) = self.state.streams.get(stream)?.capturing.clone() {
            return self.capture(stream, capturing, operation).map(|_| ());
        }
        self.refuse_implicit(stream)?;
        let open = self.open_before(stream, &operation)?;
        match &mut operation {
            Operation::Record(event, mark) => *mark = Some(self.state.move_event(*event)?),
            Operation::Wait(event, mark) => mark.clone_from(&self.state.events.get(*event)?.mark),
            _ => {}
        }
        match operation {
            operation if open.is_empty() && !operation.calls() => self.run(stream, &operation),
            // Such a copy is done when the call returns.
            Operation::Copy(copy) if copy.returns_done(&self.state) => {
                self.wait_for(&open)?.run(stream, &Operation::Copy(copy))
            }
            Operation::Copy(copy) => {
                let (copy, buffer) = copy.staged(&self.state);
                self.defer(stream, Operation::Copy(copy), open, buffer)
            }
            operation => self.defer(stream, operation, open, Vec::new()),
        }
    }

    /// Runs an operation in a stream and lets the host wait for it. The stream must not be captured.
    pub(crate) fn submit_and_wait(mut self, stream: Handle, operation: Operation) -> Result {
        self.refuse_during_capture()?;
        self.refuse_if_captured(stream)?;
        let driver = self.driver;
        let open = self.open_before(stream, &operation)?;
        self.wait_for(&open)?.run(stream, &operation)?;
        driver.state().host_waits_for(stream)
    }

    /// Gives the tables free, and runs an operation.
    pub(crate) fn run(self, stream: Handle, operation: &Operation) -> Result {
        let Self { driver, state, .. } = self;
        drop(state);
        run(driver, stream, operation)
    }
}

pub(crate) fn run(driver: &Driver, stream: Handle, operation: &Operation) -> Result {
    match operation {
        Operation::Launch(launch) => launch.run(driver, stream),
        Operation::Copy(copy) => {
            let _busy = driver.busy();
            copy.run(driver)?;
            order(driver, stream, copy.act(), |state| copy.footprint(state))?;
            if driver.machine.checks().init {
                copy.unwritten(driver).into_iter().for_each(report::found);
            }
            let mut state = driver.state();
            if copy.returns_done(&state) {
                state.host_behind_stream(stream)?;
            }
            drop(state);
            let when = moved(driver, stream, copy.route(), copy.bytes(), |state| copy.footprint(state))?;
            let mut state = driver.state();
            if copy.keeps_host(&state) {
                state.host_waits_until(when.to);
            }
            Ok(())
        }
        Operation::Fill(fill) => {
            let _busy = driver.busy();
            fill.run(driver)?;
            order(driver, stream, Act::Memset, |_| fill.footprint())?;
            moved(driver, stream, Moved::Memset, fill.bytes(), |_| fill.footprint()).map(|_| ())
        }
        Operation::Call(callback) => stream::run(driver, stream, *callback),
        Operation::Record(event, mark) => {
            let mut state = driver.state();
            // An event that takes no time is a mark alone.
            let timing = state.events.get(*event).is_ok_and(|event| event.timing);
            let time = state.advance(stream, Engine::None, if timing { EVENT_NS } else { 0.0 })?.to;
            let behind = state.mark(stream)?;
            let mark = mark.clone().map_or_else(|| state.move_event(*event), Ok)?;
            let _ = mark.set(Reached { time, behind });
            Ok(())
        }
        Operation::Wait(event, mark) => {
            let mut state = driver.state();
            let mark = mark.clone().or_else(|| state.events.get(*event).ok()?.mark.clone());
            // Waiting for an event that was never recorded is waiting for nothing.
            let Some(Reached { time, behind }) = mark.as_ref().and_then(|mark| mark.get()) else { return Ok(()) };
            state.order_behind(stream, behind)?;
            state.wait_until(stream, *time)
        }
        Operation::Free(address) => {
            let _busy = driver.busy();
            let size = driver.state().owned.get(address).map_or(0, |owned| owned.size);
            driver.state().free(driver, *address)?;
            order(driver, stream, Act::Free, |_| footprint([], [(*address, size)]))
        }
        Operation::Nothing(_) => Ok(()),
        Operation::Child(steps) => run_all(driver, stream, steps),
    }
}

/// Puts a copy or a memset into its stream's time, and reports it.
fn moved(
    driver: &Driver,
    stream: Handle,
    what: Moved,
    bytes: u64,
    footprint: impl FnOnce(&State) -> Footprint,
) -> Result<When> {
    let over_the_bus = matches!(what, Moved::ToDevice | Moved::ToHost | Moved::WithinHost);
    // What is filled is not read.
    let both_ways = if what == Moved::Memset { bytes / 2 } else { bytes };
    let nanoseconds = driver.machine.copy_time_ns(both_ways, over_the_bus);
    let engine = match what {
        Moved::ToDevice => Engine::ToDevice,
        Moved::ToHost => Engine::ToHost,
        Moved::WithinDevice | Moved::Memset => Engine::Compute(copy_share(nanoseconds)),
        Moved::WithinHost => Engine::None,
    };
    let when = driver.state().advance(stream, engine, nanoseconds)?;
    report::moved(Move { what, bytes, when });
    if report::traces() {
        let Footprint { read, written, .. } = footprint(&driver.state());
        report::ran(|| Work { task: Task::Move(what), when, read: ranges(&read), written: ranges(&written) });
    }
    Ok(when)
}

/// Puts what has run into its stream's order, and reports the race that it has.
pub(crate) fn order(driver: &Driver, stream: Handle, act: Act, footprint: impl FnOnce(&State) -> Footprint) -> Result {
    if driver.machine.checks().races {
        let mut state = driver.state();
        let footprint = footprint(&state);
        let race = state.order(stream, act, footprint)?;
        drop(state);
        race.into_iter().for_each(report::found);
    }
    Ok(())
}

/// Runs a graph's operations one after another, until one leaves an error in the stream's context. By the modelled clock each begins when
/// those that it is behind have ended.
fn run_all(driver: &Driver, stream: Handle, steps: &[Step]) -> Result {
    let begun = driver.state().streams.get(stream)?.clock;
    let mut ends = Vec::with_capacity(steps.len());
    for step in steps {
        let before = step.behind.iter().filter_map(|&step| ends.get(step).copied()).fold(begun, f64::max);
        driver.state().streams.get_mut(stream)?.clock = before;
        run(driver, stream, &step.operation)?;
        let state = driver.state();
        let this = state.streams.get(stream)?;
        ends.push(this.clock);
        if state.contexts.get(this.context)?.error.is_some() {
            break;
        }
    }
    driver.state().streams.get_mut(stream)?.clock = ends.into_iter().fold(begun, f64::max);
    Ok(())
}
