//! Work that is behind a function of the host.
//!
//! All else runs when it is asked for. A host function runs on a thread of the driver, and what comes behind it in its stream, or
//! waits for that, is put into the stream's queue, which the same thread works off. Until then the stream, and events that were
//! recorded behind the function, are not ready. A function that never returns so holds up what is ordered behind it, and nothing else.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::MutexGuard;

use crate::driver::{Driver, Session, State};
use crate::error::{Error, Result};
use crate::ffi::Handle;
use crate::operation::{self, Operation};

/// The tasks that are not done, by number: counted from 1 in the order of the calls.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    last: u64,
    open: BTreeMap<u64, Open>,
}

#[derive(Debug)]
struct Open {
    context: Handle,
    /// Whether it may touch memory of the device.
    touches: bool,
}

/// An operation in a stream's queue.
#[derive(Debug)]
pub(crate) struct Task {
    number: u64,
    operation: Operation,
    /// Tasks that must be done before.
    behind: Vec<u64>,
    /// What the operation reads of the host, where the program need not keep that.
    _buffer: Vec<u8>,
}

thread_local! {
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is running a function of the host, which must not call the API.
pub(crate) fn in_host_function() -> bool {
    IN_HOST_FUNCTION.get()
}

/// Runs a function of the host.
pub(crate) fn as_host_function(function: impl FnOnce()) {
    IN_HOST_FUNCTION.set(true);
    function();
    IN_HOST_FUNCTION.set(false);
}

impl State {
    pub(crate) fn is_open(&self, task: u64) -> bool {
        self.pending.open.contains_key(&task)
    }

    /// The tasks that an operation has to wait for which begins in this stream now.
    pub(crate) fn open_before(&self, stream: Handle) -> Result<Vec<u64>> {
        let tails = self.related(stream)?.filter_map(|handle| self.streams.get(handle).ok()?.tail);
        Ok(tails.filter(|task| self.is_open(*task)).collect())
    }

    /// The tasks that an event stands behind.
    pub(crate) fn open_before_event(&self, event: Handle) -> Vec<u64> {
        let task = self.events.get(event).ok().and_then(|event| event.task);
        task.filter(|task| self.is_open(*task)).into_iter().collect()
    }

    /// Drops what is queued in a stream that is gone.
    pub(crate) fn drop_tasks(&mut self, tasks: impl IntoIterator<Item = Task>) {
        for task in tasks {
            self.pending.open.remove(&task.number);
        }
    }
}

impl Session {
    /// What an operation has to wait for.
    pub(crate) fn open_before(&self, stream: Handle, operation: &Operation) -> Result<Vec<u64>> {
        let mut open = self.state.open_before(stream)?;
        if let Operation::Wait(event, _) = operation {
            open.extend(self.state.open_before_event(*event));
        }
        Ok(open)
    }

    /// Puts an operation into its stream's queue.
    pub(crate) fn defer(mut self, stream: Handle, operation: Operation, behind: Vec<u64>, buffer: Vec<u8>) -> Result {
        let state = &mut *self.state;
        state.pending.last += 1;
        let number = state.pending.last;
        if let Operation::Record(event, _) = operation {
            state.events.get_mut(event)?.task = Some(number);
        }
        let touches = !matches!(operation, Operation::Call(_) | Operation::Record(..) | Operation::Wait(..));
        let this = state.streams.get_mut(stream)?;
        state.pending.open.insert(number, Open { context: this.context, touches });
        this.tail = Some(number);
        this.queue.push_back(Task { number, operation, behind, _buffer: buffer });
        if !std::mem::replace(&mut this.working, true) {
            let driver = self.driver;
            let thread = std::thread::Builder::new().name("host functions".into());
            if thread.spawn(move || work_off(driver, stream)).is_err() {
                let queue = std::mem::take(&mut this.queue);
                this.working = false;
                state.drop_tasks(queue);
                return Err(Error::OPERATING_SYSTEM);
            }
        }
        Ok(())
    }

    /// Waits until tasks are done, with the tables free meanwhile. Fails as every call does when one of them has left an error.
    pub(crate) fn wait_for(mut self, tasks: &[u64]) -> Result<Self> {
        if tasks.is_empty() {
            return Ok(self);
        }
        let open = |state: &State| tasks.iter().any(|task| state.is_open(*task));
        self.state = self.driver.wait_while(self.state, open);
        self.sticky()?;
        Ok(self)
    }

    /// Waits for all tasks of a context.
    pub(crate) fn wait_for_context(self, context: Handle) -> Result<Self> {
        let of_context = self.state.pending.open.iter().filter(|(_, open)| open.context == context);
        let tasks: Vec<u64> = of_context.map(|(task, _)| *task).collect();
        self.wait_for(&tasks)
    }
}

impl Driver {
    /// Waits for all tasks that may touch memory which is about to go. Called with nothing locked.
    pub(crate) fn settle(&self) {
        let state = self.state();
        let tasks: Vec<u64> =
            state.pending.open.iter().filter(|(_, open)| open.touches).map(|(task, _)| *task).collect();
        drop(self.wait_while(state, |state| tasks.iter().any(|task| state.is_open(*task))));
    }
}

/// What the thread of a stream does, until the queue is empty.
fn work_off(driver: &Driver, stream: Handle) {
    loop {
        let mut state = driver.state();
        // A stream that is gone was destroyed with its context, and its queue with it.
        let Ok(this) = state.streams.get_mut(stream) else { return };
        let Some(task) = this.queue.pop_front() else {
            this.working = false;
            if this.destroyed {
                let _ = state.streams.remove(stream);
            }
            return;
        };
        let state = driver.wait_while(state, |state| task.behind.iter().any(|task| state.is_open(*task)));
        run(driver, state, stream, &task.operation);
        driver.state().pending.open.remove(&task.number);
        driver.done.notify_all();
    }
}

/// Runs a task. What it does wrong stays in the context: nobody is there to be told.
fn run(driver: &Driver, state: MutexGuard<'_, State>, stream: Handle, operation: &Operation) {
    let Ok(context) = state.streams.get(stream).map(|stream| stream.context) else { return };
    let failed = state.contexts.get(context).is_ok_and(|context| context.error.is_some());
    drop(state);
    if failed && !operation.runs_regardless() {
        return;
    }
    let result = catch_unwind(AssertUnwindSafe(|| operation::run(driver, stream, operation))).unwrap_or_else(|_| {
        crate::report::say("an operation behind a host function panicked: this is a bug of the emulator");
        Err(Error::UNKNOWN)
    });
    if let (Err(error), false) = (result, operation.runs_regardless())
        && let Ok(context) = driver.state().contexts.get_mut(context)
    {
        context.error.get_or_insert(error);
    }
}
